//! Lists in braces, patterns, and names in disguise.

use unicode_normalization::UnicodeNormalization as _;

use crate::value::{BRACES, HOLE};

/// Most text that is read to find lists in braces, in bytes.
const MOST_BYTES: usize = 256 * 1024;
/// Longest pattern that is compared, in bytes.
const MOST_PATTERN: usize = 256;
/// Most braces that are tried as the start of a list.
const MOST_TRIES: usize = 32;

const OPEN: char = BRACES[0].1;
const COMMA: char = BRACES[1].1;
const CLOSE: char = BRACES[2].1;

/// The words that a word with marked braces stands for; braces that make no list are plain again.
pub(crate) fn braces(word: &str, most: usize) -> Vec<String> {
    let mut done = Vec::new();
    let mut todo = vec![word.to_owned()];
    let mut steps = 0;
    let mut bytes = 0;
    while let Some(word) = todo.pop() {
        steps += 1;
        bytes += word.len();
        let list = if steps > most || bytes > MOST_BYTES { None } else { first_list(&word) };
        match list {
            None => done.push(crate::value::plain(&word).replace(HOLE, &HOLE.to_string())),
            Some((before, items, after)) => {
                for item in items.into_iter().rev() {
                    todo.push(format!("{before}{item}{after}"));
                }
            }
        }
        if done.len() + todo.len() > most {
            break;
        }
    }
    done
}

/// The first list: what is before it, its items, what is after it.
fn first_list(word: &str) -> Option<(&str, Vec<String>, &str)> {
    let mut from = 0;
    let mut tries = 0;
    while let Some(open) = word.get(from..)?.find(OPEN).map(|at| from + at) {
        tries += 1;
        if tries > MOST_TRIES {
            return None;
        }
        let inner = open + OPEN.len_utf8();
        let mut depth = 0_usize;
        let mut items = Vec::new();
        let mut start = inner;
        for (at, c) in word.get(inner..)?.char_indices().map(|(at, c)| (inner + at, c)) {
            match c {
                OPEN => depth += 1,
                COMMA if depth == 0 => {
                    items.push(word.get(start..at)?.to_owned());
                    start = at + c.len_utf8();
                }
                CLOSE if depth > 0 => depth -= 1,
                CLOSE => {
                    let last = word.get(start..at)?.to_owned();
                    let after = word.get(at + c.len_utf8()..)?;
                    if items.is_empty() {
                        match sequence(&last) {
                            Some(sequence) => items = sequence,
                            None => break,
                        }
                    } else {
                        items.push(last);
                    }
                    return Some((word.get(..open)?, items, after));
                }
                _ => {}
            }
        }
        from = inner;
    }
    None
}

/// `1..3`, `a..c`, `1..9..2`.
fn sequence(text: &str) -> Option<Vec<String>> {
    let mut parts = text.split("..");
    let (first, last, step, rest) = (parts.next()?, parts.next()?, parts.next(), parts.next());
    if rest.is_some() {
        return None;
    }
    let step = step.map_or(Some(1), |it| it.parse::<i64>().ok())?.unsigned_abs().max(1);
    let step = usize::try_from(step).ok()?;
    let list = |from: i64, to: i64| -> Vec<i64> {
        if from <= to {
            (from..=to).step_by(step).take(1024).collect()
        } else {
            (to..=from).rev().step_by(step).take(1024).collect()
        }
    };
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        return Some(list(from, to).iter().map(ToString::to_string).collect());
    }
    let one = |text: &str| {
        let mut chars = text.chars();
        let c = chars.next().filter(char::is_ascii_alphabetic)?;
        chars.next().is_none().then_some(i64::from(u32::from(c)))
    };
    let (from, to) = (one(first)?, one(last)?);
    let name = |code: i64| u32::try_from(code).ok().and_then(char::from_u32).map(String::from);
    list(from, to).into_iter().map(name).collect()
}

/// Whether a pattern with `*`, `?` and `[..]` may stand for `text`. Holes match anything.
///
/// A matching list of states, so the time is the product of the lengths.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    if pattern.len() > MOST_PATTERN {
        return false;
    }
    let tokens = tokens(pattern);
    // Each token but `*` takes one character.
    if tokens.iter().filter(|it| **it != Token::Any).count() > text.len() {
        return false;
    }
    let mut states = vec![false; tokens.len() + 1];
    if let Some(first) = states.first_mut() {
        *first = true;
    }
    spread(&tokens, &mut states);
    for c in text.chars() {
        let mut next = vec![false; states.len()];
        for (index, token) in tokens.iter().enumerate() {
            if !states.get(index).copied().unwrap_or(false) {
                continue;
            }
            let goes = match token {
                Token::Any => c != '/',
                Token::One => c != '/',
                Token::Char(it) => *it == c,
                Token::Set(items, negated) => {
                    items.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
                        && c != '/'
                }
            };
            let target = if *token == Token::Any { index } else { index + 1 };
            if goes && let Some(state) = next.get_mut(target) {
                *state = true;
            }
        }
        spread(&tokens, &mut next);
        states = next;
    }
    states.last().copied().unwrap_or(false)
}

/// `*` may match nothing.
fn spread(tokens: &[Token], states: &mut [bool]) {
    for (index, token) in tokens.iter().enumerate() {
        if *token == Token::Any
            && states.get(index).copied().unwrap_or(false)
            && let Some(next) = states.get_mut(index + 1)
        {
            *next = true;
        }
    }
}

