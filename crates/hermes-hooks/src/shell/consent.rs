//! Who agreed to which command.

use hermes_config::{ConfigError, StateFile};
use hermes_registry::Settings;
use serde_json::{Map, Value, json};

use super::date;
use super::script::Script;
use crate::event::HookEvent;

/// The key of the content's hash in an entry.
const HASH: &str = "script_sha256_at_approval";

/// The key of the file's time in an entry.
const MODIFIED: &str = "script_mtime_at_approval";

/// Whether a command may run at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Its owner agreed.
    Approved,
    /// Nobody was asked yet.
    Missing,
    /// Its owner agreed to what it was; now its files are others.
    Changed,
}

impl Consent {
    /// For programs: `approved`, `not_approved` or `changed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Missing => "not_approved",
            Self::Changed => "changed",
        }
    }
}

/// The file that remembers consent, `shell-hooks-allowlist.json` in the home folder. Several
/// processes may change it at once.
#[derive(Clone, Debug)]
pub struct Allowlist {
    file: StateFile,
}

impl Allowlist {
    /// That of a home folder.
    pub fn of(settings: &Settings) -> Self {
        Self { file: StateFile::new(settings.home().join("shell-hooks-allowlist.json")) }
    }

    /// What it says now.
    ///
    /// # Errors
    ///
    /// It can't be read, or is broken.
    pub fn read(&self) -> Result<Approvals, ConfigError> {
        let text = self.file.read()?;
        Ok(Approvals { entries: entries(&self.parse(text.as_deref())?) })
    }

    /// Remembers that the owner of the home agrees to a command, as it is in `script`.
    ///
    /// # Errors
    ///
    /// The file can't be read or written, or is broken.
    pub fn approve(
        &self,
        event: HookEvent,
        command: &str,
        script: &Script,
    ) -> Result<(), ConfigError> {
        self.change(|approvals| {
            approvals.retain(|entry| !is_about(entry, command, Some(event)));
            approvals.push(json!({
                "event": event.as_str(),
                "command": command,
                "approved_at": date::iso(std::time::SystemTime::now()),
                MODIFIED: script.modified(),
                HASH: script.digest(),
            }));
        })
    }

    /// Forgets the consent to a command, at one event or all, and says to how many pairs.
    ///
    /// # Errors
    ///
    /// The file can't be read or written, or is broken.
    pub fn revoke(&self, command: &str, event: Option<HookEvent>) -> Result<usize, ConfigError> {
        let mut gone = 0;
        self.change(|approvals| {
            let before = approvals.len();
            approvals.retain(|entry| !is_about(entry, command, event));
            gone = before - approvals.len();
        })?;
        Ok(gone)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Value>)) -> Result<(), ConfigError> {
        self.file.update(|text| {
            let mut root = self.parse(text)?;
            let mut approvals = entries(&root);
            let before = approvals.clone();
            change(&mut approvals);
            if approvals == before {
                return Ok(None);
            }
            root.insert("approvals".to_owned(), Value::Array(approvals));
            Ok(Some(format!("{:#}\n", Value::Object(root))))
        })
    }

    /// A broken file is no empty one: writing it anew would lose what people agreed to.
    fn parse(&self, text: Option<&str>) -> Result<Map<String, Value>, ConfigError> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(Map::new());
        };
        match serde_json::from_str(text) {
            Ok(Value::Object(root)) if root.get("approvals").is_none_or(Value::is_array) => {
                Ok(root)
            }
            _ => Err(ConfigError::Unreadable {
                path: self.file.path().to_owned(),
                reason: "is broken: mend it, or remove it and approve your hooks again".to_owned(),
            }),
        }
    }
}

fn entries(root: &Map<String, Value>) -> Vec<Value> {
    root.get("approvals").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn is_about(entry: &Value, command: &str, event: Option<HookEvent>) -> bool {
    let says = |key: &str| entry.get(key).and_then(Value::as_str);
    says("command") == Some(command)
        && event.is_none_or(|event| says("event") == Some(event.as_str()))
}

/// What was agreed to at some moment.
#[derive(Clone, Debug, Default)]
pub struct Approvals {
    entries: Vec<Value>,
}

impl Approvals {
    /// Whether a command may run, given what it runs now.
    pub fn consent(&self, event: HookEvent, command: &str, script: &Script) -> Consent {
        let about = |entry: &&Value| is_about(entry, command, Some(event));
        let Some(entry) = self.entries.iter().rev().find(about) else { return Consent::Missing };
        let is_same = match (entry.get(HASH), entry.get(MODIFIED)) {
            (Some(hash), _) => hash.as_str() == script.digest(),
            // Entries of others have no hash, and perhaps a time.
            (None, Some(Value::String(modified))) => script.modified().as_deref() == Some(modified),
            (None, _) => true,
        };
        if is_same { Consent::Approved } else { Consent::Changed }
    }

    /// The commands agreed to at an event.
    pub fn commands(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|entry| {
            Some((entry.get("event")?.as_str()?, entry.get("command")?.as_str()?))
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const CALL: HookEvent = HookEvent::PreToolCall;

    #[test]
    fn entries_of_others_are_kept_and_understood() {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings::new(home.path());
        let script_path = home.path().join("s");
        std::fs::write(&script_path, "x").unwrap();
        let command = format!("cat {}", script_path.display());
        let script = Script::of(&command, &settings);
        let path = home.path().join("shell-hooks-allowlist.json");
        let theirs = json!({
            "version": 7,
            "approvals": [
                {"event": "pre_tool_call", "command": "other", "note": 1},
                {"event": "pre_tool_call", "command": command, MODIFIED: script.modified()},
                "junk",
            ],
        });
        std::fs::write(&path, theirs.to_string()).unwrap();
        let list = Allowlist::of(&settings);
        let consent = |event| list.read().unwrap().consent(event, &command, &script);
        assert_eq!(consent(CALL), Consent::Approved);
        assert_eq!(consent(HookEvent::PostToolCall), Consent::Missing);
        list.approve(HookEvent::PostToolCall, &command, &script).unwrap();
        list.approve(CALL, &command, &script).unwrap();
        assert_eq!(list.revoke("nobody", None).unwrap(), 0);
        let text = std::fs::read_to_string(&path).unwrap();
        let written: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&written["version"], &written["approvals"][0]["note"]), (&json!(7), &json!(1)));
        assert_eq!(written["approvals"].as_array().unwrap().len(), 4);
        assert_eq!(list.revoke(&command, Some(CALL)).unwrap(), 1);
        assert_eq!(list.revoke(&command, None).unwrap(), 1);
        assert_eq!(consent(CALL), Consent::Missing);
    }

    #[test]
    fn a_broken_file_is_not_written_over() {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings::new(home.path());
        let path = home.path().join("shell-hooks-allowlist.json");
        let script = Script::of("true", &settings);
        for text in ["{", "[]", "{\"approvals\": 5}"] {
            std::fs::write(&path, text).unwrap();
            let list = Allowlist::of(&settings);
            assert!(list.read().is_err() && list.approve(CALL, "true", &script).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn thirty_at_once_lose_nothing() {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings::new(home.path());
        std::thread::scope(|scope| {
            for n in 0..30 {
                let settings = settings.clone();
                scope.spawn(move || {
                    let command = format!("true {n}");
                    let script = Script::of(&command, &settings);
                    Allowlist::of(&settings).approve(CALL, &command, &script).unwrap();
                });
            }
        });
        assert_eq!(Allowlist::of(&settings).read().unwrap().commands().count(), 30);
    }
}
