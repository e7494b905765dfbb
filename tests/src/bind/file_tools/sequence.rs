//! What several agents do to the same files, step by step, through one runtime.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermes_registry::{CallIds, Owner, Registry, Services, ToolContext};
use hermes_tools::file_state::FileState;
use hermes_tools::{Extensions, Runtime, Session, SessionOptions, ToolCall, ToolSelection};
use serde_json::{Map, Value, json};
use tokio::runtime::Builder;

use super::tree::{Home, Tree, make};
use crate::bind::{list, text};
use crate::fixture::{OWNER, idle_tool};

/// The tool that stands for any other.
const OTHER: &str = "other_tool";

/// The agents on one tree of files.
struct World {
    tree: Tree,
    context: ToolContext,
    state: Arc<FileState>,
    runtime: Runtime,
    /// By task.
    sessions: BTreeMap<String, Session>,
}

/// Gives the outcome of each step.
pub(super) fn run(input: &Value) -> Result<Value, String> {
    let home = Home::new(input)?;
    let tree = Tree::new(&home, input.get("files").unwrap_or(&Value::Null))?;
    let mut world = World::new(&home, tree, input)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let outcomes = runtime.map_err(|err| err.to_string())?.block_on(async {
        let mut outcomes = Vec::new();
        for step in list(input, "steps")? {
            outcomes.push(world.step(&home.filled(step)).await?);
        }
        Ok::<_, String>(outcomes)
    })?;
    Ok(json!({ "outcomes": outcomes }))
}

impl World {
    fn new(home: &Home, tree: Tree, input: &Value) -> Result<Self, String> {
        let (registry, refused) = Registry::builtin();
        let other = registry.registrar(Owner::builtin(OWNER)).register(idle_tool(OTHER, "other"));
        other.map_err(|rejection| rejection.to_string())?;
        if let Some(rejection) = refused.first() {
            return Err(rejection.to_string());
        }
        let state = Arc::new(FileState::new());
        let settings = home.settings(input);
        let runtime = Runtime::builder(registry)
            .settings(settings.clone())
            .extensions(Extensions::default().listener(Arc::clone(&state) as _))
            .build();
        let context = ToolContext::new(tree.path())
            .with_settings(settings)
            .with_services(Services::new().with(Arc::clone(&state)));
        Ok(Self { tree, context, state, runtime, sessions: BTreeMap::new() })
    }

    async fn step(&mut self, step: &Value) -> Result<Value, String> {
        let task = step.get("task").and_then(Value::as_str).unwrap_or("agent").to_owned();
        let kind = text(step, "do")?;
        let args = || -> Map<String, Value> {
            let given = step.as_object().into_iter().flatten();
            let given = given.filter(|(key, _)| !matches!(key.as_str(), "do" | "task"));
            given.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let outcome = match kind {
            "read" => reading(&self.call(&task, "read_file", args()).await?),
            "search" => reading(&self.call(&task, "search_files", args()).await?),
            "write" => writing(&self.call(&task, "write_file", args()).await?),
            "patch" => {
                let mut args = args();
                for (short, name) in [("old", "old_string"), ("new", "new_string")] {
                    if let Some(value) = args.remove(short) {
                        args.insert(name.to_owned(), value);
                    }
                }
                args.entry("mode").or_insert_with(|| "replace".into());
                writing(&self.call(&task, "patch", args).await?)
            }
            "other_tool" => {
                self.call(&task, OTHER, Map::new()).await?;
                return Ok(Value::Null);
            }
            "external_write" => {
                let content = step.get("content").ok_or_else(|| format!("no content: {step}"))?;
                make(&self.tree.path().join(text(step, "path")?), content)?;
                return Ok(Value::Null);
            }
            "compress" => {
                self.state.compressed(&task);
                return Ok(Value::Null);
            }
            other => return Err(format!("unknown step {other:?}")),
        };
        Ok(outcome.into())
    }

    /// The answer as the model sees it; null if it is no JSON.
    async fn call(
        &mut self,
        task: &str,
        tool: &str,
        args: Map<String, Value>,
    ) -> Result<Value, String> {
        if !self.sessions.contains_key(task) {
            let ids = CallIds { task: task.into(), ..CallIds::default() };
            let context = self.context.clone().with_ids(ids);
            let options = SessionOptions::new(ToolSelection::all(), context);
            let session = self.runtime.open(options).map_err(|err| err.to_string())?;
            self.sessions.insert(task.to_owned(), session);
        }
        let session = self.sessions.get(task).ok_or("no session")?;
        let call = ToolCall::new("call", tool, args.into());
        Ok(match self.runtime.call(session, call).await.result {
            Ok(output) => serde_json::from_str(&output.to_text()).unwrap_or_default(),
            Err(error) => error.to_value(),
        })
    }
}

fn has(answer: &Value, key: &str) -> bool {
    answer.get(key).is_some()
}

/// The outcome of a read or a search.
fn reading(answer: &Value) -> &'static str {
    if has(answer, "error") {
        let is_refused = has(answer, "already_read") || has(answer, "already_searched");
        if is_refused { "blocked" } else { "error" }
    } else if answer.get("status") == Some(&json!("unchanged")) {
        "unchanged"
    } else if has(answer, "_warning") {
        "content_warned"
    } else {
        "content"
    }
}

