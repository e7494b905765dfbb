//! The part of `config.yaml` that is about websites.

use std::fmt;

use serde_json::Value;

/// `security.website_blocklist`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebsiteSettings {
    /// Whether the rules count.
    pub enabled: bool,
    /// Rules.
    pub domains: Vec<String>,
    /// Names of files with one rule a line.
    pub shared_files: Vec<String>,
}

impl WebsiteSettings {
    /// Reads them out of a whole configuration; without them nothing is blocked.
    ///
    /// # Errors
    /// They aren't of the form they must have.
    pub fn from_config(config: &Value) -> Result<Self, MalformedPolicy> {
        let fault = |what: &str| Err(MalformedPolicy(what.to_owned()));
        let fields = match config.pointer("/security/website_blocklist") {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Object(fields)) => fields,
            Some(_) => return fault("it must be a mapping"),
        };
        let enabled = match fields.get("enabled") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(enabled)) => *enabled,
            Some(_) => return fault("enabled must be true or false"),
        };
        let texts = |key: &str| match fields.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(|| MalformedPolicy(format!("{key} must hold texts only"))),
            Some(_) => Err(MalformedPolicy(format!("{key} must be a list"))),
        };
        Ok(Self { enabled, domains: texts("domains")?, shared_files: texts("shared_files")? })
    }
}

/// What is wrong with `security.website_blocklist`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedPolicy(String);

impl fmt::Display for MalformedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "security.website_blocklist in config.yaml can't be read: {}", self.0)
    }
}

impl std::error::Error for MalformedPolicy {}
