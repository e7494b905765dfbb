//! The validator against another implementation of JSON Schema: the same verdict on everything.

use hermes_schema::Validator;
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

fn scalar() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(-2),
        json!(4),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("a"),
        json!("ab"),
        json!("ü1"),
        json!("b 2"),
    ])
}

const NAMES: &[&str] = &["a", "b", "ab", "c/d", "1"];

fn instance() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((select(NAMES), inner), 0..4).prop_map(object),
        ]
    })
}

fn object(members: Vec<(&str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// One keyword with a value that makes sense.
fn keyword(schema: BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let types =
        || select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let names = || proptest::sample::subsequence(NAMES, 1..3);
    let one = select(vec![
        "items",
        "contains",
        "additionalProperties",
        "propertyNames",
        "not",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]);
    let in_place = select(vec!["allOf", "anyOf", "oneOf"]);
    let limits = select(vec![
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    ]);
    let bounds = select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
    let numbers = select(vec![json!(0), json!(1), json!(1.5), json!(-2.0), json!(1e300)]);
    let steps = select(vec![json!(1), json!(2), json!(0.5), json!(1.5), json!(2.0)]);
    let patterns = || select(vec!["a", "^a", "^[ab]+$", "\\d", "^\\w*$", "b$", "^(?!a)"]);
    prop_oneof![
        3 => types().prop_map(|name| ("type", json!(name))),
        1 => (types(), types()).prop_map(|(a, b)| ("type", json!([a, b]))),
        1 => vec(instance(), 1..4).prop_map(|options| ("enum", json!(options))),
        1 => instance().prop_map(|only| ("const", only)),
        2 => (limits, 0..3_u64).prop_map(|(name, limit)| (name, json!(limit))),
        1 => (bounds, numbers),
        1 => steps.prop_map(|step| ("multipleOf", step)),
        1 => patterns().prop_map(|pattern| ("pattern", json!(pattern))),
        1 => Just(("uniqueItems", json!(true))),
        1 => names().prop_map(|names| ("required", json!(names))),
        1 => (select(NAMES), names()).prop_map(|(a, b)| ("dependentRequired", json!({a: b}))),
        1 => select(vec!["#", "#/$defs/x", "#/$defs/y", "#here"])
            .prop_map(|reference| ("$ref", json!(reference))),
        5 => (one, schema.clone()),
        3 => (in_place, vec(schema.clone(), 1..4)).prop_map(|(name, list)| (name, json!(list))),
        2 => vec(schema.clone(), 1..3).prop_map(|list| ("prefixItems", json!(list))),
        4 => vec((select(NAMES), schema.clone()), 1..4)
            .prop_map(|members| ("properties", object(members))),
        1 => vec((patterns(), schema.clone()), 1..3)
            .prop_map(|members| ("patternProperties", object(members))),
        1 => vec((select(NAMES), schema.clone()), 1..3)
            .prop_map(|members| ("dependentSchemas", object(members))),
        2 => (select(vec!["if", "then", "else"]), schema),
    ]
    .boxed()
}

fn schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        4 => vec(keyword(Just(json!({"type": "integer"})).boxed()), 0..2).prop_map(object),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.boxed()
        .prop_recursive(3, 24, 3, |inner| vec(keyword(inner), 0..4).prop_map(object).boxed())
        .boxed()
}

/// A schema with definitions that may refer to each other.
fn root() -> impl Strategy<Value = Value> {
    (vec(keyword(schema()), 1..5), schema(), schema()).prop_map(|(keywords, x, y)| {
        let mut root: Map<String, Value> =
            keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let anchored = json!({"$anchor": "here", "allOf": [y]});
        root.insert("$defs".to_owned(), json!({"x": x, "y": y, "z": anchored}));
        Value::Object(root)
    })
}

/// Few things to have a say on parts of a value, so that much is left unevaluated.
fn closing() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(vec![
            json!({"contains": {"type": "integer"}}),
            json!({"contains": {"type": "string"}, "minContains": 0}),
            json!({"prefixItems": [{}, {"type": "integer"}]}),
            json!({"prefixItems": [{}]}),
            json!({"items": {"type": "integer"}}),
            json!({"minItems": 2}),
            json!({"unevaluatedItems": {"type": "string"}}),
        ]),
        select(vec![
            json!({"properties": {"a": {}, "b": {"type": "integer"}}}),
            json!({"properties": {"ab": {"type": "string"}}, "required": ["ab"]}),
            json!({"patternProperties": {"^a": true}}),
            json!({"additionalProperties": {"type": "integer"}}),
            json!({"unevaluatedProperties": {"type": "string"}}),
            json!({"required": ["b"]}),
            json!({"$ref": "#/$defs/x"}),
        ]),
    ];
    let tree = leaf.prop_recursive(2, 8, 3, |inner| {
        let in_place = select(vec!["allOf", "anyOf", "oneOf"]);
        prop_oneof![
            (in_place, vec(inner.clone(), 1..3)).prop_map(|(name, list)| json!({name: list})),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            (select(NAMES), inner.clone())
                .prop_map(|(name, schema)| json!({"dependentSchemas": {name: schema}})),
            inner.prop_map(|schema| json!({"not": schema})),
        ]
    });
    let x = select(vec![json!({"properties": {"b": {}}}), json!({"prefixItems": [{}, {}]})]);
    (vec(tree, 1..4), x, any::<bool>()).prop_map(|(parts, x, closed)| {
        let mut root = Map::new();
        for part in parts {
            root.extend(part.as_object().cloned().into_iter().flatten());
        }
        let rest = if closed { json!(false) } else { json!({"type": "integer"}) };
        root.insert("unevaluatedItems".to_owned(), rest.clone());
        root.insert("unevaluatedProperties".to_owned(), rest);
        root.insert("$defs".to_owned(), json!({"x": x}));
        Value::Object(root)
    })
}

/// Compares the verdicts on each value, unless one of the two refuses the schema.
fn agree(schema: &Value, values: &[Value]) -> Result<(), TestCaseError> {
    let theirs = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(false)
        .build(schema);
    // Ours does not compile a definition that is nothing but itself.
    let (Ok(ours), Ok(theirs)) = (Validator::compile(schema), theirs) else { return Ok(()) };
    for value in values {
        let verdict = ours.check(value);
        if verdict.as_ref().is_err_and(|errors| errors.to_string().contains("too complex")) {
            continue;
        }
        let expected = theirs.is_valid(value);
        prop_assert_eq!(verdict.is_ok(), expected, "{} on {}: {:?}", schema, value, verdict);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_agree(schema in root(), values in vec(instance(), 8)) {
        agree(&schema, &values)?;
    }

    #[test]
    fn verdicts_on_what_is_left_agree(
        schema in closing(),
        arrays in vec(vec(scalar(), 0..4).prop_map(Value::from), 6),
        objects in vec(vec((select(NAMES), scalar()), 0..4).prop_map(object), 6),
    ) {
        agree(&schema, &arrays)?;
        agree(&schema, &objects)?;
    }
}
