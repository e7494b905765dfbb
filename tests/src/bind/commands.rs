//! Commands: what they would do, and whether they list the environment.

use hermes_command::{Ctx, Report, classify};
use serde_json::{Value, json};

use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("classify_command", Binding::Checked(classify_command)),
    ("is_env_dump", Binding::Actual(is_env_dump)),
];

/// The world that the cases are set in.
fn report(input: &Value) -> Result<Report, String> {
    let given = |key: &str, default: &str| {
        input.get(key).and_then(Value::as_str).unwrap_or(default).to_owned()
    };
    let home = given("home", "/home/alice");
    let ctx = Ctx {
        cwd: given("cwd", "/home/alice/project"),
        hermes_home: given("hermes_home", &format!("{home}/.hermes")),
        home,
        env: Vec::new(),
    };
    Ok(classify(text(input, "command")?, &ctx))
}

fn classify_command(input: &Value, expect: &Value) -> Result<(), String> {
    let report = report(input)?;
    let category = report.category().map_or("none", |category| category.name());
    for (key, actual) in [("dangerous", report.is_dangerous()), ("hardline", report.is_hardline())]
    {
        if expect.get(key).is_some_and(|expected| expected != actual) {
            return Err(format!("{key} is {actual}: {:?}", report.findings));
        }
    }
    let is_expected = expect.get("category").is_none_or(|expected| expected == category)
        || list(expect, "also")?.iter().any(|other| other == category);
    if is_expected { Ok(()) } else { Err(format!("{category}: {:?}", report.findings)) }
}

fn is_env_dump(input: &Value) -> Result<Value, String> {
    // Two questions: whether it lists the environment, and whether its output is masked as such.
    let is_masked = hermes_terminal::is_env_dump(text(input, "command")?);
    Ok(json!({"env_dump": report(input)?.env_dump, "dump": is_masked}))
}
