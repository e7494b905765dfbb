//! `${..}` and arithmetic on what is known.

use std::ops::Range;
use std::rc::Rc;

use crate::env::{Env, Unit, Variable};
use crate::expand::{Style, Word, push_text};
use crate::judge::Judge;
use crate::names::matches;
use crate::syntax::name_length;
use crate::value::{FRESH, Flow, HOLE, SPLIT, plain};

/// Longest text whose ends are compared with a pattern, in bytes.
const MOST_MATCHED: usize = 256;
/// Longest text in which a pattern is replaced, in bytes.
const MOST_REPLACED: usize = 64;

impl Judge {
    /// What is between `${` and `}`.
    pub(crate) fn parameter(
        &mut self,
        unit: &Rc<Unit>,
        range: Range<usize>,
        env: &mut Env,
        style: Style,
        word: &mut Word,
    ) {
        let text = unit.source.slice(range.clone());
        // `${ cmd; }` and `${| cmd; }`.
        if text.starts_with([' ', '\t', '\n', '|']) {
            let flow = self.substitute(unit, range.start + 1..range.end, env);
            crate::expand::push_flow(&flow, env, style, word);
            return;
        }
        let is_indirect = text.starts_with('!');
        let is_length = text.starts_with('#') && text.len() > 1;
        let skipped = usize::from(is_indirect || is_length);
        let rest = text.get(skipped..).unwrap_or_default();
        let name_end = match rest.as_bytes().first() {
            Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => 1,
            Some(b'0'..=b'9') => rest.bytes().take_while(u8::is_ascii_digit).count(),
            _ => name_length(rest.as_bytes()),
        };
        let mut name = rest.get(..name_end).unwrap_or_default().to_owned();
        let mut rest = rest.get(name_end..).unwrap_or_default();
        let mut index = None;
        if let Some(after) = rest.strip_prefix('[')
            && let Some(close) = after.find(']')
        {
            index = after.get(..close);
            rest = after.get(close + 1..).unwrap_or_default();
        }
        let operand_start = range.end - rest.len();
        if index.is_some_and(|it| !matches!(it, "@" | "*")) && self.deeper() {
            let from = range.start + skipped + name_end + 1;
            let index = self.double(unit, from..operand_start.saturating_sub(1).max(from), env);
            self.expression_text(&index.text, env);
            self.depth -= 1;
        }
        if is_indirect && rest.is_empty() && index.is_none() {
            match env.text(&name) {
                Some(target) if !target.contains(HOLE) => name = target.to_owned(),
                _ => return word.unknown(),
            }
        } else if is_indirect {
            return word.unknown();
        }
        let items = self.items(&name, index, env, word);
        if is_length {
            return match items {
                Some(items) => {
                    let count = if matches!(index, Some("@" | "*")) {
                        items.len()
                    } else {
                        items.first().map_or(0, |it| it.chars().count())
                    };
                    word.out.push_str(&count.to_string());
                }
                None => word.unknown(),
            };
        }
        self.operate(unit, operand_start..range.end, items, &name, env, style, word);
    }

    /// The values of a variable; None if it can't be known.
    fn items(
        &mut self,
        name: &str,
        index: Option<&str>,
        env: &Env,
        word: &mut Word,
    ) -> Option<Vec<String>> {
        if matches!(name, "@" | "*") {
            return env.positionals.as_ref().map(|list| list.to_vec());
        }
        if let Ok(number @ 1..) = name.parse::<usize>() {
            let list = env.positionals.as_ref()?;
            return list.get(number - 1).map(|item| vec![item.clone()]);
        }
        word.taint |= self.names_key(name);
        let (variable, more) = env.get(name, self.choice)?;
        self.has_choices |= more;
        word.taint |= variable.taint;
        let items = match index {
            Some("@" | "*") => variable.items.clone(),
            Some(index) => {
                let item = index.parse::<usize>().ok().and_then(|it| variable.items.get(it));
                vec![item.cloned().unwrap_or_else(|| HOLE.to_string())]
            }
            None => vec![variable.items.first().cloned().unwrap_or_default()],
        };
        Some(items)
    }

