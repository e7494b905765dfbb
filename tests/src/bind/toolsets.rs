//! Toolsets, distributions and credentials.

use std::collections::BTreeMap;

use hermes_tools::credentials::{CredentialMeta, Credentials, manifest_env as derive_entry};
use hermes_tools::distribution::{Distribution, sample};
use hermes_tools::toolset::{
    PlatformRequest, ToggleAction, ToggleRequest, ToolsetWorld, platform_toolsets as for_platform,
    toggle, validate_platform_toolsets as validate,
};
use serde_json::{Value, json};

use super::Binding;
use crate::world::{texts, toolset_world};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("resolve_toolset", Binding::Checked(resolve_toolset)),
    ("toolset_names", Binding::Actual(toolset_names)),
    ("platform_toolsets", Binding::Actual(platform_toolsets)),
    ("tools_toggle", Binding::Checked(tools_toggle)),
    ("validate_platform_toolsets", Binding::Actual(validate_platform_toolsets)),
    ("sample_distribution", Binding::Actual(sample_distribution)),
    ("env_meta", Binding::Checked(env_meta)),
    ("manifest_env", Binding::Actual(manifest_env)),
];

fn world(input: &Value) -> ToolsetWorld {
    toolset_world(&input["world"], &input["platforms"])
}

fn text<'v>(input: &'v Value, key: &str) -> Result<&'v str, String> {
    input[key].as_str().ok_or_else(|| format!("the case has no text `{key}`"))
}

fn same(what: &str, actual: &Value, expected: &Value) -> Result<(), String> {
    if actual == expected {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected}, got {actual}"))
    }
}

pub(crate) fn resolve_toolset(input: &Value, expect: &Value) -> Result<(), String> {
    let world = world(input);
    let name = text(input, "name")?;
    let tools = if input["static_only"] == json!(true) {
        world.resolve_static(name)
    } else {
        world.resolve(name)
    };
    for (key, expected) in expect.as_object().into_iter().flatten() {
        match key.as_str() {
            "valid" => same(key, &json!(world.is_valid(name)), expected)?,
            "tools" => same(key, &json!(tools), expected)?,
            "count" => same(key, &json!(tools.len()), expected)?,
            "contains" => {
                let missing: Vec<_> =
                    texts(expected).into_iter().filter(|t| !tools.contains(&t.as_str())).collect();
                same("missing", &json!(missing), &json!([]))?;
            }
            _ => return Err(format!("unknown expectation `{key}`")),
        }
    }
    Ok(())
}

pub(crate) fn toolset_names(input: &Value) -> Result<Value, String> {
    Ok(json!({"names": world(input).names()}))
}

fn platform_request<'v>(
    input: &'v Value,
    platform: &'v str,
    plugin_toolsets: &'v [String],
) -> PlatformRequest<'v> {
    PlatformRequest {
        config: &input["config"],
        platform,
        plugin_toolsets,
        hass_token: input["env"]["HASS_TOKEN"].as_str().is_some_and(|t| !t.trim().is_empty()),
        xai_credentials: input["xai_credentials"] == json!(true)
            || input["env"]["XAI_API_KEY"].as_str().is_some_and(|key| !key.trim().is_empty()),
        include_default_mcp: input["include_default_mcp"] != json!(false),
    }
}

/// The case's world, with its plugin toolsets registered.
fn world_with_plugins(input: &Value, plugins: &[String]) -> ToolsetWorld {
    world(input).with_registered(plugins.iter().map(|name| (format!("{name}_tool"), name.as_str())))
}

pub(crate) fn platform_toolsets(input: &Value) -> Result<Value, String> {
    let plugins = texts(&input["plugin_toolsets"]);
    let request = platform_request(input, text(input, "platform")?, &plugins);
    let world = world_with_plugins(input, &plugins);
    Ok(json!({"toolsets": for_platform(&world, &request).toolsets}))
}

/// A list of the configuration; one that was never written is empty.
fn listed(value: &Value) -> Value {
    if value.is_null() { json!([]) } else { value.clone() }
}

