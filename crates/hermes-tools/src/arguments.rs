//! From argument text to arguments that fit the tool.

use hermes_registry::ToolError;
use serde_json::{Map, Value};

use crate::call::Arguments;
use crate::prepared::PreparedTool;

/// Parses argument text. Nothing, blanks, `null` and `None` mean no arguments.
///
/// # Errors
/// The text isn't JSON, or not an object.
pub(crate) fn parse(arguments: Arguments) -> Result<Value, ToolError> {
    let value = match arguments {
        Arguments::Value(value) => value,
        Arguments::Text(text) => match text.trim() {
            "" | "None" => Value::Null,
            trimmed => serde_json::from_str(trimmed).map_err(|err| malformed(trimmed, &err))?,
        },
    };
    match value {
        Value::Null => Ok(Value::Object(Map::new())),
        Value::Object(_) => Ok(value),
        other => Err(ToolError::invalid_arguments("Invalid tool arguments").with_extra(
            "message",
            format!("the arguments must be a JSON object, not {}", type_name(&other)),
        )),
    }
}

fn malformed(text: &str, error: &serde_json::Error) -> ToolError {
    let message = if error.is_eof() || !text.ends_with(['}', ']']) {
        // Running the part that arrived could write half a file.
        format!(
            "the arguments are cut off after {} characters, so nothing was run; send the call \
             again, in smaller pieces if it is long",
            text.chars().count()
        )
    } else {
        format!("the arguments are not valid JSON ({error}); nothing was run")
    };
    ToolError::invalid_arguments("Invalid tool arguments").with_extra("message", message)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Brings arguments into the types that the registered schema asks for, then checks them.
///
/// # Errors
/// One compact error that lists every offending path.
pub(crate) fn fit(tool: &PreparedTool, args: &mut Value) -> Result<(), ToolError> {
    let schema = tool.tool.parameters();
    hermes_schema::coerce(schema, args);
    hermes_schema::drop_optional_nulls(schema, args);
    fill_defaults(schema, args);
    let validator = tool.validator().map_err(|why| {
        ToolError::unavailable(format!(
            "{} can't be called: the schema of its arguments is broken ({why})",
            tool.tool.name()
        ))
    })?;
    validator.check_hiding(args, tool.tool.meta().secret_params).map_err(|errors| {
        ToolError::invalid_arguments(format!(
            "the arguments of {} don't fit: {errors}",
            tool.tool.name()
        ))
    })
}

/// Gives required parameters that are missing the default that their schema states: asked for, so
/// that models think of them, but not worth a failed call.
fn fill_defaults(schema: &Value, args: &mut Value) {
    let (Some(args), Some(required)) = (args.as_object_mut(), schema.get("required")) else {
        return;
    };
    for name in required.as_array().into_iter().flatten().filter_map(Value::as_str) {
        if args.contains_key(name) {
            continue;
        }
        let default = schema.get("properties").and_then(|it| it.get(name)?.get("default"));
        if let Some(default) = default.filter(|default| !default.is_null()) {
            args.insert(name.to_owned(), default.clone());
        }
    }
}

/// A copy of the arguments for eyes and logs, with the values of secret parameters masked.
pub(crate) fn masked(tool: &PreparedTool, args: &Value) -> Value {
    let mut shown = args.clone();
    if let Value::Object(map) = &mut shown {
        for name in tool.tool.meta().secret_params {
            if let Some(value) = map.get_mut(*name) {
                *value = "***".into();
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_required_parameter_with_a_default_may_be_left_out() {
        let schema = json!({
            "properties": {"mode": {"default": "replace"}, "path": {}, "limit": {"default": 5}},
            "required": ["mode", "path"],
        });
        let mut args = json!({});
        fill_defaults(&schema, &mut args);
        assert_eq!(args, json!({"mode": "replace"}));
    }

    #[test]
    fn parsing() {
        for (text, expected) in [
            ("", Some(json!({}))),
            (" \n", Some(json!({}))),
            ("null", Some(json!({}))),
            ("None", Some(json!({}))),
            (r#"{"a":1}"#, Some(json!({"a": 1}))),
            ("[1]", None),
            ("42", None),
            (r#"{"a":"#, None),
            (r#"{"a" 1}"#, None),
        ] {
            assert_eq!(parse(Arguments::Text(text.into())).ok(), expected, "{text}");
        }
        let cut = parse(Arguments::Text(r#"{"content":"half"#.into())).unwrap_err();
        assert!(cut.to_value().to_string().contains("cut off"), "{cut:?}");
    }
}
