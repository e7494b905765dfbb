//! The arguments of `terminal`.

use std::collections::BTreeMap;

use hermes_registry::{Overrides, SchemaContext, ToolError, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// What is accepted: more than what is asked for, since a call with a slip in it should be told
/// what is wrong in the form of a result.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// The command, for bash.
    #[serde(default)]
    pub(crate) command: Value,
    /// Whether it goes on beside the conversation.
    #[serde(default)]
    pub(crate) background: bool,
    /// How long it may take.
    #[serde(default)]
    pub(crate) timeout: Option<f64>,
    /// Where it runs.
    #[serde(default)]
    pub(crate) workdir: Option<String>,
    /// Whether it runs on a terminal.
    #[serde(default)]
    pub(crate) pty: bool,
    /// Whether its end is told.
    #[serde(default)]
    pub(crate) notify_on_complete: bool,
    /// What is looked for in its output.
    #[serde(default)]
    pub(crate) watch_patterns: Option<Vec<String>>,
    /// What isn't known.
    #[serde(flatten)]
    #[schemars(skip)]
    pub(crate) other: BTreeMap<String, Value>,
}

/// What the model is asked for.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Shown {
    /// The command, for bash. It may have several lines.
    command: String,
    /// Run it beside the conversation and return at once with a session_id for the process tool.
    #[serde(default)]
    background: bool,
    /// Seconds after which a foreground command and all that it started are ended: SECONDS if not
    /// given, at most LARGEST.
    #[serde(default)]
    #[schemars(range(min = 1))]
    timeout: Option<i64>,
    /// The folder for this command; by default that of the session, which is where the last command
    /// ended.
    #[serde(default)]
    workdir: Option<String>,
    /// With background: run it on a terminal of 30 lines with 120 characters, for programs that ask
    /// questions or draw on the screen.
    #[serde(default)]
    pty: bool,
    /// With background: send a message when it ends.
    #[serde(default)]
    notify_on_complete: bool,
    /// With background: send a message when a line of its output holds one of these texts. They are
    /// plain texts, no regular expressions; use few, and only ones that come seldom.
    #[serde(default)]
    watch_patterns: Option<Vec<String>>,
}

/// The definition, with the limits of the configuration.
pub(crate) fn definition(cx: &SchemaContext<'_>) -> Result<Overrides, ToolError> {
    let config = hermes_exec_policy::config::TerminalConfig::of(cx.settings, "/".as_ref());
    let (seconds, largest) = config.map_or((180, 600), |config| {
        (config.timeout.as_secs(), config.max_foreground_timeout.as_secs())
    });
    let mut schema = schema_of::<Shown>();
    let timeout = schema.pointer_mut("/properties/timeout/description");
    if let Some(Value::String(text)) = timeout {
        *text =
            text.replace("SECONDS", &seconds.to_string()).replace("LARGEST", &largest.to_string());
    }
    Ok(Overrides::parameters(schema))
}

/// A list of texts, whether it was given as a list or as nothing; empty texts are dropped.
pub(crate) fn patterns(given: Option<&[String]>) -> Vec<String> {
    let given = given.unwrap_or_default().iter();
    given.filter(|pattern| !pattern.trim().is_empty()).cloned().collect()
}
