//! Text of files as it is shown: without the secrets in it.

use std::borrow::Cow;

use hermes_fs::search::Row;
use hermes_guard::redact::{Mode, redact};
use hermes_registry::Settings;

/// Whether and how secrets are hidden.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    redacts: bool,
}

impl Shown {
    /// `security.redact_secrets` switches it off.
    pub(crate) fn of(settings: &Settings) -> Self {
        let switch = settings.get("security.redact_secrets");
        let off = switch.is_some_and(|value| match value.as_str() {
            Some(text) => {
                matches!(text.trim().to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0")
            }
            None => value.as_bool() == Some(false),
        });
        Self { redacts: !off }
    }

    /// One line.
    pub(crate) fn line(self, text: &mut String) {
        if self.redacts
            && let Cow::Owned(hidden) = redact(text, Mode::FileRead)
        {
            *text = hidden;
        }
    }

    /// All that is shown of a line that a search found.
    pub(crate) fn row(self, row: &mut Row) {
        let lines = row.before.iter_mut().chain(&mut row.after).chain([&mut row.text]);
        for line in lines {
            self.line(line);
        }
    }

    /// Rows of `number|text`. A secret may go over several; there are as many of them afterwards,
    /// with the same numbers.
    pub(crate) fn numbered(self, rows: &mut String) {
        if !self.redacts {
            return;
        }
        let (mut numbers, mut text) = (Vec::new(), String::with_capacity(rows.len()));
        for row in rows.split('\n') {
            let (number, line) = row.split_once('|').unwrap_or((row, ""));
            if !numbers.is_empty() {
                text.push('\n');
            }
            numbers.push(number);
            text.push_str(line);
        }
        let hidden = match redact(&text, Mode::FileRead) {
            Cow::Borrowed(_) => return,
            Cow::Owned(hidden) if hidden.split('\n').count() == numbers.len() => hidden,
            // No rule should take or add lines. If one does, secrets in one line are hidden still.
            Cow::Owned(_) => {
                let lines = text.split('\n').map(|line| redact(line, Mode::FileRead));
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        let shown = numbers.iter().zip(hidden.split('\n'));
        *rows =
            shown.map(|(number, line)| format!("{number}|{line}")).collect::<Vec<_>>().join("\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyz";

    fn numbered(rows: &str) -> String {
        let mut rows = rows.to_owned();
        Shown::of(&Settings::default()).numbered(&mut rows);
        rows
    }

    #[test]
    fn rows_keep_their_number_and_numbers() {
        assert_eq!(numbered(""), "");
        assert_eq!(numbered("1|a|b\n2|"), "1|a|b\n2|");
        assert_eq!(
            numbered(&format!("9|a\n10|k: {TOKEN}\n11|")),
            "9|a\n10|k: «redacted:ghp_…»\n11|"
        );
        let key = "1|-----BEGIN PRIVATE KEY-----\n2|MIIE\n3|-----END PRIVATE KEY-----\n4|x";
        assert_eq!(numbered(key), "1|«redacted:private-key…»\n2|\n3|\n4|x");
        // A row may be cut before its bar.
        assert_eq!(numbered("1"), "1");
    }

    #[test]
    fn the_setting_switches_it_off() {
        for (value, hidden) in [
            (json!(true), true),
            (json!(false), false),
            (json!("off"), false),
            (json!("False"), false),
            (json!(null), true),
            (json!(3), true),
        ] {
            let config = json!({"security": {"redact_secrets": value}});
            let mut text = TOKEN.to_owned();
            Shown::of(&Settings::default().with_config(config)).line(&mut text);
            assert_eq!(text != TOKEN, hidden);
        }
    }
}
