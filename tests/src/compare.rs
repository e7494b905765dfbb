//! How an answer is held against what a case expects.

use serde_json::{Number, Value};

/// Every key of `expect` is in `actual` with an equal value. Other keys of `actual` don't matter.
///
/// # Errors
/// The first key that differs, with both values.
pub(crate) fn keys(expect: &Value, actual: &Value) -> Result<(), String> {
    let Some(expected) = expect.as_object() else {
        return equal("the answer", expect, Some(actual));
    };
    expected.iter().try_for_each(|(key, value)| equal(key, value, actual.get(key)))
}

/// `actual` has the value `expect` under `key`.
///
/// # Errors
/// Both values.
pub(crate) fn equal(key: &str, expect: &Value, actual: Option<&Value>) -> Result<(), String> {
    match actual {
        Some(actual) if same(expect, actual) => Ok(()),
        Some(actual) => Err(format!("{key}: expected {expect}, got {actual}")),
        None => Err(format!("{key}: expected {expect}, got nothing")),
    }
}

/// Equality of JSON values: the order of keys doesn't matter, numbers are compared by value.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn same_number(a: &Number, b: &Number) -> bool {
    // Two integers are never compared as floats, which can't tell large ones apart.
    if a.is_f64() || b.is_f64() { a.as_f64() == b.as_f64() } else { a == b }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_expected_keys_count_and_below_them_everything() {
        let actual = json!({"a": 1, "b": {"x": [1.0, "é"], "y": null}});
        for expect in [json!({}), json!({"a": 1.0}), json!({"b": {"y": null, "x": [1, "é"]}})] {
            assert_eq!(keys(&expect, &actual), Ok(()), "{expect}");
        }
        for expect in [
            json!({"a": "1"}),
            json!({"c": null}),
            json!({"b": {"y": null}}),
            json!({"b": {"x": [1], "y": null}}),
            json!({"a": true}),
            json!(1),
        ] {
            assert!(keys(&expect, &actual).is_err(), "{expect}");
        }
    }

    #[test]
    fn large_integers_stay_apart() {
        assert!(!same(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(same(&json!(2), &json!(2.0)));
        assert!(!same(&json!(2), &json!(2.5)));
    }
}
