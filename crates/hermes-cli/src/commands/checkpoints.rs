//! `hermes checkpoints`: the snapshots that calls took, and the way back.

use std::future::Future;
use std::io::Write as _;
use std::path::PathBuf;

use hermes_checkpoint::{CheckpointConfig, CheckpointError, project_root};
use serde::Serialize;

use super::tools_list::count;
use crate::cli::{Checkpoints, Globals, ProjectFolder};
use crate::exit::{Ended, Exit, Failure};
use crate::host;
use crate::interrupt::Interrupt;
use crate::output::Ui;
use crate::preview::one_line;
use crate::style::{BOLD, DIM, GOOD};
use crate::table::{Cell, Table};

type Store = hermes_checkpoint::Checkpoints;

/// Does what was asked.
pub(crate) fn run(globals: &Globals, asked: Checkpoints, ui: &mut Ui) -> Ended {
    let loaded = host::load(globals, false)?;
    let store = Store::new(CheckpointConfig::of(&loaded.settings));
    match asked {
        Checkpoints::List { project, json } => list(&store, &project, json.json, ui),
        Checkpoints::Diff { checkpoint, project, json } => {
            let root = root(&store, &project)?;
            let diff = wait(store.diff(&root, &checkpoint))?;
            if json.json {
                print(&diff, ui)?;
                return Ok(Exit::Success);
            }
            if diff.truncated {
                ui.warn("there is more than is shown");
            }
            if diff.diff.is_empty() && !ui.quiet {
                writeln!(ui.out, "{DIM}nothing has changed since{DIM:#}")?;
            }
            ui.out.write_all(diff.stat.as_bytes())?;
            ui.out.write_all(diff.diff.as_bytes())?;
            Ok(Exit::Success)
        }
        Checkpoints::Restore { checkpoint, file, project, json } => {
            let root = root(&store, &project)?;
            let restored = wait(store.restore(&root, &checkpoint, file.as_deref()))?;
            if json.json {
                print(&restored, ui)?;
                return Ok(Exit::Success);
            }
            let files = |files: usize| count(files, "file");
            writeln!(
                ui.out,
                "{GOOD}restored{GOOD:#} {} to {BOLD}{}{BOLD:#} ({}): {} written, {} removed",
                one_line(restored.file.as_deref().unwrap_or(&root.to_string_lossy())),
                restored.restored_to,
                one_line(&restored.reason),
                files(restored.files_written),
                files(restored.files_removed),
            )?;
            Ok(Exit::Success)
        }
        Checkpoints::Prune { json } => {
            let pruned = wait(store.prune())?;
            if json.json {
                print(&pruned, ui)?;
            } else {
                let forgotten = pruned.deleted_orphan + pruned.deleted_stale;
                let of = count(pruned.scanned, "project");
                let freed = size(pruned.bytes_freed);
                writeln!(ui.out, "forgot {forgotten} of {of}, freed {freed}")?;
            }
            Ok(if pruned.errors > 0 { Exit::Failed } else { Exit::Success })
        }
        Checkpoints::Status { json } => status(&store, json.json, ui),
        Checkpoints::Clear => {
            let freed = wait(store.clear())?;
            writeln!(ui.out, "removed all checkpoints, freed {}", size(freed))?;
            Ok(Exit::Success)
        }
        Checkpoints::ClearLegacy => {
            let freed = wait(store.clear_legacy())?;
            writeln!(ui.out, "removed what older versions left, freed {}", size(freed))?;
            Ok(Exit::Success)
        }
    }
}

/// The project that a folder belongs to, as calls find it.
fn root(store: &Store, project: &ProjectFolder) -> Result<PathBuf, Failure> {
    let folder = host::working_directory(project.cwd.as_deref())?;
    Ok(project_root(&folder, store.config().home.as_deref()))
}

/// Runs the work to its end or to an interrupt, which kills the git at work.
fn wait<T>(work: impl Future<Output = Result<T, CheckpointError>>) -> Result<T, Failure> {
    let done = Interrupt::new().run_or_drop(work)?;
    done.map_err(|error| match error.is_bad_input() {
        true => Failure::usage(error),
        false => Failure::failed(error),
    })
}

fn print(value: &impl Serialize, ui: &mut Ui) -> Result<(), Failure> {
    let value = serde_json::to_value(value).map_err(Failure::failed)?;
    Ok(ui.out.json(&value)?)
}

fn list(store: &Store, project: &ProjectFolder, json: bool, ui: &mut Ui) -> Ended {
    let root = root(store, project)?;
    let entries = wait(store.list(&root))?;
    if json {
        print(&entries, ui)?;
        return Ok(Exit::Success);
    }
    if entries.is_empty() {
        if !ui.quiet {
            writeln!(ui.out, "{DIM}{} has no checkpoints{DIM:#}", root.display())?;
        }
        return Ok(Exit::Success);
    }
    let mut table = Table::new(["N", "HASH", "TIME", "FILES", "+", "-", "REASON"]);
    for (index, entry) in entries.iter().enumerate() {
        table.row([
            Cell::number(index as u64 + 1),
            Cell::from(&*entry.short_hash),
            Cell::from(&*entry.timestamp),
            Cell::number(entry.files_changed),
            Cell::number(entry.insertions),
            Cell::number(entry.deletions),
            Cell::from(one_line(&entry.reason)),
        ]);
    }
    table.write(&mut ui.out)?;
    Ok(Exit::Success)
}

fn status(store: &Store, json: bool, ui: &mut Ui) -> Ended {
    let status = wait(store.status())?;
    if json {
        print(&status, ui)?;
        return Ok(Exit::Success);
    }
    let state = if status.enabled { "on" } else { "off (checkpoints.enabled, --checkpoints)" };
    writeln!(
        ui.out,
        "checkpoints are {state}; {} in {}",
        size(status.size),
        status.base.display()
    )?;
    if let Some(problem) = &status.problem {
        ui.warn(problem);
    }
    let mut table = Table::new(["CHECKPOINTS", "PROJECT"]);
    for project in &status.projects {
        let folder = one_line(&project.workdir.to_string_lossy());
        let folder = if project.exists { folder } else { format!("{folder} (gone)") };
        table.row([Cell::number(project.snapshots as u64), Cell::from(folder)]);
    }
    if !status.projects.is_empty() {
        table.write(&mut ui.out)?;
    }
    for folder in &status.legacy {
        writeln!(ui.out, "{DIM}of an older version: {}{DIM:#}", folder.display())?;
    }
    Ok(Exit::Success)
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
