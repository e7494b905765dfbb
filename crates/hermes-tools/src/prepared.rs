//! A registered tool with what is derived from its schema, each part made once and on first use.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use hermes_registry::{Exposure, Owner, Tool, template};
use hermes_schema::{SchemaError, Validator};
use serde_json::Value;

use hermes_search::{CatalogEntry, ToolDefinition, ToolSource};

/// A tool ready for definitions and dispatch.
pub(crate) struct PreparedTool {
    pub(crate) tool: Arc<Tool>,
    validator: OnceLock<Result<Validator, SchemaError>>,
    // The definition before templates and overrides, with the schema repaired for providers.
    definition: OnceLock<Result<ToolDefinition, SchemaError>>,
    has_templates: OnceLock<bool>,
}

impl PreparedTool {
    pub(crate) fn new(tool: Arc<Tool>) -> Self {
        Self {
            tool,
            validator: OnceLock::new(),
            definition: OnceLock::new(),
            has_templates: OnceLock::new(),
        }
    }

    pub(crate) fn is_deferrable(&self) -> bool {
        self.tool.meta().exposure == Exposure::Deferrable
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.tool.meta().exposure == Exposure::Hidden
    }

    /// Checks arguments against the registered schema.
    pub(crate) fn validator(&self) -> Result<&Validator, &SchemaError> {
        self.validator.get_or_init(|| Validator::compile(self.tool.parameters())).as_ref()
    }

    /// The definition as declared.
    pub(crate) fn definition(&self) -> Result<&ToolDefinition, &SchemaError> {
        self.definition
            .get_or_init(|| {
                Ok(ToolDefinition {
                    name: self.tool.name().to_owned(),
                    description: self.tool.description().to_owned(),
                    parameters: repaired(self.tool.parameters())?,
                })
            })
            .as_ref()
    }

    /// Whether a description mentions other tools in templates.
    pub(crate) fn has_templates(&self) -> bool {
        *self.has_templates.get_or_init(|| {
            template::is_template(self.tool.description())
                || any_description(self.tool.parameters(), &template::is_template)
        })
    }

    pub(crate) fn catalog_entry(&self, definition: &ToolDefinition) -> CatalogEntry {
        CatalogEntry {
            name: definition.name.clone(),
            source: match self.tool.owner() {
                Owner::Mcp { .. } => ToolSource::Mcp,
                Owner::Plugin { .. } => ToolSource::Plugin,
                _ => ToolSource::Other,
            },
            toolset: self.tool.toolset().to_owned(),
            description: definition.description.clone(),
            parameters: Arc::clone(&definition.parameters),
        }
    }
}

/// A schema repaired for providers, sharing the given one where nothing is wrong with it.
pub(crate) fn repaired(parameters: &Arc<Value>) -> Result<Arc<Value>, SchemaError> {
    let schema = match hermes_schema::repair(parameters)? {
        Cow::Borrowed(_) => Arc::clone(parameters),
        Cow::Owned(schema) => Arc::new(schema),
    };
    hermes_schema::check_references(&schema)?;
    Ok(schema)
}

/// Resolves the templates of every description in a schema.
pub(crate) fn render_schema(schema: &Value, is_available: &dyn Fn(&str) -> bool) -> Value {
    let mut schema = schema.clone();
    let mut todo = vec![&mut schema];
    while let Some(node) = todo.pop() {
        match node {
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(text) if key == "description" => {
                            if let Cow::Owned(shown) = template::render(text, is_available) {
                                *text = shown;
                            }
                        }
                        other => todo.push(other),
                    }
                }
            }
            Value::Array(list) => todo.extend(list),
            _ => {}
        }
    }
    schema
}

fn any_description(schema: &Value, holds: &dyn Fn(&str) -> bool) -> bool {
    let mut todo = vec![schema];
    while let Some(node) = todo.pop() {
        match node {
            Value::Object(map) => {
                if map.get("description").and_then(Value::as_str).is_some_and(holds) {
                    return true;
                }
                todo.extend(map.values());
            }
            Value::Array(list) => todo.extend(list),
            _ => {}
        }
    }
    false
}