/// The outcome of a write or a patch.
fn writing(answer: &Value) -> &'static str {
    if has(answer, "error") {
        "error"
    } else if has(answer, "_warning") {
        "warned"
    } else {
        "clean"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs steps on a file `f` of three lines.
    #[track_caller]
    fn check(steps: &[(Value, Value)]) {
        let (steps, outcomes): (Vec<_>, Vec<_>) = steps.iter().cloned().unzip();
        let input = json!({"files": {"f": "a\nb\nc\n"}, "steps": steps});
        let result = run(&input).unwrap();
        assert_eq!(result["outcomes"], json!(outcomes), "{steps:?}");
    }

    macro_rules! steps {
        ($($outcome:tt <- $step:tt),* $(,)?) => { check(&[$((json!($step), json!($outcome))),*]) };
    }

    #[test]
    fn other_tools_forget_the_hits_only() {
        steps![
            "content" <- {"do": "read", "path": "f"},
            "unchanged" <- {"do": "read", "path": "f"},
            null <- {"do": "other_tool"},
            "unchanged" <- {"do": "read", "path": "f"},
            "blocked" <- {"do": "read", "path": "f"},
            // A failed patch is another tool too.
            "error" <- {"do": "patch", "path": "f", "old": "zz", "new": "y"},
            "unchanged" <- {"do": "read", "path": "f"},
            // Another spelling of the same file and page.
            "blocked" <- {"do": "read", "path": "./f", "offset": 1, "limit": 500},
        ];
    }

    #[test]
    fn partial_views() {
        steps![
            "content" <- {"do": "read", "path": "f", "offset": 2, "limit": 1},
            "clean" <- {"do": "patch", "path": "f", "old": "b", "new": "B"},
            "clean" <- {"do": "write", "path": "f", "content": "a\nB\nc\n"},
        ];
        steps![
            "content" <- {"do": "read", "path": "f", "offset": 2},
            "warned" <- {"do": "patch", "path": "f", "old": "a", "new": "A"},
            "clean" <- {"do": "patch", "path": "f", "old": "A", "new": "a"},
        ];
        steps![
            "content" <- {"do": "read", "path": "f", "limit": 2},
            "warned" <- {"do": "write", "path": "f", "content": "q\n"},
        ];
        steps![
            "content" <- {"do": "read", "path": "f", "limit": 2},
            "content" <- {"do": "read", "path": "f", "offset": 3},
            "clean" <- {"do": "write", "path": "f", "content": "q\n"},
        ];
    }

    #[test]
    fn siblings() {
        steps![
            "clean" <- {"do": "write", "path": "f", "content": "q\n", "task": "A"},
            "warned" <- {"do": "write", "path": "f", "content": "r\n", "task": "B"},
            "warned" <- {"do": "patch", "path": "f", "old": "r", "new": "s", "task": "A"},
            "clean" <- {"do": "patch", "path": "f", "old": "s", "new": "t", "task": "A"},
        ];
        steps![
            "content" <- {"do": "read", "path": "f", "task": "A"},
            "content" <- {"do": "read", "path": "f", "task": "B"},
            "clean" <- {"do": "patch", "path": "f", "old": "b", "new": "B", "task": "B"},
            "warned" <- {"do": "patch", "path": "f", "old": "c", "new": "C", "task": "A"},
            "content" <- {"do": "read", "path": "f", "task": "B"},
        ];
    }

    #[test]
    fn changes_behind_the_tools_back() {
        steps![
            "content" <- {"do": "read", "path": "f"},
            null <- {"do": "external_write", "path": "f", "content": "1\n"},
            "content" <- {"do": "read", "path": "f"},
            null <- {"do": "external_write", "path": "f", "content": "2\n"},
            "content_warned" <- {"do": "read", "path": "f"},
            null <- {"do": "external_write", "path": "f", "content": "3\n"},
            "blocked" <- {"do": "read", "path": "f"},
            // What was refused was never shown.
            "blocked" <- {"do": "read", "path": "f"},
            "content" <- {"do": "read", "path": "f", "offset": 2},
            "content" <- {"do": "read", "path": "f"},
            "unchanged" <- {"do": "read", "path": "f"},
        ];
        steps![
            "content" <- {"do": "read", "path": "f"},
            // The same content again.
            null <- {"do": "external_write", "path": "f", "content": "a\nb\nc\n"},
            "unchanged" <- {"do": "read", "path": "f"},
            "clean" <- {"do": "write", "path": "f", "content": "q\n"},
        ];
    }

    #[test]
    fn errors_are_nothing_to_repeat() {
        steps![
            "error" <- {"do": "read", "path": "n"},
            "error" <- {"do": "read", "path": "n"},
            "error" <- {"do": "read", "path": "n"},
            "error" <- {"do": "read", "path": "n"},
            null <- {"do": "external_write", "path": "n", "content": "1\n"},
            "content" <- {"do": "read", "path": "n"},
            "unchanged" <- {"do": "read", "path": "n"},
            null <- {"do": "external_write", "path": "n", "content": {"b64": "AAAA"}},
            "error" <- {"do": "read", "path": "n"},
            null <- {"do": "external_write", "path": "n", "content": "1\n"},
            "content" <- {"do": "read", "path": "n"},
        ];
    }

    #[test]
    fn searches_are_told_apart_by_all_that_matters() {
        steps![
            "content" <- {"do": "search", "pattern": "b"},
            "content" <- {"do": "search", "pattern": "b", "target": "content", "path": "./"},
            "content_warned" <- {"do": "search", "pattern": "b", "output_mode": "content"},
            "content" <- {"do": "search", "pattern": "b", "output_mode": "count"},
            "content" <- {"do": "search", "pattern": "b"},
            "content" <- {"do": "search", "pattern": "b", "context": 1},
            "content" <- {"do": "search", "pattern": "b"},
            "content" <- {"do": "search", "pattern": "b"},
            "content" <- {"do": "read", "path": "f"},
            "content" <- {"do": "search", "pattern": "b"},
            "content" <- {"do": "search", "pattern": "b"},
            "content_warned" <- {"do": "search", "pattern": "b"},
            "blocked" <- {"do": "search", "pattern": "b"},
            "blocked" <- {"do": "search", "pattern": "b"},
            "content" <- {"do": "search", "pattern": "b", "task": "B"},
            null <- {"do": "compress"},
            "content" <- {"do": "search", "pattern": "b"},
        ];
    }

    #[test]
    fn the_guard_can_be_switched_off() {
        let input = json!({
            "HERMES_DISABLE_FILE_STATE_GUARD": "1",
            "files": {"f": "a\nb\n"},
            "steps": [
                {"do": "write", "path": "f", "content": "q\n", "task": "A"},
                {"do": "write", "path": "f", "content": "r\n", "task": "B"},
                {"do": "external_write", "path": "f", "content": "s\n"},
                {"do": "write", "path": "f", "content": "t\n", "task": "B"},
            ],
        });
        let expected = json!(["clean", "clean", null, "warned"]);
        assert_eq!(run(&input).unwrap()["outcomes"], expected);
    }
}
