//! Following calls while they run.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hermes_registry::{Settings, Tool};
use hermes_tools::{CallObserver, CallOutcome, RunningCall};
use serde_json::Value;

use crate::output::Ui;
use crate::preview;
use crate::status::Status;
use crate::style::{BAD, DIM, GOOD, WARN};

/// How a call is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// The tool's emoji.
    pub(crate) emoji: &'static str,
    /// What the call does in plain words; empty where the tool's name is to be shown.
    pub(crate) verb: &'static str,
    /// The call's main argument.
    pub(crate) preview: String,
}

/// Shows calls on the moving line, or with `-v` one line when a call starts, one for each decision
/// that mattered, and one when it ends; with `-vv` every decision.
pub(crate) struct Watcher {
    status: Status,
    moving_line: bool,
    timeline: bool,
    /// Whether plain words take the place of tool names.
    friendly: bool,
    /// How many characters are shown of a call's main argument.
    preview_length: usize,
    since: Instant,
    calls: Mutex<HashMap<String, Shown>>,
}

impl Watcher {
    /// A watcher that shows as much as was asked for.
    pub(crate) fn new(ui: &Ui, settings: &Settings) -> Self {
        let progress = settings.get("display.tool_progress").and_then(Value::as_str);
        let length = settings.get("display.tool_preview_length").and_then(Value::as_u64);
        let friendly = settings.get("display.friendly_tool_labels").and_then(Value::as_bool);
        let is_watched = ui.status.is_terminal() && !ui.quiet && progress != Some("off");
        Self {
            status: ui.status.clone(),
            moving_line: is_watched && ui.verbose == 0,
            timeline: ui.verbose > 0,
            friendly: friendly.unwrap_or(true),
            // 0 is no limit.
            preview_length: match length.and_then(|length| usize::try_from(length).ok()) {
                None | Some(0) => usize::MAX,
                Some(length) => length,
            },
            since: Instant::now(),
            calls: Mutex::default(),
        }
    }

    /// How a call that started was shown. Asking twice gives nothing the second time.
    pub(crate) fn take(&self, call: &str) -> Option<Shown> {
        self.calls().remove(call)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, Shown>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, text: &str) {
        let at = self.since.elapsed().as_secs_f64();
        self.status.print(format_args!("{DIM}{at:8.3}s{DIM:#} {text}"));
    }

    fn decisions(&self, outcome: &CallOutcome) {
        for decision in &outcome.decisions {
            let gate = decision.gate.as_str();
            let style = if decision.passed { DIM } else { BAD };
            // Words of hooks and tools, which may hold anything.
            let note = preview::without_secrets(&decision.note);
            let note = preview::cut(&preview::one_line(&note), 200);
            let at = decision.at.as_secs_f64() * 1000.0;
            self.line(&format!("  {style}{gate}{style:#} {note} {DIM}after {at:.1} ms{DIM:#}"));
        }
    }
}

impl CallObserver for Watcher {
    fn started(&self, call: &str, tool: &Tool, args: &Value) {
        let shown = Shown {
            emoji: tool.meta().emoji_or_default(),
            verb: if self.friendly { tool.meta().verb } else { "" },
            preview: preview::cut(&preview::arguments(args), self.preview_length),
        };
        let name = if shown.verb.is_empty() || self.timeline { tool.name() } else { shown.verb };
        let label = format!("{} {name} {}", shown.emoji, shown.preview);
        if self.timeline {
            let call = preview::one_line(call);
            self.line(&format!("→ {} {DIM}{call}{DIM:#}", label.trim_end()));
        }
        if self.moving_line {
            self.status.call_started(call, label);
        }
        self.calls().insert(call.to_owned(), shown);
    }

    fn completed(&self, outcome: &CallOutcome) {
        if self.moving_line {
            self.status.call_ended(&outcome.id);
        }
        if self.timeline {
            self.decisions(outcome);
            // A name that is no tool's may hold anything, escape sequences too.
            let tool = preview::one_line(outcome.tool.as_deref().unwrap_or(&outcome.called));
            let style = if outcome.failed { BAD } else { GOOD };
            let status = outcome.status.as_str();
            let time = outcome.duration.as_secs_f64();
            let failure = preview::failure(outcome);
            let id = preview::one_line(&outcome.id);
            self.line(&format!(
                "← {tool} {style}{status}{failure}{style:#} in {time:.3}s {DIM}{id}{DIM:#}"
            ));
            if let Some(risk) = &outcome.risk {
                let findings = risk.findings.join(", ");
                self.line(&format!("  {WARN}may hold instructions:{WARN:#} {findings}"));
            }
        }
    }

    fn heartbeat(&self, running: &[RunningCall]) {
        if self.timeline {
            let calls: Vec<String> = running
                .iter()
                .map(|call| format!("{} for {:.0}s", call.tool, call.running.as_secs_f64()))
                .collect();
            self.line(&format!("{DIM}still running: {}{DIM:#}", calls.join(", ")));
        }
    }
}
