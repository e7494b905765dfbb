//! Structured files are kept parsable: JSON, YAML and TOML are checked before they are written.

use std::path::Path;

use hermes_lint::{Before, Kind, Lint};

/// What the check of a new content says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The content may be written.
    Open {
        /// Whether it parses; none when the file's name says nothing of it.
        lint: Option<Lint>,
    },
    /// The content doesn't parse: nothing may be written.
    Refused(String),
}

/// Checks `new` against what the name of `path` promises. Only formats are refused, and those not
/// when the old content didn't parse either; of other files it is told afterwards.
pub(crate) fn check(path: &Path, old: Option<&str>, new: &str) -> Gate {
    let Some(kind) = Kind::of(path) else { return Gate::Open { lint: None } };
    match kind.check(old, new) {
        Lint::Broken { output, before: Before::Sound } if kind.is_format() => Gate::Refused(output),
        lint => Gate::Open { lint: Some(lint) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(path: &str, old: Option<&str>, new: &str) -> Gate {
        check(Path::new(path), old, new)
    }

    #[test]
    fn formats_that_do_not_parse_are_refused() {
        let sound = Gate::Open { lint: Some(Lint::Ok) };
        for (path, good, bad) in [
            ("a.json", "{\"a\": [1]}\n", "{\"a\": 1,}"),
            ("a.JSON", "\u{feff}{}", "{\"a\":"),
            ("a.json", "", "{"),
            ("a.yaml", "a: !Sub x\n---\nb: 1\nb: 2\n", "a: b: c\n"),
            ("a.yml", " \n", "{{ template }}: *x"),
            ("a.toml", "[a]\nb = 1\n", "b = \n"),
        ] {
            assert_eq!(gate(path, None, good), sound, "{path} {good:?}");
            for old in [None, Some(good)] {
                assert!(matches!(gate(path, old, bad), Gate::Refused(_)), "{path} {bad:?}");
            }
            assert!(matches!(
                gate(path, Some(bad), bad),
                Gate::Open { lint: Some(Lint::Broken { .. }) }
            ));
            // Another fault than before is no reason either.
            assert!(matches!(gate(path, Some(bad), &format!("\n{bad}")), Gate::Open { .. }));
        }
    }

    #[test]
    fn other_files_are_only_told_of() {
        assert!(matches!(
            gate("a.py", None, "def f(:\n"),
            Gate::Open { lint: Some(Lint::Broken { before: Before::Sound, .. }) }
        ));
        for path in ["tsconfig.json", ".vscode/a.json", "a.jsonc", "a.txt"] {
            assert_eq!(gate(path, None, "{ // a"), Gate::Open { lint: None }, "{path}");
        }
    }
}
