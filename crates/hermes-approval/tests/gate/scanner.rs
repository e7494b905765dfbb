//! A scanner that is a real program.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use hermes_approval::scanner::{ScanAction, Scanner as _, Tirith};
use hermes_approval::{Answer, Policy};
use hermes_registry::{Settings, Surface};
use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;

use crate::{Person, World, context, decide};

/// A folder with a script in it that stands for the scanner.
struct Script {
    folder: TempDir,
}

impl Script {
    fn new(body: &str) -> Self {
        let script = Self { folder: TempDir::new().unwrap() };
        script.write(body);
        script
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("tirith")
    }

    fn write(&self, body: &str) {
        std::fs::write(self.path(), format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(self.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn policy(&self, fail_open: bool) -> Policy {
        let security =
            json!({"tirith_path": self.path(), "tirith_timeout": 1, "tirith_fail_open": fail_open});
        let settings = Settings::new(self.folder.path()).with_env([("PATH", "/usr/bin:/bin")]);
        Policy::of(&json!({"security": security}), &settings)
    }

    async fn says(&self, fail_open: bool) -> ScanAction {
        let policy = self.policy(fail_open);
        Tirith::default().scan("ls 'a b'", &policy.scanner).await.action
    }
}

#[tokio::test]
async fn the_exit_code_is_the_verdict() {
    let report =
        r#"echo '{"findings":[{"rule_id":"r","severity":"s","title":"t","description":"d"}]}'"#;
    for (body, open, closed) in [
        ("exit 0", ScanAction::Allow, ScanAction::Allow),
        (&format!("{report}; exit 1"), ScanAction::Block, ScanAction::Block),
        (&format!("{report}; exit 2"), ScanAction::Warn, ScanAction::Warn),
        ("echo junk; exit 1", ScanAction::Block, ScanAction::Block),
        ("exit 3", ScanAction::Allow, ScanAction::Block),
        ("kill -9 $$", ScanAction::Allow, ScanAction::Block),
        ("exec sleep 30", ScanAction::Allow, ScanAction::Block),
        (
            r#"echo '{"findings":[{"rule_id":"lookalike_tld","title":"x.app"}]}'; exit 2"#,
            ScanAction::Allow,
            ScanAction::Allow,
        ),
    ] {
        let script = Script::new(body);
        assert_eq!((script.says(true).await, script.says(false).await), (open, closed), "{body}");
    }
}

#[tokio::test]
async fn the_command_is_one_argument_and_nothing_is_on_stdin() {
    let script = Script::new(
        r#"[ "$1 $2 $3 $4 $5 $6" = "check --json --non-interactive --shell posix --" ] || exit 1
           [ "$7" = "ls 'a b'" ] || exit 1
           [ -z "$(cat)" ] || exit 1"#,
    );
    assert_eq!(script.says(false).await, ScanAction::Allow);
}

#[tokio::test]
async fn an_explicit_path_is_never_replaced() {
    let script = Script::new("exit 0");
    let scan = async |path: &str, env: &[(&str, &str)]| {
        let settings = Settings::new(script.folder.path()).with_env(env.iter().copied());
        let config = json!({"security": {"tirith_path": path, "tirith_fail_open": false}});
        let policy = Policy::of(&config, &settings);
        Tirith::default().scan("ls", &policy.scanner).await.action
    };
    let folder = script.folder.path().to_str().unwrap().to_owned();
    let path = [("PATH", folder.as_str())];
    assert_eq!(scan("tirith", &path).await, ScanAction::Allow);
    assert_eq!(scan("/nowhere/tirith", &path).await, ScanAction::Block);
    assert_eq!(scan("tirith", &[("PATH", "/nowhere")]).await, ScanAction::Block);
    // Beside the path there is a place of its own below the home.
    std::fs::create_dir(script.folder.path().join("bin")).unwrap();
    std::fs::rename(script.path(), script.folder.path().join("bin/tirith")).unwrap();
    assert_eq!(scan("tirith", &[("PATH", "/nowhere")]).await, ScanAction::Allow);
    assert_eq!(scan("tirith", &[("TIRITH_BIN", "/nowhere/t")]).await, ScanAction::Block);
    assert_eq!(scan("/nowhere/t", &[("TIRITH_ENABLED", "off")]).await, ScanAction::Allow);
}

#[tokio::test]
async fn a_scanner_that_keeps_failing_is_left_alone_but_still_closed() {
    for (fail_open, expected) in [(true, ScanAction::Allow), (false, ScanAction::Block)] {
        let script = Script::new("echo x >> \"$0.calls\"; exit 9");
        let (scanner, policy) = (Tirith::default(), script.policy(fail_open));
        for _ in 0..5 {
            assert_eq!(scanner.scan("ls", &policy.scanner).await.action, expected);
        }
        let calls = std::fs::read_to_string(script.folder.path().join("tirith.calls")).unwrap();
        assert_eq!(calls.lines().count(), 3);
    }
}

#[tokio::test]
async fn one_question_is_put_for_a_clean_looking_command() {
    let script = Script::new(
        r#"echo '{"findings":[{"rule_id":"homograph","severity":"HIGH","title":"Odd","description":"host"}]}'; exit 1"#,
    );
    let world = World::with_env(
        json!({}),
        &[("TIRITH_ENABLED", "1"), ("TIRITH_BIN", script.path().to_str().unwrap())],
    );
    let person = Person::new(Answer::NO);
    let gate = world.builder().prompter(person.clone()).build();
    let decision = decide(&gate, "curl https://x", &context(Surface::Cli, "s")).await;
    assert_eq!(decision.pattern_key(), Some("tirith:homograph"));
    assert!(!decision.approved && person.asked()[0].description.contains("[HIGH] Odd: host"));
    let cron = decide(&gate, "curl https://x", &context(Surface::Cron, "s")).await;
    assert!(!cron.approved && cron.message.unwrap().contains("cron_mode"));
}
