//! The hand-written entries.

use std::borrow::Cow;

use super::{Category, CredentialMeta};

/// Shown in checklists, or left to those who look for it.
const SHOWN: bool = false;
const ADVANCED: bool = true;

const SECRET: bool = true;
const PLAIN: bool = false;

/// An entry of the table; the fields are those of [`CredentialMeta`].
#[derive(Clone, Copy)]
pub(super) struct Row {
    name: &'static str,
    prompt: &'static str,
    description: &'static str,
    category: Category,
    password: bool,
    advanced: bool,
    url: Option<&'static str>,
    tools: &'static [&'static str],
}

impl Row {
    const fn at(self, url: &'static str) -> Self {
        Self { url: Some(url), ..self }
    }

    const fn used_by(self, tools: &'static [&'static str]) -> Self {
        Self { tools, ..self }
    }
}

impl From<&Row> for CredentialMeta {
    fn from(row: &Row) -> Self {
        Self {
            name: Cow::Borrowed(row.name),
            description: Cow::Borrowed(row.description),
            prompt: Cow::Borrowed(row.prompt),
            url: row.url.map(Cow::Borrowed),
            tools: Cow::Borrowed(row.tools),
            password: row.password,
            category: row.category,
            advanced: row.advanced,
        }
    }
}

const fn meta(
    name: &'static str,
    prompt: &'static str,
    description: &'static str,
    category: Category,
    password: bool,
    advanced: bool,
) -> Row {
    Row { name, prompt, description, category, password, advanced, url: None, tools: &[] }
}

const fn tool(
    name: &'static str,
    prompt: &'static str,
    description: &'static str,
    password: bool,
    advanced: bool,
) -> Row {
    meta(name, prompt, description, Category::Tool, password, advanced)
}

const WEB: &[&str] = &["web_search", "web_extract"];
const BROWSER: &[&str] = &["browser_navigate", "browser_click"];

