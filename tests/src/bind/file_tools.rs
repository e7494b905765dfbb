//! The file tools, called as the dispatcher calls them, on real files in a folder of their own.

mod sequence;
pub(super) mod tree;

use std::path::Path;

use hermes_registry::{Invocation, Services, Tool, ToolContext};
use hermes_tool_file::{Paging, normalize_pagination as normalize};
use serde_json::{Map, Value, json};

use self::tree::{Home, Tree};
use super::{Binding, list, text};
use crate::compare;

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("session_sequence", Binding::Actual(sequence::run)),
    ("normalize_pagination", Binding::Actual(normalize_pagination)),
    ("read_file", Binding::Checked(|input, expect| run("read_file", input, expect))),
    ("search_files", Binding::Checked(|input, expect| run("search_files", input, expect))),
    ("patch", Binding::Checked(|input, expect| run("patch", input, expect))),
    ("write_file", Binding::Checked(|input, expect| run("write_file", input, expect))),
];

/// The most lines of a read where nothing is configured.
const MAX_LINES: usize = 2000;

fn normalize_pagination(input: &Value) -> Result<Value, String> {
    let paging = match text(input, "kind")? {
        "read" => Paging::Read { max_lines: MAX_LINES },
        "search" => Paging::Search,
        other => return Err(format!("unknown kind {other:?}")),
    };
    let of = |key| input.get(key).unwrap_or(&Value::Null);
    let (offset, limit) = normalize(paging, of("offset"), of("limit"));
    Ok(json!({ "offset": offset, "limit": limit }))
}

/// Calls a tool in a folder with the `files` of a case, and compares its answer and the folder.
fn run(tool: &str, input: &Value, expect: &Value) -> Result<(), String> {
    let home = Home::new(input)?;
    let tree = Tree::new(&home, input.get("files").unwrap_or(&Value::Null))?;
    let cx = ToolContext::new(tree.path()).with_settings(home.settings(input));
    let cx = working_there(cx, home.path());
    let args = home.filled(input.get("args").unwrap_or(&Value::Null));
    let answer = call(tool, args, cx)?;

    let failed = answer.get("error").is_some();
    let wants_failure = ["error_kind", "kind_in"].iter().any(|key| expect.get(key).is_some())
        || expect.get("ok") == Some(&json!(false));
    if failed != wants_failure {
        return Err(format!("{} out of place: {answer}", if failed { "error" } else { "success" }));
    }
    let after = expect.get("after").and_then(Value::as_object);
    let closed = failed || expect.get("no_other_files") == Some(&json!(true));
    tree.check(&home, after.unwrap_or(&Map::new()), closed)?;
    let expected = expect.as_object().ok_or("the expectation is no object")?;
    expected.iter().try_for_each(|(key, wanted)| check(key, wanted, expect, &answer))
}

/// The same call, on the file system of the environment that the cases are run in.
pub(super) fn working_there(cx: ToolContext, home: &Path) -> ToolContext {
    #[cfg(unix)]
    if let Some(workplaces) = crate::environment::workplaces(home) {
        return cx.with_services(Services::new().with(workplaces));
    }
    let _ = home;
    cx
}

/// The answer as the model sees it.
fn call(tool: &str, args: Value, cx: ToolContext) -> Result<Value, String> {
    let spec = hermes_tool_file::tools()
        .iter()
        .find(|spec| spec.name == tool)
        .ok_or_else(|| format!("there is no {tool}"))?;
    let Invocation::Blocking(run) = Tool::linked(spec).start(args, cx) else {
        return Err(format!("{tool} doesn't block"));
    };
    match run() {
        Ok(output) => serde_json::from_str(&output.to_text()).map_err(|err| err.to_string()),
        Err(err) => Ok(err.to_value()),
    }
}

/// Compares one expected key with the answer.
fn check(key: &str, wanted: &Value, expect: &Value, answer: &Value) -> Result<(), String> {
    let same = |actual: Value| compare::equal(key, wanted, Some(&actual));
    match key {
        // Looked at before.
        "ok" | "after" | "no_other_files" => Ok(()),
        "kind_in" => {
            let kind = answer.get("error_kind").unwrap_or(&Value::Null);
            if list(expect, key)?.contains(kind) {
                Ok(())
            } else {
                Err(format!("the kind is {kind}: {answer}"))
            }
        }
        "suggests" => {
            let similar = list(answer, "similar_files")?;
            list(expect, key)?.iter().filter_map(Value::as_str).try_for_each(|end| {
                let is_there = similar.iter().filter_map(Value::as_str).any(|it| it.ends_with(end));
                if is_there { Ok(()) } else { Err(format!("{end} is not among {similar:?}")) }
            })
        }
        "last_line" => same(text(answer, "content")?.lines().last().unwrap_or_default().into()),
        "matches" => {
            let found = rows(answer)?;
            let (mut found, mut wanted) = (found, list(expect, key)?.to_vec());
            for rows in [&mut found, &mut wanted] {
                rows.sort_by_key(ToString::to_string);
            }
            compare::equal(key, &wanted.into(), Some(&found.into()))
        }
        "files_set" => {
            let sorted = |value: &Value, key| {
                let mut files = list(value, key)?.to_vec();
                files.sort_by_key(ToString::to_string);
                Ok::<Value, String>(files.into())
            };
            compare::equal(key, &sorted(expect, key)?, Some(&sorted(answer, "files")?))
        }
        _ => compare::equal(key, wanted, answer.get(key)).map_err(|err| format!("{err}: {answer}")),
    }
}

/// The rows of a search as `[path, line, text]`, whichever form they have.
fn rows(answer: &Value) -> Result<Vec<Value>, String> {
    let Some(rows) = answer.get("matches_text") else {
        let row = |row: &Value| json!([row["path"], row["line"], row["content"]]);
        return Ok(list(answer, "matches")?.iter().map(row).collect());
    };
    let (mut path, mut found) = ("", Vec::new());
    for line in rows.as_str().unwrap_or_default().lines() {
        let Some(row) = line.strip_prefix("  ") else {
            path = line;
            continue;
        };
        let digits = row.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = row.split_at(digits);
        let number: u64 = number.parse().map_err(|_| format!("no row: {line:?}"))?;
        if let Some((_, content)) = rest.split_once(": ").filter(|_| !rest.starts_with('-')) {
            found.push(json!([path, number, content]));
        }
    }
    Ok(found)
}
