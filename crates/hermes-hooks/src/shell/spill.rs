//! Context too long for a prompt: the whole in a file, the ends in the prompt.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hermes_config::ensure_dir;
use hermes_registry::Settings;
use serde_json::Value;

/// Characters of a session's name in the name of its folder.
const MAX_SESSION: usize = 120;

/// When context goes to a file, and what stays: `hooks.output_spill` in `config.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillSettings {
    /// Whether anything does.
    pub enabled: bool,
    /// Characters that stay in the prompt whole.
    pub max_chars: usize,
    /// Characters shown of the beginning of a longer text.
    pub preview_head: usize,
    /// Characters shown of its end.
    pub preview_tail: usize,
    /// The folder with one folder for each session.
    pub directory: PathBuf,
}

impl SpillSettings {
    /// The settings; what makes no sense in them is as if it weren't there.
    pub fn of(settings: &Settings) -> Self {
        let get = |key: &str| settings.get(&format!("hooks.output_spill.{key}"));
        let number = |key: &str, min: u64, default: usize| {
            let number = match get(key) {
                Some(Value::Number(number)) => number.as_u64(),
                Some(Value::String(text)) => text.trim().parse().ok(),
                _ => None,
            };
            let number = number.filter(|number| *number >= min);
            number.and_then(|number| usize::try_from(number).ok()).unwrap_or(default)
        };
        let directory = match get("directory").and_then(Value::as_str).map(str::trim) {
            None | Some("") => PathBuf::from("hook_outputs"),
            Some(path) => match (path.strip_prefix('~'), settings.env("HOME")) {
                (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                    PathBuf::from(format!("{home}{rest}"))
                }
                _ => PathBuf::from(path),
            },
        };
        let is_off = match get("enabled") {
            Some(Value::Bool(enabled)) => !enabled,
            Some(Value::Number(number)) => number.as_i64() == Some(0),
            Some(Value::String(text)) => {
                let text = text.trim().to_ascii_lowercase();
                matches!(text.as_str(), "0" | "false" | "no" | "off" | "disabled")
            }
            _ => false,
        };
        Self {
            enabled: !is_off,
            max_chars: number("max_chars", 1, 10_000),
            preview_head: number("preview_head", 0, 500),
            preview_tail: number("preview_tail", 0, 500),
            // A relative folder is below the home.
            directory: settings.home().join(directory),
        }
    }
}

/// A context of bounded length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spilled {
    /// It is short enough.
    Whole(String),
    /// Its ends, under a line that says what is missing.
    Cut {
        /// For the prompt.
        text: String,
        /// Where the whole is; none if it could not be written.
        file: Option<PathBuf>,
    },
}

impl Spilled {
    /// What goes into the prompt.
    pub fn into_text(self) -> String {
        match self {
            Self::Whole(text) | Self::Cut { text, .. } => text,
        }
    }
}

/// Bounds a context. A longer one goes to a file that only its owner can read.
pub fn spill(text: String, session: &str, settings: &SpillSettings) -> Spilled {
    if !settings.enabled || text.chars().nth(settings.max_chars).is_none() {
        return Spilled::Whole(text);
    }
    let count = text.chars().count();
    let folder = settings.directory.join(folder_name(session));
    let (file, place) = match write(&text, &folder) {
        Ok(file) => {
            let place = format!("the whole is in {}", file.display());
            (Some(file), place)
        }
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "context of a hook is lost");
            (None, "the rest could not be stored".to_owned())
        }
    };
    // Together they are shorter than the text, so they don't overlap.
    let head = settings.preview_head.min(settings.max_chars);
    let tail = settings.preview_tail.min(settings.max_chars - head);
    let left_out = count - head - tail;
    let head = text.char_indices().nth(head).and_then(|(end, _)| text.get(..end));
    let tail = text.char_indices().rev().take(tail).last();
    let tail = tail.and_then(|(start, _)| text.get(start..)).unwrap_or_default();
    let text = format!(
        "[context of a hook, {count} characters: only its ends are shown; {place}]\n\
         {}\n[.. {left_out} characters left out ..]\n{tail}",
        head.unwrap_or_default(),
    );
    Spilled::Cut { text, file }
}

