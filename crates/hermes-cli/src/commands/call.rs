//! `hermes call`: one call through the pipeline.

use std::io::Read as _;
use std::sync::Arc;

use hermes_registry::{ErrorKind, Services};
use hermes_tools::{CallOutcome, CallStatus, DryRun, Effect, Gate, ToolCall};
use serde_json::{Value, json};

use crate::cli::{Call, Globals};
use crate::exit::{Ended, Exit, Failure, is_held};
use crate::host::Host;
use crate::interrupt::Interrupt;
use crate::language_servers::LanguageServers;
use crate::output::Ui;
use crate::terminals::Terminals;
use crate::watcher::Watcher;

/// Calls the tool and prints its result as a model would see it.
pub(crate) fn run(globals: &Globals, asked: Call, ui: &mut Ui) -> Ended {
    let host = Host::for_calls(globals, &asked.calling, ui)?;
    let interrupt = Interrupt::new();
    let cancel = interrupt.token().clone();
    let wanted = LanguageServers::wanted_by(&asked);
    let servers = LanguageServers::of(host.settings(), wanted && !asked.dry_run);
    let terminals = Terminals::of(&host, asked.calling.cwd.as_deref())?;
    let services = terminals.lend(servers.lend(Services::new()), ui);
    let mut options = super::calling_session(&host, &asked.calling, services, cancel, ui)?;
    options.observer = Some(Arc::new(Watcher::new(ui, host.settings())));
    let session = host.open(options)?;
    let arguments = arguments(asked.arguments.as_deref())?;
    let call = ToolCall::from_text("call", asked.name, arguments);
    if asked.dry_run {
        let dry_run = interrupt.run(async { Ok(host.runtime.dry_run(&session, call).await) })?;
        ui.out.json(&report(&dry_run))?;
        return Ok(interrupt.exit().unwrap_or_else(|| gate_exit(&dry_run)));
    }
    let outcome = interrupt.run(async {
        terminals.begin();
        let outcome = host.runtime.call(&session, call).await;
        terminals.close(ui).await;
        Ok(outcome)
    })?;
    match outcome.content() {
        Value::String(text) => ui.out.text(&text)?,
        parts => ui.out.json(&parts)?,
    }
    Ok(interrupt.exit().unwrap_or_else(|| exit(&outcome)))
}

/// The argument text, wherever it is.
fn arguments(given: Option<&str>) -> Result<String, Failure> {
    match given {
        None => Ok(String::new()),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))?;
            Ok(text)
        }
        Some(text) => match text.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|error| Failure::usage(format!("cannot read {path}: {error}"))),
            None => Ok(text.to_owned()),
        },
    }
}

/// A call that never ran because of what was typed is bad input; one that ran and failed isn't.
fn exit(outcome: &CallOutcome) -> Exit {
    match (outcome.status, outcome.effect, outcome.error_kind()) {
        (CallStatus::Ok, ..) => Exit::Success,
        (CallStatus::Blocked, ..) | (_, _, Some(ErrorKind::Denied)) => Exit::Blocked,
        (CallStatus::Cancelled, ..) => Exit::Interrupted,
        _ if is_held(outcome) => Exit::Blocked,
        (_, Effect::None, Some(ErrorKind::InvalidArguments | ErrorKind::NotFound)) => Exit::Usage,
        _ => Exit::Failed,
    }
}

fn gate_exit(dry_run: &DryRun) -> Exit {
    match dry_run.decisions.iter().find(|decision| !decision.passed) {
        None => Exit::Success,
        Some(stopped) => match stopped.gate {
            Gate::Name | Gate::Parse | Gate::Bridge | Gate::Coercion | Gate::Validation => {
                Exit::Usage
            }
            Gate::Availability => Exit::Failed,
            _ => Exit::Blocked,
        },
    }
}

fn report(dry_run: &DryRun) -> Value {
    let decisions: Vec<Value> = dry_run
        .decisions
        .iter()
        .map(|decision| {
            json!({
                "gate": decision.gate.as_str(),
                "passed": decision.passed,
                "note": decision.note,
                "at_us": decision.at.as_micros() as u64,
            })
        })
        .collect();
    json!({"tool": dry_run.tool, "arguments": dry_run.arguments, "decisions": decisions})
}
