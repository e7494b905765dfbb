//! Noticing a model that goes round in circles.
//!
//! Three patterns are counted over one turn of the user: an equal call that fails again, a tool
//! that fails whatever it is given, and a reading call that gives the same again. The model is
//! warned in a line after the result; with hard stops on, such a call is refused in the end.

mod config;
mod decision;
mod records;

pub use config::{GuardrailConfig, Limits};
pub use decision::{Action, Decision, Signature};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::canonical::canonical_json;
use decision::Pattern;
use records::Records;

/// A call that has run.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments it ran with.
    pub args: &'a Value,
    /// Whether it failed.
    pub failed: bool,
    /// Whether an equal call with an equal result means that nothing moves.
    pub idempotent: bool,
    /// What it gave back.
    pub result: &'a str,
}

/// What was seen in a turn, and the decisions from it.
///
/// It remembers at most 4,096 different calls, the latest ones.
#[derive(Clone, Debug, Default)]
pub struct Guardrails {
    config: GuardrailConfig,
    records: Records,
    halted: Option<Decision>,
}

impl Guardrails {
    /// Starts with nothing seen.
    #[must_use]
    pub fn new(config: GuardrailConfig) -> Self {
        Self { config, records: Records::default(), halted: None }
    }

    /// Forgets what was seen: a new turn of the user begins.
    pub fn reset(&mut self) {
        self.records = Records::default();
        self.halted = None;
    }

    /// The first decision to block or halt. The turn ends after the batch that it was made in.
    #[must_use]
    pub fn halted(&self) -> Option<&Decision> {
        self.halted.as_ref()
    }

    /// Whether a call may run. Always, unless hard stops are on.
    pub fn before(&mut self, tool: &str, args: &Value) -> Decision {
        if !self.config.hard_stop_enabled || !self.records.knows(tool) {
            return Decision::allow(0);
        }
        let signature = signature(args);
        let seen = self.records.seen(tool, &signature);
        let limits = self.config.hard_stop_after;
        let decision = if seen.failures >= limits.exact_failure {
            Decision::new(Action::Block, Pattern::ExactFailure, seen.failures, tool, signature)
        } else if seen.repeats >= limits.idempotent_no_progress {
            Decision::new(Action::Block, Pattern::NoProgress, seen.repeats, tool, signature)
        } else {
            return Decision::allow(0);
        };
        self.note_halt(&decision);
        decision
    }

    /// Takes in a call that has run. Nothing is hashed for a success that can't matter: of a tool
    /// that isn't idempotent and has no failures.
    pub fn after(&mut self, call: Observed<'_>) -> Decision {
        let decision = if call.failed {
            self.after_failure(call.tool, call.args)
        } else if call.idempotent {
            self.after_reading(call)
        } else {
            if self.records.knows(call.tool) {
                self.records.succeeded(call.tool, &signature(call.args));
            }
            Decision::allow(0)
        };
        self.note_halt(&decision);
        decision
    }

    fn after_failure(&mut self, tool: &str, args: &Value) -> Decision {
        let signature = signature(args);
        let (exact, of_tool) = self.records.failed(tool, signature);
        let config = &self.config;
        let (action, pattern, count) =
            if config.hard_stop_enabled && of_tool >= config.hard_stop_after.same_tool_failure {
                (Action::Halt, Pattern::ToolFailure, of_tool)
            } else if config.warnings_enabled && exact >= config.warn_after.exact_failure {
                (Action::Warn, Pattern::ExactFailure, exact)
            } else if config.warnings_enabled && of_tool >= config.warn_after.same_tool_failure {
                (Action::Warn, Pattern::ToolFailure, of_tool)
            } else {
                return Decision::allow(exact);
            };
        Decision::new(action, pattern, count, tool, signature)
    }

    fn after_reading(&mut self, call: Observed<'_>) -> Decision {
        let signature = signature(call.args);
        self.records.succeeded(call.tool, &signature);
        let repeats = self.records.gave(call.tool, signature, result_hash(call.result));
        if self.config.warnings_enabled && repeats >= self.config.warn_after.idempotent_no_progress
        {
            Decision::new(Action::Warn, Pattern::NoProgress, repeats, call.tool, signature)
        } else {
            Decision::allow(repeats)
        }
    }

    fn note_halt(&mut self, decision: &Decision) {
        if matches!(decision.action, Action::Block | Action::Halt) && self.halted.is_none() {
            self.halted = Some(decision.clone());
        }
    }
}

fn signature(args: &Value) -> Signature {
    Signature(Sha256::digest(canonical_json(args)).into())
}

/// Equal for results that are the same JSON, however it is spelled.
fn result_hash(result: &str) -> [u8; 32] {
    match serde_json::from_str::<Value>(result) {
        Ok(value) => Sha256::digest(canonical_json(&value)).into(),
        Err(_) => Sha256::digest(result).into(),
    }
}

#[cfg(test)]
mod tests;
