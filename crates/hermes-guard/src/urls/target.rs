//! Where a URL leads, and whether that is allowed.

use std::fmt;
use std::net::IpAddr;

use url::Url;

use super::UrlPolicy;
use super::address::{Verdict, verdict};

/// Names of metadata services, which aren't even looked up.
const METADATA_NAMES: [&str; 2] = ["metadata.google.internal", "metadata.goog"];

/// Hosts of public files that some networks resolve to addresses of a proxy. They may be private,
/// over `https` only.
const EXEMPT: [&str; 1] = ["multimedia.nt.qq.com.cn"];

/// The setting that allows private addresses.
const SETTING: &str = "security.allow_private_urls";

/// The host of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name in lower case, in punycode, without a final dot.
    Name(String),
    /// An address, however it was written.
    Address(IpAddr),
}

impl Host {
    fn of(url: &Url) -> Option<Self> {
        match url.host()? {
            url::Host::Ipv4(ip) => Some(Self::Address(ip.into())),
            url::Host::Ipv6(ip) => Some(Self::Address(ip.into())),
            url::Host::Domain(name) => {
                // With more than one final dot it is the name of nothing, but resolvers may differ.
                let name = name.strip_suffix('.').unwrap_or(name).to_lowercase();
                (!name.is_empty() && !name.ends_with('.')).then_some(Self::Name(name))
            }
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(ip) => ip.fmt(f),
        }
    }
}

/// A URL of the web and the host it leads to, read the way browsers do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
}

impl Target {
    /// Reads a URL.
    ///
    /// # Errors
    /// It can't be read, has no host or no port that could be dialled, or isn't of the web.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let url = Url::parse(text).map_err(|err| Refusal::Unreadable(err.to_string()))?;
        Self::new(url)
    }

    /// As [`Self::parse`], for a URL that is read already.
    ///
    /// # Errors
    /// It has no host or no port that could be dialled, or isn't of the web.
    pub fn new(url: Url) -> Result<Self, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme(url.scheme().to_owned()));
        }
        let host = Host::of(&url).ok_or(Refusal::NoHost)?;
        if url.port_or_known_default().is_none_or(|port| port == 0) {
            return Err(Refusal::Port);
        }
        Ok(Self { url, host })
    }

    /// Where a redirect from here leads: `location` may be relative.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn redirect(&self, location: &str) -> Result<Self, Refusal> {
        let mut url =
            self.url.join(location).map_err(|err| Refusal::Unreadable(err.to_string()))?;
        if url.fragment().is_none() {
            url.set_fragment(self.url.fragment());
        }
        Self::new(url)
    }

    /// The URL.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port to dial.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// Whether both have the same scheme, host and port.
    #[must_use]
    pub fn same_origin(&self, other: &Self) -> bool {
        self.url.scheme() == other.url.scheme()
            && self.host == other.host
            && self.port() == other.port()
    }

    /// What can be said of the host's name before it is looked up.
    ///
    /// # Errors
    /// It is the name of a metadata service.
    pub fn check_name(&self) -> Result<(), Refusal> {
        match &self.host {
            Host::Name(name) if is_metadata_name(name) => Err(Refusal::Metadata(self.host.clone())),
            _ => Ok(()),
        }
    }

    /// Judges the host: by `answers`, all the addresses of its name, or by its address if it has
    /// no name.
    ///
    /// # Errors
    /// There is no address, or one that may not be reached.
    pub fn check(&self, answers: &[IpAddr], policy: UrlPolicy) -> Result<(), Refusal> {
        self.check_name()?;
        let own;
        let answers = match &self.host {
            Host::Name(_) => answers,
            Host::Address(ip) => {
                own = [*ip];
                &own
            }
        };
        if answers.is_empty() {
            return Err(Refusal::Unresolved(self.host.clone()));
        }
        let verdicts = || answers.iter().map(|ip| (*ip, verdict(*ip)));
        if verdicts().any(|(_, verdict)| verdict == Verdict::Metadata) {
            return Err(Refusal::Metadata(self.host.clone()));
        }
        if policy.allow_private || self.is_exempt() {
            return Ok(());
        }
        for (address, verdict) in verdicts() {
            if let Verdict::Internal(range) = verdict {
                return Err(Refusal::Internal { host: self.host.clone(), address, range });
            }
        }
        Ok(())
    }

    fn is_exempt(&self) -> bool {
        self.url.scheme() == "https"
            && matches!(&self.host, Host::Name(name) if EXEMPT.contains(&name.as_str()))
    }
}

pub(super) fn is_metadata_name(name: &str) -> bool {
    METADATA_NAMES.contains(&name)
}

/// The host of a URL of whatever scheme.
pub(super) fn host_of(text: &str) -> Option<Host> {
    let url = Url::parse(text).ok()?;
    let host = Host::of(&url)?;
    // Of schemes that it doesn't know the parser leaves the host as it is.
    match &host {
        Host::Name(name) if !url.is_special() => {
            let special = Url::parse(&format!("http://{name}/")).ok();
            Some(special.and_then(|url| Host::of(&url)).unwrap_or(host))
        }
        _ => Some(host),
    }
}

/// Why a URL may not be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It can't be read; the text says why.
    Unreadable(String),
    /// This scheme is neither `http` nor `https`.
    Scheme(String),
    /// It has no host.
    NoHost,
    /// Its port can't be dialled.
    Port,
    /// The host has no address, or its name can't be resolved.
    Unresolved(Host),
    /// The host is the metadata service of a cloud, which no setting allows.
    Metadata(Host),
    /// The host has an address that isn't on the internet.
    Internal {
        /// The host.
        host: Host,
        /// The address.
        address: IpAddr,
        /// What it belongs to.
        range: &'static str,
    },
}

impl Refusal {
    /// Whether no setting would allow it.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Metadata(_))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "not a URL: {why}"),
            Self::Scheme(scheme) => {
                write!(f, "only http and https URLs are fetched, not {scheme}:")
            }
            Self::NoHost => f.write_str("the URL has no host"),
            Self::Port => f.write_str("the port must be from 1 to 65535"),
            Self::Unresolved(host) => write!(f, "{host} can't be resolved to an address"),
            Self::Metadata(host) => {
                write!(f, "{host} is the metadata service of a cloud, which is never fetched")
            }
            Self::Internal { host: Host::Address(address), range, .. } => write!(
                f,
                "{address} is not on the internet ({range}); {SETTING}: true in config.yaml allows it"
            ),
            Self::Internal { host, address, range } => write!(
                f,
                "{host} has the address {address}, which is not on the internet ({range}); \
                 {SETTING}: true in config.yaml allows it"
            ),
        }
    }
}

impl std::error::Error for Refusal {}
