//! What must be right about a call before anything is started for it.

use std::sync::Arc;
use std::time::Duration;

use hermes_approval::{By, CommandGate, CommandRequest, Decision, Forced, Foreseen, Place};
use hermes_exec_policy::child_env::SessionVars;
use hermes_exec_policy::config::{Backend, TerminalConfig};
use hermes_registry::{ToolContext, ToolError};
use hermes_terminal::{foreground_check, validate_workdir};
use serde_json::{Map, Value};

use crate::args::Args;
use crate::terminals::Terminals;

/// A call that may run.
pub(crate) struct Plan {
    pub(crate) terminals: Arc<Terminals>,
    pub(crate) config: TerminalConfig,
    pub(crate) command: String,
    /// Where it starts.
    pub(crate) cwd: String,
    /// Whether the call named the folder.
    pub(crate) has_workdir: bool,
    /// What there is to say about the folder.
    pub(crate) note: Option<String>,
    /// What there is to say about arguments that mean nothing here.
    ignored: Option<String>,
    pub(crate) timeout: Duration,
    /// Its own variables.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) decision: Decision,
}

/// The error for a call of which nothing ran.
pub(crate) fn refusal(error: ToolError) -> ToolError {
    let code = error.extra().get("exit_code").cloned().unwrap_or_else(|| (-1).into());
    error.with_extra("output", "").with_extra("exit_code", code).with_extra("status", "error")
}

/// The error for a command that may not run, or not yet.
fn not_approved(result: Value) -> ToolError {
    let Value::Object(mut result) = result else { return ToolError::denied(result.to_string()) };
    let message = result.remove("error");
    let error = ToolError::denied(message.as_ref().and_then(Value::as_str).unwrap_or_default());
    result.into_iter().fold(error, |error, (key, value)| error.with_extra(key, value))
}

impl Plan {
    /// Checks a call, from what costs nothing to what may wait for a person.
    ///
    /// # Errors
    /// It can't run or may not, the host lends no terminal, or the call was given up.
    pub(crate) async fn of(args: &Args, cx: &ToolContext) -> Result<Self, ToolError> {
        let terminals = cx.require_service::<Terminals>("terminal")?;
        let checked = checked(args, cx, &terminals);
        let Checked { config, command, timeout } =
            checked.map_err(|error| refusal(ToolError::invalid_arguments(error)))?;
        let environments = terminals.environments();
        let (cwd, note) = environments.folder(cx.ids(), args.workdir.as_deref(), &config);
        let mut decision = decide(cx, &config, &command, &cwd).await?;
        // What is harmless as it stands may not be so in its session.
        let session = environments.known(cx.ids()).filter(|_| decision.by == By::Nothing);
        if let Some(session) = session {
            let definitions = session.definitions(&command).await;
            if !definitions.is_empty() {
                let command = format!("{definitions}{command}");
                decision = decide(cx, &config, &command, &cwd).await?;
            }
        }
        if let Some(result) = decision.result() {
            return Err(not_approved(result));
        }
        let session = cx.service::<SessionVars>();
        let session = session.as_deref().cloned().unwrap_or_default();
        Ok(Self {
            env: environments.session_variables(&session),
            has_workdir: args.workdir.is_some(),
            terminals,
            config,
            command,
            cwd,
            note,
            ignored: ignored(args, timeout),
            timeout,
            decision,
        })
    }

    /// Adds what there is to say to a result.
    pub(crate) fn annotate(&self, result: &mut Map<String, Value>) {
        self.decision.annotate(result);
        if let Some(note) = &self.note {
            result.insert("cwd_note".to_owned(), note.clone().into());
        }
        if let Some(note) = &self.ignored {
            result.insert("arguments_note".to_owned(), note.clone().into());
        }
    }
}

struct Checked {
    config: TerminalConfig,
    command: String,
    timeout: Duration,
}

fn checked(args: &Args, cx: &ToolContext, terminals: &Terminals) -> Result<Checked, String> {
    let command = match &args.command {
        Value::String(command) if !command.trim().is_empty() => command.clone(),
        Value::String(_) => return Err("`command` is empty".to_owned()),
        Value::Null => return Err("`command` is missing: give the command to run".to_owned()),
        _ => return Err("`command` must be a text: the command for bash".to_owned()),
    };
    if command.contains('\0') {
        return Err("`command` holds a NUL character, which no shell can read".to_owned());
    }
    let config = terminals.environments().config_of(cx.ids()).map_err(|it| it.to_string())?;
    let timeout = timeout(args, &config)?;
    if let Some(workdir) = args.workdir.as_deref() {
        if workdir.trim().is_empty() {
            return Err("`workdir` is empty: leave it out for the session's folder".to_owned());
        }
        validate_workdir(workdir).map_err(|error| format!("`workdir`: {error}"))?;
    }
    // Who insists knows what he does.
    let is_free = args.background || cx.service::<Forced>().is_some();
    if !is_free && let Some(issue) = foreground_check(&command) {
        return Err(issue.to_string());
    }
    if let Backend::Unknown(name) = &config.backend {
        return Err(format!("terminal.backend is `{name}`, which doesn't exist"));
    }
    Ok(Checked { config, command, timeout })
}

