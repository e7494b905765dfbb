//! Hints at Python code that hides what it imports or calls. They are for a person who looks
//! closer; nothing follows from them.

/// Folders whose code isn't the skill's own.
const SKIPPED: [&str; 6] =
    ["venv", ".venv", "node_modules", "__pycache__", "site-packages", ".git"];

/// Most tokens that are looked at in one file.
const MAX_TOKENS: usize = 500_000;

/// Something to look closer at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// What it is: `dynamic_import`, `import_machinery`, `computed_attribute` or `computed_member`.
    pub id: &'static str,
    /// The file.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// A sentence for people.
    pub description: &'static str,
}

/// Whether a file is looked at: Python, outside of folders of other people's code.
#[must_use]
pub fn is_audited(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']);
    let is_python = |name: &str| {
        name.rsplit_once('.').is_some_and(|(_, it)| matches!(it, "py" | "pyw" | "pyi"))
    };
    parts.next_back().is_some_and(is_python) && !parts.any(|part| SKIPPED.contains(&part))
}

/// Looks at a file of Python.
#[must_use]
pub fn audit(file: &str, text: &str) -> Vec<Hint> {
    let tokens = tokens(text);
    let mut hints = Vec::new();
    let mut add = |id, line, description| {
        hints.push(Hint { id, file: file.to_owned(), line, description });
    };
    for (at, token) in tokens.iter().enumerate() {
        let next = |n: usize| tokens.get(at + n).map(|token| &token.what);
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|token| &token.what);
        let What::Name(name) = &token.what else { continue };
        let is_call = next(1) == Some(&What::Sign('('));
        let is_defined = matches!(before, Some(What::Name("def" | "class")));
        match *name {
            "import_module" | "__import__"
                if is_call && !is_defined && !is_literal(&tokens, at + 2) =>
            {
                add("dynamic_import", token.line, "It imports a module by a computed name.");
            }
            "importlib" if matches!(before, Some(What::Name("import" | "from"))) => {
                add("import_machinery", token.line, "It imports the machinery of imports.");
            }
            "getattr" | "setattr"
                if is_call && !is_defined && !has_literal_second(&tokens, at + 2) =>
            {
                add("computed_attribute", token.line, "It takes an attribute by a computed name.");
            }
            "__dict__" | "__builtins__"
                if next(1) == Some(&What::Sign('[')) && !is_literal(&tokens, at + 2) =>
            {
                add("computed_member", token.line, "It takes a member by a computed name.");
            }
            "globals" | "locals" | "vars" if is_call => {
                let mut rest = tokens.iter().skip(at + 1).map(|token| &token.what);
                let closed = rest.by_ref().take(200).any(|it| *it == What::Sign(')'));
                if closed
                    && rest.next() == Some(&What::Sign('['))
                    && !matches!(rest.next(), Some(What::Text))
                {
                    add("computed_member", token.line, "It takes a member by a computed name.");
                }
            }
            _ => {}
        }
    }
    hints
}

/// Whether an argument is one literal: a text, and then its end.
fn is_literal(tokens: &[Token<'_>], at: usize) -> bool {
    let what = |n: usize| tokens.get(at + n).map(|token| &token.what);
    what(0) == Some(&What::Text) && matches!(what(1), Some(What::Sign(')' | ']' | ',')))
}

/// Whether the second argument is a literal.
fn has_literal_second(tokens: &[Token<'_>], first: usize) -> bool {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(first) {
        match token.what {
            What::Sign('(' | '[' | '{') => depth += 1,
            What::Sign(')' | ']' | '}') if depth == 0 => return true,
            What::Sign(')' | ']' | '}') => depth -= 1,
            What::Sign(',') if depth == 0 => return is_literal(tokens, at + 1),
            _ => {}
        }
    }
    true
}

struct Token<'t> {
    line: usize,
    what: What<'t>,
}

#[derive(Debug, PartialEq)]
enum What<'t> {
    Name(&'t str),
    /// A text that is what it is.
    Text,
    /// A text with parts that are computed.
    Computed,
    Sign(char),
}

/// The words and signs of Python, without comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if tokens.len() >= MAX_TOKENS {
            break;
        }
        let length = if c == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if c.is_alphanumeric() || c == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let length = length.unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            // A prefix belongs to its text.
            let is_prefix = word.len() <= 2
                && word.bytes().all(|b| b"rRbBuUfFtT".contains(&b))
                && after.starts_with(['"', '\'']);
            if is_prefix {
                let what =
                    if word.contains(['f', 'F', 't', 'T']) { What::Computed } else { What::Text };
                tokens.push(Token { line, what });
                length + quoted(after)
            } else {
                tokens.push(Token { line, what: What::Name(word) });
                length
            }
        } else if c == '"' || c == '\'' {
            tokens.push(Token { line, what: What::Text });
            quoted(rest)
        } else {
            if !c.is_whitespace() && c != '\\' {
                tokens.push(Token { line, what: What::Sign(c) });
            }
            c.len_utf8()
        };
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        line += taken.bytes().filter(|&b| b == b'\n').count();
        rest = after;
    }
    tokens
}

/// How long the text at the beginning is, in bytes, with its quotes.
fn quoted(text: &str) -> usize {
    let quote = text.get(..1).unwrap_or_default();
    let triple = text.get(..3).filter(|it| it.chars().all(|c| quote.starts_with(c)));
    let end = triple.unwrap_or(quote);
    let mut at = end.len();
    while let Some(rest) = text.get(at..) {
        let Some(c) = rest.chars().next() else { break };
        if rest.starts_with(end) {
            return at + end.len();
        }
        if c == '\n' && triple.is_none() {
            return at;
        }
        at += c.len_utf8();
        if c == '\\' {
            at += text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<(&'static str, usize)> {
        audit("a.py", text).into_iter().map(|hint| (hint.id, hint.line)).collect()
    }

    #[test]
    fn computed_names_are_told_of() {
        for (text, expected) in [
            ("import json\nx = getattr(a, 'b')\n", vec![]),
            ("import importlib\n", vec![("import_machinery", 1)]),
            ("from importlib import import_module\n", vec![("import_machinery", 1)]),
            ("import_module('json')", vec![]),
            ("\nimport_module('js' + x)", vec![("dynamic_import", 2)]),
            ("__import__(name)", vec![("dynamic_import", 1)]),
            ("__import__(f'{x}')", vec![("dynamic_import", 1)]),
            ("# __import__(name)\n'''__import__(name)'''", vec![]),
            ("getattr(f(a, b), name)(1)", vec![("computed_attribute", 1)]),
            ("getattr(f(a, b), \"na\\\"me\", None)", vec![]),
            ("x.__dict__['y']; x.__dict__[y]", vec![("computed_member", 1)]),
            ("globals()['a']; globals()[a]()", vec![("computed_member", 1)]),
            ("def getattr(self, x): pass", vec![]),
            ("s = 'it''s' \"\"\"\n\"\"\"\ngetattr(a, b)", vec![("computed_attribute", 3)]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn code_of_others_is_left_out() {
        for (path, expected) in [
            ("scripts/a.py", true),
            ("a.pyw", true),
            ("a.txt", false),
            ("venv/lib/a.py", false),
            ("x/node_modules/y/a.py", false),
            ("__pycache__/a.py", false),
        ] {
            assert_eq!(is_audited(path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_through(text in "[a-z_'\"\\\\#()\\[\\],\n\u{e9} ]{0,80}") {
            prop_assert!(audit("a.py", &text).len() <= text.len());
        }
    }
}
