//! One rule: a host, perhaps with a port.

use std::net::Ipv6Addr;

use super::super::target::{Host, host_of};
use super::{Site, canonical};

/// A host that isn't to be visited, and what is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    text: String,
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    /// `*`
    Any,
    /// A host and the names below it.
    From(Host),
    /// `*.name`: the names below it.
    Below(String),
}

impl Rule {
    /// Reads a rule: a host, or a URL of which the host counts. Comments, blank lines and what has
    /// no host are none.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim().to_lowercase();
        if line.starts_with('#') {
            return None;
        }
        // A comment may follow the rule.
        let word = line.split_whitespace().next()?;
        let after_scheme = word.split_once("://").map_or(word, |(_, rest)| rest);
        let after_scheme = after_scheme.trim_start_matches(['/', '\\']);
        let authority = after_scheme.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = host_and_port(authority)?;
        let host = host.trim_end_matches('.');
        // What is left of `www.com` would be all of `.com`.
        let host = host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host);
        if host.is_empty() {
            return None;
        }
        let text = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let hosts = match host.strip_prefix("*.") {
            Some(below) => match parsed(below)? {
                Host::Name(name) => Hosts::Below(name),
                Host::Address(_) => return None,
            },
            None if host == "*" => Hosts::Any,
            None => Hosts::From(parsed(host)?),
        };
        Some(Self { text, hosts, port })
    }

    /// The rule as it is read.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn matches(&self, site: &Site) -> bool {
        let is_below = |name: &str, top: &str| {
            name.strip_suffix(top).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        };
        let is_host = match (&self.hosts, &site.host) {
            (Hosts::Any, _) => true,
            (Hosts::From(host), other) if host == other => true,
            (Hosts::From(Host::Name(top)) | Hosts::Below(top), Host::Name(name)) => {
                is_below(name, top)
            }
            _ => false,
        };
        is_host && self.port.is_none_or(|port| site.ports.contains(&Some(port)))
    }
}

/// The host in the form in which hosts of URLs are compared: punycode, addresses as such.
fn parsed(host: &str) -> Option<Host> {
    let is_bare_v6 = host.parse::<Ipv6Addr>().is_ok();
    let host = if is_bare_v6 { format!("[{host}]") } else { host.to_owned() };
    host_of(&format!("http://{host}/")).map(canonical)
}

/// Takes a port off a host; none if it is no port.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    if authority.parse::<Ipv6Addr>().is_ok() {
        return Some((authority, None));
    }
    let colon = authority.rfind(':').filter(|at| authority.rfind(']').is_none_or(|end| end < *at));
    let Some(colon) = colon else { return Some((authority, None)) };
    let (host, port) = authority.split_at(colon);
    match port.trim_start_matches(':') {
        "" | "*" => Some((host, None)),
        port => Some((host, Some(port.parse().ok()?))),
    }
}
