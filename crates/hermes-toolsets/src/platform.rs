//! Which toolsets a platform gets.

use std::collections::{BTreeMap, BTreeSet};

use hermes_registry::Settings;
use serde_json::Value;

use crate::catalog::{self, CONFIGURABLE, DEFAULT_OFF};
use crate::config;
use crate::world::ToolsetWorld;

/// The word in a platform's list that keeps all MCP servers away.
pub(super) const NO_MCP: &str = "no_mcp";

/// What decides which toolsets a platform gets, beside the world.
#[derive(Clone, Copy, Debug)]
pub struct PlatformRequest<'a> {
    /// The parsed `config.yaml`.
    pub config: &'a Value,
    /// The platform, such as `cli` or `telegram`.
    pub platform: &'a str,
    /// The toolsets that plugins brought.
    pub plugin_toolsets: &'a [String],
    /// Whether `HASS_TOKEN` is filled.
    pub hass_token: bool,
    /// Whether there are credentials for xAI.
    pub xai_credentials: bool,
    /// Whether MCP servers that no list names are on.
    pub include_default_mcp: bool,
}

/// The toolsets a platform gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformToolsets {
    /// Their names, sorted.
    pub toolsets: BTreeSet<String>,
    /// Whether the saved list has names and none of them is a toolset; worth one warning.
    pub none_valid: bool,
}

impl<'a> PlatformRequest<'a> {
    /// What `settings` say, under a configuration that may not be in force yet. No plugins; MCP
    /// servers are on by default.
    #[must_use]
    pub fn new(settings: &Settings, config: &'a Value, platform: &'a str) -> Self {
        Self {
            config,
            platform,
            plugin_toolsets: &[],
            hass_token: settings.env_filled("HASS_TOKEN").is_some(),
            xai_credentials: settings.env_filled("XAI_API_KEY").is_some(),
            include_default_mcp: true,
        }
    }
}

impl PlatformRequest<'_> {
    /// The saved list of the platform, if it is a list.
    pub(super) fn saved(&self) -> Option<Vec<String>> {
        config::list(config::at(self.config, &["platform_toolsets", self.platform]))
    }

    pub(super) fn is_plugin(&self, name: &str) -> bool {
        self.plugin_toolsets.iter().any(|plugin| plugin == name)
    }

    /// Whether the name is a bundle that a platform starts from, this one or a built-in one.
    pub(super) fn is_default_bundle(&self, name: &str) -> bool {
        catalog::PLATFORMS.iter().any(|(_, bundle)| *bundle == name)
            || name == catalog::default_bundle(self.platform)
    }
}

pub(super) fn is_configurable(name: &str) -> bool {
    CONFIGURABLE.contains(&name)
}

/// The toolsets that are on for a platform.
///
/// A saved list that names switchable toolsets is taken at its word; a list of bundles, or the
/// platform's default bundle if nothing is saved, is turned into the switchable toolsets it covers.
/// On top come toolsets that no switch exists for, new plugin toolsets, a foreign context engine
/// and MCP servers. `agent.disabled_toolsets` has the last word.
#[must_use]
pub fn platform_toolsets(world: &ToolsetWorld, request: &PlatformRequest<'_>) -> PlatformToolsets {
    let saved = request.saved();
    let bundle = catalog::default_bundle(request.platform);
    let names = saved.clone().unwrap_or_else(|| vec![bundle.clone()]);
    let mut on = switchable(world, request, &names, saved.is_some());
    recover_unswitchable(world, request.platform, &bundle, &mut on);
    on.extend(plugin_toolsets(request, &names));
    if foreign_context_engine(request.config) && saved.as_ref().is_none_or(|list| !list.is_empty())
    {
        on.insert("context_engine".to_owned());
    }
    let servers = mcp_servers(world, request);
    let is_server = |name: &str| {
        servers.iter().any(|(raw, shown)| shown == name || is_mcp_toolset_of(name, raw))
    };
    on.extend(saved.iter().flatten().filter(|name| passes_through(request, name)).cloned());
    on.retain(|name| !is_server(name));
    if !names.iter().any(|name| name == NO_MCP) {
        let named: Vec<_> = names.iter().filter(|name| is_server(name)).collect();
        if !named.is_empty() {
            on.extend(named.into_iter().cloned());
        } else if request.include_default_mcp {
            on.extend(servers.values().cloned());
        }
    }
    subtract_disabled(&config::disabled_toolsets(request.config), &servers, &mut on);
    let none_valid = saved.is_some_and(|list| {
        let mut named = list.iter().filter(|name| !name.trim().is_empty()).peekable();
        named.peek().is_some() && !named.any(|name| world.is_valid(name) || is_server(name))
    });
    PlatformToolsets { toolsets: on, none_valid }
}

