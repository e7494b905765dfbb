//! Tests of repairs and decisions.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn repaired(raw: &str) -> Option<(Value, String)> {
    repair_json_args(raw).map(|(value, report)| (value, report.to_string()))
}

#[test]
fn spelling_is_mended() {
    for (raw, value, repairs) in [
        (r#" {"a": 1, "a": 2} "#, json!({"a": 2}), ""),
        ("", json!({}), ""),
        (" \n", json!({}), ""),
        ("null", json!({}), ""),
        (" None ", json!({}), "literals"),
        (r#"{"a":[1,2,],}"#, json!({"a": [1, 2]}), "trailing_comma"),
        (r#"{"a":"x,}","b":[",]"],}"#, json!({"a": "x,}", "b": [",]"]}), "trailing_comma"),
        (r#"{"a":1}}"#, json!({"a": 1}), "surplus_closers"),
        (r#"{"a":"}"} ] } "#, json!({"a": "}"}), "surplus_closers"),
        ("{\"c\":\"x\ty\nz\u{0}\"}", json!({"c": "x\ty\nz\u{0}"}), "control_characters"),
        (r#"{'a': 'it\'s "x" \"\n'}"#, json!({"a": "it's \"x\" \"\n"}), "quotes"),
        (r#"{"a": [True, False, None]}"#, json!({"a": [true, false, null]}), "literals"),
        (r#"{"re": "\d+\'\x41\u12\u+123"}"#, json!({"re": r"\d+\'\x41\u12\u+123"}), "escapes"),
        (r#"{"a": "\ud800"}"#, json!({"a": "\u{fffd}"}), "lone_surrogates"),
        (r#"{"a": "\udc00\ud83d\ude00"}"#, json!({"a": "\u{fffd}😀"}), "lone_surrogates"),
        (r#"{"a": "\ud800\u0041"}"#, json!({"a": "\u{fffd}A"}), "lone_surrogates"),
        (r#"{"a": "\ud800\ud83d\ude00"}"#, json!({"a": "\u{fffd}😀"}), "lone_surrogates"),
        ("```json\n{\"a\": 1}\n```", json!({"a": 1}), "code_fence"),
        ("```\n{\"a\": \"```\"}\n``` ", json!({"a": "```"}), "code_fence"),
        ("```{\"a\": 1,}```", json!({"a": 1}), "trailing_comma, code_fence"),
        (r#""{\"a\": 1}""#, json!({"a": 1}), "double_encoded"),
        (r#""{'a': 1}""#, json!({"a": 1}), "quotes, double_encoded"),
        (r#""{not so}""#, json!("{not so}"), ""),
        (r#""{\"a\": ""#, json!("{\"a\": "), ""),
        (r#""\"{}\"""#, json!("\"{}\""), ""),
        ("[1, 2,]", json!([1, 2]), "trailing_comma"),
        ("-0.5e-3", json!(-0.0005), ""),
    ] {
        assert_eq!(repaired(raw), Some((value, repairs.to_owned())), "{raw}");
        assert!(!repair_json_args(raw).unwrap().1.is_cut(), "{raw}");
    }
}

#[test]
fn brackets_are_added_after_a_value_but_the_call_is_not_run() {
    for (raw, value, repairs) in [
        (r#"{"list":[1,2"#, json!({"list": [1, 2]}), "closers_added"),
        (
            r#"{"list":[{"a":"}"} , "#,
            json!({"list": [{"a": "}"}]}),
            "trailing_comma, closers_added",
        ),
        (r#"{"a":1,"#, json!({"a": 1}), "trailing_comma, closers_added"),
        (r#"{"a":true"#, json!({"a": true}), "closers_added"),
        ("```json\n{\"a\": 1", json!({"a": 1}), "closers_added, code_fence"),
        ("```json\n{\"a\": 1}\n``", json!({"a": 1}), "code_fence"),
        (r#""{\"a\": [1""#, json!({"a": [1]}), "closers_added, double_encoded"),
    ] {
        assert_eq!(repaired(raw), Some((value, repairs.to_owned())), "{raw}");
        assert!(repair_json_args(raw).unwrap().1.is_cut(), "{raw}");
        assert!(matches!(decide(raw), ArgsDecision::RefuseTruncated { fault: None, .. }), "{raw}");
    }
}

#[test]
fn text_that_ends_too_early_is_refused() {
    for (raw, ended) in [
        (r#"{"command": "ls"#, Ended::InString),
        (r#"{"command": "fn main() {}"#, Ended::InString),
        (r#"{"command": "ls\"#, Ended::InString),
        (r#"{"command": "ls\u00"#, Ended::InString),
        (r#"{"comm"#, Ended::InString),
        (r#"{'comm'"#, Ended::BeforeValue),
        (r#"{"command":"#, Ended::BeforeValue),
        ("{", Ended::BeforeValue),
        (r#"{"a":[1,["#, Ended::BeforeValue),
        (r#"{"a": tru"#, Ended::InLiteral),
        (r#"{"a": Non"#, Ended::InLiteral),
        (r#"{"a": -"#, Ended::InLiteral),
        (r#"{"a": 1."#, Ended::InLiteral),
        (r#"{"a": 1e+"#, Ended::InLiteral),
        ("```json", Ended::BeforeValue),
    ] {
        assert_eq!(repair_json_args(raw), None, "{raw}");
        let chars = raw.chars().count();
        let refused = ArgsDecision::RefuseTruncated { chars, ended, fault: None };
        assert_eq!(decide(raw), refused, "{raw}");
        assert_eq!(history_arguments(raw), ("{}".to_owned(), true), "{raw}");
    }
}

#[test]
fn complete_text_that_is_no_json_names_the_place() {
    for (raw, fault) in [
        (r#"{"a":1,,}"#, "no key in quotes where one should be at line 1 column 8"),
        ("{\"a\":1,\n \"ä\" 2}", "no colon after a key at line 2 column 6"),
        (r#"[1,,2]"#, "no value where one should be at line 1 column 4"),
        (r#"{,}"#, "no key in quotes where one should be at line 1 column 2"),
        (r#"{"a":1}{"b":2}"#, "more text after the value at line 1 column 8"),
        (r#"{"a":1 "b":2}"#, "no comma between two values at line 1 column 8"),
        (r#"{"a":[1}"#, "a bracket of the wrong kind at line 1 column 8"),
        (r#"{"a":,}"#, "no value where one should be at line 1 column 6"),
        (r#"{"a":01}"#, "a number that is misspelt or too large at line 1 column 6"),
        (r#"{"a":1e999}"#, "a number that is misspelt or too large at line 1 column 6"),
        (r#"{"a": ls}"#, "a word without quotes at line 1 column 7"),
        (r#"{"a":.5}"#, "a character that doesn't belong there at line 1 column 6"),
        ("}", "no value where one should be at line 1 column 1"),
        ("null}", "more text after the value at line 1 column 5"),
        (" ```json\n{\"a\" 1}\n```", "no colon after a key at line 2 column 6"),
    ] {
        assert_eq!(repair_json_args(raw), None, "{raw}");
        match decide(raw) {
            ArgsDecision::InvalidJson { fault: found } => assert_eq!(found.to_string(), fault),
            other => panic!("{raw}: {other:?}"),
        }
    }
    for raw in [r#"{"a":NaN}"#, r#"{"a":[Infinity]}"#, r#"{"a":-Infinity}"#] {
        let ArgsDecision::InvalidJson { fault } = decide(raw) else { panic!("{raw}") };
        assert!(fault.to_string().contains("NaN"), "{fault}");
    }
}

#[test]
fn other_text_counts_as_cut_off_by_its_end() {
    for raw in ["please run ls", r#"{"a":1} as asked"#, r#"{"a":1},"#, "{tru", r#"{"a":1,,"b"#] {
        assert_eq!(repair_json_args(raw), None, "{raw}");
        match decide(raw) {
            ArgsDecision::RefuseTruncated { ended: Ended::Unclear, fault: Some(_), .. } => {}
            other => panic!("{raw}: {other:?}"),
        }
    }
}

#[test]
fn what_is_no_object_is_rejected() {
    for (raw, kind) in [
        ("[1,2]", NotObject::List),
        ("[1,2,]", NotObject::List),
        ("42", NotObject::Number),
        ("True", NotObject::Boolean),
        (r#""x""#, NotObject::String),
        (r#""""#, NotObject::String),
    ] {
        assert_eq!(decide(raw), ArgsDecision::RejectNotObject { kind }, "{raw}");
    }
    assert_eq!(decide_value(json!(3)).as_str(), "reject_not_object");
    assert_eq!(decide_value(json!(null)).as_str(), "execute");
    assert_eq!(decide_value(json!({"a": 1})).as_str(), "execute");
    assert_eq!(decide_value(json!(r#"{"a": 1}"#)).as_str(), "execute");
}

#[test]
fn nesting_costs_no_stack() {
    let nested = |depth: usize| format!("{}{},{}", "[".repeat(depth), 1, "]".repeat(depth));
    assert!(repair_json_args(&nested(MAX_DEPTH)).is_some());
    assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH).replace(',', "")).is_ok());
    assert_eq!(decide(&nested(MAX_DEPTH + 1)).as_str(), "invalid_json");
    assert_eq!(decide(&nested(100_000)).as_str(), "invalid_json");
    assert_eq!(decide(&"[".repeat(100_000)).as_str(), "refuse_truncated");
    assert_eq!(decide(&"{\"a\":".repeat(100_000)).as_str(), "refuse_truncated");
}

#[test]
fn history_is_compact_and_sorted() {
    assert_eq!(history_arguments(r#"{ "b" : 1, "a" : "ä" }"#).0, r#"{"a":"ä","b":1}"#);
    assert_eq!(history_arguments("").0, "{}");
    assert_eq!(history_arguments(r#"{"a":1,,}"#), ("{}".to_owned(), true));
}

/// JSON values without numbers that text would spell in two ways.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((any::<String>(), inner), 0..5)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// Text of the characters that matter, in any order.
fn near_json() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "'", "\\", "\\u", "d800", "1", "-", "e", ".",
            "true", "None", "```", "json", " ", "\n", "\"a\"", "\"a\":", "ä", "\u{0}",
        ]),
        0..40,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_is_read(raw in prop_oneof![any::<String>(), near_json()]) {
        let repaired = repair_json_args(&raw);
        let (text, lost) = history_arguments(&raw);
        prop_assert_eq!(lost, repaired.is_none());
        prop_assert!(serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        match decide(&raw) {
            ArgsDecision::Execute { args, repairs } => {
                prop_assert!(!repairs.is_cut());
                prop_assert_eq!(repaired, Some((Value::Object(args), repairs)));
            }
            ArgsDecision::InvalidJson { fault } => {
                prop_assert!(repaired.is_none());
                let line = raw.split('\n').nth(fault.line - 1);
                prop_assert!(line.is_some_and(|line| fault.column <= line.chars().count() + 1));
            }
            ArgsDecision::RefuseTruncated { .. } => {
                prop_assert!(repaired.is_none_or(|(_, report)| report.is_cut()));
            }
            ArgsDecision::RejectNotObject { .. } => {
                prop_assert!(repaired.is_some_and(|(value, _)| !value.is_object()));
            }
        }
    }

    #[test]
    fn valid_json_stays_as_it_is(value in json_value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        // What `serde_json` reads back: the last digit of a float may differ.
        let value: Value = serde_json::from_str(&text).unwrap();
        let (found, report) = repair_json_args(&text).unwrap();
        if value.is_null() {
            prop_assert_eq!(found, json!({}));
        } else if !report.contains(Repair::DoubleEncoded) {
            prop_assert_eq!(found, value);
            prop_assert!(report.is_clean());
        }
    }

    #[test]
    fn the_tokenizer_reads_json_as_serde_json_does(value in object(json_value())) {
        let text = value.to_string();
        let expected: Value = serde_json::from_str(&text).unwrap();
        // The surplus bracket keeps it off the fast path.
        let (found, report) = repair_json_args(&format!("{text}}}")).unwrap();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(report.to_string(), "surplus_closers");
    }

    #[test]
    fn the_beginning_of_an_object_is_never_run(value in object(json_value()), at in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let cuts: Vec<usize> = text.char_indices().map(|(i, _)| i).skip(1).collect();
        let cut = text.get(..*at.get(&cuts)).unwrap();
        let refused = matches!(decide(cut), ArgsDecision::RefuseTruncated { fault: None, .. });
        prop_assert!(refused, "{}", cut);
    }

    #[test]
    fn text_cut_in_a_string_gives_no_object(
        before in object(json_value()),
        said in "[^\"\\\\]*",
        single in any::<bool>(),
    ) {
        let quote = if single { '\'' } else { '"' };
        let said = said.replace(quote, "");
        let text = format!("{{\"before\":{before},{quote}said{quote}:{quote}{said}");
        prop_assert_eq!(repair_json_args(&text), None);
        let cut = matches!(decide(&text), ArgsDecision::RefuseTruncated { ended: Ended::InString, .. });
        prop_assert!(cut, "{}", text);
    }
}
