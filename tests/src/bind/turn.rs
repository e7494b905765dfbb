//! Argument text, repeated calls, plans of batches, and calls with their results.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_registry::{Concurrency, linked_specs};
use hermes_tools::canonical_path;
use hermes_tools::search::{TOOL_CALL, resolve_call};
use hermes_turn::argument_text::{ArgsDecision, decide, decide_value, repair_json_args as repair};
use hermes_turn::duplicates::{Arguments, Call, find};
use hermes_turn::message_pairs::fix_message_pairs as fix;
use hermes_turn::plan::{plan, slot};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("repair_json_args", Binding::Actual(repair_json_args)),
    ("args_decision", Binding::Actual(args_decision)),
    ("dedupe_calls", Binding::Actual(dedupe_calls)),
    ("plan_batch", Binding::Actual(plan_batch)),
    ("fix_message_pairs", Binding::Actual(fix_message_pairs)),
];

/// Tools that may be called twice with the same arguments.
const REPEATABLE: [&str; 4] = ["browser_back", "browser_press", "browser_scroll", "process"];

/// Tools that change nothing and aren't built yet; those that are declare it themselves.
const READ_ONLY: [&str; 9] = [
    "ha_get_state",
    "ha_list_entities",
    "ha_list_services",
    "session_search",
    "skill_view",
    "skills_list",
    "vision_analyze",
    "web_extract",
    "web_search",
];

pub(crate) fn repair_json_args(input: &Value) -> Result<Value, String> {
    let raw = match raw(input) {
        Value::String(raw) => raw,
        other => return Err(format!("`raw` is no text: {other}")),
    };
    Ok(json!({ "args": repair(&raw).map(|(args, _)| args) }))
}

pub(crate) fn args_decision(input: &Value) -> Result<Value, String> {
    let decision = decide_value(raw(input));
    let mut out = json!({ "decision": decision.as_str() });
    if let (ArgsDecision::Execute { args, .. }, Some(out)) = (decision, out.as_object_mut()) {
        out.insert("args".to_owned(), args.into());
    }
    Ok(out)
}

pub(crate) fn dedupe_calls(input: &Value) -> Result<Value, String> {
    let calls = list(input, "calls")?;
    let calls: Vec<Call<'_>> = calls
        .iter()
        .map(|call| {
            let arguments = call.get("arguments").unwrap_or(&Value::Null);
            Ok(Call { name: text(call, "name")?, arguments: Arguments::Value(arguments) })
        })
        .collect::<Result<_, String>>()?;
    let repeated = find(&calls, &|name| REPEATABLE.contains(&name));
    let kept: Vec<usize> = (0..calls.len())
        .zip(repeated)
        .filter(|(_, earlier)| earlier.is_none())
        .map(|(index, _)| index)
        .collect();
    Ok(json!({ "kept": kept }))
}

pub(crate) fn plan_batch(input: &Value) -> Result<Value, String> {
    let world = PathWorld::new(input)?;
    let parallel = list(input, "parallel_mcp_tools")?;
    let mut slots = Vec::new();
    for call in list(input, "calls")? {
        let mut name = text(call, "name")?.to_owned();
        let arguments = world.fill(text(call, "arguments")?);
        let mut args = match decide(&arguments) {
            ArgsDecision::Execute { args, .. } => Some(Value::Object(args)),
            _ => None,
        };
        if name == TOOL_CALL {
            let wrapped = args.take().and_then(|args| resolve_call(&args, |_| true, |_| true).ok());
            if let Some(wrapped) = wrapped {
                name = wrapped.name;
                args = Some(Value::Object(wrapped.arguments));
            }
        }
        let concurrency = if parallel.iter().any(|tool| *tool == name) {
            Concurrency::ReadOnly
        } else {
            concurrency(&name)
        };
        slots.push(slot(concurrency, args.as_ref(), &|path| Some(world.canonical(path))));
    }
    let segments: Vec<Value> = plan(&slots)
        .into_iter()
        .map(|segment| json!({ "kind": segment.kind.as_str(), "calls": segment.calls }))
        .collect();
    Ok(json!({ "segments": segments }))
}