/// The switchable toolsets that the names stand for.
fn switchable(
    world: &ToolsetWorld,
    request: &PlatformRequest<'_>,
    names: &[String],
    is_saved: bool,
) -> BTreeSet<String> {
    let mut off = default_off(request, is_saved);
    if names.iter().any(|name| is_configurable(name)) {
        let listed = names
            .iter()
            .filter(|name| is_configurable(name) && catalog::allowed_on(name, request.platform));
        let composites =
            names.iter().filter(|name| !is_configurable(name) && !request.is_plugin(name));
        let tools = world.resolve_many(composites.map(String::as_str));
        let implied = covered(world, request.platform, &tools).filter(|name| !off.contains(name));
        return listed.cloned().chain(implied.map(str::to_owned)).collect();
    }
    let tools = world.resolve_many(names.iter().map(String::as_str));
    let mut on: BTreeSet<&str> = covered(world, request.platform, &tools).collect();
    if request.xai_credentials && catalog::allowed_on("x_search", request.platform) {
        on.insert("x_search");
        off.remove("x_search");
    }
    on.difference(&off).map(|&name| name.to_owned()).collect()
}

/// The switchable toolsets whose definitions lie within `tools` (sorted). The registry does not
/// count: a plugin's tool in the toolset `web` must not make every bundle lose `web`.
fn covered<'a>(
    world: &'a ToolsetWorld,
    platform: &'a str,
    tools: &'a [&str],
) -> impl Iterator<Item = &'static str> + 'a {
    CONFIGURABLE.iter().copied().filter(move |name| {
        let own = world.resolve_static(name);
        catalog::allowed_on(name, platform) && !own.is_empty() && is_within(&own, tools)
    })
}

fn is_within(tools: &[&str], sorted: &[&str]) -> bool {
    tools.iter().all(|tool| sorted.binary_search(tool).is_ok())
}

