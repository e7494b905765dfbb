//! Writes to memory and skills that wait for a person.

use std::fs;
use std::future::Future;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::{SystemTime, UNIX_EPOCH};

use hermes_registry::ToolContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approver::{Answer, Question};
use crate::asking::{Reply, Way};
use crate::case::new_id;
use crate::gate::Approvals;
use crate::refusal;

/// What is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subsystem {
    /// What the agent remembers.
    Memory,
    /// What the agent knows how to do.
    Skills,
}

impl Subsystem {
    /// The name of its folder.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Skills => "skills",
        }
    }
}

/// Who wants to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The agent, in a turn that somebody waits for.
    Foreground,
    /// The review that runs afterwards.
    BackgroundReview,
}

/// A write that somebody should agree to.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedWrite {
    /// What is written to.
    pub subsystem: Subsystem,
    /// What is done, e.g. `create`.
    pub action: String,
    /// It in a sentence, for people.
    pub summary: String,
    /// Who wants it.
    pub origin: Origin,
    /// The call that does it, to be made again when somebody agrees.
    pub payload: Value,
}

/// What becomes of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteVerdict {
    /// It is made.
    Allowed,
    /// It isn't, and the model is told why.
    Refused(String),
    /// It waits under this id.
    Staged(String),
    /// It could neither be made nor kept.
    Lost(String),
}

/// A verdict to come.
pub type WriteFuture<'a> = Pin<Box<dyn Future<Output = WriteVerdict> + Send + 'a>>;

/// Decides about writes to memory and skills: `cx.service::<dyn WriteGate>()`.
pub trait WriteGate: Send + Sync {
    /// Whether a write may be made.
    fn review<'a>(&'a self, write: &'a ProposedWrite, cx: &'a ToolContext) -> WriteFuture<'a>;
}

impl WriteGate for Approvals {
    fn review<'a>(&'a self, write: &'a ProposedWrite, cx: &'a ToolContext) -> WriteFuture<'a> {
        Box::pin(self.review_write(write, cx))
    }
}

impl Approvals {
    async fn review_write(&self, write: &ProposedWrite, cx: &ToolContext) -> WriteVerdict {
        let policy = self.policy();
        let is_on = match write.subsystem {
            Subsystem::Memory => policy.memory_write_approval,
            Subsystem::Skills => policy.skills_write_approval,
        };
        if !is_on {
            return WriteVerdict::Allowed;
        }
        let way = self.way(cx);
        let asks = write.subsystem == Subsystem::Memory
            && write.origin == Origin::Foreground
            && matches!(way, Way::Prompt(_));
        if asks {
            let key = format!("write:{}", write.subsystem.as_str());
            let what = format!("{}: {}", write.action, write.summary);
            let why = "It changes what the agent remembers.";
            let question = Question::new("memory", key, what, why).not_permanent();
            let ask = self.question_of(&question, cx);
            match self.put(ask, &way, "cli", cx, &|| false).await {
                Reply::Answered(answer) if answer.is_yes() => return WriteVerdict::Allowed,
                Reply::Answered(Answer::Deny { reason }) => {
                    let reason = refusal::reason(reason.as_deref());
                    return WriteVerdict::Refused(refusal::denied(
                        &write.summary,
                        reason.as_deref(),
                    ));
                }
                // Without an answer it waits for one.
                _ => {}
            }
        }
        match Staging::of(self.settings.home()).stage(write) {
            Ok(id) => WriteVerdict::Staged(id),
            Err(error) => WriteVerdict::Lost(format!(
                "the write was not made: it needs approval and could not be kept for review ({error})"
            )),
        }
    }
}

/// A write that waits, as its file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    /// Eight hexadecimal digits.
    pub id: String,
    /// What is written to.
    pub subsystem: Subsystem,
    /// What is done.
    pub action: String,
    /// It in a sentence.
    pub summary: String,
    /// Who wants it.
    pub origin: Origin,
    /// When it was proposed, in seconds since 1970.
    pub created_at: f64,
    /// The call that does it.
    pub payload: Value,
}

/// The writes of a home folder that wait, in `pending/`.
#[derive(Clone, Debug)]
pub struct Staging {
    folder: PathBuf,
}

