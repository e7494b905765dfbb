//! The matcher, the patch engine and the closest lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hermes_edit::{Refusal, closest_lines as closest, replace};
use hermes_registry::{Invocation, Tool, ToolContext};
use serde_json::{Map, Value, json};

use super::file_tools::working_there;
use super::{Binding, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("fuzzy_replace", Binding::Checked(fuzzy_replace)),
    ("closest_lines", Binding::Checked(closest_lines)),
    ("v4a_apply", Binding::Checked(v4a_apply)),
];

fn fuzzy_replace(input: &Value, expect: &Value) -> Result<(), String> {
    let all = input.get("replace_all").and_then(Value::as_bool).unwrap_or_default();
    let result = replace(text(input, "content")?, text(input, "old")?, text(input, "new")?, all);
    let actual = match &result {
        Ok(replaced) => {
            json!({"ok": true, "content": replaced.content, "count": replaced.count})
        }
        Err(refusal) => json!({"ok": false, "kind_in": kind(refusal)}),
    };
    compare(expect, &actual)
}

const fn kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::EmptyOld => "empty_old",
        Refusal::Identical => "identical",
        Refusal::NotFound => "not_found",
        Refusal::Ambiguous { .. } => "ambiguous",
        Refusal::EscapeDrift { .. } => "escape_drift",
    }
}

/// Compares keys; the kinds that are allowed are a list.
fn compare(expect: &Value, actual: &Value) -> Result<(), String> {
    for (key, wanted) in expect.as_object().ok_or("the expectation is no object")? {
        let found = actual.get(key).unwrap_or(&Value::Null);
        let fits = match (key.as_str(), wanted) {
            ("kind_in", Value::Array(kinds)) => kinds.contains(found),
            _ => wanted == found,
        };
        if !fits {
            return Err(format!("{key}: expected {wanted}, got {actual}"));
        }
    }
    Ok(())
}

fn closest_lines(input: &Value, expect: &Value) -> Result<(), String> {
    let snippet = closest(text(input, "old")?, text(input, "content")?);
    if expect.get("none") == Some(&json!(true)) && snippet.is_some() {
        return Err(format!("expected nothing, got {snippet:?}"));
    }
    let Some(line) = expect.get("includes_line") else { return Ok(()) };
    let shown = snippet.as_deref().unwrap_or_default();
    let row = format!("{line}|");
    let includes = shown.lines().any(|line| line.starts_with(&row));
    if includes { Ok(()) } else { Err(format!("line {line} isn't shown in {snippet:?}")) }
}

/// Calls the tool in mode `patch` in a folder with the `files` of the case, and compares the whole
/// folder.
fn v4a_apply(input: &Value, expect: &Value) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|err| err.to_string())?;
    let files = input.get("files").and_then(Value::as_object).ok_or("`files` is missing")?;
    create(dir.path(), files)?;
    let spec = hermes_tool_file::tools().iter().find(|spec| spec.name == "patch");
    let args = json!({"mode": "patch", "patch": text(input, "patch")?});
    let cx = working_there(ToolContext::new(dir.path()), dir.path());
    let Some(Invocation::Blocking(run)) = spec.map(|spec| Tool::linked(spec).start(args, cx))
    else {
        return Err("there is no `patch` that blocks".to_owned());
    };
    let answer = match run() {
        Ok(output) => serde_json::from_str(&output.to_text()).map_err(|err| err.to_string())?,
        Err(err) => err.to_value(),
    };
    let failed = answer.get("error").is_some();
    let kinds = answer.get("errors").and_then(Value::as_array).map_or_else(
        || vec![answer.get("error_kind")],
        |errors| errors.iter().map(|error| error.get("error_kind")).collect(),
    );
    if let Some(Value::Array(allowed)) = expect.get("kind_in")
        && !kinds.iter().flatten().any(|kind| allowed.contains(kind))
    {
        return Err(format!("the kinds are {kinds:?}: {answer}"));
    }
    let expected =
        if failed { Some(files) } else { expect.get("files").and_then(Value::as_object) };
    let unchanged = expected.map(contents).transpose()?;
    let mut found = BTreeMap::new();
    collect(dir.path(), "", &mut found)?;
    if unchanged.is_some_and(|expected| expected != found) {
        return Err(format!("the files are {found:?}: {answer}"));
    }
    let ok = json!({"ok": !failed});
    match expect.get("ok") {
        Some(wanted) if ok.get("ok") != Some(wanted) => Err(format!("not so: {answer}")),
        _ => Ok(()),
    }
}

/// The content of each file of a case.
fn contents(files: &Map<String, Value>) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let content = |(path, value): (&String, &Value)| {
        let part = |key| value.get(key).and_then(Value::as_str);
        let times = value.get("times").and_then(Value::as_u64).unwrap_or(1);
        let bytes = match (value.as_str().or(part("text")), part("b64"), part("repeat")) {
            (Some(text), ..) => text.as_bytes().to_vec(),
            (_, Some(base64), _) => decode(base64)?,
            (.., Some(text)) => text.repeat(times as usize).into_bytes(),
            _ => return Err(format!("{path} is {value}")),
        };
        Ok((path.clone(), bytes))
    };
    files.iter().map(content).collect()
}

fn decode(base64: &str) -> Result<Vec<u8>, String> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0, 0);
    for digit in base64.trim_end_matches('=').chars() {
        let value = DIGITS.find(digit).ok_or_else(|| format!("no base64: {base64}"))?;
        bits = (bits << 6 | value) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xFF) as u8);
        }
    }
    Ok(out)
}

fn create(dir: &Path, files: &Map<String, Value>) -> Result<(), String> {
    for (path, text) in contents(files)? {
        let path = dir.join(path);
        let folder = path.parent().unwrap_or(dir);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|err| format!("{}: {err}", path.display()))?;
    }
    Ok(())
}

/// The content of each file in a folder.
fn collect(dir: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    for entry in fs::read_dir(dir).map_err(|err| err.to_string())? {
        let path = entry.map_err(|err| err.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            collect(&path, &format!("{below}{name}/"), found)?;
        } else {
            let bytes = fs::read(&path).map_err(|err| err.to_string())?;
            found.insert(format!("{below}{name}"), bytes);
        }
    }
    Ok(())
}
