//! Numbers written as text, read without losing a digit.

use serde_json::{Number, Value};

/// The integer a decimal text stands for, blanks around it and an exponent allowed; `None` if it
/// has a fraction or fits neither `i64` nor `u64`.
pub(super) fn integer(text: &str) -> Option<Value> {
    Decimal::parse(text.trim())?.to_integer()
}

/// The number a decimal text stands for: an integer where it is one exactly, else the nearest
/// finite float. Plain digits too many for an integer stay text, since a float would alter them.
pub(super) fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    let decimal = Decimal::parse(text)?;
    if let Some(integer) = decimal.to_integer() {
        return Some(integer);
    }
    if decimal.is_plain_digits {
        return None;
    }
    let float: f64 = text.parse().ok()?;
    Number::from_f64(float).map(Value::Number)
}

/// The integer a float without a fraction is, if it can be held exactly.
pub(super) fn integral(number: &Number) -> Option<Number> {
    if !number.is_f64() {
        return None;
    }
    let float = number.as_f64()?;
    if float.fract() != 0.0 {
        return None;
    }
    // The limits are the powers of two just outside of each type, which floats hold exactly.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float) {
        return Some(Number::from(float as i64));
    }
    (9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0)
        .contains(&float)
        .then(|| Number::from(float as u64))
}

/// A decimal literal taken apart.
struct Decimal<'t> {
    is_negative: bool,
    whole: &'t str,
    fraction: &'t str,
    exponent: i64,
    is_plain_digits: bool,
}

impl<'t> Decimal<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Self::exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let is_plain_digits = mantissa.len() == unsigned.len() && !mantissa.contains('.');
        Some(Self { is_negative, whole, fraction, exponent, is_plain_digits })
    }

    fn exponent(text: &str) -> Option<i64> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // Past any float or integer the exact size of an exponent does not matter.
        let size = digits.parse().unwrap_or(1_000_000_000).min(1_000_000_000);
        Some(if is_negative { -size } else { size })
    }

    fn to_integer(&self) -> Option<Value> {
        let digits = || self.whole.bytes().chain(self.fraction.bytes());
        let length = i64::try_from(self.whole.len() + self.fraction.len()).ok()?;
        let trailing_zeros = digits().rev().take_while(|&digit| digit == b'0').count();
        let significant = length - i64::try_from(trailing_zeros).ok()?;
        if significant == 0 {
            return Some(Value::from(0));
        }
        let point = i64::try_from(self.whole.len()).ok()?.checked_add(self.exponent)?;
        if point < significant {
            return None;
        }
        let mut magnitude: u64 = 0;
        for digit in digits().take(usize::try_from(significant).ok()?) {
            magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        }
        for _ in significant..point {
            magnitude = magnitude.checked_mul(10)?;
        }
        if self.is_negative {
            0_i64.checked_sub_unsigned(magnitude).map(Value::from)
        } else {
            Some(Value::from(magnitude))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_exact() {
        for (text, expected) in [
            ("42", json!(42)),
            (" -7\n", json!(-7)),
            ("+7", json!(7)),
            ("007", json!(7)),
            ("-0", json!(0)),
            ("3.0", json!(3)),
            ("3.", json!(3)),
            ("1.5e1", json!(15)),
            ("1E3", json!(1000)),
            ("120e-1", json!(12)),
            ("0e999999999999", json!(0)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("9007199254740993.0", json!(9_007_199_254_740_993_u64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551615", json!(u64::MAX)),
        ] {
            assert_eq!(integer(text), Some(expected), "{text}");
        }
        for text in [
            "",
            " ",
            "-",
            ".",
            "e5",
            "1e",
            "3.7",
            "1e-1",
            "1,000",
            "1_000",
            "0x10",
            "1.0.0",
            "nan",
            "inf",
            "18446744073709551616",
            "-9223372036854775809",
            "1e400",
            "5 kg",
            "٣",
            "1 2",
            "--1",
        ] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("0.25", Some(json!(0.25))),
            (".5", Some(json!(0.5))),
            ("3.0", Some(json!(3))),
            ("-2.5e-3", Some(json!(-0.0025))),
            ("1e30", Some(json!(1e30))),
            ("1e400", None),
            ("NaN", None),
            ("-Infinity", None),
            ("123456789012345678901234567890", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn native_floats() {
        let of = |float: f64| integral(&Number::from_f64(float).unwrap());
        assert_eq!(of(3.0), Some(Number::from(3)));
        assert_eq!(of(-0.0), Some(Number::from(0)));
        assert_eq!(of(1e19), Some(Number::from(10_000_000_000_000_000_000_u64)));
        assert_eq!(of(-9_223_372_036_854_775_808.0), Some(Number::from(i64::MIN)));
        assert_eq!(of(1e20), None);
        assert_eq!(of(3.5), None);
        assert_eq!(integral(&Number::from(3)), None);
    }
}
