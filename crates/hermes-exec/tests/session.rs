//! What goes from one command of a session to the next, and what doesn't.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::Stdin;
use hermes_exec::local::{Local, Options};
use hermes_exec::session::{Ended, Finished, Foreground, Initial, Session};
use pretty_assertions::assert_eq;

pub(crate) struct Machine {
    dir: tempfile::TempDir,
    session: Session,
    env: Vec<(String, String)>,
}

/// The time before each command. With `standby.rs` around this file there is enough for a shell that
/// waits for it.
pub(crate) fn pause() -> Duration {
    Duration::from_millis(if module_path!().starts_with("standby") { 60 } else { 0 })
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self::with(Initial::default(), &[])
    }

    fn with(initial: Initial, more: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        for folder in ["home", "tmp"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let mut env = vec![
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), home.display().to_string()),
        ];
        env.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let environment = Local::new(Options {
            env,
            cwd: home,
            temp_dir: dir.path().join("tmp"),
            memory_dir: None,
            home: None,
            confine: None,
        });
        Self { dir, session: Session::new(Arc::new(environment), initial), env: Vec::new() }
    }

    pub(crate) fn home(&self) -> String {
        self.dir.path().join("home").canonicalize().unwrap().display().to_string()
    }

    async fn finish(&self, command: Foreground) -> (String, Finished) {
        tokio::time::sleep(pause()).await;
        self.finish_at_once(command).await
    }

    pub(crate) async fn finish_at_once(&self, command: Foreground) -> (String, Finished) {
        let mut said = Vec::new();
        let command = Foreground { env: self.env.clone(), ..command };
        let mut take = |bytes: &[u8]| said.extend_from_slice(bytes);
        let finished = self.session.run(command, &mut take, std::future::pending()).await.unwrap();
        (String::from_utf8_lossy(&said).into_owned(), finished)
    }

    async fn run_in(&self, cwd: &str, command: &str) -> (String, i32, Option<String>) {
        let (said, finished) = self.finish(Foreground::new(command, cwd)).await;
        let Ended::Exited(code) = finished.ended else { panic!("{finished:?}") };
        (said, code, finished.cwd)
    }

    pub(crate) async fn run(&self, command: &str) -> (String, i32) {
        let (said, code, _) = self.run_in(&self.home(), command).await;
        (said, code)
    }
}

pub(crate) fn said(text: &str) -> (String, i32) {
    (text.to_owned(), 0)
}

#[tokio::test]
async fn state_goes_from_command_to_command() {
    let machine = Machine::new();
    for (first, second, expected) in [
        ("export A=1", "echo $A", "1\n"),
        ("unset A", "echo [$A]", "[]\n"),
        ("export NL=$'a\\nb \"q\"'", "echo \"$NL\"", "a\nb \"q\"\n"),
        ("f() { echo fn:$1; }; alias ll='echo al'", "f x; ll", "fn:x\nal\n"),
        ("unalias ll; unset -f f", "type ll f 2>&1 | grep -c 'not found'", "2\n"),
        ("set -f; shopt -s nullglob", "echo *; set +f; echo /none/*", "*\n\n"),
        ("umask 027", "umask", "0027\n"),
        ("plain=1", "echo \"[$plain]\"", "[]\n"),
        ("alias eval=false builtin=false cd=false", "echo fine", "fine\n"),
        ("cd() { echo mine; }; export() { echo no; }", "cd /usr; pwd", "mine\nHOME\n"),
        ("unset -f cd export; declare -rx RO=1", "echo $RO; RO=2; echo x", "1\n"),
        ("set -o posix", "echo posix", "posix\n"),
    ] {
        machine.run(first).await;
        let expected = expected.replace("HOME", &machine.home());
        let (said, _) = machine.run(second).await;
        let said: String =
            said.split_inclusive('\n').filter(|it| !it.contains("readonly")).collect();
        assert_eq!(said, expected, "{first} => {second}");
    }
}

#[tokio::test]
async fn ends_don_t_lose_it() {
    let machine = Machine::new();
    for (command, code) in [
        ("export N=1; cd /usr && exit 3", 3),
        ("export N=2; cd /usr; set -e; false; echo no", 1),
        ("export N=3; cd /usr; set -u; echo $nothing_there; echo no", 127),
        ("export N=4; cd /usr; f() { exit 4; }; f", 4),
        ("export N=5; cd /usr; trap 'echo bye' EXIT; exit 5", 5),
        ("export N=6; cd /usr; trap 'exit 9' EXIT; exit 5", 9),
        ("export N=7; cd /usr; enable -n printf declare export echo pwd", 0),
        ("export N=8; cd /usr; kill -TERM $$; sleep 1", 143),
    ] {
        let (said, got, cwd) = machine.run_in(&machine.home(), command).await;
        assert_eq!(got, code, "{command}: {said}");
        assert_eq!(cwd.as_deref(), Some("/usr"), "{command}");
        let number = command.split(['=', ';']).nth(1).unwrap();
        assert_eq!(machine.run("echo $N; set +eu").await, (format!("{number}\n"), 0), "{command}");
    }
    // These can't tell, and harm nothing.
    for (command, code) in
        [("exec true", 0), ("kill -9 $$", 137), ("exec >/dev/null; cd /usr", 0), ("if", 2)]
    {
        assert_eq!(machine.run(command).await.1, code, "{command}");
        assert_eq!(machine.run("echo $N").await, said("8\n"), "{command}");
    }
}

