//! A tool call as it comes in, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use hermes_registry::{ErrorKind, ToolError, ToolOutput};
use serde_json::{Value, json};

/// A call as a model, an editor or a script makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: String,
    /// The tool, as the caller spelled it.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
}

/// Arguments as they come in.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// JSON text, as models send it.
    Text(String),
    /// A decoded value.
    Value(Value),
}

impl ToolCall {
    /// A call with decoded arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: Arguments::Value(arguments) }
    }

    /// A call with arguments as JSON text.
    pub fn from_text(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self { id: id.into(), name: name.into(), arguments: Arguments::Text(arguments.into()) }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallStatus {
    /// The tool ran and succeeded.
    Ok,
    /// The tool ran and failed, or couldn't be started.
    Error,
    /// A gate refused the call.
    Blocked,
    /// The call was interrupted.
    Cancelled,
    /// The call took too long.
    Timeout,
}

impl CallStatus {
    /// The status in logs and machine output, e.g. `ok`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
        }
    }
}

/// What a call that didn't succeed may have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The tool never ran.
    None,
    /// The tool was given up while it ran.
    Unknown,
    /// The tool ran to its end.
    Ran,
}

/// What came of a call. Every call has exactly one outcome.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallOutcome {
    /// The id of the call.
    pub id: String,
    /// The name as the caller spelled it; results are paired under this one.
    pub called: String,
    /// The tool that ran, behind repaired names and bridges; none if there is no such tool.
    pub tool: Option<Arc<str>>,
    /// How the call ended.
    pub status: CallStatus,
    /// What a failed call may have done.
    pub effect: Effect,
    /// The tool's output, or why there is none.
    pub result: Result<ToolOutput, ToolError>,
    /// From the call's arrival to its result.
    pub duration: Duration,
}

impl CallOutcome {
    /// Whether the tool succeeded.
    pub fn is_ok(&self) -> bool {
        self.result.is_ok()
    }

    /// The sort of failure, if it is one.
    pub fn error_kind(&self) -> Option<ErrorKind> {
        self.result.as_ref().err().map(ToolError::kind)
    }

    /// What the model sees: text, or a list of parts.
    pub fn content(&self) -> Value {
        match &self.result {
            Ok(output) => output.to_content(),
            Err(error) => Value::String(error.to_value().to_string()),
        }
    }

    /// The tool message that answers the call.
    pub fn to_message(&self) -> Value {
        let mut message = json!({
            "role": "tool",
            "name": self.called,
            "tool_name": self.called,
            "tool_call_id": self.id,
            "content": self.content(),
        });
        let effect = match self.effect {
            Effect::Ran => return message,
            Effect::None => "none",
            Effect::Unknown => "unknown",
        };
        if let Some(object) = message.as_object_mut() {
            object.insert("effect_disposition".to_owned(), effect.into());
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_pairs_with_its_call_and_says_what_never_ran() {
        let outcome = CallOutcome {
            id: "c1".into(),
            called: "Read_File".into(),
            tool: Some("read_file".into()),
            status: CallStatus::Error,
            effect: Effect::None,
            result: Err(ToolError::not_found("no such file")),
            duration: Duration::ZERO,
        };
        assert_eq!(
            outcome.to_message(),
            json!({
                "role": "tool", "name": "Read_File", "tool_name": "Read_File",
                "tool_call_id": "c1", "content": r#"{"error":"no such file"}"#,
                "effect_disposition": "none",
            })
        );
    }
}
