//! What is asked, who answers, and what is kept of it.

use std::fs;
use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::{Run, World};

const CALL: &str = r#"{"name":"read_file","arguments":{"path":"a"}}"#;

impl World {
    /// A world in which reading a file is asked about, by a rule for each of `rules`.
    fn asking(rule: &str) -> Self {
        let world = Self::new();
        fs::write(world.cwd().join("a"), "alpha").unwrap();
        fs::write(world.cwd().join("call.jsonl"), CALL).unwrap();
        let reply = json!({"action": "approve", "message": "sure?", "rule_key": rule});
        let ask = world.script("ask.sh", &format!("echo '{reply}'"));
        world.hooks(&format!("  pre_tool_call:\n  - {{command: {ask}, matcher: read_file}}\n"));
        world.run(&["hooks", "approve", "--all"]).exits(0);
        world
    }

    /// Runs a line of shell in which `$H` is the program.
    fn shell(&self, line: &str) -> Run {
        let hermes = assert_cmd::cargo::cargo_bin!("hermes").display().to_string();
        let mut command = assert_cmd::Command::new("bash");
        command.current_dir(self.cwd()).env("HERMES_HOME", self.home.path());
        command.env("HOME", self.cwd()).env("H", hermes).env("TERM", "xterm");
        Run::of(command.args(["-c", line]).timeout(Duration::from_secs(60)))
    }

    /// Runs a line of shell on a terminal of its own, on which `typed` is typed.
    fn on_terminal(&self, line: &str, typed: &str) -> Run {
        fs::write(self.cwd().join("typed"), typed).unwrap();
        fs::write(self.cwd().join("line.sh"), line).unwrap();
        self.shell("script -qec 'bash line.sh' /dev/null <typed")
    }

