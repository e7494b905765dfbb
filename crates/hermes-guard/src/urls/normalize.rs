//! Mending URLs as people and models write them.

use std::fmt::Write as _;

/// A URL of the web in ASCII: blanks around it and after `://` are dropped, the host is written in
/// punycode, and other characters than ASCII, and blanks, are percent-encoded. What is encoded
/// already stays as it is, and so do other texts.
#[must_use]
pub fn normalize(text: &str) -> String {
    let text = text.trim();
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    if !["http", "https"].iter().any(|it| scheme.eq_ignore_ascii_case(it)) {
        return text.to_owned();
    }
    let rest = rest.trim_start();
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);

    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(scheme);
    out.push_str("://");
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            push_encoded(&mut out, user);
            out.push('@');
            host
        }
        None => authority,
    };
    push_host(&mut out, host);
    push_encoded(&mut out, tail);
    out
}

fn push_host(out: &mut String, host: &str) {
    if host.is_ascii() {
        return out.push_str(host);
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    // What is no host stays, and is refused by whoever parses it.
    match url::Host::parse(name) {
        Ok(name) => {
            let _ = write!(out, "{name}");
        }
        Err(_) => out.push_str(name),
    }
    if let Some(port) = port {
        out.push(':');
        out.push_str(port);
    }
}

fn push_encoded(out: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_ascii() && c != ' ' {
            out.push(c);
            continue;
        }
        let mut buffer = [0; 4];
        for byte in c.encode_utf8(&mut buffer).bytes() {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}
