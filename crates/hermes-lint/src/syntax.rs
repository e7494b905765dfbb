//! Languages by their tree-sitter grammars: what the parser had to skip or to make up is wrong.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use memchr::memchr;
use tree_sitter::{Language, Node, ParseOptions, Parser, Tree, TreeCursor};

use crate::deep;
use crate::problem::{MAX_FOUND, Parsed, Problem};

/// The longest text that is parsed, in bytes. The tree takes about 50 bytes for each.
const MAX_SIZE: usize = 2 * 1024 * 1024;
/// How long a text may take, as far as the parser asks. Ordinary ones do 3 to 5 MB a second.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Stack that a token may take, in bytes. The library releases the nodes of a parser's stack one
/// inside of the other, with frames of 128 bytes or less.
const STACK_PER_TOKEN: usize = 512;
/// How many characters of what is wrong are shown.
const EXCERPT: usize = 24;

macro_rules! languages {
    ($($feature:literal $name:ident = $language:expr;)*) => {
        $(
            #[cfg(feature = $feature)]
            pub(crate) fn $name(text: &str) -> Parsed {
                parse(Language::from($language), text)
            }
        )*
    };
}

languages! {
    "bash" bash = tree_sitter_bash::LANGUAGE;
    "c" c = tree_sitter_c::LANGUAGE;
    "cpp" cpp = tree_sitter_cpp::LANGUAGE;
    "css" css = tree_sitter_css::LANGUAGE;
    "go" go = tree_sitter_go::LANGUAGE;
    "html" html = tree_sitter_html::LANGUAGE;
    "java" java = tree_sitter_java::LANGUAGE;
    "javascript" javascript = tree_sitter_javascript::LANGUAGE;
    "typescript" typescript = tree_sitter_typescript::LANGUAGE_TYPESCRIPT;
    "typescript" tsx = tree_sitter_typescript::LANGUAGE_TSX;
}

fn parse(language: Language, text: &str) -> Parsed {
    if text.len() > MAX_SIZE {
        return Parsed::Unknown("the file is too large to be checked");
    }
    // No source has any, and some grammars take quadratic time for them, without asking whether
    // there is any left.
    if memchr(0, text.as_bytes()).is_some() {
        return Parsed::Unknown("the file holds NUL characters");
    }
    let is_shell = language.name() == Some("bash");
    // Within, as dropping the parser is what uses recursion.
    deep::run(text, deep::tokens(text).saturating_mul(STACK_PER_TOKEN), move |text| {
        let seen = if is_shell { as_ascii(text) } else { Cow::Borrowed(text.as_bytes()) };
        match tree(&language, &seen, Instant::now() + MAX_TIME) {
            Some(tree) => problems(&tree, text).into(),
            None => Parsed::Unknown("the check took too long"),
        }
    })
}

/// A text with letters in place of all that isn't ASCII, which means the same to a shell. The scanner
/// of its grammar looks every character up in a table of 256, and what it finds beyond may be the
/// end of this program: tree-sitter-bash 0.25.1, at a brace before an emoji.
fn as_ascii(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    Cow::Owned(text.bytes().map(|it| if it.is_ascii() { it } else { b'x' }).collect())
}

/// The tree of a text; none when it isn't done in time, or the grammar is of another age than the
/// parser.
fn tree(language: &Language, text: &[u8], deadline: Instant) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let mut stop = |_: &_| {
        if Instant::now() < deadline { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut stop);
    let mut read = |offset: usize, _| text.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// What is wrong, in the order of the text. Only branches of the tree that have errors are walked.
fn problems(tree: &Tree, text: &str) -> Vec<Problem> {
    let mut found = Vec::new();
    let root = tree.root_node();
    if !root.has_error() {
        return found;
    }
    let mut cursor = tree.walk();
    // The innermost node with an error, for those that don't show.
    let mut innermost = root;
    while found.len() < MAX_FOUND {
        let node = cursor.node();
        let mut descend = node.has_error();
        if node.is_missing() {
            found.push(Problem::at(text, node.start_byte(), &missing(node)));
        } else if node.is_error() {
            if let Some(problem) = unexpected(node, text) {
                found.push(problem);
                descend = false;
            }
        } else if descend {
            innermost = node;
        }
        let goes_on = (descend && cursor.goto_first_child()) || goto_next(&mut cursor);
        if !goes_on {
            break;
        }
    }
    if found.is_empty() {
        found.push(Problem::at(text, innermost.start_byte(), "syntax error near here"));
    }
    found
}

/// Goes to the node that comes after this one and all that is in it.
fn goto_next(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

fn missing(node: Node<'_>) -> String {
    if node.is_named() {
        format!("missing {}", node.kind().replace('_', " "))
    } else {
        format!("missing `{}`", node.kind())
    }
}

/// What is wrong with a passage that doesn't fit; none when a passage inside of it tells more.
fn unexpected(node: Node<'_>, text: &str) -> Option<Problem> {
    let mut open: Vec<(Node<'_>, &str)> = Vec::new();
    let mut has_inner = false;
    let mut cursor = node.walk();
    let mut more = cursor.goto_first_child();
    while more {
        let child = cursor.node();
        has_inner |= child.has_error();
        match child.kind() {
            opener @ ("(" | "[" | "{" | "${") => open.push((child, opener)),
            closer @ (")" | "]" | "}") => {
                let fits = open.pop().is_some_and(|(_, opener)| pair(opener) == closer);
                if !fits {
                    let message = format!("unexpected `{closer}`");
                    return Some(Problem::at(text, child.start_byte(), &message));
                }
            }
            _ => {}
        }
        more = cursor.goto_next_sibling();
    }
    if let Some((child, opener)) = open.last() {
        let message = format!("`{opener}` is never closed");
        return Some(Problem::at(text, child.start_byte(), &message));
    }
    if has_inner {
        return None;
    }
    let passage = text.get(node.byte_range()).unwrap_or_default();
    let words = passage.trim_start();
    let start = node.start_byte() + passage.len() - words.len();
    let line = words.lines().next().unwrap_or_default();
    let mut excerpt: String = line.chars().take(EXCERPT).collect();
    if excerpt.len() < words.trim_end().len() {
        excerpt.push_str("...");
    }
    Some(Problem::at(text, start, &format!("syntax error at `{excerpt}`")))
}

fn pair(opener: &str) -> &'static str {
    match opener {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}
