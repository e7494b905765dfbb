//! What a tool gives back when it succeeds.

use serde::Serialize;
use serde_json::{Value, json};

use crate::ToolError;

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolOutput {
    /// Text, passed to the model as it is.
    Text(String),
    /// A JSON value, passed to the model as compact JSON with non-ASCII text unescaped.
    Json(Value),
    /// Text and images. `summary` stands in where a model or a provider takes text only.
    Multimodal {
        /// The parts in the order they are shown.
        parts: Vec<Part>,
        /// A text that says what the parts show.
        summary: Option<String>,
    },
}

/// One part of a multimodal result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// An image, as an `https:` or `data:` URL.
    Image {
        /// Where the image is.
        url: String,
    },
}

impl ToolOutput {
    /// Serialises `value` as the result.
    ///
    /// # Errors
    /// An internal error when the value can't be represented in JSON (a map with keys that are no
    /// text, for example).
    pub fn json(value: impl Serialize) -> Result<Self, ToolError> {
        serde_json::to_value(value).map(Self::Json).map_err(|err| {
            ToolError::internal("the tool's result can't be written as JSON")
                .with_detail(err.to_string())
        })
    }

    /// The text a model without vision gets.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(value) => value.to_string(),
            Self::Multimodal { summary: Some(summary), .. } => summary.clone(),
            Self::Multimodal { parts, summary: None } => {
                let texts: Vec<&str> = parts
                    .iter()
                    .filter_map(|part| match part {
                        Part::Text(text) => Some(text.as_str()),
                        Part::Image { .. } => None,
                    })
                    .collect();
                if texts.is_empty() { "[image]".to_owned() } else { texts.join("\n") }
            }
        }
    }

    /// The `content` of a tool message: text, or a list of parts in the OpenAI dialect.
    pub fn to_content(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone()),
            Self::Json(value) => Value::String(value.to_string()),
            Self::Multimodal { parts, .. } => parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => json!({"type": "text", "text": text}),
                    Part::Image { url } => json!({"type": "image_url", "image_url": {"url": url}}),
                })
                .collect(),
        }
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_results_keep_non_ascii_text_readable() {
        assert_eq!(ToolOutput::from(json!({"größe": "日本"})).to_text(), r#"{"größe":"日本"}"#);
    }

    #[test]
    fn multimodal_results_fall_back_to_text() {
        let parts = vec![Part::Text("a".into()), Part::Image { url: "data:,".into() }];
        let output = ToolOutput::Multimodal { parts: parts.clone(), summary: None };
        assert_eq!(output.to_text(), "a");
        assert_eq!(output.to_content()[1]["image_url"]["url"], "data:,");
        let output = ToolOutput::Multimodal { parts, summary: Some("s".into()) };
        assert_eq!(output.to_text(), "s");
    }
}
