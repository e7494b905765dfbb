//! Mappings and lists in brackets and braces.

use serde_json::{Map, Value};

use super::Splicer;
use super::value::Site;
use crate::emit;
use crate::tree::{Collection, Entry, Kind, Node};

impl Splicer<'_> {
    pub(super) fn flow_map(
        &mut self,
        node: &Node,
        map: &Collection<Entry>,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
    ) -> Option<()> {
        // `[a: 1]` has a mapping without braces.
        if !self.source.get(node.span.clone())?.starts_with('{') {
            return None;
        }
        let mut written = Vec::new();
        for (index, entry) in map.items.iter().enumerate() {
            if entry.is_merge() {
                continue;
            }
            let Kind::Scalar(key) = &entry.key.kind else { return None };
            let key = key.text.as_str();
            written.push(key);
            match (old.get(key)?, new.get(key)) {
                (_, None) => self.remove_flow_entry(map, index)?,
                (old, Some(new)) => {
                    self.change(Site::Flow { key: Some(&entry.key) }, &entry.value, old, new)?;
                }
            }
        }
        let left = map.items.iter().any(Entry::is_merge)
            || written.iter().any(|&key| new.contains_key(key));
        if !left {
            self.splices.retain(|splice| {
                !(node.span.start <= splice.range.start && splice.range.end <= node.span.end)
            });
            self.put(node.span.clone(), emit::inline(&Value::Object(new.clone())));
            return Some(());
        }
        if old.keys().any(|key| !new.contains_key(key) && !written.contains(&key.as_str())) {
            return None;
        }
        let mut added = String::new();
        for (key, value) in new {
            if old.get(key) != Some(value) && !written.contains(&key.as_str()) {
                added.push_str(", ");
                emit::inline_entry(&mut added, key, value);
            }
        }
        if !added.is_empty() {
            let end = self.flow_end(map.items.last()?);
            self.put(end..end, added);
        }
        Some(())
    }

    fn remove_flow_entry(&mut self, map: &Collection<Entry>, index: usize) -> Option<()> {
        let entry = map.items.get(index)?;
        let range = match (map.items.get(index + 1), index.checked_sub(1)) {
            (Some(next), _) => entry.key.span.start..next.key.span.start,
            (None, Some(previous)) => self.flow_end(map.items.get(previous)?)..self.flow_end(entry),
            (None, None) => entry.key.span.start..self.flow_end(entry),
        };
        // A comment in between belongs to somebody else.
        if self.source.get(range.clone())?.contains(" #") {
            return None;
        }
        self.put(range, "");
        Some(())
    }

    fn flow_end(&self, entry: &Entry) -> usize {
        if !entry.value.span.is_empty() {
            return entry.value.span.end;
        }
        self.source.after_colon(&entry.key).unwrap_or(entry.key.span.end).max(entry.value.span.end)
    }

    pub(super) fn flow_list(
        &mut self,
        list: &Collection<Node>,
        old: &[Value],
        new: &[Value],
    ) -> Option<()> {
        if old.len() != new.len() {
            return None;
        }
        for ((item, old), new) in list.items.iter().zip(old).zip(new) {
            self.change(Site::Flow { key: None }, item, old, new)?;
        }
        Some(())
    }

    pub(super) fn replace_in_flow(
        &mut self,
        key: Option<&Node>,
        node: &Node,
        text: &str,
    ) -> Option<()> {
        if !node.span.is_empty() {
            self.put(node.span.clone(), text);
            return Some(());
        }
        let key = key?;
        match self.source.after_colon(key) {
            Some(after) => {
                let at = after.max(node.span.end);
                self.put(at..at, format!(" {text}"));
            }
            None => self.put(key.span.end..key.span.end, format!(": {text}")),
        }
        Some(())
    }
}
