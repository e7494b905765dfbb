//! What is looked for, in words.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::Scope;

/// Up to eight words that may stand between those that matter.
macro_rules! words {
    () => {
        r"\s+(?:[^\s]+\s+){0,8}?"
    };
}

/// Scope, id, what must be in a text for the pattern to be tried, and the pattern; in the order in
/// which findings are given. Case doesn't matter.
const TABLE: [(Scope, &str, &str, &str); 37] = [
    (
        Scope::All,
        "prompt_injection",
        r"ignore|forget",
        concat!(
            r"\b(?:ignore|forget)",
            words!(),
            r"(?:previous|all|above|prior|earlier|preceding|former)",
            words!(),
            r"(?:instructions?|prompts?|directions|directives|rules)\b",
        ),
    ),
    (
        Scope::All,
        "sys_prompt_override",
        r"system\s+prompt",
        concat!(
            r"\bsystem\s+prompt\s+override|\b(?:override|overwrite|replace)\s+(?:[^\s]+\s+){0,3}?",
            r"system\s+prompt|\bnew\s+system\s+prompt\s*:",
        ),
    ),
    (
        Scope::All,
        "disregard_rules",
        r"disregard",
        concat!(
            r"\bdisregard",
            words!(),
            r"(?:instructions?|rules|guidelines|policies|prompts?|programming|training)\b",
        ),
    ),
    (
        Scope::All,
        "bypass_restrictions",
        r"bypass|act\s+as",
        concat!(
            r"\bact\s+as\s+(?:if|though)",
            words!(),
            r"(?:no|not\s+have|don.?t\s+have|without)",
            words!(),
            r"(?:restrictions|limits|limitations|rules|filters|guidelines)\b",
            r"|\bbypass\s+(?:[^\s]+\s+){0,4}?(?:restrictions|safeguards|guardrails|",
            r"safety\s+(?:filters?|rules|guidelines|checks))\b",
        ),
    ),
    (
        Scope::All,
        "html_comment_injection",
        r"<!--",
        r"<!--[^>]*?\b(?:ignore|override|system|secret|hidden|instructions?)\b[^>]*?-->",
    ),
    (
        Scope::All,
        "hidden_div",
        r"display\s*:|visibility\s*:|font-size\s*:",
        concat!(
            r"<\s*(?:div|span|p)\s[^>]*?style\s*=\s*[^>]*?",
            r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0)",
        ),
    ),
    (
        Scope::All,
        "translate_execute",
        r"translate",
        r"\btranslate\s+[^\n]+?\s+into\s+[^\n]+?\s+and\s+(?:then\s+)?(?:execute|run|eval)\b",
    ),
    (
        Scope::All,
        "deception_hide",
        r"user|human|operator",
        concat!(
            r"\b(?:do\s+not|don.?t|never)\s+(?:[^\s]+\s+){0,4}?(?:tell|inform|mention|reveal|show|say)",
            r"\s+(?:[^\s]+\s+){0,8}?(?:the|your)\s+(?:user|human|operator)\b",
            r"|\b(?:hide|conceal|keep)\s+(?:[^\s]+\s+){1,6}?from\s+(?:the|your)\s+(?:user|human)\b",
            r"|\bwithout\s+(?:telling|informing|asking|notifying)\s+(?:the|your)\s+(?:user|human)\b",
        ),
    ),
    (
        Scope::All,
        "exfil_curl",
        r"curl",
        r"\bcurl\s+[^\n]*\$[({]?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)",
    ),
    (
        Scope::All,
        "exfil_wget",
        r"wget",
        r"\bwget\s+[^\n]*\$[({]?\w*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|API)",
    ),
    (
        Scope::All,
        "read_secrets",
        r"\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc|id_rsa|id_ed25519|id_ecdsa|/etc/shadow",
        concat!(
            r"\b(?:cat|less|head|tail|more|type)\s+[^\n]*(?:\.env(?:[\s'\x22`;|&)]|$)|credentials\b|",
            r"\.netrc\b|\.pgpass\b|\.npmrc\b|\.pypirc\b|\bid_(?:rsa|ed25519|ecdsa)\b|/etc/shadow\b)",
        ),
    ),
    (
        Scope::Context,
        "role_hijack",
        r"you\s+are",
        r"\byou\s+are\s+(?:[^\s]+\s+){0,8}?now\s+(?:an?|the|my)\s",
    ),
    (
        Scope::Context,
        "role_pretend",
        r"pretend",
        concat!(r"\bpretend", words!(), r"(?:you\s+are|you.re|to\s+be)\b"),
    ),
    (
        Scope::Context,
        "leak_system_prompt",
        r"(?:system|initial|hidden|developer)\s+(?:prompt|instructions)",
        concat!(
            r"\b(?:output|reveal|print|show|repeat|display|dump|leak)",
            words!(),
            r"(?:system|initial|hidden|developer)\s+(?:prompt|instructions)\b",
        ),
    ),
    (
        Scope::Context,
        "remove_filters",
        r"without|filter",
        concat!(
            r"\b(?:respond|answer|reply)\s+without",
            words!(),
            r"(?:restrictions|limitations|filters?|safety|censorship)\b",
            r"|\b(?:remove|disable|turn\s+off)\s+(?:[^\s]+\s+){0,3}?(?:content|safety)\s+filters?\b",
        ),
    ),
    (
        Scope::Context,
        "fake_update",
        r"have\s+been",
        concat!(
            r"\byou\s+have\s+been",
            words!(),
            r"(?:updated|upgraded|patched|reprogrammed)\s+to\b"
        ),
    ),
    (
        Scope::Context,
        "identity_override",
        r"yourself|name|you",
        concat!(
            r"\b(?:re)?name\s+yourself\s|\byour\s+new\s+(?:name|identity)\s+is\b",
            r"|\byour\s+name\s+is\s+now\b|\byou\s+are\s+now\s+(?:called|known\s+as|named)\s",
            r"|\bfrom\s+now\s+on,?\s+(?:you\s+are|your\s+name\s+is)\s",
        ),
    ),
    (
        Scope::Context,
        "c2_node_registration",
        r"register",
        concat!(
            r"\bregister\s+(?:yourself\s+|itself\s+|this\s+\w+\s+)?(?:as\s+)?an?\s+",
            r"(?:new\s+)?(?:c2\s+)?(?:node|implant|bot)\b",
        ),
    ),
    (
        Scope::Context,
        "c2_heartbeat",
        r"heartbeat|beacon|check[\s-]?in",
        concat!(
            r"\b(?:heartbeats?|beacons?|check[\s-]?ins?)\s+(?:to|with)\s",
            r"|\bsend\s+(?:[^\s]+\s+){0,3}?(?:heartbeats?|beacons?)\b",
        ),
    ),
    (
        Scope::Context,
        "c2_task_pull",
        r"from|tasking",
        concat!(
            r"\b(?:pull|fetch|poll|retrieve|request)\s+(?:[^\s]+\s+){0,3}?",
            r"(?:tasks?|tasking|commands?|orders)\s+from\s+(?:[^\s]+\s+){0,3}?",
            r"(?:server|c2|controller|operator|hub|https?:)|\bpull\s+tasking\b",
        ),
    ),
    (
        Scope::Context,
        "c2_network_connect",
        r"connect",
        r"\bconnect\s+(?:back\s+)?to\s+(?:the|our|a)\s+(?:network|botnet|swarm|hive|c2|c&c)\b",
    ),
    (
        Scope::Context,
        "forced_action",
        r"you\s+must",
        r"\byou\s+must\s+(?:[^\s]+\s+){0,3}?(?:register|connect|report|beacon|check\s+in)\b",
    ),
    (
        Scope::Context,
        "anti_forensic_oneliner",
        r"one[\s-]?liner",
        r"\b(?:only|always)\s+use\s+(?:[^\s]+\s+){0,2}?one[\s-]?liners?\b",
    ),
    (
        Scope::Context,
        "anti_forensic_disk",
        r"disk|script",
        concat!(
            r"\b(?:never|do\s+not|don.?t)\s+(?:[^\s]+\s+){0,2}?(?:write|save|create|leave|touch|store)",
            r"\s+(?:[^\s]+\s+){0,5}?(?:(?:to|on)\s+(?:the\s+)?disk|script\s+files?|scripts?)\b",
        ),
    ),
    (
        Scope::Context,
        "env_var_unset_agent",
        r"unset",
        r"\bunset\s+(?:-v\s+)?\w*(?:CLAUDE|CODEX|HERMES|AGENT|OPENAI|ANTHROPIC|CURSOR|GEMINI)\w*",
    ),
    (
        Scope::Context,
        "known_c2_framework",
        r"cobalt|brainworm|metasploit|meterpreter|brute|poshc2|sliver|havoc|mythic|covenant|empire|merlin",
        concat!(
            r"\b(?:cobalt\s*strike|brainworm|metasploit|meterpreter|brute\s*ratel|poshc2)\b",
            r"|\b(?:sliver|havoc|mythic|covenant|empire|merlin)\s+",
            r"(?:c2|implants?|beacons?|framework|server|agents?|payloads?)\b",
        ),
    ),
    (
        Scope::Context,
        "c2_explicit",
        r"c2|c&c",
        r"\b(?:c2|c&c)\s+(?:server|channel|infrastructure|beacon|node|framework|implant|host|domain)s?\b",
    ),
    (
        Scope::Context,
        "c2_explicit_long",
        r"command[\s-]+(?:and|&)",
        r"\bcommand[\s-]+(?:and|&)[\s-]+control\b",
    ),
    (
        Scope::Strict,
        "send_to_url",
        r"https?://",
        r"\b(?:send|post|upload|transmit|forward|exfiltrate)\s+(?:[^\s]+\s+){0,10}?(?:to|at)\s+<?https?://",
    ),
    (
        Scope::Strict,
        "context_exfil",
        r"conversation|chat\s+history|previous\s+messages|context",
        concat!(
            r"\b(?:include|output|print|share|send|append|embed)",
            words!(),
            r"(?:conversation|chat\s+history|previous\s+messages|(?:full|entire|whole)\s+context)\b",
        ),
    ),
    (Scope::Strict, "ssh_backdoor", r"authorized_keys", r"\bauthorized_keys\b"),
    (
        Scope::Strict,
        "ssh_access",
        r"\.ssh",
        r"(?:\$HOME|\$\{HOME\}|~|/root|/home/[^\s/]+|/Users/[^\s/]+)/\.ssh\b",
    ),
    (
        Scope::Strict,
        "hermes_env",
        r"\.env",
        r"(?:\$HOME|\$\{HOME\}|~|/root|/home/[^\s/]+|/Users/[^\s/]+)/\.hermes/\.env\b|\$\{?HERMES_HOME\}?/\.env\b",
    ),
    (
        Scope::Strict,
        "agent_config_mod",
        r"\.md|rules",
        concat!(
            r"\b(?:update|modify|edit|write|change|append|add|insert|put|overwrite|replace)\b[^\n]*?",
            r"(?:\bAGENTS\.md|\bCLAUDE\.md|\bGEMINI\.md|\bSOUL\.md|\.cursorrules|\.clinerules|\.windsurfrules)\b",
        ),
    ),
    (
        Scope::Strict,
        "hermes_config_mod",
        r"hermes",
        concat!(
            r"\b(?:update|modify|edit|write|change|append|add|insert|put|overwrite|replace)\b[^\n]*?",
            r"(?:\.hermes|\$\{?HERMES_HOME\}?)/(?:config\.yaml|SOUL\.md|\.env)\b",
        ),
    ),
    (
        Scope::Strict,
        "hardcoded_secret",
        r"key|token|secret|password",
        r"(?:api[_-]?key|token|secret|password)[\x22']?\s*[=:]\s*[\x22'][A-Za-z0-9+/=_-]{20,}",
    ),
    (
        Scope::Strict,
        "hardcoded_secret",
        r"sk-|gh[pousr]_|AKIA",
        r"\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[A-Z0-9]{16})\b",
    ),
];

