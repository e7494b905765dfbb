//! Validation: what is accepted, and how faults are told.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

/// The error text for one parameter `p`, or "" if it is valid.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "rows of a table are literals")]
fn check(schema: Value, value: Value, expected: &str) {
    let parameters = json!({"type": "object", "properties": {"p": schema}});
    let validator = Validator::compile(&parameters).unwrap();
    let text = validator.check(&json!({"p": value})).map_or_else(|e| e.to_string(), |()| "".into());
    assert_eq!(text, expected, "{schema} {value}");
}

#[test]
fn says_what_was_expected_and_found() {
    check(json!({"type": "integer"}), json!("abc"), r#"p: must be an integer, got "abc""#);
    check(json!({"type": "integer"}), json!({"a": 1}), "p: must be an integer, got an object");
    check(json!({"enum": ["a", "b"]}), json!("c"), r#"p: must be one of "a", "b", got "c""#);
    check(json!({"const": 1}), json!(null), "p: must be 1, got null");
    check(json!({"minimum": 1}), json!(0), "p: must be at least 1, got 0");
    check(json!({"minLength": 1}), json!(""), r#"p: must have at least 1 character, got """#);
    check(
        json!({"type": ["integer", "null"]}),
        json!(true),
        "p: must be null or an integer, got true",
    );
    check(
        json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}),
        json!("x"),
        r#"p: must be an integer or a boolean, got "x""#,
    );
    check(
        json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}),
        json!([1, "x"]),
        r#"p[1]: must be an integer, got "x""#,
    );
    let kind = |kind: &str, extra: Value| json!({"type": "object", "properties": {"kind": {"const": kind}, "x": extra}});
    check(
        json!({"oneOf": [kind("a", json!({"type": "string"})), kind("b", json!({"type": "integer"}))]}),
        json!({"kind": "b", "x": "no"}),
        r#"p.x: must be an integer, got "no""#,
    );
    check(
        json!({"type": "object", "properties": {"0": {"type": "string"}}, "required": ["q"],
            "additionalProperties": false}),
        json!({"0": 1, "zz": 1}),
        "p.0: must be a string, got 1; p.zz: is not a known parameter; p.q: is required",
    );
}

#[test]
fn every_offending_path_is_listed() {
    let validator = Validator::compile(&json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer"},
            "todos": {"type": "array", "items": {"type": "object", "properties": {
                "status": {"type": "string", "enum": ["open", "done"]}}}},
        },
        "required": ["query"],
    }))
    .unwrap();
    let errors = validator
        .check(&json!({"limit": "abc", "todos": [{"status": "odd"}], "unknown": 1}))
        .unwrap_err();
    let mut lines: Vec<String> = errors.issues().iter().map(Issue::to_string).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            r#"limit: must be an integer, got "abc""#,
            "query: is required",
            r#"todos[0].status: must be one of "open", "done", got "odd""#,
        ]
    );
    assert_eq!(
        validator.check(&json!([])).unwrap_err().to_string(),
        "arguments: must be an object, got an array"
    );
}

#[test]
fn messages_are_bounded() {
    let validator =
        Validator::compile(&json!({"properties": {"p": {"items": {"type": "integer"}}}})).unwrap();
    let long = "ü".repeat(10_000);
    let errors = validator.check(&json!({"p": vec![long; 100]})).unwrap_err();
    assert_eq!((errors.issues().len(), errors.omitted()), (20, 80));
    assert!(errors.to_string().chars().count() < 3_000);
}

#[test]
fn secrets_are_not_echoed() {
    let validator = Validator::compile(&json!({"properties": {
        "api_key": {"type": "integer"},
        "auth": {"type": "object", "properties": {"token": {"pattern": "^x$"}}},
        "config": {"type": "object"},
    }}))
    .unwrap();
    let args = json!({
        "api_key": "hunter2", "auth": {"token": "hunter2"}, "config": "{\"token\": \"hunter2\"",
    });
    let text = validator.check_hiding(&args, &["api_key", "token"]).unwrap_err().to_string();
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("api_key: must be an integer, got a string (hidden)"), "{text}");
    assert!(validator.check(&args).unwrap_err().to_string().contains("hunter2"));
}

#[test]
fn foreign_schemas_stay_callable() {
    for schema in [
        json!({"type": "string", "pattern": "(?<bad"}),
        json!({"type": "string", "pattern": "^(?!x)\\p{NoSuchClass}$"}),
        json!({"type": "string", "format": "uri"}),
        json!({"type": "string", "format": "made-up"}),
        json!({"type": "str", "required": null}),
        json!({"type": "string", "$schema": "http://127.0.0.1/odd", "$id": "not a uri"}),
        json!({"patternProperties": {"(": {}}, "dependencies": {"a": ["b"]}}),
        json!({"anyOf": [{"type": "string"}, true], "items": null}),
    ] {
        check(schema, json!("x"), "");
    }
    check(json!({"type": "string", "nullable": true, "enum": ["a"]}), json!(null), "");
    check(json!({"nullable": true, "allOf": [{"type": "string"}]}), json!(null), "");
    check(
        json!({"nullable": true, "allOf": [{"type": "string"}]}),
        json!(1),
        "p: must be a string or null, got 1",
    );
    check(
        json!({"type": "string", "pattern": "^(?!x)"}),
        json!("xa"),
        "p: must match ^(?!x), got \"xa\"",
    );
    let slow = json!({"type": "string", "pattern": "^(?:(a+)\\1?)+$"});
    check(slow, json!("a".repeat(40) + "!"), "");
    assert!(Validator::compile(&Value::Null).unwrap().check(&json!({"any": 1})).is_ok());
    assert!(Validator::compile(&json!({"$ref": "http://127.0.0.1:9/x"})).is_err());
    assert!(Validator::compile(&json!({"properties": {"a": {"$ref": "#/$defs/A"}}})).is_err());
    assert!(Validator::compile(&crate::positions::nested(70)).is_err());
}

#[test]
fn recursive_schemas_validate() {
    let validator = Validator::compile(&json!({
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "n": {"type": "integer"}},
    }))
    .unwrap();
    assert_eq!(
        validator.check(&json!({"child": {"child": {"n": "x"}}})).unwrap_err().to_string(),
        r#"child.child.n: must be an integer, got "x""#
    );
}

#[test]
fn optional_nulls_are_left_out() {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer"},
            "must": {"type": "integer"},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "hint": {"type": "string", "nullable": true},
            "any": {},
            "ref": {"$ref": "#/$defs/R"},
            "nested": {"type": "object", "properties": {"x": {"type": "string"}}},
            "list": {"type": "array", "items": {"$ref": "#/$defs/R"}},
        },
        "required": ["must"],
        "$defs": {"R": {"type": "object", "properties": {"y": {"enum": ["a"]}}}},
    });
    let mut args = json!({
        "limit": null, "must": null, "maybe": null, "hint": null, "any": null, "ref": null,
        "nested": {"x": null}, "list": [{"y": null}, null], "unknown": null,
    });
    drop_optional_nulls(&schema, &mut args);
    assert_eq!(
        args,
        json!({
            "must": null, "maybe": null, "hint": null, "any": null,
            "nested": {}, "list": [{}, null], "unknown": null,
        })
    );
}
