//! Numbers and values compared as JSON Schema wants it: by value, so that 1 is 1.0.

use std::{
    cmp::Ordering,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Number, Value};

/// How deep two values are compared; what differs only below is taken to differ.
const MAX_DEPTH: usize = 256;
/// Up to this many elements, comparing each with each is quicker than hashing.
const FEW: usize = 12;

/// The exact order of two numbers.
pub(super) fn compare(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => whole_to_float(a, float(b)),
        (None, Some(b)) => whole_to_float(b, float(a)).reverse(),
        (None, None) => float(a).total_cmp(&float(b)),
    }
}

/// Whether `value` divided by `step` is an integer. Decimal fractions count as what they are
/// written as: 0.3 is a multiple of 0.1.
pub(super) fn is_multiple(value: &Number, step: &Number) -> bool {
    if let (Some(value), Some(step)) = (whole(value), whole(step)) {
        return value.checked_rem(step) == Some(0);
    }
    let (value, step) = (float(value), float(step));
    let quotient = value / step;
    value % step == 0.0
        || (quotient.abs() < 1e9
            && (quotient - quotient.round()).abs() < 1e-9
            && value.abs() >= step)
}

/// Whether two values are the same JSON.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    equal_within(a, b, MAX_DEPTH)
}

fn equal_within(a: &Value, b: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_within(a, b, depth))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal_within(a, b, depth)))
        }
        (Value::Null | Value::Bool(_) | Value::String(_), _) => a == b,
        _ => false,
    }
}

/// Whether no two of `elements` are equal.
pub(super) fn all_differ(elements: &[Value]) -> bool {
    if elements.len() <= FEW {
        return elements.iter().enumerate().all(|(index, element)| {
            elements.iter().take(index).all(|earlier| !equal(earlier, element))
        });
    }
    let mut hashed: Vec<(u64, &Value)> =
        elements.iter().map(|element| (hash(element, MAX_DEPTH), element)).collect();
    hashed.sort_unstable_by_key(|(hash, _)| *hash);
    hashed.chunk_by(|(a, _), (b, _)| a == b).all(|same| {
        same.iter().enumerate().all(|(index, (_, element))| {
            same.iter().take(index).all(|(_, earlier)| !equal(earlier, element))
        })
    })
}

/// Equal for equal values.
fn hash(value: &Value, depth: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Some(depth) = depth.checked_sub(1) else { return 0 };
    match value {
        Value::Null => 0_u8.hash(&mut hasher),
        Value::Bool(flag) => flag.hash(&mut hasher),
        // Adding zero turns its negative into the positive one.
        Value::Number(number) => match whole(number) {
            Some(whole) => whole.hash(&mut hasher),
            None => (float(number) + 0.0).to_bits().hash(&mut hasher),
        },
        Value::String(text) => text.hash(&mut hasher),
        Value::Array(elements) => {
            for element in elements {
                hash(element, depth).hash(&mut hasher);
            }
        }
        Value::Object(members) => {
            // In whatever order the members come.
            let sum = members.iter().fold(0_u64, |sum, (name, member)| {
                let mut hasher = DefaultHasher::new();
                (name, hash(member, depth)).hash(&mut hasher);
                sum.wrapping_add(hasher.finish())
            });
            sum.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The number if it is whole and fits.
fn whole(number: &Number) -> Option<i128> {
    if let Some(int) = number.as_i64() {
        return Some(int.into());
    }
    if let Some(int) = number.as_u64() {
        return Some(int.into());
    }
    let float = float(number);
    // The cast is exact in this range.
    (float.fract() == 0.0 && float.abs() < 1e37).then_some(float as i128)
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

/// The order of a whole number and a float that is not whole or beyond any whole number here.
fn whole_to_float(whole: i128, float: f64) -> Ordering {
    let floor = float.floor() as i128;
    whole.cmp(&floor).then(if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equality_is_by_value() {
        for (a, b, expected) in [
            (json!(1), json!(1.0), true),
            (json!(0), json!(-0.0), true),
            (json!(1), json!(true), false),
            (json!(u64::MAX), json!(u64::MAX as f64), false),
            (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": 1.0}), true),
            (json!([1, 2]), json!([2, 1]), false),
            (json!(null), json!(0), false),
        ] {
            assert_eq!(equal(&a, &b), expected, "{a} {b}");
            assert_eq!(hash(&a, MAX_DEPTH) == hash(&b, MAX_DEPTH), expected, "{a} {b}");
            let mut many: Vec<Value> = (100..150).map(Value::from).collect();
            many.extend([a.clone(), b.clone()]);
            assert_eq!(all_differ(&many), !expected, "{a} {b}");
            assert_eq!(all_differ(&[a, b]), !expected);
        }
    }

    #[test]
    fn order_is_exact() {
        let check = |a: Value, b: Value, expected: Ordering| {
            let (Value::Number(a), Value::Number(b)) = (&a, &b) else { unreachable!() };
            assert_eq!(compare(a, b), expected, "{a} {b}");
            assert_eq!(compare(b, a), expected.reverse(), "{b} {a}");
        };
        check(json!(1), json!(1.5), Ordering::Less);
        check(json!(-1), json!(-1.5), Ordering::Greater);
        check(json!(u64::MAX), json!(u64::MAX - 1), Ordering::Greater);
        check(json!(u64::MAX), json!(18_446_744_073_709_551_616.0), Ordering::Less);
        check(json!(1), json!(1e300), Ordering::Less);
        check(json!(1), json!(-1e300), Ordering::Greater);
        check(json!(2e300), json!(1e300), Ordering::Greater);
    }

    #[test]
    fn multiples() {
        let check = |value: Value, step: Value, expected: bool| {
            let (Value::Number(value), Value::Number(step)) = (&value, &step) else {
                unreachable!()
            };
            assert_eq!(is_multiple(value, step), expected, "{value} {step}");
        };
        check(json!(9), json!(3), true);
        check(json!(10), json!(3), false);
        check(json!(0), json!(0.1), true);
        check(json!(0.3), json!(0.1), true);
        check(json!(0.35), json!(0.1), false);
        check(json!(19.99), json!(0.01), true);
        check(json!(7.5), json!(2.5), true);
        check(json!(1e300), json!(2), true);
        check(json!(1e-300), json!(1), false);
        check(json!(u64::MAX), json!(2), false);
    }
}