#[tokio::test]
async fn traps_of_the_command_run_after_the_state_was_saved() {
    let machine = Machine::new();
    for (command, expected) in [
        ("trap 'echo bye' EXIT; echo hi", "hi\nbye\n"),
        ("trap 'echo $?' EXIT; (exit 7)", "7\n"),
        ("trap 'echo a' EXIT; trap - EXIT; echo b", "b\n"),
        ("trap 'echo a' 0; trap 'echo b' EXIT", "b\n"),
        ("(trap 'echo in' EXIT; echo x); echo out", "x\nin\nout\n"),
        ("trap 'echo int' INT EXIT; kill -INT $$; echo on", "int\non\nint\n"),
        ("trap 'echo q' EXIT; trap -p EXIT", "trap -- 'echo q' EXIT\nq\n"),
    ] {
        let (said, _) = machine.run(command).await;
        assert_eq!(said.replace("echo\\ q", "'echo q'"), expected, "{command}");
    }
    // Nothing of it stays.
    let (said, _) = machine.run("type trap; declare -F").await;
    assert_eq!(said, "trap is a shell builtin\ndeclare -f __hermes_end\n");
}

#[tokio::test]
async fn a_spoilt_path_and_large_things() {
    let machine = Machine::new();
    machine.run("export PATH=/nonexistent").await;
    assert_eq!(machine.run("export X=1; echo $PATH").await, said("/nonexistent\n"));
    assert_eq!(machine.run("echo $X").await, said("1\n"));
    machine.run("unset PATH").await;
    assert_eq!(
        machine.run("echo $X; ls / >/dev/null && echo ls").await.0.lines().next(),
        Some("1")
    );
    let machine = Machine::new();
    // One value of more than a program may be given.
    machine.run("export BIG=$(head -c 1000000 /dev/zero | tr '\\0' x)").await;
    assert_eq!(machine.run("echo ${#BIG}; export Y=2").await, said("1000000\n"));
    assert_eq!(machine.run("unset BIG; echo $Y").await, said("2\n"));
    let long = format!("x='{}'; echo ${{#x}}", "y".repeat(1 << 20));
    assert_eq!(machine.run(&long).await, said("1048576\n"));
}

#[tokio::test]
async fn streams_and_input() {
    let machine = Machine::new();
    assert_eq!(machine.run("printf 'no newline'").await, said("no newline"));
    assert_eq!(machine.run("echo out; echo err >&2").await, said("out\nerr\n"));
    assert_eq!(machine.run("cat; test -t 0; echo $?").await, said("1\n"));
    let stdin = Stdin::Bytes(b"given".to_vec());
    let (text, _) = machine.finish(Foreground { stdin, ..Foreground::new("cat", "/") }).await;
    assert_eq!(text, "given");
}

#[tokio::test]
async fn traces_are_those_of_the_command() {
    let machine = Machine::new();
    assert_eq!(machine.run("set -x").await, said(""));
    let (text, _) = machine.run("echo a; cd /usr").await;
    assert_eq!(text, "++ echo a\na\n++ cd /usr\n");
    let (text, _) = machine.run("set +x; echo b").await;
    assert_eq!(text, "++ set +x\nb\n");
    assert_eq!(machine.run("echo c").await, said("c\n"));
}

#[tokio::test]
async fn folders() {
    let machine = Machine::new();
    let (text, finished) = machine.finish(Foreground::new("echo ran", "/nope")).await;
    assert!(!finished.is_entered && !text.contains("ran"), "{finished:?} {text}");
    assert_eq!(finished.ended, Ended::Exited(126));
    let (text, _, cwd) = machine.run_in("~", "pwd").await;
    assert_eq!((text.trim(), cwd.as_deref()), (&*machine.home(), Some(&*machine.home())));
    let (_, _, cwd) = machine.run_in("/", "mkdir -p ~/'a b'/c; cd ~/'a b'/c; echo $PWD").await;
    assert_eq!(cwd, Some(format!("{}/a b/c", machine.home())));
    for (command, has_moved) in [("true", false), ("cd bin; cd ..", false), ("cd /", true)] {
        let (_, finished) = machine.finish(Foreground::new(command, "/usr")).await;
        assert_eq!(finished.has_moved, has_moved, "{command}");
    }
    let (text, _, _) = machine.run_in("/usr", "echo $PWD").await;
    assert_eq!(text, "/usr\n");
}