/// The toolsets that a bundle does not turn on by itself.
fn default_off(request: &PlatformRequest<'_>, is_saved: bool) -> BTreeSet<&'static str> {
    let is_off = |name: &&str| match catalog::restricted_to(name) {
        // On its own platform the tool is a matter of trust, so it takes a list that was saved.
        Some(platforms) => !(is_saved && platforms.contains(&request.platform)),
        None => *name != request.platform && !(*name == "homeassistant" && request.hass_token),
    };
    DEFAULT_OFF.iter().copied().filter(is_off).collect()
}

/// Adds the toolsets of the platform's bundle that no list can name, since no switch exists for
/// them: `kanban`, `feishu_doc`, `feishu_drive`.
fn recover_unswitchable(
    world: &ToolsetWorld,
    platform: &str,
    bundle: &str,
    on: &mut BTreeSet<String>,
) {
    let universe = world.resolve(bundle);
    let switched = world.resolve_many(CONFIGURABLE.iter().copied());
    let mut claimed: BTreeSet<&str> =
        world.resolve_many(on.iter().map(String::as_str)).into_iter().collect();
    for name in catalog::TOOLSETS.iter().map(|set| set.name) {
        let Some(definition) = world.definition(name) else { continue };
        let skipped = is_configurable(name)
            || name.starts_with("hermes-")
            || definition.posture
            || !definition.includes.is_empty()
            || (DEFAULT_OFF.contains(&name) && name != platform);
        if skipped {
            continue;
        }
        let tools = world.resolve_static(name);
        if tools.is_empty() || !is_within(&tools, &universe) {
            continue;
        }
        let is_new = !tools.iter().all(|tool| claimed.contains(tool));
        if is_new && !is_within(&tools, &switched) {
            claimed.extend(tools);
            on.insert(name.to_owned());
        }
    }
}

/// Plugin toolsets are on until a list was saved that could have named them and did not.
fn plugin_toolsets(request: &PlatformRequest<'_>, names: &[String]) -> Vec<String> {
    let known =
        config::list(config::at(request.config, &["known_plugin_toolsets", request.platform]))
            .unwrap_or_default();
    let is_on = |plugin: &&String| {
        names.contains(plugin)
            || !(DEFAULT_OFF.contains(&plugin.as_str()) || known.contains(plugin))
    };
    request.plugin_toolsets.iter().filter(is_on).cloned().collect()
}

fn foreign_context_engine(config: &Value) -> bool {
    let engine = config::at(config, &["context", "engine"]).and_then(config::item_text);
    engine.is_some_and(|engine| {
        let engine = engine.trim().to_lowercase();
        !engine.is_empty() && engine != "compressor"
    })
}

/// Saved names that are no switch and no bundle stay as they are: custom toolsets, composites, and
/// the toolsets of MCP servers that are not configured now.
fn passes_through(request: &PlatformRequest<'_>, name: &str) -> bool {
    !is_configurable(name)
        && !request.is_plugin(name)
        && !request.is_default_bundle(name)
        && name != NO_MCP
}

/// The enabled MCP servers, each with the name its toolset is listed under.
///
/// That is the server's own name, unless something else has it: a server called `web` must not turn
/// the built-in toolset on, so it is listed as `mcp-web`.
fn mcp_servers(world: &ToolsetWorld, request: &PlatformRequest<'_>) -> BTreeMap<String, String> {
    let servers = config::map_at(request.config, &["mcp_servers"]).into_iter().flatten();
    servers
        .filter(|(_, server)| server.is_object() && is_enabled(server.get("enabled")))
        .map(|(name, _)| {
            let canonical = format!("mcp-{name}");
            let is_taken = request.is_plugin(name)
                || name == NO_MCP
                || catalog::legacy(name).is_some()
                || world.find(name).is_some_and(|found| found.name() != canonical);
            let shown = if is_taken { canonical } else { name.clone() };
            (name.clone(), shown)
        })
        .collect()
}

/// Everything counts as on that does not clearly say off.
fn is_enabled(flag: Option<&Value>) -> bool {
    match flag {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => {
            !matches!(text.trim().to_lowercase().as_str(), "false" | "0" | "no" | "off")
        }
        _ => true,
    }
}

fn is_mcp_toolset_of(name: &str, server: &str) -> bool {
    name.strip_prefix("mcp-") == Some(server)
}

/// Takes away what is disabled; an MCP server under either of its names.
fn subtract_disabled(
    disabled: &[String],
    servers: &BTreeMap<String, String>,
    on: &mut BTreeSet<String>,
) {
    for name in disabled {
        on.remove(name);
        for (raw, shown) in servers {
            if shown == name || is_mcp_toolset_of(name, raw) {
                on.remove(shown);
                on.remove(&format!("mcp-{raw}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn world() -> ToolsetWorld {
        ToolsetWorld::builtin().with_registered([("wx_now", "wx"), ("extra", "web")])
    }

    fn request<'a>(config: &'a Value, platform: &'a str) -> PlatformRequest<'a> {
        PlatformRequest {
            config,
            platform,
            plugin_toolsets: &[],
            hass_token: false,
            xai_credentials: false,
            include_default_mcp: true,
        }
    }

    fn on(request: &PlatformRequest<'_>) -> String {
        Vec::from_iter(platform_toolsets(&world(), request).toolsets).join(" ")
    }

    const BASICS: &str = "browser clarify code_execution computer_use cronjob delegation file \
                          image_gen kanban memory session_search skills terminal todo tts vision web";

    #[test]
    fn a_bundle_becomes_the_switchable_toolsets_it_covers() {
        let check = |config: Value, platform: &str, expected: &str| {
            assert_eq!(on(&request(&config, platform)), expected, "{platform} {config}");
        };
        check(json!({}), "cli", BASICS);
        check(json!(null), "whatsapp_cloud", BASICS);
        check(json!({"platform_toolsets": {"cli": null}, "mcp_servers": null}), "cli", BASICS);
        check(json!({}), "webhook", "clarify vision web");
        check(
            json!({}),
            "api_server",
            "browser code_execution cronjob delegation file image_gen memory session_search skills \
             terminal todo vision web",
        );
        check(
            json!({}),
            "homeassistant",
            &BASICS.replace("file image", "file homeassistant image"),
        );
        check(
            json!({}),
            "feishu",
            &BASICS.replace("delegation file", "delegation feishu_doc feishu_drive file"),
        );
        check(json!({}), "yuanbao", &format!("{BASICS} yuanbao"));
        check(json!({}), "fax", "");
    }

    #[test]
    fn a_saved_list_is_taken_at_its_word() {
        let check = |list: Value, expected: &str| {
            let config = json!({"platform_toolsets": {"cli": list}});
            assert_eq!(on(&request(&config, "cli")), expected, "{config}");
        };
        check(json!([]), "kanban");
        check(json!(["web", 12306, null]), "12306 kanban web");
        check(json!(["hermes-cli", "spotify"]), &BASICS.replace("terminal", "spotify terminal"));
        check(json!(["todo", "debugging"]), "debugging file kanban terminal todo web");
        check(json!(["discord"]), "kanban");
        check(json!(["all"]), &format!("all {BASICS} yuanbao"));
    }

    #[test]
    fn exceptions_to_default_off() {
        let config = json!({});
        let with_token = PlatformRequest { hass_token: true, ..request(&config, "cron") };
        assert!(on(&with_token).contains("homeassistant"));
        let with_xai = PlatformRequest { xai_credentials: true, ..request(&config, "cli") };
        assert!(on(&with_xai).ends_with("web x_search"));
        let saved = json!({"platform_toolsets": {"discord": ["hermes-discord"], "cli": ["web"]}});
        assert!(on(&request(&saved, "discord")).contains("discord discord_admin"));
        let with_xai = PlatformRequest { xai_credentials: true, ..request(&saved, "cli") };
        assert_eq!(on(&with_xai), "kanban web");
    }

    #[test]
    fn plugins_engines_and_denials() {
        let plugins = ["wx".to_owned(), "spotify".to_owned()];
        let check = |config: Value, expected: &str| {
            let request = PlatformRequest { plugin_toolsets: &plugins, ..request(&config, "cli") };
            assert_eq!(on(&request), expected, "{config}");
        };
        let lists = |list: Value| json!({"cli": list});
        check(json!({"platform_toolsets": lists(json!(["web"]))}), "kanban web wx");
        check(
            json!({"platform_toolsets": lists(json!(["web"])),
                   "known_plugin_toolsets": lists(json!(["wx"]))}),
            "kanban web",
        );
        check(
            json!({"platform_toolsets": lists(json!(["web", "wx", "spotify"])),
                   "known_plugin_toolsets": lists(json!(["wx"]))}),
            "kanban spotify web wx",
        );
        let engine = |list: Value, engine: &str| {
            json!({"platform_toolsets": lists(list), "context": {"engine": engine},
                   "agent": {"disabled_toolsets": ["wx", "kanban"]}})
        };
        check(engine(json!(["web"]), "lcm"), "context_engine web");
        check(engine(json!(["web"]), " Compressor "), "web");
        check(engine(json!([]), "lcm"), "");
    }

    #[test]
    fn mcp_servers_never_switch_anything_built_in() {
        let check = |list: Value, extra: Value, expected: &str| {
            let mut config = json!({
                "platform_toolsets": {"cli": list},
                "mcp_servers": {
                    "gh": {}, "web": {"enabled": true}, "all": {}, "off": {"enabled": "No"},
                    "zero": {"enabled": 0}, "odd": {"enabled": "maybe"}, "none": null,
                }
            });
            config["agent"] = extra;
            assert_eq!(on(&request(&config, "cli")), expected, "{config}");
        };
        check(json!(["todo"]), json!(null), "gh kanban mcp-all mcp-web odd todo");
        check(json!(["todo", "gh"]), json!(null), "gh kanban todo");
        check(json!(["todo", "mcp-web"]), json!(null), "kanban mcp-web todo");
        check(json!(["todo", "web"]), json!(null), "gh kanban mcp-all mcp-web odd todo web");
        check(json!(["todo", "gh", "no_mcp"]), json!(null), "kanban todo");
        check(
            json!(["todo"]),
            json!({"disabled_toolsets": ["mcp-gh", "web", "kanban"]}),
            "mcp-all mcp-web odd todo",
        );
        let config = json!({"platform_toolsets": {"cli": ["todo"]}, "mcp_servers": {"gh": {}}});
        let bare = PlatformRequest { include_default_mcp: false, ..request(&config, "cli") };
        assert_eq!(on(&bare), "kanban todo");
    }

    #[test]
    fn a_list_without_any_valid_name_is_noticed() {
        let check = |list: Value, expected| {
            let config = json!({"platform_toolsets": {"cli": list}, "mcp_servers": {"gh": {}}});
            let found = platform_toolsets(&world(), &request(&config, "cli")).none_valid;
            assert_eq!(found, expected, "{config}");
        };
        check(json!(["hermes"]), true);
        check(json!(["hermes", "web"]), false);
        check(json!(["gh"]), false);
        check(json!([]), false);
        check(json!(null), false);
    }
}