    fn pending(&self) -> Vec<Value> {
        match self.run(&["approval", "pending", "--json"]).exits(0).json() {
            Value::Array(waiting) => waiting,
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_command_is_checked_without_running_it() {
    let world = World::with_config("approvals:\n  deny: ['git push*']\n");
    world.run(&["approval", "check", "ls -la"]).exits(0);
    let run = world.run(&["approval", "check", "ls; rm -rf build"]).exits(3);
    for part in ["dangerous", "  ls; rm -rf build\n      ^^^^^^^^^^^^", "rm -rf build"] {
        assert!(run.stdout.contains(part), "{run:?}");
    }
    assert!(!run.stdout.contains('\x1b'));
    let run = world.run(&["approval", "check", "--json", "rm -rf /"]).exits(3).json();
    assert_eq!((&run["dangerous"], &run["hardline"]), (&json!(true), &json!(true)));
    assert_eq!(run["category"], "recursive_delete");
    let run = world.run(&["approval", "check", "--json", "true; git  push x"]).exits(3).json();
    assert_eq!((&run["dangerous"], &run["denied_by"]), (&json!(false), &json!("git push*")));
    let lines = format!("{}\n\n{}\n", json!("echo a\nls"), json!("rm -r x"));
    let run = world.pipe(&["approval", "check", "-"], &lines).exits(3);
    let dangerous: Vec<Value> = run.lines().iter().map(|it| it["dangerous"].clone()).collect();
    assert_eq!(dangerous, [json!(false), json!(true)]);
    let lines = "\"ls\"\nrm\n[1]\n\"rm -r x\"\n";
    let run = world.pipe(&["approval", "check", "-"], lines).exits(2);
    assert!(run.stderr.contains("line 2"), "{run:?}");
    let lines: Vec<Value> = run.lines();
    assert_eq!((&lines[1]["line"], &lines[3]["dangerous"]), (&json!(2), &json!(true)));
    world.run(&["approval", "check", "--cwd", "missing", "ls"]).exits(2);
}

#[test]
fn what_is_agreed_to_already_is_said() {
    let world = World::with_config(
        "command_allowlist: [recursive_delete, 'podman *']\napprovals: {deny: ['rm -rf src*']}\n",
    );
    let agreed = |command: &str, code| {
        world.run(&["approval", "check", "--json", command]).exits(code).json()["agreed_by"].clone()
    };
    assert_eq!(agreed("rm -rf build", 3), json!(["recursive_delete"]));
    assert_eq!(agreed("podman stop x", 3), json!(["podman *"]));
    for (command, code) in [
        ("ls", 0),
        ("rm -rf build; git push -f", 3),
        ("rm -rf /", 3),
        ("rm -rf src", 3),
        ("podman stop x; ls", 3),
    ] {
        assert_eq!(agreed(command, code), json!([]), "{command}");
    }
    let run = world.run(&["approval", "check", "rm -rf build"]).exits(3);
    assert!(run.stdout.contains("agreed to by recursive_delete"), "{run:?}");
}

#[test]
fn agreements_are_listed_and_taken_back() {
    let world = World::with_config("# mine\ncommand_allowlist:\n  - ls *  # by hand\n");
    world.run(&["approval", "revoke", "rm *"]).exits(1).says("was not agreed to");
    let config =
        "# mine\ncommand_allowlist: [ls *, recursive delete, 'recursive_delete:rm -r x']\n";
    fs::write(world.config_path(), config).unwrap();
    let kinds: Vec<Value> = match world.run(&["approval", "list", "--json"]).exits(0).json() {
        Value::Array(entries) => entries.iter().map(|it| it["kind"].clone()).collect(),
        other => panic!("{other}"),
    };
    assert_eq!(kinds, ["text", "rule", "command"]);
    let run = world.run(&["approval", "list"]).exits(0);
    assert!(run.stdout.contains("recursive_delete:rm -r x"), "{run:?}");
    world.run(&["approval", "revoke", "recursive_delete:rm -r x", "ls *"]).exits(0);
    assert!(world.config().starts_with("# mine\n") && !world.config().contains("ls *"));
    world.run(&["approval", "revoke", "--all"]).exits(0);
    assert_eq!(world.run(&["approval", "list", "--json"]).exits(0).json(), json!([]));
    world.run(&["approval", "revoke"]).exits(2);
}

#[test]
fn an_answer_beforehand_is_kept_as_long_as_it_says() {
    let world = World::asking("reads");
    let call = |approve: &[&str]| {
        let mut args = vec!["call", "read_file", r#"{"path":"a"}"#];
        args.extend(approve);
        world.run(&args)
    };
    let run = call(&[]).exits(3);
    assert!(run.stdout.contains("nobody to ask"), "{run:?}");
    call(&["--approve", "deny"]).exits(3);
    call(&["--approve", "session"]).exits(0);
    call(&[]).exits(3);
    call(&["--approve", "always"]).exits(0);
    call(&[]).exits(0);
    let listed = world.run(&["approval", "list", "--json"]).exits(0).json();
    assert_eq!(listed[0]["entry"], "plugin_rule:reads");
    world.run(&["approval", "revoke", "plugin_rule:reads"]).exits(0);
    call(&[]).exits(3);
    let log = fs::read_to_string(world.home.path().join("logs/approvals.jsonl")).unwrap();
    assert!(log.contains("\"decided_by\":\"person\"") && log.contains("plugin_rule:reads"));
}

#[test]
fn files_that_run_later_are_asked_about() {
    let world = World::new();
    let call = r#"{"path":".git/hooks/post-merge","content":"x\n"}"#;
    let hook = world.cwd().join(".git/hooks/post-merge");
    let run = world.run(&["call", "write_file", call]).exits(3);
    assert!(run.stdout.contains("nobody to ask") && !hook.exists(), "{run:?}");
    let line = format!("{{\"name\":\"write_file\",\"arguments\":{call}}}");
    world.pipe(&["exec", "-"], &line).exits(3);
    world.run(&["call", "write_file", call, "--approve", "once"]).exits(0);
    assert!(hook.exists());
    world.run(&["call", "write_file", r#"{"path":"a","content":"x\n"}"#]).exits(0);
}

#[test]
fn processes_at_once_lose_nothing_of_each_other() {
    let world = World::asking("x");
    let script = r#"printf '{"action":"approve","message":"m","rule_key":"r%s"}' "$RULE""#;
    world.script("ask.sh", script);
    world.run(&["hooks", "approve", "--all"]).exits(0);
    let run = world.shell(
        "for n in 1 2 3 4 5 6; do RULE=$n $H exec -q call.jsonl --approve always & done; wait",
    );
    assert!(!run.stdout.contains("not run"), "{run:?}");
    let mut rules: Vec<String> = world.config().lines().map(str::to_owned).collect();
    rules.retain(|line| line.contains("plugin_rule:r"));
    assert_eq!(rules.len(), 6, "{}", world.config());
}

#[test]
fn a_second_terminal_answers() {
    let world = World::asking("reads");
    let ask = "export HERMES_EXEC_ASK=1; $H exec -q call.jsonl & pid=$!; \
               until $H approval pending --json | grep -q sure; do sleep 0.05; done; ";
    for (answer, code) in [
        ("$H approval answer oldest once", 0),
        ("$H approval answer all deny --reason 'not now'", 3),
        ("$H approval answer $($H approval pending --json | cut -d '\"' -f 4) session", 0),
    ] {
        let run = world.shell(&format!("{ask}{answer}; wait $pid")).exits(code);
        assert!(code == 0 || run.stdout.contains("not now"), "{run:?}");
        assert_eq!(world.pending(), [] as [Value; 0]);
    }
    // Whoever dies while asking leaves nothing that could be answered.
    world.shell(&format!("{ask}kill -9 $pid; wait $pid")).exits(137);
    assert_eq!(world.pending(), [] as [Value; 0]);
    assert_eq!(fs::read_dir(world.home.path().join("approvals/queue")).unwrap().count(), 0);
    world.run(&["approval", "answer", "all", "once"]).exits(1).says("no such question");
    world.run(&["approval", "answer", "../x", "once"]).exits(2);
    world.run(&["approval", "answer", "oldest", "once", "--reason", "x"]).exits(2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_at_the_terminal_is_asked() {
    let world = World::asking("reads");
    for (typed, code) in [("o\n", 0), ("D\n", 3), ("perhaps\n", 3), ("\n", 3), ("", 3)] {
        let run = world.on_terminal("$H exec -q call.jsonl", typed).exits(code);
        for part in ["read_file wants to run", "sure?", "[o]nce", "always would cover"] {
            assert!(run.stdout.contains(part), "{typed:?}: {run:?}");
        }
    }
    // Calls that come through stdin are no answers, and answers are not taken for calls.
    let piped = "printf '%s\\no\\n' \"$(cat call.jsonl)\" | $H exec -q -";
    let run = world.on_terminal(piped, "o\n").exits(2);
    assert!(run.stdout.contains("alpha") && run.stdout.contains("line 2"), "{run:?}");
    world.on_terminal("$H exec -q call.jsonl", "a\n").exits(0);
    assert!(world.config().contains("plugin_rule:reads"), "{}", world.config());
    // Silence.
    let config = world.config().replace("plugin_rule:reads", "other");
    fs::write(world.config_path(), format!("approvals: {{timeout: 1}}\n{config}")).unwrap();
    let run = world.shell("sleep 5 | script -qec '$H exec -q call.jsonl' /dev/null").exits(3);
    assert!(run.stdout.contains("within 1 s is a no"), "{run:?}");
}
