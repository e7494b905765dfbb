//! The tools `terminal` and `process`, run for real.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_environments::{Environments, Setup};
use hermes_processes::{Options, Processes, Recipient};
use hermes_registry::{
    CallIds, Invocation, Services, Settings, Surface, Tool, ToolContext, ToolOutput,
};
use hermes_tool_terminal::{LateMessages, Terminals, mask};
use hermes_tools::approvals::{Approvals, Forced};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use super::terminal::long;
use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] =
    &[("session", Binding::Checked(session)), ("background", Binding::Checked(background))];

/// What an interrupted command's output ends with.
const INTERRUPTED: &str = "[Command interrupted]";

/// A fresh environment in a scratch folder.
struct World {
    runtime: Runtime,
    terminals: Arc<Terminals>,
    context: ToolContext,
    /// The process that was started last.
    last: Option<String>,
    _dir: tempfile::TempDir,
}

impl World {
    fn new() -> Result<Self, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let path = dir.path().display().to_string();
        let home = dir.path().join("hermes");
        let settings = Settings::new(&home)
            .with_env([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", &path)])
            .with_config(json!({"approvals": {"mode": "off"}}));
        let environments = Environments::new(Setup::new(settings.clone(), dir.path()));
        let processes = Processes::new(Options {
            home: Some(home),
            mask: Arc::new(|command, text| mask(command, text).into_owned()),
            ..Options::default()
        });
        let terminals = Terminals::new(environments, processes);
        let gate = Approvals::builder(&settings).build();
        let services = gate.lend(terminals.lend(Services::new())).with(Arc::new(LateMessages));
        let context = ToolContext::new(dir.path())
            .with_ids(CallIds { task: "case".into(), session: "case".into(), ..CallIds::default() })
            .with_surface(Surface::Cli)
            .with_settings(settings)
            .with_services(services);
        Ok(Self { runtime, terminals, context, last: None, _dir: dir })
    }

    fn call(&self, tool: &str, args: Value, is_forced: bool) -> Result<Value, String> {
        let spec = hermes_tool_terminal::tools().iter().find(|spec| spec.name == tool);
        let spec = spec.ok_or_else(|| format!("no tool {tool}"))?;
        let mut context = self.context.clone();
        if is_forced {
            let services = self.terminals.lend(Services::new()).with(Arc::new(Forced));
            let gate = Approvals::builder(context.settings()).build();
            context = context.with_services(gate.lend(services));
        }
        let Invocation::Async(future) = Tool::linked(spec).start(args, context) else {
            return Err("the tool blocks".to_owned());
        };
        match self.runtime.block_on(future) {
            Ok(ToolOutput::Json(value)) => Ok(value),
            Ok(other) => Err(format!("no object: {other:?}")),
            Err(error) => Ok(error.to_value()),
        }
    }

    fn process(&mut self, step: &Value, action: &str) -> Result<Value, String> {
        let mut args = Map::new();
        args.insert("action".to_owned(), action.into());
        if step.get("omit_session").and_then(Value::as_bool) != Some(true) {
            let id = step.get("session_id").cloned().or_else(|| self.last.clone().map(Value::from));
            args.extend(id.map(|id| ("session_id".to_owned(), id)));
        }
        for key in ["data", "timeout", "offset", "limit", "rows", "cols"] {
            args.extend(step.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        self.call("process", args.into(), false)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.runtime.block_on(self.terminals.close());
    }
}

/// The arguments of a command step.
fn arguments(step: &Value, command: String) -> Value {
    let mut args = Map::new();
    args.insert("command".to_owned(), command.into());
    for key in ["workdir", "timeout", "pty", "notify_on_complete", "watch_patterns"] {
        args.extend(step.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    Value::Object(args)
}

fn session(input: &Value, expect: &Value) -> Result<(), String> {
    let world = World::new()?;
    let expected = list(expect, "steps")?;
    for (number, (step, expect)) in list(input, "steps")?.iter().zip(expected).enumerate() {
        let is_forced = step.get("skip_guards").and_then(Value::as_bool) == Some(true);
        let args = arguments(step, long(step, "command")?);
        let begin = Instant::now();
        let result = world.call("terminal", args, is_forced)?;
        let check = check(&result, expect, begin.elapsed());
        check.map_err(|fault| format!("step {}: {fault}: {}", number + 1, cut(&result)))?;
    }
    Ok(())
}

fn background(input: &Value, expect: &Value) -> Result<(), String> {
    let mut world = World::new()?;
    let expected = list(expect, "steps")?;
    for (number, (step, expect)) in list(input, "steps")?.iter().zip(expected).enumerate() {
        if let Some(seconds) = step.get("after").and_then(Value::as_f64) {
            std::thread::sleep(Duration::from_secs_f64(seconds));
        }
        let begin = Instant::now();
        let result = if step.get("spawn").is_some() {
            let mut args = arguments(step, text(step, "spawn")?.to_owned());
            if let Some(args) = args.as_object_mut() {
                args.insert("background".to_owned(), true.into());
            }
            let result = world.call("terminal", args, false)?;
            let id = result.get("session_id").and_then(Value::as_str);
            world.last = id.map(str::to_owned).or(world.last.take());
            result
        } else if step.get("foreground").is_some() {
            world.call("terminal", arguments(step, text(step, "foreground")?.to_owned()), false)?
        } else if step.get("drain").is_some() {
            let events = world.terminals.processes().drain(Recipient::All);
            json!({"types": events.iter().map(|it| it.kind.as_str()).collect::<Vec<_>>()})
        } else {
            world.process(step, text(step, "action")?)?
        };
        let check = check(&result, expect, begin.elapsed());
        check.map_err(|fault| format!("step {}: {fault}: {}", number + 1, cut(&result)))?;
    }
    Ok(())
}

fn cut(result: &Value) -> String {
    result.to_string().chars().take(600).collect()
}

/// Compares a result with what is expected of it.
fn check(result: &Value, expect: &Value, took: Duration) -> Result<(), String> {
    let output = ["output", "output_preview"].iter().find_map(|key| result.get(key)?.as_str());
    let output = output.unwrap_or_default();
    let trimmed = output.trim_end_matches('\n');
    let Some(expect) = expect.as_object() else { return Err("no expectation".to_owned()) };
    for (key, wanted) in expect {
        let words = || wanted.as_str().ok_or_else(|| format!("{key} is no text"));
        let flag = wanted.as_bool() == Some(true);
        let is_met = match key.as_str() {
            "output" => trimmed == words()?.trim_end_matches('\n'),
            "output_not" => trimmed != words()?.trim_end_matches('\n'),
            "output_contains" => match wanted {
                Value::Array(parts) => {
                    parts.iter().all(|part| part.as_str().is_some_and(|it| output.contains(it)))
                }
                _ => output.contains(words()?),
            },
            "output_not_empty" => output.is_empty() != flag,
            "starts_with" => output.starts_with(words()?),
            "last_line" => trimmed.lines().last().unwrap_or_default() == words()?,
            "lines" => Some(trimmed.lines().count() as u64) == wanted.as_u64(),
            "max_len" => wanted.as_u64().is_some_and(|it| output.chars().count() as u64 <= it),
            "max_seconds" => wanted.as_f64().is_some_and(|it| took.as_secs_f64() <= it),
            "exit_code_not" => result.get("exit_code") != Some(wanted),
            "has_note" => result.get("exit_code_meaning").is_some() == flag,
            "refused" => is_refused(result) == flag,
            "interrupted" => output.ends_with(INTERRUPTED) == flag,
            "error" if wanted.is_boolean() => {
                result.get("error").is_some_and(|it| !it.is_null()) == flag
            }
            "has" => list(&Value::Object(expect.clone()), "has")?
                .iter()
                .all(|key| key.as_str().is_some_and(|key| result.get(key).is_some())),
            "session_id_prefix" => {
                let id = result.get("session_id").and_then(Value::as_str);
                id.is_some_and(|id| id.starts_with(wanted.as_str().unwrap_or_default()))
            }
            "preview_no_escape" => !previews(result).any(|it| it.contains('\u{1b}')),
            _ => result.get(key) == Some(wanted),
        };
        if !is_met {
            return Err(format!("{key} is not as expected ({wanted})"));
        }
    }
    Ok(())
}

/// Whether nothing ran.
fn is_refused(result: &Value) -> bool {
    let has_error = result.get("error").and_then(Value::as_str).is_some_and(|it| !it.is_empty());
    has_error && result.get("exit_code").is_none_or(|code| code == -1)
}

/// All previews of a list.
fn previews(result: &Value) -> impl Iterator<Item = &str> {
    let processes = result.get("processes").and_then(Value::as_array).into_iter().flatten();
    processes.filter_map(|it| it.get("output_preview")?.as_str())
}
