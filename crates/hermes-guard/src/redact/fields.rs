//! Secrets that are known by the name before them: settings, fields and headers.

use super::keys::{has_secret_part, is_count, is_secret_key};
use super::mask::{push_hidden, push_masked};
use super::rules::Rule;

/// Part of a name that may make it secret.
const NAME_HINT: &str = "(?i)(?:api|access|private|signing|encryption)[_-]?key|token|secret|passw|passphrase|credential|auth|bearer|key_?material";

/// Beginnings of values that say where the secret is, not what it is.
const LOOKUPS: [&str; 7] =
    ["os.getenv", "os.environ", "process.env", "$ENV{", "ENV[", "env::var", "std::env"];

/// Headers that have rules of their own.
const HEADERS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Attributes of a cookie, which aren't secret.
const COOKIE_ATTRIBUTES: [&str; 6] =
    ["path", "domain", "expires", "max-age", "samesite", "priority"];

pub(super) const RULES: [Rule; 6] = [
    // Settings: NAME=value, name=value.
    Rule {
        hint: NAME_HINT,
        pattern: concat!(
            "([A-Za-z0-9_.-]*(?i:(?:api|access|private|signing|encryption)[_-]?key|token|secret|",
            "password|passwd|passphrase|credential|auth)",
            "[A-Za-z0-9_.-]*)([ \\t]*:?=[ \\t]*)",
            "(\"(?:[^\"\\\\\\n]|\\\\.)*\"?|'(?:[^'\\\\\\n]|\\\\.)*'?|[^\\s\"'`=>][^\\s\"'`]*)",
        ),
        by_name: true,
        replace: |out, found, at| {
            let (name, equals, value) = (&found[1], &found[2], &found[3]);
            let is_upper = !name.contains(|c: char| c.is_ascii_lowercase());
            // Spread out only where it can be no sentence.
            let is_setting = is_upper || equals == "=" || is_line_start(at.before);
            // Callbacks and magic links must go on working.
            let is_query = at.in_address && at.before.ends_with(['?', '&', '#', ';']);
            let count = !is_upper && is_count(name, value);
            // Its value goes on after the scheme, and has a rule of its own.
            let is_header = name.to_ascii_lowercase().ends_with(HEADERS[0]);
            out.push_str(name);
            out.push_str(equals);
            if is_setting && !is_query && !count && !is_header && has_secret_part(name) {
                push_value(out, value);
            } else {
                out.push_str(value);
            }
        },
        ..Rule::DEFAULT
    },
    // Fields of JSON and the like, also within a text in JSON.
    Rule {
        hint: NAME_HINT,
        pattern: concat!(
            "(\\\\*[\"'])([A-Za-z0-9_.-]+)(\\\\*[\"'][ \\t]*:[ \\t]*)",
            "(\"(?:[^\"\\\\\\n]|\\\\.)*\"?|'(?:[^'\\\\\\n]|\\\\.)*'?|\\\\+[\"'][^\"'\\\\]*(?:\\\\+[\"'])?)",
        ),
        by_name: true,
        replace: |out, found, _| {
            let (name, value) = (&found[2], &found[4]);
            for group in [&found[1], name, &found[3]] {
                out.push_str(group);
            }
            let is_header = HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header));
            if is_secret_key(name) && !is_header
                || ["secret_value", "raw_secret", "secret_input"].contains(&name)
            {
                push_value(out, value);
            } else {
                out.push_str(value);
            }
        },
        ..Rule::DEFAULT
    },
    // YAML: name: value.
    Rule {
        hint: NAME_HINT,
        pattern: concat!(
            "(?m)^([ \\t]*(?:-[ \\t]+)?[\"']?)([A-Za-z0-9_.-]+)([\"']?:[ \\t]+)",
            "(\"(?:[^\"\\\\\\n]|\\\\.)*\"?|'(?:[^'\\\\\\n]|\\\\.)*'?|[^\\s\"'|>&*{\\[#][^\\n]*)",
        ),
        by_name: true,
        replace: |out, found, _| {
            let (name, value) = (&found[2], &found[4]);
            for group in [&found[1], name, &found[3]] {
                out.push_str(group);
            }
            let is_header = HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header));
            let (value, comment) = match value.find(" #") {
                Some(at) if !value.starts_with(['"', '\'']) => value.split_at(at),
                _ => (value, ""),
            };
            let bare = value.trim_end();
            let says_nothing = matches!(bare, "null" | "~" | "true" | "false" | "yes" | "no");
            if has_secret_part(name) && !is_header && !says_nothing && !is_count(name, bare) {
                push_value(out, bare);
                out.push_str(value.split_at(bare.len()).1);
            } else {
                out.push_str(value);
            }
            out.push_str(comment);
        },
        ..Rule::DEFAULT
    },
    Rule {
        hint: "(?i)authorization",
        pattern: concat!(
            "(?i)((?:proxy-)?authorization[\\\\\"']*[ \\t]*[:=][ \\t]*[\\\\\"']*)",
            "([A-Za-z][A-Za-z0-9_-]*[ \\t]+)?",
            "([^\\s\"'\\\\]+(?:,?[ \\t]+(?:signedheaders|signature)=[^\\s\"'\\\\]+)*)",
        ),
        replace: |out, found, at| {
            out.push_str(&found[1]);
            out.push_str(found.get(2).map_or("", |scheme| scheme.as_str()));
            push_hidden(out, &found[3], at.mode);
        },
        ..Rule::DEFAULT
    },
    Rule {
        hint: "(?i)api-?key|-token",
        pattern: concat!(
            "(?i)((?:x-api-key|x-goog-api-key|api-key|apikey|x-api-token|x-auth-token|",
            "x-access-token|private-token|x-csrf-token)[\\\\\"']*[ \\t]*:[ \\t]*[\\\\\"']*)([^\\s\"'\\\\,;]+)",
        ),
        replace: |out, found, at| {
            out.push_str(&found[1]);
            push_hidden(out, &found[2], at.mode);
        },
        ..Rule::DEFAULT
    },
    Rule {
        hint: "(?i)cookie",
        pattern: "(?i)((?:^|[^A-Za-z0-9_])(?:set-)?cookie[\\\\\"']*[ \\t]*:[ \\t]*[\\\\\"']*)([^\\n\\r\"'\\\\]+)",
        replace: |out, found, at| {
            out.push_str(&found[1]);
            for (index, pair) in found[2].split(';').enumerate() {
                if index > 0 {
                    out.push(';');
                }
                match pair.split_once('=') {
                    Some((name, value))
                        if !COOKIE_ATTRIBUTES
                            .iter()
                            .any(|it| name.trim().eq_ignore_ascii_case(it)) =>
                    {
                        out.push_str(name);
                        out.push('=');
                        push_hidden(out, value.trim(), at.mode);
                    }
                    _ => out.push_str(pair),
                }
            }
        },
        ..Rule::DEFAULT
    },
];

