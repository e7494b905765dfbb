//! The three bridge tools: finding, describing and calling withheld tools.
//!
//! `tool_search` and `tool_describe` are answered here from a session's catalogue. `tool_call` is
//! only unwrapped: the tool it names then goes through the whole pipeline under its own name,
//! where its arguments are coerced and validated.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::assemble::ToolDefinition;
use crate::catalog::Catalog;
use crate::config::{ToolSearchConfig, clamp_limit, lenient_number};

/// Finds withheld tools by words.
pub const TOOL_SEARCH: &str = "tool_search";
/// Shows the parameters of a withheld tool.
pub const TOOL_DESCRIBE: &str = "tool_describe";
/// Calls a withheld tool.
pub const TOOL_CALL: &str = "tool_call";
/// The bridges in the order in which they are sent. The names are reserved.
pub const BRIDGE_NAMES: [&str; 3] = [TOOL_SEARCH, TOOL_DESCRIBE, TOOL_CALL];

/// Characters of a description that a search result shows.
const DESCRIPTION_CHARS: usize = 400;
/// Characters of a name that an error repeats.
const ECHO_CHARS: usize = 80;

/// Whether `name` is one of the three bridges.
#[must_use]
pub fn is_bridge(name: &str) -> bool {
    BRIDGE_NAMES.contains(&name)
}

/// The definitions of the bridges when `hidden` tools are withheld.
#[must_use]
pub fn bridge_definitions(hidden: usize) -> [ToolDefinition; 3] {
    let tool = |name: &str, description: String, parameters: Value| ToolDefinition {
        name: name.to_owned(),
        description,
        parameters: Arc::new(parameters),
    };
    let (tools, are) = if hidden == 1 { ("tool", "is") } else { ("tools", "are") };
    [
        tool(
            TOOL_SEARCH,
            format!(
                "Find tools that are not in your list. {hidden} more {tools} {are} available to \
                 you but not shown, to save space. Describe in a few words what you want to do; \
                 the best matches come back by name. Then read one with `tool_describe` and run \
                 it with `tool_call`. Search before you conclude that no tool can do something."
            ),
            json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "description": "What the tool should do or be called, in any language",
                    },
                    "limit": {
                        "type": "integer",
                        "description": "How many matches you want at most",
                    },
                },
                "required": ["query"],
            }),
        ),
        tool(
            TOOL_DESCRIBE,
            "Show what a tool found by `tool_search` does and which arguments it takes. Look here \
             before the first `tool_call` of that tool."
                .to_owned(),
            json!({
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "The tool's name as `tool_search` gave it",
                    },
                },
                "required": ["name"],
            }),
        ),
        tool(
            TOOL_CALL,
            "Run a tool found by `tool_search`. It behaves as if it were in your list and called \
             by its own name. Tools in your list are called directly, not through this one."
                .to_owned(),
            json!({
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "The tool's name as `tool_search` gave it",
                    },
                    "arguments": {
                        "type": "object",
                        "description": "Arguments for that tool, as `tool_describe` shows them",
                    },
                },
                "required": ["name", "arguments"],
            }),
        ),
    ]
}

