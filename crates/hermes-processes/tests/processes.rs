//! Processes from their start to their end, run for real.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{Size, Stdin};
use hermes_exec::local::Local;
use hermes_exec::session::{Background, Initial, Session};
use hermes_processes::{
    EventKind, InputError, Killed, Options, Process, Processes, Reason, Recipient, Routing, Source,
    Spawn, Waited,
};
use pretty_assertions::assert_eq;

const LONG: Duration = Duration::from_secs(20);

struct Machine {
    dir: tempfile::TempDir,
    session: Session,
    processes: Arc<Processes>,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let environment = Local::new(hermes_exec::local::Options {
            env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
            cwd: PathBuf::from("/"),
            temp_dir: dir.path().to_owned(),
            memory_dir: None,
            ..Default::default()
        });
        let session = Session::new(Arc::new(environment), Initial::default());
        let processes = Self::processes(&dir);
        Self { dir, session, processes }
    }

    fn processes(dir: &tempfile::TempDir) -> Arc<Processes> {
        Processes::new(Options {
            home: Some(dir.path().join("home")),
            grace: Duration::from_millis(300),
            mask: Arc::new(|_, text| text.replace("hunter2", "***")),
        })
    }

    async fn spawn_with(&self, command: &str, more: impl FnOnce(&mut Spawn)) -> Arc<Process> {
        self.spawn_on(command, None, more).await
    }

    async fn spawn_on(
        &self,
        command: &str,
        terminal: Option<Size>,
        more: impl FnOnce(&mut Spawn),
    ) -> Arc<Process> {
        let background = Background {
            command: command.to_owned(),
            cwd: "/".to_owned(),
            env: Vec::new(),
            stdin: Stdin::Open,
            terminal,
        };
        let mut spawn = Spawn {
            running: self.session.spawn(background).await.unwrap(),
            lease: None,
            command: command.to_owned(),
            cwd: "/".to_owned(),
            task: "task".to_owned(),
            session_key: "key".to_owned(),
            routing: Routing::default(),
            terminal,
            notify: false,
            patterns: Vec::new(),
        };
        more(&mut spawn);
        self.processes.take(spawn).await
    }

    async fn spawn(&self, command: &str) -> Arc<Process> {
        self.spawn_with(command, |_| {}).await
    }
}

