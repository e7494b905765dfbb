//! The program as scripts use it: arguments in, stdout, stderr and exit codes out.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests; clippy knows only the functions marked so"
)]

#[cfg(all(unix, feature = "file"))]
mod approval;
#[cfg(feature = "file")]
mod calls;
#[cfg(all(unix, feature = "file"))]
mod checkpoints;
mod definitions;
#[cfg(feature = "todo")]
mod exec;
#[cfg(unix)]
mod hooks;
mod other;
#[cfg(all(unix, feature = "terminal"))]
mod passwords;
#[cfg(feature = "file")]
mod pipeline;
mod settings;
#[cfg(all(target_os = "linux", feature = "todo", feature = "file"))]
mod signals;
#[cfg(feature = "todo")]
mod switching;
#[cfg(all(unix, feature = "terminal"))]
mod terminal;
mod traces;

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A home folder and a working directory of a test's own. The user's are never touched.
struct World {
    home: TempDir,
    cwd: TempDir,
}

/// What a run left behind.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl World {
    fn new() -> Self {
        Self { home: TempDir::new().unwrap(), cwd: TempDir::new().unwrap() }
    }

    fn with_config(text: &str) -> Self {
        let world = Self::new();
        std::fs::write(world.config_path(), text).unwrap();
        world
    }

    fn config_path(&self) -> std::path::PathBuf {
        self.home.path().join("config.yaml")
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.config_path()).unwrap_or_default()
    }

    fn cwd(&self) -> &Path {
        self.cwd.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("hermes");
        command.env_clear().env("HERMES_HOME", self.home.path()).env("HOME", self.cwd());
        command.current_dir(self.cwd()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args))
    }

    fn pipe(&self, args: &[&str], stdin: &str) -> Run {
        Run::of(self.command(args).write_stdin(stdin))
    }
}

impl Run {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The same run, if it ended with `code`.
    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// The one JSON value on stdout.
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// One JSON value per line of stdout.
    #[track_caller]
    fn lines(&self) -> Vec<Value> {
        let line = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {self:#?}"));
        self.stdout.lines().map(line).collect()
    }

    #[track_caller]
    fn says(&self, text: &str) {
        assert!(self.stderr.contains(text), "no `{text}` on stderr: {self:#?}");
    }
}
