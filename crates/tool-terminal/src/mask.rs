//! Secrets in what commands write.

use std::borrow::Cow;

use hermes_guard::redact::{Mode, redact};
use hermes_terminal::is_env_dump;

/// Masks the secrets in what a command wrote. One that lists variables has names beside its values,
/// which then count too.
#[must_use]
pub fn mask<'t>(command: &str, text: &'t str) -> Cow<'t, str> {
    redact(text, mode(command))
}

/// The same for what came after `before`, which was shown already: a secret may begin there. Where
/// it does, the rest of its line comes anew.
pub(crate) fn mask_after(command: &str, before: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let shown = mask(command, before);
    let mut whole = mask(command, &format!("{before}{text}")).into_owned();
    if !whole.starts_with(&*shown) {
        let same = whole.bytes().zip(shown.bytes()).take_while(|(one, other)| one == other).count();
        let line = whole.as_bytes().get(..same).unwrap_or_default();
        let line = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        whole.drain(..line);
        return whole;
    }
    whole.split_off(shown.len())
}

/// By which rules.
pub(crate) fn mode(command: &str) -> Mode {
    if is_env_dump(command) { Mode::Log } else { Mode::Code }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn secrets_in_two_parts() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let (start, rest) = token.split_at(9);
        let masked = mask("cat x", &token).into_owned();
        assert!(masked != token);
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n";
        for (before, text, expected) in [
            ("a\nb", "c\nd", "c\nd".to_owned()),
            ("", "a", "a".to_owned()),
            (start, "", String::new()),
            (&format!("one\ntwo {start}"), &format!("{rest}\n"), format!("two {masked}\n")),
            (&format!("{token} "), "x", "x".to_owned()),
            (&format!("x\n{key}"), "MIIF\n", String::new()),
            (key, "abc\n-----END RSA PRIVATE KEY-----\nx", "\nx".to_owned()),
        ] {
            assert_eq!(mask_after("cat x", before, text), expected, "{before:?} {text:?}");
        }
    }
}
