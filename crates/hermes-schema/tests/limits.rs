//! Hostile schemas and arguments: bounded time, bounded stack, never a wrong "fits".

use std::mem::ManuallyDrop;

use hermes_schema::{SchemaError, Validator};
use serde_json::{Map, Value, json};

#[track_caller]
#[expect(clippy::unwrap_used, reason = "the schemas of these tests compile")]
fn complaint(schema: &Value, args: &Value) -> String {
    let verdict = Validator::compile(schema).unwrap().check(args);
    verdict.map_or_else(|errors| errors.to_string(), |()| String::new())
}

const TOO_COMPLEX: &str = "arguments: nests too deeply or is too complex to be checked";

#[test]
fn exponential_unions_are_given_up() {
    let mut schema = json!({"$defs": {"0": {"type": "null"}}, "not": {"$ref": "#/$defs/30"}});
    for level in 1..=30 {
        let below = json!({"$ref": format!("#/$defs/{}", level - 1)});
        schema["$defs"][level.to_string()] = json!({"anyOf": [below, below, below]});
    }
    assert_eq!(complaint(&schema, &json!({})), TOO_COMPLEX);
    let loops = json!({"anyOf": [{"type": "null"}, {"$ref": "#"}]});
    assert_eq!(complaint(&loops, &json!({})), TOO_COMPLEX);
    let looking = json!({
        "$defs": {"a": {"anyOf": [{"type": "object"}, {"$ref": "#/$defs/a"}]}},
        "$ref": "#/$defs/a",
        "unevaluatedProperties": false,
    });
    assert_ne!(complaint(&looking, &json!({"x": 1})), "");
}

#[test]
fn deep_arguments_are_no_overflow() {
    let schema = json!({"properties": {"p": {"$ref": "#"}}, "uniqueItems": true});
    let member = |inner| Value::Object(Map::from_iter([("p".to_owned(), inner)]));
    // Never dropped: that alone would recurse through all of it.
    let nested = |levels| ManuallyDrop::new((0..levels).fold(json!({}), |inner, _| member(inner)));
    assert_eq!(complaint(&schema, &nested(120)), "");
    assert_eq!(complaint(&schema, &nested(5_000)), TOO_COMPLEX);
    let twins = (0..2).map(|_| ManuallyDrop::into_inner(nested(5_000))).collect();
    let twins = ManuallyDrop::new(member(Value::Array(twins)));
    assert_eq!(complaint(&json!({"properties": {"p": {"uniqueItems": true}}}), &twins), "");
}

#[test]
fn long_reference_chains_are_followed() {
    let mut definitions = Map::new();
    for link in 0..300 {
        definitions.insert(link.to_string(), json!({"$ref": format!("#/$defs/{}", link + 1)}));
    }
    definitions.insert("300".to_owned(), json!({"type": "integer"}));
    let schema = json!({"properties": {"p": {"$ref": "#/$defs/0"}}, "$defs": definitions.clone()});
    assert_eq!(complaint(&schema, &json!({"p": 1})), "");
    assert_eq!(complaint(&schema, &json!({"p": "a"})), r#"p: must be an integer, got "a""#);
}

#[test]
fn meaningless_keywords_are_named() {
    for (keyword, value) in [
        ("minimum", json!("a")),
        ("multipleOf", json!(0)),
        ("minLength", json!(-1)),
        ("maxItems", json!(1.5)),
        ("enum", json!("a")),
        ("uniqueItems", json!("yes")),
        ("dependentRequired", json!({"a": "b"})),
        ("$ref", json!(5)),
    ] {
        let error = Validator::compile(&json!({"properties": {"a/b": {keyword: value}}}));
        let Err(SchemaError::Invalid { pointer, .. }) = error else {
            panic!("{keyword}: {error:?}");
        };
        assert_eq!(pointer, format!("/properties/a~1b/{keyword}"));
    }
    assert!(Validator::compile(&json!({"$ref": "#"})).is_err());
}

#[test]
fn expressions_nobody_runs_admit_everything() {
    let schema = json!({"patternProperties": {"(a)\\1": {"type": "integer"}},
        "additionalProperties": false});
    assert_eq!(complaint(&schema, &json!({"aa": "x"})), "");
}
