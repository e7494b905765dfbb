//! How many characters a result and a turn may hold.

use std::collections::BTreeMap;

use hermes_registry::ResultLimit;
use serde_json::Value;

/// Characters that a token is taken to have.
const CHARS_PER_TOKEN: f64 = 4.0;
/// Share of the model's window that one result may fill.
const RESULT_SHARE: f64 = 0.15;
/// Share of the model's window that the results of one turn may fill.
const TURN_SHARE: f64 = 0.30;
/// Fewest characters of one result.
const RESULT_FLOOR: usize = 8_000;
/// Fewest characters of the results of one turn.
const TURN_FLOOR: usize = 16_000;

/// The tool whose results are never stored: the model would have to read the file with the same
/// tool, and so on without end.
const PINNED: &str = "read_file";

/// The length from which a result is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threshold {
    /// A result of more characters is stored.
    Chars(usize),
    /// No result is stored.
    Unlimited,
}

impl Threshold {
    /// Reads a number of characters or the word `unlimited`.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number
                .as_u64()
                .map(|chars| Self::Chars(usize::try_from(chars).unwrap_or(usize::MAX))),
            Value::String(text) if text.trim().eq_ignore_ascii_case("unlimited") => {
                Some(Self::Unlimited)
            }
            Value::String(text) => text.trim().parse().ok().map(Self::Chars),
            _ => None,
        }
    }
}

/// Sizes that depend on the model's window, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultBudget {
    /// Most of one result whose tool doesn't say otherwise.
    pub per_result: usize,
    /// Most of all results of a turn together.
    pub per_turn: usize,
    /// How much of a stored result stays in the conversation.
    pub preview: usize,
}

impl Default for ResultBudget {
    fn default() -> Self {
        Self { per_result: 100_000, per_turn: 200_000, preview: 1_500 }
    }
}

impl ResultBudget {
    /// The sizes for a model with a window of `tokens`. The defaults, which are also the most
    /// there can be, if the window is unknown or 0.
    #[must_use]
    pub fn for_context(tokens: Option<u64>) -> Self {
        let most = Self::default();
        let Some(tokens) = tokens.filter(|tokens| *tokens > 0) else { return most };
        // Floating point on purpose: conversions to it and back saturate, and the fraction is
        // dropped the way the other implementations drop it.
        let chars = tokens as f64 * CHARS_PER_TOKEN;
        let share = |share: f64, floor, most| ((chars * share) as usize).clamp(floor, most);
        Self {
            per_result: share(RESULT_SHARE, RESULT_FLOOR, most.per_result),
            per_turn: share(TURN_SHARE, TURN_FLOOR, most.per_turn),
            preview: most.preview,
        }
    }
}

/// The limits of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LimitConfig {
    /// Sizes for the model in use.
    pub budget: ResultBudget,
    /// Thresholds of single tools, by name, which beat what the tools declare.
    pub overrides: BTreeMap<String, Threshold>,
}

impl LimitConfig {
    /// Limits for a model with a window of `tokens`, without overrides.
    #[must_use]
    pub fn for_context(tokens: Option<u64>) -> Self {
        Self { budget: ResultBudget::for_context(tokens), overrides: BTreeMap::new() }
    }

    /// Takes the overrides from a mapping of tools to numbers or `unlimited`; what is neither is
    /// left out.
    #[must_use]
    pub fn with_overrides(mut self, section: &Value) -> Self {
        let Value::Object(section) = section else { return self };
        for (tool, value) in section {
            if let Some(threshold) = Threshold::from_value(value) {
                self.overrides.insert(tool.clone(), threshold);
            }
        }
        self
    }

    /// The threshold of `tool`, which declares `registered`.
    #[must_use]
    pub fn threshold(&self, tool: &str, registered: ResultLimit) -> Threshold {
        threshold(tool, registered, &self.overrides, self.budget.per_result)
    }
}

/// The threshold of `tool`, which declares `registered`, with `default` characters for tools that
/// declare none or more than that. `read_file` has none, whatever is configured.
#[must_use]
pub fn threshold(
    tool: &str,
    registered: ResultLimit,
    overrides: &BTreeMap<String, Threshold>,
    default: usize,
) -> Threshold {
    if tool == PINNED {
        return Threshold::Unlimited;
    }
    if let Some(threshold) = overrides.get(tool) {
        return *threshold;
    }
    match registered {
        ResultLimit::Unlimited => Threshold::Unlimited,
        ResultLimit::Chars(chars) => {
            Threshold::Chars(default.min(usize::try_from(chars).unwrap_or(usize::MAX)))
        }
        ResultLimit::Default => Threshold::Chars(default),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn windows_of_every_size() {
        let sizes = |tokens| {
            let budget = ResultBudget::for_context(tokens);
            (budget.per_result, budget.per_turn)
        };
        assert_eq!(sizes(None), (100_000, 200_000));
        assert_eq!(sizes(Some(0)), (100_000, 200_000));
        assert_eq!(sizes(Some(1)), (8_000, 16_000));
        assert_eq!(sizes(Some(32_000)), (19_200, 38_400));
        assert_eq!(sizes(Some(65_536)), (39_321, 78_643));
        assert_eq!(sizes(Some(200_000)), (100_000, 200_000));
        assert_eq!(sizes(Some(u64::MAX)), (100_000, 200_000));
    }

    #[test]
    fn which_threshold_wins() {
        let overrides =
            json!({"a": 5, "read_file": 1, "b": "unlimited", "c": -1, "d": "7", "e": []});
        let config = LimitConfig::default().with_overrides(&overrides);
        let of = |tool, registered| config.threshold(tool, registered);
        assert_eq!(of("read_file", ResultLimit::Chars(3)), Threshold::Unlimited);
        assert_eq!(of("a", ResultLimit::Unlimited), Threshold::Chars(5));
        assert_eq!(of("b", ResultLimit::Chars(3)), Threshold::Unlimited);
        assert_eq!(of("c", ResultLimit::Default), Threshold::Chars(100_000));
        assert_eq!(of("d", ResultLimit::Default), Threshold::Chars(7));
        assert_eq!(of("e", ResultLimit::Unlimited), Threshold::Unlimited);
        assert_eq!(of("f", ResultLimit::Chars(3)), Threshold::Chars(3));
        assert_eq!(of("f", ResultLimit::Chars(u32::MAX)), Threshold::Chars(100_000));
    }
}
