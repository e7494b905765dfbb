//! Secrets and injected text.

use hermes_guard::redact::{Mode, redact as redacted};
use hermes_guard::threats::{Scope, scan};
use serde_json::Value;

use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] =
    &[("redact", Binding::Checked(redact)), ("scan_threats", Binding::Checked(scan_threats))];

fn redact(input: &Value, expect: &Value) -> Result<(), String> {
    let mode = match text(input, "mode")? {
        "log" => Mode::Log,
        "code" => Mode::Code,
        "file_read" => Mode::FileRead,
        "egress" => Mode::Egress,
        other => return Err(format!("unknown mode {other:?}")),
    };
    let redacted = redacted(text(input, "text")?, mode);
    contains(expect, "must_contain", "must_not_contain", |wanted| redacted.contains(wanted))
        .map_err(|err| format!("{err}: {redacted}"))
}

fn scan_threats(input: &Value, expect: &Value) -> Result<(), String> {
    let scope = text(input, "scope")?;
    let scope = Scope::from_text(scope).ok_or_else(|| format!("unknown scope {scope:?}"))?;
    let found = scan(text(input, "text")?, scope);
    contains(expect, "includes", "excludes", |wanted| found.iter().any(|id| id == wanted))
        .map_err(|err| format!("{err}: {found:?}"))
}

/// Checks that everything listed under `with` is there and nothing listed under `without`.
fn contains(
    expect: &Value,
    with: &str,
    without: &str,
    is_there: impl Fn(&str) -> bool,
) -> Result<(), String> {
    for (key, wanted) in [(with, true), (without, false)] {
        for item in list(expect, key)? {
            let item = item.as_str().ok_or_else(|| format!("{key:?} holds no text: {item}"))?;
            if is_there(item) != wanted {
                return Err(format!("{key} {item:?}"));
            }
        }
    }
    Ok(())
}
