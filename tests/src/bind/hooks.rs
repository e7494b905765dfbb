//! Hooks: what programs and plugins answer, and which of them are asked.

use hermes_hooks::shell::{
    Matcher, SpillSettings, Spilled, parse_hooks_config, parse_stdout, spill,
};
use hermes_hooks::{HookEvent, Reply, Verdict, merge};
use hermes_registry::Settings;
use serde_json::{Value, json};

use super::{Binding, list, text};
use crate::compare;

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("hook_matcher", Binding::Actual(hook_matcher)),
    ("hook_spill", Binding::Actual(hook_spill)),
    ("parse_hooks_config", Binding::Actual(parse_config)),
    ("pre_tool_verdict", Binding::Checked(pre_tool_verdict)),
    ("shell_hook_response", Binding::Checked(shell_hook_response)),
];

fn hook_matcher(input: &Value) -> Result<Value, String> {
    let matcher = input.get("matcher").and_then(Value::as_str).and_then(Matcher::new);
    let tool = input.get("tool").and_then(Value::as_str);
    let fires = matcher.is_none_or(|matcher| tool.is_some_and(|tool| matcher.fits(tool)));
    Ok(json!({"fires": fires}))
}

fn parse_config(input: &Value) -> Result<Value, String> {
    let config = parse_hooks_config(input.get("hooks").unwrap_or(&Value::Null));
    let hooks: Vec<Value> = config
        .hooks
        .iter()
        .map(|hook| {
            json!({
                "event": hook.event.as_str(),
                "command": hook.command,
                "matcher": hook.matcher.as_ref().map(Matcher::as_str),
                "timeout": hook.timeout.as_secs(),
            })
        })
        .collect();
    Ok(json!({"hooks": hooks}))
}

fn shell_hook_response(input: &Value, expect: &Value) -> Result<(), String> {
    let event = text(input, "event")?;
    let event = HookEvent::from_name(event).ok_or_else(|| format!("no event {event:?}"))?;
    let (verdict, message) = match parse_stdout(event, text(input, "stdout")?.as_bytes()) {
        Reply::Nothing => ("none", None),
        // A block without words gets them where the replies are put together.
        block @ Reply::Block { .. } => match merge([&block]) {
            Verdict::Block { message } => ("block", Some(message)),
            other => return Err(format!("a block that doesn't block: {other:?}")),
        },
        Reply::Approve { message, .. } => ("approve", message),
        Reply::Continue { message } => ("continue", Some(message)),
        Reply::Context { text } => ("context", Some(text)),
        Reply::Modify { .. } => ("modify", None),
        other => return Err(format!("a reply that no program can give: {other:?}")),
    };
    let expected = expect.as_object().ok_or("the expectation is no object")?;
    for (key, wanted) in expected {
        match key.as_str() {
            // Any text that isn't empty.
            "message" if wanted == "<default>" => {
                if message.as_deref().is_none_or(str::is_empty) {
                    return Err("there is no message".to_owned());
                }
            }
            "message" => compare::equal(key, wanted, Some(&json!(message)))?,
            "verdict" => compare::equal(key, wanted, Some(&json!(verdict)))?,
            _ => return Err(format!("unknown expectation {key:?}")),
        }
    }
    Ok(())
}

fn pre_tool_verdict(input: &Value, expect: &Value) -> Result<(), String> {
    let returns = list(input, "returns")?;
    let replies: Vec<Reply> =
        returns.iter().map(|value| Reply::from_value(HookEvent::PreToolCall, value)).collect();
    let mut actual = match merge(&replies) {
        Verdict::Go => json!({"blocked": false, "asked_human": false}),
        Verdict::Block { message } => {
            json!({"blocked": true, "asked_human": false, "message": message})
        }
        Verdict::Ask { message, rule_key } => {
            // A denial, a failing gate and a gate nobody answers block alike.
            let approved = input.get("gate").and_then(Value::as_str) == Some("approved");
            let mut asked = json!({"blocked": !approved, "asked_human": true, "message": message});
            if let Some(key) = rule_key {
                asked["rule_key"] = key.into();
            }
            asked
        }
    };
    // A case says of a missing key that it is null.
    if let (Some(Value::Null), Some(actual)) = (expect.get("rule_key"), actual.as_object_mut()) {
        actual.entry("rule_key").or_insert(Value::Null);
    }
    compare::keys(expect, &actual)
}

fn hook_spill(input: &Value) -> Result<Value, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let settings = SpillSettings::of(&Settings::new(home.path()));
    let session = input.get("session_id").and_then(Value::as_str).unwrap_or_default();
    let whole = long_text(input.get("text").unwrap_or(&Value::Null))?;
    match spill(whole.clone(), session, &settings) {
        Spilled::Whole(_) => Ok(json!({"spilled": false})),
        Spilled::Cut { text, file } => {
            let file = file.ok_or("nothing was stored")?;
            let resolved = |path: &std::path::Path| {
                path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))
            };
            if !resolved(&file)?.starts_with(resolved(&home.path().join("hook_outputs"))?) {
                return Err(format!("{} is elsewhere", file.display()));
            }
            if std::fs::read_to_string(&file).map_err(|error| error.to_string())? != whole {
                return Err("the file doesn't hold the whole text".to_owned());
            }
            if text.chars().count() >= whole.chars().count() {
                return Err("the preview is longer than the text".to_owned());
            }
            Ok(json!({"spilled": true}))
        }
    }
}

/// A text, perhaps written as a list of texts that are repeated.
fn long_text(value: &Value) -> Result<String, String> {
    let parts = match value {
        Value::String(text) => return Ok(text.clone()),
        Value::Array(parts) => parts,
        other => return Err(format!("no text: {other}")),
    };
    let part = |part: &Value| -> Result<String, String> {
        let times = part.get("n").and_then(Value::as_u64).unwrap_or(1);
        let times = usize::try_from(times).map_err(|error| error.to_string())?;
        Ok(text(part, "s")?.repeat(times))
    };
    parts.iter().map(part).collect()
}
