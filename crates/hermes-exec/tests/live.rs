//! Programs that are listened to while they run: streams, ends, terminals, and who is left.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::path::Path;
use std::time::Duration;

use hermes_exec::environment::{Exit, Running, Size, Stdin};
use hermes_exec::program::{Program, Streams, TAG};
use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const GRACE: Duration = Duration::from_millis(300);

fn bash(script: &str) -> Program {
    Program::new(["bash", "-c", script]).env([("PATH", "/usr/bin:/bin"), (TAG, &unique())])
}

fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("live-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

async fn all(running: &mut Running) -> String {
    let mut bytes = Vec::new();
    running.output.read_to_end(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Whether a process does anything still. Who collects orphans may take its time.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !matches!(stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next()), None | Some('Z'))
}

async fn has_ended(pid: &str) -> bool {
    for _ in 0..500 {
        if !is_alive(pid) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

async fn written(file: &Path) -> String {
    for _ in 0..500 {
        match std::fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("{} isn't written", file.display());
}

#[tokio::test]
async fn both_streams_are_one_in_order() {
    let mut running =
        bash("echo a; echo b >&2; echo c; exit 3").launch(Streams::default()).unwrap();
    assert_eq!(all(&mut running).await, "a\nb\nc\n");
    assert_eq!(running.handle.wait().await, Exit::Code(3));
    // Again: it is remembered by the system until the handle goes.
    assert_eq!(running.handle.wait().await, Exit::Code(3));
}

#[tokio::test]
async fn stderr_apart() {
    let streams = Streams { errors_apart: true, ..Streams::default() };
    let mut running = bash("echo a; echo b >&2").launch(streams).unwrap();
    let mut errors = String::new();
    running.errors.take().unwrap().read_to_string(&mut errors).await.unwrap();
    assert_eq!((all(&mut running).await.as_str(), errors.as_str()), ("a\n", "b\n"));
}

#[tokio::test]
async fn signals_are_codes_above_128() {
    let running = bash("kill -9 $$").launch(Streams::default()).unwrap();
    assert_eq!(running.handle.wait().await, Exit::Code(137));
}

#[tokio::test]
async fn what_is_read() {
    let streams = Streams { stdin: Stdin::Bytes(b"x".repeat(1 << 20)), ..Streams::default() };
    let mut running = bash("wc -c").launch(streams).unwrap();
    assert_eq!(all(&mut running).await.trim(), "1048576");
    let mut running = bash("cat").launch(Streams::default()).unwrap();
    assert_eq!(all(&mut running).await, "");
    let streams = Streams { stdin: Stdin::Open, ..Streams::default() };
    let mut running = bash("read x; echo got=$x; cat").launch(streams).unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"42\nrest").await.unwrap();
    drop(stdin);
    assert_eq!(all(&mut running).await, "got=42\nrest");
}

#[tokio::test]
async fn a_session_without_a_terminal() {
    let mut running =
        bash("ps -o sid= -p $$; echo $$; : </dev/tty").launch(Streams::default()).unwrap();
    let said = all(&mut running).await;
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    assert_eq!(lines[0], lines[1], "{said}");
    assert!(lines[2].contains("/dev/tty"), "{said}");
}

#[tokio::test]
async fn the_whole_tree_ends() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    // A child, one in a session of its own, and one that has left the tree.
    let script = format!(
        "exec >{0}.new; sleep 100 & echo $!; setsid bash -c 'trap \"\" TERM; echo $$; \
         while :; do sleep 1; done' & sleep 0.3; (setsid env -i sleep 100 & echo $!); \
         mv {0}.new {0}; wait",
        file.display()
    );
    let running = bash(&script).launch(Streams::default()).unwrap();
    let pids = written(&file).await;
    assert_eq!(pids.lines().count(), 3);
    running.handle.terminate(GRACE).await;
    for pid in pids.lines() {
        assert!(!is_alive(pid), "{pid} of {pids}");
    }
    assert_eq!(running.handle.wait().await, Exit::Code(143));
}

#[tokio::test]
async fn a_dropped_program_is_killed_and_a_released_one_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    for is_released in [false, true] {
        let file = dir.path().join(is_released.to_string());
        let script = format!("sleep 100 & echo $! >{}; wait", file.display());
        let running = bash(&script).launch(Streams::default()).unwrap();
        let pid = written(&file).await;
        if is_released {
            running.handle.release();
        }
        let leader = running.handle.pid().unwrap().number();
        drop(running);
        if is_released {
            assert!(is_alive(&pid));
            let kill = format!("kill {pid} {leader}").replace('\n', " ");
            Program::new(["bash", "-c", &kill]).env([("PATH", "/bin")]).run().await.unwrap();
        }
        assert!(has_ended(&pid).await);
    }
}

#[tokio::test]
async fn a_child_left_behind_holds_the_pipe_and_not_the_exit() {
    let running = bash("sleep 100 & echo $!").launch(Streams::default()).unwrap();
    assert_eq!(running.handle.wait().await, Exit::Code(0));
    // It is in the leader's session, and goes with it.
    drop(running);
}

#[tokio::test]
async fn a_terminal() {
    let streams = Streams { terminal: Some(Size { rows: 7, cols: 33 }), ..Streams::default() };
    let mut running = bash("test -t 0 && test -t 2; echo $?; stty size; read x; stty size; cat")
        .launch(streams)
        .unwrap();
    let mut stdin = running.stdin.take().unwrap();
    let mut said = String::new();
    while !said.contains("7 33") {
        let mut chunk = [0; 100];
        let count = running.output.read(&mut chunk).await.unwrap();
        said.push_str(std::str::from_utf8(&chunk[..count]).unwrap());
    }
    assert!(said.starts_with("0\r\n"), "{said:?}");
    running.handle.resize(Size { rows: 8, cols: 44 }).unwrap();
    stdin.write_all(b"\nbye\n\x04").await.unwrap();
    let rest = all(&mut running).await;
    assert!(rest.contains("8 44") && rest.contains("bye"), "{rest:?}");
    assert_eq!(running.handle.wait().await, Exit::Code(0));
    assert!(running.handle.resize(Size::default()).is_ok());
    let plain = bash("true").launch(Streams::default()).unwrap();
    assert!(plain.handle.resize(Size::default()).is_err());
}

#[tokio::test]
async fn no_zombies() {
    for _ in 0..50 {
        let running = bash("true").launch(Streams::default()).unwrap();
        let pid = running.handle.pid().unwrap().number();
        running.handle.wait().await;
        drop(running);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
}
