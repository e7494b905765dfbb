//! `hermes hooks` with real scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::{Run, World};

const EVENT: &str = "pre_tool_call";

impl World {
    /// A script in the home folder, and its path.
    pub(crate) fn script(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    pub(crate) fn hooks(&self, yaml: &str) {
        fs::write(self.config_path(), format!("hooks:\n{yaml}")).unwrap();
    }

    /// The state of the first hook.
    fn consent(&self) -> String {
        let list = self.run(&["hooks", "list", "--json"]).exits(0).json();
        list.pointer("/0/consent").unwrap().as_str().unwrap().to_owned()
    }
}

#[test]
fn consent_is_given_kept_and_taken_back() {
    let world = World::new();
    let guard = world.script("guard.sh", "echo no >&2; exit 2");
    world.hooks(&format!("  {EVENT}:\n  - {{command: {guard}, matcher: 'a|b', timeout: 5}}\n"));
    let list = world.run(&["hooks", "list", "--json"]).exits(0).json();
    let expected = json!([{
        "event": EVENT, "command": guard, "matcher": "a|b", "timeout": 5, "on_error": "allow",
        "consent": "not_approved", "files": [guard], "problem": null,
    }]);
    assert_eq!(list, expected);
    assert!(world.run(&["hooks", "list"]).exits(0).stdout.contains("not approved"));

    world.run(&["hooks", "approve", "other"]).exits(2).says("no hook");
    world.run(&["hooks", "approve"]).exits(2);
    world.run(&["hooks", "approve", &guard, "--event", "post_tool_call"]).exits(2);
    assert!(world.run(&["hooks", "approve", &guard]).exits(0).stdout.contains("approved"));
    assert_eq!(world.consent(), "approved");
    let kept = fs::read_to_string(world.home.path().join("shell-hooks-allowlist.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["approvals"][0]["command"], guard);
    assert!(kept["approvals"][0]["approved_at"].as_str().unwrap().ends_with('Z'));

    world.script("guard.sh", "exit 0");
    assert_eq!(world.consent(), "changed");
    world.run(&["hooks", "approve", "--all"]).exits(0);
    assert_eq!(world.consent(), "approved");
    world.run(&["hooks", "revoke", &guard, "--event", "pre_verify"]).exits(1);
    world.run(&["hooks", "revoke", &guard, "--event", "pre_tol_call"]).exits(2).says("pre_tool");
    world.run(&["hooks", "revoke", &guard]).exits(0);
    assert_eq!(world.consent(), "not_approved");
    world.run(&["hooks", "revoke", &guard]).exits(1);
}

#[test]
fn a_test_shows_what_a_hook_answers() {
    let world = World::new();
    let guard = world.script("guard.sh", "cat > told; echo no >&2; exit 2");
    world.hooks(&format!("  {EVENT}:\n  - {{command: {guard}, matcher: web.*}}\n"));
    let test = ["hooks", "test", EVENT, "--tool", "web_search", "--args", r#"{"q":1}"#, "--json"];
    let run = world.run(&test).exits(1).json();
    assert_eq!((&run[0]["ran"], &run[0]["ended"]), (&json!(false), &json!(null)));
    assert!(!world.cwd().join("told").exists(), "it ran before anybody agreed");

    // The flag runs it this once: a test agrees to nothing.
    let run = world.run(&[&test[..], &["--accept-hooks"]].concat()).exits(0).json();
    assert_eq!(run[0]["reply"], json!({"verdict": "block", "message": "no"}));
    assert_eq!((&run[0]["ended"], &run[0]["stderr"]), (&json!("exit code 2"), &json!("no\n")));
    let told = fs::read_to_string(world.cwd().join("told")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["tool_name"], "web_search");
    assert_eq!(told["tool_input"], json!({"q": 1}));
    assert_eq!(world.consent(), "not_approved");

    world.run(&["hooks", "approve", "--all"]).exits(0);
    let people = world.run(&test[..test.len() - 1]).exits(0);
    assert!(people.stdout.contains("exit code 2") && people.stdout.contains("block"));
    assert_eq!(world.run(&["hooks", "test", EVENT, "--json"]).exits(0).json(), json!([]));
    world.run(&["hooks", "test", "pre_tol_call"]).exits(2).says("pre_tool_call");
    world.run(&["hooks", "test", EVENT, "--args", "{"]).exits(2);
    world.run(&["hooks", "test", EVENT, "--args", "[]"]).exits(2);
    world.run(&["hooks", "test", EVENT, "--command", "x"]).exits(2);
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    let world = World::new();
    assert_eq!(world.run(&["hooks", "doctor"]).exits(0).stdout, "ok (0 hooks)\n");
    let good = world.script("good.sh", "echo '{}'");
    world.hooks(&format!("  {EVENT}:\n  - command: {good}\n"));
    world.run(&["hooks", "doctor"]).exits(1);
    world.run(&["hooks", "approve", "--all"]).exits(0);
    world.run(&["hooks", "doctor"]).exits(0);

    let changed = world.script("changed.sh", "true");
    let chatty = world.script("chatty.sh", "echo hello");
    let failing = world.script("failing.sh", "exit 1");
    let plain = world.home.path().join("plain.sh");
    fs::write(&plain, "").unwrap();
    let plain = plain.display();
    world.hooks(&format!(
        "  pre_tol_call: []\n  {EVENT}:\n  - command: {changed}\n  - command: {chatty}\n  \
         - command: {failing}\n  - command: {plain}\n  - command: /no/such/program\n  \
         - {{command: {good}, matcher: '*'}}\n  - command: ./relative.sh\n"
    ));
    world.run(&["hooks", "approve", "--all"]).exits(0);
    world.script("changed.sh", "false");
    let report = world.run(&["hooks", "doctor", "--json"]).exits(1).json();
    let problems = report["problems"].as_array().unwrap();
    for part in [
        "did you mean `pre_tool_call`",
        "changed.sh: changed since",
        "chatty.sh: what it writes to stdout is no JSON",
        "failing.sh: exit code 1",
        "plain.sh: it is not executable",
        "/no/such/program is not found",
        "no valid pattern",
        "give an absolute path",
    ] {
        let said =
            |problem: &serde_json::Value| problem["message"].as_str().unwrap().contains(part);
        assert!(problems.iter().any(said), "{part}: {problems:#?}");
    }
    // What is left of the first configuration is still in use; after a change it isn't.
    world.hooks("  pre_verify: []\n");
    let report = world.run(&["hooks", "doctor", "--json"]).exits(0).json();
    assert_eq!(report["problems"].as_array().unwrap().len(), 7);
}

#[test]
fn a_broken_allowlist_approves_nothing_and_is_kept() {
    let world = World::new();
    world.hooks(&format!("  {EVENT}:\n  - command: 'true'\n"));
    let path = world.home.path().join("shell-hooks-allowlist.json");
    fs::write(&path, "{oops").unwrap();
    world.run(&["hooks", "list", "--json"]).exits(0).says("is broken");
    assert_eq!(world.consent(), "not_approved");
    world.run(&["hooks", "approve", "--all"]).exits(2).says("is broken");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{oops");
}

#[test]
fn slips_are_shown_wherever_one_looks() {
    let world = World::new();
    let guard = world.script("guard.sh", "true");
    world.hooks(&format!(
        "  {EVENT}:\n  - {{command: {guard}, matchr: x, on-error: allow}}\n  \
         - {{command: {guard}, matcher: 'a[', on_error: block}}\n"
    ));
    let slips = ["`matcher`", "`on-error`", "every tool fits"];
    let list = world.run(&["hooks", "list", "--json"]).exits(0);
    let doctor = world.run(&["hooks", "doctor"]).exits(1);
    let check = world.run(&["config", "check"]).exits(0);
    for slip in slips {
        list.says(slip);
        assert!(doctor.stdout.contains(slip) && check.stdout.contains(slip), "{slip}: {check:?}");
    }
    assert_eq!(list.json()[0]["on_error"], "block");
}

#[cfg(feature = "file")]
#[test]
fn a_guard_nobody_agreed_to_blocks_even_quietly() {
    let world = World::new();
    fs::write(world.cwd().join("a"), "alpha").unwrap();
    let guard = world.script("guard.sh", "true");
    let read = ["call", "read_file", r#"{"path":"a"}"#];
    world.hooks(&format!("  {EVENT}:\n  - {{command: {guard}, on_error: block}}\n"));
    world.run(&read).exits(3).says("blocks every call");
    let quiet = world.run(&[&read[..], &["-q"]].concat()).exits(3);
    assert!(quiet.stdout.contains("hermes hooks approve"), "{quiet:?}");
    let mut safe = world.command(&read);
    Run::of(safe.env("HERMES_SAFE_MODE", "1")).exits(0);
    world.run(&["hooks", "approve", "--all"]).exits(0);
    world.run(&read).exits(0);
    world.hooks(&format!("  {EVENT}:\n  - {{command: '{guard} x'}}\n"));
    world.run(&read).exits(0).says("doesn't run");
    // What can't be understood is told of, and blocks only where failures do.
    let chatty = world.script("chatty.sh", "echo blocked");
    world.hooks(&format!("  {EVENT}:\n  - command: {chatty}\n"));
    world.run(&["hooks", "approve", "--all"]).exits(0);
    world.run(&read).exits(0).says("decides nothing");
    world.hooks(&format!("  {EVENT}:\n  - {{command: {chatty}, on_error: block}}\n"));
    world.run(&read).exits(3);
}

#[test]
fn safe_mode_is_told_of() {
    let world = World::new();
    world.hooks(&format!("  {EVENT}:\n  - command: 'true'\n"));
    let mut command = world.command(&["hooks", "list"]);
    Run::of(command.env("HERMES_SAFE_MODE", "1")).exits(0).says("no hooks run");
}
