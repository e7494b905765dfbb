//! Texts as programs make them.

use super::MOST;
use crate::escapes::{Escapes, unescape};
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow, HOLE};

pub(crate) fn echo(args: &[Arg]) -> Flow {
    let mut args = args;
    let (mut newline, mut escapes) = (true, false);
    while let Some((first, rest)) = args.split_first() {
        let letters = first.marked.strip_prefix('-').unwrap_or_default();
        if letters.is_empty() || !letters.chars().all(|it| matches!(it, 'n' | 'e' | 'E')) {
            break;
        }
        newline &= !letters.contains('n');
        escapes |= letters.contains('e');
        args = rest;
    }
    let mut text = crate::wrap::join(args);
    // `sh` undoes escapes without being asked.
    if escapes || (text.contains("\\0") || text.contains("\\x")) {
        text = unescape(&text, Escapes::Echo);
    }
    if newline {
        text.push('\n');
    }
    Flow::known(text)
}

pub(crate) fn printf(args: &[Arg]) -> Flow {
    let args = if args.first().is_some_and(|it| it.is("--")) {
        args.get(1..).unwrap_or_default()
    } else {
        args
    };
    let Some((format, values)) = args.split_first() else { return Flow::known("") };
    let format = format.text();
    let mut out = String::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        let mut literal = String::new();
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\\' {
                literal.push(c);
                literal.extend(chars.next());
                continue;
            }
            if c != '%' {
                literal.push(c);
                continue;
            }
            if chars.peek() == Some(&'%') {
                chars.next();
                literal.push('%');
                continue;
            }
            out.push_str(&unescape(&std::mem::take(&mut literal), Escapes::Format));
            let mut kind = None;
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    kind = Some(c);
                    break;
                }
            }
            let value = values.next().map(Arg::text).unwrap_or_default();
            let number = || number(&value);
            match kind {
                Some('b') => out.push_str(&unescape(&value, Escapes::Echo)),
                Some('c') => out.extend(value.chars().next()),
                Some('d' | 'i' | 'u') => {
                    out.push_str(&number().map_or_else(|| HOLE.to_string(), |it| it.to_string()));
                }
                Some('x') => {
                    out.push_str(
                        &number().map_or_else(|| HOLE.to_string(), |it| format!("{it:x}")),
                    );
                }
                Some('X') => {
                    out.push_str(
                        &number().map_or_else(|| HOLE.to_string(), |it| format!("{it:X}")),
                    );
                }
                Some('o') => {
                    out.push_str(
                        &number().map_or_else(|| HOLE.to_string(), |it| format!("{it:o}")),
                    );
                }
                _ => out.push_str(&value),
            }
        }
        out.push_str(&unescape(&literal, Escapes::Format));
        if values.len() == 0 || values.len() == before || out.len() > MOST {
            break;
        }
    }
    Flow::known(out)
}

