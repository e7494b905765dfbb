//! From argument text to arguments that fit the tool.

use hermes_registry::ToolError;
use hermes_turn::argument_text::{self, ArgsDecision};
use serde_json::{Map, Value};

use crate::call::Arguments;
use crate::gates::{Gate, Trace};
use crate::prepared::PreparedTool;
use crate::suggest;

/// How many unknown parameters an error names at most.
const MAX_UNKNOWN: usize = 5;

/// Parses argument text, mending slips of syntax. Nothing, blanks, `null` and `None` mean no
/// arguments.
///
/// # Errors
/// The text isn't JSON, isn't an object, or is cut off: running the part that arrived could write
/// half a file.
pub(crate) fn parse(arguments: Arguments, trace: &mut Trace) -> Result<Value, ToolError> {
    let decision = match arguments {
        Arguments::Text(text) => argument_text::decide(&text),
        Arguments::Value(value) => argument_text::decide_value(value),
    };
    let message = match decision {
        ArgsDecision::Execute { args, repairs } => {
            if repairs.is_clean() {
                trace.pass(Gate::Parse, || "the arguments are an object".into());
            } else {
                trace.note(Gate::Parse, format!("mended: {repairs}"));
            }
            return Ok(Value::Object(args));
        }
        ArgsDecision::RejectNotObject { kind } => {
            format!("the arguments must be a JSON object, not {kind}")
        }
        ArgsDecision::InvalidJson { fault } => {
            format!("the arguments are not valid JSON: {fault}; nothing was run")
        }
        ArgsDecision::RefuseTruncated { chars, ended, fault: None } => format!(
            "the arguments are cut off after {chars} characters, {ended}, so nothing was run; \
             send the call again, in smaller pieces if it is long"
        ),
        ArgsDecision::RefuseTruncated { fault: Some(fault), .. } => format!(
            "the arguments are no JSON object: {fault}; nothing was run. Write them like \
             {{\"path\": \"a.txt\"}}"
        ),
    };
    Err(ToolError::invalid_arguments("Invalid tool arguments").with_extra("message", message))
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
        let unknown = unknown_parameters(schema, args);
        ToolError::invalid_arguments(format!(
            "the arguments of {} don't fit: {errors}{unknown}",
            tool.tool.name()
        ))
    })
}

/// A note on arguments that the schema doesn't know: likely what a fault is about.
fn unknown_parameters(schema: &Value, args: &Value) -> String {
    let known = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let given = args.as_object().into_iter().flat_map(Map::keys);
    let unknown: Vec<String> = given
        .filter(|name| !known.contains(&name.as_str()))
        .take(MAX_UNKNOWN)
        .map(|name| {
            let shown: String = name.chars().take(40).collect();
            match suggest::nearest(name, known.iter().copied()) {
                Some(nearest) => format!("`{shown}` (did you mean `{nearest}`?)"),
                None => format!("`{shown}`"),
            }
        })
        .collect();
    match unknown.as_slice() {
        [] => String::new(),
        names => format!("; not parameters of it: {}", names.join(", ")),
    }
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
    use serde_json::json;

    use super::*;
    use crate::gates::Detail;

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

    fn parsed(text: &str) -> Result<Value, ToolError> {
        parse(Arguments::Text(text.into()), &mut Trace::new(Detail::All))
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
            assert_eq!(parsed(text).ok(), expected, "{text}");
        }
        let cut = parsed(r#"{"content":"half"#).unwrap_err();
        assert!(cut.to_value().to_string().contains("cut off"), "{cut:?}");
        let word = parsed("a.txt").unwrap_err();
        assert!(word.to_value().to_string().contains("no JSON object"), "{word:?}");
    }

    #[test]
    fn a_fault_names_the_parameters_that_do_not_exist() {
        let schema = json!({"properties": {"path": {}, "limit": {}}});
        let note = |args| unknown_parameters(&schema, &args);
        assert_eq!(note(json!({"path": 1})), "");
        let note = note(json!({"file_path": 1, "zzz": 2}));
        assert_eq!(note, "; not parameters of it: `file_path` (did you mean `path`?), `zzz`");
    }
}
