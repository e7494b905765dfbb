//! A second parser: the grammar of bash for tree-sitter.
//!
//! It reads texts that our own parser doesn't understand wholly, and gives the commands that it
//! finds in them. Its parser is kept for each thread.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use tree_sitter::{Parser, Tree};

use crate::env::{Env, Unit};
use crate::judge::Judge;

/// Longest text that it is given, in bytes.
const MOST: usize = 16 * 1024;
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

fn parse(text: &str) -> Option<Tree> {
    PARSER.with(|parser| parser.try_borrow_mut().ok()?.as_mut()?.parse(text, None))
}

/// Where the commands of a text stand.
pub(crate) fn commands(text: &str) -> Vec<Range<usize>> {
    let Some(tree) = parse(text) else { return Vec::new() };
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
