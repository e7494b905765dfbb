//! The list of tool definitions that is sent to a model.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Value;

use crate::activation::{estimate_tokens, should_activate};
use crate::bridge::{bridge_definitions, is_bridge};
use crate::config::ToolSearchConfig;

/// A tool as a model sees it.
///
/// Serialises to an entry of an OpenAI tool list:
/// `{"type":"function","function":{"name","description","parameters"}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// The tool's name.
    pub name: String,
    /// What the tool does.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Arc<Value>,
}

impl Serialize for ToolDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Function<'a>(&'a ToolDefinition);

        impl Serialize for Function<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut function = serializer.serialize_struct("Function", 3)?;
                function.serialize_field("name", &self.0.name)?;
                function.serialize_field("description", &self.0.description)?;
                function.serialize_field("parameters", self.0.parameters.as_ref())?;
                function.end()
            }
        }

        let mut tool = serializer.serialize_struct("Tool", 2)?;
        tool.serialize_field("type", "function")?;
        tool.serialize_field("function", &Function(self))?;
        tool.end()
    }
}

/// What [`assemble`] made of a list of definitions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assembly {
    /// The definitions to send.
    pub tools: Vec<ToolDefinition>,
    /// Whether the deferrable tools were replaced by the bridges.
    pub activated: bool,
    /// How many of the given tools are deferrable, withheld or not.
    pub deferrable_count: usize,
}

/// Replaces the deferrable tools by the three bridges if that pays off.
///
/// Definitions keep their order and the bridges come last. Bridges already in the list are
/// dropped first, so assembling an assembled list again is safe. `deferrable` tells whether a
/// tool may be withheld: it is registered and isn't core.
#[must_use]
pub fn assemble(
    mut tools: Vec<ToolDefinition>,
    config: &ToolSearchConfig,
    context_length: Option<u64>,
    deferrable: impl Fn(&str) -> bool,
) -> Assembly {
    tools.retain(|tool| !is_bridge(&tool.name));
    let hidden: Vec<&ToolDefinition> = tools.iter().filter(|tool| deferrable(&tool.name)).collect();
    let deferrable_count = hidden.len();
    let activated = should_activate(config, estimate_tokens(hidden), context_length, tools.len());
    if activated {
        tools.retain(|tool| !deferrable(&tool.name));
        tools.extend(bridge_definitions(deferrable_count));
    }
    Assembly { tools, activated, deferrable_count }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::config::SearchMode;

    fn tool(name: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: "d".to_owned(),
            parameters: Arc::new(json!({"type": "object"})),
        }
    }

    fn run(names: &[&str], enabled: SearchMode) -> Assembly {
        let config = ToolSearchConfig { enabled, ..ToolSearchConfig::default() };
        let tools = names.iter().map(|name| tool(name)).collect();
        assemble(tools, &config, Some(1_000_000), |name| name.starts_with("mcp_"))
    }

    fn names(assembly: &Assembly) -> Vec<&str> {
        assembly.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn bridges_replace_deferrable_tools() {
        let on = run(&["mcp_a", "z", "mcp_b", "a"], SearchMode::On);
        assert_eq!(names(&on), ["z", "a", "tool_search", "tool_describe", "tool_call"]);
        assert_eq!((on.activated, on.deferrable_count), (true, 2));

        let again = assemble(on.tools, &ToolSearchConfig::default(), None, |_| false);
        assert_eq!(names(&again), ["z", "a"]);

        let off = run(&["mcp_a", "tool_call", "z"], SearchMode::Off);
        assert_eq!(names(&off), ["mcp_a", "z"]);
        assert_eq!((off.activated, off.deferrable_count), (false, 1));
    }

    #[test]
    fn too_many_tools_for_one_request() {
        let mut many: Vec<String> = (0..127).map(|i| format!("core_{i}")).collect();
        many.push("mcp_a".to_owned());
        let list: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(!run(&list, SearchMode::Auto).activated);
        let mut list = list;
        list.push("core_x");
        assert!(run(&list, SearchMode::Auto).activated);
    }

    #[test]
    fn openai_shape() {
        assert_eq!(
            serde_json::to_string(&tool("a")).unwrap(),
            r#"{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"}}}"#
        );
    }
}
