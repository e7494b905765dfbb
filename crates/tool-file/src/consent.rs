//! Files that somebody must agree to before they are changed: what shells, git, schedulers and
//! other programs run or obey by themselves, and files of secrets.

use std::future::Future;
use std::path::{Path, PathBuf};

use hermes_approval::{ChangedFile, Decision, FileGate, FileRequest, Status};
use hermes_command::{Ctx, FileChange, Finding, judge_file};
use hermes_registry::ToolError;
use serde_json::{Map, Value};

use crate::fault::{Fault, check_interrupt};
use crate::guard;
use crate::path::Resolved;
use crate::work::Work;

/// What somebody agreed to, for the result.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    note: Option<String>,
}

impl Consent {
    /// Puts it into the result of a tool.
    pub(crate) fn put(self, result: &mut Map<String, Value>) {
        if let Some(note) = self.note {
            result.insert("approval".to_owned(), note.into());
        }
    }
}

/// Asks about those of `files` that somebody must agree to, all in one question. `content` is what
/// would be written. Called before anything is held, since an answer may take its time.
pub(crate) fn ask(
    work: &Work<'_>,
    tool: &str,
    files: &[(&Resolved, FileChange)],
    content: &str,
) -> Result<Consent, ToolError> {
    if work.is_isolated {
        return Ok(Consent::default());
    }
    let places = contexts(work)?;
    let mut found: Vec<Finding> = Vec::new();
    for (path, change) in files {
        let finding = judge(path, *change, &places);
        found.extend(finding.filter(|it| found.iter().all(|known| known.argv != it.argv)));
    }
    if found.is_empty() {
        return Ok(Consent::default());
    }
    let cx = work.cx;
    let Some(gate) = cx.service::<dyn FileGate>() else { return Err(nobody(&found)) };
    let request = FileRequest {
        tool: tool.to_owned(),
        files: found.into_iter().map(ChangedFile::new).collect(),
        content: content.to_owned(),
    };
    let decision = wait(gate.decide_files(&request, cx))?;
    check_interrupt(cx)?;
    if decision.approved { Ok(Consent { note: decision.note() }) } else { Err(refused(&decision)) }
}

/// What is dangerous about a change, by any of the names that the file has. It is told of by the
/// name where the links lead.
fn judge(path: &Resolved, change: FileChange, places: &[Ctx]) -> Option<Finding> {
    let real = path.real.to_string_lossy();
    let mut names = vec![real.clone(), path.given.to_string_lossy()];
    names.extend(path.hops.iter().map(|hop| hop.to_string_lossy()));
    names.dedup();
    let mut found =
        names.iter().find_map(|name| places.iter().find_map(|cx| judge_file(name, change, cx)))?;
    found.argv = vec![change.verb().to_owned(), real.into_owned()];
    Some(found)
}

/// The homes by each of their names.
fn contexts(work: &Work<'_>) -> Result<Vec<Ctx>, ToolError> {
    let remote = if work.is_local() { None } else { work.home(None)? };
    let (home, hermes) = guard::homes(work.cx, remote.as_deref());
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let ctx = |home: &Path, hermes: &Path| Ctx {
        cwd: text(work.cwd()),
        home: text(home),
        hermes_home: text(hermes),
        env: Vec::new(),
    };
    let home = home.unwrap_or_default();
    let named = ctx(&home, &hermes);
    if !work.is_local() {
        return Ok(vec![named]);
    }
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let linked = ctx(&real(&home), &real(&hermes));
    Ok(if linked == named { vec![named] } else { vec![named, linked] })
}

/// Waits on the thread of a blocking tool.
fn wait(decision: impl Future<Output = Decision>) -> Result<Decision, ToolError> {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        return Ok(runtime.block_on(decision));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|err| Fault::Io.error(format!("nobody could be asked: {err}")))?;
    Ok(runtime.block_on(decision))
}

/// Of a host that has nobody to ask.
fn nobody(found: &[Finding]) -> ToolError {
    let whys: Vec<&str> = found.iter().map(|it| it.why.trim_end_matches('.')).collect();
    let message = format!(
        "nothing was written: this needs the user's agreement ({}), and there is nobody to ask \
         here. Don't reach the same in another way; tell the user what to change, and let them do it",
        whys.join("; ")
    );
    let rule = found.first().map(|it| it.rule_id).unwrap_or_default();
    Fault::Denied.error(message).with_extra("class", rule).with_extra("status", "blocked")
}

fn refused(decision: &Decision) -> ToolError {
    let message = decision.message.clone().unwrap_or_else(|| "BLOCKED".to_owned());
    let status = decision.status.unwrap_or(Status::Blocked);
    let mut err = Fault::Denied.error(message).with_extra("status", status.as_str());
    if let Some(key) = decision.pattern_key() {
        err = err.with_extra("pattern_key", key);
    }
    if let Some(description) = &decision.description {
        err = err.with_extra("description", description.as_str());
    }
    if status == Status::PendingApproval {
        err = err
            .with_extra("approval_pending", true)
            .with_extra("allow_permanent", decision.allow_permanent);
        if let Some(command) = &decision.command {
            err = err.with_extra("command", command.as_str());
        }
    }
    err
}