pub(crate) fn tools_toggle(input: &Value, expect: &Value) -> Result<(), String> {
    let plugins = texts(&input["plugin_toolsets"]);
    let platform = input["platform"].as_str().unwrap_or("cli");
    let names = texts(&input["names"]);
    let action = match text(input, "action")? {
        "enable" => ToggleAction::Enable,
        "disable" => ToggleAction::Disable,
        other => return Err(format!("unknown action `{other}`")),
    };
    let request = ToggleRequest {
        platform: platform_request(input, platform, &plugins),
        action,
        names: &names,
        single_tools: false,
    };
    let outcome = toggle(&world_with_plugins(input, &plugins), &request);
    let (is_error, outcome) = match outcome {
        Ok(outcome) => (false, outcome),
        Err(_) => (true, Default::default()),
    };
    let mut after = input["config"].clone();
    for edit in &outcome.edits {
        edit.apply(&mut after);
    }
    for (key, expected) in expect.as_object().into_iter().flatten() {
        match key.as_str() {
            "platform_toolsets" => same(key, &after["platform_toolsets"][platform], expected)?,
            "known_plugin_toolsets" => {
                same(key, &after["known_plugin_toolsets"][platform], expected)?;
            }
            "disabled_toolsets" => {
                same(key, &listed(&after["agent"]["disabled_toolsets"]), expected)?;
            }
            "mcp_exclude" => {
                for (server, expected) in expected.as_object().into_iter().flatten() {
                    let exclude = &after["mcp_servers"][server]["tools"]["exclude"];
                    same(&format!("exclude of {server}"), &listed(exclude), expected)?;
                }
            }
            "rejected" => {
                let rejected: Vec<_> = outcome.rejected.iter().map(|r| r.name.as_str()).collect();
                same(key, &json!(rejected), expected)?;
            }
            "unchanged" => same(key, &json!(outcome.edits.is_empty()), expected)?,
            "error" => same(key, &json!(is_error), expected)?,
            _ => return Err(format!("unknown expectation `{key}`")),
        }
    }
    Ok(())
}

pub(crate) fn validate_platform_toolsets(input: &Value) -> Result<Value, String> {
    let report = validate(&world(input), &input["platform_toolsets"], &[]);
    let unknown: Vec<_> = report.unknown.iter().map(|unknown| &unknown.name).collect();
    let suggest: BTreeMap<_, _> = report
        .unknown
        .iter()
        .filter_map(|unknown| Some((&unknown.name, unknown.suggestion.as_ref()?)))
        .collect();
    Ok(json!({"unknown": unknown, "suggest": suggest, "zero_tools": report.zero_valid}))
}

pub(crate) fn sample_distribution(input: &Value) -> Result<Value, String> {
    let given;
    let chances: Vec<(&str, f64)> = match input["name"].as_str() {
        Some(name) => match Distribution::named(name) {
            Ok(known) => known.chances.iter().map(|&(n, chance)| (n, chance.into())).collect(),
            Err(_) => return Ok(json!({"error": true})),
        },
        None => {
            given = chances_of(&input["distribution"])?;
            given.iter().map(|(name, chance)| (name.as_str(), *chance)).collect()
        }
    };
    let world = world(input);
    let mut rolls = input["rolls"].as_array().into_iter().flatten().filter_map(Value::as_f64);
    let mut missing = 0;
    let toolsets = sample(
        chances,
        |name| world.is_valid(name),
        || {
            rolls.next().unwrap_or_else(|| {
                missing += 1;
                1.0
            })
        },
    );
    if missing > 0 {
        return Err(format!("{missing} rolls more were drawn than the case gives"));
    }
    Ok(json!({"toolsets": toolsets, "error": false}))
}

/// A distribution written out in a case: a mapping, or a list of pairs.
fn chances_of(distribution: &Value) -> Result<Vec<(String, f64)>, String> {
    let pair = |name: &Value, chance: &Value| Some((name.as_str()?.to_owned(), chance.as_f64()?));
    let distribution = distribution.get("toolsets").unwrap_or(distribution);
    let chances: Option<Vec<_>> = match distribution {
        Value::Object(map) => map.iter().map(|(n, c)| Some((n.clone(), c.as_f64()?))).collect(),
        Value::Array(list) => list.iter().map(|item| pair(item.get(0)?, item.get(1)?)).collect(),
        _ => None,
    };
    chances.ok_or_else(|| format!("not a distribution: {distribution}"))
}

fn fields(meta: &CredentialMeta) -> Value {
    json!({
        "name": meta.name,
        "description": meta.description,
        "prompt": meta.prompt,
        "url": meta.url,
        "tools": meta.tools,
        "password": meta.password,
        "category": meta.category.as_str(),
        "advanced": meta.advanced,
    })
}

pub(crate) fn env_meta(input: &Value, expect: &Value) -> Result<(), String> {
    let name = text(input, "name")?;
    let credentials = Credentials::builtin();
    let meta = credentials.get(name).ok_or_else(|| format!("`{name}` is not known"))?;
    let actual = fields(meta);
    for (key, expected) in expect.as_object().into_iter().flatten() {
        match (key.as_str(), expected.as_str(), &meta.url) {
            // A trailing slash of an address is not significant.
            ("url", Some(expected), Some(url)) => {
                let (url, expected) = (url.trim_end_matches('/'), expected.trim_end_matches('/'));
                same(key, &json!(url), &json!(expected))?;
            }
            _ => same(key, &actual[key], expected)?,
        }
    }
    Ok(())
}

pub(crate) fn manifest_env(input: &Value) -> Result<Value, String> {
    Ok(derive_entry(&input["entry"]).map_or_else(
        || json!({"skipped": true}),
        |meta| match Credentials::builtin().get(&meta.name) {
            Some(known) => {
                let mut known = fields(known);
                known["skipped"] = json!(true);
                known
            }
            None => fields(&meta),
        },
    ))
}
