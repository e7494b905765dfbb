//! The `tools.tool_search` section of the configuration.
//!
//! Reading it never fails: a value that makes no sense is replaced by its default and one that
//! is out of range is clamped, so that a typing error can't take a session's tools away.

use serde_json::Value;

/// The most matches that `max_search_limit` may allow.
const MAX_SEARCH_LIMIT_CEILING: usize = 50;

/// When tools are withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchMode {
    /// When the deferrable tools would take too much of the context, or there are too many tools.
    #[default]
    Auto,
    /// Whenever there is a deferrable tool.
    On,
    /// Never.
    Off,
}

impl SearchMode {
    /// The word used in the configuration: `auto`, `on` or `off`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
        }
    }

    /// Reads a mode from text, ignoring case and surrounding blanks; anything unknown is `Auto`.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text.trim().to_lowercase().as_str() {
            "on" | "true" | "1" | "yes" => Self::On,
            "off" | "false" | "0" | "no" => Self::Off,
            _ => Self::Auto,
        }
    }
}

/// Settings of tool search, all within their ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSearchConfig {
    /// When tools are withheld.
    pub enabled: SearchMode,
    /// Share of the context, in percent (0 to 100), from which `Auto` withholds tools.
    pub threshold_pct: f64,
    /// Matches returned when the model names no limit; from 1 to `max_search_limit`.
    pub search_default_limit: usize,
    /// Most matches a model may ask for; from 1 to 50.
    pub max_search_limit: usize,
}

impl Default for ToolSearchConfig {
    fn default() -> Self {
        Self {
            enabled: SearchMode::Auto,
            threshold_pct: 10.0,
            search_default_limit: 5,
            max_search_limit: 20,
        }
    }
}

impl ToolSearchConfig {
    /// Reads the section as found in the configuration: a mapping, or just a mode.
    ///
    /// A bare `true` means `Auto` (tool search is wanted, not forced), a bare `false` means `Off`.
    #[must_use]
    pub fn from_value(raw: &Value) -> Self {
        let defaults = Self::default();
        let map = match raw {
            Value::Object(map) => map,
            Value::String(text) => {
                return Self { enabled: SearchMode::from_text(text), ..defaults };
            }
            Value::Bool(false) => return Self { enabled: SearchMode::Off, ..defaults },
            _ => return defaults,
        };
        let number = |key: &str| map.get(key).and_then(lenient_number);
        let limit = |key: &str, default: usize, max: usize| {
            number(key).map_or(default.clamp(1, max), |n| clamp_limit(n, max))
        };
        let max_search_limit =
            limit("max_search_limit", defaults.max_search_limit, MAX_SEARCH_LIMIT_CEILING);
        Self {
            enabled: match map.get("enabled") {
                Some(Value::String(text)) => SearchMode::from_text(text),
                Some(other @ (Value::Bool(_) | Value::Number(_))) => {
                    SearchMode::from_text(&other.to_string())
                }
                _ => defaults.enabled,
            },
            threshold_pct: number("threshold_pct")
                .map_or(defaults.threshold_pct, |pct| pct.clamp(0.0, 100.0)),
            search_default_limit: limit(
                "search_default_limit",
                defaults.search_default_limit,
                max_search_limit,
            ),
            max_search_limit,
        }
    }
}

/// A finite number, given as such or as text.
pub(super) fn lenient_number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|n| n.is_finite())
}

/// Drops the fraction of `wanted` and brings it into `1..=max`.
pub(super) fn clamp_limit(wanted: f64, max: usize) -> usize {
    // A float-to-integer cast saturates, so any finite number is fine here.
    (wanted as usize).clamp(1, max.max(1))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn check(raw: &Value, enabled: SearchMode, pct: f64, default_limit: usize, max: usize) {
        let expected = ToolSearchConfig {
            enabled,
            threshold_pct: pct,
            search_default_limit: default_limit,
            max_search_limit: max,
        };
        assert_eq!(ToolSearchConfig::from_value(raw), expected, "{raw}");
    }

    #[test]
    fn modes() {
        use SearchMode::{Auto, Off, On};
        for (raw, expected) in [
            (json!(null), Auto),
            (json!(true), Auto),
            (json!(false), Off),
            (json!(0), Auto),
            (json!([]), Auto),
            (json!(" ON "), On),
            (json!("off"), Off),
            (json!("maybe"), Auto),
            (json!({}), Auto),
            (json!({"enabled": null}), Auto),
            (json!({"enabled": true}), On),
            (json!({"enabled": false}), Off),
            (json!({"enabled": 1}), On),
            (json!({"enabled": 0}), Off),
            (json!({"enabled": " Yes\n"}), On),
            (json!({"enabled": "NO"}), Off),
            (json!({"enabled": ["on"]}), Auto),
        ] {
            check(&raw, expected, 10.0, 5, 20);
        }
    }

    #[test]
    fn numbers() {
        use SearchMode::Auto;
        check(&json!({"threshold_pct": 12.5}), Auto, 12.5, 5, 20);
        check(&json!({"threshold_pct": -1}), Auto, 0.0, 5, 20);
        check(&json!({"threshold_pct": 1e9}), Auto, 100.0, 5, 20);
        for text in ["nan", "inf", "-inf", "1e999", "ten", ""] {
            check(&json!({"threshold_pct": text, "max_search_limit": text}), Auto, 10.0, 5, 20);
        }
        check(&json!({"max_search_limit": 3}), Auto, 10.0, 3, 3);
        check(&json!({"max_search_limit": 0}), Auto, 10.0, 1, 1);
        check(&json!({"max_search_limit": 1e30, "search_default_limit": -5}), Auto, 10.0, 1, 50);
        check(&json!({"search_default_limit": " 7.9 "}), Auto, 10.0, 7, 20);
        check(&json!({"search_default_limit": [7], "max_search_limit": true}), Auto, 10.0, 5, 20);
    }
}
