//! Giving one node another value.

use serde_json::Value;

use super::Splicer;
use crate::emit;
use crate::tree::{Kind, Node};

/// Where a node stands.
#[derive(Clone, Copy)]
pub(super) enum Site<'t> {
    /// Behind a key in block style.
    Value {
        /// The place behind the colon.
        after: usize,
        /// How far the key is indented.
        indent: usize,
    },
    /// Behind a dash.
    Item {
        /// The place of the dash.
        dash: usize,
        /// How far it is indented.
        indent: usize,
    },
    /// Within brackets or braces, behind a key if it has one.
    Flow { key: Option<&'t Node> },
}

impl Splicer<'_> {
    /// Changes parts of a collection where that is enough, else all of the node.
    pub(super) fn change(
        &mut self,
        site: Site<'_>,
        node: &Node,
        old: &Value,
        new: &Value,
    ) -> Option<()> {
        if old == new {
            return Some(());
        }
        let before = self.splices.len();
        let partly = match (&node.kind, old, new) {
            _ if is_empty(old) || is_empty(new) => None,
            (Kind::Map(map), Value::Object(old), Value::Object(new)) => {
                if map.flow {
                    self.flow_map(node, map, old, new)
                } else {
                    self.block_map(map, old, new)
                }
            }
            (Kind::List(list), Value::Array(old), Value::Array(new)) => {
                if list.flow {
                    self.flow_list(list, old, new)
                } else {
                    self.block_list(list, old, new)
                }
            }
            _ => None,
        };
        partly.or_else(|| {
            self.splices.truncate(before);
            self.replace(site, node, new)
        })
    }

    fn replace(&mut self, site: Site<'_>, node: &Node, new: &Value) -> Option<()> {
        match site {
            Site::Flow { key } => self.replace_in_flow(key, node, &emit::inline(new)),
            Site::Value { after, .. } if is_inline(node, new) => {
                self.replace_inline(node, after, &emit::inline(new))
            }
            Site::Value { after, indent } => {
                let zone = self.source.zone(node, after)?;
                let mut head = zone.head;
                if !head.is_empty() {
                    let before = self.source.get(after..head.start)?;
                    head.start = after + before.trim_end().len();
                }
                self.put(head, "");
                let mut text = "\n".to_owned();
                emit::below(&mut text, new, indent, self.layout);
                self.put(zone.tail, text.trim_end_matches('\n'));
                Some(())
            }
            Site::Item { dash, indent } => {
                if is_inline(node, new)
                    && self.replace_inline(node, dash + 1, &emit::inline(new)).is_some()
                {
                    return Some(());
                }
                let mut text = String::new();
                emit::list(&mut text, std::slice::from_ref(new), indent, self.layout);
                let end = self.source.last_line_end(node, dash + 1);
                self.put(dash..end, text.trim());
                Some(())
            }
        }
    }

    fn replace_inline(&mut self, node: &Node, after: usize, text: &str) -> Option<()> {
        let zone = self.source.zone(node, after)?;
        let blank = if zone.head.is_empty() { " " } else { "" };
        self.put(zone.head, format!("{blank}{text}"));
        if !zone.tail.is_empty() {
            self.put(zone.tail, "");
        }
        Some(())
    }
}

/// Whether a value goes on the line of its key: it is a scalar or empty, or was in brackets.
fn is_inline(node: &Node, new: &Value) -> bool {
    match (&node.kind, new) {
        _ if is_empty(new) => true,
        (Kind::Map(map), Value::Object(_)) => map.flow && !map.items.is_empty(),
        (Kind::List(list), Value::Array(_)) => list.flow && !list.items.is_empty(),
        (_, Value::Object(_) | Value::Array(_)) => false,
        _ => true,
    }
}

/// Whether it is `{}` or `[]`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
