//! `hermes features`: what is compiled in, and what the configuration would need.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use hermes_tools::FEATURES;
use hermes_tools::toolset::platform_toolsets;
use serde_json::{Map, Value, json};

use super::tools_list::count;
use crate::cli::{Globals, Json};
use crate::exit::{Ended, Exit};
use crate::host::Host;
use crate::output::Ui;
use crate::style::{BOLD, DIM};
use crate::table::{Cell, Table};

/// Prints both.
pub(crate) fn run(globals: &Globals, json: Json, ui: &mut Ui) -> Ended {
    let host = Host::new(globals, ui)?;
    let missing = missing(&host);
    let tools = |toolset: &str| -> Vec<&str> {
        let tools = host.world.resolve(toolset).into_iter();
        tools.filter(|tool| host.world.owner(tool) == Some(toolset)).collect()
    };
    if json.json {
        let compiled_in: Vec<Value> = FEATURES
            .iter()
            .map(|(feature, package, toolset)| {
                json!({
                    "feature": feature, "package": package, "toolset": toolset,
                    "tools": tools(toolset),
                })
            })
            .collect();
        let missing: Vec<Value> = missing
            .iter()
            .map(|(toolset, platforms)| json!({"toolset": toolset, "platforms": platforms}))
            .collect();
        ui.out.json(&json!({"compiled_in": compiled_in, "missing": missing}))?;
        return Ok(Exit::Success);
    }
    writeln!(ui.out, "{BOLD}Compiled in{BOLD:#}")?;
    let mut table = Table::new([]);
    for (feature, package, toolset) in FEATURES {
        table.row([
            Cell::from(format!("  {feature}")),
            Cell::from(*package).styled(DIM),
            Cell::from(tools(toolset).join(", ")),
        ]);
    }
    table.write(&mut ui.out)?;
    if !missing.is_empty() {
        writeln!(ui.out, "\n{BOLD}On in the configuration, but not compiled in{BOLD:#}")?;
        let mut table = Table::new([]);
        for (toolset, platforms) in &missing {
            let tools = count(host.world.resolve(toolset).len(), "tool");
            let platforms = Vec::from_iter(platforms.iter().copied()).join(", ");
            table.row([
                Cell::from(format!("  {toolset}")),
                Cell::from(tools).styled(DIM),
                Cell::from(format!("for {platforms}")).styled(DIM),
            ]);
        }
        table.write(&mut ui.out)?;
    }
    Ok(Exit::Success)
}

/// The toolsets that a platform gets and of which no tool is compiled in, with the platforms: the
/// command line and those that have a list in the configuration.
fn missing(host: &Host) -> BTreeMap<String, BTreeSet<&str>> {
    let config = host.settings().config();
    let listed = config.get("platform_toolsets").and_then(Value::as_object);
    let listed = listed.into_iter().flat_map(Map::keys).map(String::as_str);
    let mut missing: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for platform in std::iter::once("cli").chain(listed) {
        for toolset in
            platform_toolsets(&host.world, &host.platform_request(config, platform)).toolsets
        {
            let tools = host.world.resolve(&toolset);
            if !tools.is_empty() && !tools.iter().any(|tool| host.world.owner(tool).is_some()) {
                missing.entry(toolset).or_default().insert(platform);
            }
        }
    }
    missing
}
