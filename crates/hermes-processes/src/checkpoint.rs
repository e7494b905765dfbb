//! The list of running processes in the home folder, for the next run of the program.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hermes_exec::program::Stranger;
use serde::{Deserialize, Serialize};

/// Where news of a process go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Routing {
    /// The messaging platform.
    #[serde(rename = "watcher_platform")]
    pub platform: String,
    /// The conversation there.
    #[serde(rename = "watcher_chat_id")]
    pub chat_id: String,
    /// Who asked.
    #[serde(rename = "watcher_user_id")]
    pub user_id: String,
    /// By which name.
    #[serde(rename = "watcher_user_name")]
    pub user_name: String,
    /// The thread in the conversation.
    #[serde(rename = "watcher_thread_id")]
    pub thread_id: String,
    /// The message.
    #[serde(rename = "watcher_message_id")]
    pub message_id: String,
    /// How often somebody looks after it, in seconds; 0 for never.
    #[serde(rename = "watcher_interval")]
    pub interval: u64,
}

/// A running process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Saved {
    pub(crate) session_id: String,
    /// With secrets masked.
    pub(crate) command: String,
    pub(crate) pid: u32,
    /// `host` or `sandbox`.
    pub(crate) pid_scope: String,
    /// Ticks since the machine started.
    pub(crate) host_start_time: Option<u64>,
    pub(crate) cwd: String,
    /// Seconds since 1970.
    pub(crate) started_at: f64,
    pub(crate) task_id: String,
    pub(crate) session_key: String,
    #[serde(flatten)]
    pub(crate) routing: Routing,
    pub(crate) notify_on_complete: bool,
    pub(crate) watch_patterns: Vec<String>,
    /// The program that looks after it, which may share the home folder with others.
    pub(crate) owner_pid: u32,
    pub(crate) owner_start_time: u64,
}

/// The file.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    path: PathBuf,
    owner: Option<Stranger>,
}

impl Checkpoint {
    pub(crate) fn of(home: &Path) -> Self {
        Self { path: home.join("processes.json"), owner: Stranger::now(std::process::id()) }
    }

    /// Puts our running processes in the place of those that the file has of us.
    pub(crate) fn save(&self, running: Vec<Saved>) -> io::Result<()> {
        self.edit(|saved| {
            saved.retain(|it| !self.is_ours(it));
            saved.extend(running.into_iter().map(|it| self.owned(it)));
        })
    }

    /// Takes over those whose program is gone.
    pub(crate) fn adopt(&self) -> io::Result<Vec<Saved>> {
        let mut adopted = Vec::new();
        self.edit(|saved| {
            for it in saved.iter_mut() {
                let has_owner = it.owner_pid != 0
                    && Stranger::known(it.owner_pid, it.owner_start_time).is_some();
                if !has_owner {
                    *it = self.owned(std::mem::take(it));
                    adopted.push(it.clone());
                }
            }
        })?;
        Ok(adopted)
    }

    /// Those of this machine that still run, whoever looks after them.
    #[cfg(target_os = "linux")]
    pub(crate) fn strangers(&self) -> Vec<Stranger> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let saved: Vec<Saved> = serde_json::from_str(&text).unwrap_or_default();
        let of_host = saved.iter().filter(|it| it.pid_scope == "host");
        of_host.filter_map(|it| Stranger::known(it.pid, it.host_start_time?)).collect()
    }

    fn owned(&self, saved: Saved) -> Saved {
        let owner = self.owner.map_or((0, 0), |owner| (owner.pid(), owner.started()));
        Saved { owner_pid: owner.0, owner_start_time: owner.1, ..saved }
    }

    fn is_ours(&self, saved: &Saved) -> bool {
        self.owner.is_some_and(|owner| {
            (saved.owner_pid, saved.owner_start_time) == (owner.pid(), owner.started())
        })
    }

    /// Changes the file as a whole, one program at a time.
    fn edit(&self, change: impl FnOnce(&mut Vec<Saved>)) -> io::Result<()> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        std::fs::create_dir_all(folder)?;
        let lock = private(&self.path.with_extension("json.lock"))?;
        lock.lock()?;
        let mut text = String::new();
        if let Ok(mut file) = File::open(&self.path) {
            file.read_to_string(&mut text)?;
        }
        // What can't be read is of no use to anybody.
        let mut saved = serde_json::from_str(&text).unwrap_or_default();
        change(&mut saved);
        let mut draft = tempfile::NamedTempFile::new_in(folder)?;
        draft.write_all(serde_json::to_string_pretty(&saved)?.as_bytes())?;
        draft.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn saved(id: &str, owner: (u32, u64)) -> Saved {
        Saved {
            session_id: id.to_owned(),
            owner_pid: owner.0,
            owner_start_time: owner.1,
            ..Saved::default()
        }
    }

    #[test]
    fn programs_with_one_home_keep_out_of_each_other_s_way() {
        let dir = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::of(dir.path());
        let us = checkpoint.owner.unwrap();
        // Of a program that runs: the test's parent stands in for it.
        let parent = std::os::unix::process::parent_id();
        let other = Stranger::now(parent).unwrap();
        checkpoint
            .edit(|all| {
                *all = vec![
                    saved("other", (other.pid(), other.started())),
                    saved("gone", (other.pid(), other.started() + 1)),
                    saved("ours", (us.pid(), us.started())),
                ];
            })
            .unwrap();
        checkpoint.save(vec![saved("new", (0, 0))]).unwrap();
        let adopted = checkpoint.adopt().unwrap();
        let ids = |all: &[Saved]| {
            all.iter().map(|it| it.session_id.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ids(&adopted), "gone");
        let mut all = Vec::new();
        checkpoint.edit(|it| all = it.clone()).unwrap();
        assert_eq!(ids(&all), "other gone new");
        let text = std::fs::read_to_string(dir.path().join("processes.json")).unwrap();
        assert!(text.contains("\"watcher_interval\""), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(dir.path().join("processes.json")).unwrap().permissions();
            assert_eq!(mode.mode() & 0o777, 0o600);
        }
    }
}
