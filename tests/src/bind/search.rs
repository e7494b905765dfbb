//! Tool search, tool-name repair and error text.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_tools::error_text::sanitize_error as sanitize;
use hermes_tools::search::name_repair::{NameRepair, repair_tool_name as repair};
use hermes_tools::search::{
    Catalog, CatalogEntry, SearchMode, TOOL_CALL, TOOL_DESCRIBE, TOOL_SEARCH, ToolDefinition,
    ToolSearchConfig, ToolSource, answer_describe, answer_search, assemble, estimate_tokens,
    is_bridge, resolve_call, should_activate,
};
use hermes_tools::toolset::catalog;
use serde_json::{Map, Value, json};

use super::Binding;
use crate::world;

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("ts_config", Binding::Actual(ts_config)),
    ("ts_should_activate", Binding::Actual(ts_should_activate)),
    ("ts_estimate", Binding::Actual(ts_estimate)),
    ("ts_assemble", Binding::Actual(ts_assemble)),
    ("ts_search", Binding::Checked(ts_search)),
    ("ts_bridge", Binding::Checked(ts_bridge)),
    ("repair_tool_name", Binding::Actual(repair_tool_name)),
    ("sanitize_error", Binding::Checked(sanitize_error)),
    ("bridge_resolve", Binding::Actual(bridge_resolve)),
];

/// Whether one of the 79 built-in tools has that name.
fn is_builtin(name: &str) -> bool {
    world::BUILTIN_TOOLS.iter().any(|(tool, _)| *tool == name)
}

pub(crate) fn ts_config(input: &Value) -> Result<Value, String> {
    let config = config(input.get("raw"));
    Ok(json!({
        "enabled": config.enabled.as_str(),
        "threshold_pct": config.threshold_pct,
        "search_default_limit": config.search_default_limit,
        "max_search_limit": config.max_search_limit,
    }))
}

pub(crate) fn ts_should_activate(input: &Value) -> Result<Value, String> {
    let defaults = ToolSearchConfig::default();
    let config = ToolSearchConfig {
        enabled: SearchMode::from_text(text(input, "enabled").unwrap_or("auto")),
        threshold_pct: input
            .get("threshold_pct")
            .and_then(Value::as_f64)
            .unwrap_or(defaults.threshold_pct),
        ..defaults
    };
    let tokens = input
        .get("deferrable_tokens")
        .and_then(Value::as_u64)
        .ok_or("`deferrable_tokens` is missing")?;
    let tools = input.get("tool_count").and_then(Value::as_u64).unwrap_or(1);
    let activate = should_activate(&config, tokens, context_length(input), tools as usize);
    Ok(json!({ "activate": activate }))
}

pub(crate) fn ts_estimate(input: &Value) -> Result<Value, String> {
    Ok(json!({ "tokens": estimate_tokens(list(input, "tools")?) }))
}

pub(crate) fn ts_assemble(input: &Value) -> Result<Value, String> {
    let tools = expand(input, "tools")?;
    let registered: Vec<String> = tools
        .iter()
        .filter(|tool| text(tool, "toolset").is_some())
        .filter_map(|tool| text(tool, "name").map(str::to_owned))
        .collect();
    let definitions = tools.iter().map(definition).collect::<Result<_, _>>()?;
    let deferrable = |name: &str| {
        let known = registered.iter().any(|tool| tool == name) || is_builtin(name);
        known && !catalog::is_core(name) && !is_bridge(name)
    };
    let result =
        assemble(definitions, &config(input.get("config")), context_length(input), deferrable);
    Ok(json!({
        "names": result.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
        "activated": result.activated,
        "deferred_count": result.deferrable_count,
    }))
}

pub(crate) fn ts_search(input: &Value, expect: &Value) -> Result<(), String> {
    let entries = expand(input, "catalog")?.iter().map(entry).collect::<Result<_, _>>()?;
    let query = text(input, "query").ok_or("`query` is missing")?;
    let limit = match input.get("limit") {
        None | Some(Value::Null) => ToolSearchConfig::default().search_default_limit,
        Some(limit) => limit.as_i64().ok_or("`limit` is no integer")?.max(0) as usize,
    };
    let start = Instant::now();
    let catalog = Catalog::new(entries);
    let found: Vec<&str> = catalog.search(query, limit).map(|tool| tool.name.as_str()).collect();
    let took = start.elapsed();
    for (key, expected) in object(expect)? {
        match key.as_str() {
            "order" => equal(key, expected, &json!(found))?,
            "top" => equal(key, expected, &json!(found.first()))?,
            "count" => equal(key, expected, &json!(found.len()))?,
            "contains" => {
                let missing =
                    list(expect, key)?.iter().find(|name| !found.iter().any(|hit| *name == hit));
                if let Some(missing) = missing {
                    return Err(format!("{missing} is not among {found:?}"));
                }
            }
            "max_millis" => within(took, expected)?,
            _ => return Err(format!("unknown expectation `{key}`")),
        }
    }
    Ok(())
}

