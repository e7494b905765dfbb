//! Reading YAML text into a JSON value, within bounds and with positions in errors.
//!
//! Scalars follow YAML 1.1 where people rely on it: `yes`, `on` and their opposites are booleans. Every key becomes text as it is written, so `1:` is `"1"` and `on:` is `"on"`.
//! Not-a-number and the infinities, which JSON lacks, become the texts `.nan`, `.inf` and `-.inf`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{Location, Options, Spanned, UserMessageFormatter};

/// Nodes a document may hold after its aliases are expanded.
const MAX_NODES: usize = 50_000;

/// How deep mappings and lists may nest. The parser recurses, with some 40 KiB of stack for each
/// level in a debug build.
pub(crate) const MAX_DEPTH: usize = 24;

/// Text that is no acceptable YAML document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct YamlError {
    /// Line and column, both from 1 and in characters; none when the fault has no single place.
    pub position: Option<(u64, u64)>,
    /// What is wrong, in one line.
    pub message: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for YamlError {}

/// Parses one YAML document of any kind; no document at all is `null`.
///
/// # Errors
///
/// Broken syntax, a key given twice (also `1` beside `'1'`), a key that is no scalar, several
/// documents, and documents that nest too deep or grow too large through aliases.
pub fn parse(text: &str) -> Result<Value, YamlError> {
    document(text)?.into_value(text)
}

/// Parses a document whose top level is a mapping; an empty document is an empty mapping.
///
/// # Errors
///
/// As [`parse`], and a top level that is a list or a scalar.
pub fn parse_mapping(text: &str) -> Result<Value, YamlError> {
    match parse(text)? {
        Value::Null => Ok(Value::Object(Map::new())),
        value @ Value::Object(_) => Ok(value),
        other => Err(YamlError {
            position: None,
            message: format!(
                "the top level must be a mapping (`key: value`), not {}",
                kind(&other)
            ),
        }),
    }
}

/// What people call a value's kind, with its article.
#[must_use]
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing (null)",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// The keys of the top-level mapping, each with the byte offset it starts at.
///
/// None when the top level is no mapping or an offset is unknown.
pub(crate) fn top_level_keys(text: &str) -> Option<Vec<(String, usize)>> {
    let Kind::Map(entries) = document(text).ok()?.kind else { return None };
    entries
        .into_iter()
        .map(|(key, _)| {
            Some((key.value, usize::try_from(key.referenced.span().byte_offset()?).ok()?))
        })
        .collect()
}

fn document(text: &str) -> Result<Node, YamlError> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| describe(&error))
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: MAX_NODES, max_depth: MAX_DEPTH },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_NODES },
        // `0755` is a text: neither 493 nor 755 is surely what was meant.
        leading_zero_numbers_as_strings: true,
        // Keys such as `null:` and `~:` keep their spelling.
        null_as_string: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

fn describe(error: &serde_saphyr::Error) -> YamlError {
    let position = error
        .location()
        .map(|place| (place.line(), place.column()))
        .filter(|&(line, column)| line > 0 && column > 0);
    let rendered = error.without_snippet().render_with_formatter(&UserMessageFormatter);
    let first = rendered.lines().next().unwrap_or_default();
    // The position is told once, by us.
    let message = match first.find(" at line ") {
        Some(at) => first.get(..at).unwrap_or(first),
        None => first,
    };
    YamlError { position, message: message.trim().to_owned() }
}

/// A value with the places it comes from.
struct Node {
    place: Location,
    kind: Kind,
}