#[tokio::test]
async fn own_variables_of_a_command_are_not_the_session_s() {
    let mut machine = Machine::new();
    machine.env = vec![("HERMES_SESSION_ID".to_owned(), "one".to_owned())];
    assert_eq!(machine.run("echo $HERMES_SESSION_ID; export Z=1").await, said("one\n"));
    machine.env.clear();
    assert_eq!(machine.run("echo [$HERMES_SESSION_ID$Z]").await, said("[1]\n"));
}

#[tokio::test]
async fn initial_files() {
    let initial =
        Initial { files: vec!["~/.profile".into(), "${HOME}/rc".into()], ..Initial::default() };
    let machine = Machine::with(initial, &[("KEEP", "kept")]);
    std::fs::write(Path::new(&machine.home()).join(".profile"), "export P=1; echo noise").unwrap();
    std::fs::write(Path::new(&machine.home()).join("rc"), "greet() { echo hi; }; exit 3").unwrap();
    assert_eq!(machine.run("echo $P $KEEP; greet").await, said("1 kept\nhi\n"));
}

#[tokio::test]
async fn a_late_command_is_ended_with_everything() {
    let machine = Machine::new();
    let slow = Foreground {
        timeout: Some(Duration::from_millis(300)),
        ..Foreground::new(
            "echo first; setsid sleep 100 & echo $! >~/pid; sleep 100",
            machine.home(),
        )
    };
    let (text, finished) = machine.finish(slow).await;
    assert_eq!((text.as_str(), finished.ended), ("first\n", Ended::TimedOut));
    let pid = std::fs::read_to_string(Path::new(&machine.home()).join("pid")).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert_eq!(machine.run("echo ok").await, said("ok\n"));
    let mut nothing = |_: &[u8]| {};
    let stopped = machine
        .session
        .run(Foreground::new("sleep 100", "/"), &mut nothing, std::future::ready(()))
        .await
        .unwrap();
    assert_eq!(stopped.ended, Ended::Interrupted);
}

#[tokio::test]
async fn what_is_left_behind_isn_t_waited_for() {
    let machine = Machine::new();
    let (text, code) = machine.run("sleep 30 & echo started $!").await;
    assert_eq!(code, 0);
    let pid = text.trim().rsplit(' ').next().unwrap();
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "{text}");
    machine.run(&format!("kill {pid}")).await;
}

#[tokio::test]
async fn commands_at_the_same_time() {
    let machine = Machine::new();
    machine.run("export A=0").await;
    let slow = machine.run("sleep 0.5; echo $A");
    let quick = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        machine.run("export A=1").await
    };
    let (slow, _) = tokio::join!(slow, quick);
    assert_eq!(slow, said("0\n"));
    // The slow one changed nothing, so it undid nothing.
    assert_eq!(machine.run("echo $A").await, said("1\n"));
    let many = (0..40).map(|n| {
        let machine = &machine;
        async move { machine.run(&format!("export V{n}={n}; echo {n}")).await }
    });
    let all = futures_util::future::join_all(many).await;
    assert!(all.iter().enumerate().all(|(n, got)| *got == said(&format!("{n}\n"))), "{all:?}");
}

#[tokio::test]
async fn a_folder_that_somebody_removed_is_made_anew() {
    let machine = Machine::new();
    let (home, folder) = (machine.home(), machine.session.folder().to_owned());
    machine.run("A=1; export B=2; f() { echo \"f$B\"; }").await;
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(machine.run("f; cd /").await, said("f2\n"));
    let (text, finished) = machine
        .finish(Foreground::new("B=3; rm -r \"${TMPDIR:-$HOME/../tmp}\"/hermes-*", &home))
        .await;
    assert_eq!((&*text, finished.ended, finished.is_kept), ("", Ended::Exited(0), false));
    assert_eq!(machine.run("f; B=4").await, said("f2\n"));
    std::fs::remove_dir_all(&folder).unwrap();
    let (text, finished) = machine.finish(Foreground::new("f; cd /", home)).await;
    assert_eq!((&*text, finished.is_kept, finished.is_new), ("f4\n", true, false));
    assert_eq!(finished.cwd.as_deref(), Some("/"));
}

#[tokio::test]
async fn nothing_is_left_in_the_temporary_folder() {
    let machine = Machine::new();
    machine.run("true").await;
    let Machine { dir, session, .. } = machine;
    assert_eq!(session.environment().kind(), "local");
    drop(session);
    assert_eq!(std::fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0);
}
