//! Definitions that depend on settings or on which other tools are available.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{Settings, ToolError};

/// What a definition may depend on.
#[derive(Clone, Copy, Debug)]
pub struct SchemaContext<'a> {
    /// The host's settings.
    pub settings: &'a Settings,
    /// The names of the tools that the model is going to see.
    pub available: &'a BTreeSet<&'a str>,
}

/// The parts of a definition that replace the declared ones. Absent parts stay.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Overrides {
    /// Another description.
    pub description: Option<String>,
    /// Another schema of the arguments.
    pub parameters: Option<Value>,
    /// Leaves the tool out of the list.
    pub withdrawn: bool,
}

impl Overrides {
    /// Replaces the description.
    pub fn description(text: impl Into<String>) -> Self {
        Self { description: Some(text.into()), ..Self::default() }
    }

    /// Replaces the schema of the arguments.
    pub fn parameters(schema: Value) -> Self {
        Self { parameters: Some(schema), ..Self::default() }
    }

    /// Leaves the tool out of the list of definitions.
    pub fn withdrawn() -> Self {
        Self { withdrawn: true, ..Self::default() }
    }
}

/// Computes [`Overrides`]. On an error the declared definition is used.
pub type OverridesFn = fn(&SchemaContext<'_>) -> Result<Overrides, ToolError>;
