//! What the facade's `schema_dump` example tells about the linked tools.
//!
//! It prints one JSON object: `{"tools": {NAME: {..}}, "toolsets": {NAME: [TOOL, ..]}}`, the second
//! being the toolsets' own tools, without those of included toolsets. Each tool has `available`, `unavailable`
//! and `default` (its definition in three worlds, or null where it isn't shown), `lowered` (per
//! provider), `toolset`, `emoji`, `static_description` (before templates are resolved) and
//! `problems` (what the meta-validation of any of them found).

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use crate::cargo::{cargo, stdout_of};
use crate::project::Project;

/// The tools of one feature set, by name.
#[derive(Debug, Default)]
pub(crate) struct Dump {
    pub(crate) tools: Map<String, Value>,
    toolsets: Option<Map<String, Value>>,
}

impl Dump {
    /// Builds the example with the given feature flags of cargo and runs it.
    pub(crate) fn of(project: &Project, features: &[&str]) -> Result<Self> {
        let run = ["run", "--quiet", "--package", "hermes-tools", "--example", "schema_dump"];
        let text = stdout_of(cargo(&project.root).args(run).args(features))?;
        Self::parse(&text)
    }

    /// Everything there is.
    pub(crate) fn of_all(project: &Project) -> Result<Self> {
        Self::of(project, &["--all-features"])
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut value: Value =
            serde_json::from_str(text).context("schema_dump printed something else than JSON")?;
        let mut object = |key: &str| match value.get_mut(key).map(Value::take) {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        };
        let Some(mut tools) = object("tools") else {
            bail!("schema_dump printed no object `tools`");
        };
        tools.sort_keys();
        Ok(Self { tools, toolsets: object("toolsets") })
    }

    /// The tools that each toolset lists itself.
    pub(crate) fn toolsets(&self) -> Result<&Map<String, Value>> {
        self.toolsets.as_ref().context("schema_dump printed no object `toolsets`")
    }

    /// The text under `key` of a tool; empty when there is none.
    pub(crate) fn text(tool: &Value, key: &str) -> String {
        tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// A tool's description where everything is available, else the declared one.
    pub(crate) fn description(tool: &Value) -> String {
        let shown = ["available", "default"].iter().find_map(|world| {
            let definition = tool.get(world)?;
            definition.get("function").unwrap_or(definition).get("description")?.as_str()
        });
        shown.map_or_else(|| Self::text(tool, "static_description"), str::to_owned)
    }
}
