//! What is built in: toolsets, platform bundles, the core list, platforms and old names.
//!
//! Everything here is data; [`ToolsetWorld`](super::ToolsetWorld) merges it with what the run-time
//! registry holds.

/// A toolset as it is written down here.
#[derive(Clone, Copy, Debug)]
pub struct StaticToolset {
    /// The name, as users and configuration write it.
    pub name: &'static str,
    /// One line for lists.
    pub description: &'static str,
    /// The toolset's own tools, in groups so that bundles can share them.
    pub tools: &'static [&'static [&'static str]],
    /// Toolsets whose tools belong to this one as well.
    pub includes: &'static [&'static str],
    /// Whether it stands for a way of working that is chosen for a whole session.
    pub posture: bool,
}

/// The tools every platform bundle shares, sorted. They are never deferred by tool search, and
/// turning a bundle or a posture off never takes them away.
pub const CORE: &[&str] = &[
    "browser_back",
    "browser_cdp",
    "browser_click",
    "browser_console",
    "browser_dialog",
    "browser_get_images",
    "browser_navigate",
    "browser_press",
    "browser_scroll",
    "browser_snapshot",
    "browser_type",
    "browser_vision",
    "clarify",
    "close_terminal",
    "computer_use",
    "cronjob",
    "delegate_task",
    "execute_code",
    "ha_call_service",
    "ha_get_state",
    "ha_list_entities",
    "ha_list_services",
    "image_generate",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
    "kanban_block",
    "kanban_comment",
    "kanban_complete",
    "kanban_create",
    "kanban_heartbeat",
    "kanban_link",
    "kanban_list",
    "kanban_show",
    "kanban_unblock",
    "memory",
    "patch",
    "process",
    "read_file",
    "read_terminal",
    "search_files",
    "session_search",
    "skill_manage",
    "skill_view",
    "skills_list",
    "terminal",
    "text_to_speech",
    "todo",
    "vision_analyze",
    "web_extract",
    "web_search",
    "write_file",
];

/// Whether `tool` is one of [`CORE`].
#[must_use]
pub fn is_core(tool: &str) -> bool {
    CORE.binary_search(&tool).is_ok()
}

const WEB: &[&str] = &["web_search", "web_extract"];
const FILE: &[&str] = &["read_file", "write_file", "patch", "search_files"];
const SKILLS: &[&str] = &["skills_list", "skill_view", "skill_manage"];
const VISION: &[&str] = &["vision_analyze"];
const SHELL: &[&str] = &["terminal", "process"];
const DESKTOP_PANES: &[&str] = &["read_terminal", "close_terminal"];
const BROWSER_PAGE: &[&str] = &[
    "browser_navigate",
    "browser_snapshot",
    "browser_click",
    "browser_type",
    "browser_scroll",
    "browser_back",
    "browser_press",
    "browser_get_images",
    "browser_vision",
    "browser_console",
];
const BROWSER_CDP: &[&str] = &["browser_cdp", "browser_dialog"];
const HOME: &[&str] = &["ha_list_entities", "ha_get_state", "ha_list_services", "ha_call_service"];
const KANBAN: &[&str] = &[
    "kanban_show",
    "kanban_list",
    "kanban_complete",
    "kanban_block",
    "kanban_heartbeat",
    "kanban_comment",
    "kanban_create",
    "kanban_link",
    "kanban_unblock",
    "kanban_attach",
    "kanban_attach_url",
    "kanban_attachments",
];
const FEISHU_DOC: &[&str] = &["feishu_doc_read"];
const FEISHU_DRIVE: &[&str] = &[
    "feishu_drive_list_comments",
    "feishu_drive_list_comment_replies",
    "feishu_drive_reply_comment",
    "feishu_drive_add_comment",
];
const YUANBAO: &[&str] = &[
    "yb_query_group_info",
    "yb_query_group_members",
    "yb_send_dm",
    "yb_search_sticker",
    "yb_send_sticker",
];
const SPOTIFY: &[&str] = &[
    "spotify_playback",
    "spotify_devices",
    "spotify_queue",
    "spotify_search",
    "spotify_playlists",
    "spotify_albums",
    "spotify_library",
];
/// The rest of an agent that writes code, beside files, shell, web, skills and browser.
const WORKING: &[&str] = &["todo", "memory", "session_search", "execute_code", "delegate_task"];

