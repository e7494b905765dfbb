//! Changing YAML text and keeping what people wrote: comments, quotes, blank lines, order.
//!
//! Every result is read again before it is returned: it must have exactly the wanted value.

use std::fmt;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::emit::{self, Layout};
use crate::error::one_line;
use crate::splice;
use crate::tree::{self, Collection, Entry, Kind, Node};
use crate::yaml::{self, MAX_DEPTH, YamlError};

/// One change of a mapping. A path names a key per level, from the top.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Gives a key a value. Levels above that are missing or null become mappings.
    Set {
        /// The keys from the top.
        path: Vec<String>,
        /// The new value.
        value: Value,
    },
    /// Removes a key; one that isn't there is fine. An emptied mapping stays, as `{}`.
    Remove {
        /// The keys from the top.
        path: Vec<String>,
    },
}

/// Why a text was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The present text is no YAML mapping.
    Unreadable(YamlError),
    /// A path without a key.
    EmptyPath,
    /// The path leads through something that is no mapping.
    Blocked {
        /// The key that holds it, dotted.
        key: String,
        /// What it holds, such as `a list`.
        found: &'static str,
    },
    /// The value would nest deeper than is read back.
    TooDeep,
    /// No change of the text gives exactly the wanted value, for instance because another key
    /// refers to this one by an alias.
    Unfaithful {
        /// The key, dotted.
        key: String,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "{error}; mend the file first"),
            Self::EmptyPath => f.write_str("the setting has no name"),
            Self::Blocked { key, found } => write!(
                f,
                "`{}` is {found}, so nothing can be set below it: remove it first",
                one_line(key)
            ),
            Self::TooDeep => write!(f, "the value nests deeper than {MAX_DEPTH} levels"),
            Self::Unfaithful { key } => write!(
                f,
                "`{}` cannot be changed without touching other settings (an anchor or alias?): \
                 edit the file by hand",
                one_line(key)
            ),
        }
    }
}

impl std::error::Error for EditError {}

impl Edit {
    fn path(&self) -> &[String] {
        match self {
            Self::Set { path, .. } | Self::Remove { path } => path,
        }
    }