    /// The operator after the name.
    fn operate(
        &mut self,
        unit: &Rc<Unit>,
        range: Range<usize>,
        items: Option<Vec<String>>,
        name: &str,
        env: &mut Env,
        style: Style,
        word: &mut Word,
    ) {
        let text = unit.source.slice(range.clone());
        let is_unknown = items.as_ref().is_none_or(|it| it.iter().any(|it| it.contains(HOLE)));
        let (operator, length) = match text.as_bytes() {
            [] => {
                return match items {
                    Some(items) => push_items(&items, env, style, word),
                    None => word.unknown(),
                };
            }
            [b':', b'-' | b'=' | b'+' | b'?', ..] => (text.get(1..2).unwrap_or_default(), 2),
            [b'-' | b'=' | b'+' | b'?', ..] => (text.get(..1).unwrap_or_default(), 1),
            [b'#', b'#', ..]
            | [b'%', b'%', ..]
            | [b'/', b'/', ..]
            | [b'^', b'^', ..]
            | [b',', b',', ..] => (text.get(..2).unwrap_or_default(), 2),
            _ => (text.get(..1).unwrap_or_default(), 1),
        };
        let operand = range.start + length..range.end;
        let is_empty = items.as_ref().is_some_and(|it| it.iter().all(String::is_empty));
        if matches!(operator, "-" | "=" | "+" | "?") {
            let is_set = !(is_unknown || is_empty && length == 2);
            let uses_word = match operator {
                "+" => is_set || is_unknown,
                _ => !is_set,
            };
            if !uses_word {
                if operator != "+" {
                    push_items(&items.unwrap_or_default(), env, style, word);
                }
                // What is in the word doesn't run then.
                return;
            }
            let before = word.out.len();
            if !self.deeper() {
                return word.unknown();
            }
            let is_partly =
                operator != "+" && items.as_ref().is_some_and(|it| !it.concat().is_empty());
            self.read(unit, operand, env, style, word);
            self.depth -= 1;
            if is_unknown && operator != "+" {
                // It may be another folder than the one that is made here.
                let tail = word.out.split_off(before.min(word.out.len()));
                word.out.push_str(&tail.replace(FRESH, &HOLE.to_string()));
            }
            // Blanks of the word split it too.
            if !style.in_double && !style.is_value {
                let tail = word.out.split_off(before.min(word.out.len()));
                word.out.push_str(&tail.replace([' ', '\t', '\n'], &SPLIT.to_string()));
            }
            if operator == "=" {
                let value = word.out.get(before..).unwrap_or_default().replace(SPLIT, " ");
                env.set(name, Variable::text(Flow::known(value)), true);
            }
            if is_partly || operator == "?" {
                word.unknown();
            }
            return;
        }
        if !self.deeper() {
            return word.unknown();
        }
        let mut inner = Word::default();
        let inner_style = Style { in_double: false, is_value: true };
        self.read(unit, operand, env, inner_style, &mut inner);
        self.depth -= 1;
        if operator == ":" {
            self.expression_text(&inner.out, env);
        }
        let start = items.as_deref().filter(|_| is_unknown && operator == ":");
        let start = start.and_then(|items| known_start(items, &inner.out));
        let items = start.or(items.filter(|_| !is_unknown));
        let Some(items) = items else { return word.unknown() };
        if operator == ":" && name == "@" {
            let from = inner.out.split(':').next().and_then(|it| it.trim().parse::<usize>().ok());
            return self.positionals(from.map_or(0, |it| it.saturating_sub(1)), env, style, word);
        }
        let operand = inner.out;
        if operator == "@" && operand.starts_with('P') {
            for item in &items {
                self.expanded_text(&plain(item), env);
            }
        }
        let items: Vec<_> = items.iter().map(|it| transform(it, operator, &operand)).collect();
        push_items(&items, env, style, word);
    }
}

fn push_items(items: &[String], env: &Env, style: Style, word: &mut Word) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            word.out.push(SPLIT);
        }
        push_text(item, env, style, word);
    }
}

/// What is known at the start of a value, if a part `FROM:LENGTH` of it lies in that.
fn known_start(items: &[String], part: &str) -> Option<Vec<String>> {
    let [item] = items else { return None };
    let start = item.split(HOLE).next()?;
    let (from, length) = part.split_once(':')?;
    let end = from.trim().parse::<usize>().ok()?.checked_add(length.trim().parse().ok()?)?;
    (start.is_ascii() && end <= start.len()).then(|| vec![start.to_owned()])
}

