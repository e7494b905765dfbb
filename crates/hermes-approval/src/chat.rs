//! Answers by chat: `/approve`, `/deny`, and bare words while something waits.

use crate::approver::Answer;

/// What a message means for what waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatAnswer {
    /// The answer.
    pub answer: Answer,
    /// Whether it is for everything that waits, and not only for the oldest.
    pub all: bool,
    /// Whether it was given as a command, which is an answer even where nothing waits.
    pub is_command: bool,
}

/// Reads a message. None if it is no answer; a bare word counts only while something waits.
#[must_use]
pub fn parse(message: &str, something_waits: bool) -> Option<ChatAnswer> {
    let message = message.trim();
    match message.strip_prefix('/') {
        Some(command) => parse_command(command),
        None if something_waits => {
            Some(ChatAnswer { answer: bare(message)?, all: false, is_command: false })
        }
        None => None,
    }
}

fn parse_command(text: &str) -> Option<ChatAnswer> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    // Groups address a bot by its name.
    let name = name.split('@').next().unwrap_or_default();
    let rest = rest.trim();
    if name.eq_ignore_ascii_case("deny") {
        let (all, reason) = match rest.split_once(char::is_whitespace) {
            Some((first, reason)) if first.eq_ignore_ascii_case("all") => (true, reason.trim()),
            None if rest.eq_ignore_ascii_case("all") => (true, ""),
            _ => (false, rest),
        };
        let answer = Answer::Deny { reason: crate::refusal::reason(Some(reason)) };
        return Some(ChatAnswer { answer, all, is_command: true });
    }
    if !name.eq_ignore_ascii_case("approve") {
        return None;
    }
    let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let answer = if has(&["always", "permanent", "permanently"]) {
        Answer::Always
    } else if has(&["session", "ses"]) {
        Answer::Session
    } else {
        Answer::Once
    };
    Some(ChatAnswer { answer, all: has(&["all"]), is_command: true })
}

fn bare(message: &str) -> Option<Answer> {
    // Skin tones and the sign that asks for a picture come behind a thumb.
    let plain: String = message
        .chars()
        .filter(|c| !matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}'))
        .collect::<String>()
        .to_lowercase();
    let plain = plain.trim_end_matches(['.', '!']).split_whitespace().collect::<Vec<_>>().join(" ");
    Some(match plain.as_str() {
        "approve" | "yes" | "ok" | "okay" | "confirm" | "y" | "👍" => Answer::Once,
        "deny" | "no" | "reject" | "cancel" | "n" | "👎" => Answer::NO,
        "always" | "approve always" => Answer::Always,
        "session" | "approve session" => Answer::Session,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn commands_and_bare_words_are_understood() {
        let no = |reason: &str| Answer::Deny {
            reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
        };
        for (message, expected) in [
            ("/approve", Some((Answer::Once, false))),
            ("/approve all", Some((Answer::Once, true))),
            ("/Approve ALL session", Some((Answer::Session, true))),
            ("/approve ses", Some((Answer::Session, false))),
            ("/approve permanently", Some((Answer::Always, false))),
            ("/approve@hermes_bot always", Some((Answer::Always, false))),
            ("/deny", Some((no(""), false))),
            ("/deny all", Some((no(""), true))),
            ("/deny all of it is wrong", Some((no("of it is wrong"), true))),
            ("/deny not on friday", Some((no("not on friday"), false))),
            ("/denyx", None),
            ("/help", None),
            ("Yes", Some((Answer::Once, false))),
            ("ok!", Some((Answer::Once, false))),
            ("👍🏽", Some((Answer::Once, false))),
            ("👎", Some((no(""), false))),
            ("approve  always", Some((Answer::Always, false))),
            ("approve session", Some((Answer::Session, false))),
            ("yes please", None),
            ("", None),
        ] {
            let parsed = parse(message, true).map(|it| (it.answer, it.all));
            assert_eq!(parsed, expected, "{message}");
        }
        assert_eq!(parse("yes", false), None);
        assert!(parse("/approve", false).unwrap().is_command);
    }
}
