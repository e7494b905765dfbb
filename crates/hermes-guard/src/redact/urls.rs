//! Secrets in addresses and forms.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Mode;
use super::keys::{decoded, is_secret_parameter};
use super::mask::{HIDDEN, push_hidden};
use super::rules::{Match, Rule};

/// Schemes of databases, queues and machines. What they lead to isn't the web: nobody follows such
/// a link, and its password is needed by nobody who reads it.
macro_rules! schemes {
    () => {
        concat!(
            "postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|valkey|amqp|amqps|mssql|sqlserver|",
            "clickhouse|oracle|cockroachdb|cassandra|neo4j|neo4js|bolt|bolts|nats|ldaps?|ftps?|sftp|",
            "smtps?|imaps?|mqtts?|kafka|rabbitmq|snowflake|redshift|trino|presto|hive|db2|vertica|",
            "elasticsearch|opensearch|influxdb|couchdb|couchbase|memcached|ssh|smb|socks[45]?[ah]?"
        )
    };
}

/// The two slashes, which JSON may escape.
macro_rules! slashes {
    () => {
        ":(?:\\\\*/){2}"
    };
}

#[expect(clippy::expect_used, reason = "the pattern is a constant, and a test compiles it")]
static DATABASE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!("(?i)(?:", schemes!(), ")(?:\\+[a-z0-9]+)*$")).expect("it compiles")
});

/// Whether a word ends with the scheme of a database or the like.
pub(super) fn is_database(word: &str) -> bool {
    // Longer than any scheme.
    const TAIL: usize = 40;
    let from = word.char_indices().rev().nth(TAIL).map_or(0, |(at, _)| at);
    DATABASE.is_match(word.split_at(from).1)
}

pub(super) const RULES: [Rule; 6] = [
    // The password only. It may hold `@`, and even `/`.
    Rule {
        hint: slashes!(),
        pattern: concat!(
            "(?i)((?:",
            schemes!(),
            ")(?:\\+[a-z0-9]+)*",
            slashes!(),
            "[^\\s:/@\"'`]*:)",
            "([^\\s?,\"'`]+|[^\\s@\"'`]+)(@)",
        ),
        replace: |out, found, at| {
            let password = &found[2];
            let is_template = password.ends_with('}')
                && (password.starts_with('{') || password.starts_with("${"));
            out.push_str(&found[1]);
            if is_template && !at.mode.names_count() {
                out.push_str(password);
            } else {
                push_hidden(out, password, at.mode);
            }
            out.push_str(&found[3]);
        },
        ..Rule::DEFAULT
    },
    // A token alone before the host, or with an empty password.
    Rule {
        hint: slashes!(),
        pattern: concat!("([A-Za-z][A-Za-z0-9+.-]*", slashes!(), ")([^\\s/:@?#\"'`]{8,})(:?@)"),
        replace: |out, found, at| {
            out.push_str(&found[1]);
            push_hidden(out, &found[2], at.mode);
            out.push_str(&found[3]);
        },
        ..Rule::DEFAULT
    },
    Rule {
        hint: "[?&#;].+=",
        pattern: "([?&#;])([^=?&#;\\s\"'<>]+)=([^&#\\s\"'<>]*)",
        egress_only: true,
        replace: |out, found, _| {
            let (mark, name, value) = (&found[1], &found[2], &found[3]);
            out.push_str(mark);
            out.push_str(name);
            out.push('=');
            let is_secret = is_secret_parameter(name) || holds_secret_parameter(value);
            out.push_str(if is_secret && !value.is_empty() { HIDDEN } else { value });
        },
        ..Rule::DEFAULT
    },
    // The same in an address that is a part of another one, or stands encoded by itself.
    Rule {
        hint: "(?i)%(?:25)*3d",
        pattern: concat!(
            "(?i)(%(?:25)*(?:3f|26|23|3b))([a-z0-9_.~-]+)(%(?:25)*3d)",
            "((?:[^%&\\s\"'<>]|%(?:25)*(?:[013-9a-f][0-9a-f]|2[0-24-57-9a-f]))+)",
        ),
        egress_only: true,
        replace: |out, found, _| {
            for group in [&found[1], &found[2], &found[3]] {
                out.push_str(group);
            }
            out.push_str(if is_secret_parameter(&found[2]) { HIDDEN } else { &found[4] });
        },
        ..Rule::DEFAULT
    },
    // In front of the host; a browser takes backslashes and a single slash for two.
    Rule {
        hint: "//|:[/\\\\]",
        pattern: "((?://|:[/\\\\]+)[^\\s/:@?#\"'`<>]*:)([^\\s/?#\"'`<>]+)(@)",
        egress_only: true,
        replace: hide_between,
        ..Rule::DEFAULT
    },
    Rule {
        hint: "(?i)%(?:25)*40",
        pattern: "(?i)(%(?:25)*3a(?:%(?:25)*2f){2}[^%&\\s\"'<>]*%(?:25)*3a)([^&\\s\"'<>]+?)(%(?:25)*40)",
        egress_only: true,
        replace: hide_between,
        ..Rule::DEFAULT
    },
];

/// Masks what is between the first group and the third.
fn hide_between(out: &mut String, found: &Captures<'_>, _: &Match<'_>) {
    out.push_str(&found[1]);
    out.push_str(HIDDEN);
    out.push_str(&found[3]);
}

/// Whether a value is an encoded address with a secret parameter.
fn holds_secret_parameter(value: &str) -> bool {
    if !value.contains('%') {
        return false;
    }
    let value = decoded(value);
    let mut parameters = value.split(['?', '&', '#', ';']).skip(1);
    parameters.any(|parameter| {
        parameter.split_once('=').is_some_and(|(name, _)| is_secret_parameter(name))
    })
}

/// The text with the secrets masked if it is a form and nothing else: `a=1&b=2`.
pub(super) fn form(text: &str, mode: Mode) -> Option<String> {
    let trimmed = text.trim();
    let is_form = trimmed.contains('&')
        && !trimmed.contains(|c: char| c.is_whitespace() || matches!(c, '?' | '"' | '<' | '>'))
        && trimmed.split('&').all(|pair| {
            pair.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
        });
    if !is_form {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    for (at, pair) in text.split('&').enumerate() {
        if at > 0 {
            out.push('&');
        }
        match pair.split_once('=') {
            Some((name, value)) if is_secret_parameter(name.trim()) => {
                out.push_str(name);
                out.push('=');
                push_hidden(&mut out, value, mode);
            }
            _ => out.push_str(pair),
        }
    }
    (out != text).then_some(out)
}
