//! A tool call as it comes in, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use hermes_guard::threats::Risk;
use hermes_registry::{ErrorKind, Part, ToolError, ToolOutput, ToolResult};
use hermes_turn::framing;
use serde_json::{Value, json};

use crate::gates::Decision;

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
    /// The same call was made before in the turn, so this one was not run.
    Skipped,
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
            Self::Skipped => "skipped",
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
    /// Whether the result reports a failure, as a command with a non-zero exit code does.
    pub failed: bool,
    /// What sort of failure it was, e.g. `guardrail_block`.
    pub error_type: Option<&'static str>,
    /// The tool's output, or why there is none. What took the place of a result that was too long
    /// or that a hook replaced is text.
    pub result: ToolResult,
    /// What is said to the model after the result, a note per line.
    pub notes: Vec<String>,
    /// The source that the result is attributed to, if it holds words of third parties.
    pub frame: Option<Arc<str>>,
    /// What in the words of third parties looks like instructions to the model.
    pub risk: Option<Risk>,
    /// Where the whole result is, if it was too long.
    pub stored: Option<String>,
    /// What the gates decided: all of it where the session traces, else what made a difference.
    pub decisions: Vec<Decision>,
    /// From the call's arrival to its result.
    pub duration: Duration,
    /// Whether images are passed on; else their summary stands in.
    pub(crate) images: bool,
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

    /// What the model sees: text, or a list of parts. Words of third parties are framed as data;
    /// notes come after the frame.
    pub fn content(&self) -> Value {
        if let Ok(ToolOutput::Multimodal { parts, .. }) = &self.result
            && self.images
        {
            return self.parts(parts);
        }
        let mut text = self.framed(result_text(&self.result));
        for note in &self.notes {
            text.push_str("\n\n");
            text.push_str(note);
        }
        Value::String(text)
    }

    fn parts(&self, parts: &[Part]) -> Value {
        let text = |text: String| json!({"type": "text", "text": text});
        let shown = parts.iter().map(|part| match part {
            Part::Image { url } => json!({"type": "image_url", "image_url": {"url": url}}),
            Part::Text(words) => text(self.framed(words.clone())),
            other => text(format!("[a part that can't be shown: {other:?}]")),
        });
        shown.chain(self.notes.iter().map(|note| text(note.clone()))).collect()
    }

    fn framed(&self, text: String) -> String {
        match &self.frame {
            Some(source) => framing::frame(source, &text).unwrap_or(text),
            None => text,
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
        let Some(object) = message.as_object_mut() else { return message };
        if let Some(risk) = &self.risk {
            object.insert("_tool_output_risk".to_owned(), risk.to_value());
        }
        let effect = match self.effect {
            Effect::Ran => return message,
            Effect::None => "none",
            Effect::Unknown => "unknown",
        };
        object.insert("effect_disposition".to_owned(), effect.into());
        message
    }
}

/// A result as text, images left out.
pub(crate) fn result_text(result: &ToolResult) -> String {
    match result {
        Ok(output) => output.to_text(),
        Err(error) => error.to_value().to_string(),
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
            failed: true,
            error_type: None,
            result: Err(ToolError::not_found("no such file")),
            notes: Vec::new(),
            frame: None,
            risk: None,
            stored: None,
            decisions: Vec::new(),
            duration: Duration::ZERO,
            images: true,
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
