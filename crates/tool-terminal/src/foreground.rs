//! A command that is waited for.

use std::path::Path;
use std::time::{Duration, Instant};

use hermes_environments::Lease;
use hermes_exec::environment::StartFailure;
use hermes_exec::session::{Ended, Finished, Foreground};
use hermes_exec_policy::config::Backend;
use hermes_registry::{Surface, ToolContext, ToolError};
use hermes_terminal::{
    exit_note, prepare_command, sudo_auth_failed, sudo_needs_password, verification,
};
use serde_json::{Map, Value, json};

use crate::files::Files;
use crate::mask::mask;
use crate::output::{Shown, Taken};
use crate::plan::Plan;
use crate::sudo::{self, Askpass};

/// How long after a failure to start a command that is tried again.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8)];

/// How long after the first try another one is begun. What took longer than this to fail, as a host
/// that doesn't answer, will take as long again.
const RETRIED: Duration = Duration::from_secs(10);

/// How often it is told that a command still runs.
const ACTIVITY: Duration = Duration::from_secs(10);

/// Exit codes made here.
const TIMED_OUT: i32 = 124;
const NOT_ENTERED: i32 = 126;
const INTERRUPTED: i32 = 130;
const NOT_STARTED: i32 = -1;

/// Runs a command to its end; the result.
///
/// # Errors
/// It can't be started.
pub(crate) async fn run(plan: Plan, cx: &ToolContext) -> Result<Value, ToolError> {
    let failed = |error: &StartFailure| ToolError::unavailable(error.message.clone());
    let interrupted = |error: &StartFailure| {
        ToolError::cancelled(format!("{}; and the call was interrupted", error.message))
    };
    let files = Files::begin(&plan, cx);
    let mut tries = PAUSES.into_iter();
    let mut is_renewed = false;
    let begin = Instant::now();
    let done = loop {
        match attempt(&plan, cx).await {
            Ok(done) => break done,
            Err(Failure { error, .. }) if cx.cancel().is_cancelled() => {
                return Err(interrupted(&error));
            }
            // A machine that is gone ran nothing, and a new one is worth a try.
            Err(Failure { error, lease: Some(lease) }) if error.is_gone && !is_renewed => {
                is_renewed = true;
                plan.terminals.environments().lost(&lease).await;
            }
            Err(Failure { error, .. }) => {
                let may_pass = error.is_safe_to_retry && begin.elapsed() < RETRIED;
                let pause = tries.next().filter(|_| may_pass);
                let Some(pause) = pause else { return Err(failed(&error)) };
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = cx.cancel().cancelled() => return Err(interrupted(&error)),
                }
            }
        }
    };
    if let Some(cwd) = &done.finished.cwd {
        // A folder that was meant for this command only is left again, unless the command itself
        // went elsewhere.
        if !plan.has_workdir || done.finished.has_moved {
            plan.terminals.environments().record(cx.ids(), cwd);
        }
    }
    let mut result = done.result(&plan);
    sandbox_facts(&plan, &done, &mut result);
    sudo_facts(&plan, &done, cx, &mut result);
    if let Some(note) = files.and_then(Files::end) {
        result.insert("files_note".to_owned(), note.into());
    }
    plan.annotate(&mut result);
    Ok(Value::Object(result))
}

/// A start that failed.
struct Failure {
    error: StartFailure,
    lease: Option<Lease>,
}

/// What a command left behind.
struct Done {
    finished: Finished,
    output: Shown,
}

async fn attempt(plan: &Plan, cx: &ToolContext) -> Result<Done, Failure> {
    let environments = plan.terminals.environments();
    let lease = environments.lease(cx.ids()).await;
    let lease = lease.map_err(|error| Failure { error, lease: None })?;
    let failed = |error| Failure { error, lease: Some(lease.clone()) };
    let askpass = Askpass::of(plan, &lease, cx).await.map_err(failed)?;
    // Whoever was asked for a password may have answered by giving up.
    if cx.cancel().is_cancelled() {
        if let Some(askpass) = askpass {
            askpass.remove(&lease).await;
        }
        return Err(failed(StartFailure::new("the command was not started")));
    }
    let mut env = plan.env.clone();
    env.extend(askpass.as_ref().map(Askpass::variable));
    let command = match &askpass {
        Some(_) => prepare_command(&plan.command),
        None => plan.command.clone(),
    };
    let timeout = Some(plan.timeout);
    let foreground = Foreground { env, timeout, ..Foreground::new(command, &plan.cwd) };
    let mut taken = Taken::new(plan, cx);
    let mut take = |bytes: &[u8]| taken.push(bytes);
    let running = lease.session().run(foreground, &mut take, cx.cancel().cancelled());
    let finished = with_activity(running, cx).await;
    if let Some(askpass) = askpass {
        askpass.remove(&lease).await;
    }
    let finished = finished.map_err(failed)?;
    let suffix = match &finished.ended {
        Ended::TimedOut => format!("\n[Command timed out after {}s]", plan.timeout.as_secs()),
        Ended::Interrupted => "\n[Command interrupted]".to_owned(),
        _ => String::new(),
    };
    let output = taken.finish(code(&finished), &suffix, &lease, cx).await;
    Ok(Done { finished, output })
}

