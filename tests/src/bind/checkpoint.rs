//! Snapshots of two projects, step by step.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hermes_checkpoint::{CheckpointConfig, Checkpoints, Outcome};
use hermes_registry::Settings;
use serde_json::{Map, Value, json};
use tokio::runtime::Builder;

use super::file_tools::tree::make;
use super::{Binding, list, text};
use crate::compare;

pub(crate) const AREA: &[(&str, Binding)] =
    &[("checkpoint_sequence", Binding::Checked(checkpoint_sequence))];

/// The projects, with one store for both.
struct World {
    root: PathBuf,
    checkpoints: Checkpoints,
    turn: u32,
}

fn checkpoint_sequence(input: &Value, expect: &Value) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|err| err.to_string())?;
    let root = dir.path().canonicalize().map_err(|err| err.to_string())?;
    // What a case configures, wherever it says so.
    let mut config = input.as_object().cloned().unwrap_or_default();
    let nested = input.get("config").map(|config| config.get("checkpoints").unwrap_or(config));
    config.extend(nested.and_then(Value::as_object).cloned().unwrap_or_default());
    let settings =
        Settings::new(root.join(".hermes")).with_config(json!({ "checkpoints": config }));
    let checkpoints = Checkpoints::new(CheckpointConfig::of(&settings));
    let mut world = World { root, checkpoints, turn: 0 };
    for project in ["p", "q"] {
        fs::create_dir(world.root.join(project)).map_err(|err| err.to_string())?;
    }
    for (path, spec) in input.get("files").and_then(Value::as_object).into_iter().flatten() {
        make(&world.root.join(path), spec)?;
    }
    let runtime = Builder::new_current_thread().enable_all().build();
    let outcomes = runtime.map_err(|err| err.to_string())?.block_on(async {
        let mut outcomes = Vec::new();
        for step in list(input, "steps")? {
            outcomes.extend(world.step(step).await?);
        }
        Ok::<_, String>(outcomes)
    })?;
    let expected = expect.as_object().ok_or("the expectation is no object")?;
    expected.iter().try_for_each(|(key, wanted)| match key.as_str() {
        "outcomes" => compare::equal(key, wanted, Some(&json!(outcomes))),
        "files" => world.check_files(wanted.as_object().ok_or("`files` is no object")?),
        _ => Err(format!("unknown expectation `{key}`")),
    })
}

impl World {
    /// Does one step; those that have an outcome give it.
    async fn step(&mut self, step: &Value) -> Result<Option<Value>, String> {
        let name = step.get("project").and_then(Value::as_str).unwrap_or("p");
        let project = self.root.join(name);
        let failed = |err: std::io::Error| format!("{step}: {err}");
        match text(step, "do")? {
            "turn" => self.turn += 1,
            "write" => {
                let content = step.get("content").ok_or_else(|| format!("no content: {step}"))?;
                make(&project.join(text(step, "path")?), content)?;
            }
            "delete" => {
                let path = project.join(text(step, "path")?);
                let meta = path.symlink_metadata().map_err(failed)?;
                let gone =
                    if meta.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                gone.map_err(failed)?;
            }
            "checkpoint" => {
                let reason = step.get("reason").and_then(Value::as_str).unwrap_or_default();
                let turn = self.turn.to_string();
                let taken = self.checkpoints.checkpoint(&project, reason, Some(&turn)).await;
                return Ok(Some(matches!(taken, Ok(Outcome::Taken(_))).into()));
            }
            "restore" => {
                let named = self.named(step).await?;
                let file = step.get("file").and_then(Value::as_str);
                let restored = match named {
                    Some(named) => self.checkpoints.restore(&project, &named, file).await.is_ok(),
                    None => false,
                };
                return Ok(Some(restored.into()));
            }
            "list" => {
                let entries = self.entries(&project).await?;
                return Ok(Some(entries.into_iter().map(|entry| entry.0).collect()));
            }
            "count" => return Ok(Some(self.entries(&project).await?.len().into())),
            other => return Err(format!("unknown step {other:?}")),
        }
        Ok(None)
    }

    /// What a restore names: a hash, a number, or the hash that the number is in another project.
    async fn named(&self, step: &Value) -> Result<Option<String>, String> {
        if let Some(hash) = step.get("hash").and_then(Value::as_str) {
            return Ok(Some(hash.to_owned()));
        }
        let number = step.get("n").ok_or_else(|| format!("no snapshot is named: {step}"))?;
        let Some(from) = step.get("from_project").and_then(Value::as_str) else {
            return Ok(Some(number.as_str().map_or_else(|| number.to_string(), str::to_owned)));
        };
        let entries = self.entries(&self.root.join(from)).await?;
        let index = number.as_u64().and_then(|number| number.checked_sub(1));
        let entry = index.and_then(|index| entries.get(usize::try_from(index).ok()?));
        Ok(entry.map(|entry| entry.1.clone()))
    }

    /// Reasons and hashes, newest first.
    async fn entries(&self, project: &Path) -> Result<Vec<(String, String)>, String> {
        let entries = self.checkpoints.list(project).await.map_err(|err| err.to_string())?;
        Ok(entries.into_iter().map(|entry| (entry.reason, entry.hash)).collect())
    }

    /// Compares everything in the projects with the complete trees that are expected.
    fn check_files(&self, wanted: &Map<String, Value>) -> Result<(), String> {
        let expected = tempfile::tempdir().map_err(|err| err.to_string())?;
        for (path, spec) in wanted.iter().filter(|(_, spec)| !spec.is_null()) {
            make(&expected.path().join(path), spec)?;
        }
        for project in ["p", "q"] {
            let found = contents(&self.root.join(project))?;
            let wanted = contents(&expected.path().join(project))?;
            if found != wanted {
                return Err(format!("{project} holds {found:?}, not {wanted:?}"));
            }
        }
        Ok(())
    }
}

/// The files below a folder, for people to read.
fn contents(folder: &Path) -> Result<BTreeMap<PathBuf, String>, String> {
    let failed = |err: std::io::Error| err.to_string();
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop().filter(|next| next.is_dir()) {
        for entry in fs::read_dir(&next).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let content = if kind.is_symlink() {
                format!("-> {}", fs::read_link(&path).map_err(failed)?.display())
            } else {
                fs::read(&path).map_err(failed)?.escape_ascii().to_string()
            };
            let name = path.strip_prefix(folder).map_err(|err| err.to_string())?;
            found.insert(name.to_owned(), content);
        }
    }
    Ok(found)
}
