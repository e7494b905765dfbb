//! Secrets in addresses and forms.

use super::Mode;
use super::keys::{decoded, is_secret_parameter};
use super::mask::{HIDDEN, push_hidden};
use super::rules::Rule;

pub(super) const RULES: [Rule; 4] = [
    // Databases and queues: the password only. It may hold `@`, and even `/`.
    Rule {
        hint: "://",
        pattern: concat!(
            "(?i)((?:postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|",
            "sqlserver|clickhouse|oracle|cockroachdb|cassandra|neo4j|bolt|nats|ldaps?|ftp|sftp|smtps?)",
            "(?:\\+[a-z0-9]+)*://[^\\s:/@\"'`]*:)([^\\s?,\"'`]+|[^\\s@\"'`]+)(@)",
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
    // A token alone before the host.
    Rule {
        hint: "://",
        pattern: "([A-Za-z][A-Za-z0-9+.-]*://)([^\\s/:@?#\"'`]{8,})(@)",
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
    Rule {
        hint: "://",
        pattern: "(://[^\\s/:@?#\"'`]*:)([^\\s/@\"'`]+)(@)",
        egress_only: true,
        replace: |out, found, at| {
            debug_assert_eq!(at.mode, Mode::Egress);
            out.push_str(&found[1]);
            out.push_str(HIDDEN);
            out.push_str(&found[3]);
        },
        ..Rule::DEFAULT
    },
];

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
