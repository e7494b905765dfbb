//! Rust source as a flat list of tokens that know their line and whether they are test code.
//!
//! Text rules look at tokens and not at lines, so that a `println!` in a comment, in a string or
//! in a test is no finding.

use std::collections::BTreeSet;
use std::iter::Peekable;

use anyhow::{Result, anyhow};
use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Line, from 1.
    pub(crate) line: usize,
    /// Whether it stands in an item under `#[cfg(test)]`.
    pub(crate) in_test: bool,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Ident(String),
    Punct(char),
    Literal(String),
    Open(Delimiter),
    Close(Delimiter),
}

/// A source file in tokens.
#[derive(Debug, Default)]
pub(crate) struct Source {
    pub(crate) tokens: Vec<Token>,
    /// Lines that items under `#[cfg(test)]` take up.
    pub(crate) test_lines: BTreeSet<usize>,
    /// Modules declared as `#[cfg(test)] mod name;`, whose files are test code.
    pub(crate) test_modules: Vec<String>,
}

impl Token {
    pub(crate) fn is_ident(&self, name: &str) -> bool {
        matches!(&self.kind, Kind::Ident(ident) if ident == name)
    }

    pub(crate) fn is_punct(&self, char: char) -> bool {
        self.kind == Kind::Punct(char)
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.kind, Kind::Open(_))
    }

    /// The text of a plain string literal.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Literal(text) => text.strip_prefix('"')?.strip_suffix('"'),
            _ => None,
        }
    }
}

impl Source {
    /// Splits a source file.
    ///
    /// # Errors
    /// When the text can't be Rust, e.g. with a bracket left open.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let stream: TokenStream = text.parse().map_err(|err: proc_macro2::LexError| {
            anyhow!("can't be Rust from line {}", err.span().start().line)
        })?;
        let mut source = Self::default();
        source.walk(stream, false);
        Ok(source)
    }

    /// The attributes, each as the tokens between its brackets.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &[Token]> {
        self.tokens.iter().enumerate().filter(|(_, token)| token.is_punct('#')).filter_map(
            |(at, _)| {
                let bang = usize::from(self.tokens.get(at + 1).is_some_and(|t| t.is_punct('!')));
                let open = at + 1 + bang;
                match self.tokens.get(open)?.kind {
                    Kind::Open(Delimiter::Bracket) => Some(self.group(open)),
                    _ => None,
                }
            },
        )
    }

    /// The tokens between the delimiter at `open` and the one that closes it.
    pub(crate) fn group(&self, open: usize) -> &[Token] {
        let rest = self.tokens.get(open + 1..).unwrap_or_default();
        rest.get(..closing(rest)).unwrap_or_default()
    }

    fn walk(&mut self, stream: TokenStream, in_test: bool) {
        let mut trees = stream.into_iter().peekable();
        // `#![cfg(test)]` makes the rest of a file or a module test code.
        let mut in_test = in_test;
        while let Some(tree) = trees.next() {
            let is_hash = matches!(&tree, TokenTree::Punct(p) if p.as_char() == '#');
            let first_line = tree.span().start().line;
            self.push(tree, in_test);
            if !is_hash || in_test {
                continue;
            }
            let inner = matches!(trees.peek(), Some(TokenTree::Punct(p)) if p.as_char() == '!');
            if inner {
                trees.next().into_iter().for_each(|bang| self.push(bang, in_test));
            }
            let Some(TokenTree::Group(group)) = trees.peek() else { continue };
            if !is_cfg_test(group) {
                continue;
            }
            if inner {
                in_test = true;
            } else {
                self.test_item(&mut trees, first_line);
            }
        }
    }

    /// Takes the rest of an item under `#[cfg(test)]`, from the attribute's brackets on.
    fn test_item(&mut self, trees: &mut Peekable<IntoIter>, first_line: usize) {
        let mut words = Vec::new();
        let mut last_line = first_line;
        for tree in trees.by_ref() {
            last_line = tree.span().end().line;
            let ends = match &tree {
                TokenTree::Punct(punct) => punct.as_char() == ';',
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                TokenTree::Ident(ident) => {
                    words.push(ident.to_string());
                    false
                }
                TokenTree::Literal(_) => false,
            };
            let without_body = matches!(tree, TokenTree::Punct(_));
            self.push(tree, true);
            if ends {
                if let ([.., keyword, name], true) = (words.as_slice(), without_body)
                    && keyword == "mod"
                {
                    self.test_modules.push(name.clone());
                }
                break;
            }
        }
        self.test_lines.extend(first_line..=last_line);
    }

    fn push(&mut self, tree: TokenTree, in_test: bool) {
        let line = tree.span().start().line;
        let kind = match tree {
            TokenTree::Ident(ident) => Kind::Ident(ident.to_string()),
            TokenTree::Punct(punct) => Kind::Punct(punct.as_char()),
            TokenTree::Literal(literal) => Kind::Literal(literal.to_string()),
            TokenTree::Group(group) => {
                let delimiter = group.delimiter();
                self.tokens.push(Token { kind: Kind::Open(delimiter), line, in_test });
                self.walk(group.stream(), in_test);
                let line = group.span_close().start().line;
                self.tokens.push(Token { kind: Kind::Close(delimiter), line, in_test });
                return;
            }
        };
        self.tokens.push(Token { kind, line, in_test });
    }
}

