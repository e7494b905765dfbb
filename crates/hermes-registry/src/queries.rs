//! Questions about many tools at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::Tool;

/// Which toolsets can be used right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsetAvailability<'a> {
    /// The toolsets with at least one usable tool.
    pub available: BTreeSet<&'a str>,
    /// The others, by name.
    pub unavailable: BTreeMap<&'a str, UnavailableToolset<'a>>,
}

/// A toolset without a usable tool, and what it may take to change that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnavailableToolset<'a> {
    /// The variables that its tools use: each once, in the order of the tools and of their
    /// declarations.
    pub env_vars: Vec<&'a str>,
    /// Its tools, in the order given.
    pub tools: Vec<&'a str>,
}

impl ToolsetAvailability<'_> {
    /// Whether a toolset has a usable tool. One that nobody registered has none.
    pub fn is_available(&self, toolset: &str) -> bool {
        self.available.contains(toolset)
    }
}

/// Sorts the toolsets of some tools by whether one of their tools can be used.
///
/// `passes` says whether a tool's probe succeeds. It isn't asked about tools without a probe, which
/// can always be used.
///
/// ```
/// # use hermes_registry::{Registry, toolset_availability};
/// let snapshot = Registry::new().snapshot();
/// let availability = toolset_availability(snapshot.tools(), |_| true);
/// assert!(!availability.is_available("web"));
/// ```
pub fn toolset_availability<'a>(
    tools: impl IntoIterator<Item = &'a Arc<Tool>>,
    mut passes: impl FnMut(&Tool) -> bool,
) -> ToolsetAvailability<'a> {
    let mut found = ToolsetAvailability::default();
    for tool in tools {
        if tool.check().is_none() || passes(tool) {
            found.available.insert(tool.toolset());
        }
        let toolset = found.unavailable.entry(tool.toolset()).or_default();
        toolset.tools.push(tool.name());
        for var in tool.requires_env() {
            if !toolset.env_vars.contains(&&*var.name) {
                toolset.env_vars.push(&var.name);
            }
        }
    }
    let available = &found.available;
    found.unavailable.retain(|toolset, _| !available.contains(toolset));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Check, EnvVar, Owner, Registry, ToolContext, ToolFuture, ToolOutput};

    fn tool(name: &str, toolset: &str, vars: &[&'static str]) -> Tool {
        let handler = |_: Value, _: ToolContext| -> ToolFuture {
            Box::pin(async { Ok(ToolOutput::from("ok")) })
        };
        let vars: Vec<EnvVar> = vars.iter().map(|name| EnvVar::secret(name, name)).collect();
        Tool::dynamic(name, toolset, "a tool", json!({}), handler).with_env(vars)
    }

    #[test]
    fn one_usable_tool_is_enough_and_variables_are_listed_once() {
        let registry = Registry::new();
        let user = registry.registrar(Owner::User);
        let never = Check::new(|_| Err("no".to_owned()));
        user.register(tool("a", "mixed", &["K"]).with_check(never.clone())).unwrap();
        user.register(tool("b", "mixed", &[])).unwrap();
        user.register(tool("c", "dead", &["K2", "K1"]).with_check(never.clone())).unwrap();
        user.register(tool("d", "dead", &["K1", "K3"]).with_check(never)).unwrap();
        let snapshot = registry.snapshot();
        let found = toolset_availability(snapshot.tools(), |_| false);
        assert!(found.is_available("mixed") && !found.is_available("dead"));
        assert!(!found.is_available("unknown"));
        let dead = &found.unavailable["dead"];
        assert_eq!(dead.env_vars, ["K2", "K1", "K3"]);
        assert_eq!(dead.tools, ["c", "d"]);
        assert_eq!(found.unavailable.len(), 1);
    }
}
