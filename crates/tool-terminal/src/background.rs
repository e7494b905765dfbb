//! A command that goes on beside the conversation.

use std::path::Path;

use hermes_exec::environment::{Pid, Size, Stdin};
use hermes_exec::session::Background;
use hermes_exec_policy::config::Backend;
use hermes_exec_policy::config::cwd::can_enter;
use hermes_processes::{Process, Routing, Spawn};
use hermes_registry::{Surface, ToolContext, ToolError};
use hermes_terminal::is_ci_poller;
use serde_json::{Map, Value};

use crate::args::{self, Args};
use crate::plan::Plan;
use crate::terminals::LateMessages;

/// Starts a command; the result.
///
/// # Errors
/// It can't be started.
pub(crate) async fn run(plan: Plan, args: &Args, cx: &ToolContext) -> Result<Value, ToolError> {
    let is_local = matches!(plan.config.backend, Backend::Local(_));
    if is_local && !can_enter(Path::new(&plan.cwd)) {
        let message = format!("the folder {} can't be entered; nothing ran", plan.cwd);
        return Err(ToolError::not_found(message).with_extra("exit_code", 126));
    }
    let environments = plan.terminals.environments();
    let (terminal, pty_note) = terminal(&plan, args);
    let mut is_renewed = false;
    let (lease, running) = loop {
        let lease = match environments.lease(cx.ids()).await {
            Ok(lease) => lease,
            Err(error) => return Err(ToolError::unavailable(error.message)),
        };
        let background = Background {
            command: plan.command.clone(),
            cwd: plan.cwd.clone(),
            env: env(&plan),
            stdin: Stdin::Open,
            terminal,
        };
        match lease.session().spawn(background).await {
            Ok(running) => break (lease, running),
            Err(error) if error.is_gone && !is_renewed => {
                is_renewed = true;
                environments.lost(&lease).await;
            }
            Err(error) => return Err(ToolError::unavailable(error.message)),
        }
    };
    let wants = Wants::of(args, cx);
    let spawn = Spawn {
        running,
        lease: Some(lease),
        command: plan.command.clone(),
        cwd: plan.cwd.clone(),
        task: cx.ids().task.to_string(),
        session_key: cx.ids().session.to_string(),
        routing: Routing::default(),
        terminal,
        notify: wants.notify,
        patterns: wants.patterns.clone(),
    };
    let process = plan.terminals.processes().take(spawn).await;
    let mut result = started(&process);
    wants.tell(&plan.command, &mut result);
    if let Some(note) = pty_note {
        result.insert("pty_note".to_owned(), note.into());
    }
    plan.annotate(&mut result);
    Ok(Value::Object(result))
}

fn started(process: &Process) -> Map<String, Value> {
    let mut result = Map::new();
    let text = "It runs in the background.";
    result.insert("output".to_owned(), text.into());
    result.insert("session_id".to_owned(), process.id().into());
    result.insert("pid".to_owned(), process.pid().map(Pid::number).into());
    result.insert("exit_code".to_owned(), 0.into());
    result.insert("error".to_owned(), Value::Null);
    result
}

/// The variables of a background command: Python must not keep its output back.
fn env(plan: &Plan) -> Vec<(String, String)> {
    let unbuffered = ("PYTHONUNBUFFERED".to_owned(), "1".to_owned());
    plan.env.iter().cloned().chain([unbuffered]).collect()
}

/// The terminal of a command that is to have one, or why it has none.
fn terminal(plan: &Plan, args: &Args) -> (Option<Size>, Option<&'static str>) {
    let has_terminals =
        matches!(plan.config.backend, Backend::Local(_) | Backend::Docker(_) | Backend::Ssh(_));
    if !args.pty {
        (None, None)
    } else if reads_token(&plan.command) {
        let note =
            "It reads a token from a pipe, which a terminal would break; it runs without one.";
        (None, Some(note))
    } else if !has_terminals {
        (None, Some("This kind of machine has no terminals; it runs with pipes."))
    } else {
        (Some(Size::default()), None)
    }
}

/// Whether a command logs in with a token that it wants to read from stdin.
fn reads_token(command: &str) -> bool {
    command.contains("gh auth login") && command.contains("--with-token")
}

/// What is to be told of a process.
struct Wants {
    notify: bool,
    patterns: Vec<String>,
    /// Patterns that give way to the news of the end.
    ignored: bool,
    /// News that nobody would get.
    unsupported: bool,
    nothing: bool,
}

impl Wants {
    fn of(args: &Args, cx: &ToolContext) -> Self {
        let patterns = args::patterns(args.watch_patterns.as_deref());
        let is_wanted = args.notify_on_complete || !patterns.is_empty();
        let can_tell = cx.service::<LateMessages>().is_some() && cx.surface() != Surface::Cron;
        let ignored = args.notify_on_complete && !patterns.is_empty();
        Self {
            notify: args.notify_on_complete && can_tell,
            patterns: if can_tell && !ignored { patterns } else { Vec::new() },
            ignored: ignored && can_tell,
            unsupported: is_wanted && !can_tell,
            nothing: !is_wanted,
        }
    }

    fn tell(&self, command: &str, result: &mut Map<String, Value>) {
        let mut tell = |key: &str, value: Value| {
            result.insert(key.to_owned(), value);
        };
        if self.notify {
            tell("notify_on_complete", true.into());
        }
        if !self.patterns.is_empty() {
            tell("watch_patterns", self.patterns.clone().into());
        }
        if self.ignored {
            let why = "Only its end is told: notify_on_complete and watch_patterns exclude each \
                       other.";
            tell("watch_patterns_ignored", why.into());
        }
        if self.unsupported {
            let why = "No message can reach this conversation later. Wait for the process or look \
                       at it with the process tool.";
            tell("notify_unsupported", why.into());
        }
        if is_ci_poller(command) {
            let hint = "This looks like a loop that asks a service again and again. `gh run watch` \
                        or `gh pr checks --watch` end by themselves; run one of them with \
                        notify_on_complete=true.";
            tell("hint", hint.into());
        } else if self.nothing {
            let hint = "Nothing will be told of it: look at it with the process tool (poll, log, \
                        wait), or use notify_on_complete=true next time.";
            tell("hint", hint.into());
        }
    }
}
