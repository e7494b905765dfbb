//! `hermes hooks list|approve|revoke`.

use std::io::Write as _;

use hermes_hooks::shell::{Configured, Consent, Matcher, ShellHooks};
use hermes_hooks::{HookEvent, OnError};
use hermes_tools::suggest;
use serde_json::{Value, json};

use super::{hooks_doctor, hooks_test};
use crate::cli::{Globals, Hooks};
use crate::exit::{Ended, Exit, Failure};
use crate::host;
use crate::output::Ui;
use crate::preview::one_line;
use crate::style::{BAD, DIM, GOOD, WARN};
use crate::table::{Cell, Table};

/// Does what was asked.
pub(crate) fn run(globals: &Globals, asked: Hooks, ui: &mut Ui) -> Ended {
    let loaded = host::load(globals, false)?;
    let mut hooks = ShellHooks::of(&loaded.settings);
    match asked {
        Hooks::List { json } => list(&hooks, json.json, ui),
        Hooks::Test(test) => {
            let accepts_all = crate::consent::accepts_all(globals, &loaded.settings);
            hooks_test::run(&mut hooks, accepts_all, &test, ui)
        }
        Hooks::Approve { command, event, all: _ } => {
            approve(&mut hooks, command.as_deref(), event.as_deref(), ui)
        }
        Hooks::Revoke { command, event } => revoke(&hooks, &command, event.as_deref(), ui),
        Hooks::Doctor { json } => hooks_doctor::run(&hooks, json.json, ui),
    }
}

/// The event of that name.
pub(super) fn event(name: &str) -> Result<HookEvent, Failure> {
    HookEvent::from_name(name).ok_or_else(|| {
        let known = HookEvent::ALL.iter().map(|event| event.as_str());
        let nearest = suggest::nearest(name, known);
        let hint = nearest.map_or(String::new(), |nearest| format!(": did you mean {nearest}?"));
        Failure::usage(format!("there is no event {}{hint}", one_line(name)))
    })
}

/// A hook for programs.
pub(super) fn to_value(hook: &Configured) -> Value {
    json!({
        "event": hook.spec.event.as_str(),
        "command": hook.spec.command,
        "matcher": hook.spec.matcher.as_ref().map(Matcher::as_str),
        "timeout": hook.spec.timeout.as_secs(),
        "on_error": match hook.spec.on_error {
            OnError::Allow => "allow",
            OnError::Block => "block",
        },
        "consent": hook.consent.as_str(),
        "files": hook.script.files(),
        "problem": hook.script.problem(),
    })
}

fn list(hooks: &ShellHooks, json: bool, ui: &mut Ui) -> Ended {
    for warning in &hooks.warnings {
        ui.warn(warning);
    }
    if json {
        ui.out.json(&hooks.configured.iter().map(to_value).collect())?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(["EVENT", "STATE", "TOOLS", "TIMEOUT", "ON ERROR", "COMMAND"]);
    for hook in &hooks.configured {
        let (state, style) = match (hook.script.problem(), hook.consent) {
            (Some(_), _) => ("can't run", BAD),
            (None, Consent::Approved) => ("approved", GOOD),
            (None, Consent::Missing) => ("not approved", WARN),
            (None, Consent::Changed) => ("changed since", WARN),
        };
        let spec = &hook.spec;
        let on_error = if spec.on_error == OnError::Block { "block" } else { "allow" };
        let tools = spec.matcher.as_ref().map_or("all", Matcher::as_str);
        let tools = if spec.event.is_about_a_tool() { one_line(tools) } else { String::new() };
        table.row([
            Cell::from(spec.event.as_str()),
            Cell::from(state).styled(style),
            Cell::from(tools),
            Cell::from(format!("{} s", spec.timeout.as_secs())),
            Cell::from(on_error),
            Cell::from(one_line(&spec.command)),
        ]);
    }
    if hooks.configured.is_empty() {
        if !ui.quiet {
            writeln!(ui.out, "{DIM}config.yaml has no hooks{DIM:#}")?;
        }
        return Ok(Exit::Success);
    }
    table.write(&mut ui.out)?;
    if hooks.is_safe_mode {
        ui.warn("HERMES_SAFE_MODE is on: no hooks run");
    }
    for hook in &hooks.configured {
        if let Some(problem) = hook.script.problem() {
            ui.warn(format_args!("{}: {problem}", one_line(&hook.spec.command)));
        }
    }
    Ok(Exit::Success)
}

fn approve(hooks: &mut ShellHooks, command: Option<&str>, at: Option<&str>, ui: &mut Ui) -> Ended {
    let at = at.map(event).transpose()?;
    let is_meant = |hook: &Configured| {
        command.is_none_or(|command| hook.spec.command == command.trim())
            && at.is_none_or(|at| hook.spec.event == at)
    };
    if command.is_some() && !hooks.configured.iter().any(is_meant) {
        return Err(Failure::usage(
            "no hook in config.yaml has this command; `hermes hooks list` shows them",
        ));
    }
    let mut agreed = Vec::new();
    hooks.ask(|hook| {
        let is_meant = is_meant(hook);
        if is_meant {
            agreed.push(hook.clone());
        }
        is_meant
    })?;
    for hook in &agreed {
        if let Some(problem) = hook.script.problem() {
            ui.warn(format_args!("{}: {problem}", one_line(&hook.spec.command)));
        }
        let command = one_line(&hook.spec.command);
        writeln!(ui.out, "{GOOD}approved{GOOD:#} {}: {command}", hook.spec.event)?;
    }
    if agreed.is_empty() && !ui.quiet {
        writeln!(ui.out, "{DIM}nothing waits for approval{DIM:#}")?;
    }
    Ok(Exit::Success)
}

fn revoke(hooks: &ShellHooks, command: &str, at: Option<&str>, ui: &mut Ui) -> Ended {
    let at = at.map(event).transpose()?;
    match hooks.allowlist().revoke(command.trim(), at)? {
        0 => Err(Failure::failed("this command is not approved")),
        count => {
            writeln!(ui.out, "revoked {}", super::tools_list::count(count, "approval"))?;
            Ok(Exit::Success)
        }
    }
}