/// A text changed by an operator.
fn transform(text: &str, operator: &str, operand: &str) -> String {
    // Patterns are compared with each part of the text.
    let most = match operator {
        "#" | "##" | "%" | "%%" => MOST_MATCHED,
        "/" | "//" if crate::names::is_pattern(operand) => MOST_REPLACED,
        _ => usize::MAX,
    };
    if most < usize::MAX && text.len() > most {
        return HOLE.to_string();
    }
    let chars: Vec<char> = text.chars().collect();
    let cut = |from: usize, to: usize| -> String {
        chars.get(from..to.max(from)).unwrap_or_default().iter().collect()
    };
    let length = chars.len();
    let pattern = operand;
    let hits = |part: &str| pattern_matches(pattern, part);
    match operator {
        "#" => (0..=length)
            .find(|end| hits(&cut(0, *end)))
            .map_or_else(|| text.to_owned(), |end| cut(end, length)),
        "##" => (0..=length)
            .rev()
            .find(|end| hits(&cut(0, *end)))
            .map_or_else(|| text.to_owned(), |end| cut(end, length)),
        "%" => (0..=length)
            .rev()
            .find(|from| hits(&cut(*from, length)))
            .map_or_else(|| text.to_owned(), |from| cut(0, from)),
        "%%" => (0..=length)
            .find(|from| hits(&cut(*from, length)))
            .map_or_else(|| text.to_owned(), |from| cut(0, from)),
        "/" | "//" => {
            let (pattern, with) = operand.split_once('/').unwrap_or((operand, ""));
            let is_literal = !crate::names::is_pattern(pattern);
            let pattern = plain(pattern);
            match pattern.strip_prefix(['#', '%']) {
                Some(literal) if pattern.starts_with('#') && is_literal => text
                    .strip_prefix(literal)
                    .map_or_else(|| text.to_owned(), |it| format!("{}{it}", plain(with))),
                Some(literal) if is_literal => text
                    .strip_suffix(literal)
                    .map_or_else(|| text.to_owned(), |it| format!("{it}{}", plain(with))),
                _ if pattern.is_empty() => text.to_owned(),
                _ if is_literal && operator == "/" => text.replacen(&pattern, &plain(with), 1),
                _ if is_literal => text.replace(&pattern, &plain(with)),
                _ => replace(&chars, &pattern, &plain(with), operator == "//"),
            }
        }
        "^^" => text.to_uppercase(),
        ",," => text.to_lowercase(),
        "^" | "," => {
            let first: String = cut(0, 1);
            let first = if operator == "^" { first.to_uppercase() } else { first.to_lowercase() };
            format!("{first}{}", cut(1, length))
        }
        ":" => {
            let mut parts = operand.splitn(2, ':');
            let number = |text: &str| arithmetic(text);
            let Some(from) = parts.next().and_then(number) else { return HOLE.to_string() };
            let at = |number: i64| -> usize {
                let size = i64::try_from(length).unwrap_or(i64::MAX);
                let at = if number < 0 { size.saturating_add(number) } else { number };
                usize::try_from(at.clamp(0, size)).unwrap_or(0)
            };
            let from = at(from);
            let to = match parts.next() {
                None => length,
                Some(count) => match number(count) {
                    Some(count) if count < 0 => at(count),
                    Some(count) => {
                        from.saturating_add(usize::try_from(count).unwrap_or(0)).min(length)
                    }
                    None => return HOLE.to_string(),
                },
            };
            cut(from, to)
        }
        "@" => match operand {
            "U" => text.to_uppercase(),
            "L" => text.to_lowercase(),
            "Q" | "E" | "P" => text.to_owned(),
            _ => HOLE.to_string(),
        },
        _ => HOLE.to_string(),
    }
}

/// Unlike in file names, `*` matches `/` here.
fn pattern_matches(pattern: &str, text: &str) -> bool {
    matches(&pattern.replace('/', "\u{1}"), &text.replace('/', "\u{1}"))
}

/// Replaces what a pattern matches, the longest match first.
fn replace(chars: &[char], pattern: &str, with: &str, all: bool) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        let hit = (at + 1..=chars.len()).rev().find(|end| {
            let part: String = chars.get(at..*end).unwrap_or_default().iter().collect();
            pattern_matches(pattern, &part)
        });
        match hit {
            Some(end) => {
                out.push_str(with);
                at = end;
                if !all {
                    break;
                }
            }
            None => {
                out.extend(chars.get(at));
                at += 1;
            }
        }
    }
    out.extend(chars.get(at..).unwrap_or_default());
    out
}

/// Sums and differences of whole numbers, as in `$((1+2))`.
pub(crate) fn arithmetic(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches(')').trim_start_matches('(');
    if text.len() > 64 {
        return None;
    }
    let mut total = 0_i64;
    let mut sign = 1_i64;
    let mut is_term = true;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' => {}
            '-' if is_term => sign = -sign,
            '+' if is_term => {}
            '0'..='9' if is_term => {
                let mut number = i64::from(c.to_digit(10)?);
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    number = number.checked_mul(10)?.checked_add(i64::from(digit))?;
                    chars.next();
                }
                total = total.checked_add(sign.checked_mul(number)?)?;
                is_term = false;
            }
            '+' | '-' if !is_term => {
                sign = if c == '-' { -1 } else { 1 };
                is_term = true;
            }
            _ => return None,
        }
    }
    (!is_term).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators() {
        for (text, operator, operand, expected) in [
            ("/home/alice/", "%", "/", "/home/alice"),
            ("a.b.c", "%%", ".*", "a"),
            ("a.b.c", "#", "*.", "b.c"),
            ("a.b.c", "##", "*.", "c"),
            ("xrm", "/", "x/", "rm"),
            ("rXm", "//", "X/", "rm"),
            ("abc", ":", "1:1", "b"),
            ("abc", ":", " -2", "bc"),
            ("rm", "^^", "", "RM"),
        ] {
            assert_eq!(transform(text, operator, operand), expected, "{text} {operator}{operand}");
        }
        assert_eq!(arithmetic("1+2-4"), Some(-1));
        assert_eq!(arithmetic("x"), None);
    }
}
