//! Secrets that are known by their own looks.

use super::Mode;
use super::mask::{HIDDEN, push_hidden, push_marker, push_masked};
use super::rules::{Match, Rule};

/// Prefixes that vendors give to their tokens.
const VENDORS: &str = concat!(
    "sk-|ghp_|github_pat_|gho_|ghu_|ghs_|ghr_|xapp-|xox[baprs]-|AIza|pplx-|fal_|fc-|bb_live_|gAAAA|",
    "AKIA|ASIA|sk_|rk_live_|SG\\.|hf_|r8_|npm_|pypi-|dop_v1_|doo_v1_|am_|tvly-|exa_|gsk_|syt_|",
    "retaindb_|hsk-|mem0_|brv_|xai-|ntn_|fw-|fw_|fpk_|glpat-|ya29\\.|GOCSPX-|shpat_|sq0atp-|",
    "lin_api_|dckr_pat_|glsa_|AGE-SECRET-KEY-",
);

/// What comes before a token: the beginning, something that is part of no word, or the escape of it
/// in JSON, in an address or for a terminal.
macro_rules! before {
    () => {
        "(^|[^A-Za-z0-9_-]|\\\\[nrtbf]|\\\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\\x1b\\[[0-9;]*m)"
    };
}

/// In the order of the rules: the tokens come before everything that looks at names.
pub(super) const RULES: [Rule; 3] = [
    Rule {
        hint: VENDORS,
        pattern: concat!(
            before!(),
            "(?:((?:AKIA|ASIA))([A-Z0-9]{16})\\b|",
            "(AIza|xai-|fpk_)([A-Za-z0-9_-]{30,})|",
            "(gAAAA)([A-Za-z0-9_=-]{20,})|",
            "(SG\\.|ya29\\.)([A-Za-z0-9_.-]{10,})|",
            "(fc-|fw-)([A-Za-z0-9]{10,})|",
            "(xapp-[0-9]+-|xox[baprs]-|github_pat_|gh[opusr]_|sk_live_|sk_test_|rk_live_|sk-|sk_|",
            "pplx-|fal_|bb_live_|hf_|r8_|npm_|pypi-|dop_v1_|doo_v1_|am_|tvly-|exa_|gsk_|syt_|",
            "retaindb_|hsk-|mem0_|brv_|ntn_|fw_|glpat-|GOCSPX-|shpat_|sq0atp-|lin_api_|dckr_pat_|",
            "glsa_|AGE-SECRET-KEY-)([A-Za-z0-9_-]{10,}))",
        ),
        replace: |out, found, at| {
            let group = |at| found.get(at).map_or("", |group| group.as_str());
            out.push_str(group(1));
            let pairs = [(2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)];
            let Some((prefix, rest)) = pairs
                .into_iter()
                .map(|(prefix, rest)| (group(prefix), group(rest)))
                .find(|(prefix, _)| !prefix.is_empty())
            else {
                return;
            };
            if at.mode == Mode::FileRead {
                push_marker(out, prefix);
            } else {
                push_masked(out, &format!("{prefix}{rest}"));
            }
        },
        ..Rule::DEFAULT
    },
    Rule {
        hint: "(?i)AccountKey=",
        pattern: "(?i)(AccountKey=)([A-Za-z0-9+/=]{10,})",
        replace: |out, found, at| keep_then_mask(out, found, at),
        ..Rule::DEFAULT
    },
    // To the end of the text if the end of the key was cut off.
    Rule {
        hint: "PRIVATE KEY",
        pattern: "(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\\z)",
        replace: |out, found, at| {
            if at.mode == Mode::FileRead {
                push_marker(out, "private-key");
                // Lines are numbered where files are read.
                out.extend(found[0].matches('\n'));
            } else {
                out.push_str("[private key removed]");
            }
        },
        ..Rule::DEFAULT
    },
];

/// These come after the fields, whose values they might cut.
pub(super) const LATER_RULES: [Rule; 3] = [
    // Telegram bots: the number is public.
    Rule {
        hint: "[0-9]{6}:",
        pattern: "((?:^|[^0-9])[0-9]{6,}:)([A-Za-z0-9_-]{30,})",
        replace: |out, found, at| keep_then_mask(out, found, at),
        ..Rule::DEFAULT
    },
    Rule {
        hint: "eyJ",
        pattern: concat!(before!(), "(eyJ[A-Za-z0-9_-]{10,}(?:\\.[A-Za-z0-9_=-]{4,}){0,2})"),
        replace: |out, found, at| keep_then_mask(out, found, at),
        ..Rule::DEFAULT
    },
    Rule {
        hint: "\\+[1-9][0-9]{6}",
        pattern: "(^|[^A-Za-z0-9_+])(\\+[1-9][0-9]{6,14})\\b",
        replace: |out, found, at| {
            out.push_str(&found[1]);
            let number = &found[2];
            if at.mode == Mode::FileRead {
                return push_marker(out, "+");
            }
            let shown = if number.len() > 8 { 4 } else { 2 };
            out.extend(number.chars().take(shown));
            out.push_str(HIDDEN);
            out.extend(number.chars().skip(number.len() - shown));
        },
        ..Rule::DEFAULT
    },
];

/// Keeps the first group, masks the second.
fn keep_then_mask(out: &mut String, found: &regex::Captures<'_>, at: &Match<'_>) {
    out.push_str(&found[1]);
    push_hidden(out, &found[2], at.mode);
}
