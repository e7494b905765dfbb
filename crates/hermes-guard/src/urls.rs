//! Which web addresses may be fetched, and what to make of them before.
//!
//! Nothing here asks the network. Whoever connects parses with [`Target`], looks the name up,
//! has every answer checked and dials one of the checked addresses: nothing else, since a second
//! look-up may answer differently. [`url_is_safe`] is the same question for those who only want an
//! answer.

pub mod address;
mod normalize;
mod policy;
mod sensitive;
mod target;
pub mod website;

use std::net::IpAddr;

pub use crate::redact::percent_decoded;
pub use normalize::normalize;
pub use policy::UrlPolicy;
pub use sensitive::{holds_secret, sensitive_parameter};
pub use target::{Host, Refusal, Target};

/// Where the addresses of a name come from.
pub trait Lookup {
    /// The addresses of a host name, which is in lower case and without a final dot; none if it
    /// has none or can't be resolved.
    fn addresses(&self, name: &str) -> Vec<IpAddr>;
}

impl<F: Fn(&str) -> Vec<IpAddr>> Lookup for F {
    fn addresses(&self, name: &str) -> Vec<IpAddr> {
        self(name)
    }
}

/// Whether a URL may be fetched under `policy`.
///
/// # Errors
/// Why it may not. What can't be parsed or resolved may not be fetched.
pub fn url_is_safe(url: &str, lookup: &dyn Lookup, policy: UrlPolicy) -> Result<(), Refusal> {
    let target = Target::parse(url)?;
    let answers = match target.host() {
        Host::Address(_) => Vec::new(),
        Host::Name(name) => {
            target.check_name()?;
            lookup.addresses(name)
        }
    };
    target.check(&answers, policy)
}

/// Whether a URL leads to what is never fetched, whatever the policy: the metadata services of
/// clouds. For those who reach private addresses on purpose; it is no judgement on the scheme, and
/// what can't be parsed or resolved isn't blocked.
#[must_use]
pub fn always_blocked(url: &str, lookup: &dyn Lookup) -> bool {
    let is_metadata = |ip: &IpAddr| address::verdict(*ip) == address::Verdict::Metadata;
    match target::host_of(url) {
        None => false,
        Some(Host::Address(ip)) => is_metadata(&ip),
        Some(Host::Name(name)) => {
            target::is_metadata_name(&name) || lookup.addresses(&name).iter().any(is_metadata)
        }
    }
}

#[cfg(test)]
mod tests;
