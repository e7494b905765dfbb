//! `command_allowlist` in config.yaml: what was agreed to for ever.

use std::path::PathBuf;

use hermes_command::Report;
use hermes_config::{ConfigError, ConfigFile, Edit};
use hermes_registry::Settings;
use serde_json::{Value, json};

use crate::glob::Glob;
use crate::keys::is_upstream_key;
use crate::policy::texts;

/// The setting's name.
const SETTING: &str = "command_allowlist";

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// One command that a rule objects to, `recursive_delete:rm -rf build`.
    Command,
    /// A whole rule, by its id or by the name that upstream has for it.
    Rule,
    /// The text of a command, or a glob over such texts.
    Text,
}

impl EntryKind {
    /// What an entry is about, by its form.
    #[must_use]
    pub fn of(entry: &str) -> Self {
        let is_id = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_lowercase() || b"_0123456789".contains(&b))
        };
        match entry.split_once(':') {
            Some((rule, command)) if is_id(rule) && !command.starts_with("//") => Self::Command,
            _ if is_upstream_key(entry) => Self::Rule,
            // A program's name has no underscore as a rule; a rule's id nearly always has.
            _ if is_id(entry) && entry.contains('_') => Self::Rule,
            _ => Self::Text,
        }
    }

    /// The name in listings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Rule => "rule",
            Self::Text => "text",
        }
    }
}

/// The list in the file. Several processes may change it at once.
#[derive(Clone, Debug)]
pub struct Allowlist {
    file: ConfigFile,
}

impl Allowlist {
    /// That of a home folder.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        Self::at(settings.home().join("config.yaml"))
    }

    /// That in a file.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { file: ConfigFile::new(path) }
    }

    /// The entries as they are now.
    ///
    /// # Errors
    /// The file can't be read, or is no YAML mapping.
    pub fn read(&self) -> Result<Vec<String>, ConfigError> {
        Ok(texts(self.file.read()?.get(SETTING)))
    }

    /// Adds entries to those that are there.
    ///
    /// # Errors
    /// The file can't be read or written; then it is as it was.
    pub fn add(&self, entries: &[String]) -> Result<(), ConfigError> {
        self.change(|list| {
            for entry in entries {
                if !list.iter().any(|known| known.as_str() == Some(entry)) {
                    list.push(json!(entry));
                }
            }
        })
    }

    /// Removes the entries that `is_meant` names, and says which.
    ///
    /// # Errors
    /// The file can't be read or written; then it is as it was.
    pub fn remove(
        &self,
        mut is_meant: impl FnMut(&str) -> bool,
    ) -> Result<Vec<String>, ConfigError> {
        let mut removed = Vec::new();
        self.change(|list| {
            list.retain(|item| match texts(Some(item)).first() {
                Some(entry) if is_meant(entry) => {
                    removed.push(entry.clone());
                    false
                }
                _ => true,
            });
        })?;
        Ok(removed)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Value>)) -> Result<(), ConfigError> {
        let edits = |config: &Value| {
            let before = match config.get(SETTING) {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(list)) => list.clone(),
                Some(one) => vec![one.clone()],
            };
            let mut list = before.clone();
            change(&mut list);
            Ok(if list == before {
                Vec::new()
            } else {
                vec![Edit::Set { path: vec![SETTING.to_owned()], value: list.into() }]
            })
        };
        self.file.update(edits).map(|_| ())
    }
}

/// The entry by which the text of a command is on the list, as it is or by a glob.
///
/// Only for one plain command: text behind `;` or in a substitution would come along unseen.
pub(crate) fn text_of<'e>(
    entries: &'e [String],
    command: &str,
    report: &Report,
) -> Option<&'e String> {
    let command = command.trim();
    let is_plain =
        !command.contains(['\n', ';', '&', '|', '<', '>', '`']) && !command.contains("$(");
    let mut outer = report.commands.iter().filter(|simple| simple.depth == 0);
    let is_one = match (outer.next(), outer.next()) {
        (Some(only), None) => !only.has_redirect,
        _ => false,
    };
    if !(is_plain && is_one && report.complete && !report.has_substitution) {
        return None;
    }
    entries.iter().find(|entry| *entry == command || Glob::new(entry, false).fits(command))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn entries_come_and_go_and_the_rest_of_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        let text = "# mine\nmodel: x # why\ncommand_allowlist:\n  # by hand\n  - ls *\nz: 1\n";
        std::fs::write(&path, text).unwrap();
        let list = Allowlist::at(&path);
        list.add(&["a_b:rm \"x\" # y".into(), "ls *".into()]).unwrap();
        assert_eq!(list.read().unwrap(), ["ls *", "a_b:rm \"x\" # y"]);
        let text = std::fs::read_to_string(&path).unwrap();
        for kept in ["# mine", "# why", "# by hand", "z: 1"] {
            assert!(text.contains(kept), "{text}");
        }
        assert_eq!(list.remove(|entry| entry.starts_with("a_b")).unwrap().len(), 1);
        assert_eq!(list.remove(|entry| entry == "nothing").unwrap().len(), 0);
        assert_eq!(list.read().unwrap(), ["ls *"]);
    }

    #[test]
    fn a_broken_file_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.yaml");
        std::fs::write(&path, "a: [").unwrap();
        let list = Allowlist::at(&path);
        assert!(list.add(&["x".into()]).is_err() && list.read().is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a: [");
    }

    #[test]
    fn entries_are_told_apart() {
        for (entry, kind) in [
            ("recursive_delete:rm -rf x", EntryKind::Command),
            ("recursive_delete", EntryKind::Rule),
            ("recursive delete", EntryKind::Rule),
            ("rm *", EntryKind::Text),
            ("make", EntryKind::Text),
            ("curl http://x", EntryKind::Text),
        ] {
            assert_eq!(EntryKind::of(entry), kind, "{entry}");
        }
    }
}