    /// Makes the change in a plain value, and says whether there was anything to change.
    ///
    /// # Errors
    ///
    /// A path that is empty or leads through something that is no mapping.
    pub fn apply_to(&self, root: &mut Value) -> Result<bool, EditError> {
        let (last, above) = self.path().split_last().ok_or(EditError::EmptyPath)?;
        let creating = matches!(self, Self::Set { .. });
        let mut current = root;
        for depth in 0..=above.len() {
            if current.is_null() && creating {
                *current = Value::Object(Map::new());
            }
            let map = match current {
                Value::Object(map) => map,
                Value::Null => return Ok(false),
                other => {
                    let key = self.path().get(..depth).unwrap_or_default().join(".");
                    return Err(EditError::Blocked { key, found: yaml::kind(other) });
                }
            };
            match (above.get(depth), self) {
                (Some(key), Self::Set { .. }) => {
                    current = map.entry(key.clone()).or_insert(Value::Null);
                }
                (Some(key), Self::Remove { .. }) => match map.get_mut(key) {
                    Some(below) => current = below,
                    None => return Ok(false),
                },
                (None, Self::Remove { .. }) => return Ok(map.shift_remove(last).is_some()),
                (None, Self::Set { value, .. }) => {
                    if map.get(last) == Some(value) {
                        return Ok(false);
                    }
                    map.insert(last.clone(), value.clone());
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The text with the edits made, in their order. Equal to `text` when they change nothing.
///
/// # Errors
///
/// A text that is no YAML mapping, or an edit that cannot be made; then none is.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    let mut value = yaml::parse_mapping(text).map_err(EditError::Unreadable)?;
    let mut text = text.to_owned();
    for edit in edits {
        if matches!(edit, Edit::Set { value, path } if is_deeper(value, MAX_DEPTH.saturating_sub(path.len())))
        {
            return Err(EditError::TooDeep);
        }
        let mut wanted = value.clone();
        if edit.apply_to(&mut wanted)? {
            text = rewrite(&text, edit, &wanted)?;
            value = wanted;
        }
    }
    Ok(text)
}

fn rewrite(text: &str, edit: &Edit, wanted: &Value) -> Result<String, EditError> {
    let root = tree::read(text).map_err(EditError::Unreadable)?;
    let faithful = |new: &String| yaml::parse_mapping(new).as_ref() == Ok(wanted);
    let spliced = root.as_ref().zip(wanted.as_object());
    spliced
        .and_then(|(root, wanted)| splice::rewrite(text, root, wanted))
        .filter(faithful)
        .or_else(|| {
            replace_block(text, root.as_ref(), edit.path().first()?, wanted).filter(faithful)
        })
        .ok_or_else(|| EditError::Unfaithful { key: edit.path().join(".") })
}

/// Writes one top-level key anew, with everything below it, and keeps all other lines.
fn replace_block(text: &str, root: Option<&Node>, key: &str, wanted: &Value) -> Option<String> {
    let lines = block_lines(text, root, key)?;
    let mut block = String::new();
    if let Some(value) = wanted.get(key) {
        emit::entry(&mut block, key, value, 0, Layout::default());
    }
    let (before, after) = (text.get(..lines.start)?, text.get(lines.end..)?);
    let mut new = before.to_owned();
    if !block.is_empty() && !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    if text.contains("\r\n") {
        block = block.replace('\n', "\r\n");
    }
    new.push_str(&block);
    new.push_str(after);
    Some(new)
}

/// Where a top-level key's lines are, or where they would go. None for a flow mapping.
fn block_lines(text: &str, root: Option<&Node>, key: &str) -> Option<Range<usize>> {
    let document_end = document_end(text);
    let keys = match root.map(|root| &root.kind) {
        Some(Kind::Map(map)) if !map.items.is_empty() => top_level_keys(map)?,
        // `{}` or `null` or nothing: the one line that is no comment gives way.
        _ => {
            let body = lines(text)
                .find(|(_, line)| !is_filler(line) && !line.starts_with(['-', '.', '%']))
                .map(|(start, line)| start..start + line.len());
            return Some(body.unwrap_or(document_end..document_end));
        }
    };
    let at_line_start =
        |at: usize| text.get(..at).is_some_and(|t| t.is_empty() || t.ends_with(['\n', '\u{feff}']));
    let Some(index) = keys.iter().position(|&(name, _)| name == key) else {
        return keys.iter().all(|&(_, at)| at_line_start(at)).then_some(document_end..document_end);
    };
    let start = keys.get(index)?.1;
    let next = keys.get(index + 1).map_or(document_end, |&(_, at)| at);
    if !at_line_start(start) || (next < text.len() && !at_line_start(next)) {
        return None;
    }
    // Comments and blank lines in front of the next key belong to that one.
    let block = text.get(start..next)?;
    let end = lines(block)
        .filter(|(_, line)| !is_filler(line) || line.starts_with([' ', '\t']))
        .last()
        .map_or(0, |(at, line)| at + line.len());
    Some(start..start + end)
}

/// The keys of the top-level mapping, each with the byte offset it starts at.
fn top_level_keys(map: &Collection<Entry>) -> Option<Vec<(&str, usize)>> {
    let keys = map.items.iter().map(|entry| match &entry.key.kind {
        Kind::Scalar(key) => Some((key.text.as_str(), entry.key.span.start)),
        _ => None,
    });
    keys.collect()
}

/// Where the `...` line starts, else the end of the text.
fn document_end(text: &str) -> usize {
    lines(text).find(|(_, line)| line.trim_end() == "...").map_or(text.len(), |(start, _)| start)
}

/// The lines with their ends, each with its offset.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// Whether a line is blank or only a comment.
fn is_filler(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    line.is_empty() || line.starts_with('#')
}

/// Whether a value has more than `limit` levels of lists and mappings.
fn is_deeper(value: &Value, limit: usize) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => pending.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
