//! Changes of files by one script: all of them, or none.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::script::{MAX_SCRIPT, Script};
use super::{RemoteFs, base64, reply};
use crate::error::{CommitError, FsError};
use crate::plan::{
    Committed, Held, IN_PLACE_FOLDER, IN_PLACE_OWNER, Move, Plan, Removal, Write as NewContent,
};
use crate::stat::Stat;
use crate::turn::Turns;

/// The steps of a plan, in shell.
const STEPS: &str = include_str!("commit.sh");

/// The turn at some files of an environment. They are held within this process only: a shell can't
/// lock anything.
pub(super) struct Turn<'a> {
    pub(super) fs: &'a RemoteFs,
    pub(super) _turns: Turns,
}

impl Held for Turn<'_> {
    /// It isn't interrupted: a script that is ended takes back what it did, but can't say so.
    fn commit(&mut self, plan: &Plan) -> Result<Committed, CommitError> {
        let mut script = Script::new(STEPS);
        let contents = write_plan(&mut script, plan);
        if script.len() > MAX_SCRIPT {
            let reason = "nothing was changed: these are too many files for one change; change \
                          some first, then the others";
            return Err(FsError::Unsupported(reason.to_owned()).into());
        }
        let answer = self.fs.ask(script, &base64::encode(&contents), &|| true);
        let answer = answer.map_err(|err| {
            let message = format!("{err}; whether it was done isn't known, so look at it");
            FsError::io("write", named(plan), io::Error::new(err.kind(), message))
        })?;
        if let Some(cause) = reply::failure(&answer) {
            let mut left = Vec::new();
            let mut parts = answer.into_iter().skip_while(|part| part.head != "left");
            while let (Some(path), Some(message)) = (parts.next(), parts.next()) {
                left.push((path.path(), reply::error_of(&message.bytes).to_string()));
            }
            return Err(CommitError { cause, left });
        }
        let mut warnings = BTreeSet::new();
        for part in &answer {
            match part.head.as_str() {
                "warning folder" => warnings.insert(IN_PLACE_FOLDER),
                "warning owner" => warnings.insert(IN_PLACE_OWNER),
                _ => false,
            };
        }
        let created_folders = answer.iter().any(|part| part.head == "done yes");
        Ok(Committed { created_folders, warnings: warnings.into_iter().collect() })
    }
}

/// The file to name when it isn't known which one is concerned.
fn named(plan: &Plan) -> &Path {
    let writes = plan.writes.iter().map(|write| &write.path);
    let moves = plan.moves.iter().map(|it| &it.from);
    let removals = plan.removals.iter().map(|it| &it.path);
    writes.chain(moves).chain(removals).next().map_or(Path::new("/"), PathBuf::as_path)
}

/// Writes the steps of a plan, and gives back the contents that they need.
fn write_plan(script: &mut Script, plan: &Plan) -> Vec<u8> {
    let targets = plan.moves.iter().map(|it| &it.to);
    let targets = targets.chain(plan.writes.iter().map(|write| &write.path));
    let folders: BTreeSet<&Path> = targets.flat_map(|path| path.ancestors().skip(1)).collect();
    script.call("folders", &folders.into_iter().collect::<Vec<_>>());

    let mut contents = Vec::new();
    let is_single = plan.writes.len() == 1;
    if let [first, _, ..] = plan.writes.as_slice() {
        script.call("receive", &[first.path.parent().unwrap_or(&first.path)]);
    }
    for (number, write) in plan.writes.iter().enumerate() {
        let path = script.path(&write.path);
        let offset = if is_single { String::new() } else { contents.len().to_string() };
        let old = match &write.old {
            Some(old) if old.stat.links > 1 => "linked",
            Some(_) => "old",
            None => "none",
        };
        let like = write.like.as_ref().map_or(String::new(), |(_, like)| {
            format!("{:o} {} {}", like.mode, like.uid, like.gid)
        });
        let len = write.bytes.len();
        script.add(&format!("stage {number} {path} '{offset}' {len} {old} {like}"));
        contents.extend_from_slice(&write.bytes);
    }

    let removals = plan.removals.iter().map(|Removal { path, old }| (path, old.as_ref(), None));
    let moves = plan.moves.iter().map(|Move { from, old, .. }| (from, old.as_ref(), None));
    let writes = plan.writes.iter().filter_map(|NewContent { path, old, .. }| {
        old.as_ref().map(|old| (path, Some(&old.stat), old.bytes.as_deref()))
    });
    for (path, old, bytes) in removals.chain(moves).chain(writes) {
        if let Some(told) = old.and_then(told) {
            let (path, told) = (script.path(path), script.word(told.as_bytes()));
            let digest = bytes.map(digest).unwrap_or_default();
            script.add(&format!("unchanged {path} {told} '{digest}'"));
        }
    }
    for Removal { path, .. } in &plan.removals {
        script.call("remove", &[path]);
    }
    write_moves(script, &plan.moves);
    for (number, NewContent { path, old, bytes, .. }) in plan.writes.iter().enumerate() {
        let path = script.path(path);
        let old = if old.is_some() { "old" } else { "none" };
        // The check that follows may fail, but what it finds isn't to be undone.
        let more = if plan.writes.len() > number + 1 { "more" } else { "last" };
        script.add(&format!("put {number} {path} {old} {more}"));
        script.add(&format!("verify {path} {}", digest(bytes)));
    }
    script.add("finish");
    contents
}

/// What the environment told of a file; none for what isn't known from there.
fn told(stat: &Stat) -> Option<&str> {
    stat.told.as_deref()
}

/// Moves files, each when its place is free. Those that wait for each other go by way of a name of
/// their own.
fn write_moves(script: &mut Script, moves: &[Move]) {
    let mut waiting: Vec<(String, &Path, &Path)> = Vec::new();
    for Move { from, to, .. } in moves {
        waiting.push((script.path(from), from, to));
    }
    let mut ways = 0;
    while !waiting.is_empty() {
        let sources: BTreeSet<&Path> = waiting
            .iter()
            .map(|(_, from, _)| *from)
            .filter(|from| !from.as_os_str().is_empty())
            .collect();
        let (ready, blocked): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, _, to)| !sources.contains(to));
        waiting = blocked;
        if ready.is_empty() {
            if let Some((word, from, _)) = waiting.first_mut() {
                ways += 1;
                script.add(&format!("step_aside {word}; way_{ways}=$place"));
                *word = format!("\"$way_{ways}\"");
                *from = Path::new("");
            }
            continue;
        }
        for (word, _, to) in ready {
            let to = script.path(to);
            script.add(&format!("move {word} {to}"));
        }
    }
}

/// The SHA-256 of a content, as the programs write it.
fn digest(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(shown, "{byte:02x}");
    }
    shown
}
