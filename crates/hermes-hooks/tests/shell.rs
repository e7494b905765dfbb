//! Hooks that are real programs, well behaved and otherwise.
#![cfg(target_os = "linux")]
#![expect(
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "these are tests; clippy knows only the functions marked so"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hermes_hooks::shell::{Answer, Consent, ShellHooks};
use hermes_hooks::{Event, HookEvent, Hooks, Reply, Verdict};
use hermes_registry::Settings;
use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A home folder with scripts.
struct World {
    home: TempDir,
}

impl World {
    fn new() -> Self {
        Self { home: TempDir::new().unwrap() }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    /// A script of that name, and its path.
    fn script(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    fn settings(&self, config: Value) -> Settings {
        let env = [("PATH", "/usr/bin:/bin"), ("HOME", self.path().to_str().unwrap())];
        Settings::new(self.path()).with_env(env).with_config(config)
    }

    fn with(&self, hooks: Value) -> ShellHooks {
        ShellHooks::of(&self.settings(json!({"hooks": hooks})))
    }

    /// Runs a script as the only hook, told of a call.
    async fn answer(&self, text: &str, with: Value) -> Answer {
        let mut entry = json!({"command": self.script("hook.sh", text)});
        entry.as_object_mut().unwrap().extend(with.as_object().cloned().unwrap_or_default());
        let hooks = self.with(json!({"pre_tool_call": [entry]}));
        hooks.hook(&hooks.configured[0]).answer(&self.call(json!({"n": 1}))).await
    }

    fn call(&self, args: Value) -> Event {
        let payload = Map::from_iter([
            ("tool_name".to_owned(), "terminal".into()),
            ("args".to_owned(), args),
            ("session_id".to_owned(), "s1".into()),
        ]);
        Event::new(HookEvent::PreToolCall, payload, self.path())
    }

    async fn verdict(&self, hooks: &ShellHooks) -> (Verdict, Option<Value>) {
        hooks.register(Hooks::none()).pre_tool_call(self.call(json!({"n": 1})), Ok).await
    }
}

async fn is_dead(pid: &str) -> bool {
    for _ in 0..500 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            return true;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn programs_decide_on_calls() {
    let world = World::new();
    for (text, expected) in [
        ("echo '{\"action\":\"block\",\"message\":\"no\"}'", Ok(Reply::block("no"))),
        ("echo '{\"decision\":\"block\",\"reason\":\"no\"}'", Ok(Reply::block("no"))),
        ("echo not today >&2; exit 2", Ok(Reply::block("not today"))),
        ("echo '{\"action\":\"approve\",\"message\":\"sure?\"}'", Ok(Reply::approve("sure?"))),
        (
            "echo '{\"action\":\"modify\",\"args\":{\"n\":2}}'",
            Ok(Reply::Modify { args: json!({"n": 2}) }),
        ),
        ("true", Ok(Reply::Nothing)),
        ("echo hello", Ok(Reply::Nothing)),
        ("head -c 100000 /dev/urandom", Ok(Reply::Nothing)),
        ("head -c 5242880 /dev/zero >&2", Ok(Reply::Nothing)),
    ] {
        assert_eq!(world.answer(text, json!({})).await.reply, expected, "{text}");
    }
    let long = world.answer("head -c 5242880 /dev/zero", json!({})).await;
    assert!(long.reply.unwrap_err().0.contains("5242880 bytes"));
    assert_eq!(long.finished.unwrap().stdout.bytes.len(), 1024 * 1024);
    assert!(world.answer("exit 1", json!({})).await.reply.is_err());
    assert!(world.answer("kill -9 $$", json!({})).await.reply.is_err());
}

#[tokio::test]
async fn a_program_gets_the_event_the_folder_and_the_environment() {
    let world = World::new();
    let answer = world.answer("cat; echo >&2 \"$PWD $HOME\"", json!({})).await;
    let finished = answer.finished.unwrap();
    let told: Value = serde_json::from_slice(&finished.stdout.bytes).unwrap();
    assert_eq!(told["hook_event_name"], "pre_tool_call");
    assert_eq!((&told["tool_name"], &told["tool_input"]), (&json!("terminal"), &json!({"n": 1})));
    assert_eq!((&told["session_id"], &told["cwd"]), (&json!("s1"), &json!(world.path())));
    let home = world.path().display();
    assert_eq!(finished.stderr.text().trim(), format!("{home} {home}"));
}

#[tokio::test]
async fn a_big_event_is_no_matter_to_who_does_not_read_it() {
    let world = World::new();
    let command = world.script("deaf.sh", "echo '{\"action\":\"block\",\"message\":\"no\"}'");
    let hooks = world.with(json!({"pre_tool_call": [{"command": command}]}));
    let event = world.call(json!({"content": "x".repeat(5 * 1024 * 1024)}));
    let answer = hooks.hook(&hooks.configured[0]).answer(&event).await;
    assert_eq!(answer.reply, Ok(Reply::block("no")));
}

#[tokio::test]
async fn a_program_past_its_time_dies_with_its_children() {
    let world = World::new();
    let text = "sleep 600 & echo $! > child; wait";
    let answer = world.answer(text, json!({"timeout": 1})).await;
    assert!(answer.reply.unwrap_err().0.contains("too long"));
    let child = fs::read_to_string(world.path().join("child")).unwrap();
    assert!(is_dead(child.trim()).await);
}

#[tokio::test]
async fn a_child_left_behind_holds_nobody_up() {
    let world = World::new();
    let text = "sleep 600 & echo $! > child; echo '{\"action\":\"block\",\"message\":\"no\"}'";
    let answer = world.answer(text, json!({})).await;
    let child = fs::read_to_string(world.path().join("child")).unwrap();
    assert!(!is_gone_now(child.trim()), "it was ended");
    world.answer(&format!("kill {}", child.trim()), json!({})).await;
    assert_eq!(answer.reply, Ok(Reply::block("no")));
}

fn is_gone_now(pid: &str) -> bool {
    !PathBuf::from(format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn failures_follow_on_error() {
    let world = World::new();
    let plain = world.path().join("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    for command in [
        "/no/such/program",
        plain.to_str().unwrap(),
        "'not closed",
        &world.script("crash.sh", "exit 1"),
        &world.script("long.sh", "head -c 5242880 /dev/zero"),
    ] {
        for (on_error, expected_block) in [("allow", false), ("block", true)] {
            let entry = json!({"command": command, "on_error": on_error});
            let mut hooks = world.with(json!({"pre_tool_call": [entry]}));
            hooks.ask(|_| true).unwrap();
            let (verdict, _) = world.verdict(&hooks).await;
            let is_block = matches!(verdict, Verdict::Block { .. });
            assert_eq!(is_block, expected_block, "{command} {on_error}: {verdict:?}");
        }
    }
}

#[tokio::test]
async fn nothing_runs_before_somebody_agreed_or_after_a_change() {
    let world = World::new();
    let block = "echo '{\"action\":\"block\",\"message\":\"no\"}'";
    let command = world.script("guard.sh", block);
    // The same one twice, also under an interpreter, and one about another tool.
    let section = json!({"pre_tool_call": [
        {"command": command}, {"command": command, "timeout": 3},
        {"command": format!("sh {command}")},
        {"command": command, "matcher": "other"},
    ]});
    let states = |hooks: &ShellHooks| -> Vec<Consent> {
        hooks.configured.iter().map(|hook| hook.consent).collect()
    };
    let mut hooks = world.with(section.clone());
    assert_eq!(states(&hooks), [Consent::Missing; 3]);
    assert_eq!(world.verdict(&hooks).await.0, Verdict::Go);
    let mut asked = 0;
    let mut agree = |_: &_| {
        asked += 1;
        true
    };
    hooks.ask(&mut agree).unwrap();
    assert_eq!(asked, 2, "each command once");
    let registered = hooks.register(Hooks::none());
    assert_eq!(registered.names().count(), 3);
    assert_eq!(hooks.register(registered).names().count(), 3);
    assert!(matches!(world.verdict(&hooks).await.0, Verdict::Block { .. }));

    let again = world.with(section.clone());
    assert_eq!(states(&again), [Consent::Approved; 3]);
    // Touched, with the same contents.
    world.script("guard.sh", block);
    assert_eq!(states(&world.with(section.clone())), [Consent::Approved; 3]);
    world.script("guard.sh", "echo pwned > pwned");
    let changed = world.with(section.clone());
    assert_eq!(states(&changed), [Consent::Changed; 3]);
    // Those registered before the change don't run what they were not approved with.
    for hooks in [&again, &changed] {
        assert_eq!(world.verdict(hooks).await.0, Verdict::Go);
    }
    assert!(!world.path().join("pwned").exists());

    assert_eq!(changed.allowlist().revoke(&command, None).unwrap(), 1);
    assert_eq!(states(&world.with(section))[0], Consent::Missing);
}

#[tokio::test]
async fn a_guard_that_may_not_run_blocks() {
    let world = World::new();
    let command = world.script("guard.sh", "echo ran >> ran");
    let section = json!({
        "pre_tool_call": [
            {"command": command, "on_error": "block", "matcher": "term.*"},
            {"command": world.script("other.sh", "true"), "on_error": "block", "matcher": "web"},
            {"command": world.script("easy.sh", "true")},
        ],
        "post_tool_call": [{"command": command, "on_error": "block"}],
    });
    let says = |verdict: Verdict, part: &str| match verdict {
        Verdict::Block { message } => assert!(message.contains(part), "{message}"),
        verdict => panic!("{verdict:?}"),
    };
    let mut hooks = world.with(section.clone());
    // Those that can't block are left out; what isn't about the call doesn't block it.
    assert_eq!(hooks.register(Hooks::none()).names().count(), 2);
    says(world.verdict(&hooks).await.0, "waits for consent: `hermes hooks approve`");
    assert!(!world.path().join("ran").exists());

    hooks.ask(|_| true).unwrap();
    assert_eq!(world.verdict(&hooks).await.0, Verdict::Go);
    assert!(world.path().join("ran").exists());
    world.script("guard.sh", "echo changed");
    says(world.verdict(&world.with(section.clone())).await.0, "was changed since it was approved");
    fs::remove_file(&command).unwrap();
    says(world.verdict(&world.with(section.clone())).await.0, "failed");

    let missing = json!({"pre_tool_call": [{"command": "/no/such", "on_error": "block"}]});
    let mut missing = world.with(missing);
    assert!(matches!(world.verdict(&missing).await.0, Verdict::Block { .. }));
    missing.ask(|_| true).unwrap();
    says(world.verdict(&missing).await.0, "/no/such");

    let settings = world.settings(json!({"hooks": section}));
    let safe = ShellHooks::of(&settings.with_env([("HERMES_SAFE_MODE", "1")]));
    assert_eq!(world.verdict(&safe).await.0, Verdict::Go);
    // The same hook twice is as strict as the stricter one.
    let twice = [json!({"command": command}), json!({"command": command, "on_error": "block"})];
    says(world.verdict(&world.with(json!({"pre_tool_call": twice}))).await.0, "consent");
}

#[tokio::test]
async fn a_guard_that_says_something_unclear_blocks() {
    let world = World::new();
    for (said, is_clear) in [
        ("blocked!", false),
        (r#"checking.. {"action":"block"}"#, false),
        (r#"{"action":"blok"}"#, false),
        (r#"{"reason":"no"}"#, false),
        ("{}", true),
        ("", true),
    ] {
        let command = world.script("guard.sh", &format!("cat <<'END'\n{said}\nEND"));
        for on_error in ["allow", "block"] {
            let entry = json!({"command": command, "on_error": on_error});
            let mut hooks = world.with(json!({"pre_tool_call": [entry]}));
            hooks.ask(|_| true).unwrap();
            let goes = world.verdict(&hooks).await.0 == Verdict::Go;
            assert_eq!(goes, is_clear || on_error == "allow", "{said} {on_error}");
        }
    }
}

#[tokio::test]
async fn settings_accept_all_or_none() {
    let world = World::new();
    let command = world.script("guard.sh", "exit 2");
    let config = json!({"hooks": {"pre_tool_call": [{"command": command}]}});
    let accepted = |name: &str, value: &str, config: &Value| {
        let settings = world.settings(config.clone()).with_env([(name, value)]);
        ShellHooks::are_accepted_by(&settings)
    };
    assert!(!accepted("X", "", &config) && !accepted("HERMES_ACCEPT_HOOKS", "0", &config));
    assert!(accepted("HERMES_ACCEPT_HOOKS", "Yes", &config));
    assert!(accepted("X", "", &json!({"hooks_auto_accept": true})));
    assert!(!accepted("X", "", &json!({"hooks_auto_accept": "no"})));

    let mut hooks = world.with(config["hooks"].clone());
    hooks.ask(|_| true).unwrap();
    assert!(matches!(world.verdict(&hooks).await.0, Verdict::Block { .. }));
    let settings = world.settings(config).with_env([("HERMES_SAFE_MODE", "1")]);
    let safe = ShellHooks::of(&settings);
    assert!(safe.is_safe_mode);
    assert_eq!(world.verdict(&safe).await.0, Verdict::Go);
}

#[tokio::test]
async fn matchers_choose_and_changes_reach_later_hooks() {
    let world = World::new();
    let change = world.script("change.sh", "echo '{\"action\":\"modify\",\"args\":{\"n\":2}}'");
    let look = world.script("look.sh", "cat > seen");
    let mut hooks = world.with(json!({"pre_tool_call": [
        {"command": "sh -c 'exit 2'", "matcher": "term"},
        {"command": change, "matcher": "term.*"},
        {"command": look},
    ]}));
    hooks.ask(|_| true).unwrap();
    assert_eq!(world.verdict(&hooks).await, (Verdict::Go, Some(json!({"n": 2}))));
    let seen = fs::read(world.path().join("seen")).unwrap_or_else(|error| panic!("{error}"));
    let seen: Value = serde_json::from_slice(&seen).unwrap();
    assert_eq!(seen["tool_input"], json!({"n": 2}));
    // An event without a tool's name fits no matcher.
    let nameless = Event::new(HookEvent::PreToolCall, Map::new(), world.path());
    let first =
        world.with(json!({"pre_tool_call": [{"command": "sh -c 'exit 2'", "matcher": ".*"}]}));
    let hook = first.hook(&first.configured[0]);
    assert!(!hermes_hooks::Hook::matches(&hook, &nameless));
}
