//! Lowering for each provider.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn tool<'t>(name: &'t str, parameters: &'t Value) -> ToolDef<'t> {
    ToolDef { name, description: "d", parameters, cache_control: None }
}

#[test]
fn wire_shapes() {
    let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}});
    let repaired =
        json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true}}});
    let moonshot =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": []});
    let function = |parameters: &Value| {
        json!({"type": "function",
            "function": {"name": "t", "description": "d", "parameters": parameters}})
    };
    for (format, expected) in [
        (ToolFormat::OpenAi, function(&repaired)),
        (ToolFormat::Xai, function(&repaired)),
        (ToolFormat::LlamaCpp, function(&repaired)),
        (ToolFormat::Moonshot, function(&moonshot)),
        (ToolFormat::Anthropic, json!({"name": "t", "description": "d", "input_schema": repaired})),
        (ToolFormat::Gemini, json!({"name": "t", "description": "d", "parameters": repaired})),
        (ToolFormat::Mcp, json!({"name": "t", "description": "d", "inputSchema": schema})),
    ] {
        let lowered = lower_tools(format, &[tool("t", &schema)]);
        assert_eq!(lowered.tools, [expected], "{format:?}");
        assert_eq!(lowered.quarantined, [], "{format:?}");
    }
}

#[test]
fn one_bad_tool_is_left_out_alone() {
    let fine = json!({"type": "object", "properties": {"child": {"$ref": "#"}}});
    let dangling = json!({"properties": {"a": {"$ref": "#/$defs/A"}}});
    let remote = json!({"properties": {"a": {"$ref": "http://127.0.0.1/a"}}});
    let deep = crate::positions::nested(65);
    let tools = [
        tool("fine", &fine),
        tool("dangling", &dangling),
        tool("remote", &remote),
        tool("deep", &deep),
        tool("fine", &Value::Null),
        tool("", &fine),
        tool("null", &Value::Null),
    ];
    let lowered = lower_tools(ToolFormat::OpenAi, &tools);
    let names: Vec<_> = lowered.tools.iter().map(|t| t["function"]["name"].clone()).collect();
    assert_eq!(names, ["fine", "null"]);
    let reasons: Vec<_> =
        lowered.quarantined.iter().map(|q| format!("{}: {}", q.name, q.reason)).collect();
    assert_eq!(
        reasons,
        [
            r##"dangling: the schema refers to "#/$defs/A", which it does not contain"##,
            r#"remote: the schema refers to "http://127.0.0.1/a", which it does not contain"#,
            "deep: the schema nests deeper than 64 levels",
            "fine: a tool of this name is already listed",
            ": the tool has no name",
        ]
    );
}

#[test]
fn particulars() {
    let marker = json!({"type": "ephemeral"});
    let schema = json!({"type": "object", "properties": {"a b": {"type": "string"}}});
    let marked = ToolDef { cache_control: Some(&marker), ..tool("t", &schema) };
    let lowered = lower_tools(ToolFormat::Anthropic, &[marked]);
    assert_eq!(lowered.tools[0]["cache_control"], marker);
    assert_eq!(lowered.renames["t"].registered("a_b"), "a b");
    let lowered = lower_tools(ToolFormat::OpenAi, &[marked]);
    assert_eq!(lowered.tools[0].get("cache_control"), None);
    let lowered = lower_tools(ToolFormat::Gemini, &[tool("t", &Value::Null)]);
    assert_eq!(lowered.tools, [json!({"name": "t", "description": "d"})]);
}
