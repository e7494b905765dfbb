//! `hermes hooks test`: running hooks with made-up events.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use hermes_exec::program::Finished;
use hermes_hooks::shell::{Answer, Configured, Consent, ShellHooks};
use hermes_hooks::{Event, Hook as _, HookEvent, Reply};
use serde_json::{Map, Value, json};

use super::hooks::{event, to_value};
use crate::cli::HooksTest;
use crate::consent;
use crate::exit::{Ended, Exit, Failure};
use crate::host::working_directory;
use crate::interrupt::Interrupt;
use crate::output::{Output, Ui};
use crate::preview::{cut, one_line};
use crate::style::{BAD, BOLD, DIM, GOOD, WARN};

/// Lines shown of what a hook wrote.
const LINES: usize = 20;

/// Runs the hooks that match and prints what each answers. Fails if one of them does, or could
/// not be run.
pub(super) fn run(
    hooks: &mut ShellHooks,
    accepts_all: bool,
    asked: &HooksTest,
    ui: &mut Ui,
) -> Ended {
    let kind = event(&asked.event)?;
    let args: Value = serde_json::from_str(&asked.args)
        .map_err(|error| Failure::usage(format!("--args: {error}")))?;
    if !args.is_object() {
        return Err(Failure::usage("--args must be a JSON object"));
    }
    let event = made_up(kind, &asked.tool, &args, &working_directory(None)?);
    for warning in &hooks.warnings {
        ui.warn(warning);
    }
    let wanted = |hook: &Configured| {
        hook.spec.event == kind
            && asked.command.as_deref().is_none_or(|command| hook.spec.command == command.trim())
    };
    if asked.command.is_some() && !hooks.configured.iter().any(wanted) {
        return Err(Failure::usage("no hook of this event has this command"));
    }
    let chosen: Vec<Configured> = hooks
        .configured
        .iter()
        .filter(|hook| wanted(hook) && hooks.hook(hook).matches(&event))
        .cloned()
        .collect();
    let can_ask = io::stdin().is_terminal() && ui.status.is_terminal();
    let mut rows = Vec::new();
    let mut failed = false;
    for hook in &chosen {
        let may_run = accepts_all
            || hook.consent == Consent::Approved
            || can_ask && consent::ask(hook, "Run it this once?", ui);
        let answer = if may_run {
            let hook = hooks.hook(hook);
            Some(Interrupt::new().run_or_drop(hook.answer(&event))?)
        } else {
            None
        };
        failed |= answer.as_ref().is_none_or(|answer| answer.reply.is_err());
        if asked.json.json {
            rows.push(report(hook, answer.as_ref()));
        } else {
            write(hook, answer.as_ref(), &mut ui.out)?;
        }
    }
    if asked.json.json {
        ui.out.json(&Value::Array(rows))?;
    } else if chosen.is_empty() && !ui.quiet {
        writeln!(ui.out, "{DIM}no hook matches{DIM:#}")?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Success })
}

/// An event as it could have happened.
pub(super) fn made_up(kind: HookEvent, tool: &str, args: &Value, cwd: &Path) -> Event {
    let mut payload = json!({
        "session_id": "test-session",
        "task_id": "test-task",
        "turn_id": "test-turn",
    });
    let more = match kind {
        HookEvent::PreToolCall => json!({"tool_name": tool, "args": args, "tool_call_id": "test"}),
        HookEvent::PostToolCall => json!({
            "tool_name": tool, "args": args, "tool_call_id": "test", "result": "{\"ok\": true}",
            "duration_ms": 12, "status": "ok", "error_type": null, "error_message": null,
        }),
        HookEvent::TransformToolResult => json!({
            "tool_name": tool, "args": args, "tool_call_id": "test", "result": "{\"ok\": true}",
        }),
        HookEvent::TransformTerminalOutput => json!({
            "command": "echo hello", "output": "hello\n", "returncode": 0, "env_type": "local",
        }),
        HookEvent::PreLlmCall | HookEvent::PostLlmCall => json!({
            "user_message": "hello", "assistant_response": "hello", "conversation_history": [],
            "is_first_turn": true, "model": "test-model", "platform": "cli",
        }),
        HookEvent::TransformLlmOutput => json!({
            "response_text": "hello", "model": "test-model", "platform": "cli",
        }),
        HookEvent::PreVerify => json!({
            "coding": true, "attempt": 0, "final_response": "done", "changed_paths": ["src/a.rs"],
            "model": "test-model", "platform": "cli",
        }),
        HookEvent::SubagentStart | HookEvent::SubagentStop => json!({
            "parent_session_id": "test-session", "child_session_id": "test-child",
            "child_role": "worker", "child_goal": "test", "child_status": "ok",
        }),
        HookEvent::PreApprovalRequest | HookEvent::PostApprovalResponse => json!({
            "command": "rm -r build", "description": "deletes a folder", "surface": "cli",
            "choice": "once",
        }),
        _ => json!({"model": "test-model", "platform": "cli"}),
    };
    if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
        payload.extend(more);
    }
    let payload = match payload {
        Value::Object(payload) => payload,
        _ => Map::new(),
    };
    Event::new(kind, payload, cwd)
}

