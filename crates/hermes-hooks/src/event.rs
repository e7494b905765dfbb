//! What hooks are told of.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Goes with every payload, so that a hook can tell which keys to expect.
pub const OBSERVER_SCHEMA: &str = "hermes.observer.v1";

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What can be listened to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum HookEvent {
            $($(#[$doc])* $variant,)*
        }

        impl HookEvent {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in configuration and payloads, e.g. `pre_tool_call`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

events! {
    /// Before a tool runs: may block, ask, or change the arguments.
    PreToolCall = "pre_tool_call",
    /// After a call has its result, whatever it is.
    PostToolCall = "post_tool_call",
    /// May replace a result before the model sees it.
    TransformToolResult = "transform_tool_result",
    /// May replace a command's output before it is cut to size.
    TransformTerminalOutput = "transform_terminal_output",
    /// Before the first request of a turn: may add context to the user's message.
    PreLlmCall = "pre_llm_call",
    /// After the model's last answer of a turn.
    PostLlmCall = "post_llm_call",
    /// May replace the model's last answer.
    TransformLlmOutput = "transform_llm_output",
    /// Before a turn ends: may keep it going.
    PreVerify = "pre_verify",
    /// Before a request to a model provider.
    PreApiRequest = "pre_api_request",
    /// After a provider answered.
    PostApiRequest = "post_api_request",
    /// After a request to a provider failed.
    ApiRequestError = "api_request_error",
    /// A session began.
    OnSessionStart = "on_session_start",
    /// A turn of a session ended.
    OnSessionEnd = "on_session_end",
    /// A session is being closed for good.
    OnSessionFinalize = "on_session_finalize",
    /// A session was emptied.
    OnSessionReset = "on_session_reset",
    /// A sub-agent began.
    SubagentStart = "subagent_start",
    /// A sub-agent ended.
    SubagentStop = "subagent_stop",
    /// A message arrived at a gateway: may be skipped or rewritten.
    PreGatewayDispatch = "pre_gateway_dispatch",
    /// A person is about to be asked.
    PreApprovalRequest = "pre_approval_request",
    /// A person answered, or nobody did.
    PostApprovalResponse = "post_approval_response",
    /// A task of a board was taken.
    KanbanTaskClaimed = "kanban_task_claimed",
    /// A task of a board was finished.
    KanbanTaskCompleted = "kanban_task_completed",
    /// A task of a board can't go on.
    KanbanTaskBlocked = "kanban_task_blocked",
}

impl HookEvent {
    /// The event of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.as_str() == name)
    }

    /// Whether it is about a tool, so that a matcher on the tool's name makes sense.
    pub const fn is_about_a_tool(self) -> bool {
        matches!(self, Self::PreToolCall | Self::PostToolCall)
    }

    /// Its bit in a set of events.
    pub(crate) const fn bit(self) -> u32 {
        1 << (self as u32)
    }
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something that happened, with all that hooks are told of it.
#[derive(Clone, Debug)]
pub struct Event {
    kind: HookEvent,
    payload: Map<String, Value>,
    cwd: PathBuf,
}

impl Event {
    /// An event with the keys of `payload`, in an agent that works in `cwd`.
    pub fn new(kind: HookEvent, mut payload: Map<String, Value>, cwd: impl Into<PathBuf>) -> Self {
        payload.insert("telemetry_schema_version".to_owned(), OBSERVER_SCHEMA.into());
        Self { kind, payload, cwd: cwd.into() }
    }

    /// What happened.
    pub fn kind(&self) -> HookEvent {
        self.kind
    }

    /// All keys.
    pub fn payload(&self) -> &Map<String, Value> {
        &self.payload
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.payload.get(key)
    }

    /// The text under `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// The tool it is about.
    pub fn tool(&self) -> Option<&str> {
        self.text("tool_name")
    }

    /// The agent's working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The same event with another value under `key`.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.payload.insert(key.to_owned(), value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::from_name(event.as_str()), Some(*event));
        }
        assert!(HookEvent::ALL.len() <= 32, "a set of events has 32 bits");
    }
}
