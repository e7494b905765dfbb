//! Real servers. `HERMES_TEST_LSP_BIN` names the folders that have them, as `PATH` does; those that
//! aren't there are skipped, with a word.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::time::{Duration, Instant};

use hermes_lint::{Change, Diagnostics as _};
use hermes_lsp::LanguageServers;
use serde_json::{Value, json};

use crate::world::World;

/// A project with a real server, and how long its changes take.
struct Real {
    world: World,
    servers: LanguageServers,
    program: &'static str,
}

impl Real {
    /// None if the program isn't where the tests may look.
    fn new(program: &'static str, lsp: &Value) -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "a test is its own host")]
        let folders = env::var_os("HERMES_TEST_LSP_BIN").unwrap_or_default();
        let is_there = |folder: std::path::PathBuf| folder.join(program).is_file();
        if !env::split_paths(&folders).any(is_there) {
            println!("skipped: {program} is in no folder of HERMES_TEST_LSP_BIN");
            return None;
        }
        let world = World::new();
        let mut config = world.config(lsp);
        let path = config.env.get("PATH").cloned().unwrap_or_default();
        let path = [folders.as_os_str(), OsStr::new(&path)].join(OsStr::new(":"));
        config.env.insert("PATH".to_owned(), path.into_string().unwrap());
        // Far more than it takes on a machine that does nothing else.
        config.wait_timeout = Duration::from_secs(100);
        Some(Self { world, servers: LanguageServers::new(config), program })
    }

    fn change(&self, file: &str, new: &str) -> String {
        let started = Instant::now();
        let found = self.world.change(&self.servers, file, new);
        println!("{}: {file}: {:.2} s", self.program, started.elapsed().as_secs_f64());
        found.unwrap_or_default()
    }

    /// Changes a file, which brings exactly these errors: where each is, and words of it.
    fn check(&self, file: &str, new: &str, expected: &[(&str, &str)]) {
        let found = self.change(file, new);
        let rows: Vec<&str> = found.lines().filter(|line| line.starts_with("ERROR")).collect();
        assert_eq!(rows.len(), expected.len(), "{}: {file}\n{new}\n{found}", self.program);
        for (row, (place, words)) in rows.iter().zip(expected) {
            let fits = row.starts_with(&format!("ERROR [{place}] ")) && row.contains(words);
            assert!(fits, "{}: {file}: {row} is not {place} {words}", self.program);
        }
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let started = Instant::now();
        self.servers.close();
        println!("{}: ended in {:.2} s", self.program, started.elapsed().as_secs_f64());
    }
}

#[test]
fn pyright() {
    for mode in ["document", "full"] {
        let Some(it) = Real::new("pyright-langserver", &json!({"wait_mode": mode})) else { return };
        it.world.put("pyproject.toml", "");
        it.world.put("old.py", "import os\nx: int = 'old'\n");
        // What was wrong before and moved is no news.
        it.check(
            "old.py",
            "import os\n\n\nx: int = 'old'\ny = '\u{1f600}' + zz\n",
            &[("5:11", "zz")],
        );
        it.check("old.py", "x: int = 'old'\ny = '\u{1f600}' + zz\n", &[]);
        it.check("new.py", "def f() -> int:\n    return 'a'\n", &[("2:12", "int")]);
        it.check("new.py", "def f() -> int:\n    return 1\n", &[]);
        it.check("new.py", "return 1\n", &[("1:1", "return")]);
    }
}

