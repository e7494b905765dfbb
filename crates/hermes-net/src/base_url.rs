//! Addresses of services that the user may replace.

use hermes_guard::redact::{Mode, redact};
use hermes_guard::urls::Target;
use hyper::Method;

use crate::error::{NetError, NetErrorKind};
use crate::request::Request;

/// The address of a service. One that the user configured may lead to a private address: their own
/// server is the usual case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    target: Target,
    configured: bool,
}

impl BaseUrl {
    /// The address that `configured` names, or `default` if it names none. `setting` is what the
    /// user would have to mend.
    ///
    /// # Errors
    /// It is no URL of the web, or has a query or a fragment.
    pub fn new(setting: &str, default: &str, configured: Option<&str>) -> Result<Self, NetError> {
        let configured = configured.map(str::trim).filter(|text| !text.is_empty());
        let text = configured.unwrap_or(default);
        let fault = |why: &str| {
            let message = format!("{setting} is {}: {why}", redact(text, Mode::Egress));
            NetError::new(NetErrorKind::Request, &message)
        };
        let target = Target::parse(text).map_err(|err| fault(&err.to_string()))?;
        if target.url().query().is_some() || target.url().fragment().is_some() {
            return Err(fault("a base URL has no query and no fragment"));
        }
        Ok(Self { target, configured: configured.is_some() })
    }

    /// Whether the user configured it.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.configured
    }

    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.target.url().as_str()
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// Whether the address is that of a host alone.
    pub(crate) fn has_path(&self) -> bool {
        self.target.url().path() != "/"
    }

    /// A request for what is at `path` below the address.
    #[must_use]
    pub fn get(&self, path: &str) -> Request {
        self.request(Method::GET, path)
    }

    /// A request to do something at `path` below the address.
    #[must_use]
    pub fn post(&self, path: &str) -> Request {
        self.request(Method::POST, path)
    }

    /// A request to `path` below the address; the address itself if it is empty.
    #[must_use]
    pub fn request(&self, method: Method, path: &str) -> Request {
        Request::to_service(method, self, path)
    }

    pub(crate) fn join(&self, path: &str) -> String {
        let base = self.as_str();
        if path.is_empty() {
            return base.to_owned();
        }
        format!("{}/{}", base.trim_end_matches('/'), path.trim_start_matches('/'))
    }

    /// Whether a target is at this service, as the user configured it.
    pub(crate) fn covers(&self, target: &Target) -> bool {
        self.configured && self.target.same_origin(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_and_replacing() {
        let default = "https://api.example/v1";
        let base = |configured| BaseUrl::new("X_URL", default, configured);
        for (configured, path, expected) in [
            (None, "search", "https://api.example/v1/search"),
            (Some(" "), "/search?q=1", "https://api.example/v1/search?q=1"),
            (Some("http://localhost:1/"), "search", "http://localhost:1/search"),
            (Some("http://localhost:1/a/"), "", "http://localhost:1/a/"),
        ] {
            assert_eq!(base(configured).unwrap().get(path).url, expected);
        }
        assert!(!base(None).unwrap().is_configured());
        for bad in ["localhost:1", "ftp://x/", "http://x/?a=b", "http://u:hunter22@x/#a"] {
            let fault = base(Some(bad)).unwrap_err().to_string();
            assert!(fault.starts_with("X_URL") && !fault.contains("hunter22"), "{fault}");
        }
    }
}
