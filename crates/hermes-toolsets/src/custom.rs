//! The user's own toolsets: `custom_toolsets` of `config.yaml`.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::config;
use crate::suggest;
use crate::world::{Toolset, ToolsetWorld};
use crate::{catalog, platform};

const KEY: &str = "custom_toolsets";
const KEYS: [&str; 3] = ["description", "tools", "includes"];

/// The valid ones among the user's own toolsets, in the order they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomToolsets {
    toolsets: IndexMap<String, Toolset>,
}

impl CustomToolsets {
    /// Reads the `custom_toolsets` mapping of a configuration:
    /// `{name: {description, tools, includes}}`.
    ///
    /// A toolset with a mistake is left out, and every mistake is reported. Names of tools are not
    /// looked up, since MCP servers and plugins bring theirs later; includes are looked up in
    /// `base`, in `custom_toolsets` itself and among the configured MCP servers.
    #[must_use]
    pub fn parse(config: &Value, base: &ToolsetWorld) -> (Self, Vec<CustomError>) {
        let mut toolsets = IndexMap::new();
        let mut errors = Vec::new();
        let all = match config::at(config, &[KEY]) {
            None => return Default::default(),
            Some(Value::Object(all)) => all,
            Some(_) => {
                let problem = CustomProblem::WrongType { key: KEY, expected: "a mapping" };
                return (Self::default(), vec![CustomError { toolset: String::new(), problem }]);
            }
        };
        let parser = Parser { base, all, servers: config::map_at(config, &["mcp_servers"]) };
        for (name, definition) in all {
            match parser.toolset(name, definition) {
                Ok(toolset) => {
                    toolsets.insert(name.clone(), toolset);
                }
                Err(problems) => errors.extend(
                    problems
                        .into_iter()
                        .map(|problem| CustomError { toolset: name.clone(), problem }),
                ),
            }
        }
        (Self { toolsets }, errors)
    }

    /// Name and definition of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Toolset)> {
        self.toolsets.iter().map(|(name, toolset)| (name.as_str(), toolset))
    }
}

/// A mistake in the definition of a custom toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomError {
    /// The toolset; empty if `custom_toolsets` itself is wrong.
    pub toolset: String,
    /// What is wrong.
    pub problem: CustomProblem,
}

/// What is wrong with the definition of a custom toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CustomProblem {
    /// The name means something else wherever toolsets are named: `all`, `*`, `no_mcp`, an old
    /// name, the toolset of an MCP server, or a name that a command line could not express.
    ReservedName,
    /// A value has the wrong type.
    WrongType {
        /// The key that holds it; `toolset` for the definition itself.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// A key that definitions don't have.
    UnknownKey {
        /// The key.
        key: String,
        /// The key it may be meant to be.
        nearest: Option<String>,
    },
    /// An include that is no toolset.
    UnknownInclude {
        /// The include.
        name: String,
        /// The toolset it may be meant to be.
        nearest: Option<String>,
    },
    /// A tool stands among the includes.
    ToolAmongIncludes {
        /// The tool.
        name: String,
    },
    /// A toolset stands among the tools.
    ToolsetAmongTools {
        /// The toolset.
        name: String,
    },
}

impl fmt::Display for CustomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KEY)?;
        if !self.toolset.is_empty() {
            write!(f, ".{}", self.toolset)?;
        }
        match &self.problem {
            CustomProblem::ReservedName => f.write_str(": the name is reserved"),
            CustomProblem::WrongType { key, expected } => write!(f, ": {key} must be {expected}"),
            CustomProblem::UnknownKey { key, nearest } => {
                write!(f, ": unknown key `{key}`")?;
                nearest.iter().try_for_each(|nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            CustomProblem::UnknownInclude { name, nearest } => {
                write!(f, ": includes the unknown toolset `{name}`")?;
                nearest.iter().try_for_each(|nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            CustomProblem::ToolAmongIncludes { name } => {
                write!(f, ": `{name}` is a tool; list it under `tools`")
            }
            CustomProblem::ToolsetAmongTools { name } => {
                write!(f, ": `{name}` is a toolset; list it under `includes`")
            }
        }
    }
}

impl std::error::Error for CustomError {}

struct Parser<'a> {
    base: &'a ToolsetWorld,
    all: &'a Map<String, Value>,
    servers: Option<&'a Map<String, Value>>,
}

impl Parser<'_> {
    fn toolset(&self, name: &str, definition: &Value) -> Result<Toolset, Vec<CustomProblem>> {
        let mut problems = Vec::new();
        if is_reserved(name) {
            problems.push(CustomProblem::ReservedName);
        }
        let Some(definition) = definition.as_object() else {
            problems.push(CustomProblem::WrongType { key: "toolset", expected: "a mapping" });
            return Err(problems);
        };
        for key in definition.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            let nearest = suggest::nearest(key, KEYS).map(str::to_owned);
            problems.push(CustomProblem::UnknownKey { key: key.clone(), nearest });
        }
        let description = match definition.get("description") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(_) => {
                problems.push(CustomProblem::WrongType { key: "description", expected: "text" });
                String::new()
            }
        };
        let tools = names(definition, "tools", &mut problems);
        let includes = names(definition, "includes", &mut problems);
        problems.extend(tools.iter().filter_map(|tool| self.tool_problem(tool)));
        problems.extend(includes.iter().filter_map(|include| self.include_problem(include)));
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Toolset {
            description: Cow::Owned(description),
            tools: tools.into_iter().map(Cow::Owned).collect(),
            includes: includes.into_iter().map(Cow::Owned).collect(),
            posture: false,
        })
    }

    fn tool_problem(&self, name: &str) -> Option<CustomProblem> {
        let is_misplaced = !self.base.is_tool(name) && self.is_toolset(name);
        is_misplaced.then(|| CustomProblem::ToolsetAmongTools { name: name.to_owned() })
    }

    fn include_problem(&self, name: &str) -> Option<CustomProblem> {
        if self.is_toolset(name) {
            None
        } else if self.base.is_tool(name) {
            Some(CustomProblem::ToolAmongIncludes { name: name.to_owned() })
        } else {
            let known = self.base.valid_names();
            let known = known.into_iter().chain(self.all.keys().map(String::as_str));
            let nearest = suggest::nearest(name, known).map(str::to_owned);
            Some(CustomProblem::UnknownInclude { name: name.to_owned(), nearest })
        }
    }

    fn is_toolset(&self, name: &str) -> bool {
        let server = name.strip_prefix("mcp-").unwrap_or(name);
        self.base.is_valid(name)
            || self.all.contains_key(name)
            || self.servers.is_some_and(|s| s.contains_key(name) || s.contains_key(server))
    }
}

