//! `hermes hooks doctor`: what keeps hooks from working.

use std::io::Write as _;
use std::time::Duration;

use hermes_hooks::shell::{Configured, Consent, ShellHooks, understand};
use serde_json::{Value, json};

use super::hooks_test::made_up;
use super::problems::Problem;
use crate::exit::{Ended, Exit, Failure};
use crate::host::working_directory;
use crate::interrupt::Interrupt;
use crate::output::Ui;
use crate::preview::one_line;
use crate::style::{DIM, GOOD};

/// From here on people notice that every call waits.
const SLOW: Duration = Duration::from_secs(2);

/// Prints what it finds, and fails if it finds something. Approved hooks are run once.
pub(super) fn run(hooks: &ShellHooks, json: bool, ui: &mut Ui) -> Ended {
    let mut problems: Vec<Problem> = hooks.warnings.iter().map(Problem::error).collect();
    if hooks.is_safe_mode {
        problems.push(Problem::warning("HERMES_SAFE_MODE is on: no hooks run"));
    }
    for hook in &hooks.configured {
        let command = one_line(&hook.spec.command);
        let found = look_at(hook).into_iter().chain(try_out(hooks, hook)?);
        problems.extend(found.map(|what| {
            Problem::error(&format!("{}: {command}: {}", hook.spec.event, one_line(&what)))
        }));
    }
    problems.extend(leftovers(hooks));
    if json {
        let problems: Vec<Value> = problems.iter().map(Problem::to_value).collect();
        ui.out.json(&json!({"hooks": hooks.configured.len(), "problems": problems}))?;
    } else {
        for problem in &problems {
            problem.write(&mut ui.out)?;
        }
        if problems.is_empty() {
            let count = super::tools_list::count(hooks.configured.len(), "hook");
            writeln!(ui.out, "{GOOD}ok{GOOD:#} {DIM}({count}){DIM:#}")?;
        }
    }
    let is_bad = problems.iter().any(|problem| problem.is_error);
    Ok(if is_bad { Exit::Failed } else { Exit::Success })
}

/// What can be seen without running it.
fn look_at(hook: &Configured) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(problem) = hook.script.problem() {
        found.push(problem.to_owned());
    }
    if hook.script.depends_on_cwd() {
        found.push("another program runs in another folder: give an absolute path".to_owned());
    }
    match hook.consent {
        Consent::Approved => {}
        Consent::Missing => found.push("not approved; see `hermes hooks approve`".to_owned()),
        Consent::Changed => {
            let what = "changed since it was approved; look at it, then `hermes hooks approve`";
            found.push(what.to_owned());
        }
    }
    found
}

/// What shows when it runs.
fn try_out(hooks: &ShellHooks, hook: &Configured) -> Result<Vec<String>, Failure> {
    if hook.consent != Consent::Approved || hook.script.problem().is_some() || hooks.is_safe_mode {
        return Ok(Vec::new());
    }
    let args = json!({"command": "echo hello"});
    let event = made_up(hook.spec.event, "terminal", &args, &working_directory(None)?);
    let program = hooks.hook(hook);
    let answer = Interrupt::new().run_or_drop(program.answer(&event))?;
    let mut found = Vec::new();
    if let Err(error) = &answer.reply {
        found.push(error.0.clone());
    }
    if let Some(finished) = answer.finished.as_ref().filter(|_| answer.reply.is_ok())
        && let Err(why) = understand(hook.spec.event, &finished.stdout.bytes)
        && finished.stdout.dropped == 0
    {
        found.push(format!("{why}, so it means nothing"));
    }
    if answer.took >= SLOW && answer.reply.is_ok() {
        found.push(format!("slow: {:.1} s", answer.took.as_secs_f64()));
    }
    Ok(found)
}

/// Agreements to what is no longer in the configuration.
fn leftovers(hooks: &ShellHooks) -> Vec<Problem> {
    // A file that can't be read is among the warnings already.
    let approvals = hooks.allowlist().read().unwrap_or_default();
    let is_used = |event: &str, command: &str| {
        hooks
            .configured
            .iter()
            .any(|hook| hook.spec.event.as_str() == event && hook.spec.command == command)
    };
    let unused = approvals.commands().filter(|(event, command)| !is_used(event, command));
    unused
        .map(|(event, command)| {
            Problem::warning(&format!(
                "{}: {}: approved, and no longer in config.yaml; see `hermes hooks revoke`",
                one_line(event),
                one_line(command),
            ))
        })
        .collect()
}
