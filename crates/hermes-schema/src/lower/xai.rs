//! xAI: its grammar compiler refuses `pattern`, `format` and enumerations with a slash.

use std::borrow::Cow;

use serde_json::Value;

use crate::{strip_pattern_format, strip_slash_enum};

/// The schema without `pattern`, `format` and any `enum` holding a text with `/`.
#[must_use]
pub fn lower(schema: &Value) -> Cow<'_, Value> {
    match strip_pattern_format(schema).0 {
        Cow::Borrowed(schema) => strip_slash_enum(schema).0,
        Cow::Owned(schema) => Cow::Owned(strip_slash_enum(&schema).0.into_owned()),
    }
}

/// Whether requests go to xAI, judged by the configured provider, the host of the base URL and the
/// model's name. Any one of them suffices; give an empty text for what is not known.
#[must_use]
pub fn is_xai(provider: &str, host: &str, model: &str) -> bool {
    let model = model.trim().to_ascii_lowercase();
    let bare = model.rsplit('/').next().unwrap_or_default();
    ["xai", "xai-oauth"].iter().any(|name| provider.trim().eq_ignore_ascii_case(name))
        || host.trim().eq_ignore_ascii_case("api.x.ai")
        || bare.starts_with("grok-")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strips_both() {
        let schema = json!({"properties": {"a": {"enum": ["x/y"], "pattern": "p"}, "b": {}}});
        assert_eq!(*lower(&schema), json!({"properties": {"a": {}, "b": {}}}));
        assert!(matches!(lower(&json!({"type": "object"})), Cow::Borrowed(_)));
    }

    #[test]
    fn recognises_xai() {
        assert!(is_xai("xai-oauth", "", ""));
        assert!(is_xai("", "API.x.ai", ""));
        assert!(is_xai("openrouter", "", "x-ai/grok-4"));
        assert!(!is_xai("openai", "api.x.ai.example", "gpt-grok"));
    }
}
