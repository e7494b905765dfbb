//! Rules that look at a value and at nothing inside of it.

use std::cmp::Ordering;

use serde_json::Value;

use super::{
    equal::{compare, equal, is_multiple},
    node::Rule,
};

impl Rule {
    /// Whether the value keeps the rule; a rule for values of another type is always kept.
    pub(super) fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Const(only), _) => equal(only, value),
            (Self::MultipleOf(step), Value::Number(number)) => is_multiple(number, step),
            (Self::Minimum(limit), Value::Number(number)) => {
                compare(number, limit) != Ordering::Less
            }
            (Self::Maximum(limit), Value::Number(number)) => {
                compare(number, limit) != Ordering::Greater
            }
            (Self::ExclusiveMinimum(limit), Value::Number(number)) => {
                compare(number, limit) == Ordering::Greater
            }
            (Self::ExclusiveMaximum(limit), Value::Number(number)) => {
                compare(number, limit) == Ordering::Less
            }
            (Self::MinLength(limit), Value::String(text)) => text.chars().count() as u64 >= *limit,
            (Self::MaxLength(limit), Value::String(text)) => {
                // Never more characters than bytes.
                text.len() as u64 <= *limit || text.chars().count() as u64 <= *limit
            }
            (Self::Pattern(pattern), Value::String(text)) => pattern.is_match(text),
            (Self::MinItems(limit), Value::Array(elements)) => elements.len() as u64 >= *limit,
            (Self::MaxItems(limit), Value::Array(elements)) => elements.len() as u64 <= *limit,
            (Self::MinProperties(limit), Value::Object(members)) => members.len() as u64 >= *limit,
            (Self::MaxProperties(limit), Value::Object(members)) => members.len() as u64 <= *limit,
            _ => true,
        }
    }
}
