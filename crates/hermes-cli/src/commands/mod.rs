//! One module per command.

mod approval;
mod call;
mod checkpoints;
mod config;
mod definitions;
mod doctor;
mod exec;
mod features;
mod generate;
mod hooks;
mod hooks_doctor;
mod hooks_test;
mod problems;
mod tools_list;
mod tools_show;
mod tools_summary;
mod tools_toggle;
mod toolsets;

use std::sync::Arc;

use hermes_registry::{CancellationToken, Services};
use hermes_tools::approvals::{Answer, Approvals, FixedAnswer};
use hermes_tools::toolset::ToggleAction;
use hermes_tools::{Keep, SessionOptions};

use crate::cli::{Approve, Calling, Cli, Command, ToolsCommand};
use crate::exit::{Ended, Failure};
use crate::host::Host;
use crate::output::Ui;
use crate::prompt::TerminalPrompter;
use crate::review;

/// Runs what was typed.
pub(crate) fn run(cli: Cli, ui: &mut Ui) -> Ended {
    let globals = &cli.globals;
    match cli.command {
        Command::Tools(tools) => match tools.command {
            None => tools_summary::run(globals, tools.json, ui),
            Some(ToolsCommand::List(list)) => tools_list::run(globals, &list, ui),
            Some(ToolsCommand::Show { name, platform, json }) => {
                tools_show::run(globals, &name, &platform.platform, json, ui)
            }
            Some(ToolsCommand::Enable(toggle)) => {
                tools_toggle::run(globals, ToggleAction::Enable, &toggle, ui)
            }
            Some(ToolsCommand::Disable(toggle)) => {
                tools_toggle::run(globals, ToggleAction::Disable, &toggle, ui)
            }
        },
        Command::Toolsets(toolsets) => toolsets::run(globals, toolsets, ui),
        Command::Definitions(definitions) => definitions::run(globals, definitions, ui),
        Command::Call(call) => call::run(globals, call, ui),
        Command::Exec(exec) => exec::run(globals, &exec, ui),
        Command::Approval(asked) => approval::run(globals, asked, ui),
        Command::Hooks(hooks) => hooks::run(globals, hooks, ui),
        Command::Checkpoints(asked) => checkpoints::run(globals, asked, ui),
        Command::Config(config) => config::run(globals, config, ui),
        Command::Features { json } => features::run(globals, json, ui),
        Command::Doctor { machine, json } => doctor::run(globals, machine, json, ui),
        Command::Completions { shell } => generate::completions(shell, ui),
        Command::Man { dir } => generate::man(dir.as_deref(), ui),
    }
}

/// The session of `call` and `exec`: the tools of the command line's own platform.
fn calling_session(
    host: &Host,
    calling: &Calling,
    services: Services,
    cancel: CancellationToken,
    ui: &Ui,
) -> Result<SessionOptions, Failure> {
    let services = gate(host, calling.approve, ui).lend(services);
    let context = host.context(calling.cwd.as_deref(), &calling.task, services, cancel)?;
    let mut options = SessionOptions::new(host.platform_tools("cli")?, context);
    // The next command may want to read what this one stored.
    options.keep_results = Keep::Day;
    options.trace = ui.verbose > 1;
    Ok(options)
}

/// Who decides about what tools want to do: what was said beforehand, else the person at the
/// terminal. Where there is neither, there is nobody to ask.
fn gate(host: &Host, approve: Option<Approve>, ui: &Ui) -> Arc<Approvals> {
    let gate = Approvals::builder(host.settings()).hooks(host.told.clone());
    let gate = review::lend(gate, host.settings());
    match approve.map(answer) {
        Some(answer) => gate.prompter(Arc::new(FixedAnswer(answer))),
        None => match TerminalPrompter::open(&ui.status) {
            Some(prompter) => gate.prompter(Arc::new(prompter)),
            None => gate,
        },
    }
    .build()
}

fn answer(approve: Approve) -> Answer {
    match approve {
        Approve::Deny => Answer::NO,
        Approve::Once => Answer::Once,
        Approve::Session => Answer::Session,
        Approve::Always => Answer::Always,
    }
}