fn is_reserved(name: &str) -> bool {
    matches!(name, "all" | "*" | platform::NO_MCP)
        || name.starts_with("mcp-")
        || name.is_empty()
        || name.contains(|c: char| c == ':' || c == ',' || c.is_whitespace() || c.is_control())
        || catalog::legacy(name).is_some()
}

fn names(
    definition: &Map<String, Value>,
    key: &'static str,
    problems: &mut Vec<CustomProblem>,
) -> Vec<String> {
    let items = match definition.get(key) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items.as_slice(),
        Some(_) => &[Value::Null],
    };
    let names: Option<Vec<String>> = items.iter().map(config::item_text).collect();
    names.unwrap_or_else(|| {
        problems.push(CustomProblem::WrongType { key, expected: "a list of names" });
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(config: &Value) -> (CustomToolsets, Vec<String>) {
        let base = ToolsetWorld::builtin();
        let (custom, errors) = CustomToolsets::parse(config, &base);
        (custom, errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn good_definitions_resolve_and_may_redefine() {
        let (custom, errors) = parse(&json!({
            "mcp_servers": {"gh": {}},
            "custom_toolsets": {
                "mine": {"description": "d", "tools": ["todo", "later_tool"], "includes": ["deep", "gh"]},
                "deep": {"includes": ["search", "mine"], "tools": null},
                "web": {"tools": ["web_search"]},
            }
        }));
        assert_eq!(errors, Vec::<String>::new());
        let world = ToolsetWorld::builtin().with_custom(&custom);
        assert_eq!(world.resolve("mine"), ["later_tool", "todo", "web_search"]);
        assert_eq!(world.resolve("web"), ["web_search"]);
        assert!(world.is_custom("mine") && !world.is_custom("file"));
    }

    #[test]
    fn every_mistake_is_reported_and_its_toolset_left_out() {
        let (custom, errors) = parse(&json!({"custom_toolsets": {
            "all": {},
            "mcp-x": {},
            "a:b": {},
            "list": ["todo"],
            "keys": {"tool": ["todo"]},
            "types": {"description": 1, "tools": "todo"},
            "wrong": {"tools": ["web"], "includes": ["web_search", "fiel", "good"]},
            "good": {"includes": ["file"]},
        }}));
        assert_eq!(custom.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["good"]);
        assert_eq!(
            errors,
            [
                "custom_toolsets.all: the name is reserved",
                "custom_toolsets.mcp-x: the name is reserved",
                "custom_toolsets.a:b: the name is reserved",
                "custom_toolsets.list: toolset must be a mapping",
                "custom_toolsets.keys: unknown key `tool`; did you mean `tools`?",
                "custom_toolsets.types: description must be text",
                "custom_toolsets.types: tools must be a list of names",
                "custom_toolsets.wrong: `web` is a toolset; list it under `includes`",
                "custom_toolsets.wrong: `web_search` is a tool; list it under `tools`",
                "custom_toolsets.wrong: includes the unknown toolset `fiel`; did you mean `file`?",
            ]
        );
        let (_, errors) = parse(&json!({"custom_toolsets": []}));
        assert_eq!(errors, ["custom_toolsets: custom_toolsets must be a mapping"]);
        assert_eq!(parse(&json!({"custom_toolsets": null})).1.len(), 0);
    }
}
