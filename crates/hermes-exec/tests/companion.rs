//! Companions that end badly, or don't want to.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::time::Duration;

use hermes_exec::program::{Ended, Program, StartError};
use pretty_assertions::assert_eq;

const LONG: Duration = Duration::from_secs(60);

fn sh(script: &str) -> Program {
    Program::new(["sh", "-c", script]).env([("PATH", "/usr/bin:/bin")])
}

/// Waits until nothing, not even a zombie, has the number.
fn is_gone(pid: &str) -> bool {
    for _ in 0..1000 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
        // An orphan's zombie is collected by the init process, and not every container has one.
        if matches!(state, None | Some('Z' | 'X')) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn it_is_talked_to_and_ends() {
    let (companion, mut pipes) = sh("read a; echo \"<$a>\"; read b; exit 7").companion().unwrap();
    pipes.stdin.write_all(b"one\n").unwrap();
    let mut reader = BufReader::new(pipes.stdout);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "<one>\n");
    assert_eq!(companion.wait(Duration::ZERO), None);
    drop(pipes.stdin);
    assert_eq!(companion.wait(LONG), Some(Ended::Exited(7)));
    // Again and again.
    assert_eq!(companion.wait(Duration::ZERO), Some(Ended::Exited(7)));
    companion.kill();
}

#[test]
fn nothing_is_left_when_it_is_dropped() {
    // Neither of the two listens to anything but SIGKILL.
    let script =
        "trap '' TERM HUP; sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1; done' &
        echo $$; while :; do sleep 1; done";
    let (companion, pipes) = sh(script).companion().unwrap();
    let mut lines = BufReader::new(pipes.stdout).lines();
    let pids = [lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap()];
    drop(companion);
    assert!(pids.iter().all(|pid| is_gone(pid)), "{pids:?}");
}

#[test]
fn helpers_of_one_that_ended_end_too() {
    let (companion, pipes) = sh("sh -c 'echo $$; exec sleep 600' & sleep 0.2").companion().unwrap();
    let mut reader = BufReader::new(pipes.stdout);
    let mut pid = String::new();
    reader.read_line(&mut pid).unwrap();
    assert_eq!(companion.wait(LONG), Some(Ended::Exited(0)));
    assert!(is_gone(pid.trim()));
    // Nobody holds the pipe any more.
    assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[test]
fn a_killed_one_frees_who_writes_to_it() {
    let (companion, mut pipes) = sh("sleep 600").companion().unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || pipes.stdin.write_all(&vec![0; 8 * 1024 * 1024]));
        companion.kill();
        assert!(writer.join().unwrap().is_err());
    });
    assert_eq!(companion.wait(LONG), Some(Ended::Signaled(9)));
}

#[test]
fn what_cant_be_started_is_told() {
    let missing = Program::new(["no-such-program"]).companion().map(|_| ());
    assert!(matches!(missing, Err(StartError::NotFound { .. })), "{missing:?}");
    let nowhere = sh("true").cwd("/no/such/folder").companion().map(|_| ());
    assert!(matches!(nowhere, Err(StartError::NoFolder { .. })), "{nowhere:?}");
}
