//! The tools on the file system of an environment.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_fs::{FileBackend, RemoteFs, Workplace, Workplaces};
use hermes_registry::{CallIds, CancellationToken, Services, Settings, ToolContext};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::shell::{ProcessShell, without_rg};
use crate::world::{call, check};

/// An environment whose user has a home with a project in it.
struct There {
    _dir: TempDir,
    home: PathBuf,
    shell: Arc<ProcessShell>,
    cx: ToolContext,
}

struct Fixed(Arc<dyn FileBackend>, PathBuf);

impl Workplaces for Fixed {
    fn workplace(&self, _: &CallIds) -> Workplace {
        Workplace { backend: Arc::clone(&self.0), cwd: Some(self.1.clone()) }
    }
}

impl There {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (home, tools) = (root.join("home"), root.join("tools"));
        fs::create_dir_all(home.join("proj")).unwrap();
        fs::create_dir(&tools).unwrap();
        for (path, content) in files {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let shell = Arc::new(ProcessShell::new("/bin/sh", &without_rg(&tools), &home));
        let backend = Arc::new(RemoteFs::new(shell.clone()));
        let workplaces: Arc<dyn Workplaces> = Arc::new(Fixed(backend, home.join("proj")));
        // The host's own home and folder are others.
        let settings = Settings::new("/home/host/.hermes/profiles/work");
        let cx = ToolContext::new("/nowhere")
            .with_settings(settings.with_env([("HOME", "/home/host")]))
            .with_services(Services::new().with(workplaces));
        Self { _dir: dir, home, shell, cx }
    }

    fn call(&self, tool: &str, args: Value) -> Value {
        call(tool, args, self.cx.clone())
    }

    /// How many scripts a call takes.
    fn journeys(&self, tool: &str, args: Value) -> usize {
        let before = self.shell.runs();
        check(&self.call(tool, args), &json!({"error": null}));
        self.shell.runs() - before
    }
}

#[test]
fn paths_start_at_the_folder_and_the_home_there() {
    let there = There::new(&[("proj/f", "a\n"), ("g", "b\n")]);
    for (path, content) in [("f", "1|a"), ("../g", "1|b"), ("~/g", "1|b"), ("~/proj/f", "1|a")] {
        check(&there.call("read_file", json!({"path": path})), &json!({"content": content}));
    }
    let result = there.call("write_file", json!({"path": "../h", "content": "x"}));
    let shown = there.home.join("h").display().to_string();
    check(&result, &json!({"resolved_path": shown, "bytes_written": 1}));
    assert!(result["_warning"].is_string(), "{result}");
    check(
        &there.call("read_file", json!({"path": "~no-such-user/x"})),
        &json!({"error_kind": "not_found"}),
    );
    let missing = there.call("read_file", json!({"path": "ff"}));
    check(&missing, &json!({"error_kind": "not_found", "similar_files": ["f"]}));
}

#[test]
fn what_is_protected_is_below_the_home_there() {
    let there = There::new(&[("proj/.env", "K=1\n"), (".ssh/config", "a\n"), (".ssh/id_x", "a\n")]);
    symlink("../.ssh", there.home.join("proj/link")).unwrap();
    for path in [".env", "~/.ssh/id_x", "link/id_x"] {
        let expected = json!({"error_kind": "blocked", "class": "credential"});
        check(&there.call("read_file", json!({"path": path})), &expected);
    }
    for path in ["~/.ssh/config", "link/config", "~/.hermes/auth.json", "/etc/hermes-test"] {
        let args = json!({"path": path, "content": "x"});
        check(&there.call("write_file", args), &json!({"error_kind": "denied"}));
    }
    check(
        &there.call("write_file", json!({"path": "~/.hermes/skills/s", "content": "x"})),
        &json!({"error_kind": "soft_guard", "class": "cross_profile", "active_profile": "work"}),
    );
    check(&there.call("read_file", json!({"path": "/dev/zero"})), &json!({"error_kind": "device"}));
}

#[test]
fn a_call_takes_few_journeys() {
    let there = There::new(&[("proj/f", "one\n"), ("proj/g", "two\n")]);
    // The first call of all finds out the home, and each the links; then it looks or searches.
    assert_eq!(there.journeys("read_file", json!({"path": "f"})), 3);
    assert_eq!(there.journeys("read_file", json!({"path": "f"})), 2);
    assert_eq!(there.journeys("write_file", json!({"path": "new", "content": "x"})), 3);
    let edit = json!({"mode": "replace", "path": "f", "old_string": "one", "new_string": "1"});
    assert_eq!(there.journeys("patch", edit), 3);
    let patch = "*** Update File: f\n-1\n+uno\n*** Delete File: g\n";
    assert_eq!(there.journeys("patch", json!({"mode": "patch", "patch": patch})), 5);
    assert!(!there.home.join("proj/g").exists());
    // Links, the root, whether there is rg, the list and the contents.
    assert_eq!(there.journeys("search_files", json!({"pattern": "uno"})), 5);
}

#[test]
fn edits_of_many_threads_are_all_kept() {
    let lines: String = (0..16).map(|n| format!("line {n} old\n")).collect();
    let there = There::new(&[("proj/f", &lines)]);
    std::thread::scope(|scope| {
        for n in 0..16 {
            let there = &there;
            scope.spawn(move || {
                let args = json!({
                    "mode": "replace", "path": "f",
                    "old_string": format!("line {n} old"), "new_string": format!("line {n} new"),
                });
                // Where the machine is busy, the turn may not come in time.
                let mut answer = there.call("patch", args.clone());
                while answer["error_kind"] == "conflict" {
                    answer = there.call("patch", args.clone());
                }
                check(&answer, &json!({"success": true}));
            });
        }
    });
    let after = fs::read_to_string(there.home.join("proj/f")).unwrap();
    assert_eq!(after, lines.replace("old", "new"));
}

#[test]
fn a_cancelled_call_asks_nothing() {
    let there = There::new(&[("proj/f", "x\n")]);
    let token = CancellationToken::new();
    token.cancel();
    let cx = there.cx.clone().with_cancel(token);
    for (tool, args) in [
        ("read_file", json!({"path": "f"})),
        ("write_file", json!({"path": "f", "content": "y"})),
        ("search_files", json!({"pattern": "x"})),
    ] {
        check(&call(tool, args, cx.clone()), &json!({"error_kind": "cancelled"}));
    }
    assert_eq!(there.shell.runs(), 0);
    assert_eq!(fs::read(there.home.join("proj/f")).unwrap(), b"x\n");
    assert!(Path::new("/nowhere").metadata().is_err());
}