/// A number as `printf` reads it: `0x2f`, `057`, `'a`.
pub(crate) fn number(text: &str) -> Option<i64> {
    if let Some(c) = text.strip_prefix(['\'', '"']) {
        return c.chars().next().map(|it| i64::from(u32::from(it)));
    }
    if text.is_empty() {
        return Some(0);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return i64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

/// `head` and `tail`.
pub(crate) fn ends(is_head: bool, args: &[Arg], text: &str) -> Option<String> {
    let options = Options::parse(args, Spec::new("nc", &["lines", "bytes"]));
    if let Some(count) = options.value("c", "bytes") {
        let count = &count.marked;
        let length = text.len();
        let range = match (is_head, count.strip_prefix('+'), count.strip_prefix('-')) {
            (true, _, Some(less)) => 0..length.saturating_sub(less.parse().ok()?),
            (true, ..) => 0..count.parse::<usize>().ok()?.min(length),
            (false, Some(from), _) => {
                from.parse::<usize>().ok()?.saturating_sub(1).min(length)..length
            }
            (false, ..) => {
                length.saturating_sub(count.trim_start_matches('-').parse().ok()?)..length
            }
        };
        return text.get(range).map(str::to_owned);
    }
    let lines: Vec<&str> = text.lines().collect();
    let given = options.value("n", "lines").map(|it| it.marked.clone());
    let short = args.iter().find_map(|it| {
        it.marked
            .strip_prefix('-')
            .filter(|it| it.bytes().all(|it| it.is_ascii_digit()) && !it.is_empty())
    });
    let count = given.or_else(|| short.map(str::to_owned)).unwrap_or_else(|| "10".to_owned());
    let range = match (is_head, count.strip_prefix('+'), count.strip_prefix('-')) {
        (true, _, Some(less)) => 0..lines.len().saturating_sub(less.parse().ok()?),
        (true, ..) => 0..count.parse::<usize>().ok()?.min(lines.len()),
        (false, Some(from), _) => {
            from.parse::<usize>().ok()?.saturating_sub(1).min(lines.len())..lines.len()
        }
        (false, ..) => {
            lines.len().saturating_sub(count.trim_start_matches('-').parse().ok()?)..lines.len()
        }
    };
    let lines = lines.get(range)?;
    Some(lines.iter().map(|it| format!("{it}\n")).collect())
}

/// `cut -c`, `cut -b` and `cut -d -f`.
pub(crate) fn cut(args: &[Arg], text: &str) -> Option<String> {
    let options =
        Options::parse(args, Spec::new("cbfd", &["characters", "bytes", "fields", "delimiter"]));
    let delimiter = options.value("d", "delimiter").map(Arg::text);
    let list =
        options.value("cb", "characters").or_else(|| options.value("f", "fields"))?.marked.clone();
    let is_field = options.value("cb", "characters").is_none();
    let mut ranges = Vec::new();
    for part in list.split(',') {
        let (from, to) = match part.split_once('-') {
            Some((from, to)) => (
                if from.is_empty() { 1 } else { from.parse().ok()? },
                if to.is_empty() { usize::MAX } else { to.parse().ok()? },
            ),
            None => (part.parse().ok()?, part.parse().ok()?),
        };
        ranges.push(from..=to);
    }
    let is_wanted = |index: usize| {
        ranges.iter().any(|it: &std::ops::RangeInclusive<usize>| it.contains(&(index + 1)))
    };
    let mut out = String::new();
    for line in text.lines() {
        if is_field {
            let delimiter = delimiter.as_deref().unwrap_or("\t");
            let parts: Vec<&str> = line
                .split(delimiter)
                .enumerate()
                .filter(|(index, _)| is_wanted(*index))
                .map(|(_, it)| it)
                .collect();
            out.push_str(&parts.join(delimiter));
        } else {
            out.extend(
                line.chars().enumerate().filter(|(index, _)| is_wanted(*index)).map(|(_, it)| it),
            );
        }
        out.push('\n');
    }
    Some(out)
}

/// `tr` with sets, ranges, `-d`, `-c` aside.
pub(crate) fn translate(args: &[Arg], text: &str) -> Option<String> {
    let options = Options::parse(args, Spec::default());
    let mut sets = options.operands.iter().map(|it| set(&it.text()));
    let first = sets.next()??;
    if options.has("cC") || options.long("complement", 1) {
        return None;
    }
    if options.has("d") || options.long("delete", 1) {
        return Some(text.chars().filter(|it| !first.contains(it)).collect());
    }
    let second = match sets.next() {
        Some(second) => second?,
        None => return options.has("s").then(|| text.to_owned()),
    };
    let change = |c: char| {
        let Some(at) = first.iter().rposition(|it| *it == c) else { return c };
        second.get(at).or_else(|| second.last()).copied().unwrap_or(c)
    };
    Some(text.chars().map(change).collect())
}

/// A set of `tr`.
pub(crate) fn set(text: &str) -> Option<Vec<char>> {
    let text = unescape(text, Escapes::Format);
    match text.as_str() {
        "[:lower:]" => return Some(('a'..='z').collect()),
        "[:upper:]" => return Some(('A'..='Z').collect()),
        "[:space:]" => return Some(vec![' ', '\t', '\n', '\r']),
        "[:digit:]" => return Some(('0'..='9').collect()),
        _ if text.contains("[:") => return None,
        _ => {}
    }
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(last)) if last >= c => {
                out.extend((*c..=*last).take(512));
                at += 3;
            }
            _ => {
                out.push(*c);
                at += 1;
            }
        }
    }
    Some(out)
}

/// The parts between a delimiter, at most `most`; a backslash keeps one.
pub(crate) fn delimited(text: &str, delimiter: char, most: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == delimiter && parts.len() < most {
            parts.push(String::new());
            continue;
        }
        let Some(last) = parts.last_mut() else { break };
        if c == '\\' && chars.peek() == Some(&delimiter) {
            last.extend(chars.next());
            continue;
        }
        last.push(c);
        if c == '\\' {
            last.extend(chars.next());
        }
    }
    parts
}

