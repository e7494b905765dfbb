//! `terminal` as the program offers it: with hooks, questions and what a killed run leaves.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::{Run, World};

const EVENT: &str = "transform_terminal_output";

impl World {
    /// A call of `terminal`; what it printed.
    fn terminal(&self, args: &Value) -> Run {
        let args = args.to_string();
        let mut command = self.command(&["-q", "call", "terminal", &args, "--accept-hooks"]);
        Run::of(command.env("PATH", "/usr/local/bin:/usr/bin:/bin"))
    }
}

#[test]
fn a_hook_may_replace_output_before_it_is_cleaned() {
    let world = World::new();
    let key = format!("ghp_{}", "0123456789".repeat(3) + "abcdef");
    let said = format!(r#"printf '%s' '{{"replace": "\u001b[1mshort\u001b[0m {key}"}}'"#);
    let hook = world.script("shorten.sh", &format!("cat >told; {said}"));
    world.hooks(&format!("  {EVENT}:\n  - command: {hook}\n"));
    let command = r"printf '\033[1mlong\033[0m\n'; exit 3";
    let result = world.terminal(&json!({"command": command})).exits(0).json();
    let output = result["output"].as_str().unwrap();
    assert!(output.starts_with("short ") && !output.contains(&key), "{result}");
    assert_eq!(result["exit_code"], 3);

    let told: Value =
        serde_json::from_str(&fs::read_to_string(world.cwd().join("told")).unwrap()).unwrap();
    let told = told.get("extra").unwrap_or(&told);
    for (name, value) in [
        ("command", json!(command)),
        ("output", json!("\u{1b}[1mlong\u{1b}[0m\n")),
        ("returncode", json!(3)),
        ("env_type", json!("local")),
    ] {
        assert_eq!(told[name], value, "{name} in {told}");
    }
}

#[test]
fn hooks_of_output_that_fail_change_nothing() {
    let world = World::new();
    let failing = world.script("failing.sh", "echo no >&2; exit 1");
    let silent = world.script("silent.sh", "echo no JSON");
    let second = world.script("second.sh", r#"echo '{"replace": "from the second"}'"#);
    world.hooks(&format!("  {EVENT}:\n  - command: {failing}\n  - command: {silent}\n"));
    let result = world.terminal(&json!({"command": "echo kept"})).exits(0).json();
    assert_eq!(result["output"], "kept");
    world.hooks(&format!("  {EVENT}:\n  - command: {failing}\n  - command: {second}\n"));
    let result = world.terminal(&json!({"command": "echo kept"})).exits(0).json();
    assert_eq!(result["output"], "from the second");
}

/// Whether a process with the number in that file does anything still.
#[cfg(target_os = "linux")]
fn is_alive(file: &std::path::Path) -> bool {
    let pid = fs::read_to_string(file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_run_left_is_cleaned_up_by_the_next_one() {
    let world = World::with_config("approvals: {mode: 'off'}\n");
    let temporary = tempfile::TempDir::new().unwrap();
    let left = |part: &str| {
        let names = fs::read_dir(temporary.path()).unwrap();
        names.filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().contains(part)).count()
    };
    let file = |name: &str| world.cwd().join(name);
    let call = |args: Value| json!({"name": "terminal", "arguments": args}).to_string();
    let calls = [
        call(json!({"command": "echo $$ >back; sleep 600", "background": true})),
        call(json!({"command": "sh spawn.sh daemon"})),
        call(json!({"command": "sh spawn.sh child; echo $$ >front; sleep 600"})),
    ];
    let spawn = "setsid sleep 600 >/dev/null 2>&1 & echo $! >$1";
    fs::write(file("spawn.sh"), spawn).unwrap();
    fs::write(file("calls.jsonl"), calls.join("\n")).unwrap();
    let hermes = |args: &[&str]| {
        let mut command = world.command(args);
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TMPDIR", temporary.path());
        command
    };
    let script = format!(
        "'{}' -q exec calls.jsonl & until [ -s front ] && [ -s back ]; do sleep 0.05; done; \
         sleep 0.2; kill -9 $!; wait $! 2>/dev/null; true",
        assert_cmd::cargo::cargo_bin!("hermes").display()
    );
    let mut killed = assert_cmd::Command::new("bash");
    killed.current_dir(world.cwd()).env("HERMES_HOME", world.home.path()).env("HOME", world.cwd());
    killed.env("TMPDIR", temporary.path()).args(["-c", &script]);
    Run::of(killed.timeout(std::time::Duration::from_secs(60)));
    for name in ["front", "child", "back", "daemon"] {
        assert!(is_alive(&file(name)), "{name}");
    }
    assert!(left(".owner") == 1 && left("hermes-run-") >= 1, "{:?}", temporary.path());

    // Another home is another's business.
    let other = tempfile::TempDir::new().unwrap();
    let mut elsewhere = hermes(&["-q", "call", "terminal", r#"{"command":"true"}"#]);
    Run::of(elsewhere.env("HERMES_HOME", other.path())).exits(0);
    assert!(is_alive(&file("front")) && left(".owner") == 1);

    Run::of(&mut hermes(&["call", "terminal", r#"{"command":"true"}"#])).exits(0).says("1 command");
    assert!(!is_alive(&file("front")) && !is_alive(&file("child")));
    assert!(is_alive(&file("back")) && is_alive(&file("daemon")));
    assert_eq!(left("hermes-"), 0);
    let list = Run::of(&mut hermes(&["-q", "call", "process", r#"{"action":"list"}"#])).json();
    let id = list["processes"][0]["session_id"].as_str().unwrap().to_owned();
    let kill = json!({"action": "kill", "session_id": id}).to_string();
    Run::of(&mut hermes(&["-q", "call", "process", &kill])).exits(0);
    assert!(!is_alive(&file("back")));
    let daemon = fs::read_to_string(file("daemon")).unwrap();
    assert_cmd::Command::new("kill").arg(daemon.trim()).output().unwrap();
}

#[test]
fn a_dry_run_tells_what_the_tool_would_ask() {
    let world = World::with_config("approvals:\n  deny: ['git push*']\n");
    let dry = |command: &str, code: i32| {
        let args = json!({"command": command}).to_string();
        let run = world.run(&["-q", "call", "terminal", &args, "--dry-run"]).exits(code).json();
        let decisions = run["decisions"].as_array().unwrap().clone();
        decisions.into_iter().find(|it| it["gate"] == "consent").unwrap()
    };
    let decision = dry("ls", 0);
    assert_eq!(
        (&decision["passed"], &decision["note"]),
        (&json!(true), &json!("nobody would be asked"))
    );
    // Nobody reads along here.
    for command in ["rm -rf build", "rm -rf /", "git push origin"] {
        let decision = dry(command, 3);
        assert_eq!(decision["passed"], false, "{command}: {decision}");
    }
    let asking = ["-q", "call", "terminal", r#"{"command":"rm -rf build"}"#, "--dry-run"];
    let run = world.run(&[&asking[..], &["--approve", "once"]].concat()).exits(0).json();
    let note = run["decisions"].as_array().unwrap().last().unwrap()["note"].to_string();
    assert!(note.contains("a person would be asked"), "{run}");
    assert!(!world.home.path().join("logs/approvals.jsonl").exists());
}

#[test]
fn the_doctor_tells_of_the_machine() {
    let world = World::new();
    let bin = world.home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(world.cwd().join(".profile"), format!("PATH={}\n", bin.display())).unwrap();
    let mut command = world.command(&["doctor", "--json"]);
    let report = Run::of(command.env("PATH", "/usr/bin:/bin")).json();
    let facts = report["machine"]["facts"].as_str().unwrap();
    assert!(facts.contains("no working python3"), "{report}");

    let ssh = "terminal: {backend: ssh, ssh_host: h.invalid, ssh_user: u}\n";
    let world = World::with_config(ssh);
    let report = world.run(&["doctor", "--json"]).json();
    let expected = json!({"backend": "ssh", "asked": false, "facts": null});
    assert_eq!(report["machine"], expected);
    assert!(world.run(&["doctor"]).stdout.contains("ssh: not asked"));
}
