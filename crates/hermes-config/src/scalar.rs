//! What a single YAML value means: null, boolean, number or text.

use granit_parser::ScalarStyle;
use serde_json::Value;

use crate::tree::{Scalar, Tag};

/// The value of a scalar; none when it is not what its tag says.
pub(crate) fn resolve(scalar: &Scalar, tag: Option<Tag>) -> Option<Value> {
    let text = scalar.text.as_str();
    match tag {
        Some(Tag::Text | Tag::Unspecific) => Some(Value::from(text)),
        Some(Tag::Null) => Some(Value::Null),
        Some(Tag::Bool) => boolean(text.trim()).map(Value::Bool),
        Some(Tag::Integer) => integer(text.trim()),
        Some(Tag::Float) => float(text.trim()),
        Some(Tag::List | Tag::Map | Tag::Binary) => None,
        None if scalar.style == ScalarStyle::Plain => Some(plain(text)),
        None => Some(Value::from(text)),
    }
}

fn plain(text: &str) -> Value {
    if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return Value::Null;
    }
    if let Some(value) = boolean(text) {
        return Value::Bool(value);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    // `0755` is a text: neither 493 nor 755 is surely what was meant.
    let leading_zero = unsigned.len() > 1
        && unsigned.starts_with('0')
        && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    let signed_nan = unsigned.len() < text.len() && unsigned.eq_ignore_ascii_case(".nan");
    if leading_zero || signed_nan || matches!(unsigned.get(..2), Some("0X" | "0O" | "0B")) {
        return Value::from(text);
    }
    integer(text).or_else(|| float(text)).unwrap_or_else(|| Value::from(text))
}

/// YAML 1.1 has `y` and `n` too, and the program whose files we share does not.
fn boolean(word: &str) -> Option<bool> {
    match word {
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn integer(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, radix) = match unsigned.get(..2) {
        Some("0x" | "0X") => (unsigned.get(2..)?, 16),
        Some("0o" | "0O") => (unsigned.get(2..)?, 8),
        Some("0b" | "0B") => (unsigned.get(2..)?, 2),
        Some(two) if two.starts_with('0') => return None,
        _ => (unsigned, 10),
    };
    let grouped = digits
        .split('_')
        .all(|group| !group.is_empty() && group.chars().all(|digit| digit.is_digit(radix)));
    if !grouped {
        return None;
    }
    let size = u64::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    if text.starts_with('-') {
        return 0_i64.checked_sub_unsigned(size).map(Value::from);
    }
    Some(Value::from(size))
}

/// A float; those JSON lacks become texts.
fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = match unsigned {
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => f64::NEG_INFINITY,
        ".inf" | ".Inf" | ".INF" => f64::INFINITY,
        // Rust's words for those are texts in YAML.
        _ if unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
            text.parse().ok()?
        }
        _ => return None,
    };
    Some(match number {
        _ if number.is_nan() => Value::from(".nan"),
        f64::INFINITY => Value::from(".inf"),
        f64::NEG_INFINITY => Value::from("-.inf"),
        _ => Value::from(number),
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_words_are_read_as_people_mean_them() {
        for (texts, expected) in [
            (&["", "~", "null", "Null"][..], json!(null)),
            (&["yes", "On", "TRUE"], json!(true)),
            (&["no", "Off", "FALSE"], json!(false)),
            (&["31", "+31", "0x1F", "0o37", "0b11111", "3_1"], json!(31)),
            (&["-16", "-0x10", "-1_6"], json!(-16)),
            (&["0", "-0"], json!(0)),
            (&["9223372036854775808"], json!(9_223_372_036_854_775_808_u64)),
            (&["-9223372036854775808"], json!(i64::MIN)),
            (&["18446744073709551616"], json!(18_446_744_073_709_551_616.0)),
            (&["2.5", "+2.5", "2.5e0", "25e-1", "002.5"], json!(2.5)),
            (&["5.", "5e0"], json!(5.0)),
            (&[".5", "0.5"], json!(0.5)),
            (&[".inf", "+.Inf", "1e999"], json!(".inf")),
            (&["-.INF", "-1e999"], json!("-.inf")),
            (&[".NaN"], json!(".nan")),
        ] {
            for text in texts {
                assert_eq!(plain(text), expected, "{text}");
            }
        }
        for text in [
            "y",
            "N",
            "oN",
            "tRUE",
            "nULL",
            "0755",
            "-010",
            "0X1F",
            "0x",
            "1__0",
            "_1",
            "1_",
            "0_1",
            "1:30",
            "2030-01-02",
            "1.2.3",
            "inf",
            "nan",
            "-inf",
            "+.nan",
            ".",
            "-",
            "+",
            "e5",
            "1 2",
            "1_0.5",
            "é",
        ] {
            assert_eq!(plain(text), json!(text));
        }
    }

    #[test]
    fn a_tag_decides() {
        for (text, tag, expected) in [
            ("1", Tag::Text, Some(json!("1"))),
            ("~", Tag::Text, Some(json!("~"))),
            ("x", Tag::Null, Some(json!(null))),
            (" yes ", Tag::Bool, Some(json!(true))),
            ("y", Tag::Bool, None),
            ("0X1F", Tag::Integer, Some(json!(31))),
            ("1.5", Tag::Integer, None),
            ("1", Tag::Float, Some(json!(1.0))),
            ("one", Tag::Float, None),
            ("x", Tag::Map, None),
        ] {
            let scalar = Scalar { text: text.to_owned(), style: ScalarStyle::DoubleQuoted };
            assert_eq!(resolve(&scalar, Some(tag)), expected, "{text}");
        }
    }
}
