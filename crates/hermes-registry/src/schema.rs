//! JSON schemas from Rust types, in the plain form that model providers take.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The order of keywords in a schema object. What isn't listed comes after, as it was.
const KEY_ORDER: [&str; 12] = [
    "type",
    "description",
    "enum",
    "default",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "items",
    "properties",
    "required",
    "additionalProperties",
];

/// The schema of `T`: inlined, without `$schema` and titles, with doc comments as descriptions.
///
/// `Option<X>` becomes an optional `X`; widths of numbers (`uint32` and the like) are left out,
/// since their bounds say the same and some providers refuse unknown formats. Types that contain
/// themselves keep a `$defs` section, everything else is in place.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    if let Value::Object(root) = &mut schema {
        // A doc comment on the argument type describes the code, not the tool.
        root.remove("description");
        root.entry("type").or_insert_with(|| "object".into());
        root.entry("properties").or_insert_with(|| Map::new().into());
        sort_keys(root);
    }
    schema
}

// Recursion is as deep as a Rust type is nested.
fn tidy(node: &mut Value) {
    let Value::Object(object) = node else { return };
    object.remove("title");
    if object.get("format").and_then(Value::as_str).is_some_and(is_number_width) {
        object.remove("format");
    }
    drop_null(object);
    collapse_variants(object);
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = unwrap_lines(text);
    }
    for key in ["properties", "$defs"] {
        if let Some(Value::Object(map)) = object.get_mut(key) {
            map.values_mut().for_each(tidy);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = object.get_mut(key) {
            tidy(child);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(list)) = object.get_mut(key) {
            list.iter_mut().for_each(tidy);
        }
    }
    sort_keys(object);
}

fn is_number_width(format: &str) -> bool {
    matches!(format, "float" | "double") || format.trim_start_matches('u').starts_with("int")
}

/// `Option<X>` is `X` that need not be given; the dispatcher drops a null for it.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|t| t != "null");
        if let [single] = types.as_slice() {
            let single = single.clone();
            object.insert("type".to_owned(), single);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.retain(|b| b.get("type").and_then(Value::as_str) != Some("null"));
        if let [single] = branches.as_mut_slice() {
            let single = std::mem::take(single);
            object.remove("anyOf");
            merge(object, single);
        }
    }
}

/// A C-like enum with doc comments comes as `oneOf` constants; one `enum` says the same, and the
/// comments join the description.
fn collapse_variants(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.get("oneOf") else { return };
    let mut values = Vec::new();
    let mut lines = Vec::new();
    for branch in branches {
        if let Some(Value::Array(list)) = branch.get("enum") {
            values.extend(list.iter().cloned());
        } else if let Some(value @ Value::String(text)) = branch.get("const") {
            if let Some(doc) = branch.get("description").and_then(Value::as_str) {
                lines.push(format!("{text}: {}", unwrap_lines(doc).trim_end_matches('.')));
            }
            values.push(value.clone());
        } else {
            return;
        }
    }
    object.remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), values.into());
    if !lines.is_empty() {
        let own = object.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = format!("{own} {}.", lines.join("; "));
        object.insert("description".to_owned(), text.trim().into());
    }
}

fn merge(object: &mut Map<String, Value>, inner: Value) {
    if let Value::Object(inner) = inner {
        for (key, value) in inner {
            object.entry(key).or_insert(value);
        }
    }
}

/// Joins the lines of a paragraph: their breaks are the width of a source file.
fn unwrap_lines(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.split('\n').map(str::trim).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn sort_keys(object: &mut Map<String, Value>) {
    let mut rest = std::mem::take(object);
    for key in KEY_ORDER {
        if let Some(value) = rest.shift_remove(key) {
            object.insert(key.to_owned(), value);
        }
    }
    object.extend(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[derive(serde::Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        /// Where to look,
        /// in one sentence.
        path: String,
        /// How many.
        #[serde(default = "ten")]
        #[schemars(range(min = 1, max = 50))]
        limit: u32,
        /// The order of results.
        order: Option<Order>,
        tags: Option<Vec<String>>,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        /// Newest first.
        Newest,
        /// Oldest first.
        Oldest,
    }

    fn ten() -> u32 {
        10
    }

    #[test]
    fn schemas_are_plain_and_in_a_stable_order() {
        let expected = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where to look, in one sentence."},
                "limit": {
                    "type": "integer", "description": "How many.",
                    "default": 10, "minimum": 1, "maximum": 50,
                },
                "order": {
                    "type": "string",
                    "description": "The order of results. newest: Newest first; oldest: Oldest first.",
                    "enum": ["newest", "oldest"],
                },
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["path"],
        });
        assert_eq!(schema_of::<Args>().to_string(), expected.to_string());
    }

    #[derive(serde::Deserialize, JsonSchema)]
    struct Nothing {}

    #[test]
    fn a_tool_without_parameters_still_has_an_object_schema() {
        assert_eq!(schema_of::<Nothing>(), json!({"type": "object", "properties": {}}));
    }

    #[derive(serde::Deserialize, JsonSchema)]
    struct Tree {
        #[expect(dead_code, reason = "only its schema is looked at")]
        children: Vec<Tree>,
    }

    #[test]
    fn a_recursive_type_ends() {
        let schema = schema_of::<Tree>();
        assert!(schema.to_string().contains("$ref"), "{schema}");
    }
}
