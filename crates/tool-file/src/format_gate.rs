//! Structured files are kept parsable: JSON, YAML and TOML are checked before they are written.

use std::path::Path;

use granit_parser::Parser;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// What the check of a new content says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The file's name promises no format that is checked.
    Unchecked,
    /// The content parses.
    Sound,
    /// The content doesn't parse, and neither did the old one: written none the less.
    StillBroken(String),
    /// The content doesn't parse: nothing may be written.
    Refused(String),
}

impl Gate {
    /// The value of `lint` in results.
    pub(crate) fn lint(&self) -> Option<Value> {
        match self {
            Self::Unchecked | Self::Refused(_) => None,
            Self::Sound => Some(json!({"status": "ok"})),
            Self::StillBroken(problem) => Some(json!({
                "status": "error",
                "output": problem,
                "message": "the file didn't parse before this change either",
            })),
        }
    }
}

/// Checks `new` against the format that the name of `path` promises.
pub(crate) fn check(path: &Path, old: Option<&str>, new: &str) -> Gate {
    let Some(parse) = parser(path) else { return Gate::Unchecked };
    let problem_of = |text: &str| {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() { None } else { parse(text).err() }
    };
    match (problem_of(new), old) {
        (None, _) => Gate::Sound,
        (Some(problem), Some(old)) if problem_of(old).is_some() => Gate::StillBroken(problem),
        (Some(problem), _) => Gate::Refused(problem),
    }
}

type Parse = fn(&str) -> Result<(), String>;

fn parser(path: &Path) -> Option<Parse> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let (_, extension) = name.rsplit_once('.')?;
    match extension {
        "json" if may_hold_comments(path, &name) => None,
        "json" => Some(json),
        "yaml" | "yml" => Some(yaml),
        "toml" => Some(toml),
        _ => None,
    }
}

/// JSON files whose programs allow comments.
fn may_hold_comments(path: &Path, name: &str) -> bool {
    name.starts_with("tsconfig")
        || name.starts_with("jsconfig")
        || name.starts_with(".eslintrc")
        || name == "devcontainer.json"
        || path.components().any(|part| part.as_os_str() == ".vscode")
}

fn json(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(|_| ()).map_err(|err| err.to_string())
}

/// Syntax only: several documents, tags and repeated keys are all right.
fn yaml(text: &str) -> Result<(), String> {
    Parser::new_from_str(text)
        .try_for_each(|event| event.map(|_| ()))
        .map_err(|err| err.to_string())
}

fn toml(text: &str) -> Result<(), String> {
    toml::from_str::<toml::Table>(text).map(|_| ()).map_err(|err| err.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_contents() {
        for (path, text, sound) in [
            ("a.json", "{\"a\": [1]}\n", true),
            ("a.JSON", "{\"a\":", false),
            ("a.json", "{\"a\": 1,}", false),
            ("a.json", "", true),
            ("a.json", "\u{feff}{}", true),
            ("a.yaml", "a: !Sub x\n---\nb: 1\n", true),
            ("a.yml", "a: [1, 2\n", false),
            ("a.yml", "a: b: c\n", false),
            ("a.yml", "{{ template }}: *x", false),
            ("a.toml", "[a]\nb = 1\n", true),
            ("a.toml", "b = \n", false),
        ] {
            let gate = check(Path::new(path), None, text);
            assert_eq!(gate == Gate::Sound, sound, "{path} {text:?}: {gate:?}");
            assert_eq!(matches!(gate, Gate::Refused(_)), !sound);
        }
    }

    #[test]
    fn names_without_a_check() {
        for path in [
            "tsconfig.json",
            "tsconfig.build.json",
            ".eslintrc.json",
            "x/.vscode/settings.json",
            "devcontainer.json",
            "a.jsonc",
            "a.json5",
            "a.txt",
            "json",
        ] {
            assert_eq!(check(Path::new(path), None, "{ // a"), Gate::Unchecked, "{path}");
        }
    }

    #[test]
    fn what_was_broken_before_may_stay_broken() {
        let gate = check(Path::new("a.json"), Some("{"), "{\"a\": ");
        assert!(matches!(&gate, Gate::StillBroken(_)), "{gate:?}");
        assert_eq!(gate.lint().unwrap()["status"], "error");
        assert!(matches!(check(Path::new("a.json"), Some("{}"), "{"), Gate::Refused(_)));
    }

    #[test]
    fn deep_nesting_is_no_danger() {
        let deep = "[".repeat(200_000);
        for path in ["a.json", "a.yaml", "a.toml"] {
            let _ = check(Path::new(path), None, &deep);
        }
    }
}
