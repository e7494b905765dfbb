//! Websites that the user doesn't want to be visited: `security.website_blocklist`.

mod rule;
mod settings;

use std::fmt;
use std::net::IpAddr;

use url::Url;

use super::target::{Host, host_of};
use rule::Rule;

pub use settings::{MalformedPolicy, WebsiteSettings};

/// The source of rules in `config.yaml`.
const CONFIG: &str = "config";

/// Rules in their order, each with where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebsitePolicy {
    rules: Vec<(Rule, String)>,
}

impl WebsitePolicy {
    /// A policy of these rules, as they would be in `config.yaml`.
    #[must_use]
    pub fn new<'a>(domains: impl IntoIterator<Item = &'a str>) -> Self {
        let mut policy = Self::default();
        policy.add(domains, CONFIG);
        policy
    }

    /// The policy that the settings ask for, and what is wrong with their shared files. `read`
    /// gives the text of such a file, by its name in the settings; relative ones are meant from
    /// the home folder of Hermes. A file that can't be read is left out.
    #[must_use]
    pub fn load(
        settings: &WebsiteSettings,
        mut read: impl FnMut(&str) -> Result<String, String>,
    ) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        if !settings.enabled {
            return (Self::default(), warnings);
        }
        let mut policy = Self::new(settings.domains.iter().map(String::as_str));
        for name in &settings.shared_files {
            match read(name) {
                Ok(text) => policy.add(text.lines(), name),
                Err(err) => warnings.push(format!(
                    "the website rules in {name} are left out, as the file can't be read: {err}"
                )),
            }
        }
        (policy, warnings)
    }

    fn add<'a>(&mut self, rules: impl IntoIterator<Item = &'a str>, source: &str) {
        let rules = rules.into_iter().filter_map(Rule::parse);
        self.rules.extend(rules.map(|rule| (rule, source.to_owned())));
    }

    /// The first rule that is against `url`, which may lack a scheme.
    #[must_use]
    pub fn blocked(&self, url: &str) -> Option<Blocked> {
        if self.rules.is_empty() {
            return None;
        }
        let site = Site::of(url)?;
        let (rule, source) = self.rules.iter().find(|(rule, _)| rule.matches(&site))?;
        Some(Blocked {
            url: url.to_owned(),
            host: site.host.to_string(),
            rule: rule.text().to_owned(),
            source: source.clone(),
        })
    }
}

/// A URL that a rule is against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The URL as it was given.
    pub url: String,
    /// Its host.
    pub host: String,
    /// The rule, as it is read: without the parts of a URL that don't count.
    pub rule: String,
    /// Where the rule stands: `config`, or the name of a shared file.
    pub source: String,
}

impl Blocked {
    /// What to tell the model.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { host, rule, source, .. } = self;
        format!("{host} is blocked by the website policy of the user (rule {rule:?} from {source})")
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

/// The host and the port of a URL.
struct Site {
    host: Host,
    /// The ports that may be meant: two if the URL has neither scheme nor port.
    ports: [Option<u16>; 2],
}

impl Site {
    fn of(url: &str) -> Option<Self> {
        // What browsers leave out.
        let is_blank = |c: char| c.is_whitespace() || c.is_ascii_control();
        let url = url.trim_matches(is_blank).replace(['\t', '\r', '\n'], "");
        if has_scheme(&url) {
            let port = Url::parse(&url).ok()?.port_or_known_default();
            return Some(Self { host: canonical(host_of(&url)?), ports: [port, None] });
        }
        let url = Url::parse(&format!("https://{}", url.trim_start_matches(['/', '\\']))).ok()?;
        let other = url.port().is_none().then_some(80);
        Some(Self {
            host: canonical(host_of(url.as_str())?),
            ports: [url.port_or_known_default(), other],
        })
    }
}

/// Whether a text begins with a scheme, and not with a host and a port.
fn has_scheme(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else { return false };
    let is_known =
        ["http", "https", "ws", "wss", "ftp"].iter().any(|it| scheme.eq_ignore_ascii_case(it));
    is_known
        || (rest.starts_with("//")
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
}

/// The host with an IPv4 address written as one.
fn canonical(host: Host) -> Host {
    match host {
        Host::Address(IpAddr::V6(ip)) => Host::Address(ip.to_canonical()),
        host => host,
    }
}