pub(crate) fn fix_message_pairs(input: &Value) -> Result<Value, String> {
    let shape: Vec<String> = fix(list(input, "messages")?).iter().map(shape).collect();
    Ok(json!({ "shape": shape }))
}

/// What a tool declares, or will.
fn concurrency(name: &str) -> Concurrency {
    let specs = linked_specs();
    let built = specs.iter().find(|spec| spec.name == name).map(|spec| spec.meta.concurrency);
    let planned =
        if READ_ONLY.contains(&name) { Concurrency::ReadOnly } else { Concurrency::Exclusive };
    built.unwrap_or(planned)
}

/// The argument text; a long one may be a list of `{s, n}`.
fn raw(input: &Value) -> Value {
    let raw = input.get("raw").unwrap_or(&Value::Null);
    let Value::Array(parts) = raw else { return raw.clone() };
    let part = |part: &Value| {
        let times = part.get("n").and_then(Value::as_u64).unwrap_or(1);
        Some(part.get("s")?.as_str()?.repeat(usize::try_from(times).ok()?))
    };
    let text: Option<String> = parts.iter().map(part).collect();
    match text {
        Some(text) if !parts.is_empty() => Value::String(text),
        _ => raw.clone(),
    }
}

/// A message in short.
fn shape(message: &Value) -> String {
    let field = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
    };
    let role = field(message, "role");
    if role == "tool" {
        return format!("tool:{}", field(message, "tool_call_id"));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let Some(calls) = calls else { return role };
    let call = |call: &Value| {
        let id = match field(call, "call_id") {
            blank if blank.is_empty() => field(call, "id"),
            id => id,
        };
        let name = call.get("function").map(|function| field(function, "name"));
        format!("{id}={}", name.unwrap_or_default())
    };
    format!("{role}:{}", calls.iter().map(call).collect::<Vec<_>>().join(","))
}

/// The file system that a case is about.
struct PathWorld {
    /// What `$TMP` stands for; removed with this.
    folder: Option<TempDir>,
    cwd: PathBuf,
    home: Option<PathBuf>,
}

impl PathWorld {
    const FOLDER: &str = "$TMP";

    fn new(input: &Value) -> Result<Self, String> {
        let cwd = text(input, "cwd")?;
        let uses_folder = cwd.starts_with(Self::FOLDER) || input.get("setup").is_some();
        let folder =
            uses_folder.then(tempfile::tempdir).transpose().map_err(|err| err.to_string())?;
        let mut world = Self { folder, cwd: PathBuf::new(), home: None };
        world.cwd = world.fill(cwd).into();
        world.home = input.get("home").and_then(Value::as_str).map(|home| world.fill(home).into());
        if let (Some(folder), Some(setup)) = (&world.folder, input.get("setup")) {
            world.make(folder.path(), setup)?;
        }
        Ok(world)
    }

    fn make(&self, folder: &Path, setup: &Value) -> Result<(), String> {
        let error = |err: std::io::Error| err.to_string();
        for dir in list(setup, "dirs")?.iter().filter_map(Value::as_str) {
            fs::create_dir_all(folder.join(self.fill(dir))).map_err(error)?;
        }
        for (name, target) in setup.get("symlinks").and_then(Value::as_object).into_iter().flatten()
        {
            let target = target.as_str().ok_or_else(|| format!("{target} is no target"))?;
            link(&self.fill(target), &folder.join(self.fill(name))).map_err(error)?;
        }
        Ok(())
    }

    /// `text` with the folder's path in it.
    fn fill(&self, text: &str) -> String {
        match &self.folder {
            Some(folder) => text.replace(Self::FOLDER, &folder.path().to_string_lossy()),
            None => text.to_owned(),
        }
    }

    fn canonical(&self, path: &str) -> PathBuf {
        canonical_path(path, &self.cwd, self.home.as_deref())
    }
}

#[cfg(unix)]
fn link(target: &str, name: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, name)
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("the cases follow the path rules of Linux"))
}
