//! Tool definitions in the shape and the JSON Schema dialect of each provider.

pub mod anthropic;
pub mod gemini;
pub mod llama_cpp;
pub mod mcp;
pub mod moonshot;
pub mod openai;
mod shape;
pub mod xai;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

pub use self::anthropic::Renames;
use crate::{SchemaError, refs, repair};

/// A tool as it was registered.
#[derive(Debug, Clone, Copy)]
pub struct ToolDef<'t> {
    /// The registered name.
    pub name: &'t str,
    /// What the model is told about the tool.
    pub description: &'t str,
    /// The registered schema of the arguments; null if there is none.
    pub parameters: &'t Value,
    /// Anthropic's cache marker, passed on to Anthropic as it is and to nobody else.
    pub cache_control: Option<&'t Value>,
}

/// Who the tools are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolFormat {
    /// Chat Completions and what imitates it: `{type: function, function: {..}}`.
    OpenAi,
    /// Messages: `{name, description, input_schema}`.
    Anthropic,
    /// Native Gemini function declarations: `{name, description, parameters?}`.
    Gemini,
    /// Kimi models, in the Chat Completions shape.
    Moonshot,
    /// Grok models, in the Chat Completions shape.
    Xai,
    /// A llama.cpp server that refused the full schemas, in the Chat Completions shape.
    LlamaCpp,
    /// MCP tool descriptors with the registered schema: `{name, description, inputSchema}`.
    Mcp,
}

impl ToolFormat {
    /// Every format, in the order of their names on the command line.
    pub const ALL: [Self; 7] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::Moonshot,
        Self::Xai,
        Self::LlamaCpp,
        Self::Mcp,
    ];

    /// The format's name, e.g. `openai`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Moonshot => "moonshot",
            Self::Xai => "xai",
            Self::LlamaCpp => "llama_cpp",
            Self::Mcp => "mcp",
        }
    }
}

/// Tools ready to be sent, and what happened to the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoweredTools {
    /// The tools in the provider's wire shape, in the order given.
    pub tools: Vec<Value>,
    /// By tool name, the parameters that have another name on the wire.
    pub renames: BTreeMap<String, Renames>,
    /// The tools left out, with the reason.
    pub quarantined: Vec<Quarantined>,
}

/// A tool that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The tool's name.
    pub name: String,
    /// Why it was left out.
    pub reason: QuarantineReason,
}

/// Why a tool was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// Its schema cannot be used.
    Schema(SchemaError),
    /// A tool of this name was already listed; providers refuse a second one.
    Duplicate,
    /// It has no name.
    Nameless,
}

impl std::fmt::Display for QuarantineReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Schema(error) => error.fmt(f),
            Self::Duplicate => f.write_str("a tool of this name is already listed"),
            Self::Nameless => f.write_str("the tool has no name"),
        }
    }
}

/// Repairs and lowers tools for one provider. A tool that cannot be sent is left out with the
/// reason, so that it does not fail the whole request.
#[must_use]
pub fn lower_tools(format: ToolFormat, tools: &[ToolDef<'_>]) -> LoweredTools {
    let mut lowered = LoweredTools::default();
    let mut names = BTreeSet::new();
    for tool in tools {
        let wire = if tool.name.is_empty() {
            Err(QuarantineReason::Nameless)
        } else if names.contains(tool.name) {
            Err(QuarantineReason::Duplicate)
        } else {
            lower_tool(format, tool, &mut lowered.renames).map_err(QuarantineReason::Schema)
        };
        match wire {
            Ok(wire) => {
                names.insert(tool.name);
                lowered.tools.push(wire);
            }
            Err(reason) => {
                lowered.quarantined.push(Quarantined { name: tool.name.to_owned(), reason });
            }
        }
    }
    lowered
}

fn lower_tool(
    format: ToolFormat,
    tool: &ToolDef<'_>,
    renames: &mut BTreeMap<String, Renames>,
) -> Result<Value, SchemaError> {
    if format == ToolFormat::Mcp {
        return mcp::descriptor(tool);
    }
    let repaired = repair(tool.parameters)?;
    refs::check(&repaired)?;
    match format {
        ToolFormat::Anthropic => {
            let lowered = anthropic::lower(&repaired)?;
            if !lowered.renames.is_empty() {
                renames.insert(tool.name.to_owned(), lowered.renames);
            }
            Ok(anthropic::wire(tool, lowered.schema))
        }
        ToolFormat::Gemini => Ok(gemini::wire(tool, gemini::lower(&repaired)?.into_owned())),
        ToolFormat::Moonshot => Ok(openai::wire(tool, moonshot::lower(&repaired)?.into_owned())),
        ToolFormat::Xai => Ok(openai::wire(tool, xai::lower(&repaired).into_owned())),
        ToolFormat::LlamaCpp => Ok(openai::wire(tool, llama_cpp::lower(&repaired).into_owned())),
        ToolFormat::OpenAi | ToolFormat::Mcp => Ok(openai::wire(tool, repaired.into_owned())),
    }
}

/// `{name, description}`, the beginning of every wire shape.
fn named(tool: &ToolDef<'_>) -> Map<String, Value> {
    [("name", tool.name), ("description", tool.description)]
        .into_iter()
        .map(|(key, text)| (key.to_owned(), Value::from(text)))
        .collect()
}

#[cfg(test)]
mod tests;
