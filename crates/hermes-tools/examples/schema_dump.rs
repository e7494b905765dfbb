//! Prints what the linked tools tell a model, as one JSON object; `cargo xtask` reads it.
//!
//! `{"tools": {NAME: {...}}, "toolsets": {NAME: [TOOL, ...]}}`. Each tool's definition is given in
//! three worlds: everything available, nothing else available, and as a fresh installation has it;
//! the first one also lowered for each provider. `problems` holds what a JSON Schema validator says
//! about any of them.

use std::error::Error;
use std::io::Write as _;

use hermes_registry::{Owner, Registry, Settings, Tool, ToolContext, ToolSpec, linked_specs};
use hermes_tools::search::ToolDefinition;
use hermes_tools::{Runtime, SessionOptions, ToolFormat, ToolSelection, lower, toolset};
use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let (everything, refused) = Registry::builtin();
    if let Some(rejection) = refused.first() {
        return Err(rejection.to_string().into());
    }
    let available = definitions(&everything, false)?;
    let by_default = definitions(&everything, true)?;
    let mut tools = Map::new();
    for spec in linked_specs() {
        let alone = definitions(&alone(spec)?, false)?;
        tools.insert(
            spec.name.to_owned(),
            describe(spec, find(&available, spec), find(&alone, spec), find(&by_default, spec)),
        );
    }
    let toolsets: Map<String, Value> = toolset::catalog::TOOLSETS
        .iter()
        .map(|set| {
            let own: Vec<&str> = set.tools.iter().flat_map(|group| group.iter().copied()).collect();
            (set.name.to_owned(), json!(own))
        })
        .collect();
    let dump = json!({"tools": tools, "toolsets": toolsets});
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&dump)?)?;
    Ok(())
}

/// The definitions of all tools of a registry, tool search aside.
fn definitions(
    registry: &Registry,
    check_availability: bool,
) -> Result<Vec<ToolDefinition>, Box<dyn Error>> {
    let runtime = Runtime::builder(registry.clone()).settings(Settings::new("/nowhere")).build();
    let mut options = SessionOptions::new(ToolSelection::all(), ToolContext::new("/"));
    options.tool_search = false;
    options.check_availability = check_availability;
    let session = runtime.open(options)?;
    Ok(runtime.definitions(&session).visible.clone())
}

/// A registry with one tool.
fn alone(spec: &'static ToolSpec) -> Result<Registry, Box<dyn Error>> {
    let registry = Registry::new();
    registry.registrar(Owner::builtin(spec.origin.crate_name)).register(Tool::linked(spec))?;
    Ok(registry)
}

fn find<'a>(list: &'a [ToolDefinition], spec: &ToolSpec) -> Option<&'a ToolDefinition> {
    list.iter().find(|tool| tool.name == spec.name)
}

fn describe(
    spec: &ToolSpec,
    available: Option<&ToolDefinition>,
    unavailable: Option<&ToolDefinition>,
    by_default: Option<&ToolDefinition>,
) -> Value {
    let mut lowered = Map::new();
    let mut problems = Vec::new();
    if let Some(definition) = available {
        let registered = (spec.schema)();
        check("registered", &registered, &mut problems);
        for format in ToolFormat::ALL {
            let tools = [lower::ToolDef {
                name: &definition.name,
                description: &definition.description,
                // Only MCP clients are served the schema as it was registered.
                parameters: match format {
                    ToolFormat::Mcp => &registered,
                    _ => &definition.parameters,
                },
                cache_control: None,
            }];
            let lower::LoweredTools { tools, quarantined, .. } = lower::lower_tools(format, &tools);
            let reasons =
                quarantined.iter().map(|it| format!("{}: {}", format.as_str(), it.reason));
            problems.extend(reasons);
            let tool = tools.into_iter().next().unwrap_or(Value::Null);
            for key in ["parameters", "input_schema", "inputSchema"] {
                let schema = tool.get("function").unwrap_or(&tool).get(key);
                if let Some(schema) = schema {
                    check(format.as_str(), schema, &mut problems);
                }
            }
            lowered.insert(format.as_str().to_owned(), tool);
        }
    }
    json!({
        "toolset": spec.toolset,
        "emoji": spec.meta.emoji_or_default(),
        "crate": spec.origin.crate_name,
        "static_description": spec.description,
        "available": available,
        "unavailable": unavailable,
        "default": by_default,
        "lowered": lowered,
        "problems": problems,
    })
}

fn check(world: &str, schema: &Value, problems: &mut Vec<String>) {
    if let Err(error) = jsonschema::meta::validate(schema) {
        problems.push(format!("{world}: {error}"));
    }
}