pub(crate) fn ts_bridge(input: &Value, expect: &Value) -> Result<(), String> {
    let core: Vec<&str> = match input.get("core") {
        None | Some(Value::Null) => Vec::new(),
        Some(_) => list(input, "core")?
            .iter()
            .filter_map(|tool| text(tool, "name").or(tool.as_str()))
            .collect(),
    };
    let is_core = |name: &str| catalog::is_core(name) || core.contains(&name);
    let mut entries = expand(input, "catalog")?
        .iter()
        .map(entry)
        .collect::<Result<Vec<CatalogEntry>, String>>()?;
    entries.retain(|tool| !is_core(&tool.name) && !is_bridge(&tool.name));
    let catalog = Catalog::new(entries);
    let deferrable =
        |name: &str| !is_core(name) && (catalog.get(name).is_some() || is_builtin(name));
    let args = input.get("args").unwrap_or(&Value::Null);
    let start = Instant::now();
    let answer = match text(input, "tool") {
        Some(TOOL_SEARCH) => answer_search(&catalog, &config(input.get("config")), args),
        Some(TOOL_DESCRIBE) => answer_describe(&catalog, deferrable, args),
        Some(TOOL_CALL) => resolve_call(args, deferrable, |name| catalog.get(name).is_some())
            .map(|call| json!({ "name": call.name, "arguments": call.arguments })),
        other => return Err(format!("`tool` is {other:?}")),
    };
    let took = start.elapsed();
    let failed = answer.is_err();
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => json!({ "error": error.to_string() }),
    };
    for (key, expected) in object(expect)? {
        match key.as_str() {
            "error" => equal(key, expected, &json!(failed))?,
            "max_millis" => within(took, expected)?,
            _ if failed => return Err(format!("refused: {answer}")),
            _ => compare_answer(key, expected, &answer)?,
        }
    }
    if failed && expect.get("error").is_none() {
        return Err(format!("refused: {answer}"));
    }
    Ok(())
}

pub(crate) fn repair_tool_name(input: &Value) -> Result<Value, String> {
    let name = text(input, "name").ok_or("`name` is missing")?;
    let valid: Vec<&str> = list(input, "valid")?.iter().filter_map(Value::as_str).collect();
    let name = match repair(name, &valid, |_| false) {
        NameRepair::Exact => Some(name.to_owned()),
        NameRepair::Repaired(tool) => Some(tool),
        NameRepair::NoRepair { .. } | NameRepair::Blank => None,
    };
    Ok(json!({ "name": name }))
}

pub(crate) fn sanitize_error(input: &Value, expect: &Value) -> Result<(), String> {
    let message = long_text(input.get("message").ok_or("`message` is missing")?)?;
    let clean = sanitize(&message);
    let lower = clean.to_lowercase();
    for (key, expected) in object(expect)? {
        match key.as_str() {
            "absent" | "contains" => {
                for part in list(expect, key)? {
                    let part = long_text(part)?;
                    let ok = match key.as_str() {
                        "absent" => !lower.contains(&part.to_lowercase()),
                        _ => clean.contains(&part),
                    };
                    if !ok {
                        return Err(format!("`{key}` {part:?}: {clean:?}"));
                    }
                }
            }
            "max_chars" => {
                let max = expected.as_u64().ok_or("`max_chars` is no number")?;
                let chars = clean.chars().count() as u64;
                if chars > max {
                    return Err(format!("{chars} characters, {max} allowed"));
                }
            }
            _ => return Err(format!("unknown expectation `{key}`")),
        }
    }
    Ok(())
}

pub(crate) fn bridge_resolve(input: &Value) -> Result<Value, String> {
    let deferrable = list(input, "deferrable")?;
    let in_scope = list(input, "in_scope")?;
    let args = input.get("args").unwrap_or(&Value::Null);
    let has = |names: &[Value], name: &str| names.iter().any(|known| known == name);
    Ok(match resolve_call(args, |name| has(deferrable, name), |name| has(in_scope, name)) {
        Ok(call) => json!({ "error": false, "name": call.name, "args": call.arguments }),
        Err(_) => json!({ "error": true }),
    })
}