enum Kind {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// The plain value; `text` is the one it was read from. As deep as the parser admits.
    fn into_value(self, text: &str) -> Result<Value, YamlError> {
        Ok(match self.kind {
            Kind::Scalar(Value::Bool(value)) => boolean(value, self.place, text),
            Kind::Scalar(value) => value,
            Kind::List(items) => {
                let items = items.into_iter().map(|item| item.into_value(text));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Kind::Map(entries) => {
                let mut map = Map::new();
                for (key, value) in entries {
                    let place = key.referenced;
                    // The parser finds equal keys, but takes `1` and `'1'` for different ones.
                    if map.insert(key.value, value.into_value(text)?).is_some() {
                        let position = Some((place.line(), place.column()));
                        let message = "a key is given twice in one mapping".to_owned();
                        return Err(YamlError { position, message });
                    }
                }
                Value::Object(map)
            }
        })
    }
}

/// The parser takes `y`, `n` and odd spellings such as `oN` for booleans, the program whose files
/// we share does not.
fn boolean(value: bool, place: Location, text: &str) -> Value {
    let span = place.span();
    let word = span.byte_offset().zip(span.byte_len()).and_then(|(start, length)| {
        let start = usize::try_from(start).ok()?;
        text.get(start..start.checked_add(usize::try_from(length).ok()?)?)
    });
    let word = word.map(str::trim).filter(|word| word.bytes().all(|b| b.is_ascii_alphabetic()));
    let usual = word.is_none_or(|word| {
        let rest = word.get(1..).unwrap_or_default();
        let lower = |part: &str| part.bytes().all(|b| b.is_ascii_lowercase());
        word.len() > 1 && (lower(rest) || word.bytes().all(|b| b.is_ascii_uppercase()))
    });
    match word {
        Some(word) if !usual => Value::String(word.to_owned()),
        _ => Value::Bool(value),
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value: kind, defined: place, .. } = Spanned::deserialize(deserializer)?;
        Ok(Self { place, kind })
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::from(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::from(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::from(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::from(value)))
    }

    fn visit_string<E>(self, value: String) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::String(value)))
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Kind::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Kind::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_as_people_mean_them() {
        for (text, expected) in [
            ("", json!({})),
            ("# only a comment\n", json!({})),
            ("---\n...\n", json!({})),
            ("null\n", json!({})),
            ("{}", json!({})),
            (
                "a: on\nb: Yes\nc: off\nd: 'no'",
                json!({"a": true, "b": true, "c": false, "d": "no"}),
            ),
            ("on: 1\n2: x\n2.5: y\n~: z", json!({"on": 1, "2": "x", "2.5": "y", "~": "z"})),
            ("a: y\nb: N\nc: &x oN\nd: *x", json!({"a": "y", "b": "N", "c": "oN", "d": "oN"})),
            ("a: &x ON\nb: *x\nc: !!bool yes", json!({"a": true, "b": true, "c": true})),
            ("a:\nb: ~\nc: Null", json!({"a": null, "b": null, "c": null})),
            ("a: .nan\nb: -.inf", json!({"a": ".nan", "b": "-.inf"})),
            ("a: 0755\nb: 0x1F\nc: 1_000", json!({"a": "0755", "b": 31, "c": 1000})),
            ("a: 1:30\nb: 2030-01-02", json!({"a": "1:30", "b": "2030-01-02"})),
            ("a: &x {k: 1}\nb:\n  <<: *x\n  l: 2", json!({"a": {"k": 1}, "b": {"k": 1, "l": 2}})),
            ("a: &x {k: 1}\nb: {<<: *x, k: 2}", json!({"a": {"k": 1}, "b": {"k": 2}})),
            ("\u{feff}a: 1\r\nb: 2\r\n", json!({"a": 1, "b": 2})),
            ("? a\n", json!({"a": null})),
            ("a: 18446744073709551615", json!({"a": u64::MAX})),
        ] {
            assert_eq!(parse_mapping(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn faults_carry_their_place() {
        for (text, position, part) in [
            ("a: 1\nb: 2\na: 3\n", Some((3, 1)), "duplicate"),
            ("1: a\n'1': b\n", Some((2, 1)), "twice"),
            ("a: [1\nb: 2\n", Some((2, 2)), ":"),
            ("? [a, b]\n: c\n", Some((1, 3)), ""),
            ("a: *nowhere\n", Some((1, 4)), ""),
            ("a: 1\n---\nb: 2\n", Some((3, 1)), "multiple"),
            ("- 1\n", None, "a list"),
            ("text\n", None, "a text"),
        ] {
            let error = parse_mapping(text).unwrap_err();
            assert_eq!(error.position, position, "{text:?}: {error}");
            assert!(error.message.contains(part), "{text:?}: {error}");
            assert!(!error.message.contains("line"), "{text:?}: {error}");
        }
    }

    #[test]
    fn alias_bombs_and_deep_nesting_are_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(parse(&bomb).is_err());
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
            let nested = |depth| format!("{}{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(parse(&nested(MAX_DEPTH)).is_ok(), open != "? ");
            for depth in [MAX_DEPTH + 1, 60, 1000, 100_000] {
                assert!(parse(&nested(depth)).is_err(), "{open} {depth}");
            }
        }
    }

    #[test]
    fn top_level_keys_have_offsets() {
        let text = "# é\na: {b: 1}\n\"c d\": 2\n1: x\n~: y\n";
        let keys = [
            ("a".to_owned(), 5),
            ("c d".to_owned(), 15),
            ("1".to_owned(), 24),
            ("~".to_owned(), 29),
        ];
        assert_eq!(top_level_keys(text), Some(keys.to_vec()));
        assert_eq!(top_level_keys("- a\n"), None);
    }
}
