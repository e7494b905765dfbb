//! The `tool_loop_guardrails` section of the configuration.

use serde_json::Value;

/// From how many times on something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Failures of equal calls.
    pub exact_failure: u64,
    /// Failures of one tool.
    pub same_tool_failure: u64,
    /// Equal results of equal reading calls.
    pub idempotent_no_progress: u64,
}

/// Settings of the guardrail; limits are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardrailConfig {
    /// Whether the model is warned.
    pub warnings_enabled: bool,
    /// Whether calls are refused and turns ended.
    pub hard_stop_enabled: bool,
    /// When it is warned.
    pub warn_after: Limits,
    /// When a call is refused or the turn ended.
    pub hard_stop_after: Limits,
}

impl Default for GuardrailConfig {
    fn default() -> Self {
        Self {
            warnings_enabled: true,
            hard_stop_enabled: false,
            warn_after: Limits {
                exact_failure: 2,
                same_tool_failure: 3,
                idempotent_no_progress: 2,
            },
            hard_stop_after: Limits {
                exact_failure: 5,
                same_tool_failure: 8,
                idempotent_no_progress: 5,
            },
        }
    }
}

impl GuardrailConfig {
    /// Reads the section. A value that makes no sense is replaced by its default; the older flat
    /// keys, such as `exact_failure_warn_after`, count where the nested one is missing.
    #[must_use]
    pub fn from_value(section: &Value) -> Self {
        let defaults = Self::default();
        let flag = |key, default| section.get(key).and_then(boolean).unwrap_or(default);
        let limit = |group: &str, key: &str, flat: &str, default| {
            let nested = section.get(group).and_then(|group| group.get(key));
            nested.or_else(|| section.get(flat)).and_then(positive).unwrap_or(default)
        };
        let (warn, stop) = (defaults.warn_after, defaults.hard_stop_after);
        Self {
            warnings_enabled: flag("warnings_enabled", defaults.warnings_enabled),
            hard_stop_enabled: flag("hard_stop_enabled", defaults.hard_stop_enabled),
            warn_after: Limits {
                exact_failure: limit(
                    "warn_after",
                    "exact_failure",
                    "exact_failure_warn_after",
                    warn.exact_failure,
                ),
                same_tool_failure: limit(
                    "warn_after",
                    "same_tool_failure",
                    "same_tool_failure_warn_after",
                    warn.same_tool_failure,
                ),
                idempotent_no_progress: limit(
                    "warn_after",
                    "idempotent_no_progress",
                    "no_progress_warn_after",
                    warn.idempotent_no_progress,
                ),
            },
            hard_stop_after: Limits {
                exact_failure: limit(
                    "hard_stop_after",
                    "exact_failure",
                    "exact_failure_block_after",
                    stop.exact_failure,
                ),
                same_tool_failure: limit(
                    "hard_stop_after",
                    "same_tool_failure",
                    "same_tool_failure_halt_after",
                    stop.same_tool_failure,
                ),
                idempotent_no_progress: limit(
                    "hard_stop_after",
                    "idempotent_no_progress",
                    "no_progress_block_after",
                    stop.idempotent_no_progress,
                ),
            },
        }
    }
}

/// An integer of at least 1, also as a text.
fn positive(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (number >= 1).then_some(number)
}

/// A boolean, also as 0 and 1 or as a word.
fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => match number.as_f64()? {
            0.0 => Some(false),
            1.0 => Some(true),
            _ => None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" | "enabled" => Some(true),
            "0" | "false" | "no" | "off" | "disabled" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sections() {
        let defaults = GuardrailConfig::default();
        for section in [json!(null), json!([]), json!({}), json!({"warn_after": 3})] {
            assert_eq!(GuardrailConfig::from_value(&section), defaults);
        }
        let config = GuardrailConfig::from_value(&json!({
            "warnings_enabled": "Off",
            "hard_stop_enabled": "enabled",
            "warn_after": {"exact_failure": 0, "same_tool_failure": 7, "idempotent_no_progress": "4"},
            "hard_stop_after": {"exact_failure": 2.5, "same_tool_failure": -1},
            "exact_failure_warn_after": 9,
            "same_tool_failure_warn_after": 9,
            "same_tool_failure_halt_after": 9,
            "no_progress_block_after": 3,
        }));
        assert_eq!(
            config,
            GuardrailConfig {
                warnings_enabled: false,
                hard_stop_enabled: true,
                warn_after: Limits {
                    exact_failure: 2,
                    same_tool_failure: 7,
                    idempotent_no_progress: 4,
                },
                hard_stop_after: Limits {
                    exact_failure: 5,
                    same_tool_failure: 8,
                    idempotent_no_progress: 3,
                },
            }
        );
        let odd = json!({"warnings_enabled": "maybe", "hard_stop_enabled": 1});
        let config = GuardrailConfig::from_value(&odd);
        assert!(config.warnings_enabled && config.hard_stop_enabled);
    }
}