/// Waits for a command, and tells now and then that it still runs.
async fn with_activity<T>(work: impl Future<Output = T>, cx: &ToolContext) -> T {
    let begin = Instant::now();
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(ACTIVITY, &mut work).await {
            Ok(done) => return done,
            Err(_) => {
                let seconds = begin.elapsed().as_secs();
                cx.progress(&format!("terminal command running ({seconds}s elapsed)"));
            }
        }
    }
}

fn code(finished: &Finished) -> i32 {
    match finished.ended {
        _ if !finished.is_entered => NOT_ENTERED,
        Ended::Exited(code) => code,
        Ended::TimedOut => TIMED_OUT,
        Ended::Interrupted => INTERRUPTED,
        Ended::Lost(_) => NOT_STARTED,
    }
}

impl Done {
    fn code(&self) -> i32 {
        code(&self.finished)
    }

    fn result(&self, plan: &Plan) -> Map<String, Value> {
        let code = self.code();
        let error = match &self.finished.ended {
            _ if !self.finished.is_entered => {
                Some(format!("the folder {} can't be entered; nothing ran", plan.cwd))
            }
            Ended::Lost(why) => Some(format!(
                "{why}. Whether the command was done is unknown: look before you run it again."
            )),
            _ => None,
        };
        let mut result = Map::new();
        result.insert("output".to_owned(), self.output.text.clone().into());
        result.insert("exit_code".to_owned(), code.into());
        if error.is_some() {
            result.insert("status".to_owned(), "error".into());
        }
        result.insert("error".to_owned(), error.into());
        let has_run = matches!(self.finished.ended, Ended::Exited(_)) && self.finished.is_entered;
        if has_run && let Some(note) = exit_note(&plan.command, code) {
            result.insert("exit_code_meaning".to_owned(), note.into());
        }
        let has_begun = self.finished.is_entered && !matches!(self.finished.ended, Ended::Lost(_));
        let unkept = "what this command set for later ones (folder, variables, functions, aliases, \
                      options) isn't kept: it was replaced by another program, killed, or kept its \
                      shell from saving them";
        let new = "what earlier commands had set (variables, functions, aliases, options) was gone \
                   from the machine: this one began anew";
        let notes = [(has_begun && !self.finished.is_kept, unkept), (self.finished.is_new, new)];
        let notes: Vec<&str> =
            notes.into_iter().filter_map(|(is_so, note)| is_so.then_some(note)).collect();
        if !notes.is_empty() {
            result.insert("state_note".to_owned(), notes.join("; ").into());
        }
        if has_run && let Some(proof) = verification(&plan.command, code) {
            let proof = json!({
                "status": if proof.has_passed { "passed" } else { "failed" },
                "kind": proof.kind.as_str(),
                "scope": proof.scope.as_str(),
                "canonical_command": mask(&plan.command, &proof.command),
            });
            result.insert("verification_evidence".to_owned(), proof);
        }
        result
    }
}

/// Adds what the sandbox of the system holds, and whether it refused something.
fn sandbox_facts(plan: &Plan, done: &Done, result: &mut Map<String, Value>) {
    let confined = match plan.config.backend {
        Backend::Local(_) => plan.terminals.environments().confined(&plan.config),
        _ => None,
    };
    let Some(confined) = confined else { return };
    let cwd = Path::new(&plan.cwd);
    if let Ok(report) = confined.report(cwd) {
        let report = serde_json::to_value(report).unwrap_or_default();
        result.insert("sandbox".to_owned(), report);
    }
    if let Some(note) = confined.explains(&done.output.seen, done.code(), cwd) {
        result.insert("sandbox_note".to_owned(), note.into());
    }
}

/// Adds what the output says about passwords.
fn sudo_facts(plan: &Plan, done: &Done, cx: &ToolContext, result: &mut Map<String, Value>) {
    if done.code() == 0 || !plan.command.contains("sudo") {
        return;
    }
    if sudo_auth_failed(&done.output.seen) {
        result.insert("sudo_auth_failed".to_owned(), true.into());
        if plan.terminals.set_password(sudo::session(cx), None) {
            result.insert("sudo_cache_cleared".to_owned(), true.into());
        }
    }
    if sudo_needs_password(&done.output.seen) && cx.surface() == Surface::Gateway {
        let hint = "sudo needs a password, and nobody can be asked for it here. It can be set as \
                    SUDO_PASSWORD in the .env file of the home folder.";
        result.insert("sudo_hint".to_owned(), hint.into());
    }
}