/// The patterns, on bytes: they are about ASCII, and so they needn't know other alphabets.
pub(super) struct Patterns {
    hints: RegexSet,
    patterns: Vec<Regex>,
}

impl Patterns {
    /// Which patterns the text matches, by their place in the table.
    pub(super) fn matches(&self, text: &str) -> impl Iterator<Item = usize> {
        let matches =
            |at: usize| self.patterns.get(at).is_some_and(|it| it.is_match(text.as_bytes()));
        self.hints.matches(text.as_bytes()).into_iter().filter(move |at| matches(*at))
    }
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and every test compiles them")]
pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let pattern = |pattern: &str| {
        let mut builder = RegexBuilder::new(pattern);
        builder.unicode(false).case_insensitive(true).multi_line(true);
        builder.build().expect("patterns compile")
    };
    let mut hints = RegexSetBuilder::new(TABLE.iter().map(|(_, _, hint, _)| hint));
    hints.unicode(false).case_insensitive(true);
    Patterns {
        hints: hints.build().expect("hints compile"),
        patterns: TABLE.iter().map(|(.., it)| pattern(it)).collect(),
    }
});

/// The id of a pattern, if it belongs to the scope.
pub(super) fn id(at: usize, scope: Scope) -> Option<&'static str> {
    TABLE.get(at).filter(|(own, ..)| *own <= scope).map(|(_, id, ..)| *id)
}