/// Compares one field of a bridge's answer, or something derived from its matches.
fn compare_answer(key: &str, expected: &Value, answer: &Value) -> Result<(), String> {
    let matches = answer.get("matches").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let description_chars =
        |found: &Value| text(found, "description").map_or(0, |text| text.chars().count());
    match key {
        "match_count" => equal(key, expected, &json!(matches.len())),
        "match_count_min" => at_most(key, expected, &json!(matches.len())),
        "top" => {
            equal(key, expected, &json!(matches.first().and_then(|found| text(found, "name"))))
        }
        "match_keys" => matches.iter().try_for_each(|found| {
            let mut keys: Vec<&str> = object(found)?.keys().map(String::as_str).collect();
            keys.sort_unstable();
            let mut wanted: Vec<&str> =
                expected.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            wanted.sort_unstable();
            equal(key, &json!(wanted), &json!(keys))
        }),
        "max_description_chars" => {
            let longest = matches.iter().map(description_chars).max().unwrap_or(0);
            at_most(key, &json!(longest), expected)
        }
        "first_description_chars" => {
            equal(key, expected, &json!(matches.first().map(description_chars)))
        }
        _ => equal(key, expected, answer.get(key).unwrap_or(&Value::Null)),
    }
}

fn equal(what: &str, expected: &Value, actual: &Value) -> Result<(), String> {
    let same = match (expected.as_f64(), actual.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => expected == actual,
    };
    if same { Ok(()) } else { Err(format!("`{what}`: expected {expected}, got {actual}")) }
}

fn at_most(what: &str, low: &Value, high: &Value) -> Result<(), String> {
    match (low.as_f64(), high.as_f64()) {
        (Some(a), Some(b)) if a <= b => Ok(()),
        _ => Err(format!("`{what}`: {low} is more than {high}")),
    }
}

/// Time limits are for release builds.
fn within(took: Duration, limit: &Value) -> Result<(), String> {
    let limit = limit.as_f64().ok_or("a time limit is no number")?;
    let millis = took.as_secs_f64() * 1000.0;
    if cfg!(debug_assertions) || millis <= limit {
        Ok(())
    } else {
        Err(format!("took {millis:.1} ms, {limit} allowed"))
    }
}

fn config(raw: Option<&Value>) -> ToolSearchConfig {
    raw.map_or_else(ToolSearchConfig::default, ToolSearchConfig::from_value)
}

fn context_length(input: &Value) -> Option<u64> {
    input.get("context_length").and_then(Value::as_u64)
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn object(value: &Value) -> Result<&Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("no object: {value}"))
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    value
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .ok_or_else(|| format!("no list `{key}`"))
}

/// Text, or a list of `{s, n}`: `s` repeated `n` times.
fn long_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => parts
            .iter()
            .map(|part| {
                let times = part.get("n").and_then(Value::as_u64).unwrap_or(1);
                let text = text(part, "s").ok_or_else(|| format!("no text: {part}"))?;
                Ok(text.repeat(times as usize))
            })
            .collect(),
        other => Err(format!("no text: {other}")),
    }
}

/// The list under `key` and the entries that `<key>_generate` makes.
fn expand(input: &Value, key: &str) -> Result<Vec<Value>, String> {
    let mut entries = match input.get(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(_) => list(input, key)?.to_vec(),
    };
    if let Some(generate) = input.get(format!("{key}_generate")) {
        let count = generate.get("count").and_then(Value::as_u64).ok_or("no count to generate")?;
        let template = ["entry", "template"]
            .iter()
            .find_map(|nested| generate.get(*nested))
            .unwrap_or(generate);
        entries.extend((0..count).map(|i| numbered(template, &i.to_string())));
    }
    Ok(entries)
}

/// `template` with `{i}` replaced in every text.
fn numbered(template: &Value, i: &str) -> Value {
    match template {
        Value::String(text) => Value::String(text.replace("{i}", i)),
        Value::Array(items) => items.iter().map(|item| numbered(item, i)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, item)| (key.clone(), numbered(item, i))).collect()
        }
        other => other.clone(),
    }
}

/// The description of a tool, made up to be `description_chars` long if that is given.
fn description(tool: &Value) -> String {
    let text = text(tool, "description").unwrap_or_default();
    match tool.get("description_chars").and_then(Value::as_u64) {
        Some(chars) => text.chars().chain(std::iter::repeat('x')).take(chars as usize).collect(),
        None => text.to_owned(),
    }
}

fn parameters(tool: &Value) -> Value {
    let names = tool.get("params").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let properties: Map<String, Value> = names
        .iter()
        .filter_map(|name| Some((name.as_str()?.to_owned(), json!({ "type": "string" }))))
        .collect();
    json!({ "type": "object", "properties": properties })
}

fn definition(tool: &Value) -> Result<ToolDefinition, String> {
    Ok(ToolDefinition {
        name: text(tool, "name").ok_or_else(|| format!("no name: {tool}"))?.to_owned(),
        description: description(tool),
        parameters: Arc::new(parameters(tool)),
    })
}

fn entry(tool: &Value) -> Result<CatalogEntry, String> {
    let toolset = text(tool, "toolset").unwrap_or("mcp-x");
    let source = if toolset.starts_with("mcp-") { ToolSource::Mcp } else { ToolSource::Plugin };
    let ToolDefinition { name, description, parameters } = definition(tool)?;
    Ok(CatalogEntry { name, source, toolset: toolset.to_owned(), description, parameters })
}
