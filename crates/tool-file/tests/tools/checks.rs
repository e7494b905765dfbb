//! What is said about files after they were written.

use std::path::Path;
use std::sync::{Arc, Mutex};

use hermes_lint::{Change, Diagnostics};
use hermes_registry::Services;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, check};

/// Tells what it was asked.
#[derive(Default)]
struct Servers {
    asked: Mutex<Vec<String>>,
}

impl Servers {
    fn note(&self, what: &str, path: &Path) {
        let content = std::fs::read_to_string(path).unwrap_or_default();
        let name = path.file_name().unwrap().to_string_lossy();
        self.asked.lock().unwrap().push(format!("{what} {name} {}", content.trim_end()));
    }
}

impl Diagnostics for Servers {
    fn covers(&self, _: &Path) -> bool {
        true
    }

    fn before(&self, path: &Path) {
        self.note("before", path);
    }

    fn after(&self, change: &Change<'_>) -> Option<String> {
        self.note("after", change.path);
        Some(format!("<{}>", change.new.trim_end()))
    }
}

fn served(files: &[(&str, &[u8])]) -> (World, Arc<Servers>) {
    let mut world = World::new(files);
    let servers = Arc::new(Servers::default());
    let lent: Arc<dyn Diagnostics> = Arc::clone(&servers) as _;
    world.cx = world.cx.with_services(Services::new().with(lent));
    (world, servers)
}

#[test]
fn files_are_parsed_where_their_name_says_what_they_are() {
    let world = World::new(&[("old.json", b"{"), ("a.py", b"x = (\n")]);
    let lint = |path: &str, content: &str| {
        world.call("write_file", json!({"path": path, "content": content}))["lint"].clone()
    };
    assert_eq!(lint("a.txt", "("), Value::Null);
    assert_eq!(lint("a.toml", "a = 1\n"), json!({"status": "ok"}));
    assert_eq!(lint("b.py", "x = 1\n"), json!({"status": "ok"}));
    let broken = lint("c.py", "x = (\n");
    assert_eq!(broken["status"], "error");
    assert!(broken["output"].as_str().unwrap().contains(':'), "{broken}");
    let inherited = lint("a.py", "x = (\ny = 1\n");
    assert_eq!(inherited["status"], "error");
    assert!(inherited["message"].is_string(), "{inherited}");
    assert!(lint("old.json", "{\"a\": ")["message"].is_string());
    check(
        &world.call("write_file", json!({"path": "new.json", "content": "{"})),
        &json!({"error_kind": "invalid_content"}),
    );
}

#[test]
fn language_servers_see_a_file_before_and_after() {
    let (world, servers) = served(&[("f.txt", b"old\n")]);
    let asked = || std::mem::take(&mut *servers.asked.lock().unwrap());
    let written = world.call("write_file", json!({"path": "f.txt", "content": "new\n"}));
    check(&written, &json!({"lsp_diagnostics": "<new>"}));
    assert_eq!(asked(), ["before f.txt old", "after f.txt new"]);

    let patch = "*** Update File: f.txt\n@@\n-new\n+newer\n*** Add File: g.txt\n+g\n";
    let patched = world.call("patch", json!({"mode": "patch", "patch": patch}));
    check(&patched, &json!({"lsp_diagnostics": "<newer>\n<g>"}));
    assert_eq!(
        asked(),
        ["before f.txt new", "before g.txt ", "after f.txt newer", "after g.txt g"]
    );

    // Nothing that parses: their word would add nothing.
    world.call("write_file", json!({"path": "f.py", "content": "x = ("}));
    assert_eq!(asked(), ["before f.py "]);
    let args = json!({"path": "f.txt", "old_string": "none", "new_string": "x"});
    check(&world.call("patch", args), &json!({"error_kind": "not_found"}));
    assert!(asked().is_empty());
}