fn timeout(args: &Args, config: &TerminalConfig) -> Result<Duration, String> {
    let Some(seconds) = args.timeout.filter(|seconds| *seconds != 0.0) else {
        return Ok(config.timeout);
    };
    let asked = Duration::try_from_secs_f64(seconds);
    let asked = asked.map_err(|_| "`timeout` must be a number of seconds from 1 on".to_owned())?;
    let most = config.max_foreground_timeout;
    if !args.background && asked > most {
        return Err(format!(
            "`timeout` is {seconds} s, and a foreground command may take {} s at most. Run longer \
             work with background=true and wait for it with the process tool.",
            most.as_secs()
        ));
    }
    Ok(asked)
}

/// Most arguments that aren't known and are named.
const MOST_NAMED: usize = 5;

/// Which arguments were given and do nothing.
fn ignored(args: &Args, timeout: Duration) -> Option<String> {
    let mut notes = Vec::new();
    match args.timeout {
        Some(_) if args.background => notes.push(
            "`timeout` does nothing with background=true: the command runs until it ends or is \
             killed"
                .to_owned(),
        ),
        Some(0.0) => notes.push(format!(
            "`timeout` 0 stands for the usual {} s; there is no running without a limit",
            timeout.as_secs()
        )),
        _ => {}
    }
    if !args.background {
        let given = [
            ("`pty`", args.pty),
            ("`notify_on_complete`", args.notify_on_complete),
            ("`watch_patterns`", args.watch_patterns.as_ref().is_some_and(|it| !it.is_empty())),
        ];
        let names: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        if !names.is_empty() {
            let verb = if names.len() == 1 { "does" } else { "do" };
            notes.push(format!("{} {verb} nothing without background=true", names.join(" and ")));
        }
    }
    if !args.other.is_empty() {
        let names: Vec<String> =
            args.other.keys().take(MOST_NAMED).map(|name| format!("`{name:.40}`")).collect();
        let (verb, kind) = match args.other.len() {
            1 => ("does", "no argument"),
            _ => ("do", "no arguments"),
        };
        notes.push(format!(
            "{} {verb} nothing, being {kind} of terminal: it has command, workdir, timeout, \
             background, pty, notify_on_complete and watch_patterns",
            names.join(" and ")
        ));
    }
    (!notes.is_empty()).then(|| format!("{}.", notes.join("; ")))
}

/// Asks whether the command may run.
async fn decide(
    cx: &ToolContext,
    config: &TerminalConfig,
    command: &str,
    cwd: &str,
) -> Result<Decision, ToolError> {
    // Without a gate, nobody could be asked.
    let gate = cx.require_service::<dyn CommandGate>("terminal")?;
    let decision = gate.decide(&request(config, command, cwd), cx).await;
    cx.check_interrupt()?;
    Ok(decision)
}

fn request(config: &TerminalConfig, command: &str, cwd: &str) -> CommandRequest {
    let has_host_access = config.has_host_access();
    let place = Place::new(config.backend.name()).with_host_access(has_host_access);
    CommandRequest::new("terminal", command).at(place).in_folder(cwd)
}

/// What a call would ask a person before anything is started for it.
///
/// # Errors
/// It would be refused.
pub(crate) async fn foresee(args: Args, cx: ToolContext) -> Result<Option<String>, ToolError> {
    let terminals = cx.require_service::<Terminals>("terminal")?;
    let gate = cx.require_service::<dyn CommandGate>("terminal")?;
    let checked = checked(&args, &cx, &terminals).map_err(ToolError::invalid_arguments)?;
    let Checked { config, mut command, .. } = checked;
    let environments = terminals.environments();
    let (cwd, _) = environments.folder(cx.ids(), args.workdir.as_deref(), &config);
    if let Some(session) = environments.known(cx.ids()) {
        command.insert_str(0, &session.definitions(&command).await);
    }
    let foreseen = gate.foresee(&request(&config, &command, &cwd), &cx).await;
    match foreseen {
        None => Ok(Some("what the gate for commands would say isn't known".to_owned())),
        Some(Foreseen::Runs(By::Nothing)) => Ok(None),
        Some(Foreseen::Runs(by)) => Ok(Some(format!("nobody would be asked: {by}"))),
        Some(Foreseen::Asks { what, by_model }) => {
            let who = if by_model { "a model, and perhaps a person," } else { "a person" };
            Ok(Some(format!("{who} would be asked about the command: {what}")))
        }
        Some(Foreseen::Refused(message)) => Err(ToolError::denied(message)),
    }
}
