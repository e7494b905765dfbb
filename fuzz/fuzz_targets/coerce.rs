//! Any arguments, coerced by any schema.

#![no_main]

use hermes_schema::{Validator, coerce};
use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// How deep schemas and arguments are nested.
const DEPTH: u8 = 4;

#[derive(Debug)]
struct Input {
    schema: Value,
    args: Value,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut schema = object_schema(u, DEPTH)?;
        if u.ratio(1, 4)? {
            schema.insert("$defs".to_owned(), json!({ "a": self::schema(u, 2)? }));
        }
        Ok(Self { schema: Value::Object(schema), args: value(u, DEPTH)? })
    }
}

/// Few names, so that those of schema and arguments meet.
fn name(u: &mut Unstructured<'_>) -> Result<String> {
    Ok((*u.choose(&["a", "b", "c", "$ref"])?).to_owned())
}

fn kind(u: &mut Unstructured<'_>) -> Result<Value> {
    let kinds = ["string", "integer", "number", "boolean", "array", "object", "null", "other"];
    Ok((*u.choose(&kinds)?).into())
}

fn object_schema(u: &mut Unstructured<'_>, depth: u8) -> Result<Map<String, Value>> {
    let mut properties = Map::new();
    for _ in 0..u.int_in_range(0..=3)? {
        properties.insert(name(u)?, schema(u, depth.saturating_sub(1))?);
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if u.ratio(1, 4)? {
        schema.insert("additionalProperties".to_owned(), self::schema(u, depth.saturating_sub(1))?);
    }
    Ok(schema)
}

fn schema(u: &mut Unstructured<'_>, depth: u8) -> Result<Value> {
    let Some(below) = depth.checked_sub(1) else { return Ok(json!({ "type": kind(u)? })) };
    let mut node = match u.int_in_range(0..=7)? {
        0 => Map::from_iter([("type".to_owned(), kind(u)?)]),
        1 => Map::from_iter([("type".to_owned(), json!([kind(u)?, kind(u)?]))]),
        2 => object_schema(u, depth)?,
        3 => Map::from_iter([
            ("type".to_owned(), "array".into()),
            ("items".to_owned(), schema(u, below)?),
        ]),
        4 | 5 => {
            let union = (*u.choose(&["anyOf", "oneOf", "allOf"])?).to_owned();
            Map::from_iter([(union, json!([schema(u, below)?, schema(u, below)?]))])
        }
        6 => Map::from_iter([("$ref".to_owned(), "#/$defs/a".into())]),
        // Not a schema at all, as like as not.
        _ => return value(u, below),
    };
    if u.ratio(1, 8)? {
        node.insert("nullable".to_owned(), u.arbitrary::<bool>()?.into());
    }
    if u.ratio(1, 8)? {
        node.insert("enum".to_owned(), json!([value(u, 0)?, value(u, 0)?]));
    }
    Ok(Value::Object(node))
}

fn value(u: &mut Unstructured<'_>, depth: u8) -> Result<Value> {
    // Text in text doubles its backslashes each time, so it needs an end as well.
    let kinds = if depth == 0 { 5 } else { 9 };
    Ok(match u.int_in_range(0..=kinds)? {
        0 => Value::Null,
        1 => u.arbitrary::<bool>()?.into(),
        2 => u.arbitrary::<i64>()?.into(),
        3 => u.arbitrary::<f64>()?.into(),
        4 => u.arbitrary::<&str>()?.into(),
        5 => (*u
            .choose(&["1", "-0", "1e3", "1.0", "true", "null", "[1]", "{}", "\"1\"", " 7 "])?)
        .into(),
        // JSON in a string, as models write it.
        6 | 7 => value(u, depth - 1)?.to_string().into(),
        8 => (0..u.int_in_range(0..=3)?).map(|_| value(u, depth - 1)).collect::<Result<Value>>()?,
        _ => {
            let mut map = Map::new();
            for _ in 0..u.int_in_range(0..=3)? {
                map.insert(name(u)?, value(u, depth - 1)?);
            }
            Value::Object(map)
        }
    })
}

fuzz_target!(|input: Input| {
    let Input { schema, args } = input;
    let mut once = args.clone();
    coerce(&schema, &mut once);
    let mut twice = once.clone();
    coerce(&schema, &mut twice);
    assert_eq!(twice, once, "coercing again changes nothing");

    match (&args, &once) {
        (Value::Object(before), Value::Object(after)) => {
            assert!(before.keys().eq(after.keys()), "no argument comes or goes");
        }
        _ => assert_eq!(args, once, "what is no object stays as it is"),
    }

    if let Ok(validator) = Validator::compile(&schema)
        && validator.check(&args).is_ok()
    {
        assert!(validator.check(&once).is_ok(), "what fitted fits no more");
    }
});
