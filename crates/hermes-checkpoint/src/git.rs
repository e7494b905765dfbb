//! Running git so that nothing but the store and the project has a say.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec::program::{Ended, Program};

use crate::error::{CheckpointError, Result};

/// The most that an answer may have: the names of 50,000 files are far below.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Where git is looked for when nothing is said.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What is between the folders of a search path.
const SEPARATOR: &str = if cfg!(windows) { ";" } else { ":" };

/// Settings for every run.
const SETTINGS: [&str; 23] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    // A file system that knows no execute bits or links would otherwise be found out anew, by
    // whoever made the store.
    "core.fileMode=true",
    "core.symlinks=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    // Names that only other systems mind.
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.compression=1",
    // One flush for all files of a snapshot and not one for each.
    "core.fsyncMethod=batch",
    "core.logAllRefUpdates=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "i18n.commitEncoding=UTF-8",
    "gc.auto=0",
    "maintenance.auto=false",
    "gc.packRefs=false",
    // There is nothing to compare the oldest snapshot with.
    "log.showRoot=false",
];

/// How git is run.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    pub(crate) store: PathBuf,
    pub(crate) path: Option<String>,
    pub(crate) timeout: Duration,
}

/// One run of git.
#[derive(Clone, Debug)]
pub(crate) struct Run<'g> {
    git: &'g Git,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    work_tree: Option<PathBuf>,
    stdin: Vec<u8>,
    capture: usize,
}

/// What a run gave.
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    /// Bytes that were over the limit.
    pub(crate) dropped: u64,
}

impl Git {
    /// Where programs are looked for: never in the project, which would be run.
    pub(crate) fn search_path(&self) -> String {
        let path = self.path.as_deref().unwrap_or(DEFAULT_PATH);
        let parts: Vec<&str> =
            path.split(SEPARATOR).filter(|part| Path::new(part).is_absolute()).collect();
        parts.join(SEPARATOR)
    }

    /// A run with these arguments.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run<'_> {
        Run {
            git: self,
            args: args.into_iter().map(|arg| arg.as_ref().to_owned()).collect(),
            env: Vec::new(),
            work_tree: None,
            stdin: Vec::new(),
            capture: MAX_ANSWER,
        }
    }
}

impl Run<'_> {
    pub(crate) fn work_tree(mut self, folder: &Path) -> Self {
        self.work_tree = Some(folder.to_owned());
        self
    }

    pub(crate) fn index(self, file: &Path) -> Self {
        self.env("GIT_INDEX_FILE", file)
    }

    pub(crate) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((key.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// The most bytes of the answer that are kept.
    pub(crate) fn capture(mut self, bytes: usize) -> Self {
        self.capture = bytes;
        self
    }

    /// Runs it; an answer that is too long or an exit code other than 0 is an error.
    pub(crate) async fn bytes(self) -> Result<Vec<u8>> {
        let command = self.command();
        let answer = self.answer().await?;
        if answer.dropped > 0 {
            return Err(CheckpointError::Git { command, detail: "the answer is too long".into() });
        }
        Ok(answer.bytes)
    }

    /// As [`bytes`](Self::bytes), for an answer that is one line.
    pub(crate) async fn line(self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes().await?).trim().to_owned())
    }

    /// Runs it; the answer may have been cut.
    pub(crate) async fn answer(self) -> Result<Answer> {
        let command = self.command();
        let store = &self.git.store;
        let work_tree = self.work_tree.as_deref();
        let mut argv: Vec<OsString> = vec!["git".into()];
        for setting in SETTINGS {
            argv.extend(["-c".into(), setting.into()]);
        }
        argv.extend(self.args);
        let fixed = [
            ("PATH", &*self.git.search_path()),
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_LITERAL_PATHSPECS", "1"),
        ];
        let mut env: Vec<(OsString, OsString)> =
            fixed.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        env.push(("GIT_DIR".into(), store.into()));
        if let Some(folder) = work_tree {
            env.push(("GIT_WORK_TREE".into(), folder.into()));
        }
        env.extend(self.env);
        let finished = Program::new(argv)
            .cwd(work_tree.unwrap_or(store))
            .env(env)
            .stdin(self.stdin)
            .timeout(self.git.timeout)
            .capture(self.capture)
            .run()
            .await
            .map_err(|error| CheckpointError::NoGit(error.to_string()))?;
        match finished.ended {
            Ended::Exited(0) => {
                Ok(Answer { bytes: finished.stdout.bytes, dropped: finished.stdout.dropped })
            }
            ended => {
                let said = finished.stderr.text();
                let said = said.trim();
                let detail = if said.is_empty() { ended.to_string() } else { said.to_owned() };
                Err(CheckpointError::Git { command, detail })
            }
        }
    }

    fn command(&self) -> String {
        self.args.first().map(|arg| arg.to_string_lossy().into_owned()).unwrap_or_default()
    }
}
