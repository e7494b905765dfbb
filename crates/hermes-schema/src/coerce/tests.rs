//! Coercion, by tables of schema, value and result.

use serde_json::{Value, json};

use super::coerce;

/// Coerces `value` under the property schema `schema`, twice.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "rows of a table are literals")]
fn check(schema: Value, value: Value, expected: Value) {
    let parameters = json!({
        "type": "object",
        "properties": {"p": schema},
        "$defs": {
            "Count": {"type": "integer"},
            "Loop": {"$ref": "#/$defs/Loop"},
            "Node": {"type": "object", "properties": {
                "n": {"type": "integer"}, "child": {"$ref": "#/$defs/Node"}}},
        },
    });
    let mut args = json!({"p": value});
    coerce(&parameters, &mut args);
    assert_eq!(args, json!({"p": expected}), "{schema} {value}");
    coerce(&parameters, &mut args);
    assert_eq!(args, json!({"p": expected}), "twice: {schema} {value}");
}

#[test]
fn type_lists_go_in_declared_order() {
    check(json!({"type": ["integer", "string"]}), json!("42"), json!(42));
    check(json!({"type": ["string", "integer"]}), json!("0042"), json!("0042"));
    check(json!({"type": ["integer", "string"]}), json!("x"), json!("x"));
    check(json!({"type": ["string", "null"]}), json!(" NULL "), json!(null));
    check(json!({"type": ["array", "null"]}), json!("a"), json!(["a"]));
    check(json!({"type": ["null", "array"]}), json!(5), json!([5]));
    check(json!({"type": ["array", "string"]}), json!("a"), json!("a"));
    check(json!({"type": ["array", "string"]}), json!("[1]"), json!([1]));
    check(json!({"type": ["integer", "number"]}), json!(3.0), json!(3));
}

#[test]
fn references_and_branches() {
    check(json!({"$ref": "#/$defs/Count"}), json!("5"), json!(5));
    check(json!({"$ref": "#/$defs/Count", "nullable": true}), json!("null"), json!(null));
    check(json!({"$ref": "#/$defs/Loop"}), json!("5"), json!("5"));
    check(json!({"$ref": "#/$defs/None"}), json!("5"), json!("5"));
    check(
        json!({"$ref": "#/$defs/Node"}),
        json!({"n": "1", "child": "{\"n\": \"2\"}"}),
        json!({"n": 1, "child": {"n": 2}}),
    );
    check(json!({"allOf": [{"$ref": "#/$defs/Count"}]}), json!("5"), json!(5));
    check(json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), json!("5"), json!("5"));
    check(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}), json!("5"), json!("5"));
    check(json!({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}), json!("true"), json!(true));
    check(
        json!({"anyOf": [{"type": "string", "enum": ["auto"]}, {"type": "integer"}]}),
        json!("5"),
        json!(5),
    );
    check(
        json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}),
        json!("5"),
        json!([5]),
    );
    check(
        json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
        json!("[\"5\"]"),
        json!([5]),
    );
    check(
        json!({"anyOf": [
            {"type": "object", "properties": {"k": {"const": "a"}, "n": {"type": "string"}},
                "required": ["k"]},
            {"type": "object", "properties": {"k": {"const": "b"}, "n": {"type": "integer"}},
                "required": ["k"]},
        ]}),
        json!({"k": "b", "n": "7"}),
        json!({"k": "b", "n": 7}),
    );
}

#[test]
fn every_depth() {
    let list = json!({"type": "array", "items": {"type": "object", "properties": {
        "n": {"type": "integer"}, "ok": {"type": "boolean"}}}});
    check(list.clone(), json!([{"n": "1", "ok": "True"}]), json!([{"n": 1, "ok": true}]));
    check(list.clone(), json!("[{\"n\": \"1\"}]"), json!([{"n": 1}]));
    check(list, json!("\"[{\\\"n\\\": 1.0}]\""), json!([{"n": 1}]));
    check(
        json!({"type": "object", "additionalProperties": {"type": "number"}}),
        json!({"a": "1.5", "b": "x"}),
        json!({"a": 1.5, "b": "x"}),
    );
    check(
        json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        json!("5"),
        json!([[5]]),
    );
    check(
        json!({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "boolean"}}),
        json!(["1", "true"]),
        json!([1, true]),
    );
    check(json!({"type": "array", "items": {"type": "integer"}}), json!("[1, 2"), json!(["[1, 2"]));
}