/// Why a bridge refused. `Display` is the message for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BridgeError {
    /// `tool_search` without anything to look for.
    MissingQuery,
    /// `tool_describe` or `tool_call` without the name of a tool.
    MissingName {
        /// The bridge that was called.
        bridge: &'static str,
    },
    /// `tool_call` was to call a bridge.
    IsBridge {
        /// The bridge it was to call.
        name: String,
    },
    /// The tool is core, hence called directly, or doesn't exist.
    NotDeferrable {
        /// The bridge that was called.
        bridge: &'static str,
        /// The tool it was called for.
        name: String,
    },
    /// The tool exists, but not in this session's toolsets.
    NotInSession {
        /// The tool asked for.
        name: String,
    },
    /// `arguments` is text that isn't JSON.
    ArgumentsNotJson {
        /// What the parser says.
        detail: String,
    },
    /// `arguments` isn't an object.
    ArgumentsNotObject {
        /// The JSON type that was given.
        found: &'static str,
    },
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingQuery => f.write_str("`tool_search` needs a non-empty text `query`"),
            Self::MissingName { bridge } => {
                write!(f, "`{bridge}` needs `name`, the name of a tool found by `tool_search`")
            }
            Self::IsBridge { name } => write!(
                f,
                "`{name}` can't be run through `tool_call`; call it directly, or give the name of \
                 a tool found by `tool_search`"
            ),
            Self::NotDeferrable { bridge, name } => write!(
                f,
                "`{bridge}` doesn't know `{}`; if it is in your tool list call it directly, else \
                 look for the right name with `tool_search`",
                Echo(name)
            ),
            Self::NotInSession { name } => write!(
                f,
                "`{}` is not available in this session; use `tool_search` to see what is",
                Echo(name)
            ),
            Self::ArgumentsNotJson { detail } => write!(
                f,
                "`arguments` of `tool_call` is text that is not valid JSON ({detail}); pass an \
                 object"
            ),
            Self::ArgumentsNotObject { found } => {
                write!(f, "`arguments` of `tool_call` must be an object, not {found}")
            }
        }
    }
}

impl std::error::Error for BridgeError {}

/// The beginning of a name made up by a model, on one line.
struct Echo<'a>(&'a str);

impl fmt::Display for Echo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().take(ECHO_CHARS).try_for_each(|c| {
            let c = if c.is_control() { ' ' } else { c };
            write!(f, "{c}")
        })
    }
}

/// Answers `tool_search`: `{query, total_available, matches: [{name, source, source_name,
/// description}]}`, best match first.
///
/// # Errors
/// [`BridgeError::MissingQuery`].
pub fn answer_search(
    catalog: &Catalog,
    config: &ToolSearchConfig,
    args: &Value,
) -> Result<Value, BridgeError> {
    let query = text_argument(args, "query").ok_or(BridgeError::MissingQuery)?;
    let limit = args
        .get("limit")
        .and_then(lenient_number)
        .map_or(config.search_default_limit, |n| clamp_limit(n, config.max_search_limit));
    let matches: Vec<Value> = catalog
        .search(query, limit)
        .map(|entry| {
            json!({
                "name": entry.name,
                "source": entry.source.as_str(),
                "source_name": entry.toolset,
                "description": entry.description.chars().take(DESCRIPTION_CHARS).collect::<String>(),
            })
        })
        .collect();
    Ok(json!({ "query": query, "total_available": catalog.len(), "matches": matches }))
}

/// Answers `tool_describe`: `{name, description, parameters}`.
///
/// `is_deferrable` tells whether a name belongs to any deferrable tool, in this session or not.
///
/// # Errors
/// [`BridgeError::MissingName`], [`BridgeError::NotDeferrable`] or [`BridgeError::NotInSession`].
pub fn answer_describe(
    catalog: &Catalog,
    is_deferrable: impl Fn(&str) -> bool,
    args: &Value,
) -> Result<Value, BridgeError> {
    let bridge = TOOL_DESCRIBE;
    let name = text_argument(args, "name").ok_or(BridgeError::MissingName { bridge })?;
    if is_bridge(name) || !is_deferrable(name) {
        return Err(BridgeError::NotDeferrable { bridge, name: name.to_owned() });
    }
    let entry =
        catalog.get(name).ok_or_else(|| BridgeError::NotInSession { name: name.to_owned() })?;
    Ok(json!({
        "name": entry.name,
        "description": entry.description,
        "parameters": *entry.parameters,
    }))
}

/// The call inside a `tool_call`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedCall {
    /// The tool to run.
    pub name: String,
    /// Its arguments, not yet coerced or validated.
    pub arguments: Map<String, Value>,
}

