//! `hermes toolsets list` and `hermes toolsets resolve`.

use std::io::Write as _;

use hermes_tools::toolset::{SelectRequest, platform_toolsets, select};
use serde_json::{Value, json};

use super::tools_list::count;
use crate::cli::{Globals, Toolsets};
use crate::exit::{Ended, Exit, Failure};
use crate::host::Host;
use crate::output::Ui;
use crate::style::{DIM, GOOD};
use crate::table::{Cell, Table};

/// Lists or resolves.
pub(crate) fn run(globals: &Globals, asked: Toolsets, ui: &mut Ui) -> Ended {
    let host = Host::new(globals, ui)?;
    match asked {
        Toolsets::List { platform, json } => list(&host, &platform.platform, json.json, ui),
        Toolsets::Resolve { names, disable, json } => {
            resolve(&host, &names, &disable, json.json, ui)
        }
    }
}

fn list(host: &Host, platform: &str, json: bool, ui: &mut Ui) -> Ended {
    host.platform_tools(platform)?;
    let request = host.platform_request(host.settings().config(), platform);
    let on = platform_toolsets(&host.world, &request).toolsets;
    let mut rows = Vec::new();
    let mut table = Table::new(["TOOLSET", "STATE", "TOOLS", "ABOUT"]);
    for name in host.world.names() {
        let tools = host.world.resolve(name);
        let linked: Vec<&str> =
            tools.iter().copied().filter(|tool| host.world.owner(tool).is_some()).collect();
        let definition = host.world.definition(name);
        let description = definition.map(|set| &*set.description).unwrap_or_default();
        let is_on = on.contains(name);
        rows.push(json!({
            "name": name,
            "description": description,
            "enabled": is_on,
            "custom": host.world.is_custom(name),
            "includes": definition.map(|set| set.includes.as_slice()).unwrap_or_default(),
            "tools": tools,
            "compiled_in": linked,
        }));
        let (state, style) = if is_on { ("on", GOOD) } else { ("", DIM) };
        table.row([
            Cell::from(name),
            Cell::from(state).styled(style),
            Cell::from(format!("{}/{}", linked.len(), tools.len())),
            Cell::from(description).styled(DIM),
        ]);
    }
    if json {
        ui.out.json(&Value::Array(rows))?;
        return Ok(Exit::Success);
    }
    table.write(&mut ui.out)?;
    if !ui.quiet {
        let toolsets = count(rows.len(), "toolset");
        writeln!(ui.out, "{DIM}{toolsets}; TOOLS are those compiled in, of all{DIM:#}")?;
    }
    Ok(Exit::Success)
}

/// Prints the tools by name, whether or not they are compiled in.
fn resolve(host: &Host, names: &[String], disable: &[String], json: bool, ui: &mut Ui) -> Ended {
    let request =
        SelectRequest { enabled: Some(names), disabled: disable, ..SelectRequest::default() };
    let selection = select(&host.world, &request);
    if !selection.issues.is_empty() {
        return Err(Failure::usage_lines(selection.issues));
    }
    if json {
        ui.out.json(&json!(selection.tools))?;
        return Ok(Exit::Success);
    }
    for tool in selection.tools {
        match host.world.owner(tool) {
            Some(_) => writeln!(ui.out, "{tool}")?,
            None => writeln!(ui.out, "{DIM}{tool}{DIM:#}")?,
        }
    }
    Ok(Exit::Success)
}
