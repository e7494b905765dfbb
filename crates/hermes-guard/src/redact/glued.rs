//! Tokens without anything between them and the word before.

use super::Mode;
use super::mask::{push_marker, push_masked};
use super::rules::Rule;

/// How long a part of a token without `-` and `_` must be at least: words are shorter.
const LONGEST_WORD: usize = 16;

/// Only prefixes that are hardly ever part of a word, and only before what looks random.
pub(super) const RULES: [Rule; 2] = [
    Rule {
        hint: concat!(
            "gh[opusr]_|github_pat_|gl(?:pat|sa)[-_]|xox[baprs]-|xapp-|AIza|sk-(?:ant|proj|or-v1|",
            "svcacct)-|[sr]k_(?:live|test)_|GOCSPX-|shpat_|dckr_pat_|lin_api_|do[op]_v1_|pplx-|tvly-|",
            "bb_live_|AGE-SECRET-KEY-|sq0atp-|hf_|npm_|gsk_|pypi-|xai-|eyJ",
        ),
        pattern: concat!(
            "(gh[opusr]_|github_pat_|glpat-|glsa_|xox[baprs]-|xapp-[0-9]+-|AIza|sk-ant-|sk-proj-|",
            "sk-or-v1-|sk-svcacct-|[sr]k_live_|[sr]k_test_|GOCSPX-|shpat_|dckr_pat_|lin_api_|",
            "do[op]_v1_|pplx-|tvly-|bb_live_|AGE-SECRET-KEY-|sq0atp-)([A-Za-z0-9_-]{16,})|",
            "(hf_|npm_|gsk_|pypi-|xai-)([A-Za-z0-9_-]{20,})|",
            "(eyJ)([A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{4,}\\.[A-Za-z0-9_-]{10,})",
        ),
        replace: |out, found, at| {
            let group = |at| found.get(at).map_or("", |group| group.as_str());
            let is_token = looks_random(group(2))
                || (looks_random(group(4)) && group(4).contains(|c: char| c.is_ascii_uppercase()))
                || !group(6).is_empty();
            if !is_token {
                out.push_str(&found[0]);
            } else if at.mode == Mode::FileRead {
                push_marker(out, [group(1), group(3), group(5)].concat().as_str());
            } else {
                push_masked(out, &found[0]);
            }
        },
        ..Rule::DEFAULT
    },
    // In capitals themselves, so a small letter ends the word before.
    Rule {
        hint: "A[KS]IA[A-Z0-9]{16}",
        pattern: "([a-z])(AKIA|ASIA)([A-Z0-9]{16})\\b",
        replace: |out, found, at| {
            out.push_str(&found[1]);
            if at.mode == Mode::FileRead {
                push_marker(out, &found[2]);
            } else {
                push_masked(out, &[&found[2], &found[3]].concat());
            }
        },
        ..Rule::DEFAULT
    },
];

/// Whether a part of it is longer than words are, and has letters and digits.
fn looks_random(text: &str) -> bool {
    text.split(['-', '_']).any(|part| {
        part.len() >= LONGEST_WORD
            && part.contains(|c: char| c.is_ascii_digit())
            && part.contains(|c: char| c.is_ascii_alphabetic())
    })
}
