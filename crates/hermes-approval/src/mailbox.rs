//! Questions that another process may answer, as files below the home folder.
//!
//! `approvals/queue/ID.json` is a question. Whoever asks holds a lock on that file for as long as
//! it waits; when the process dies, the lock goes with it, and what is left behind is recognised
//! and removed by the next one who looks. `ID.answer` is the answer. The first one counts.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::approver::Answer;
use crate::question::Ask;

/// Longest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The folder, below the home.
pub(crate) const QUEUE: &str = "approvals/queue";

/// A question that waits in some process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Posted {
    /// The question.
    pub ask: Ask,
    /// The process that asks.
    pub pid: u32,
    /// When it was put, in milliseconds since 1970.
    pub created_at: u64,
}

/// The questions of all processes with the same home.
#[derive(Clone, Debug)]
pub struct Mailbox {
    folder: PathBuf,
}

/// A question of this process. Gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Letter {
    question: PathBuf,
    answer: PathBuf,
    _lock: File,
}

impl Mailbox {
    /// That of a home folder. Nothing is created before the first question.
    #[must_use]
    pub fn of(home: &Path) -> Self {
        Self { folder: home.join(QUEUE) }
    }

    /// Puts a question where other processes see it.
    pub(crate) fn post(&self, ask: &Ask) -> io::Result<Letter> {
        hermes_config::ensure_dir(&self.folder).map_err(io::Error::other)?;
        if !is_id(&ask.id) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no id of a question"));
        }
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let posted =
            Posted { ask: ask.clone(), pid: std::process::id(), created_at: at.as_millis() as u64 };
        let text = serde_json::to_string(&posted)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        // Before anybody can see it: without the lock it would count as left behind.
        file.as_file().lock()?;
        let question = self.folder.join(format!("{}.json", ask.id));
        let lock = file.persist_noclobber(&question).map_err(|error| error.error)?;
        Ok(Letter { question, answer: self.answer_path(&ask.id), _lock: lock })
    }

    /// The questions that wait, oldest first. Removes what processes that died left behind.
    ///
    /// # Errors
    /// The folder can't be read.
    pub fn waiting(&self) -> io::Result<Vec<Posted>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut waiting = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let id = name.strip_suffix(".json").filter(|id| is_id(id));
            if let Some(posted) = id.and_then(|id| self.read(id)) {
                waiting.push(posted);
            } else if name.strip_suffix(".answer").is_some_and(|id| !self.has(id)) {
                // Its question is gone.
                let _ = fs::remove_file(&path);
            }
        }
        waiting.sort_by(|a, b| (a.created_at, &a.ask.id).cmp(&(b.created_at, &b.ask.id)));
        Ok(waiting)
    }

    /// Answers a question. False if it doesn't wait, or was answered already.
    ///
    /// # Errors
    /// The answer can't be written.
    pub fn answer(&self, id: &str, answer: &Answer) -> io::Result<bool> {
        if !is_id(id) || self.read(id).is_none() {
            return Ok(false);
        }
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        serde_json::to_writer(file.as_file_mut(), answer)?;
        match file.persist_noclobber(self.answer_path(id)) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    }

    fn has(&self, id: &str) -> bool {
        is_id(id) && self.folder.join(format!("{id}.json")).exists()
    }

    /// A question that waits. One whose asker is gone is removed.
    fn read(&self, id: &str) -> Option<Posted> {
        let path = self.folder.join(format!("{id}.json"));
        let file = File::open(&path).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => serde_json::from_str(&text_of(file)?).ok(),
            // Nobody holds it, so nobody waits.
            Ok(()) => {
                let _ = fs::remove_file(&path);
                let _ = fs::remove_file(self.answer_path(id));
                None
            }
            Err(TryLockError::Error(_)) => None,
        }
    }

    fn answer_path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.answer"))
    }
}

impl Letter {
    /// The answer, if one is there.
    pub(crate) fn answer(&self) -> Option<Answer> {
        let file = File::open(&self.answer).ok()?;
        // What can't be understood is no yes.
        Some(serde_json::from_str(&text_of(file)?).unwrap_or(Answer::NO))
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        // The question first: without it no answer is written any more.
        let _ = fs::remove_file(&self.question);
        let _ = fs::remove_file(&self.answer);
    }
}

fn text_of(file: File) -> Option<String> {
    io::read_to_string(io::Read::take(file, MAX_BYTES)).ok()
}

/// Whether it is the id of a question, and no path.
fn is_id(id: &str) -> bool {
    id.len() == 12 && id.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    fn ask(id: &str) -> Ask {
        Ask {
            id: id.to_owned(),
            session: "s".into(),
            tool: "terminal".into(),
            command: "rm -r x".into(),
            description: "deletes".into(),
            reasons: Vec::new(),
            allow_permanent: true,
            smart_denied: false,
            covers: Vec::new(),
            timeout: Duration::from_secs(60),
        }
    }

    #[test]
    fn questions_are_answered_once_and_leave_nothing() {
        let home = tempfile::tempdir().unwrap();
        let mailbox = Mailbox::of(home.path());
        assert_eq!(mailbox.waiting().unwrap(), []);
        let letter = mailbox.post(&ask("0123456789ab")).unwrap();
        assert_eq!(mailbox.waiting().unwrap()[0].ask, ask("0123456789ab"));
        assert_eq!(letter.answer(), None);
        assert!(mailbox.answer("0123456789ab", &Answer::Session).unwrap());
        assert!(!mailbox.answer("0123456789ab", &Answer::NO).unwrap());
        assert_eq!(letter.answer(), Some(Answer::Session));
        drop(letter);
        assert_eq!(mailbox.waiting().unwrap(), []);
        assert!(!mailbox.answer("0123456789ab", &Answer::Once).unwrap());
        assert_eq!(fs::read_dir(&mailbox.folder).unwrap().count(), 0);
    }

    #[test]
    fn what_a_dead_process_left_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let mailbox = Mailbox::of(home.path());
        let letter = mailbox.post(&ask("0123456789ab")).unwrap();
        // As if it had been killed: the files stay and the lock goes.
        letter._lock.unlock().unwrap();
        let copy = fs::read(&letter.question).unwrap();
        drop(letter);
        fs::write(mailbox.folder.join("0123456789ab.json"), copy).unwrap();
        fs::write(mailbox.folder.join("0123456789ab.answer"), "\"once\"").unwrap();
        fs::write(mailbox.folder.join("ba9876543210.answer"), "\"once\"").unwrap();
        assert_eq!(mailbox.waiting().unwrap(), []);
        assert!(!mailbox.answer("0123456789ab", &Answer::Once).unwrap());
        mailbox.waiting().unwrap();
        assert_eq!(fs::read_dir(&mailbox.folder).unwrap().count(), 0);
    }

    #[test]
    fn ids_are_no_paths_and_answers_no_code() {
        let home = tempfile::tempdir().unwrap();
        let mailbox = Mailbox::of(home.path());
        for id in ["../../x", "", "0123456789a", "0123456789a/"] {
            assert!(mailbox.post(&ask(id)).is_err());
            assert!(!mailbox.answer(id, &Answer::Once).unwrap());
        }
        let letter = mailbox.post(&ask("0123456789ab")).unwrap();
        fs::write(&letter.answer, "yes please").unwrap();
        assert_eq!(letter.answer(), Some(Answer::NO));
    }
}
