//! What the user allows.

use serde_json::Value;

/// What the user allows beyond the internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UrlPolicy {
    /// Whether addresses that aren't the internet may be reached. Metadata services may never.
    pub allow_private: bool,
}

impl UrlPolicy {
    /// The policy that the variable `HERMES_ALLOW_PRIVATE_URLS` and the configuration ask for: the
    /// variable if it says yes or no, else `security.allow_private_urls` or, as in older files,
    /// `browser.allow_private_urls`.
    #[must_use]
    pub fn from_settings(variable: Option<&str>, config: &Value) -> Self {
        let in_config = ["/security/allow_private_urls", "/browser/allow_private_urls"];
        let in_config = in_config.iter().any(|key| match config.pointer(key) {
            Some(Value::Bool(allowed)) => *allowed,
            Some(Value::String(text)) => answer(text) == Some(true),
            Some(Value::Number(number)) => number.as_i64() == Some(1),
            _ => false,
        });
        Self { allow_private: variable.and_then(answer).unwrap_or(in_config) }
    }
}

/// Yes or no, if the text says either.
fn answer(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
