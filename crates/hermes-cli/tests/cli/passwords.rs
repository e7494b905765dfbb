//! The question for sudo's password, on a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use hermes_exec::environment::{Running, Size, Stdin};
use hermes_exec::program::{Program, Streams};
use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::World;

/// Knows one password, and takes it from the helper only.
const SUDO: &str = r#"case $1 in
-n) exit 1 ;;
-A) shift ;;
*) echo "sudo: a terminal is required to read the password" >&2; exit 1 ;;
esac
[ "$("$SUDO_ASKPASS")" = "open sesame" ] || { echo "sudo: 1 incorrect password attempt" >&2; exit 1; }
exec "$@""#;

/// What a terminal showed so far.
struct Screen {
    running: Running,
    shown: String,
}

impl World {
    /// Runs `script` of sh on a terminal. `$H` there is the program.
    fn screen(&self, script: &str) -> Screen {
        let bin = self.home.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let sudo = bin.join("sudo");
        fs::write(&sudo, format!("#!/bin/sh\n{SUDO}\n")).unwrap();
        fs::set_permissions(&sudo, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(self.config_path(), "approvals: {mode: 'off'}\n").unwrap();
        // What a login sets may be another path.
        let profile = format!("PATH={}:$PATH\n", bin.display());
        fs::write(self.cwd().join(".profile"), profile).unwrap();
        let text = |path: &std::path::Path| path.display().to_string();
        let hermes = text(assert_cmd::cargo::cargo_bin!("hermes"));
        let program = Program::new(["bash", "-m", "-c", script]).cwd(self.cwd()).env([
            ("PATH", "/usr/bin:/bin"),
            ("HERMES_HOME", &text(self.home.path())),
            ("HOME", &text(self.cwd())),
            ("TERM", "dumb"),
            ("H", &hermes),
        ]);
        let terminal = Some(Size::default());
        let streams = Streams { stdin: Stdin::Open, terminal, ..Streams::default() };
        Screen { running: program.launch(streams).unwrap(), shown: String::new() }
    }
}

impl Screen {
    async fn until(&mut self, text: &str) {
        let waiting = async {
            let mut chunk = [0; 4096];
            while !self.shown.contains(text) {
                let count = self.running.output.read(&mut chunk).await.unwrap_or(0);
                assert!(count > 0, "the end came before `{text}`: {}", self.shown);
                self.shown.push_str(&String::from_utf8_lossy(chunk.get(..count).unwrap()));
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(60), waiting).await;
        assert!(waited.is_ok(), "no `{text}`: {}", self.shown);
    }

    async fn types(&mut self, text: &str) {
        self.running.stdin.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }
}

/// Calls a command by sudo, then shows the code and whether the terminal has its echo.
const CALL: &str = r#""$H" -q call terminal '{"command":"echo early; sudo echo done"}'; echo "code $?"
case $(stty -a) in *" -echo "*) echo mute ;; *) echo echoes ;; esac; echo end"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_password_is_typed_unseen() {
    let world = World::new();
    let mut screen = world.screen(CALL);
    screen.until("Password").await;
    screen.until("): ").await;
    screen.types("open sesame\n").await;
    screen.until("end").await;
    assert!(screen.shown.contains("  echo early; sudo echo done"), "{}", screen.shown);
    assert!(screen.shown.contains("early\\ndone") && screen.shown.contains("code 0"));
    assert!(screen.shown.contains("echoes") && !screen.shown.contains("sesame"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_out_brings_the_echo_back() {
    for (typed, code) in [("\u{3}", 130), ("\n", 0), ("\u{4}", 0), ("wrong\n", 0)] {
        let world = World::new();
        let mut screen = world.screen(CALL);
        screen.until("): ").await;
        screen.types(typed).await;
        screen.until("end").await;
        assert!(screen.shown.contains(&format!("code {code}")), "{typed:?}: {}", screen.shown);
        assert!(screen.shown.contains("echoes"), "{typed:?}: {}", screen.shown);
        assert_eq!(screen.shown.contains("early\\n"), typed != "\u{3}", "{}", screen.shown);
        let is_wrong = screen.shown.contains("sudo_auth_failed");
        assert_eq!(is_wrong, typed == "wrong\n", "{typed:?}: {}", screen.shown);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_from_outside_the_program_leaves_the_terminal_as_it_was() {
    // Whose number is in the file `pid`.
    let noted = r#"bash -c 'echo $$ >pid; exec "$0" "$@"' "$H""#;
    for signals in ["-TERM", "-HUP", "-TERM -TERM"] {
        let world = World::new();
        let signals: String =
            signals.split(' ').map(|it| format!("kill {it} $(cat pid); sleep 0.1; ")).collect();
        let other = format!("(until [ -e go ]; do sleep 0.05; done; {signals}) 2>/dev/null &");
        let mut screen = world.screen(&format!("{other}{}", CALL.replace("\"$H\"", noted)));
        screen.until("): ").await;
        fs::write(world.cwd().join("go"), "").unwrap();
        screen.until("end").await;
        assert!(screen.shown.contains("echoes"), "{signals}: {}", screen.shown);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_in_the_background_asks_nobody() {
    let world = World::new();
    let mut screen = world.screen(&format!("{{ {CALL}; }} & wait; echo over"));
    screen.until("over").await;
    assert!(screen.shown.contains("terminal is required"), "{}", screen.shown);
    assert!(!screen.shown.contains("Password"), "{}", screen.shown);
}