/// Whether the line begins here, but for blanks and a word that declares something. Only a few
/// characters are looked at: lines may be long and have many matches.
fn is_line_start(before: &str) -> bool {
    const LONGEST: usize = 40;
    let mut line: Vec<char> =
        before.chars().rev().take(LONGEST).take_while(|c| *c != '\n').collect();
    if line.len() == LONGEST {
        return false;
    }
    line.reverse();
    let line: String = line.into_iter().collect();
    matches!(line.trim(), "" | "export" | "set" | "-" | "const" | "let" | "var")
}

/// Appends a masked value, which may be in quotes. Quotes stay, lookups stay.
fn push_value(out: &mut String, value: &str) {
    let bare = value.trim_start_matches('\\');
    let (escape, _) = value.split_at(value.len() - bare.len());
    out.push_str(escape);
    let Some(quote) = bare.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        if LOOKUPS.iter().any(|lookup| bare.starts_with(lookup)) {
            out.push_str(bare);
            return;
        }
        // The next field of a form isn't part of the value, but may be a secret too.
        let last_equals = bare.rfind('=').unwrap_or_default();
        let end = bare.find('&').filter(|at| *at < last_equals).unwrap_or(bare.len());
        let (secret, rest) = bare.split_at(end);
        push_masked(out, secret);
        for pair in rest.split('&').skip(1) {
            out.push('&');
            match pair.split_once('=') {
                Some((name, value)) if has_secret_part(name) => {
                    out.push_str(name);
                    out.push('=');
                    push_masked(out, value);
                }
                _ => out.push_str(pair),
            }
        }
        return;
    };
    out.push(quote);
    let inside = bare.trim_start_matches(quote);
    let closing = inside.trim_end_matches([quote, '\\']);
    push_masked(out, closing);
    out.push_str(inside.split_at(closing.len()).1);
}
