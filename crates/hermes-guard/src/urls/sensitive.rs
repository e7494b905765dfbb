//! Credentials in the query of a URL.

use url::Url;

use super::normalize;
use crate::redact::{holds_token, percent_decoded};

/// How often a URL may be encoded over itself.
const DEEPEST: usize = 3;

/// Names of parameters that are credentials. `code`, `key`, `session` and `sig` are too ordinary.
const NAMES: [&str; 18] = [
    "access_token",
    "api_key",
    "apikey",
    "auth_token",
    "authorization",
    "awsaccesskeyid",
    "client_secret",
    "credential",
    "credentials",
    "jwt",
    "password",
    "passwd",
    "secret",
    "session_id",
    "signature",
    "token",
    "x_amz_security_token",
    "x_amz_signature",
];

/// The first parameter in the query of a URL of the web whose name says that it is a credential,
/// decoded, in its own letter case. Those without a value don't count, nor does the fragment.
#[must_use]
pub fn sensitive_parameter(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.query()?.split('&').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let name = percent_decoded(name);
        (!value.is_empty() && is_sensitive(&name)).then_some(name)
    })
}

/// Whether a URL carries a token that is known by its looks, in any part of it and however often
/// it is encoded.
#[must_use]
pub fn holds_secret(url: &str) -> bool {
    let mut text = normalize(url);
    for _ in 0..DEEPEST {
        if holds_token(&text) {
            return true;
        }
        if !text.contains('%') {
            return false;
        }
        text = percent_decoded(&text);
    }
    holds_token(url) || holds_token(&text)
}

fn is_sensitive(name: &str) -> bool {
    // By way of the upper case, as some letters share one: `ſ` and `s`.
    let folded = name.to_uppercase().to_lowercase().replace('-', "_");
    NAMES.contains(&folded.as_str())
}
