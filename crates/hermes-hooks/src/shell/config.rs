//! The `hooks` section of `config.yaml`.

use std::time::Duration;

use serde_json::Value;

use super::matcher::Matcher;
use super::slips;
use crate::event::HookEvent;
use crate::hook::OnError;

/// Seconds a hook may take when nothing else is said.
const DEFAULT_TIMEOUT: u64 = 60;

/// Seconds a hook may take at most.
const MAX_TIMEOUT: u64 = 300;

/// What stands in the section without being an event.
const RESERVED: &str = "output_spill";

/// What an entry may say.
const KEYS: [&str; 4] = ["command", "matcher", "timeout", "on_error"];

/// A program that somebody wants to be told of an event.
#[derive(Clone, Debug)]
pub struct ShellHookSpec {
    /// The event.
    pub event: HookEvent,
    /// The command, as it was written.
    pub command: String,
    /// The tools it is about; none means all.
    pub matcher: Option<Matcher>,
    /// How long it may take.
    pub timeout: Duration,
    /// What its failure means for a call.
    pub on_error: OnError,
}

impl ShellHookSpec {
    /// Whether both are the same hook: equal in event, matcher and command.
    pub fn is_same(&self, other: &Self) -> bool {
        let matcher =
            |spec: &Self| spec.matcher.as_ref().map(|matcher| matcher.as_str().to_owned());
        self.event == other.event
            && self.command == other.command
            && matcher(self) == matcher(other)
    }

    /// Whether it is about a call of this tool. A matcher that is no pattern can't tell; a hook
    /// whose failure blocks then rather looks at every tool.
    pub fn fits(&self, tool: Option<&str>) -> bool {
        match (&self.matcher, tool) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(matcher), Some(tool)) => {
                !matcher.is_valid() && self.on_error == OnError::Block || matcher.fits(tool)
            }
        }
    }
}

/// What a `hooks` section says.
#[derive(Clone, Debug, Default)]
pub struct HooksConfig {
    /// The hooks in the order of the file.
    pub hooks: Vec<ShellHookSpec>,
    /// What is wrong with the section, a line each. What is wrong is left out.
    pub warnings: Vec<String>,
}

/// Reads a `hooks` section. A mistake costs the entry it is in, nothing else.
pub fn parse_hooks_config(section: &Value) -> HooksConfig {
    let mut config = HooksConfig::default();
    let events = match section {
        Value::Object(events) => events,
        Value::Null => return config,
        _ => {
            config.warnings.push("hooks: must be a mapping of events".to_owned());
            return config;
        }
    };
    for (name, entries) in events {
        if name == RESERVED {
            continue;
        }
        let Some(event) = HookEvent::from_name(name) else {
            config.warnings.push(unknown_event(name));
            continue;
        };
        match entries {
            Value::Null => {}
            Value::Array(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    let place = format!("hooks.{event}[{index}]");
                    match parse_entry(event, entry, &place, &mut config.warnings) {
                        Ok(spec) => config.hooks.push(spec),
                        Err(why) => config.warnings.push(format!("{place}: {why}; skipped")),
                    }
                }
            }
            _ => config.warnings.push(format!("hooks.{event}: must be a list; skipped")),
        }
    }
    config
}

fn unknown_event(name: &str) -> String {
    let nearest = slips::nearest(name, HookEvent::ALL.iter().map(|event| event.as_str()));
    let name = slips::shown(name);
    match nearest {
        Some(known) => {
            format!("hooks.{name}: there is no such event, did you mean `{known}`? skipped")
        }
        None => format!("hooks.{name}: there is no such event; skipped"),
    }
}

fn parse_entry(
    event: HookEvent,
    entry: &Value,
    place: &str,
    warnings: &mut Vec<String>,
) -> Result<ShellHookSpec, &'static str> {
    let entry = entry.as_object().ok_or("must be a mapping with a command")?;
    // Null is as good as not there, as everywhere in the configuration.
    let given = |key: &str| entry.get(key).filter(|value| !value.is_null());
    let mut warn = |what: &str| warnings.push(format!("{place}: {what}"));
    let mut is_misspelt = false;
    for key in entry.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let nearest = slips::nearest(key, KEYS.into_iter());
        let is_on_error = nearest == Some("on_error") || slips::may_be_on_error(key);
        let hint = match nearest.or(is_on_error.then_some("on_error")) {
            Some(known) => format!("; did you mean `{known}`?"),
            None => String::new(),
        };
        let is_taken = is_on_error && given(key).is_some();
        is_misspelt |= is_taken;
        let taken = if is_taken { " `on_error: block` is taken" } else { "" };
        warn(&format!("there is no key `{}`{hint}{taken}", slips::shown(key)));
    }
    let command = entry.get("command").and_then(Value::as_str).map(str::trim);
    let command = command.filter(|command| !command.is_empty()).ok_or("has no command")?;
    let on_error = match given("on_error").map(|value| value.as_str().unwrap_or_default().trim()) {
        // Whoever says something here hardly means the default, and blocking is what is safe.
        None | Some("allow") if is_misspelt => OnError::Block,
        None | Some("allow") => OnError::Allow,
        Some("block") => OnError::Block,
        Some(_) => {
            warn("on_error must be `allow` or `block`; `block` is taken");
            OnError::Block
        }
    };
    let matcher = match given("matcher") {
        None => None,
        Some(Value::String(text)) => Matcher::new(text),
        Some(_) => {
            warn("the matcher must be a text; it is ignored, so the hook is about every tool");
            None
        }
    };
    let matcher = matcher.filter(|_| {
        let is_about_a_tool = event.is_about_a_tool();
        if !is_about_a_tool {
            warn("the event is about no tool; the matcher is ignored");
        }
        is_about_a_tool
    });
    if let Some(matcher) = matcher.as_ref().filter(|matcher| !matcher.is_valid()) {
        let instead = match on_error {
            OnError::Allow => "only a tool of exactly this name fits",
            OnError::Block => "every tool fits",
        };
        let text = slips::shown(matcher.as_str());
        warn(&format!("the matcher is no valid pattern, so {instead}: {text}"));
    }
    let timeout = given("timeout").map_or(Ok(DEFAULT_TIMEOUT), parse_timeout);
    let timeout = timeout.unwrap_or_else(|instead| {
        warn(&format!("the timeout must be 1 to {MAX_TIMEOUT} seconds; {instead} are taken"));
        instead
    });
    let timeout = Duration::from_secs(timeout);
    Ok(ShellHookSpec { event, command: command.to_owned(), matcher, timeout, on_error })
}

/// The seconds, or those to take instead of what can't be meant.
fn parse_timeout(value: &Value) -> Result<u64, u64> {
    let seconds = match value {
        Value::Number(number) => match number.as_f64() {
            Some(seconds) if seconds.fract() == 0.0 => seconds,
            _ => return Err(DEFAULT_TIMEOUT),
        },
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(seconds) => seconds as f64,
            Err(_) => return Err(DEFAULT_TIMEOUT),
        },
        _ => return Err(DEFAULT_TIMEOUT),
    };
    if seconds < 1.0 {
        Err(DEFAULT_TIMEOUT)
    } else if seconds > MAX_TIMEOUT as f64 {
        Err(MAX_TIMEOUT)
    } else {
        Ok(seconds as u64)
    }
}

#[cfg(test)]
mod tests;
