//! The world of the registry cases: all 79 built-in tools as entries of a real registry, with
//! handlers that do nothing. What is linked into the tests makes no difference to it.

mod notation;
mod table;

use hermes_registry::{
    Check, Concurrency, Exposure, Kind, Owner, Registry, Tool, ToolContext, ToolFuture, ToolMeta,
    ToolOutput,
};
use hermes_tools::toolset::catalog;
use serde_json::Value;

use table::TABLE;

/// The owner of the tools.
pub const OWNER: &str = "core";

/// All built-in tools, without availability checks.
pub fn builtin_registry() -> Registry {
    register(|_, tool| tool)
}

/// All built-in tools, each with a check of its own that gives what `passes` says of its name.
pub fn builtin_registry_with_checks(passes: impl Fn(&str) -> bool) -> Registry {
    register(|name, tool| {
        let passes = passes(name);
        tool.with_check(Check::new(move |_| {
            if passes { Ok(()) } else { Err("switched off by the case".to_owned()) }
        }))
    })
}

/// A tool that does nothing, without parameters.
pub fn idle_tool(name: &str, toolset: &str) -> Tool {
    idle(name, toolset, "Does nothing.", serde_json::json!({"type": "object", "properties": {}}))
}

fn idle(name: &str, toolset: &str, description: &str, parameters: Value) -> Tool {
    let handler = |_: Value, _: ToolContext| -> ToolFuture {
        Box::pin(async { Ok(ToolOutput::Text(String::new())) })
    };
    Tool::dynamic(name, toolset, description, parameters, handler)
}

#[expect(clippy::expect_used, reason = "a slip in the table has to fail every test that uses it")]
fn register(finish: impl Fn(&str, Tool) -> Tool) -> Registry {
    let registry = Registry::new();
    let registrar = registry.registrar(Owner::builtin(OWNER));
    for (name, toolset, emoji, parameters, description) in TABLE {
        let schema = notation::parameters(parameters).expect("the table keeps to its notation");
        let tool = idle(name, toolset, description, schema).with_meta(meta(name, emoji));
        registrar.register(finish(name, tool)).expect("names are valid and occur once");
    }
    registry
}

fn meta(name: &str, emoji: &'static str) -> ToolMeta {
    let mut meta = ToolMeta::DEFAULT;
    meta.emoji = emoji;
    meta.exposure = if catalog::is_core(name) { Exposure::Core } else { Exposure::Deferrable };
    meta.kind = match name {
        "todo" | "memory" | "session_search" | "delegate_task" => Kind::AgentLevel,
        _ => Kind::Ordinary,
    };
    meta.concurrency = match name {
        "ha_get_state" | "ha_list_entities" | "ha_list_services" | "session_search"
        | "skill_view" | "skills_list" | "vision_analyze" | "web_extract" | "web_search" => {
            Concurrency::ReadOnly
        }
        "read_file" => Concurrency::reads("path"),
        "search_files" => Concurrency::reads_or("path", "."),
        "write_file" | "patch" => Concurrency::writes("path"),
        "clarify" => Concurrency::Interactive,
        _ => Concurrency::Exclusive,
    };
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_complete() {
        let snapshot = builtin_registry().snapshot();
        assert_eq!(snapshot.tools().count(), 79);
        assert_eq!(snapshot.toolsets().len(), 29);
        for name in catalog::CORE {
            assert_eq!(snapshot.get(name).unwrap().meta().exposure, Exposure::Core);
        }
        let read = snapshot.get("read_file").unwrap();
        assert_eq!(read.parameters()["properties"]["limit"]["maximum"], 2000);
        assert!(snapshot.tools().all(|tool| !tool.description().is_empty()));
    }

    #[test]
    fn checks_say_what_they_are_told() {
        let snapshot = builtin_registry_with_checks(|name| name == "todo").snapshot();
        let settings = hermes_registry::Settings::default();
        for tool in snapshot.tools() {
            let outcome = tool.check().unwrap().run(&settings);
            assert_eq!(outcome.is_ok(), tool.name() == "todo");
        }
    }
}