/// The variables that are known by heart, in the order of what they belong to.
pub(super) const HAND_WRITTEN: &[Row] = &[
    meta(
        "OPENROUTER_API_KEY",
        "OpenRouter key",
        "Models through OpenRouter, also used to look at images",
        Category::Provider,
        SECRET,
        ADVANCED,
    )
    .at("https://openrouter.ai/keys")
    .used_by(&["vision_analyze"]),
    tool("EXA_API_KEY", "Exa key", "Web search and page reading through Exa", SECRET, SHOWN)
        .at("https://exa.ai")
        .used_by(WEB),
    tool(
        "PARALLEL_API_KEY",
        "Parallel key",
        "Web search and page reading through Parallel",
        SECRET,
        SHOWN,
    )
    .at("https://parallel.ai")
    .used_by(WEB),
    tool(
        "FIRECRAWL_API_KEY",
        "Firecrawl key",
        "Web search and page reading through Firecrawl",
        SECRET,
        SHOWN,
    )
    .at("https://firecrawl.dev")
    .used_by(WEB),
    tool(
        "FIRECRAWL_API_URL",
        "Firecrawl URL",
        "Address of a Firecrawl server of your own",
        PLAIN,
        ADVANCED,
    ),
    tool(
        "FIRECRAWL_GATEWAY_URL",
        "Firecrawl gateway URL",
        "Address of the managed Firecrawl gateway, in place of the one derived from its domain",
        PLAIN,
        ADVANCED,
    ),
    tool(
        "TOOL_GATEWAY_DOMAIN",
        "Tool gateway domain",
        "Domain below which the managed tool gateways are found",
        PLAIN,
        ADVANCED,
    ),
    tool(
        "TOOL_GATEWAY_SCHEME",
        "Tool gateway scheme",
        "http or https for the managed tool gateways",
        PLAIN,
        ADVANCED,
    ),
    tool(
        "TOOL_GATEWAY_USER_TOKEN",
        "Tool gateway token",
        "Access token for the managed tool gateways",
        SECRET,
        ADVANCED,
    ),
    tool(
        "TAVILY_API_KEY",
        "Tavily key",
        "Web search and page reading through Tavily",
        SECRET,
        SHOWN,
    )
    .at("https://app.tavily.com/home")
    .used_by(WEB),
    tool(
        "SEARXNG_URL",
        "SearXNG URL",
        "Base address of a SearXNG server for web search",
        PLAIN,
        SHOWN,
    )
    .at("https://searxng.github.io/searxng/")
    .used_by(&["web_search"]),
    tool("BRAVE_SEARCH_API_KEY", "Brave Search token", "Web search through Brave", SECRET, SHOWN)
        .at("https://brave.com/search/api/")
        .used_by(&["web_search"]),
    tool(
        "BROWSERBASE_API_KEY",
        "Browserbase key",
        "Browser in the cloud at Browserbase",
        SECRET,
        SHOWN,
    )
    .at("https://browserbase.com")
    .used_by(BROWSER),
    tool(
        "BROWSERBASE_PROJECT_ID",
        "Browserbase project id",
        "Browserbase project that sessions are opened in",
        PLAIN,
        SHOWN,
    )
    .at("https://browserbase.com")
    .used_by(BROWSER),
    tool(
        "BROWSER_USE_API_KEY",
        "Browser Use key",
        "Browser in the cloud at Browser Use",
        SECRET,
        SHOWN,
    )
    .at("https://browser-use.com")
    .used_by(BROWSER),
    tool(
        "FIRECRAWL_BROWSER_TTL",
        "Firecrawl browser lifetime",
        "Seconds after which a Firecrawl browser session ends",
        PLAIN,
        SHOWN,
    )
    .used_by(BROWSER),
    tool(
        "AGENT_BROWSER_ENGINE",
        "Browser engine",
        "Engine of the local browser: auto, lightpanda or chrome",
        PLAIN,
        ADVANCED,
    )
    .at("https://github.com/vercel-labs/agent-browser")
    .used_by(&["browser_navigate", "browser_snapshot", "browser_click", "browser_vision"]),
    tool("CAMOFOX_URL", "Camofox URL", "Address of a Camofox browser server", PLAIN, SHOWN)
        .at("https://github.com/jo-inc/camofox-browser")
        .used_by(BROWSER),
    tool(
        "CAMOFOX_API_KEY",
        "Camofox key",
        "Token for a Camofox server that asks for one",
        SECRET,
        ADVANCED,
    )
    .at("https://github.com/jo-inc/camofox-browser")
    .used_by(BROWSER),
    tool("FAL_KEY", "FAL key", "Images and videos made at FAL", SECRET, SHOWN)
        .at("https://fal.ai")
        .used_by(&["image_generate", "video_generate"]),
    tool("KREA_API_KEY", "Krea key", "Images made at Krea", SECRET, SHOWN)
        .at("https://www.krea.ai/settings/api-tokens")
        .used_by(&["image_generate"]),
    tool(
        "VOICE_TOOLS_OPENAI_KEY",
        "OpenAI key for speech",
        "Speech to text and text to speech at OpenAI",
        SECRET,
        SHOWN,
    )
    .at("https://platform.openai.com/api-keys")
    .used_by(&["voice_transcription", "openai_tts"]),
    tool(
        "ELEVENLABS_API_KEY",
        "ElevenLabs key",
        "Speech to text and text to speech at ElevenLabs",
        SECRET,
        SHOWN,
    )
    .at("https://elevenlabs.io")
    .used_by(&["elevenlabs_tts", "voice_transcription"]),
    tool(
        "MISTRAL_API_KEY",
        "Mistral key",
        "Speech to text and text to speech at Mistral",
        SECRET,
        SHOWN,
    )
    .at("https://console.mistral.ai"),
    tool(
        "GITHUB_TOKEN",
        "GitHub token",
        "More requests to GitHub, and publishing of skills",
        SECRET,
        SHOWN,
    )
    .at("https://github.com/settings/tokens"),
    meta(
        "NOTION_API_KEY",
        "Notion key",
        "Notion, for skills that use it",
        Category::Skill,
        SECRET,
        ADVANCED,
    )
    .at("https://www.notion.so/my-integrations"),
    meta(
        "LINEAR_API_KEY",
        "Linear key",
        "Linear, for skills that use it",
        Category::Skill,
        SECRET,
        ADVANCED,
    )
    .at("https://linear.app/settings/api"),
    meta(
        "AIRTABLE_API_KEY",
        "Airtable token",
        "Airtable, for skills that use it",
        Category::Skill,
        SECRET,
        ADVANCED,
    )
    .at("https://airtable.com/create/tokens"),
    meta(
        "TENOR_API_KEY",
        "Tenor key",
        "Animated pictures from Tenor, for skills that use them",
        Category::Skill,
        SECRET,
        ADVANCED,
    )
    .at("https://developers.google.com/tenor/guides/quickstart"),
    tool("HONCHO_API_KEY", "Honcho key", "Memory kept at Honcho", SECRET, SHOWN)
        .at("https://app.honcho.dev")
        .used_by(&["honcho_context"]),
    tool("HINDSIGHT_API_KEY", "Hindsight key", "Memory kept at Hindsight", SECRET, SHOWN)
        .at("https://hindsight.vectorize.io")
        .used_by(&["hindsight_recall"]),
    tool("SUPERMEMORY_API_KEY", "Supermemory key", "Memory kept at Supermemory", SECRET, SHOWN)
        .at("https://supermemory.ai")
        .used_by(&["supermemory_search"]),
    tool("MEM0_API_KEY", "Mem0 key", "Memory kept at Mem0", SECRET, SHOWN)
        .at("https://app.mem0.ai")
        .used_by(&["mem0_search"]),
    tool("RETAINDB_API_KEY", "RetainDB key", "Memory kept at RetainDB", SECRET, SHOWN)
        .at("https://retaindb.com")
        .used_by(&["retaindb_search"]),
    tool("BRV_API_KEY", "ByteRover key", "Memory kept at ByteRover", SECRET, SHOWN)
        .at("https://app.byterover.dev")
        .used_by(&["brv_query"]),
    tool("OPENVIKING_API_KEY", "OpenViking key", "Memory kept at OpenViking", SECRET, SHOWN)
        .used_by(&["viking_search"]),
    tool("HONCHO_BASE_URL", "Honcho URL", "Address of a Honcho server of your own", PLAIN, SHOWN),
    tool(
        "HINDSIGHT_API_URL",
        "Hindsight URL",
        "Address of a Hindsight server of your own",
        PLAIN,
        ADVANCED,
    ),
    tool(
        "RETAINDB_BASE_URL",
        "RetainDB URL",
        "Address of a RetainDB server of your own",
        PLAIN,
        ADVANCED,
    ),
    tool(
        "OPENVIKING_ENDPOINT",
        "OpenViking URL",
        "Address of a OpenViking server of your own",
        PLAIN,
        ADVANCED,
    ),
    tool(
        "HERMES_LANGFUSE_PUBLIC_KEY",
        "Langfuse public key",
        "Public half of the key that traces are sent to Langfuse with",
        PLAIN,
        SHOWN,
    )
    .at("https://cloud.langfuse.com"),
    tool(
        "HERMES_LANGFUSE_SECRET_KEY",
        "Langfuse secret key",
        "Secret half of the key that traces are sent to Langfuse with",
        SECRET,
        SHOWN,
    )
    .at("https://cloud.langfuse.com"),
    tool(
        "HERMES_LANGFUSE_BASE_URL",
        "Langfuse URL",
        "Address of a Langfuse server of your own",
        PLAIN,
        ADVANCED,
    )
    .at("https://cloud.langfuse.com"),
    meta(
        "HASS_TOKEN",
        "Home Assistant token",
        "Long-lived access token of Home Assistant",
        Category::Messaging,
        SECRET,
        SHOWN,
    ),
    meta(
        "HASS_URL",
        "Home Assistant URL",
        "Address of Home Assistant",
        Category::Messaging,
        PLAIN,
        SHOWN,
    ),
    meta(
        "DISCORD_BOT_TOKEN",
        "Discord bot token",
        "The bot that speaks on Discord",
        Category::Messaging,
        SECRET,
        SHOWN,
    ),
    meta(
        "FEISHU_APP_ID",
        "Feishu app id",
        "The application that speaks on Feishu",
        Category::Messaging,
        PLAIN,
        SHOWN,
    ),
    meta(
        "FEISHU_APP_SECRET",
        "Feishu app secret",
        "Secret of the application that speaks on Feishu",
        Category::Messaging,
        SECRET,
        SHOWN,
    ),
    meta(
        "XAI_API_KEY",
        "xAI key",
        "Models of xAI, its speech, videos and search on X",
        Category::Provider,
        SECRET,
        ADVANCED,
    )
    .at("https://console.x.ai"),
    meta(
        "DEEPINFRA_API_KEY",
        "DeepInfra key",
        "Models and speech at DeepInfra",
        Category::Provider,
        SECRET,
        ADVANCED,
    )
    .at("https://deepinfra.com/dash/api_keys"),
    meta(
        "GEMINI_API_KEY",
        "Gemini key",
        "Gemini models and speech",
        Category::Provider,
        SECRET,
        ADVANCED,
    )
    .at("https://aistudio.google.com/app/apikey"),
    meta(
        "GOOGLE_API_KEY",
        "Google AI key",
        "Gemini models under the older name of the key",
        Category::Provider,
        SECRET,
        ADVANCED,
    )
    .at("https://aistudio.google.com/app/apikey"),
    meta(
        "MINIMAX_API_KEY",
        "MiniMax key",
        "Models, speech and videos of MiniMax",
        Category::Provider,
        SECRET,
        ADVANCED,
    )
    .at("https://www.minimax.io"),
    meta(
        "SUDO_PASSWORD",
        "sudo password",
        "Password for commands that use sudo",
        Category::Setting,
        SECRET,
        SHOWN,
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ToolsetWorld;

    /// Features and tools of memory providers, which no built-in toolset lists.
    const NOT_TOOLS: [&str; 10] = [
        "voice_transcription",
        "openai_tts",
        "elevenlabs_tts",
        "honcho_context",
        "hindsight_recall",
        "supermemory_search",
        "mem0_search",
        "retaindb_search",
        "brv_query",
        "viking_search",
    ];

    #[test]
    fn entries_are_unique_complete_and_name_tools_that_exist() {
        let world = ToolsetWorld::builtin();
        let names: BTreeSet<_> = HAND_WRITTEN.iter().map(|row| row.name).collect();
        assert_eq!((names.len(), HAND_WRITTEN.len()), (54, 54));
        for row in HAND_WRITTEN {
            assert!(!row.prompt.is_empty() && !row.description.is_empty(), "{}", row.name);
            assert!(row.url.is_none_or(|url| url.starts_with("https://")), "{}", row.name);
            for tool in row.tools {
                assert!(world.is_tool(tool) || NOT_TOOLS.contains(tool), "{tool}");
            }
        }
    }
}