impl Staging {
    /// That of a home folder.
    #[must_use]
    pub fn of(home: &Path) -> Self {
        Self { folder: home.join("pending") }
    }

    /// Keeps a write for review; its id.
    ///
    /// # Errors
    /// It can't be written.
    pub fn stage(&self, write: &ProposedWrite) -> io::Result<String> {
        let folder = self.folder.join(write.subsystem.as_str());
        hermes_config::ensure_dir(&folder).map_err(io::Error::other)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id: String = new_id().chars().take(8).collect();
        let staged = Staged {
            id: id.clone(),
            subsystem: write.subsystem,
            action: write.action.clone(),
            summary: write.summary.clone(),
            origin: write.origin,
            created_at: now.as_secs_f64(),
            payload: write.payload.clone(),
        };
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        serde_json::to_writer_pretty(file.as_file_mut(), &staged)?;
        file.as_file_mut().write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist_noclobber(folder.join(format!("{id}.json"))).map_err(|error| error.error)?;
        Ok(id)
    }

    /// The writes that wait, oldest first. Files that can't be read are passed over.
    #[must_use]
    pub fn list(&self, subsystem: Subsystem) -> Vec<Staged> {
        let entries = fs::read_dir(self.folder.join(subsystem.as_str()));
        let ids = entries.into_iter().flatten().flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(".json")?.to_owned())
        });
        let mut staged: Vec<Staged> = ids.filter_map(|id| self.get(subsystem, &id)).collect();
        staged.sort_by(|a, b| a.created_at.total_cmp(&b.created_at).then_with(|| a.id.cmp(&b.id)));
        staged
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, subsystem: Subsystem, id: &str) -> Option<Staged> {
        let text = fs::read_to_string(self.path(subsystem, id)?).ok()?;
        serde_json::from_str(&text).ok().filter(|staged: &Staged| staged.id == id)
    }

    /// Takes a write out, to make it or to drop it: whoever gets it is the only one. None if it
    /// doesn't wait any more.
    ///
    /// # Errors
    /// It can't be removed.
    pub fn take(&self, subsystem: Subsystem, id: &str) -> io::Result<Option<Staged>> {
        let (Some(path), Some(staged)) = (self.path(subsystem, id), self.get(subsystem, id)) else {
            return Ok(None);
        };
        match fs::remove_file(path) {
            Ok(()) => Ok(Some(staged)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file of an id, unless it is none.
    fn path(&self, subsystem: Subsystem, id: &str) -> Option<PathBuf> {
        let is_id = id.len() == 8 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| self.folder.join(subsystem.as_str()).join(format!("{id}.json")))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn write(summary: &str) -> ProposedWrite {
        ProposedWrite {
            subsystem: Subsystem::Memory,
            action: "add".into(),
            summary: summary.into(),
            origin: Origin::Foreground,
            payload: json!({"a": 1}),
        }
    }

    #[test]
    fn writes_wait_in_order_and_are_taken_once() {
        let home = tempfile::tempdir().unwrap();
        let staging = Staging::of(home.path());
        assert_eq!(staging.list(Subsystem::Memory), []);
        let ids: Vec<String> =
            ["a", "b", "c"].iter().map(|it| staging.stage(&write(it)).unwrap()).collect();
        fs::write(home.path().join("pending/memory/junk.json"), "{}").unwrap();
        fs::write(home.path().join("pending/memory/00000000.json"), "{").unwrap();
        let listed = staging.list(Subsystem::Memory);
        assert_eq!(
            listed.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
        assert_eq!(listed[0].payload, json!({"a": 1}));
        assert!(staging.take(Subsystem::Memory, &ids[1]).unwrap().is_some());
        assert!(staging.take(Subsystem::Memory, &ids[1]).unwrap().is_none());
        for id in ["../../x", "ABCDEF01", "", "1234567"] {
            assert!(staging.take(Subsystem::Memory, id).unwrap().is_none());
        }
        let text = fs::read_to_string(home.path().join(format!("pending/memory/{}.json", ids[0])));
        let value: Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(
            (&value["subsystem"], &value["origin"]),
            (&json!("memory"), &json!("foreground"))
        );
    }

    #[test]
    fn what_cannot_be_kept_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("pending"), "a file").unwrap();
        assert!(Staging::of(home.path()).stage(&write("a")).is_err());
    }
}