/// Index of the token that closes the group which `tokens` begin inside of.
fn closing(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) if depth == 0 => return at,
            Kind::Close(_) => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Whether an attribute is `cfg(test)` or `cfg(all(test, ..))`.
fn is_cfg_test(attribute: &Group) -> bool {
    let mut words = attribute.stream().into_iter();
    let (Some(TokenTree::Ident(cfg)), Some(TokenTree::Group(condition))) =
        (words.next(), words.next())
    else {
        return false;
    };
    cfg == "cfg" && wants_test(condition.stream())
}

fn wants_test(condition: TokenStream) -> bool {
    let mut trees = condition.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let TokenTree::Ident(ident) = tree else { continue };
        let found = match trees.peek() {
            Some(TokenTree::Group(group)) => ident == "all" && wants_test(group.stream()),
            _ => ident == "test",
        };
        if found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, in_test: bool) -> Vec<String> {
        let source = Source::parse(text).unwrap();
        let tokens = source.tokens.into_iter().filter(|token| token.in_test == in_test);
        tokens
            .filter_map(|t| if let Kind::Ident(word) = t.kind { Some(word) } else { None })
            .collect()
    }

    #[test]
    fn test_items_are_marked() {
        for (text, outside, inside) in [
            (
                "fn a() {}\n#[cfg(test)]\nmod t { fn b() {} }\nfn c() {}",
                vec!["fn", "a", "fn", "c"],
                vec!["cfg", "test", "mod", "t", "fn", "b"],
            ),
            (
                "#[cfg(all(unix, test))] use x::{b, c};\nfn d() {}",
                vec!["fn", "d"],
                vec!["cfg", "all", "unix", "test", "use", "x", "b", "c"],
            ),
            ("#[cfg(not(test))] fn a() {}", vec!["cfg", "not", "test", "fn", "a"], vec![]),
            ("#[cfg(any(test, x))] fn a() {}", vec!["cfg", "any", "test", "x", "fn", "a"], vec![]),
            ("mod m { #![cfg(test)] fn b() {} }", vec!["mod", "m"], vec!["cfg", "test", "fn", "b"]),
            ("// #[cfg(test)]\nfn a() { \"#[cfg(test)]\" }", vec!["fn", "a"], vec![]),
        ] {
            assert_eq!(words(text, false), outside, "{text}");
            assert_eq!(words(text, true), inside, "{text}");
        }
    }

    #[test]
    fn test_lines_and_modules() {
        let source =
            Source::parse("fn a() {}\n#[cfg(test)]\nmod tests;\n\n#[cfg(test)]\nmod t {\n}\n");
        let source = source.unwrap();
        assert_eq!(source.test_modules, ["tests"]);
        assert_eq!(source.test_lines.into_iter().collect::<Vec<_>>(), [2, 3, 5, 6, 7]);
    }

    #[test]
    fn attributes_are_listed_wherever_they_stand() {
        let source =
            Source::parse("#![allow(a)]\n#[b]\nfn f() { #[c = \"x\"] let y = [1]; }").unwrap();
        let lengths: Vec<usize> = source.attributes().map(<[Token]>::len).collect();
        assert_eq!(lengths, [4, 1, 3]);
    }

    #[test]
    fn what_is_no_rust_is_refused() {
        assert!(Source::parse("fn a( {}").is_err());
    }
}
