//! A file system by way of shells of this machine: the usual one, one without `rg`, and busybox.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests aren't seen as tests")]
#![expect(clippy::print_stdout, reason = "tells what was left out")]

mod changes;
mod looking;
mod searching;
mod shell;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_fs::RemoteFs;
use shell::ProcessShell;
use tempfile::TempDir;

/// A folder to work in, and file systems that see it.
struct World {
    _dir: TempDir,
    root: PathBuf,
    systems: Vec<(&'static str, RemoteFs, Arc<ProcessShell>)>,
}

impl World {
    /// A world with an empty folder for each kind of shell that there is.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let tools = root.join("tools");
        std::fs::create_dir(&tools).unwrap();
        let mut systems = Vec::new();
        let mut add = |name: &'static str, program: &Path, path: &str| {
            let home = root.join(name);
            std::fs::create_dir(&home).unwrap();
            let shell = Arc::new(ProcessShell::new(program, path, &home));
            systems.push((name, RemoteFs::new(shell.clone()), shell));
        };
        add("plain", Path::new("/bin/sh"), &shell::without_rg(&tools));
        match shell::with_rg(&tools) {
            Some(path) => add("rg", Path::new("/bin/sh"), &path),
            None => println!("there is no rg: its part is left out"),
        }
        match shell::busybox(&tools) {
            Some((program, path)) => add("busybox", &program, &path),
            None => println!("there is no busybox: its part is left out"),
        }
        Self { _dir: dir, root, systems }
    }

    /// Runs a check with each file system and its folder.
    fn each(&self, check: impl Fn(&RemoteFs, &Path)) {
        for (name, fs, _) in &self.systems {
            println!("with {name}");
            check(fs, &self.root.join(name));
        }
    }
}
