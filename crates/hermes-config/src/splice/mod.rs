//! Turning a text into one with another value by replacing as few bytes as possible.
//!
//! The old and the wanted value are compared node by node; what differs becomes a splice. Nothing
//! here is trusted: whoever calls reads the new text again and compares.

mod block;
mod flow;
mod place;
mod value;

use std::ops::Range;

use serde_json::{Map, Value};

use crate::emit::Layout;
use crate::tree::{Kind, Node};
use crate::yaml;
use place::Source;

/// The text changed so that it should have the wanted value. None when this takes more than
/// replacing parts, for instance without a mapping at the top.
pub(crate) fn rewrite(text: &str, root: &Node, wanted: &Map<String, Value>) -> Option<String> {
    let Value::Object(old) = yaml::value(root).ok()? else { return None };
    let Kind::Map(map) = &root.kind else { return None };
    if map.items.is_empty() {
        return None;
    }
    let source = Source(text);
    let mut edit = Splicer { source, layout: source.layout(root), splices: Vec::new() };
    if map.flow {
        edit.flow_map(root, map, &old, wanted)?;
    } else {
        edit.block_map(map, &old, wanted)?;
    }
    edit.finish()
}

struct Splicer<'t> {
    source: Source<'t>,
    layout: Layout,
    splices: Vec<Splice>,
}

/// Bytes that give way to a text.
struct Splice {
    range: Range<usize>,
    text: String,
    /// The text is whole lines, so a line must have ended before it.
    lines: bool,
}

impl Splicer<'_> {
    fn put(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.splices.push(Splice { range, text: text.into(), lines: false });
    }

    fn put_lines(&mut self, at: usize, text: String) {
        self.splices.push(Splice { range: at..at, text, lines: true });
    }

    /// None when splices overlap.
    fn finish(mut self) -> Option<String> {
        let Source(text) = self.source;
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        self.splices.sort_by_key(|splice| splice.range.start);
        let mut new = String::new();
        let mut done = 0;
        for Splice { range, text: with, lines } in self.splices {
            new.push_str(text.get(done..range.start)?);
            if lines && !new.is_empty() && !new.ends_with(['\n', '\u{feff}']) {
                new.push_str(line_end);
            }
            new.push_str(&with.replace('\n', line_end));
            done = range.end;
        }
        new.push_str(text.get(done..)?);
        Some(new)
    }
}

#[cfg(test)]
mod tests;
