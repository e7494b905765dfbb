//! Following calls while they run.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hermes_registry::Tool;
use hermes_tools::{CallObserver, CallOutcome};
use serde_json::Value;

use crate::output::Ui;
use crate::preview;
use crate::status::Status;
use crate::style::{BAD, DIM, GOOD};

/// How a call is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// The tool's emoji.
    pub(crate) emoji: &'static str,
    /// The call's main argument.
    pub(crate) preview: String,
}

/// Shows calls on the moving line, or with `-v` one line when a call starts and one when it ends.
pub(crate) struct Watcher {
    status: Status,
    moving_line: bool,
    timeline: bool,
    since: Instant,
    calls: Mutex<HashMap<String, Shown>>,
}

impl Watcher {
    /// A watcher that shows as much as was asked for.
    pub(crate) fn new(ui: &Ui) -> Self {
        Self {
            status: ui.status.clone(),
            moving_line: ui.status.is_terminal() && !ui.quiet && ui.verbose == 0,
            timeline: ui.verbose > 0,
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
}

impl CallObserver for Watcher {
    fn started(&self, call: &str, tool: &Tool, args: &Value) {
        let shown =
            Shown { emoji: tool.meta().emoji_or_default(), preview: preview::arguments(args) };
        let label = format!("{} {} {}", shown.emoji, tool.name(), shown.preview);
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
            // A name that is no tool's may hold anything, escape sequences too.
            let tool = preview::one_line(outcome.tool.as_deref().unwrap_or(&outcome.called));
            let style = if outcome.is_ok() { GOOD } else { BAD };
            let status = outcome.status.as_str();
            let time = outcome.duration.as_secs_f64();
            let id = preview::one_line(&outcome.id);
            self.line(&format!("← {tool} {style}{status}{style:#} in {time:.3}s {DIM}{id}{DIM:#}"));
        }
    }
}