fn report(hook: &Configured, answer: Option<&Answer>) -> Value {
    let finished = answer.and_then(|answer| answer.finished.as_ref());
    let of = |read: fn(&Finished) -> String| finished.map(read);
    let more = json!({
        "ran": finished.is_some(),
        "ended": of(|finished| finished.ended.to_string()),
        "stdout": of(|finished| finished.stdout.text().into_owned()),
        "stderr": of(|finished| finished.stderr.text().into_owned()),
        "seconds": answer.map(|answer| answer.took.as_secs_f64()),
        "reply": answer.and_then(|answer| answer.reply.as_ref().ok()).map(described),
        "error": match answer.map(|answer| &answer.reply) {
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(error.0.as_str()),
            None => Some("not run, since it is not approved"),
        },
    });
    let mut row = to_value(hook);
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    row
}

fn described(reply: &Reply) -> Value {
    match reply {
        Reply::Block { message } => json!({"verdict": "block", "message": message}),
        Reply::Approve { message, rule_key } => {
            json!({"verdict": "approve", "message": message, "rule_key": rule_key})
        }
        Reply::Modify { args } => json!({"verdict": "modify", "args": args}),
        Reply::Context { text } => json!({"verdict": "context", "message": text}),
        Reply::Continue { message } => json!({"verdict": "continue", "message": message}),
        Reply::Replace { text } => json!({"verdict": "replace", "message": text}),
        _ => json!({"verdict": "none"}),
    }
}

fn write(hook: &Configured, answer: Option<&Answer>, out: &mut Output) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", one_line(&hook.spec.command))?;
    let Some(answer) = answer else {
        return writeln!(
            out,
            "  {WARN}not run{WARN:#}: it is not approved (--accept-hooks runs it)"
        );
    };
    if let Some(finished) = &answer.finished {
        let seconds = answer.took.as_secs_f64();
        writeln!(out, "  {} {DIM}after {seconds:.2} s{DIM:#}", finished.ended)?;
    }
    match &answer.reply {
        Ok(Reply::Nothing) => writeln!(out, "  {GOOD}reply{GOOD:#}   none")?,
        Ok(reply) => {
            let reply = one_line(&described(reply).to_string());
            writeln!(out, "  {GOOD}reply{GOOD:#}   {reply}")?;
        }
        Err(error) => writeln!(out, "  {BAD}failed{BAD:#}  {}", one_line(&error.0))?,
    }
    let Some(finished) = &answer.finished else { return Ok(()) };
    for (name, output) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
        let text = output.text();
        for (number, line) in text.lines().enumerate() {
            if number == LINES {
                writeln!(out, "          {DIM}…{DIM:#}")?;
                break;
            }
            let name = if number == 0 { name } else { "" };
            let line = cut(&one_line(line), out.width().map_or(200, |it| it.saturating_sub(10)));
            writeln!(out, "  {DIM}{name:<7}{DIM:#} {line}")?;
        }
    }
    Ok(())
}
