//! Binds the schema cases to `hermes-schema`.

use std::borrow::Cow;

use hermes_schema::{
    Validator, coerce, collapse_nullable,
    lower::{anthropic, gemini, moonshot},
    repair, strip_pattern_format_in_tools, strip_slash_enum_in_tools,
};
use serde_json::{Map, Value, json};

use super::Binding;

/// The functions of this area.
pub(crate) const AREA: &[(&str, Binding)] = &[
    ("sanitize_tool", Binding::Checked(sanitize_tool)),
    ("strip_nullable", Binding::Actual(strip_nullable)),
    ("strip_pattern_format", Binding::Actual(strip_pattern_format)),
    ("strip_slash_enum", Binding::Actual(strip_slash_enum)),
    ("anthropic_schema", Binding::Actual(anthropic_schema)),
    ("gemini_schema", Binding::Actual(gemini_schema)),
    ("moonshot_schema", Binding::Actual(moonshot_schema)),
    ("coerce_args", Binding::Actual(coerce_args)),
];

/// `sanitize_tool {parameters}`: equality or properties of the result.
pub(crate) fn sanitize_tool(input: &Value, expect: &Value) -> Result<(), String> {
    let repaired = repair(field(input, "parameters")).map_err(|error| error.to_string())?;
    let repaired = repaired.as_ref();
    let expect = expect.as_object().ok_or("expect is not an object")?;
    for (key, wanted) in expect {
        let holds = match key.as_str() {
            "parameters" => repaired == wanted,
            "accepts" => verdicts(repaired, wanted)?.into_iter().all(|accepted| accepted),
            "rejects" => verdicts(repaired, wanted)?.into_iter().all(|accepted| !accepted),
            "subset" => contains(repaired, wanted),
            "absent_keys" => {
                list(wanted).iter().filter_map(Value::as_str).all(|k| repaired.get(k).is_none())
            }
            "no_type_arrays" => *wanted != true || !any_node(repaired, has_type_array),
            "no_null_branch" => *wanted != true || !any_node(repaired, has_null_branch),
            other => return Err(format!("unknown expectation {other}")),
        };
        if !holds {
            return Err(format!("{key} {wanted} does not hold for {repaired}"));
        }
    }
    Ok(())
}

/// `strip_nullable {schema, keep_nullable_hint}` -> schema.
pub(crate) fn strip_nullable(input: &Value) -> Result<Value, String> {
    let hint = input.get("keep_nullable_hint").and_then(Value::as_bool).unwrap_or(true);
    let schema = collapse_nullable(field(input, "schema"), hint);
    schema_of(schema.map(Cow::into_owned))
}

/// `strip_pattern_format {tools}` -> tools, removed.
pub(crate) fn strip_pattern_format(input: &Value) -> Result<Value, String> {
    let (tools, removed) = strip_pattern_format_in_tools(list(field(input, "tools")));
    Ok(json!({"tools": tools, "removed": removed}))
}

/// `strip_slash_enum {tools}` -> tools, removed.
pub(crate) fn strip_slash_enum(input: &Value) -> Result<Value, String> {
    let (tools, removed) = strip_slash_enum_in_tools(list(field(input, "tools")));
    Ok(json!({"tools": tools, "removed": removed}))
}

/// `anthropic_schema {schema}` -> schema.
pub(crate) fn anthropic_schema(input: &Value) -> Result<Value, String> {
    schema_of(anthropic::lower(field(input, "schema")).map(|lowered| lowered.schema))
}

/// `gemini_schema {schema}` -> schema.
pub(crate) fn gemini_schema(input: &Value) -> Result<Value, String> {
    schema_of(gemini::lower(field(input, "schema")).map(Cow::into_owned))
}

/// `moonshot_schema {schema}` -> schema.
pub(crate) fn moonshot_schema(input: &Value) -> Result<Value, String> {
    schema_of(moonshot::lower(field(input, "schema")).map(Cow::into_owned))
}

/// `coerce_args {properties, args, $defs?}` -> args.
pub(crate) fn coerce_args(input: &Value) -> Result<Value, String> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    for (key, value) in input.as_object().into_iter().flatten() {
        if key != "args" {
            schema.insert(key.clone(), value.clone());
        }
    }
    let mut args = field(input, "args").clone();
    coerce(&Value::Object(schema), &mut args);
    Ok(json!({"args": args}))
}

fn schema_of(result: Result<Value, hermes_schema::SchemaError>) -> Result<Value, String> {
    result.map(|schema| json!({"schema": schema})).map_err(|error| error.to_string())
}

fn field<'v>(input: &'v Value, key: &str) -> &'v Value {
    input.get(key).unwrap_or(&Value::Null)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether the schema accepts each of the instances.
fn verdicts(schema: &Value, instances: &Value) -> Result<Vec<bool>, String> {
    let validator = Validator::compile(schema).map_err(|error| error.to_string())?;
    Ok(list(instances).iter().map(|instance| validator.check(instance).is_ok()).collect())
}

/// Whether the keys and values of `wanted` occur in `actual`, at depth too.
fn contains(actual: &Value, wanted: &Value) -> bool {
    match (actual, wanted) {
        (Value::Object(actual), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| actual.get(key).is_some_and(|actual| contains(actual, wanted))),
        (actual, wanted) => actual == wanted,
    }
}

/// Whether any object in the schema satisfies `wanted`.
fn any_node(value: &Value, wanted: fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(map) => wanted(map) || map.values().any(|value| any_node(value, wanted)),
        Value::Array(list) => list.iter().any(|value| any_node(value, wanted)),
        _ => false,
    }
}

fn has_type_array(node: &Map<String, Value>) -> bool {
    node.get("type").is_some_and(Value::is_array)
}

fn has_null_branch(node: &Map<String, Value>) -> bool {
    ["anyOf", "oneOf"].into_iter().filter_map(|union| node.get(union)).any(|branches| {
        list(branches).iter().any(|branch| branch.get("type").is_some_and(|name| name == "null"))
    })
}
