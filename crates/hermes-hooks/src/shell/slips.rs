//! Names that were hardly meant as they are written.

use strsim::damerau_levenshtein;

/// Longer names are not compared: the distance costs the product of both lengths.
const LONGEST: usize = 64;

/// Slips within which a name counts as `on_error`. More than for a hint: to take one too many for
/// it costs a call that waits for a broken hook, to take one too few costs the guard.
const NEAR_ON_ERROR: usize = 3;

/// The name nearest to a mistyped one, if one is near. Case and the signs between words don't
/// count.
pub(super) fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let name = folded(name)?;
    let near = known.filter_map(|known| {
        let folded = folded(known)?;
        let distance = damerau_levenshtein(&folded, &name);
        (distance <= (folded.len() / 3).max(2)).then_some((distance, known))
    });
    near.min().map(|(_, known)| known)
}

/// Whether somebody who wrote this key may have meant `on_error`.
pub(super) fn may_be_on_error(key: &str) -> bool {
    let Some(key) = folded(key) else { return false };
    key.contains("err")
        || key.contains("fail")
        || damerau_levenshtein("onerror", &key) <= NEAR_ON_ERROR
}

/// A name as it can be shown: its beginning, on one line.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(LONGEST).flat_map(char::escape_debug).collect()
}

fn folded(name: &str) -> Option<String> {
    let is_short = name.chars().nth(LONGEST).is_none();
    let letters = || name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ' | '\t'));
    is_short.then(|| letters().flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_found() {
        let known = || ["command", "matcher", "timeout", "on_error"].into_iter();
        for (name, expected) in [
            ("matchr", Some("matcher")),
            ("Matcher", Some("matcher")),
            ("time_out", Some("timeout")),
            ("on-error", Some("on_error")),
            ("onerror", Some("on_error")),
            ("comand", Some("command")),
            ("description", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known()), expected, "{name}");
        }
        assert_eq!(nearest(&"matcher".repeat(1000), known()), None);
        for key in ["on-error", "onError", "on_eror", "no_error", "error", "on_failure", "ON_ERR"] {
            assert!(may_be_on_error(key), "{key}");
        }
        for key in ["name", "env", "description", "timeout", "matcher", "once", "enabled", ""] {
            assert!(!may_be_on_error(key), "{key}");
        }
        assert_eq!(shown("a\n\x1b"), r"a\n\u{1b}");
    }
}
