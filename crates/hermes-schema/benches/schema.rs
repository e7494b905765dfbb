//! What one dispatch costs, and what sanitising one tool costs.

use divan::{Bencher, black_box};
use hermes_schema::{Validator, coerce, drop_optional_nulls, repair};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

fn two_parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file to read."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 500},
        },
        "required": ["path"],
    })
}

#[expect(clippy::expect_used, reason = "the schema is the one above")]
fn compiled(schema: &Value) -> Validator {
    Validator::compile(schema).expect("a sound schema compiles")
}

fn dispatch(schema: &Value, validator: &Validator, mut args: Value) -> bool {
    coerce(schema, &mut args);
    drop_optional_nulls(schema, &mut args);
    validator.check(&args).is_ok()
}

#[divan::bench]
fn coerce_and_validate_fitting(bencher: Bencher<'_, '_>) {
    let schema = two_parameters();
    let validator = compiled(&schema);
    bencher
        .with_inputs(|| json!({"path": "/etc/hosts", "limit": 42}))
        .bench_values(|args| dispatch(black_box(&schema), black_box(&validator), args));
}

#[divan::bench]
fn coerce_and_validate_text(bencher: Bencher<'_, '_>) {
    let schema = two_parameters();
    let validator = compiled(&schema);
    bencher
        .with_inputs(|| json!({"path": "/etc/hosts", "limit": "42"}))
        .bench_values(|args| dispatch(black_box(&schema), black_box(&validator), args));
}

#[divan::bench]
fn report_two_mistakes(bencher: Bencher<'_, '_>) {
    let schema = two_parameters();
    let validator = compiled(&schema);
    let args = json!({"path": 7, "limit": "many"});
    bencher.bench(|| validator.check(black_box(&args)).map_err(|errors| errors.to_string()));
}

/// A schema as typed languages and MCP servers emit it; `n` parameters.
fn foreign(n: usize) -> Value {
    let properties: serde_json::Map<String, Value> = (0..n)
        .map(|i| {
            let schema = match i % 4 {
                0 => json!({"type": "string", "description": "A plain text."}),
                1 => json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null}),
                2 => json!({"type": "array", "items": {"$ref": "#/$defs/Item"}}),
                _ => json!({"type": ["string", "null"], "enum": ["a", "b", null]}),
            };
            (format!("parameter_{i}"), schema)
        })
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": ["parameter_0", "gone"],
        "$defs": {"Item": {"type": "object", "properties": {"id": {"type": "string"}}}},
    })
}

#[divan::bench(args = [2, 8, 32])]
fn repair_foreign(bencher: Bencher<'_, '_>, parameters: usize) {
    let schema = foreign(parameters);
    bencher.bench(|| repair(black_box(&schema)).is_ok());
}

#[divan::bench]
fn repair_clean(bencher: Bencher<'_, '_>) {
    let schema = two_parameters();
    bencher.bench(|| repair(black_box(&schema)).is_ok());
}

#[divan::bench]
fn compile(bencher: Bencher<'_, '_>) {
    let schema = two_parameters();
    bencher.bench(|| Validator::compile(black_box(&schema)).is_ok());
}
