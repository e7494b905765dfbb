//! OpenAI Chat Completions: the repaired schema is what it wants.

use serde_json::{Value, json};

use super::{ToolDef, named};

/// The tool in the Chat Completions shape.
pub(super) fn wire(tool: &ToolDef<'_>, parameters: Value) -> Value {
    let mut function = named(tool);
    function.insert("parameters".to_owned(), parameters);
    json!({"type": "function", "function": function})
}
