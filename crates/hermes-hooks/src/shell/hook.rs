//! A program as a hook.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_exec::program::{Finished, Program};
use hermes_registry::Settings;
use serde_json::{Map, Value, json};

use super::config::ShellHookSpec;
use super::response::interpret;
use super::script::Script;
use crate::event::{Event, HookEvent};
use crate::hook::{Hook, HookError, HookFuture, OnError, Reply};

/// Time beyond a program's own limit, in which it is ended with everything it started.
const TO_END: Duration = Duration::from_secs(5);

/// Keys of an event that a program finds under names of their own, beside `extra`.
const NAMED: &[&str] = &["tool_name", "args", "session_id", "parent_session_id"];

/// A program of the user's that is told of events.
///
/// Whether it may run at all isn't asked here: see [`ShellHooks`](super::ShellHooks). It runs only
/// as long as its files are those it was made with.
#[derive(Clone, Debug)]
pub struct ShellHook {
    spec: ShellHookSpec,
    script: Script,
    settings: Settings,
    name: String,
    /// Why it must not run.
    refusal: Option<String>,
}

/// A program's answer with everything that led to it.
#[derive(Debug)]
pub struct Answer {
    /// What it wrote and how it ended; none if it was never started.
    pub finished: Option<Finished>,
    /// How long it took.
    pub took: Duration,
    /// What that means.
    pub reply: Result<Reply, HookError>,
}

impl ShellHook {
    /// A hook that runs `script`, with the environment of `settings`.
    pub fn new(spec: ShellHookSpec, script: Script, settings: Settings) -> Self {
        let about = spec.matcher.as_ref().map(|matcher| format!(" for {}", matcher.as_str()));
        let name = format!("{}{}: {}", spec.event, about.unwrap_or_default(), spec.command);
        Self { spec, script, settings, name, refusal: None }
    }

    /// The same hook, which fails for this reason at every event instead of running.
    #[must_use]
    pub(super) fn refused(mut self, why: String) -> Self {
        self.refusal = Some(why);
        self
    }

    /// Runs the program, whether or not the event matches.
    pub async fn answer(&self, event: &Event) -> Answer {
        let started = Instant::now();
        let run = self.start(event).await;
        let took = started.elapsed();
        match run {
            Ok(finished) => {
                let reply = interpret(self.spec.event, self.spec.on_error, &finished);
                Answer { finished: Some(finished), took, reply }
            }
            Err(error) => Answer { finished: None, took, reply: Err(error) },
        }
    }

    async fn start(&self, event: &Event) -> Result<Finished, HookError> {
        if let Some(why) = &self.refusal {
            return Err(HookError(why.clone()));
        }
        // Even if it could be run by now: nobody agreed to a program that wasn't there.
        if let Some(problem) = self.script.problem() {
            return Err(HookError(problem.to_owned()));
        }
        if !self.script.is_unchanged() {
            return Err(HookError("it was changed since it was approved".to_owned()));
        }
        Program::new(self.script.words())
            .cwd(event.cwd())
            .env(self.settings.envs())
            .stdin(payload(event).to_string())
            .timeout(self.spec.timeout)
            .run()
            .await
            .map_err(|error| HookError(error.to_string()))
    }
}

/// The event as a program gets it.
fn payload(event: &Event) -> Value {
    let extra: Map<String, Value> = event
        .payload()
        .iter()
        .filter(|(key, _)| !NAMED.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let filled = |key: &str| event.text(key).filter(|text| !text.is_empty());
    json!({
        "hook_event_name": event.kind().as_str(),
        "tool_name": event.get("tool_name"),
        "tool_input": event.get("args").filter(|args| args.is_object()),
        "session_id": filled("session_id").or(filled("parent_session_id")).unwrap_or_default(),
        "cwd": event.cwd().to_string_lossy(),
        "extra": extra,
    })
}

impl Hook for ShellHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn listens(&self, event: HookEvent) -> bool {
        event == self.spec.event
    }

    fn matches(&self, event: &Event) -> bool {
        self.spec.fits(event.tool())
    }

    fn timeout(&self) -> Duration {
        self.spec.timeout + TO_END
    }

    fn on_error(&self) -> OnError {
        self.spec.on_error
    }

    fn run(&self, event: Arc<Event>) -> HookFuture {
        let hook = self.clone();
        Box::pin(async move { hook.answer(&event).await.reply })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_program_is_told_everything_once() {
        let fields = json!({
            "tool_name": "t", "args": {"a": 1}, "session_id": "", "parent_session_id": "p",
            "task_id": "x", "n": [1],
        });
        let Value::Object(fields) = fields else { panic!() };
        let event = Event::new(HookEvent::PreToolCall, fields, "/w");
        let expected = json!({
            "hook_event_name": "pre_tool_call", "tool_name": "t", "tool_input": {"a": 1},
            "session_id": "p", "cwd": "/w",
            "extra": {"task_id": "x", "n": [1], "telemetry_schema_version": "hermes.observer.v1"},
        });
        assert_eq!(payload(&event), expected);
        let event = Event::new(HookEvent::OnSessionStart, Map::new(), "/w").with("args", json!([]));
        let payload = payload(&event);
        assert_eq!((&payload["tool_name"], &payload["tool_input"]), (&Value::Null, &Value::Null));
        assert_eq!(payload["session_id"], "");
    }
}
