//! The world the registry cases are set in: all built-in tools, and what a case adds.

use hermes_tools::toolset::{Toolset, ToolsetWorld};
use serde_json::Value;

/// The 79 built-in tools with their toolsets, sorted by name.
pub(crate) const BUILTIN_TOOLS: &[(&str, &str)] = &[
    ("browser_back", "browser"),
    ("browser_cdp", "browser-cdp"),
    ("browser_click", "browser"),
    ("browser_console", "browser"),
    ("browser_dialog", "browser-cdp"),
    ("browser_get_images", "browser"),
    ("browser_navigate", "browser"),
    ("browser_press", "browser"),
    ("browser_scroll", "browser"),
    ("browser_snapshot", "browser"),
    ("browser_type", "browser"),
    ("browser_vision", "browser"),
    ("clarify", "clarify"),
    ("close_terminal", "terminal"),
    ("computer_use", "computer_use"),
    ("cronjob", "cronjob"),
    ("delegate_task", "delegation"),
    ("discord", "discord"),
    ("discord_admin", "discord_admin"),
    ("execute_code", "code_execution"),
    ("feishu_doc_read", "feishu_doc"),
    ("feishu_drive_add_comment", "feishu_drive"),
    ("feishu_drive_list_comment_replies", "feishu_drive"),
    ("feishu_drive_list_comments", "feishu_drive"),
    ("feishu_drive_reply_comment", "feishu_drive"),
    ("ha_call_service", "homeassistant"),
    ("ha_get_state", "homeassistant"),
    ("ha_list_entities", "homeassistant"),
    ("ha_list_services", "homeassistant"),
    ("image_generate", "image_gen"),
    ("kanban_attach", "kanban"),
    ("kanban_attach_url", "kanban"),
    ("kanban_attachments", "kanban"),
    ("kanban_block", "kanban"),
    ("kanban_comment", "kanban"),
    ("kanban_complete", "kanban"),
    ("kanban_create", "kanban"),
    ("kanban_heartbeat", "kanban"),
    ("kanban_link", "kanban"),
    ("kanban_list", "kanban"),
    ("kanban_show", "kanban"),
    ("kanban_unblock", "kanban"),
    ("memory", "memory"),
    ("patch", "file"),
    ("process", "terminal"),
    ("project_create", "project"),
    ("project_list", "project"),
    ("project_switch", "project"),
    ("read_file", "file"),
    ("read_terminal", "terminal"),
    ("search_files", "file"),
    ("session_search", "session_search"),
    ("skill_manage", "skills"),
    ("skill_view", "skills"),
    ("skills_list", "skills"),
    ("spotify_albums", "spotify"),
    ("spotify_devices", "spotify"),
    ("spotify_library", "spotify"),
    ("spotify_playback", "spotify"),
    ("spotify_playlists", "spotify"),
    ("spotify_queue", "spotify"),
    ("spotify_search", "spotify"),
    ("terminal", "terminal"),
    ("text_to_speech", "tts"),
    ("todo", "todo"),
    ("video_analyze", "video"),
    ("video_generate", "video_gen"),
    ("vision_analyze", "vision"),
    ("web_extract", "web"),
    ("web_search", "web"),
    ("write_file", "file"),
    ("x_search", "x_search"),
    ("xai_video_edit", "video_gen"),
    ("xai_video_extend", "video_gen"),
    ("yb_query_group_info", "hermes-yuanbao"),
    ("yb_query_group_members", "hermes-yuanbao"),
    ("yb_search_sticker", "hermes-yuanbao"),
    ("yb_send_dm", "hermes-yuanbao"),
    ("yb_send_sticker", "hermes-yuanbao"),
];

/// The toolsets of a case: its `world` object over the base it names, and its plugin `platforms`.
#[must_use]
pub(crate) fn toolset_world(world_json: &Value, platforms: &Value) -> ToolsetWorld {
    let mut world = match text(&world_json["base"]) {
        "empty" => ToolsetWorld::empty(),
        _ => ToolsetWorld::builtin().with_registered(BUILTIN_TOOLS.iter().copied()),
    };
    for (name, definition) in world_json["toolsets"].as_object().into_iter().flatten() {
        let toolset = Toolset {
            tools: texts(&definition["tools"]).into_iter().map(Into::into).collect(),
            includes: texts(&definition["includes"]).into_iter().map(Into::into).collect(),
            posture: definition["posture"].as_bool().unwrap_or_default(),
            ..Toolset::default()
        };
        world = world.with_toolset(name.clone(), toolset);
    }
    let length = world_json["chain"].as_u64().unwrap_or_default();
    for i in 0..length {
        let next = (i + 1 < length).then(|| format!("c{}", i + 1).into());
        let toolset = Toolset {
            tools: vec![format!("t{i}").into()],
            includes: Vec::from_iter(next),
            ..Toolset::default()
        };
        world = world.with_toolset(format!("c{i}"), toolset);
    }
    let registered = world_json["registered"].as_array().into_iter().flatten();
    let aliases = world_json["aliases"].as_object().into_iter().flatten();
    world
        .with_registered(registered.map(|tool| (text(&tool["name"]), text(&tool["toolset"]))))
        .with_aliases(aliases.map(|(alias, target)| (alias.as_str(), text(target))))
        .with_platforms(texts(platforms))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The texts in a list; none for anything else.
#[must_use]
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
