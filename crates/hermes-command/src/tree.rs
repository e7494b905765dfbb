//! A second parser: the grammar of bash for tree-sitter.
//!
//! It reads texts that our own parser doesn't understand wholly, and gives the commands that it
//! finds in them. Its parser is kept for each thread.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::ops::Range;
use std::rc::Rc;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::env::{Env, Unit};
use crate::judge::Judge;

/// Longest text that it is given, in bytes.
const MOST: usize = 16 * 1024;
/// How often the parser may ask whether it may go on: it does so each 100 steps.
const LEAST_WORK: usize = 32;
const BYTES_PER_WORK: usize = 32;
/// Most commands that are taken from it.
const MOST_COMMANDS: usize = 256;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new(new_parser());
}

fn new_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// The tree of a text; none when it takes the parser much more work than shell does. How much is
/// counted, so that the answer doesn't depend on the machine.
fn parse(text: &str) -> Option<Tree> {
    let mut left = LEAST_WORK + text.len() / BYTES_PER_WORK;
    let mut stop = |_: &_| {
        left = left.saturating_sub(1);
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut stop);
    let bytes = text.as_bytes();
    let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
    PARSER.with(|parser| {
        let mut parser = parser.try_borrow_mut().ok()?;
        let parser = parser.as_mut()?;
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        // What was begun isn't gone on with.
        parser.reset();
        tree
    })
}

/// A text without the characters that the grammar takes quadratic time for, without asking whether
/// it may go on. All others stay where they are.
fn readable(text: &str) -> Cow<'_, str> {
    let is_odd = |byte: u8| (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7F;
    if text.bytes().any(is_odd) {
        let clean = |c: char| if u8::try_from(c).is_ok_and(is_odd) { ' ' } else { c };
        text.chars().map(clean).collect::<String>().into()
    } else {
        text.into()
    }
}

/// Where the commands of a text stand.
pub(crate) fn commands(text: &str) -> Vec<Range<usize>> {
    let Some(tree) = parse(&readable(text)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    // Down, else right, else up: no recursion on the depth of the text.
    loop {
        let node = cursor.node();
        if matches!(node.kind(), "command" | "redirected_statement") {
            found.push(node.byte_range());
        }
        if cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Judges the commands that only this parser may have found.
pub(crate) fn look(judge: &mut Judge, unit: &Rc<Unit>, env: &mut Env) {
    let text = unit.source.text.as_str();
    if text.len() > MOST {
        return;
    }
    for range in commands(text).into_iter().take(MOST_COMMANDS) {
        if judge.nested == 0 {
            judge.span = unit.source.original(&range);
        }
        let mut inner = env.clone();
        judge.piece(unit.source.slice(range), &mut inner);
    }
}
