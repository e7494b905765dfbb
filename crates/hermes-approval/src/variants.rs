//! Other spellings of a command's text, without what is often used to hide it.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

/// Control sequences of terminals.
static ANSI: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let sequences = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]";
    Regex::new(sequences).ok()
});

/// Blanks by way of a variable.
static IFS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$IFS\b(?:\$\d)?|\$\{IFS[^}]*\}").ok());

/// The text as it is, and spellings of it that mean the same to a careless reader: without escape
/// sequences, escapes, quotes and odd blanks, and with `~` for the home folders.
pub(crate) fn variants(command: &str, homes: &[(&str, &str)]) -> Vec<String> {
    let plain = normalised(command);
    let unquoted: String = plain.chars().filter(|c| !matches!(c, '\'' | '"')).collect();
    let mut all = vec![command.trim().to_owned(), collapsed(command)];
    for text in [&plain, &unquoted] {
        all.push(text.trim().to_owned());
        let text = collapsed(text);
        let folded =
            homes.iter().fold(text.clone(), |text, (path, short)| fold(&text, path, short));
        all.push(text);
        all.push(folded);
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|text| seen.insert(text.clone()));
    all
}

fn normalised(command: &str) -> String {
    let text = match &*ANSI {
        Some(ansi) => ansi.replace_all(command, ""),
        None => command.into(),
    };
    let text: String = text.chars().filter(|c| *c != '\0').nfkc().collect();
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut bare = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        bare.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    let bare = bare.replace("''", "").replace("\"\"", "");
    match &*IFS {
        Some(ifs) => ifs.replace_all(&bare, " ").into_owned(),
        None => bare,
    }
}

/// One blank between words.
fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts `short` in place of the folder `path`, where it isn't the beginning of a longer name.
fn fold(text: &str, path: &str, short: &str) -> String {
    let path = path.trim_end_matches('/');
    if path.len() < 2 {
        return text.to_owned();
    }
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(path) {
        folded.push_str(before);
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        folded.push_str(if goes_on { path } else { short });
        rest = after;
    }
    folded + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_come_off() {
        let homes = [("/home/a/.hermes", "~/.hermes"), ("/home/a", "~")];
        for (command, expected) in [
            (r"sud\o id", "sudo id"),
            ("su''do id", "sudo id"),
            ("'sudo'  id", "sudo id"),
            ("s\x1b[31mudo id", "sudo id"),
            ("sudo\\\n id", "sudo id"),
            ("sudo${IFS}id", "sudo id"),
            ("sudo$IFS$9id", "sudo id"),
            ("ｓｕｄｏ id", "sudo id"),
            ("su\0do id", "sudo id"),
            ("rm /home/a/.hermes/x /home/a/y /home/ab", "rm ~/.hermes/x ~/y /home/ab"),
        ] {
            let all = variants(command, &homes);
            assert!(all.iter().any(|it| it == expected), "{command:?}: {all:?}");
        }
        assert_eq!(variants("ls", &homes), ["ls"]);
    }
}
