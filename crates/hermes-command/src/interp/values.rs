//! Texts, numbers and lists in programs, and what functions that only change them give.

use crate::print::{decode, hex};
use crate::value::HOLE;

/// Longest text that is made, in bytes.
const MOST_TEXT: usize = 16 * 1024;
/// Longest list that is made.
const MOST_ITEMS: usize = 1024;

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// With holes for what can't be known.
    Text(String),
    Number(i64),
    List(Vec<Self>),
    /// A module, a function, or a variable that nothing is known of.
    Name(String),
    Unknown,
}

/// An argument with its name, if it has one.
type Given = (Option<String>, Value);

impl Value {
    /// A text or a number, as a text.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::List(_) | Self::Name(_) | Self::Unknown => None,
        }
    }

    /// A part of a text; a hole if it isn't known.
    fn part(&self) -> String {
        self.text().unwrap_or_else(|| HOLE.to_string())
    }

    /// The texts of a list and of the lists in it, or the one text there is.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut open = vec![self];
        while let Some(value) = open.pop() {
            match value {
                Self::List(items) => open.extend(items.iter().rev()),
                other => texts.push(other.part()),
            }
            if texts.len() >= MOST_ITEMS {
                break;
            }
        }
        texts
    }

    fn of(text: String) -> Self {
        if text.len() > MOST_TEXT { Self::Unknown } else { Self::Text(text) }
    }

    /// Another value after this one; None where that has no meaning.
    pub(super) fn plus(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Unknown | Self::Name(_), Self::Unknown | Self::Name(_)) => Some(Self::Unknown),
            (Self::List(mut items), Self::List(more)) => {
                items.extend(more);
                items.truncate(MOST_ITEMS);
                Some(Self::List(items))
            }
            (Self::List(mut items), _) => {
                items.push(Self::Unknown);
                Some(Self::List(items))
            }
            (_, Self::List(_)) => None,
            (Self::Number(one), Self::Number(two)) => Some(Self::Number(one.wrapping_add(two))),
            (one, two) => Some(Self::of(one.part() + &two.part())),
        }
    }

    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Text(text) => Self::Text(text.chars().rev().collect()),
            Self::List(mut items) => {
                items.reverse();
                Self::List(items)
            }
            _ => Self::Unknown,
        }
    }

    pub(super) fn item(self, index: Option<i64>) -> Self {
        let (Self::List(items), Some(index)) = (self, index) else { return Self::Unknown };
        let index = if index < 0 { index + items.len() as i64 } else { index };
        let item = usize::try_from(index).ok().and_then(|it| items.get(it).cloned());
        item.unwrap_or(Self::Unknown)
    }

    /// `%s` and its like, by the values that are given.
    pub(super) fn filled(self, values: Self) -> Self {
        let Self::Text(format) = self else { return Self::Unknown };
        let values = match values {
            Self::List(items) => items,
            one => vec![one],
        };
        let mut values = values.iter();
        let mut out = String::new();
        let mut rest = format.as_str();
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            let length = after.find(|c: char| c.is_ascii_alphabetic());
            let Some(length) = length else { return Self::Unknown };
            let value = values.next().unwrap_or(&Self::Unknown);
            match (after.get(length..=length), value) {
                (Some("c"), Self::Number(number)) => out.extend(character(*number)),
                (_, value) => out.push_str(&value.part()),
            }
            rest = after.get(length + 1..).unwrap_or_default();
        }
        Self::of(out + rest)
    }

    /// `{}`, `{0}` and `{name}`, by the values that are given.
    fn formatted(format: &str, given: &[Given]) -> Self {
        let mut out = String::new();
        let mut rest = format;
        let mut next = 0;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(rest.get(..at).unwrap_or_default());
            let after = rest.get(at..).unwrap_or_default();
            if after.starts_with("{{") || after.starts_with("}}") {
                out.push_str(after.get(..1).unwrap_or_default());
                rest = after.get(2..).unwrap_or_default();
                continue;
            }
            let Some((field, tail)) = after.get(1..).and_then(|it| it.split_once('}')) else {
                return Self::Unknown;
            };
            rest = tail;
            let field = field.split([':', '!']).next().unwrap_or_default();
            let by_name = given.iter().find(|(name, _)| name.as_deref() == Some(field));
            let value = by_name.or_else(|| {
                let index = if field.is_empty() { Some(next) } else { field.parse().ok() };
                next += usize::from(field.is_empty());
                given.get(index?)
            });
            out.push_str(&value.map_or_else(|| HOLE.to_string(), |(_, it)| it.part()));
        }
        Self::of(out + rest)
    }

    fn joined(&self, separator: &str) -> Self {
        match self {
            Self::List(_) => Self::of(self.texts().join(separator)),
            Self::Text(text) => {
                let letters: Vec<String> = text.chars().map(String::from).collect();
                Self::of(letters.join(separator))
            }
            _ => Self::Unknown,
        }
    }

    /// What a method of a text or a list gives.
    pub(super) fn method(self, name: &str, given: &[Given]) -> Self {
        let text = |at: usize| given.get(at).and_then(|(_, value)| value.text());
        let first = given.first().map(|(_, value)| value);
        match (self, name) {
            (value, "reverse" | "reversed") => value.reversed(),
            (Self::Text(separator), "join") => {
                first.map_or(Self::Unknown, |it| it.joined(&separator))
            }
            (value @ Self::List(_), "join") => value.joined(&text(0).unwrap_or_default()),
            (Self::Text(format), "format") => Self::formatted(&format, given),
            (Self::Text(it), "replace" | "replaceAll" | "gsub" | "sub") => {
                match (text(0), text(1)) {
                    (Some(from), Some(to)) if !from.is_empty() => Self::of(it.replace(&from, &to)),
                    _ => Self::Unknown,
                }
            }
            (Self::Text(it), "strip" | "trim" | "rstrip" | "lstrip" | "chomp") => {
                Self::Text(it.trim().to_owned())
            }
            (Self::Text(it), "lower" | "toLowerCase" | "downcase" | "casefold") => {
                Self::Text(it.to_lowercase())
            }
            (Self::Text(it), "upper" | "toUpperCase" | "upcase") => Self::Text(it.to_uppercase()),
            (Self::Text(it), "split" | "chars") => {
                let parts: Vec<String> = match text(0) {
                    Some(separator) if separator.is_empty() => {
                        it.chars().map(String::from).collect()
                    }
                    Some(separator) => it.split(&separator).map(str::to_owned).collect(),
                    None if name == "chars" => it.chars().map(String::from).collect(),
                    None => it.split_whitespace().map(str::to_owned).collect(),
                };
                Self::List(parts.into_iter().take(MOST_ITEMS).map(Self::Text).collect())
            }
            (Self::Text(it), "decode" | "toString" | "encode") => match text(0).as_deref() {
                Some("hex") if name == "decode" => hex(&it).map_or(Self::Unknown, Self::of),
                Some("base64") if name == "decode" => {
                    decode(&it, 6).map_or(Self::Unknown, Self::of)
                }
                Some("rot13" | "rot_13") => Self::Text(rot13(&it)),
                _ => Self::Text(it),
            },
            (Self::Text(it), "unpack1" | "unpack") if text(0).as_deref() == Some("m") => {
                decode(&it, 6).map_or(Self::Unknown, Self::of)
            }
            (
                value @ Self::Text(_),
                "to_s" | "to_str" | "valueOf" | "as_posix" | "resolve" | "absolute" | "freeze",
            ) => value,
            (value, "concat") => {
                let more = given.iter().try_fold(value, |sum, (_, it)| sum.plus(it.clone()));
                more.unwrap_or(Self::Unknown)
            }
            (value @ Self::List(_), "pack") => match text(0).as_deref() {
                Some("H*") => {
                    value.texts().first().and_then(|it| hex(it)).map_or(Self::Unknown, Self::of)
                }
                _ => characters(&value),
            },
            (value @ Self::List(_), "flatten" | "to_a" | "slice" | "dup") if given.is_empty() => {
                value
            }
            _ => Self::Unknown,
        }
    }
}

