//! llama.cpp: its grammar generator knows few regular expressions and formats. Schemas are sent in
//! full first; when the server refuses them, once more without these keywords.

use std::borrow::Cow;

use serde_json::Value;

use crate::strip_pattern_format;

/// The schema without `pattern` and `format`.
#[must_use]
pub fn lower(schema: &Value) -> Cow<'_, Value> {
    strip_pattern_format(schema).0
}

/// Whether an error answer means that the server could not make a grammar of the tools' schemas,
/// so that one retry with [`lower`]ed ones makes sense.
#[must_use]
pub fn is_grammar_error(status: u16, body: &str) -> bool {
    let body = body.to_ascii_lowercase();
    let has = |text: &str| body.contains(text);
    status == 400
        && (has("error parsing grammar")
            || has("json-schema-to-grammar")
            || (has("unable to generate parser") && has("template")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_the_refusal() {
        assert!(is_grammar_error(400, "Error parsing grammar: x"));
        assert!(is_grammar_error(400, "Unable to generate parser for this template."));
        assert!(!is_grammar_error(400, "unable to generate parser"));
        assert!(!is_grammar_error(500, "error parsing grammar"));
    }
}
