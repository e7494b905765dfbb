//! Properties that hold for whatever a foreign server or a model comes up with.

use hermes_schema::{
    Validator, coerce, collapse_nullable, drop_optional_nulls,
    lower::{ToolDef, ToolFormat, anthropic, gemini, lower_tools, mcp, moonshot},
    repair, strip_pattern_format, strip_slash_enum,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

const KEYS: &[&str] = &[
    "type",
    "properties",
    "items",
    "required",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "enum",
    "const",
    "$ref",
    "$defs",
    "definitions",
    "nullable",
    "default",
    "additionalProperties",
    "prefixItems",
    "pattern",
    "format",
    "minimum",
    "exclusiveMinimum",
    "if",
    "then",
    "patternProperties",
    "dependencies",
    "description",
    "a",
    "b",
    "a b",
    "",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        select(vec![json!(0), json!(-1), json!(3.0), json!(2.5), json!(1e300), json!(u64::MAX)]),
        select(vec![
            "a",
            "b",
            "string",
            "object",
            "array",
            "null",
            "integer",
            "5",
            "3.0",
            "1e2",
            "true",
            " NULL ",
            "[1]",
            "{\"a\": \"1\"}",
            "\"[]\"",
            "x/y",
            "#",
            "#/$defs/a",
            "#/properties/a",
            "#/$defs/a%",
            "(",
            "",
        ])
        .prop_map(Value::from),
    ]
}

/// JSON whose keys are schema keywords more often than not, and whose values rarely fit them.
fn odd_json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(6, 60, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((select(KEYS), inner), 0..6).prop_map(|members| {
                let map: Map<String, Value> =
                    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
                Value::Object(map)
            }),
        ]
    })
}

/// A sound property schema.
fn sound_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(vec!["string", "integer", "number", "boolean", "null", "array", "object"])
            .prop_map(|name| json!({"type": name})),
        select(vec![
            json!({}),
            json!({"type": ["string", "null"]}),
            json!({"type": ["integer", "boolean", "null"]}),
            json!({"type": ["string", "object"], "nullable": true}),
            json!({"enum": ["a", 5, null]}),
            json!({"const": "a"}),
            json!({"type": "string", "minLength": 2}),
            json!({"$ref": "#/$defs/a"}),
            json!({"$ref": "#/$defs/a", "nullable": true}),
        ]),
    ];
    leaf.prop_recursive(3, 20, 3, |inner| {
        let union = select(vec!["anyOf", "allOf"]);
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (
                inner.clone(),
                inner.clone(),
                select(vec![json!([]), json!(["a"]), json!(["a", "c"])])
            )
                .prop_map(|(a, b, required)| {
                    json!({"type": "object", "properties": {"a": a, "b": b}, "required": required})
                }),
            (union, vec(inner.clone(), 1..4), any::<bool>()).prop_map(|(union, branches, null)| {
                let mut schema = json!({union: branches, "description": "d"});
                if null && let Some(Value::Array(branches)) = schema.get_mut(union) {
                    branches.push(json!({"type": "null"}));
                }
                schema
            }),
            inner.prop_map(|schema| json!({"not": {"not": schema}})),
        ]
    })
}

fn parameters() -> impl Strategy<Value = Value> {
    (sound_schema(), sound_schema(), sound_schema()).prop_map(|(a, b, target)| {
        json!({"type": "object", "properties": {"a": a, "b": b}, "$defs": {"a": target}})
    })
}

fn arguments() -> impl Strategy<Value = Value> {
    let value = scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((select(vec!["a", "b"]), inner), 0..3).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    });
    (value.clone(), value).prop_map(|(a, b)| json!({"a": a, "b": b}))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn repair_is_a_fixed_point(schema in odd_json()) {
        let once = repair(&schema).unwrap().into_owned();
        prop_assert_eq!(once.get("type"), Some(&json!("object")));
        prop_assert!(once.get("properties").is_some_and(Value::is_object));
        let twice = repair(&once).unwrap().into_owned();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn nothing_panics_on_odd_schemas(schema in odd_json(), args in odd_json()) {
        let _ = (collapse_nullable(&schema, true), strip_pattern_format(&schema));
        let _ = (strip_slash_enum(&schema), anthropic::lower(&schema), gemini::lower(&schema));
        let _ = (moonshot::lower(&schema), mcp::ingest(&schema));
        let mut args = args;
        drop_optional_nulls(&schema, &mut args);
        coerce(&schema, &mut args);
        if let Ok(validator) = Validator::compile(&schema) {
            let _ = validator.check_hiding(&args, &["a"]).map_err(|errors| errors.to_string());
        }
        for format in [
            ToolFormat::OpenAi, ToolFormat::Anthropic, ToolFormat::Gemini, ToolFormat::Moonshot,
            ToolFormat::Xai, ToolFormat::LlamaCpp, ToolFormat::Mcp,
        ] {
            let tool =
                ToolDef { name: "t", description: "", parameters: &schema, cache_control: None };
            let lowered = lower_tools(format, &[tool]);
            prop_assert_eq!(lowered.tools.len() + lowered.quarantined.len(), 1);
        }
    }

    #[test]
    fn ingestion_is_a_fixed_point(schema in odd_json()) {
        let once = mcp::ingest(&schema).unwrap().into_owned();
        let twice = mcp::ingest(&once).unwrap().into_owned();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn coercion_is_idempotent(schema in parameters(), args in arguments()) {
        let mut once = args;
        coerce(&schema, &mut once);
        let mut twice = once.clone();
        coerce(&schema, &mut twice);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn repaired_schemas_compile_and_accept_as_much(schema in parameters(), args in arguments()) {
        let Ok(before) = Validator::compile(&schema) else {
            // A definition that is nothing but itself.
            return Ok(());
        };
        let repaired = repair(&schema).unwrap();
        let after = Validator::compile(&repaired).unwrap();
        if before.check(&args).is_ok() {
            prop_assert!(after.check(&args).is_ok(), "{} no longer accepts {}", repaired, args);
        }
    }

    #[test]
    fn what_fits_is_not_coerced_out_of_fitting(schema in parameters(), args in arguments()) {
        let Ok(validator) = Validator::compile(&schema) else { return Ok(()) };
        if validator.check(&args).is_ok() {
            let mut coerced = args.clone();
            coerce(&schema, &mut coerced);
            prop_assert!(validator.check(&coerced).is_ok(), "{} became {}", args, coerced);
        }
    }
}

#[test]
fn bottomless_schemas_are_refused_without_overflow() {
    // Never dropped: that alone would recurse through all of it.
    let deep =
        std::mem::ManuallyDrop::new((0..5_000).fold(json!({"type": "string"}), |inner, _| {
            let mut properties = Map::new();
            properties.insert("k".to_owned(), inner);
            let mut schema = Map::new();
            schema.insert("properties".to_owned(), Value::Object(properties));
            Value::Object(schema)
        }));
    assert!(repair(&deep).is_err());
    assert!(collapse_nullable(&deep, true).is_err());
    assert!(anthropic::lower(&deep).is_err() && gemini::lower(&deep).is_err());
    assert!(moonshot::lower(&deep).is_err() && mcp::ingest(&deep).is_err());
    assert!(Validator::compile(&deep).is_err());
    assert_eq!(strip_pattern_format(&deep).1, 0);
    let mut args = json!({"k": {"k": null}});
    coerce(&deep, &mut args);
    drop_optional_nulls(&deep, &mut args);
}
