//! What is told about files after they were written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hermes_lint::{Change, Diagnostics};
use hermes_registry::{Services, Settings};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, check};

/// Stands for language servers: notes what it is asked, and finds fault with `bad`.
#[derive(Default)]
struct Servers {
    asked: Mutex<Vec<String>>,
}

impl Servers {
    fn note(&self, what: &str, path: &Path, content: &str) {
        let name = path.file_name().unwrap().to_string_lossy();
        self.asked.lock().unwrap().push(format!("{what} {name} {content:?}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Diagnostics for Servers {
    fn covers(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "mjs")
    }

    fn before(&self, path: &Path) {
        let content = fs::read_to_string(path).unwrap_or_default();
        self.note("before", path, &content);
    }

    fn after(&self, change: &Change<'_>) -> Option<String> {
        assert_eq!(fs::read_to_string(change.path).unwrap(), change.new);
        assert!(change.path.is_absolute());
        self.note("after", change.path, change.old.unwrap_or("none"));
        change.new.contains("bad").then(|| format!("bad: {}", change.path.display()))
    }
}

fn with_servers(files: &[(&str, &[u8])]) -> (World, Arc<Servers>) {
    let mut world = World::new(files);
    let servers = Arc::new(Servers::default());
    let services = Services::new().with::<dyn Diagnostics>(servers.clone());
    world.cx = world.cx.with_services(services);
    (world, servers)
}

fn write(world: &World, path: &str, content: &str) -> Value {
    world.call("write_file", json!({"path": path, "content": content}))
}

fn replace(world: &World, path: &str, old: &str, new: &str) -> Value {
    world.call("patch", json!({"path": path, "old_string": old, "new_string": new}))
}

/// The path as results have it.
fn real(world: &World, path: &str) -> PathBuf {
    world.dir.path().canonicalize().unwrap().join(path)
}

#[test]
fn code_is_written_and_told_of() {
    let world = World::new(&[("old.py", b"x = = 1\n"), ("a.sh", b"if x; then y; fi\n")]);
    check(&write(&world, "a.py", "x = 1\n"), &json!({"lint": {"status": "ok"}}));
    let broken = write(&world, "a.py", "def f(:\n");
    assert_eq!(broken["lint"]["status"], "error", "{broken}");
    assert!(broken["lint"]["output"].as_str().unwrap().starts_with("1:7: "), "{broken}");
    assert_eq!(broken["lint"]["message"], Value::Null);
    assert_eq!(broken["error"], Value::Null);
    assert_eq!(world.bytes("a.py"), b"def f(:\n");
    // Inherited.
    let same = write(&world, "old.py", "# a\nx = = 1\n");
    assert_eq!(same["lint"]["status"], "error");
    assert!(same["lint"]["message"].is_string(), "{same}");
    // Where only what parsed before counts.
    check(
        &replace(&world, "a.sh", "; fi", ""),
        &json!({"lint": {"status": "error",
        "output": "2:1: missing `fi`"}}),
    );
    assert_eq!(write(&world, "new.sh", "if x; then y\n")["lint"]["status"], "skipped");
    for path in ["a.txt", "Makefile", "tsconfig.json"] {
        let result = write(&world, path, "{ // x\n");
        assert!(result.get("lint").is_none(), "{result}");
    }
}

#[test]
fn formats_that_were_broken_may_stay_so() {
    let world = World::new(&[("a.json", b"{\"a\": }\n"), ("b.yaml", b"a: [\n")]);
    let result = replace(&world, "a.json", "\"a\"", "\"b\"");
    check(&result, &json!({"success": true}));
    assert_eq!(result["lint"]["status"], "error", "{result}");
    let result = write(&world, "b.yaml", "b: [\n");
    assert_eq!((&result["error"], &result["lint"]["status"]), (&Value::Null, &json!("error")));
    check(&write(&world, "b.yaml", "b: []\n"), &json!({"lint": {"status": "ok"}}));
    check(&write(&world, "b.yaml", "b: [\n"), &json!({"error_kind": "invalid_content"}));
    check(&replace(&world, "b.yaml", "]", ""), &json!({"error_kind": "invalid_content"}));
    assert_eq!(world.bytes("b.yaml"), b"b: []\n");
}

#[test]
fn a_patch_tells_of_each_file() {
    let world = World::new(&[("a.py", b"a = 1\n"), ("m.py", b"m = 1\n"), ("t.txt", b"t\n")]);
    let result = world.call(
        "patch",
        json!({"mode": "patch", "patch": "*** Begin Patch\n*** Update File: a.py\n@@\n-a = 1\n\
            +a = (\n*** Add File: b.rs\n+fn b() {}\n*** Update File: m.py\n*** Move to: n.py\n@@\n\
            -m = 1\n+m = 2\n*** Update File: t.txt\n@@\n-t\n+u\n*** End Patch"}),
    );
    let lint = result["lint"].as_object().unwrap();
    let status = |path: &str| &lint[&real(&world, path).display().to_string()]["status"];
    assert_eq!((status("a.py"), status("b.rs")), (&json!("error"), &json!("ok")));
    assert_eq!((status("n.py"), lint.len()), (&json!("ok"), 3));
}

#[test]
fn language_servers_are_asked_around_the_change() {
    let (world, servers) = with_servers(&[("c.txt", b"x\r\ny\r\n"), ("j.json", b"{}\n")]);
    let result = write(&world, "a.lua", "bad");
    assert_eq!(servers.take(), ["before a.lua \"\"", "after a.lua \"none\""]);
    let told = format!("bad: {}", real(&world, "a.lua").display());
    check(&result, &json!({"lsp_diagnostics": told, "lint": null}));
    // What is on disk is what they see.
    let result = write(&world, "c.txt", "a\nb\n");
    assert_eq!(
        servers.take(),
        ["before c.txt \"x\\r\\ny\\r\\n\"", "after c.txt \"x\\r\\ny\\r\\n\""]
    );
    assert!(result.get("lsp_diagnostics").is_none(), "{result}");
    let result = replace(&world, "a.lua", "bad", "bad 2");
    assert_eq!(servers.take(), ["before a.lua \"bad\"", "after a.lua \"bad\""]);
    check(&result, &json!({"lsp_diagnostics": told}));
    // Not for what doesn't parse, nor for what isn't written.
    write(&world, "a.py", "def f(:\n");
    write(&world, "j.json", "{");
    replace(&world, "a.lua", "not there", "x");
    assert_eq!(servers.take(), [] as [&str; 0]);
}

#[test]
fn a_patch_asks_for_all_files_before_and_after() {
    let (world, servers) = with_servers(&[("a.lua", b"a\n"), ("b.lua", b"b\n"), ("c.lua", b"c\n")]);
    let result = world.call(
        "patch",
        json!({"mode": "patch", "patch": "*** Begin Patch\n*** Update File: a.lua\n@@\n-a\n+bad\n\
            *** Update File: b.lua\n@@\n-b\n+bad\n*** Delete File: c.lua\n*** End Patch"}),
    );
    assert_eq!(
        servers.take(),
        [
            "before a.lua \"a\\n\"",
            "before b.lua \"b\\n\"",
            "after a.lua \"a\\n\"",
            "after b.lua \"b\\n\""
        ]
    );
    let told = ["a.lua", "b.lua"].map(|path| format!("bad: {}", real(&world, path).display()));
    check(&result, &json!({"lsp_diagnostics": told.join("\n")}));
}

/// A world in which `PATH` has a `node` that does this.
#[cfg(unix)]
fn with_node(script: &str, config: Value) -> (World, Arc<Servers>) {
    use std::os::unix::fs::PermissionsExt;

    let (mut world, servers) = with_servers(&[("bin/node", script.as_bytes())]);
    let node = world.path("bin/node");
    fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", node.parent().unwrap().display());
    let settings = Settings::default().with_env([("PATH", path)]).with_config(config);
    world.cx = world.cx.with_settings(settings);
    (world, servers)
}

#[cfg(unix)]
#[test]
fn programs_are_run_where_they_are_asked_for() {
    let complains =
        "#!/bin/sh\nprintf '%s:2\\nx = ;\\n    ^\\n\\nSyntaxError: no\\n' \"$2\" >&2\nexit 1\n";
    let wanted = || json!({"lint": {"programs": ["node"]}});
    let (world, _) = with_node(complains, json!({}));
    check(&write(&world, "a.js", "a\n"), &json!({"lint": {"status": "ok"}}));
    let (world, servers) = with_node(complains, wanted());
    let told = json!({"lint": {"status": "error", "output": "2:5: SyntaxError: no"},
        "lsp_diagnostics": null});
    check(&write(&world, "a.js", "a\n"), &told);
    check(&replace(&world, "a.js", "a", "b"), &told);
    servers.take();
    // A language server knows better, and what doesn't parse needs no other opinion.
    check(&write(&world, "a.mjs", "a\n"), &json!({"lint": {"status": "ok"}}));
    let result = write(&world, "a.js", "x = [\n");
    assert!(result["lint"]["output"].as_str().unwrap().starts_with("1:"), "{result}");
    for script in ["#!/bin/sh\necho 'cannot run' >&2\nexit 1\n", "#!/no/such\n"] {
        let (world, servers) = with_node(script, wanted());
        assert_eq!(write(&world, "a.js", "a\n")["lint"]["status"], "skipped");
        assert_eq!(servers.take().len(), 2);
    }
    let (world, _) = with_node("#!/bin/sh\nexit 0\n", wanted());
    check(&write(&world, "a.js", "a\n"), &json!({"lint": {"status": "ok"}}));
    fs::remove_file(world.path("bin/node")).unwrap();
    let settings = Settings::default()
        .with_env([("PATH", world.path("bin").display().to_string())])
        .with_config(wanted());
    let world = World { cx: world.cx.clone().with_settings(settings), ..world };
    assert_eq!(write(&world, "a.js", "a\n")["lint"]["status"], "skipped");
}