/// Unwraps the arguments of `tool_call`.
///
/// `is_deferrable` tells whether a name belongs to any deferrable tool, `in_session` whether the
/// session has it. Missing or null `arguments` count as empty, and text is parsed.
///
/// # Errors
/// Every [`BridgeError`] but [`BridgeError::MissingQuery`].
pub fn resolve_call(
    args: &Value,
    is_deferrable: impl Fn(&str) -> bool,
    in_session: impl Fn(&str) -> bool,
) -> Result<ResolvedCall, BridgeError> {
    let bridge = TOOL_CALL;
    let name = text_argument(args, "name").ok_or(BridgeError::MissingName { bridge })?;
    if is_bridge(name) {
        return Err(BridgeError::IsBridge { name: name.to_owned() });
    }
    if !is_deferrable(name) {
        return Err(BridgeError::NotDeferrable { bridge, name: name.to_owned() });
    }
    if !in_session(name) {
        return Err(BridgeError::NotInSession { name: name.to_owned() });
    }
    let arguments = match args.get("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) => map.clone(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => map,
            Ok(other) => return Err(BridgeError::ArgumentsNotObject { found: type_name(&other) }),
            Err(error) => return Err(BridgeError::ArgumentsNotJson { detail: error.to_string() }),
        },
        Some(other) => return Err(BridgeError::ArgumentsNotObject { found: type_name(other) }),
    };
    Ok(ResolvedCall { name: name.to_owned(), arguments })
}

