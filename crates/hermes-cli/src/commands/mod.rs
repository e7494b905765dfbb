//! One module per command.

mod call;
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

use hermes_registry::CancellationToken;
use hermes_registry::Services;
use hermes_tools::toolset::ToggleAction;

use crate::cli::{Calling, Cli, Command, ToolsCommand};
use crate::exit::{Ended, Failure};
use crate::host::Host;
use crate::output::Ui;

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
        Command::Hooks(hooks) => hooks::run(globals, hooks, ui),
        Command::Config(config) => config::run(globals, config, ui),
        Command::Features { json } => features::run(globals, json, ui),
        Command::Doctor { json } => doctor::run(globals, json, ui),
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
) -> Result<hermes_tools::SessionOptions, Failure> {
    // Nothing asks yet: the answer is for the approval service, which tools that run commands use.
    tracing::debug!(approve = ?calling.approve, "the answer to tools that ask");
    let context = host.context(calling.cwd.as_deref(), &calling.task, services, cancel)?;
    Ok(hermes_tools::SessionOptions::new(host.platform_tools("cli")?, context))
}