#[test]
fn what_must_stay() {
    check(json!({"type": "string"}), json!("[1]"), json!("[1]"));
    check(json!({"type": "string"}), json!(5), json!(5));
    check(json!({"type": "array"}), json!(null), json!(null));
    check(json!({"type": "object"}), json!("[1]"), json!("[1]"));
    check(json!({"type": "object"}), json!("\"{\""), json!("\"{\""));
    check(json!({"type": "integer"}), json!(3.5), json!(3.5));
    check(json!({"type": "boolean"}), json!(1), json!(1));
    check(json!({}), json!("5"), json!("5"));
    check(json!(true), json!("5"), json!("5"));
    check(json!("integer"), json!("5"), json!("5"));
}

#[test]
fn odd_arguments_and_schemas() {
    for args in [json!(null), json!([1]), json!("x"), json!(4)] {
        let mut same = args.clone();
        coerce(&json!({"type": "object", "properties": {"a": {"type": "integer"}}}), &mut same);
        assert_eq!(same, args);
    }
    let mut args = json!({"a": "5"});
    coerce(&json!({"type": "array", "properties": 7}), &mut args);
    assert_eq!(args, json!({"a": "5"}));
    coerce(
        &json!({"$ref": "#/$defs/P", "$defs": {"P": {"properties": {"a": {"type": "integer"}}}}}),
        &mut args,
    );
    assert_eq!(args, json!({"a": 5}));
}

#[test]
fn unions_that_multiply_end() {
    let schema = json!({
        "properties": {"p": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"anyOf": [
            {"type": "array", "items": {"$ref": "#/$defs/T"}, "minItems": 1},
            {"type": "array", "items": {"$ref": "#/$defs/T"}, "minItems": 2},
            {"type": "array", "items": {"$ref": "#/$defs/T"}, "minItems": 3},
        ]}},
    });
    let mut value = json!("x");
    for _ in 0..60 {
        value = json!([value]);
    }
    coerce(&schema, &mut json!({"p": value}));
}

#[test]
fn a_type_that_does_not_exist_says_nothing() {
    // Found by fuzzing: `false` fits the second branch and was wrapped for the first.
    let schema = json!({"additionalProperties": {"oneOf": [
        {"type": "array"},
        {"allOf": [{"anyOf": [{"type": "other"}, {"type": "string"}]}, {"type": "boolean"}]},
    ]}});
    let mut args = json!({"a": false});
    coerce(&schema, &mut args);
    assert_eq!(args, json!({"a": false}));
}

#[test]
fn schemas_that_hold_together_are_applied_until_nothing_changes() {
    // Found by fuzzing: the second schema makes an object of what the first took for text.
    let schema = json!({"additionalProperties": {"allOf": [
        {"anyOf": [{"type": ["boolean", "array"]}, {"type": "string"}]},
        {"type": "object"},
    ]}});
    let mut once = json!({"a": "{}"});
    coerce(&schema, &mut once);
    let mut twice = once.clone();
    coerce(&schema, &mut twice);
    assert_eq!(once, twice);
}

#[test]
fn a_union_that_refers_to_itself_settles() {
    // Found by fuzzing.
    let schema = json!({
        "additionalProperties": {"$ref": "#/$defs/a"},
        "$defs": {"a": {"oneOf": [
            {"$ref": "#/$defs/a"},
            {"oneOf": [{"type": "boolean"}, {"type": "array"}]},
        ]}},
    });
    let mut once = json!({"a": {"b": "{\"a\":null}"}, "c": {"a": "\"12\""}});
    coerce(&schema, &mut once);
    let mut twice = once.clone();
    coerce(&schema, &mut twice);
    assert_eq!(once, twice);
}
