//! Signals that end the program, and what they must not leave behind.

use std::fs;
use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::{Run, World};

/// What runs in the shell below: a hook waits for its child, and everybody writes down who they
/// are.
const HOOK: &str = "sleep 600 & echo $! > child; echo $$ > hook; wait";

const PRE: &str = "pre_tool_call";

impl World {
    /// Runs `hermes ARGS` until its hook runs, sends it the signals, and gives the run.
    fn signalled(&self, event: &str, args: &str, signals: &[&str], start: &str) -> Run {
        let hook = self.script("slow.sh", HOOK);
        self.hooks(&format!("  {event}:\n  - {{command: {hook}, timeout: 300}}\n"));
        self.run(&["hooks", "approve", "--all"]).exits(0);
        for file in ["hook", "child"] {
            let _ = fs::remove_file(self.cwd().join(file));
        }
        let hermes = assert_cmd::cargo::cargo_bin!("hermes").display().to_string();
        let signals = signals.join("; ");
        let script = format!(
            "{start} '{hermes}' {args} & pid=$!; until [ -s hook ]; do sleep 0.05; done; \
             {signals}; wait $pid; exit $?"
        );
        let mut command = assert_cmd::Command::new("bash");
        command.current_dir(self.cwd()).env("HERMES_HOME", self.home.path());
        command.env("HOME", self.cwd()).args(["-c", &script]);
        Run::of(command.timeout(Duration::from_secs(60)))
    }

    /// Whether the process that wrote its number there is gone.
    fn is_dead(&self, file: &str) -> bool {
        let pid = fs::read_to_string(self.cwd().join(file)).unwrap();
        for _ in 0..200 {
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            if stat.is_ok_and(|stat| !stat.contains(") Z ")) {
                std::thread::sleep(Duration::from_millis(10));
            } else {
                return true;
            }
        }
        false
    }
}

#[test]
fn every_signal_leaves_an_answer_and_nobody_behind() {
    let world = World::new();
    fs::write(world.cwd().join("calls.jsonl"), r#"{"name":"todo","arguments":{}}"#).unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        for args in ["exec calls.jsonl", "call read_file '{\"path\":\"a\"}'"] {
            let kill = format!("kill -{signal} $pid");
            let run = world.signalled(PRE, args, &[&kill], "").exits(code);
            assert!(run.stdout.contains("interrupted"), "{signal} {args}: {run:?}");
            assert!(world.is_dead("hook") && world.is_dead("child"), "{signal} {args}");
        }
        let kill = format!("kill -{signal} $pid");
        world.signalled(PRE, "hooks test pre_tool_call", &[&kill], "").exits(code);
        assert!(world.is_dead("hook") && world.is_dead("child"), "{signal}");
    }
    let answers = world.signalled(PRE, "exec calls.jsonl -q", &["kill -TERM $pid"], "").exits(143);
    let answer: Value = serde_json::from_str(answers.stdout.trim()).unwrap();
    assert_eq!(answer["role"], "tool");
}

#[test]
fn hooks_after_a_call_are_ended_too_and_a_second_signal_waits_for_nothing() {
    let world = World::new();
    for signals in [&["kill -TERM $pid"][..], &["kill -INT $pid", "sleep 0.3", "kill -TERM $pid"]] {
        let run =
            world.signalled("post_tool_call", "call read_file '{\"path\":\"a\"}'", signals, "");
        assert_eq!(run.code, 143, "{run:?}");
        assert!(world.is_dead("hook") && world.is_dead("child"), "{signals:?}");
    }
}

#[test]
fn who_was_told_to_outlive_the_terminal_does() {
    let world = World::new();
    let signals = ["kill -HUP $pid", "sleep 0.3", "kill -TERM $pid"];
    let run = world.signalled(PRE, "hooks test pre_tool_call", &signals, "trap '' HUP;");
    run.exits(143);
    assert!(world.is_dead("hook") && world.is_dead("child"));
}
