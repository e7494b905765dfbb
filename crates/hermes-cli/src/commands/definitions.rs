//! `hermes definitions`: the tool list of a request, in a provider's dialect.

use hermes_registry::ToolContext;
use hermes_tools::SessionOptions;

use crate::cli::{Definitions, Globals};
use crate::exit::{Ended, Exit};
use crate::host::Host;
use crate::output::Ui;

/// Prints one JSON array.
pub(crate) fn run(globals: &Globals, asked: Definitions, ui: &mut Ui) -> Ended {
    let host = Host::checked(globals, ui)?;
    let mut tools = match &asked.toolsets {
        Some(toolsets) => host.named_tools(toolsets)?,
        None => host.platform_tools(&asked.platform.platform)?,
    };
    tools.disabled.extend(asked.disable);
    let mut options = SessionOptions::new(tools, ToolContext::default());
    options.tool_search = !asked.all;
    options.check_availability = !asked.all;
    let session = host.open(options)?;
    let definitions = host.runtime.definitions(&session);

    let lowered = definitions.lowered(asked.format.tool_format());
    for (name, why) in &definitions.quarantined {
        ui.warn(format_args!("{name} is left out: {why}"));
    }
    for tool in &lowered.quarantined {
        ui.warn(format_args!("{} is left out: {}", tool.name, tool.reason));
    }
    ui.out.json(&lowered.tools.into())?;
    Ok(Exit::Success)
}