fn character(number: i64) -> Option<char> {
    u32::try_from(number).ok().and_then(char::from_u32)
}

/// The characters that numbers stand for.
fn characters(value: &Value) -> Value {
    let numbers: Option<Vec<char>> = match value {
        Value::List(items) => items
            .iter()
            .map(|it| match it {
                Value::Number(number) => character(*number),
                _ => None,
            })
            .collect(),
        Value::Number(number) => character(*number).map(|it| vec![it]),
        _ => None,
    };
    numbers.map_or(Value::Unknown, |it| Value::of(it.into_iter().collect()))
}

fn rot13(text: &str) -> String {
    let turn = |c: char, base: u8| char::from((c as u8 - base + 13) % 26 + base);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}

/// Parts of a path, put together.
pub(super) fn paths(given: &[Given]) -> Option<String> {
    let mut path = String::new();
    for (_, value) in given {
        let part = value.text()?;
        if part.starts_with('/') {
            path.clear();
        } else if !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(&part);
    }
    (!path.is_empty()).then_some(path)
}

/// What a function gives; unknown if it does more than change texts.
pub(super) fn function(name: &str, last: &str, given: &[Given]) -> Value {
    let text = |at: usize| given.get(at).and_then(|(_, value)| value.text());
    let first = given.first().map(|(_, value)| value.clone());
    let known = |text: Option<String>| text.map_or(Value::Unknown, Value::of);
    let list = || Value::List(given.iter().map(|(_, value)| value.clone()).collect());
    match last {
        "chr" | "fromCharCode" | "fromCodePoint" | "char" => characters(&list()),
        "bytes" | "bytearray" => match first {
            Some(value @ Value::List(_)) => characters(&value),
            Some(value) => value,
            None => Value::Unknown,
        },
        "str" | "String" | "list" | "tuple" | "Array" | "array" | "Path" | "PurePath"
        | "PosixPath" | "Pathname" | "abspath" | "realpath" | "normpath" | "fspath" | "quote"
        | "scalar"
            if given.len() == 1 =>
        {
            first.unwrap_or(Value::Unknown)
        }
        "array" | "Array" => list(),
        "reversed" | "strrev" | "reverse" => first.map_or(Value::Unknown, Value::reversed),
        "map" => match (given.first(), given.get(1)) {
            (Some((_, Value::Name(function))), Some((_, values))) if function == "chr" => {
                characters(values)
            }
            _ => Value::Unknown,
        },
        "join" | "implode" => match (text(0), given.get(1..)) {
            (Some(separator), Some(rest)) => {
                let rest = Value::List(rest.iter().map(|(_, value)| value.clone()).collect());
                rest.joined(&separator)
            }
            _ => Value::Unknown,
        },
        "sprintf" | "format" => match (first, given.get(1..)) {
            (Some(format), Some(rest)) => {
                format.filled(Value::List(rest.iter().map(|(_, value)| value.clone()).collect()))
            }
            _ => Value::Unknown,
        },
        "split" if name.starts_with("shlex") => {
            first.map_or(Value::Unknown, |it| it.method("split", &[]))
        }
        "lc" | "strtolower" => first.map_or(Value::Unknown, |it| it.method("lower", &[])),
        "uc" | "strtoupper" => first.map_or(Value::Unknown, |it| it.method("upper", &[])),
        "trim" => first.map_or(Value::Unknown, |it| it.method("strip", &[])),
        "str_replace" => match given {
            [from, to, (_, value)] => value.clone().method("replace", &[from.clone(), to.clone()]),
            _ => Value::Unknown,
        },
        "b64decode" | "urlsafe_b64decode" | "standard_b64decode" | "decode64"
        | "strict_decode64" | "urlsafe_decode64" | "decode_base64" | "base64_decode" | "atob" => {
            known(text(0).and_then(|it| decode(&it, 6)))
        }
        "b32decode" => known(text(0).and_then(|it| decode(&it, 5))),
        "fromhex" | "unhexlify" | "hex2bin" | "a2b_hex" => known(text(0).and_then(|it| hex(&it))),
        "str_rot13" => known(text(0).map(|it| rot13(&it))),
        "pack" if text(0).as_deref() == Some("H*") => known(text(1).and_then(|it| hex(&it))),
        "decode" if name.starts_with("codecs") => match (first, given.get(1)) {
            (Some(value), Some(codec)) => value.method("decode", std::slice::from_ref(codec)),
            _ => Value::Unknown,
        },
        "from" if name == "Buffer.from" => match text(1).as_deref() {
            Some("base64" | "base64url") => known(text(0).and_then(|it| decode(&it, 6))),
            Some("hex") => known(text(0).and_then(|it| hex(&it))),
            _ => match first {
                Some(value @ Value::List(_)) => characters(&value),
                other => other.unwrap_or(Value::Unknown),
            },
        },
        _ => Value::Unknown,
    }
}
