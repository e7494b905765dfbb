//! Where things are in a text: lines, the colon of a key, the last byte of a block.

use std::ops::Range;

use granit_parser::ScalarStyle;

use crate::emit::Layout;
use crate::tree::{Collection, Entry, Kind, Node, Scalar};

/// The text with questions about its places. All offsets are bytes.
#[derive(Clone, Copy)]
pub(super) struct Source<'t>(pub(super) &'t str);

/// What has to change for a node to get another value.
pub(super) struct Zone {
    /// The node or its first part, on the line of its key or dash. Empty where it would stand.
    pub(super) head: Range<usize>,
    /// The lines below that belong to the node, from the end of its first line to the end of its
    /// last.
    pub(super) tail: Range<usize>,
}

impl<'t> Source<'t> {
    pub(super) fn get(self, range: Range<usize>) -> Option<&'t str> {
        self.0.get(range)
    }

    /// Where the line around a place starts.
    pub(super) fn line_start(self, at: usize) -> usize {
        let before = self.0.get(..at).unwrap_or_default();
        match before.rfind('\n') {
            Some(line_break) => line_break + 1,
            None if before.starts_with('\u{feff}') => '\u{feff}'.len_utf8(),
            None => 0,
        }
    }

    /// Where the line around a place ends, in front of its line break.
    pub(super) fn line_end(self, at: usize) -> usize {
        let rest = self.0.get(at..).unwrap_or_default();
        let line = rest.find('\n').and_then(|length| rest.get(..length)).unwrap_or(rest);
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// Where the line after the one around a place starts.
    pub(super) fn next_line(self, at: usize) -> usize {
        let rest = self.0.get(at..).unwrap_or_default();
        at + rest.find('\n').map_or(rest.len(), |length| length + 1)
    }

    /// The part of a node's line in front of it.
    pub(super) fn before(self, at: usize) -> Option<&'t str> {
        self.get(self.line_start(at)..at)
    }

    /// How far a mapping in block style is indented.
    pub(super) fn indent(self, map: &Collection<Entry>) -> Option<usize> {
        let before = self.before(map.items.first()?.key.span.start)?;
        if before.chars().all(|c| c == ' ' || c == '-') {
            return Some(before.len());
        }
        (before.trim() == "?").then(|| before.len() - before.trim_start().len())
    }

    /// The place behind the colon of a key, when it follows at once.
    pub(super) fn after_colon(self, key: &Node) -> Option<usize> {
        let rest = self.0.get(key.span.end..)?;
        let at_colon = rest.trim_start_matches([' ', '\t']);
        at_colon.starts_with(':').then(|| key.span.end + rest.len() - at_colon.len() + 1)
    }

    /// The dash of an item in a block list, when only an anchor or tag stands between.
    pub(super) fn dash(self, item: &Node) -> Option<usize> {
        let before = self.before(item.span.start)?;
        let indent = before.len() - before.trim_start_matches(' ').len();
        let mut words = before.trim_start().strip_prefix('-')?.split_whitespace();
        words
            .all(|word| word.starts_with(['&', '!']))
            .then(|| item.span.start - before.len() + indent)
    }

    /// The end of the last line of an entry in block style, in front of its line break.
    pub(super) fn entry_end(self, entry: &Entry) -> usize {
        self.last_line_end(&entry.value, self.after_colon(&entry.key).unwrap_or(entry.key.span.end))
    }

    /// The end of the last line of a node, in front of its line break. `after` is the place
    /// behind the colon or dash.
    pub(super) fn last_line_end(self, node: &Node, after: usize) -> usize {
        match &node.kind {
            Kind::Map(Collection { flow: false, items }) => {
                items.last().map_or(after, |entry| self.entry_end(entry))
            }
            Kind::List(Collection { flow: false, items }) => {
                items.last().map_or(after, |item| self.last_line_end(item, item.span.end))
            }
            Kind::Scalar(scalar) if is_block(scalar) => self.block_scalar_end(node, after),
            _ if node.span.is_empty() => self.line_end(self.empty_place(node, after)),
            _ => self.line_end(node.span.end),
        }
    }

    /// Blank lines at the end count only where the header asks to keep them.
    fn block_scalar_end(self, node: &Node, after: usize) -> usize {
        let header = self.block_header(node, after);
        let keeps = header
            .clone()
            .and_then(|range| self.get(range))
            .is_some_and(|header| header.contains('+'));
        let content = self.get(node.span.clone()).unwrap_or_default();
        let content = if keeps {
            let line = content.strip_suffix('\n').unwrap_or(content);
            line.strip_suffix('\r').unwrap_or(line)
        } else {
            content.trim_end()
        };
        let header_end = self.line_end(header.map_or(after, |range| range.end));
        if content.is_empty() {
            return header_end;
        }
        let end = node.span.start + content.len();
        header_end.max(if keeps { end } else { self.line_end(end) })
    }

    /// The `|` or `>` with what belongs to it.
    fn block_header(self, node: &Node, after: usize) -> Option<Range<usize>> {
        let line = self.get(after..self.line_end(after))?;
        let start = line
            .match_indices(['|', '>'])
            .map(|(at, _)| at)
            .find(|&at| at == 0 || line.get(..at).is_some_and(|t| t.ends_with([' ', '\t'])))?;
        let header = line.get(start..)?.split_whitespace().next()?;
        let start = after + start;
        (start < node.span.start).then(|| start..start + header.len())
    }

    /// Where a value without any text stands: behind its anchor or tag, else behind the colon.
    fn empty_place(self, node: &Node, after: usize) -> usize {
        if node.span.end <= self.line_end(after) { node.span.end.max(after) } else { after }
    }

    /// What has to give way for a node behind a colon or dash. None when it is laid out oddly.
    pub(super) fn zone(self, node: &Node, after: usize) -> Option<Zone> {
        let first_line_end = self.line_end(after);
        let zone = match &node.kind {
            Kind::Scalar(scalar) if is_block(scalar) => {
                let tail = first_line_end..self.block_scalar_end(node, after);
                Zone { head: self.block_header(node, after)?, tail }
            }
            Kind::Map(Collection { flow: false, .. })
            | Kind::List(Collection { flow: false, .. }) => {
                if node.span.start <= first_line_end {
                    return None;
                }
                let line = self.get(after..first_line_end)?;
                let at = after + line.get(..comment(line))?.trim_end().len();
                Zone { head: at..at, tail: first_line_end..self.last_line_end(node, after) }
            }
            _ => {
                let head = match node.span.is_empty() {
                    true => self.empty_place(node, after)..self.empty_place(node, after),
                    false => node.span.clone(),
                };
                let end = self.line_end(head.end);
                Zone { head, tail: end..end }
            }
        };
        let rest = self.get(zone.head.end..zone.tail.start)?;
        rest.get(..comment(rest))?.trim().is_empty().then_some(zone)
    }

    /// How this text indents.
    pub(super) fn layout(self, root: &Node) -> Layout {
        let (mut step, mut dash) = (None, None);
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            match &node.kind {
                Kind::Map(map) if !map.flow => {
                    let indent = self.indent(map);
                    for Entry { value, .. } in &map.items {
                        let below =
                            indent.and_then(|indent| self.column(value)?.checked_sub(indent));
                        match &value.kind {
                            Kind::Map(Collection { flow: false, .. }) => step = step.or(below),
                            Kind::List(Collection { flow: false, .. }) => dash = dash.or(below),
                            _ => {}
                        }
                    }
                    pending.extend(map.items.iter().rev().map(|entry| &entry.value));
                }
                Kind::List(list) => pending.extend(list.items.iter().rev()),
                _ => {}
            }
        }
        let usual = Layout::default();
        Layout {
            step: step.filter(|step| (1..=8).contains(step)).unwrap_or(usual.step),
            dash: dash.filter(|&dash| dash <= 8).unwrap_or(usual.dash),
        }
    }

    /// How far the first line of a block collection below a key is indented.
    fn column(self, node: &Node) -> Option<usize> {
        let line = self.0.get(self.line_start(node.span.start)..)?;
        Some(line.len() - line.trim_start_matches(' ').len())
    }
}

fn is_block(scalar: &Scalar) -> bool {
    matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded)
}

/// Where the comment of a line starts, else its length. The line holds no quotes.
fn comment(line: &str) -> usize {
    let starts = line.match_indices('#').map(|(at, _)| at);
    starts
        .into_iter()
        .find(|&at| at == 0 || line.get(..at).is_some_and(|t| t.ends_with([' ', '\t'])))
        .unwrap_or(line.len())
}