/// A session as the name of one folder.
fn folder_name(session: &str) -> String {
    let session = session.trim();
    if session.is_empty() {
        return "no-session".to_owned();
    }
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ' | '@' | '+');
    let name: String =
        session.chars().take(MAX_SESSION).map(|c| if is_plain(c) { c } else { '_' }).collect();
    let name = name.replace("..", "__");
    if name == "." { "_".to_owned() } else { name }
}

fn write(text: &str, folder: &Path) -> io::Result<PathBuf> {
    ensure_dir(folder).map_err(io::Error::other)?;
    let mut file =
        tempfile::Builder::new().prefix("").suffix(".txt").rand_bytes(16).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn settings(home: &Path, config: &Value) -> SpillSettings {
        let config = json!({"hooks": {"output_spill": config}});
        SpillSettings::of(&Settings::new(home).with_env([("HOME", "/u")]).with_config(config))
    }

    #[test]
    fn settings_that_make_no_sense_are_the_defaults() {
        let home = Path::new("/h");
        let default = settings(home, &json!(null));
        let expected = SpillSettings {
            enabled: true,
            max_chars: 10_000,
            preview_head: 500,
            preview_tail: 500,
            directory: "/h/hook_outputs".into(),
        };
        assert_eq!(default, expected);
        let nonsense = json!({"max_chars": 0, "preview_head": -1, "preview_tail": "x",
            "enabled": null, "directory": ""});
        assert_eq!(settings(home, &nonsense), default);
        let other =
            &json!({"max_chars": "7", "preview_head": 0, "directory": "~/x", "enabled": "off"});
        let other = settings(home, other);
        assert_eq!((other.max_chars, other.preview_head, other.enabled), (7, 0, false));
        assert_eq!(other.directory, Path::new("/u/x"));
        assert_eq!(settings(home, &json!({"directory": "y"})).directory, Path::new("/h/y"));
    }

    #[test]
    fn only_what_is_longer_goes_to_a_file() {
        let home = tempfile::tempdir().unwrap();
        let settings =
            settings(home.path(), &json!({"max_chars": 10, "preview_head": 2, "preview_tail": 3}));
        let short = "é".repeat(10);
        assert_eq!(spill(short.clone(), "s", &settings), Spilled::Whole(short));
        let long = format!("ab{}xyz", "é".repeat(6));
        let Spilled::Cut { text, file: Some(file) } = spill(long.clone(), "s", &settings) else {
            panic!("not stored");
        };
        assert_eq!(std::fs::read_to_string(&file).unwrap(), long);
        assert!(file.starts_with(home.path().join("hook_outputs/s")));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].contains("11 characters") && lines[0].contains(file.to_str().unwrap()));
        assert_eq!(lines[1..], ["ab", "[.. 6 characters left out ..]", "xyz"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        }
        let off = SpillSettings { enabled: false, ..settings };
        assert_eq!(spill(long.clone(), "s", &off), Spilled::Whole(long));
    }

    #[test]
    fn a_failed_write_leaves_the_preview() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("hook_outputs"), "in the way").unwrap();
        let settings = settings(home.path(), &json!(null));
        let spilled = spill("x".repeat(1_000_000), "s", &settings);
        let Spilled::Cut { text, file: None } = spilled else { panic!("{spilled:?}") };
        assert!(text.len() < 1200 && text.contains("1000000 characters"));
    }

    #[test]
    fn a_session_is_one_folder() {
        for (session, name) in [
            ("", "no-session"),
            (" \n", "no-session"),
            ("agent:main", "agent_main"),
            ("../../etc", "______etc"),
            ("a\\b/c", "a_b_c"),
            ("...", "__."),
            ("..", "__"),
            (".", "_"),
            ("a\0b", "a_b"),
        ] {
            assert_eq!(folder_name(session), name, "{session:?}");
            assert!(!folder_name(session).contains(".."));
        }
        assert_eq!(folder_name(&"x".repeat(999)).len(), MAX_SESSION);
    }
}
