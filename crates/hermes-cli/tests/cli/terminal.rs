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