const fn set(
    name: &'static str,
    description: &'static str,
    tools: &'static [&'static [&'static str]],
) -> StaticToolset {
    StaticToolset { name, description, tools, includes: &[], posture: false }
}

const fn composite(
    name: &'static str,
    description: &'static str,
    tools: &'static [&'static [&'static str]],
    includes: &'static [&'static str],
) -> StaticToolset {
    StaticToolset { name, description, tools, includes, posture: false }
}

const fn bundle(name: &'static str, description: &'static str) -> StaticToolset {
    set(name, description, &[CORE])
}

/// All built-in toolsets: capabilities, composites, the coding posture, platform bundles.
pub const TOOLSETS: &[StaticToolset] = &[
    set("web", "Search the web and read pages", &[WEB]),
    set("search", "Search the web without reading pages", &[&["web_search"]]),
    set("x_search", "Search posts on X through xAI", &[&["x_search"]]),
    set("vision", "Look at images", &[VISION]),
    set("video", "Look at videos", &[&["video_analyze"]]),
    set("image_gen", "Make and change images", &[&["image_generate"]]),
    set(
        "video_gen",
        "Make, change and lengthen videos",
        &[&["video_generate", "xai_video_edit", "xai_video_extend"]],
    ),
    set("computer_use", "See and operate the desktop", &[&["computer_use"]]),
    set("terminal", "Run commands and look after processes", &[SHELL]),
    set("skills", "List, read and maintain skills", &[SKILLS]),
    set(
        "browser",
        "Drive a web browser, with web search to find pages",
        &[BROWSER_PAGE, BROWSER_CDP, &["web_search"]],
    ),
    set("cronjob", "Schedule recurring and later work", &[&["cronjob"]]),
    set("file", "Read, write, patch and search files", &[FILE]),
    set("tts", "Turn text into speech", &[&["text_to_speech"]]),
    set("todo", "Keep a list of the steps of a task", &[&["todo"]]),
    set("memory", "Remember notes and the user's profile", &[&["memory"]]),
    set("session_search", "Search earlier conversations", &[&["session_search"]]),
    set("clarify", "Ask the user a question", &[&["clarify"]]),
    set("context_engine", "Tools brought by the active context engine", &[]),
    set(
        "project",
        "Switch between the desktop's projects",
        &[&["project_list", "project_create", "project_switch"]],
    ),
    set("code_execution", "Run scripts that call tools", &[&["execute_code"]]),
    set("delegation", "Hand work to sub-agents", &[&["delegate_task"]]),
    set("homeassistant", "See and control a smart home", &[HOME]),
    set("kanban", "Work on the shared task board", &[KANBAN]),
    set("discord", "Read and take part in Discord", &[&["discord"]]),
    set("discord_admin", "Administer a Discord server", &[&["discord_admin"]]),
    set("yuanbao", "Yuanbao groups, messages and stickers", &[YUANBAO]),
    set("feishu_doc", "Read Feishu documents", &[FEISHU_DOC]),
    set("feishu_drive", "Comments on Feishu documents", &[FEISHU_DRIVE]),
    set("spotify", "Play and organise music on Spotify", &[SPOTIFY]),
    composite("debugging", "Shell, files and web, to find a fault", &[SHELL], &["web", "file"]),
    composite("safe", "Nothing that runs commands", &[], &["web", "vision", "image_gen"]),
    StaticToolset {
        posture: true,
        ..set(
            "coding",
            "What an agent needs to work on code",
            &[
                WEB,
                SHELL,
                DESKTOP_PANES,
                FILE,
                VISION,
                SKILLS,
                BROWSER_PAGE,
                BROWSER_CDP,
                WORKING,
                &["clarify"],
            ],
        )
    },
    bundle("hermes-cli", "Command line"),
    bundle("hermes-cron", "Scheduled jobs"),
    bundle("hermes-telegram", "Telegram bot"),
    bundle("hermes-whatsapp", "WhatsApp bot"),
    bundle("hermes-slack", "Slack bot"),
    bundle("hermes-signal", "Signal bot"),
    bundle("hermes-bluebubbles", "iMessage bot over BlueBubbles"),
    bundle("hermes-homeassistant", "Home Assistant bot"),
    bundle("hermes-email", "E-mail bot"),
    bundle("hermes-mattermost", "Mattermost bot"),
    bundle("hermes-matrix", "Matrix bot"),
    bundle("hermes-dingtalk", "DingTalk bot"),
    bundle("hermes-weixin", "Weixin bot"),
    bundle("hermes-qqbot", "QQ bot"),
    bundle("hermes-wecom", "WeCom bot"),
    bundle("hermes-wecom-callback", "WeCom application with callbacks"),
    bundle("hermes-sms", "SMS bot"),
    set("hermes-discord", "Discord bot", &[CORE, &["discord", "discord_admin"]]),
    set("hermes-feishu", "Feishu bot", &[CORE, FEISHU_DOC, FEISHU_DRIVE]),
    set("hermes-yuanbao", "Yuanbao bot", &[CORE, YUANBAO]),
    set(
        "hermes-webhook",
        "Web hooks; few tools, as their text is not to be trusted",
        &[WEB, VISION, &["clarify"]],
    ),
    set(
        "hermes-acp",
        "Code editors over ACP",
        &[WEB, SHELL, FILE, VISION, SKILLS, BROWSER_PAGE, BROWSER_CDP, WORKING],
    ),
    set(
        "hermes-api-server",
        "HTTP API, with nobody to ask",
        &[
            WEB,
            SHELL,
            FILE,
            VISION,
            SKILLS,
            BROWSER_PAGE,
            BROWSER_CDP,
            WORKING,
            &["image_generate", "cronjob"],
            HOME,
        ],
    ),
    composite(
        "hermes-gateway",
        "All messaging platforms together",
        &[],
        &[
            "hermes-telegram",
            "hermes-discord",
            "hermes-whatsapp",
            "hermes-slack",
            "hermes-signal",
            "hermes-bluebubbles",
            "hermes-homeassistant",
            "hermes-email",
            "hermes-sms",
            "hermes-mattermost",
            "hermes-matrix",
            "hermes-dingtalk",
            "hermes-feishu",
            "hermes-wecom",
            "hermes-wecom-callback",
            "hermes-weixin",
            "hermes-qqbot",
            "hermes-webhook",
            "hermes-yuanbao",
        ],
    ),
];

/// Old names of tool lists that saved configurations still hold. They are no toolsets: they only
/// count where a list of toolsets is turned into tools.
pub const LEGACY: &[(&str, &[&str])] = &[
    ("web_tools", WEB),
    ("terminal_tools", &["terminal"]),
    ("vision_tools", VISION),
    ("image_tools", &["image_generate"]),
    ("skills_tools", SKILLS),
    ("browser_tools", BROWSER_PAGE),
    ("cronjob_tools", &["cronjob"]),
    ("file_tools", FILE),
    ("tts_tools", &["text_to_speech"]),
];

/// The tools an old name stands for.
#[must_use]
pub fn legacy(name: &str) -> Option<&'static [&'static str]> {
    LEGACY.iter().find(|(old, _)| *old == name).map(|(_, tools)| *tools)
}

