//! Reading YAML text into a JSON value, within bounds and with positions in errors.
//!
//! Scalars follow YAML 1.1 where people rely on it: `yes`, `on` and their opposites are booleans. Every key becomes text as it is written, so `1:` is `"1"` and `on:` is `"on"`.
//! Not-a-number and the infinities, which JSON lacks, become the texts `.nan`, `.inf` and `-.inf`.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::scalar;
use crate::tree::{self, Collection, Entry, Kind, Node, Tag, fault};

/// Nodes a document may hold after its aliases are expanded.
pub(crate) const MAX_NODES: usize = 50_000;

/// How deep mappings and lists may nest, aliases followed: far more than settings need, and
/// little enough to walk a document by recursion.
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
    tree::read(text)?.map_or(Ok(Value::Null), |root| value(&root))
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

/// The value a whole document has.
pub(crate) fn value(root: &Node) -> Result<Value, YamlError> {
    Composer::default().value(root, 0)
}

/// Turns nodes into values. Limits count what aliases stand for.
#[derive(Default)]
struct Composer<'t> {
    /// The anchored nodes read so far. One that is still being read is not among them, so that
    /// none can hold itself.
    anchors: BTreeMap<usize, &'t Node>,
    nodes: usize,
}

impl<'t> Composer<'t> {
    fn value(&mut self, node: &'t Node, depth: usize) -> Result<Value, YamlError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(fault(node.place, "aliases make the document too large"));
        }
        let value = match &node.kind {
            Kind::Alias(anchor) => {
                let target = self.target(*anchor, node)?;
                return self.value(target, depth);
            }
            Kind::Scalar(scalar) => scalar::resolve(scalar, node.tag)
                .ok_or_else(|| fault(node.place, "the value is not what its tag says"))?,
            Kind::List(list) => {
                fits(node, Tag::List, depth)?;
                let items = list.items.iter().map(|item| self.value(item, depth + 1));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Kind::Map(map) => {
                fits(node, Tag::Map, depth)?;
                Value::Object(self.mapping(map, depth + 1)?)
            }
        };
        if node.anchor > 0 {
            self.anchors.insert(node.anchor, node);
        }
        Ok(value)
    }

    /// The entries as written, then those taken over by `<<` that are not among them.
    fn mapping(
        &mut self,
        entries: &'t Collection<Entry>,
        depth: usize,
    ) -> Result<Map<String, Value>, YamlError> {
        let mut map = Map::new();
        let mut merged = Vec::new();
        for entry in &entries.items {
            if entry.is_merge() {
                let value = self.value(&entry.value, depth)?;
                merged.extend(sources(value).ok_or_else(|| {
                    fault(entry.value.place, "`<<` takes a mapping or a list of mappings")
                })?);
                continue;
            }
            let key = self.key(&entry.key)?;
            let value = self.value(&entry.value, depth)?;
            if map.insert(key, value).is_some() {
                return Err(fault(entry.key.place, "duplicate key: given twice in one mapping"));
            }
        }
        for (key, value) in merged.into_iter().flatten() {
            map.entry(key).or_insert(value);
        }
        Ok(map)
    }

    fn key(&mut self, node: &'t Node) -> Result<String, YamlError> {
        let scalar = match &node.kind {
            Kind::Alias(anchor) => &self.target(*anchor, node)?.kind,
            own => own,
        };
        let Kind::Scalar(scalar) = scalar else {
            return Err(fault(node.place, "a key must be a single word or text"));
        };
        if node.anchor > 0 {
            self.anchors.insert(node.anchor, node);
        }
        Ok(scalar.text.clone())
    }

    fn target(&self, anchor: usize, alias: &Node) -> Result<&'t Node, YamlError> {
        let target = self.anchors.get(&anchor).copied();
        target.ok_or_else(|| fault(alias.place, "an alias stands within what it refers to"))
    }
}

/// Whether a collection may stand here and be of the kind it is.
fn fits(node: &Node, kind: Tag, depth: usize) -> Result<(), YamlError> {
    if depth >= MAX_DEPTH {
        return Err(fault(node.place, "aliases make the document nest too deep"));
    }
    match node.tag {
        Some(tag) if tag != kind && tag != Tag::Unspecific => {
            Err(fault(node.place, "the value is not what its tag says"))
        }
        _ => Ok(()),
    }
}

/// The mappings a `<<` stands for; null is none.
fn sources(value: Value) -> Option<Vec<Map<String, Value>>> {
    let values = match value {
        Value::Array(items) => items,
        single => vec![single],
    };
    let maps = values.into_iter().filter(|value| !value.is_null()).map(|value| match value {
        Value::Object(map) => Some(map),
        _ => None,
    });
    maps.collect()
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
            (": x\n", json!({"": "x"})),
            ("a: &x {k: 1, l: 2}\nb:\n  <<: [*x, ~, {k: 3, m: 4}]\n  l: 5", {
                json!({"a": {"k": 1, "l": 2}, "b": {"l": 5, "k": 1, "m": 4}})
            }),
            ("&x a: *x\nb:\n  *x : 1\n", json!({"a": "a", "b": {"a": 1}})),
            ("a: !own 5\nb: ! 5\nc: !!str 5\nd: !own {}", {
                json!({"a": 5, "b": "5", "c": "5", "d": {}})
            }),
            ("a: |\n  x\nb: |-\n  x\nc: >\n  x\n  y", json!({"a": "x\n", "b": "x", "c": "x y\n"})),
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
            ("a: !!int x\n", Some((1, 10)), "tag"),
            ("a: &x [*x]\n", Some((1, 8)), "alias"),
            ("a:\n  <<: 1\n", Some((2, 7)), "<<"),
            ("a: &x [[*x]]\n", Some((1, 9)), "alias"),
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
}
