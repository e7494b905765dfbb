//! Programs that behave badly, run for real.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec::program::{Ended, Program, StartError, find};
use pretty_assertions::assert_eq;

const MIB: usize = 1024 * 1024;

fn sh(script: &str) -> Program {
    Program::new(["sh", "-c", script]).env([("PATH", "/usr/bin:/bin")])
}

/// Waits until nothing runs under a process number any more. A dead process that its parent has
/// not collected counts as gone: an orphan's parent is none of ours.
async fn is_gone(pid: &str) -> bool {
    for _ in 0..500 {
        // The state is behind the name, which is in brackets.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
        if matches!(state, None | Some('Z' | 'X')) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

async fn pid_in(file: &Path) -> String {
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            return text.trim().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_it_says_and_how_it_ends_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    let finished = sh("cat; pwd; echo \"$A-$HOME\" >&2; printf '\\377'; exit 3")
        .env([("PATH", "/usr/bin:/bin"), ("A", "b")])
        .cwd(&folder)
        .stdin("in\n")
        .run()
        .await
        .unwrap();
    assert_eq!(finished.ended, Ended::Exited(3));
    let expected = [b"in\n".as_slice(), folder.to_str().unwrap().as_bytes(), b"\n\xff"].concat();
    assert_eq!(finished.stdout.bytes, expected);
    assert_eq!(finished.stderr.text(), "b-\n");
    assert_eq!(sh("kill -9 $$").run().await.unwrap().ended, Ended::Signaled(9));
}

#[tokio::test]
async fn more_than_is_kept_is_read_and_counted() {
    let five = 5 * MIB as u64;
    let script = "head -c 5242880 /dev/zero; head -c 5242880 /dev/zero >&2";
    let finished = sh(script).capture(MIB).run().await.unwrap();
    assert_eq!(finished.ended, Ended::Exited(0));
    for output in [finished.stdout, finished.stderr] {
        assert_eq!((output.bytes.len(), output.dropped), (MIB, five - MIB as u64));
    }
    // Reading and writing at once: the program answers before it has read everything.
    let echo = Program::new(["cat"]).stdin(vec![7; 5 * MIB]).capture(5 * MIB).run().await.unwrap();
    assert!(echo.stdout.bytes == vec![7; 5 * MIB] && echo.stdout.dropped == 0);
}

#[tokio::test]
async fn nobody_waits_for_a_reader_or_for_those_left_behind() {
    let finished = sh("exit 0").stdin(vec![0; 5 * MIB]).run().await.unwrap();
    assert_eq!(finished.ended, Ended::Exited(0));
    let finished = sh("exec <&-; echo done").stdin(vec![0; 5 * MIB]).run().await.unwrap();
    assert_eq!(finished.stdout.text(), "done\n");

    let finished = sh("sleep 600 & echo $!").run().await.unwrap();
    assert_eq!(finished.ended, Ended::Exited(0));
    let left = finished.stdout.text().trim().to_owned();
    assert!(Path::new(&format!("/proc/{left}")).exists(), "what is left behind goes on");
    let kill = Program::new(["kill", &left]).run().await.unwrap();
    assert_eq!(kill.ended, Ended::Exited(0));
}

#[tokio::test]
async fn a_time_limit_ends_the_whole_group() {
    for script in [
        "sleep 600 & echo $!; wait",
        // Nobody listens to a polite request.
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done'; :",
        // The leader goes, its child doesn't want to.
        "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait",
    ] {
        let finished = sh(script).timeout(Duration::from_millis(300)).run().await.unwrap();
        assert_eq!(finished.ended, Ended::TimedOut);
        let child = finished.stdout.text().trim().to_owned();
        assert!(!child.is_empty() && is_gone(&child).await, "{script}: {child:?} is alive");
    }
}

#[tokio::test]
async fn one_that_ends_in_time_may_clean_up() {
    let finished = sh("trap 'echo bye; exit 0' TERM; sleep 600 & wait")
        .timeout(Duration::from_millis(300))
        .run()
        .await
        .unwrap();
    assert_eq!((finished.ended, &*finished.stdout.text()), (Ended::TimedOut, "bye\n"));
}

#[tokio::test]
async fn stopping_and_dropping_end_the_whole_group() {
    let dir = tempfile::tempdir().unwrap();
    let files = [dir.path().join("stopped"), dir.path().join("dropped")];
    let program = |file: &PathBuf| {
        sh(&format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", file.display()))
    };
    let stop = async {
        pid_in(&files[0]).await;
    };
    let finished = program(&files[0]).run_until(stop).await.unwrap();
    assert_eq!(finished.ended, Ended::Cancelled);
    tokio::select! {
        _ = program(&files[1]).run() => {}
        _ = pid_in(&files[1]) => {}
    }
    for file in &files {
        assert!(is_gone(&pid_in(file).await).await, "{file:?}");
    }
}

#[tokio::test]
async fn no_zombies_are_left() {
    for _ in 0..5 {
        let stopped = sh("sleep 600").timeout(Duration::from_millis(20)).run().await.unwrap();
        assert_eq!(stopped.ended, Ended::TimedOut);
        sh("exit 0").run().await.unwrap();
    }
    let me = std::process::id().to_string();
    let children = sh(&format!("ps -o stat= --ppid {me} 2>/dev/null | grep -c Z")).run().await;
    assert_eq!(children.unwrap().stdout.text().trim(), "0");
}

#[tokio::test]
async fn what_cannot_be_started_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        fs::write(dir.path().join(name), text).unwrap();
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    write("plain", "#!/bin/sh\n", 0o644);
    write("broken", "#!/no/such/interpreter\n", 0o755);
    write("formless", "echo\n", 0o755);
    write("good", "#!/bin/sh\necho $0\n", 0o755);
    let run = async |name: &str| Program::new([name]).cwd(dir.path()).run().await;
    assert!(matches!(run("missing").await, Err(StartError::NotFound { .. })));
    assert!(matches!(run("").await, Err(StartError::NotFound { .. })));
    for name in ["./plain", "./broken", "./formless", "."] {
        let refused = run(name).await;
        // A bare dot is looked for in the folders of the path, all of which have it.
        assert!(matches!(refused, Err(StartError::NotExecutable { .. })), "{name}: {refused:?}");
    }
    assert_eq!(run("./good").await.unwrap().ended, Ended::Exited(0));
    let nowhere = Program::new(["true"]).cwd(dir.path().join("x")).run().await;
    assert!(matches!(nowhere, Err(StartError::NoFolder { .. })));
    assert!(matches!(Program::new([""; 0]).run().await, Err(StartError::Nothing)));

    let path = format!("/nowhere::{}", dir.path().display());
    let found = find("good".as_ref(), Path::new("/"), Some(path.as_ref())).unwrap();
    assert_eq!(found, dir.path().join("good"));
}
