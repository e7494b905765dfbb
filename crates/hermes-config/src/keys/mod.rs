//! Settings by their dotted names: finding, parsing, checking and masking them.
//!
//! A dotted name such as `tools.tool_search.enabled` names a key per level. A key that holds dots
//! or quotes is written in double quotes: `mcp_servers."my.server".url`.

mod check;
mod table;

use serde_json::Value;

pub use check::{Problem, Severity, check};
pub use table::{KEYS, KeySpec, Kind, spec};

use crate::{ConfigError, yaml};

/// Splits a dotted name into its keys.
///
/// # Errors
///
/// An empty key, a quote that is not closed or does not enclose the whole key.
pub fn split(dotted: &str) -> Result<Vec<String>, ConfigError> {
    let refuse =
        |reason: &str| Err(ConfigError::Key { key: dotted.to_owned(), reason: reason.to_owned() });
    let mut path = Vec::new();
    let mut rest = dotted;
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => match quoted.split_once('"') {
                Some((key, after)) => (key, after),
                None => return refuse("a quote is not closed"),
            },
            None => {
                let (key, after) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
                if key.contains('"') {
                    return refuse("quotes enclose a whole key between dots");
                }
                (key, after)
            }
        };
        if key.is_empty() {
            return refuse("a key between the dots is empty");
        }
        path.push(key.to_owned());
        if after.is_empty() {
            return Ok(path);
        }
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None => return refuse("quotes enclose a whole key between dots"),
        }
    }
}

/// Joins keys to a dotted name, with quotes where they are needed.
#[must_use]
pub fn join<S: AsRef<str>>(path: &[S]) -> String {
    let keys: Vec<String> = path
        .iter()
        .map(AsRef::as_ref)
        .map(|key| if key.contains('.') { format!("\"{key}\"") } else { key.to_owned() })
        .collect();
    keys.join(".")
}

/// The value at a path; a null one counts as present here.
#[must_use]
pub fn get<'a>(config: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(config, |value, key| value.get(key))
}

/// The value that a text on the command line means for a setting.
///
/// `true`, `10`, `null`, `[a, b]` and `{a: 1}` get their types and a quoted text loses its quotes;
/// anything else, also `# x` and `a: b`, is a text as it stands. For a setting known to be a text,
/// `10` is a text too.
///
/// # Errors
///
/// Something that starts like a list, a mapping or a quoted text and is none.
pub fn parse_value(path: &[String], text: &str) -> Result<Value, ConfigError> {
    let as_text = || Value::String(text.to_owned());
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Ok(as_text());
    }
    // A word such as `off` is one of the words, whatever YAML makes of it.
    if let Some(KeySpec { kind: Kind::Choice(words), .. }) = spec(path)
        && let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(trimmed))
    {
        return Ok(Value::String((*word).to_owned()));
    }
    let parsed = yaml::parse(trimmed);
    if trimmed.starts_with(['[', '{', '"', '\'']) {
        return parsed.map_err(|error| ConfigError::Key {
            key: join(path),
            reason: format!("the value is broken: {error}; quote it if it is meant as a text"),
        });
    }
    if trimmed.contains('#') || matches!(spec(path), Some(KeySpec { kind: Kind::Text, .. })) {
        // Null unsets a text too.
        return Ok(if trimmed == "null" { Value::Null } else { as_text() });
    }
    Ok(match parsed {
        Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value,
        _ => as_text(),
    })
}

/// Whether a key's name says that its value is a secret.
#[must_use]
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["key", "token", "password", "secret", "authorization"].iter().any(|end| key.ends_with(end))
}

/// The value at `path` fit for showing: each secret in it, and it itself if it is one, becomes
/// `***`. Null, booleans and empty texts are shown.
#[must_use]
pub fn masked(path: &[String], value: &Value) -> Value {
    let mut value = value.clone();
    let secret = path.iter().any(|key| is_secret(key));
    let mut pending = vec![(&mut value, secret)];
    while let Some((value, secret)) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter_mut().map(|item| (item, secret))),
            Value::Object(map) => {
                pending.extend(map.iter_mut().map(|(key, item)| (item, secret || is_secret(key))));
            }
            Value::String(text) if secret && !text.is_empty() => "***".clone_into(text),
            Value::Number(_) if secret => *value = Value::String("***".to_owned()),
            _ => {}
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn dotted_names_split_and_join() {
        for (dotted, expected) in [
            ("a", Some(vec!["a"])),
            ("a.b-c.1", Some(vec!["a", "b-c", "1"])),
            ("a.\"b.c\".d", Some(vec!["a", "b.c", "d"])),
            ("\"a.b\"", Some(vec!["a.b"])),
            ("", None),
            (".a", None),
            ("a.", None),
            ("a..b", None),
            ("a.\"\"", None),
            ("a.\"b", None),
            ("a.\"b\"c", None),
            ("a.b\"c\"", None),
        ] {
            let path = split(dotted).ok();
            assert_eq!(
                path,
                expected.map(|p| p.into_iter().map(str::to_owned).collect()),
                "{dotted}"
            );
            if let Some(path) = path {
                assert_eq!(join(&path), dotted);
            }
        }
    }

    #[test]
    fn texts_become_values() {
        for (key, text, expected) in [
            ("x", "true", json!(true)),
            ("x", "off", json!(false)),
            ("x", "10", json!(10)),
            ("x", " 1.5 ", json!(1.5)),
            ("x", "null", json!(null)),
            ("x", "", json!("")),
            ("x", "[a, 1, yes]", json!(["a", 1, true])),
            ("x", "{\"a\": {\"b\": []}}", json!({"a": {"b": []}})),
            ("x", "\"10\"", json!("10")),
            ("x", "'it''s'", json!("it's")),
            ("x", "a: b", json!("a: b")),
            ("x", "key # no comment", json!("key # no comment")),
            ("x", "- a", json!("- a")),
            ("x", "*alias", json!("*alias")),
            ("x", "two\nlines", json!("two\nlines")),
            ("model.default", "4.0", json!("4.0")),
            ("model.default", "null", json!(null)),
            ("model.context_length", "4096", json!(4096)),
        ] {
            let path = split(key).unwrap();
            assert_eq!(parse_value(&path, text).unwrap(), expected, "{key} {text:?}");
        }
        for text in ["[a", "{a: 1", "\"x", "[a] b"] {
            assert!(parse_value(&["x".to_owned()], text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn secrets_are_masked_wherever_they_are() {
        let config = json!({
            "api_key": "s", "model": {"apiKey": 5, "password": "", "max_tokens": 9},
            "env": {"GITHUB_TOKEN": "s", "PLAIN": "p"}, "client_secret": ["s", {"x": "s"}, null],
        });
        let expected = json!({
            "api_key": "***", "model": {"apiKey": "***", "password": "", "max_tokens": 9},
            "env": {"GITHUB_TOKEN": "***", "PLAIN": "p"}, "client_secret": ["***", {"x": "***"}, null],
        });
        assert_eq!(masked(&[], &config), expected);
        assert_eq!(masked(&["a".into(), "auth_token".into()], &json!("s")), json!("***"));
    }
}