/// The toolsets a user switches per platform, in the order they are shown.
pub const CONFIGURABLE: &[&str] = &[
    "web",
    "browser",
    "terminal",
    "file",
    "code_execution",
    "vision",
    "video",
    "image_gen",
    "video_gen",
    "x_search",
    "tts",
    "skills",
    "todo",
    "memory",
    "context_engine",
    "session_search",
    "clarify",
    "delegation",
    "cronjob",
    "homeassistant",
    "spotify",
    "discord",
    "discord_admin",
    "yuanbao",
    "computer_use",
];

/// Toolsets that are off until they are asked for.
pub const DEFAULT_OFF: &[&str] =
    &["homeassistant", "spotify", "discord", "discord_admin", "video", "video_gen", "x_search"];

/// Toolsets that exist on some platforms only, with those platforms.
pub const RESTRICTED: &[(&str, &[&str])] =
    &[("discord", &["discord"]), ("discord_admin", &["discord"])];

/// The platforms `toolset` is limited to; none if it may be used everywhere.
#[must_use]
pub fn restricted_to(toolset: &str) -> Option<&'static [&'static str]> {
    RESTRICTED.iter().find(|(name, _)| *name == toolset).map(|(_, platforms)| *platforms)
}

/// Whether `toolset` may be used on `platform`.
#[must_use]
pub fn allowed_on(toolset: &str, platform: &str) -> bool {
    restricted_to(toolset).is_none_or(|platforms| platforms.contains(&platform))
}

