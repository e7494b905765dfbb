//! Mappings and lists in block style, changed by whole lines.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Splicer;
use super::value::Site;
use crate::emit;
use crate::tree::{Collection, Entry, Kind, Node};

/// Comparisons spent on finding the items two lists have in common.
const MAX_COMPARISONS: usize = 1_000_000;

impl Splicer<'_> {
    pub(super) fn block_map(
        &mut self,
        map: &Collection<Entry>,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
    ) -> Option<()> {
        let indent = self.source.indent(map)?;
        let mut written = Vec::new();
        for (index, entry) in map.items.iter().enumerate() {
            if entry.is_merge() {
                continue;
            }
            let Kind::Scalar(key) = &entry.key.kind else { return None };
            let key = key.text.as_str();
            written.push(key);
            match (old.get(key)?, new.get(key)) {
                (_, None) => self.remove_entry(map, index, indent)?,
                (old, Some(new)) if old == new => {}
                (old, Some(new)) => {
                    let after = self
                        .source
                        .after_colon(&entry.key)
                        .or_else(|| self.explicit_colon(entry))?;
                    self.change(Site::Value { after, indent }, &entry.value, old, new)?;
                }
            }
        }
        // What another mapping brings in can only be taken away there.
        if old.keys().any(|key| !new.contains_key(key) && !written.contains(&key.as_str())) {
            return None;
        }
        let mut added = String::new();
        for (key, value) in new {
            if old.get(key) != Some(value) && !written.contains(&key.as_str()) {
                emit::entry(&mut added, key, value, indent, self.layout);
            }
        }
        if !added.is_empty() {
            let end = self.source.entry_end(map.items.last()?);
            self.put_lines(self.source.next_line(end), added);
        }
        Some(())
    }

    /// The place behind the colon of a key written `? key`, when only that colon is between.
    fn explicit_colon(&self, entry: &Entry) -> Option<usize> {
        let between = self.source.get(entry.key.span.end..entry.value.span.start)?;
        let colon = between.rfind(':')?;
        (between.trim() == ":").then_some(entry.key.span.end + colon + 1)
    }

    fn remove_entry(&mut self, map: &Collection<Entry>, index: usize, indent: usize) -> Option<()> {
        let entry = map.items.get(index)?;
        let start = entry.key.span.start;
        let end = self.source.next_line(self.source.entry_end(entry));
        let before = self.source.before(start)?;
        if before.trim().is_empty() || before.trim() == "?" {
            self.put(start - before.len()..self.with_deeper_comments(end, indent), "");
            return Some(());
        }
        // The first key behind a dash: the next one takes its place.
        let next = map.items.get(index + 1)?.key.span.start;
        if self.source.get(end..next)?.contains('#') {
            return None;
        }
        self.put(start..next, "");
        Some(())
    }

    /// The end of the comment lines from a place on that are indented deeper than `indent`.
    fn with_deeper_comments(&self, from: usize, indent: usize) -> usize {
        let (mut end, mut at) = (from, from);
        while let Some(line) = self.source.get(at..self.source.line_end(at)) {
            let text = line.trim_start_matches(' ');
            let next = self.source.next_line(at);
            if next == at || !(text.trim().is_empty() || text.starts_with('#')) {
                break;
            }
            if text.starts_with('#') {
                if line.len() - text.len() <= indent {
                    break;
                }
                end = next;
            }
            at = next;
        }
        end
    }

    /// Only the lines of items that come or go are touched.
    pub(super) fn block_list(
        &mut self,
        list: &Collection<Node>,
        old: &[Value],
        new: &[Value],
    ) -> Option<()> {
        let dashes: Vec<usize> =
            list.items.iter().map(|item| self.source.dash(item)).collect::<Option<_>>()?;
        let indent = self.source.before(*dashes.first()?)?.len();
        let source = self.source;
        let line = |index: usize| Some(source.line_start(*dashes.get(index)?));
        let end = |index: usize| {
            let (item, dash) = (list.items.get(index)?, dashes.get(index)?);
            Some(source.next_line(source.last_line_end(item, dash + 1)))
        };
        for (gone, come) in gaps(old, new)? {
            if gone.len() == come.len() {
                for (index, new) in gone.zip(new.get(come)?) {
                    let site = Site::Item { dash: *dashes.get(index)?, indent };
                    self.change(site, list.items.get(index)?, old.get(index)?, new)?;
                }
                continue;
            }
            if !come.is_empty() {
                let at = match gone.start.checked_sub(1) {
                    Some(previous) if gone.is_empty() => end(previous)?,
                    _ => line(gone.start)?,
                };
                let mut text = String::new();
                emit::list(&mut text, new.get(come)?, indent, self.layout);
                self.put_lines(at, text);
            }
            for index in gone {
                self.put(line(index)?..end(index)?, "");
            }
        }
        Some(())
    }
}

/// The stretches between the items both lists have: what goes, and what comes in its place. None
/// when they have no item in common and differ in length, or are too long to tell.
fn gaps(old: &[Value], new: &[Value]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let same = |(old, new): &(&Value, &Value)| old == new;
    let front = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (old.get(front..)?, new.get(front..)?);
    let back = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let (old_end, new_end) = (old.len() - back, new.len() - back);
    let mut kept = common(old.get(front..old_end)?, new.get(front..new_end)?)?;
    if front + back + kept.len() == 0 && old.len() != new.len() {
        return None;
    }
    for (in_old, in_new) in &mut kept {
        *in_old += front;
        *in_new += front;
    }
    kept.push((old_end, new_end));
    let (mut from_old, mut from_new) = (front, front);
    let mut gaps = Vec::new();
    for (in_old, in_new) in kept {
        if from_old < in_old || from_new < in_new {
            gaps.push((from_old..in_old, from_new..in_new));
        }
        (from_old, from_new) = (in_old + 1, in_new + 1);
    }
    Some(gaps)
}

/// The longest common subsequence, as pairs of indices.
fn common(old: &[Value], new: &[Value]) -> Option<Vec<(usize, usize)>> {
    let width = new.len() + 1;
    if old.len().saturating_mul(new.len()) > MAX_COMPARISONS {
        return None;
    }
    // The best length from each pair of places to the ends.
    let mut best = vec![0_usize; (old.len() + 1) * width];
    let at = |best: &[usize], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
    for (i, left) in old.iter().enumerate().rev() {
        for (j, right) in new.iter().enumerate().rev() {
            let length = if left == right {
                at(&best, i + 1, j + 1) + 1
            } else {
                at(&best, i + 1, j).max(at(&best, i, j + 1))
            };
            *best.get_mut(i * width + j)? = length;
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while let (Some(left), Some(right)) = (old.get(i), new.get(j)) {
        if left == right {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if at(&best, i + 1, j) >= at(&best, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    Some(pairs)
}
