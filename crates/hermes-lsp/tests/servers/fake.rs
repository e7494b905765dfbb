//! Servers that behave badly. The fake one is written in Python; without `python3` these tests have
//! nothing to run and say so.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_lint::{Change, Diagnostics as _};
use hermes_lsp::LanguageServers;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::World;

/// How long nothing of this takes, but for what hangs.
const LONG: Duration = Duration::from_secs(60);

/// A project whose server is the fake one.
struct Fake {
    world: World,
    servers: LanguageServers,
}

impl Fake {
    fn new(mode: &str) -> Option<Self> {
        Self::with(mode, LONG, |_| {})
    }

    fn with(
        mode: &str,
        wait: Duration,
        edit: impl FnOnce(&mut hermes_lsp::LspConfig),
    ) -> Option<Self> {
        let world = World::new();
        if !world.has("python3") {
            println!("skipped: there is no python3");
            return None;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/fake_server.py");
        let fake = json!({
            "command": ["python3", script, mode],
            "initialization_options": {"fake": {"a": 7}},
        });
        let mut config = world.config(&json!({"servers": {"pyright": fake}}));
        config.wait_timeout = wait;
        edit(&mut config);
        let servers = LanguageServers::new(config);
        Some(Self { world, servers })
    }

    fn change(&self, file: &str, new: &str) -> Option<String> {
        self.world.change(&self.servers, file, new)
    }

    /// The processes that the server was.
    fn pids(&self) -> Vec<String> {
        let text = fs::read_to_string(self.world.root().join("pids")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Whether none of its processes is left, not even one that isn't collected.
    fn is_gone(&self) -> bool {
        let is_gone = |pid: &String| {
            for _ in 0..1000 {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                let mut rest = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
                let (state, parent) = (rest.next(), rest.next());
                // Orphans are collected by the init process, and not every container has one.
                let own = std::process::id().to_string();
                let is_orphan = parent != Some(own.as_str());
                if state.is_none() || (state == Some("Z") && is_orphan) {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            false
        };
        self.pids().iter().all(is_gone)
    }

    fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.world.root().join("log.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn told(&self, method: &str) -> Vec<Value> {
        let all = self.log().into_iter();
        all.filter(|message| message.get("method").and_then(Value::as_str) == Some(method))
            .map(|message| message.get("params").cloned().unwrap_or_default())
            .collect()
    }
}

fn block(fake: &Fake, file: &str, places: &[&str]) -> Option<String> {
    let path = fake.world.root().join(file);
    let rows: String =
        places.iter().map(|place| format!("ERROR [{place}] it is bad (fake)\n")).collect();
    Some(format!("<diagnostics file=\"{}\">\n{rows}</diagnostics>", path.display()))
}

#[test]
fn only_what_a_change_brought_is_told() {
    for mode in ["push", "pull", "unnamed", "tells old news first", "asks a lot"] {
        let Some(fake) = Fake::new(mode) else { return };
        fs::write(fake.world.root().join("a.py"), "x\nBAD\n").unwrap();
        assert!(fake.servers.covers(&fake.world.root().join("a.py")));
        // The old error moves; the new one is told, in characters.
        let found = fake.change("a.py", "n\nx\n\u{1f600} BAD\nBAD\n");
        assert_eq!(found, block(&fake, "a.py", &["3:3"]), "{mode}");
        assert_eq!(fake.change("a.py", "\u{1f600} BAD\nBAD\n"), None, "{mode}");
        // A file that wasn't there.
        assert_eq!(fake.change("b.py", "BAD"), block(&fake, "b.py", &["1:1"]), "{mode}");
        assert_eq!(fake.change("c.txt", "BAD"), None, "{mode}");
        assert_eq!(fake.pids().len(), 1, "{mode}");
        fake.servers.close();
        assert!(fake.is_gone(), "{mode}");
        assert!(fake.world.root().join("farewell").exists(), "{mode}");
        assert!(!fake.servers.covers(&fake.world.root().join("a.py")));
    }
}

#[test]
fn requests_of_servers_are_answered() {
    let Some(fake) = Fake::new("asks a lot") else { return };
    fake.change("a.py", "BAD");
    let replies: Vec<Value> =
        fake.log().into_iter().filter(|message| message.get("method").is_none()).collect();
    let result = |nth: usize| replies[nth].get("result").cloned();
    assert_eq!(result(0), Some(json!([7, null])));
    assert_eq!((result(1), result(2)), (Some(Value::Null), Some(Value::Null)));
    assert_eq!(replies[3].pointer("/result/applied"), Some(&json!(false)));
    assert_eq!(replies[4].pointer("/error/code"), Some(&json!(-32601)));
}

#[test]
fn a_question_is_asked_again_when_the_server_wants_that() {
    let Some(fake) = Fake::new("pull") else { return };
    assert_eq!(fake.change("a.py", "BAD AGAIN"), block(&fake, "a.py", &["1:1"]));
    assert!(fake.world.root().join("again").exists());
}

#[test]
fn what_others_changed_is_told_to_the_server() {
    let Some(fake) = Fake::new("push") else { return };
    fake.change("a.py", "one");
    fake.change("b.py", "two");
    // As a patch does it: all files are known first, then all are written, then all are looked at.
    let path = |name: &str| fake.world.root().join(name);
    for name in ["a.py", "new.py", "b.py"] {
        fake.servers.before(&path(name));
    }
    fs::write(path("a.py"), "changed").unwrap();
    fs::write(path("new.py"), "new").unwrap();
    fs::remove_file(path("b.py")).unwrap();
    let change = Change { path: &path("a.py"), old: Some("one"), new: "changed" };
    assert_eq!(fake.servers.after(&change), None);
    let watched: Vec<Value> = fake.told("workspace/didChangeWatchedFiles");
    let shown: Vec<String> = watched.iter().map(ToString::to_string).collect();
    let count = |name: &str, kind: u8| {
        let end = format!("{name}\",\"type\":{kind}}}]}}");
        shown.iter().filter(|line| line.ends_with(&end)).count()
    };
    assert_eq!((count("/new.py", 1), count("/b.py", 3)), (1, 1), "{shown:?}");
    assert_eq!(fake.told("textDocument/didClose").len(), 1);
    // Saved: twice at first, once now.
    assert_eq!(fake.told("textDocument/didSave").len(), 3);
}

#[test]
fn a_server_that_fails_is_never_started_again() {
    let modes = [
        "ends at the start",
        "rubbish",
        "wrong length",
        "huge length",
        "huge message",
        "dies within a message",
        "dies at a change",
        "floods",
    ];
    for mode in modes {
        let Some(fake) = Fake::new(mode) else { return };
        fs::write(fake.world.root().join("a.py"), "x\n").unwrap();
        let started = Instant::now();
        assert_eq!(fake.change("a.py", "BAD\n"), None, "{mode}");
        // It was noticed, and not waited for until the end.
        assert!(started.elapsed() < LONG, "{mode}");
        assert_eq!(fake.change("a.py", "BAD BAD\n"), None, "{mode}");
        assert!(!fake.servers.covers(&fake.world.root().join("a.py")), "{mode}");
        assert_eq!(fake.pids().len(), 1, "{mode}");
        assert!(fake.is_gone(), "{mode}");
    }
}

#[test]
fn a_server_that_hangs_costs_one_wait() {
    let wait = Duration::from_millis(700);
    for mode in ["hangs at the start", "hangs at a change", "says nothing", "closes its input"] {
        let Some(fake) = Fake::with(mode, wait, |_| {}) else { return };
        fs::write(fake.world.root().join("a.py"), "x\n").unwrap();
        let started = Instant::now();
        for nth in 0..20 {
            assert_eq!(fake.change("a.py", &format!("BAD {nth}\n")), None, "{mode}");
        }
        // Twenty waits would take longer.
        assert!(started.elapsed() < 10 * wait, "{mode}: {:?}", started.elapsed());
        drop(fake.servers);
        let fake = Fake { servers: LanguageServers::new(fake.world.config(&json!({}))), ..fake };
        assert!(fake.is_gone(), "{mode}");
    }
}

#[test]
fn a_server_that_caught_up_is_waited_for_again() {
    let Some(fake) = Fake::with("is slow at first", Duration::from_millis(400), |_| {}) else {
        return;
    };
    fake.world.put("a.py", "x\n");
    assert_eq!(fake.change("a.py", "BAD\n"), None);
    let mut text = "BAD\n".to_owned();
    for nth in 0.. {
        // What was there before it caught up is no news afterwards, so each change has its own.
        text = format!("{text}BAD\n");
        match fake.change("a.py", &text) {
            None => assert!(nth < 100),
            Some(found) => {
                assert!(found.contains(&format!("[{}:1] it is bad", nth + 2)), "{found}");
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_eq!(fake.pids().len(), 1);
}

#[test]
fn a_server_that_doesnt_read_blocks_nobody() {
    let wait = Duration::from_millis(300);
    let Some(fake) = Fake::with("doesn't read", wait, |_| {}) else { return };
    let large = "x".repeat(1_900_000);
    let started = Instant::now();
    for nth in 0..40 {
        assert_eq!(fake.change("a.py", &format!("{large}{nth}")), None);
    }
    // What waited to be read became too much.
    assert!(!fake.servers.covers(&fake.world.root().join("a.py")));
    assert!(started.elapsed() < LONG);
    assert!(fake.is_gone());
}

#[test]
fn a_server_that_never_answers_at_the_start_is_given_up() {
    let edit = |config: &mut hermes_lsp::LspConfig| {
        config.start_timeout = Duration::from_millis(300);
    };
    let Some(fake) = Fake::with("hangs at the start", LONG, edit) else { return };
    fs::write(fake.world.root().join("a.py"), "x\n").unwrap();
    assert_eq!(fake.change("a.py", "BAD"), None);
    assert!(!fake.servers.covers(&fake.world.root().join("a.py")));
    assert!(fake.is_gone());
}

#[test]
fn one_that_never_ends_is_killed_with_its_helpers() {
    let Some(fake) = Fake::new("never ends") else { return };
    fake.change("a.py", "x");
    fake.servers.close();
    assert_eq!(fake.pids().len(), 2);
    assert!(fake.is_gone());
    assert!(!fake.world.root().join("farewell").exists());
}

#[test]
fn an_idle_server_ends_and_comes_back() {
    let edit = |config: &mut hermes_lsp::LspConfig| {
        config.idle_timeout = Duration::from_millis(200);
    };
    let Some(fake) = Fake::with("push", LONG, edit) else { return };
    assert_eq!(fake.change("a.py", "BAD"), block(&fake, "a.py", &["1:1"]));
    assert!(fake.is_gone());
    assert!(fake.world.root().join("farewell").exists());
    assert_eq!(fake.change("a.py", "x\nBAD"), None);
    assert_eq!(fake.change("a.py", "x\nBAD\nBAD"), block(&fake, "a.py", &["3:1"]));
    assert!(fake.pids().len() >= 2);
}

#[test]
fn tasks_share_a_server() {
    let Some(fake) = Fake::new("push") else { return };
    let fake = Arc::new(fake);
    std::thread::scope(|scope| {
        for task in 0..8 {
            let fake = Arc::clone(&fake);
            scope.spawn(move || {
                let file = format!("{task}.py");
                for nth in 0..5 {
                    let text = "ok\n".repeat(nth) + "BAD\n" + &"ok\n".repeat(nth);
                    let found = fake.change(&file, &text);
                    assert_eq!(found.is_some(), nth == 0, "{found:?}");
                }
            });
        }
    });
    assert_eq!(fake.pids().len(), 1);
}

#[test]
fn more_files_than_may_be_open_are_looked_at() {
    let Some(fake) = Fake::new("push") else { return };
    for nth in 0..40 {
        let file = format!("{nth}.py");
        assert_eq!(fake.change(&file, "BAD"), block(&fake, &file, &["1:1"]));
    }
    assert_eq!(fake.told("textDocument/didClose").len(), 8);
}

#[test]
fn without_a_server_nothing_happens() {
    let world = World::new();
    let mut config = world.config(&json!({}));
    config.env.insert("PATH".to_owned(), "/no/such/folder".to_owned());
    let servers = LanguageServers::new(config);
    for file in ["a.py", "a.rs", "a.ts", "a.nothing"] {
        assert!(!servers.covers(&world.root().join(file)));
        assert_eq!(world.change(&servers, file, "BAD"), None);
    }
    let path = Path::new("relative.py");
    servers.before(path);
    assert_eq!(servers.after(&Change { path, old: None, new: "BAD" }), None);
}