/// The platforms that are built in, with the bundle each starts from.
pub const PLATFORMS: &[(&str, &str)] = &[
    ("cli", "hermes-cli"),
    ("telegram", "hermes-telegram"),
    ("discord", "hermes-discord"),
    ("slack", "hermes-slack"),
    ("whatsapp", "hermes-whatsapp"),
    ("whatsapp_cloud", "hermes-whatsapp"),
    ("signal", "hermes-signal"),
    ("bluebubbles", "hermes-bluebubbles"),
    ("email", "hermes-email"),
    ("homeassistant", "hermes-homeassistant"),
    ("mattermost", "hermes-mattermost"),
    ("matrix", "hermes-matrix"),
    ("dingtalk", "hermes-dingtalk"),
    ("feishu", "hermes-feishu"),
    ("wecom", "hermes-wecom"),
    ("wecom_callback", "hermes-wecom-callback"),
    ("weixin", "hermes-weixin"),
    ("qqbot", "hermes-qqbot"),
    ("yuanbao", "hermes-yuanbao"),
    ("webhook", "hermes-webhook"),
    ("api_server", "hermes-api-server"),
    ("cron", "hermes-cron"),
];

/// The bundle a platform starts from; `hermes-<platform>` for one that is not built in.
#[must_use]
pub fn default_bundle(platform: &str) -> String {
    PLATFORMS
        .iter()
        .find(|(name, _)| *name == platform)
        .map_or_else(|| format!("hermes-{platform}"), |(_, bundle)| (*bundle).to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn tools(name: &str) -> BTreeSet<&'static str> {
        let set = TOOLSETS.iter().find(|set| set.name == name).unwrap();
        set.tools.iter().flat_map(|group| group.iter().copied()).collect()
    }

    #[test]
    fn core_is_sorted_and_complete() {
        assert!(CORE.is_sorted());
        assert_eq!(CORE.len(), 52);
        assert!(is_core("write_file") && is_core("browser_back") && !is_core("discord"));
    }

    #[test]
    fn sizes_are_those_of_the_platforms() {
        let check = |name, size| assert_eq!(tools(name).len(), size, "{name}");
        check("hermes-cli", 52);
        check("hermes-discord", 54);
        check("hermes-feishu", 57);
        check("hermes-yuanbao", 57);
        check("hermes-webhook", 4);
        check("hermes-acp", 29);
        check("hermes-api-server", 35);
        check("coding", 32);
        check("browser", 13);
        check("kanban", 12);
    }

    #[test]
    fn names_are_unique_and_refer_to_each_other() {
        let names: BTreeSet<_> = TOOLSETS.iter().map(|set| set.name).collect();
        assert_eq!((names.len(), TOOLSETS.len()), (57, 57));
        let referred = TOOLSETS
            .iter()
            .flat_map(|set| set.includes)
            .chain(CONFIGURABLE)
            .chain(DEFAULT_OFF)
            .chain(RESTRICTED.iter().map(|(name, _)| name))
            .chain(PLATFORMS.iter().map(|(_, bundle)| bundle));
        for name in referred {
            assert!(names.contains(name), "{name}");
        }
        assert_eq!(TOOLSETS.iter().filter(|set| set.posture).count(), 1);
        assert_eq!(CONFIGURABLE.len(), 25);
    }
}