/// `sed s/a/b/` on plain text.
pub(crate) fn sed(args: &[Arg], text: &str) -> Option<String> {
    let options = Options::parse(args, Spec::new("ef", &["expression", "file"]));
    let mut scripts: Vec<String> =
        options.values("e", "expression").iter().map(|it| it.text()).collect();
    if scripts.is_empty() {
        scripts.push(options.operands.first()?.text());
    }
    if options.has("n") {
        return None;
    }
    let mut text = text.to_owned();
    for script in scripts.iter().flat_map(|it| it.split(';')) {
        let script = script.trim();
        let rest = script.strip_prefix('s')?;
        let delimiter = rest.chars().next()?;
        let parts = delimited(rest.get(delimiter.len_utf8()..)?, delimiter, 3);
        let [from, to, rest @ ..] = parts.as_slice() else { return None };
        let (from, to) = (from.as_str(), to.as_str());
        let flags = rest.first().map(String::as_str).unwrap_or_default();
        let is_plain = !from.contains(['[', '*', '.', '\\', '(']) && !to.contains(['&', '\\']);
        let change = |line: &str| -> Option<String> {
            if is_plain && !from.starts_with('^') && !from.ends_with('$') {
                return Some(if flags.contains('g') {
                    line.replace(from, to)
                } else {
                    line.replacen(from, to, 1)
                });
            }
            let pattern = from.replace("\\(", "(").replace("\\)", ")").replace("\\+", "+");
            let regex = regex::RegexBuilder::new(&pattern).size_limit(1 << 16).build().ok()?;
            let to = to
                .replace('$', "$$")
                .replace("\\1", "${1}")
                .replace("\\2", "${2}")
                .replace('&', "${0}");
            Some(
                if flags.contains('g') {
                    regex.replace_all(line, to.as_str())
                } else {
                    regex.replace(line, to.as_str())
                }
                .into_owned(),
            )
        };
        let lines: Option<Vec<String>> = text.lines().map(change).collect();
        text = lines?.join("\n") + "\n";
    }
    Some(text)
}

/// Base64 or base32 as text.
pub(crate) fn decode(text: &str, bits: u32) -> Option<String> {
    String::from_utf8(decode_bytes(text, bits)?).ok()
}

pub(crate) fn decode_bytes(text: &str, bits: u32) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut buffer, mut have) = (0_u32, 0);
    for byte in text.bytes().filter(|it| !it.is_ascii_whitespace()) {
        let value = match (byte, bits) {
            (b'=', _) => break,
            (b'A'..=b'Z', _) => byte - b'A',
            (b'2'..=b'7', 5) => byte - b'2' + 26,
            (b'a'..=b'z', 6) => byte - b'a' + 26,
            (b'0'..=b'9', 6) => byte - b'0' + 52,
            (b'+' | b'-', 6) => 62,
            (b'/' | b'_', 6) => 63,
            _ => return None,
        };
        buffer = (buffer << bits) | u32::from(value);
        have += bits;
        if have >= 8 {
            have -= 8;
            out.push((buffer >> have) as u8);
            buffer &= (1 << have) - 1;
        }
    }
    Some(out)
}

/// `xxd -r -p`.
pub(crate) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|it| !it.is_whitespace())
        .map(|it| it.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |sum, it| sum * 16 + it) as u8)
        .collect();
    String::from_utf8(bytes).ok()
}

/// `awk 'BEGIN{printf "..."}'`.
pub(crate) fn awk_begin(args: &[Arg]) -> Option<String> {
    let script = args.iter().find(|it| !it.is_option())?.text();
    let body =
        script.trim().strip_prefix("BEGIN")?.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let (body, newline) = match body.strip_prefix("printf") {
        Some(rest) => (rest, ""),
        None => (body.strip_prefix("print")?, "\n"),
    };
    let inner = body
        .trim()
        .trim_end_matches(';')
        .trim()
        .trim_start_matches('(')
        .trim_end_matches(')')
        .strip_prefix('"')?
        .strip_suffix('"')?;
    (!inner.contains('"')).then(|| unescape(inner, Escapes::Format) + newline)
}

/// `python -c 'print("text")'` and its like, if that is all it does.
pub(crate) fn literal_print(args: &[Arg]) -> Option<String> {
    let at = args
        .iter()
        .position(|it| matches!(it.marked.as_str(), "-c" | "-e" | "-r" | "-p" | "-E"))?;
    let script = args.get(at + 1)?.text();
    let script = script.trim().trim_end_matches(';');
    let rest = ["console.log", "print", "puts", "echo", "say", "printf"]
        .iter()
        .find_map(|it| script.strip_prefix(it))?;
    let rest = rest.trim().trim_start_matches('(').trim_end_matches(')').trim();
    let quote = rest.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let inner = rest.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(quote)).then(|| unescape(inner, Escapes::Ansi) + "\n")
}