async fn end(process: &Process) -> (Option<i32>, Reason) {
    match process.wait(LONG, std::future::pending()).await {
        Waited::Ended(ended) => (ended.code, ended.reason),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_life() {
    let machine = Machine::new();
    let process = machine.spawn("echo one; sleep 0.3; echo two; exit 4").await;
    assert!(process.id().starts_with("proc_") && process.id().len() == 17);
    assert_eq!(process.wait(Duration::ZERO, std::future::pending()).await, Waited::TimedOut);
    assert_eq!(process.wait(LONG, std::future::ready(())).await, Waited::Interrupted);
    assert_eq!(end(&process).await, (Some(4), Reason::Exited));
    assert_eq!(process.preview(1000), "one\ntwo\n");
    assert_eq!(process.new_output().text, "one\ntwo\n");
    assert_eq!(process.new_output().text, "");
    assert!(matches!(process.kill(Source::ProcessKill).await, Killed::AlreadyExited(_)));
    assert!(matches!(process.write(b"x").await, Err(InputError::Ended(_))));
    assert_eq!(std::fs::read(process.log().unwrap()).unwrap(), b"one\ntwo\n");
    assert!(machine.processes.get(process.id()).is_some());
    assert!(machine.processes.get("proc_nope").is_none());
}

#[tokio::test]
async fn the_whole_tree_is_killed() {
    let machine = Machine::new();
    let process = machine.spawn("echo $$; setsid sleep 100 & sleep 200").await;
    let Killed::Killed(ended) = process.kill(Source::ProcessKill).await else { panic!() };
    assert_eq!((ended.code, ended.source), (Some(-15), Source::ProcessKill));
    let text = std::fs::read_to_string(machine.dir.path().join("home/processes.json")).unwrap();
    assert_eq!(text, "[]");
}

#[tokio::test]
async fn input() {
    let machine = Machine::new();
    let process = machine.spawn("read x; echo got=$x; cat | tr a-z A-Z").await;
    assert_eq!(process.write(b"42\n").await.unwrap(), 3);
    assert_eq!(process.write("häl".as_bytes()).await.unwrap(), 4);
    process.close_input().await.unwrap();
    assert!(matches!(process.write(b"x").await, Err(InputError::Closed | InputError::Ended(_))));
    assert_eq!(end(&process).await, (Some(0), Reason::Exited));
    assert_eq!(process.preview(100), "got=42\nHäL");
}

#[tokio::test]
async fn a_terminal_with_a_screen() {
    let machine = Machine::new();
    let size = Size { rows: 5, cols: 40 };
    let command = "stty size; printf '\\033[?1049h\\033[2J\\033[2;3Hmenu'; read x; stty size; cat";
    let process = machine.spawn_on(command, Some(size), |_| {}).await;
    for _ in 0..500 {
        if process.screen().unwrap().0.contains("menu") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (text, cursor, is_full) = process.screen().unwrap();
    assert_eq!((text.as_str(), cursor, is_full), ("\n  menu", (1, 6), true));
    assert!(process.preview(1000).contains("5 40"));
    process.resize(Size { rows: 6, cols: 50 }).unwrap();
    process.write(b"\n").await.unwrap();
    process.close_input().await.unwrap();
    assert_eq!(end(&process).await, (Some(0), Reason::Exited));
    assert!(process.preview(1000).contains("6 50"), "{}", process.preview(1000));
}

#[tokio::test]
async fn ends_and_patterns_are_told_once() {
    let machine = Machine::new();
    let told = machine.spawn_with("echo hunter2; exit 1", |it| it.notify = true).await;
    let watched = machine
        .spawn_with("printf 'REA'; sleep 0.1; echo DY hunter2; sleep 0.2", |it| {
            it.patterns = vec!["READY".to_owned()];
        })
        .await;
    let silent = machine.spawn("true").await;
    for process in [&told, &watched, &silent] {
        let mut ended = false;
        for _ in 0..1000 {
            ended = ended || process.ended().is_some();
            tokio::time::sleep(Duration::from_millis(if ended { 0 } else { 10 })).await;
        }
        assert!(ended);
    }
    assert_eq!(machine.processes.drain(Recipient::Session("other")), []);
    let mut events = machine.processes.drain(Recipient::Session("key"));
    events.sort_by_key(|event| event.kind.as_str());
    let [completion, matched] = &*events else { panic!("{events:?}") };
    let EventKind::Completion { exit_code, output, .. } = &completion.kind else { panic!() };
    assert_eq!((*exit_code, output.as_str()), (Some(1), "***\n"));
    assert_eq!(completion.command, "echo ***; exit 1");
    let EventKind::WatchMatch { output, .. } = &matched.kind else { panic!() };
    assert_eq!(output, "READY ***");
    assert_eq!(machine.processes.drain(Recipient::All), []);
    // Whoever waited for it needs no news.
    let waited = machine.spawn_with("sleep 0.1", |it| it.notify = true).await;
    end(&waited).await;
    machine.processes.consume(&waited);
    assert_eq!(machine.processes.drain(Recipient::All), []);
}

#[tokio::test]
async fn a_process_that_leaves_something_behind_has_ended() {
    let machine = Machine::new();
    let process = machine.spawn("sleep 30 & echo $!").await;
    assert_eq!(end(&process).await, (Some(0), Reason::Exited));
    machine
        .spawn(&format!("kill {}", process.preview(100)))
        .await
        .wait(LONG, std::future::pending())
        .await;
}

#[tokio::test]
async fn what_runs_is_found_again() {
    let machine = Machine::new();
    let process = machine.spawn("echo before hunter2; exec sleep 100").await;
    let pid = process.pid().unwrap().number();
    while process.preview(100).is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let list = machine.dir.path().join("home/processes.json");
    let saved = std::fs::read_to_string(&list).unwrap();
    assert!(saved.contains("before ***") && saved.contains("\"host\""), "{saved}");
    // As if another run of the program had left it: nobody looks after it.
    let orphaned =
        saved.replace(&format!("\"owner_pid\": {}", std::process::id()), "\"owner_pid\": 0");
    let other = orphaned.replace(process.id(), "proc_0123456789ab").replacen(
        &format!("\"pid\": {pid}"),
        "\"pid\": 1",
        1,
    );
    let both = format!(
        "{},{}",
        orphaned.trim_end().trim_end_matches(']'),
        other.trim_start().trim_start_matches('[')
    );
    std::fs::write(&list, both).unwrap();
    let later = Machine::processes(&machine.dir);
    later.recover();
    let all = later.all();
    // The other one's number is in use, by a process that was started at another time.
    assert_eq!(all.len(), 1);
    let found = &all[0];
    assert!(found.is_detached() && found.ended().is_none());
    assert_eq!(found.preview(100), "before hunter2\n");
    assert!(matches!(found.write(b"x").await, Err(InputError::Detached)));
    let Killed::Killed(_) = found.kill(Source::ProcessKill).await else { panic!() };
    assert_eq!(end(&process).await, (Some(143), Reason::Exited));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_ended_ones_left_running_is_ended_too() {
    let machine = Machine::new();
    let process = machine.spawn("sleep 600 >/dev/null 2>&1 & echo $!").await;
    end(&process).await;
    // Not while it becomes another program, when it has no variables.
    while process.leftovers().await != 1 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let pid: u32 = process.preview(100).trim().parse().unwrap();
    let left = hermes_exec::program::Stranger::now(pid).unwrap();
    assert!(left.is_alive());
    assert_eq!(machine.processes.kill_all(Some("other")).await, 0);
    assert!(left.is_alive());
    assert_eq!(machine.processes.kill_all(None).await, 0);
    assert!(!left.is_alive());
    assert_eq!(process.leftovers().await, 0);
}

#[tokio::test]
async fn all_are_ended_and_the_oldest_ended_are_forgotten() {
    let machine = Machine::new();
    let first = machine.spawn("true").await;
    end(&first).await;
    for _ in 0..3 {
        machine.spawn("sleep 100").await;
    }
    assert!(machine.processes.is_busy("task", LONG) && !machine.processes.is_busy("other", LONG));
    assert_eq!(machine.processes.kill_all(Some("other")).await, 0);
    assert_eq!(machine.processes.kill_all(None).await, 3);
    for _ in 0..61 {
        machine.spawn("true").await;
    }
    assert!(machine.processes.get(first.id()).is_none());
    assert!(!first.log().unwrap().exists());
}
