//! Reading lists of names out of `config.yaml`, where any key may be null or of another type.

use serde_json::{Map, Value};

/// The value at a path of keys; an explicit null counts as missing.
pub(super) fn at<'v>(config: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(config, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// The mapping at a path of keys.
pub(super) fn map_at<'v>(config: &'v Value, path: &[&str]) -> Option<&'v Map<String, Value>> {
    at(config, path)?.as_object()
}

/// A list item as text: YAML reads an unquoted `12306` as a number. Nested values are no names.
pub(super) fn item_text(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The names in a list; none if the value is no list.
pub(super) fn list(value: Option<&Value>) -> Option<Vec<String>> {
    Some(value?.as_array()?.iter().filter_map(item_text).collect())
}

/// The names in a list or in place of one (a lone text or number); blanks around them are dropped.
///
/// For denials: a name that was meant to be turned off is not let through for its form.
pub(super) fn list_or_one(value: Option<&Value>) -> Vec<String> {
    let texts = match value {
        Some(Value::Array(items)) => items.iter().filter_map(item_text).collect(),
        Some(one) => item_text(one).into_iter().collect::<Vec<_>>(),
        None => Vec::new(),
    };
    let trimmed = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    trimmed.map(str::to_owned).collect()
}

/// The names in `agent.disabled_toolsets`, whatever form the setting has.
#[must_use]
pub fn disabled_toolsets(config: &Value) -> Vec<String> {
    list_or_one(at(config, &["agent", "disabled_toolsets"]))
}

/// The names in `agent.disabled_tools`, whatever form the setting has.
#[must_use]
pub fn disabled_tools(config: &Value) -> Vec<String> {
    list_or_one(at(config, &["agent", "disabled_tools"]))
}

/// The name a server's tool is registered under.
pub(super) fn mcp_tool_name(server: &str, tool: &str) -> String {
    let clean = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
    };
    format!("mcp__{}__{}", clean(server), clean(tool))
}

/// Whether the `tools` filter of a server's configuration lets a tool through. A filled `include`
/// list wins over `exclude`.
pub(super) fn mcp_tool_allowed(server: &Value, tool: &str) -> bool {
    let include = mcp_filter(server, "include");
    if include.is_empty() {
        !mcp_filter(server, "exclude").iter().any(|name| name == tool)
    } else {
        include.iter().any(|name| name == tool)
    }
}

/// The names in the `include` or `exclude` filter of a server's configuration.
pub(super) fn mcp_filter(server: &Value, key: &str) -> Vec<String> {
    match at(server, &["tools", key]) {
        Some(Value::Array(items)) => items.iter().filter_map(item_text).collect(),
        Some(one) => item_text(one).into_iter().collect(),
        None => Vec::new(),
    }
}
