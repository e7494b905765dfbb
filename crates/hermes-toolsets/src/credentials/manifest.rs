//! Entries that provider profiles and platform manifests declare.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Category, CredentialMeta};

/// Endings of a variable's name, after the last `_`, that make its value a secret.
const SECRET_ENDINGS: [&str; 5] = ["TOKEN", "SECRET", "KEY", "PASSWORD", "JSON"];

/// The entry for an item of a platform manifest's `requires_env` or `optional_env`: the bare name
/// of a variable, or a mapping with `name`. None for anything else.
///
/// Whether the value is a secret is what `password` or `secret` say, else what the name suggests;
/// only `password: false` overrules a suggestive name.
#[must_use]
pub fn manifest_env(entry: &Value) -> Option<CredentialMeta> {
    let no_fields = Map::new();
    let (name, fields) = match entry {
        Value::String(name) => (name.as_str(), &no_fields),
        Value::Object(fields) => (fields.get("name")?.as_str()?, fields),
        _ => return None,
    };
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let is_set = |key: &str| fields.get(key).and_then(Value::as_bool);
    let password = is_set("password") == Some(true)
        || is_set("secret") == Some(true)
        || (is_set("password") != Some(false) && is_secret_name(name));
    let prompt = text("prompt").or_else(|| text("label")).unwrap_or(name);
    Some(CredentialMeta {
        name: Cow::Owned(name.to_owned()),
        description: Cow::Owned(text("description").unwrap_or(prompt).to_owned()),
        prompt: Cow::Owned(prompt.to_owned()),
        url: text("url").map(|url| Cow::Owned(url.to_owned())),
        tools: Cow::Borrowed(&[]),
        password,
        category: text("category").and_then(Category::named).unwrap_or(Category::Messaging),
        advanced: is_set("advanced") == Some(true),
    })
}

/// The entry for a variable of a model provider that is used with an API key.
#[must_use]
pub fn provider_env(name: &str, url: Option<&str>) -> CredentialMeta {
    CredentialMeta {
        name: Cow::Owned(name.to_owned()),
        description: Cow::Owned(format!("{name} of a model provider")),
        prompt: Cow::Owned(name.to_owned()),
        url: url.map(|url| Cow::Owned(url.to_owned())),
        tools: Cow::Borrowed(&[]),
        password: !name.ends_with("_URL"),
        category: Category::Provider,
        advanced: true,
    }
}

fn is_secret_name(name: &str) -> bool {
    let upper = name.to_uppercase();
    upper.rsplit('_').next().is_some_and(|ending| SECRET_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_name_decides_about_secrecy_unless_the_manifest_does() {
        let check = |entry: Value, password| {
            assert_eq!(manifest_env(&entry).unwrap().password, password, "{entry}");
        };
        check(json!("TEAMS_CLIENT_SECRET"), true);
        check(json!("TOKEN"), true);
        check(json!("my_token"), true);
        check(json!("GOOGLE_APPLICATION_JSON"), true);
        check(json!("MONKEY"), false);
        check(json!("TOKEN_URL"), false);
        check(json!({"name": "MY_TOKEN", "password": false}), false);
        check(json!({"name": "MY_TOKEN", "secret": false}), true);
        check(json!({"name": "MY_TOKEN", "password": null}), true);
        check(json!({"name": "HOST", "secret": true}), true);
        check(json!({"name": "HOST", "password": false, "secret": true}), true);
    }

    #[test]
    fn missing_fields_have_defaults() {
        let meta = manifest_env(&json!("A_ROOM")).unwrap();
        assert_eq!((&*meta.prompt, &*meta.description, meta.url), ("A_ROOM", "A_ROOM", None));
        assert_eq!((meta.category, meta.advanced), (Category::Messaging, false));
        let entry = json!({"name": "A", "prompt": "Room", "category": "tool", "url": "https://x"});
        let meta = manifest_env(&entry).unwrap();
        assert_eq!((&*meta.description, meta.category), ("Room", Category::Tool));
        for nothing in [json!(""), json!(" "), json!(7), json!(null), json!({}), json!({"name": 1})]
        {
            assert_eq!(manifest_env(&nothing), None, "{nothing}");
        }
    }
}