/// The non-blank text under `key`, trimmed.
fn text_argument<'a>(args: &'a Value, key: &str) -> Option<&'a str> {
    args.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::catalog::{CatalogEntry, ToolSource};

    fn catalog() -> Catalog {
        Catalog::new(vec![CatalogEntry {
            name: "mcp__gh__x".to_owned(),
            source: ToolSource::Mcp,
            toolset: "mcp-gh".to_owned(),
            description: "é".repeat(500),
            parameters: Arc::new(json!({"type": "object"})),
        }])
    }

    fn deferrable(name: &str) -> bool {
        ["mcp__gh__x", "plug_y"].contains(&name)
    }

    fn call(args: &Value) -> Result<(String, Value), BridgeError> {
        resolve_call(args, deferrable, |name| name == "mcp__gh__x")
            .map(|call| (call.name, Value::Object(call.arguments)))
    }

    #[test]
    fn calls_unwrap() {
        for (arguments, expected) in [
            (json!({"a": 1}), json!({"a": 1})),
            (json!("{\"a\": 1}"), json!({"a": 1})),
            (json!(" {} "), json!({})),
            (json!(null), json!({})),
        ] {
            let args = json!({"name": " mcp__gh__x\n", "arguments": arguments});
            assert_eq!(call(&args), Ok(("mcp__gh__x".to_owned(), expected)));
        }
        assert_eq!(call(&json!({"name": "mcp__gh__x"})).unwrap().1, json!({}));
    }

    #[test]
    fn calls_are_refused() {
        let name = |name: &str| name.to_owned();
        for (args, expected) in [
            (json!({}), BridgeError::MissingName { bridge: TOOL_CALL }),
            (json!([]), BridgeError::MissingName { bridge: TOOL_CALL }),
            (json!({"name": " "}), BridgeError::MissingName { bridge: TOOL_CALL }),
            (json!({"name": 5}), BridgeError::MissingName { bridge: TOOL_CALL }),
            (json!({"name": " tool_call "}), BridgeError::IsBridge { name: name("tool_call") }),
            (
                json!({"name": "terminal"}),
                BridgeError::NotDeferrable { bridge: TOOL_CALL, name: name("terminal") },
            ),
            (json!({"name": "plug_y"}), BridgeError::NotInSession { name: name("plug_y") }),
        ] {
            assert_eq!(call(&args), Err(expected), "{args}");
        }
        for (arguments, found) in [
            (json!([1]), "an array"),
            (json!(1), "a number"),
            (json!("null"), "null"),
            (json!("\"x\""), "text"),
        ] {
            let args = json!({"name": "mcp__gh__x", "arguments": arguments});
            assert_eq!(call(&args), Err(BridgeError::ArgumentsNotObject { found }));
        }
        for text in ["", "{a}", "{\"a\": 1"] {
            let args = json!({"name": "mcp__gh__x", "arguments": text});
            assert!(matches!(call(&args), Err(BridgeError::ArgumentsNotJson { .. })), "{text}");
        }
    }

    #[test]
    fn search_answers() {
        let config = ToolSearchConfig::default();
        let answer = answer_search(&catalog(), &config, &json!({"query": " gh "})).unwrap();
        assert_eq!(
            answer,
            json!({
                "query": "gh",
                "total_available": 1,
                "matches": [{
                    "name": "mcp__gh__x",
                    "source": "mcp",
                    "source_name": "mcp-gh",
                    "description": "é".repeat(400),
                }],
            })
        );
        for args in [json!({}), json!({"query": " "}), json!({"query": 3}), json!("x")] {
            assert_eq!(answer_search(&catalog(), &config, &args), Err(BridgeError::MissingQuery));
        }
        let none = answer_search(&catalog(), &config, &json!({"query": "?!"})).unwrap();
        assert_eq!(none["matches"], json!([]));
    }

    #[test]
    fn limits() {
        let entry = |i: usize| CatalogEntry {
            name: format!("tool_{i}"),
            source: ToolSource::Other,
            toolset: "t".to_owned(),
            description: String::new(),
            parameters: Arc::new(json!({})),
        };
        let catalog = Catalog::new((0..60).map(entry).collect());
        let config = ToolSearchConfig { max_search_limit: 9, ..ToolSearchConfig::default() };
        for (limit, expected) in [
            (json!(null), 5),
            (json!("x"), 5),
            (json!("nan"), 5),
            (json!(true), 5),
            (json!(0), 1),
            (json!(-4), 1),
            (json!(2.9), 2),
            (json!(" 3 "), 3),
            (json!(1e300), 9),
        ] {
            let args = json!({"query": "tool", "limit": limit});
            let answer = answer_search(&catalog, &config, &args).unwrap();
            assert_eq!(answer["matches"].as_array().unwrap().len(), expected, "{limit}");
        }
    }

    #[test]
    fn describe_answers() {
        let describe =
            |name: Value| answer_describe(&catalog(), deferrable, &json!({ "name": name }));
        let shown = describe(json!(" mcp__gh__x ")).unwrap();
        assert_eq!(shown["parameters"], json!({"type": "object"}));
        assert_eq!(shown["description"], json!("é".repeat(500)));
        let bridge = TOOL_DESCRIBE;
        let unknown = |name: &str| BridgeError::NotDeferrable { bridge, name: name.to_owned() };
        assert_eq!(describe(json!(null)), Err(BridgeError::MissingName { bridge }));
        assert_eq!(describe(json!("terminal")), Err(unknown("terminal")));
        assert_eq!(describe(json!("tool_search")), Err(unknown("tool_search")));
        let other = BridgeError::NotInSession { name: "plug_y".to_owned() };
        assert_eq!(describe(json!("plug_y")), Err(other));
    }

    #[test]
    fn definitions_say_how_much_is_hidden() {
        let tools = bridge_definitions(42);
        assert_eq!(tools.clone().map(|tool| tool.name), BRIDGE_NAMES.map(str::to_owned));
        assert!(tools[0].description.contains("42 more tools are"));
        assert!(bridge_definitions(1)[0].description.contains("1 more tool is"));
    }

    #[test]
    fn errors_repeat_only_the_start_of_a_name() {
        let error = BridgeError::NotInSession { name: "a\n".repeat(5000) };
        let message = error.to_string();
        assert!(message.len() < 200 && !message.contains('\n'));
    }
}