/// Two files of one patch depend on each other.
#[test]
fn pyright_sees_all_files_of_a_patch() {
    let Some(it) = Real::new("pyright-langserver", &json!({})) else { return };
    let path = |name: &str| it.world.root().join(name);
    it.world.put("pyproject.toml", "");
    it.world.put("user.py", "import lib\nlib.f()\n");
    it.world.put("lib.py", "def f() -> int:\n    return 1\n");
    it.check("user.py", "import lib\n\nlib.f()\n", &[]);
    it.check("lib.py", "def f() -> int:\n    return 2\n", &[]);
    let files = [
        ("user.py", "import lib\nimport fresh\nlib.g()\nfresh.h()\n"),
        ("lib.py", "def g() -> int:\n    return 1\n"),
        ("fresh.py", "def h():\n    return 1\n"),
    ];
    for (name, _) in files {
        it.servers.before(&path(name));
    }
    for (name, text) in files {
        fs::write(path(name), text).unwrap();
    }
    for (name, new) in files {
        let found = it.servers.after(&Change { path: &path(name), old: None, new });
        assert_eq!(found, None, "{name}");
    }
}

#[test]
fn typescript() {
    let Some(it) = Real::new("typescript-language-server", &json!({})) else { return };
    it.world.put("tsconfig.json", r#"{"compilerOptions": {"strict": true, "types": []}}"#);
    it.world.put("old.ts", "export const x: number = 'old';\n");
    it.check(
        "old.ts",
        "\nexport const x: number = 'old';\n/* \u{1f600} */ zz;\n",
        &[("3:9", "'zz'")],
    );
    it.check("old.ts", "export const x: number = 'old';\n", &[]);
    it.check("new file.tsx", "import { y } from './old';\ny;\n", &[("1:10", "'y'")]);
    it.check("new file.tsx", "import { x } from './old';\nx;\n", &[]);
    it.check(
        "new file.tsx",
        "import { x } from './old';\nx(;\n",
        &[("2:1", "callable"), ("2:3", "expected")],
    );
    it.check("plain.js", "const a = ;\n", &[("1:11", "expected")]);
}

/// The compiler as a server, from version 7 on.
#[test]
fn typescript_native() {
    let Some(it) = Real::new("tsgo", &json!({})) else { return };
    it.world.put("tsconfig.json", r#"{"compilerOptions": {"strict": true, "types": []}}"#);
    it.world.put("old.ts", "export const x: number = 'old';\n");
    it.check("old.ts", "\nexport const x: number = 'old';\nzz;\n", &[("3:1", "'zz'")]);
}

#[test]
fn rust_analyzer() {
    let Some(it) = Real::new("rust-analyzer", &json!({})) else { return };
    it.world
        .put("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    it.world.put("src/lib.rs", "pub fn old() -> u32 { \"old\" }\n");
    let text = "pub fn n() {}\npub fn old() -> u32 { \"old\" }\npub fn f() -> u32 { \"a\" }\n";
    it.check("src/lib.rs", text, &[("3:21", "u32")]);
    it.check("src/lib.rs", "pub fn old() -> u32 { \"old\" }\n", &[]);
    it.check("src/lib.rs", "pub mod m;\npub fn f() -> u32 { m::g() }\n", &[("1:1", "m.rs")]);
}

#[test]
fn yaml() {
    let Some(it) = Real::new("yaml-language-server", &json!({})) else { return };
    it.world.put("old.yaml", "a: 1\n");
    it.check("old.yaml", "a: 1\nb: }\n", &[("2:4", "")]);
    it.check("old.yaml", "a: 1\nb: {}\n", &[]);
}

/// It finds errors by another program, which may be missing.
#[test]
fn bash() {
    let Some(it) = Real::new("bash-language-server", &json!({})) else { return };
    it.world.put("old.sh", "echo a\n");
    it.check("old.sh", "echo b\n", &[]);
    it.check("old.sh", "echo c\n", &[]);
}

/// A server that can't be started is one that is missing.
#[test]
fn a_server_without_its_parts() {
    let Some(it) = Real::new(
        "typescript-language-server",
        &json!({"servers": {"typescript": {
            "initialization_options": {"tsserver": {"path": "/no/such/file", "fallbackPath": "/none"}},
        }}}),
    ) else {
        return;
    };
    // Whether it finds other parts or ends, nothing is waited for twice.
    it.change("a.ts", "export const x: number = 1;\n");
    it.change("a.ts", "export const x: number = 2;\n");
}