/// First and last characters.
type Ranges = Vec<(char, char)>;

#[derive(PartialEq)]
enum Token {
    Any,
    One,
    Char(char),
    Set(Ranges, bool),
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let token = match c {
            '*' | HOLE => Token::Any,
            '?' => Token::One,
            '[' => match set(rest.as_str()) {
                Some((items, negated, after)) => {
                    rest = after.chars();
                    Token::Set(items, negated)
                }
                None => Token::Char('['),
            },
            c => Token::Char(
                crate::value::plain(c.encode_utf8(&mut [0; 4])).chars().next().unwrap_or(c),
            ),
        };
        tokens.push(token);
    }
    tokens
}

/// The rest of `[..]`.
fn set(text: &str) -> Option<(Ranges, bool, &str)> {
    let negated = text.starts_with(['!', '^']);
    let body = if negated { text.get(1..)? } else { text };
    let end = body.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(at, _)| at)?;
    let chars: Vec<char> = body.get(..end)?.chars().collect();
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(first) = chars.get(at) {
        if chars.get(at + 1) == Some(&'-')
            && let Some(last) = chars.get(at + 2)
        {
            items.push((*first, *last));
            at += 3;
        } else {
            items.push((*first, *first));
            at += 1;
        }
    }
    Some((items, negated, body.get(end + 1..)?))
}

/// Whether a text has characters of a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Programs that a disguised or partly unknown name is compared with.
pub(crate) const KNOWN: [&str; 33] = [
    "rm",
    "dd",
    "mkfs",
    "shred",
    "chmod",
    "chown",
    "kill",
    "killall",
    "pkill",
    "reboot",
    "shutdown",
    "halt",
    "poweroff",
    "init",
    "sudo",
    "bash",
    "sh",
    "zsh",
    "curl",
    "wget",
    "find",
    "wipefs",
    "mv",
    "tee",
    "truncate",
    "unlink",
    "mkswap",
    "fdisk",
    "blkdiscard",
    "git",
    "python3",
    "eval",
    "systemctl",
];

/// The known program that a pattern in the place of a program stands for.
pub(crate) fn known_by_pattern(pattern: &str) -> Option<&'static str> {
    let base = pattern.rsplit('/').next().unwrap_or_default();
    let folders = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"];
    KNOWN.into_iter().find(|name| {
        if pattern.contains('/') {
            folders.iter().any(|folder| matches(pattern, &format!("{folder}{name}")))
        } else {
            matches(base, name)
        }
    })
}

/// Letters by the Latin letter they look like.
const LOOK_ALIKES: [(char, &str); 24] = [
    ('a', "аɑαᴀ"),
    ('b', "Ьвʙ"),
    ('c', "сϲᴄⅽ"),
    ('d', "ԁɗᴅժⅾ"),
    ('e', "еєҽεᴇ"),
    ('f', "ƒꬵք"),
    ('g', "ɡցɢ"),
    ('h', "һհʜ"),
    ('i', "іıɩιɪӏ"),
    ('j', "јϳᴊ"),
    ('k', "кκᴋ"),
    ('l', "ʟłⅼ"),
    ('m', "мᴍⅿ"),
    ('n', "ոηпɴ"),
    ('o', "оοօσᴏ"),
    ('p', "рρᴘ"),
    ('q', "ԛզգ"),
    ('r', "гʀᴦ"),
    ('s', "ѕꜱʂ"),
    ('t', "тτᴛ"),
    ('u', "սυᴜʋ"),
    ('v', "νѵᴠ"),
    ('w', "ԝωᴡѡ"),
    ('x', "хχ"),
];

/// A name as a reader sees it, if that differs from what a shell reads.
pub(crate) fn undisguised(name: &str) -> Option<String> {
    if name.bytes().all(|it| it.is_ascii_graphic() || it == b' ' || it == b'\t') {
        return None;
    }
    let mut bare = String::new();
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A terminal's colour and cursor sequences.
            '\u{1B}' => {
                if chars.peek() == Some(&'[') {
                    chars.next();
                    while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
                } else {
                    chars.next();
                }
            }
            '\u{AD}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{34F}' => {}
            c if c.is_control() => {}
            c => bare.push(c),
        }
    }
    let folded: String = bare
        .nfkd()
        .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
        .map(|c| {
            let alike = LOOK_ALIKES.iter().find(|(_, others)| others.contains(c));
            alike.map_or(c, |(latin, _)| *latin)
        })
        .collect();
    let first = folded.split_whitespace().next().unwrap_or_default();
    (first != name).then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("r[m]", "rm", true),
            ("/???/r[a-n]", "/bin/rm", true),
            ("r*", "rm", true),
            ("[!a]m", "rm", true),
            ("/???", "/bin/x", false),
            ("x*y*z", "xaybz", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        assert_eq!(known_by_pattern("/???/r[m]"), Some("rm"));
        assert_eq!(known_by_pattern("/bin/r?"), Some("rm"));
    }

    #[test]
    fn disguises() {
        assert_eq!(undisguised("rm"), None);
        assert_eq!(undisguised("rm\u{200B}").as_deref(), Some("rm"));
        assert_eq!(undisguised("ｒｍ").as_deref(), Some("rm"));
        assert_eq!(undisguised("гм").as_deref(), Some("rm"));
        assert_eq!(undisguised("rm\u{A0}-rf").as_deref(), Some("rm"));
    }
}
