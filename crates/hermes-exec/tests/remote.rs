//! Commands are started by the text for other machines, here, and found again.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests aren't seen as tests")]

use std::time::Duration;

use hermes_exec::environment::{Dialect, Start};
use hermes_exec::program::{Ended, Finished, Program};
use hermes_exec::remote::{ending, from_file, launch, quoted, with_env};
use pretty_assertions::assert_eq;

const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");

async fn run(argv: Vec<String>, more: &[(&str, &str)]) -> Finished {
    let env = more.iter().copied().chain([PATH]);
    Program::new(argv).env(env).timeout(Duration::from_secs(60)).run().await.unwrap()
}

fn text(finished: &Finished) -> String {
    String::from_utf8(finished.stdout.bytes.clone()).unwrap()
}

#[tokio::test]
async fn a_script_is_started_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let temp = folder.path().to_str().unwrap();
    let start = Start {
        env: vec![("A".into(), "it's\n\"$x\"".into()), ("no name".into(), "x".into())],
        ..Start::new("echo \"$A|$0|$#|$HOME|$OTHER\"; exit 7")
    };
    let finished = run(launch(&start, &with_env(&start), "id1", temp), &[("OTHER", "o")]).await;
    assert_eq!(text(&finished), "it's\n\"$x\"|bash|0||o\n");
    assert_eq!(finished.ended, Ended::Exited(7));
    let bare = Start { bare: true, dialect: Dialect::Posix, ..start };
    let finished = run(launch(&bare, &with_env(&bare), "id2", temp), &[("OTHER", "o")]).await;
    assert_eq!(text(&finished), "it's\n\"$x\"|sh|0||\n");
    assert_eq!(std::fs::read_dir(temp).unwrap().count(), 0, "files were left");
    let killed = Start::new("kill -9 $$");
    let finished = run(launch(&killed, &killed.script, "id3", temp), &[]).await;
    assert_eq!((finished.ended, &*finished.stderr.bytes), (Ended::Exited(137), &b""[..]));
}

#[tokio::test]
async fn a_script_in_a_file_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let temp = folder.path().to_str().unwrap();
    let file = folder.path().join("it's");
    std::fs::write(&file, format!("x={}\necho ${{#x}} $0 $#\ncat", "y".repeat(300_000))).unwrap();
    let start = Start::new(from_file(file.to_str().unwrap()));
    let argv = launch(&start, &start.script, "id", temp);
    let finished = Program::new(argv).env([PATH]).stdin("input").run().await.unwrap();
    assert_eq!(text(&finished), "300000 bash 0\ninput");
    assert!(!file.exists());
}

#[tokio::test]
async fn everything_of_a_command_is_ended_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let temp = folder.path().to_str().unwrap();
    let up = folder.path().join("up");
    // Children that ignore the friendly signal, leave the session, or have no variables.
    let script = format!(
        "(trap '' TERM; sleep 61 & wait; sleep 61) & setsid sleep 62 & env -i sleep 63 & \
         touch {}; sleep 64",
        quoted(up.to_str().unwrap())
    );
    let id = format!("test{}", std::process::id());
    let start = Start::new(script);
    let other = Start::new("sleep 1; echo survived");
    let (ours, others) = (format!("{id}a"), format!("{id}b"));
    let running = run(launch(&start, &start.script, &ours, temp), &[]);
    let beside = run(launch(&other, &other.script, &others, temp), &[]);
    let end = async {
        while !up.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        run(ending(&ours, Duration::from_millis(300), temp), &[]).await
    };
    let (finished, survivor, ended) = tokio::join!(running, beside, end);
    assert_eq!(ended.ended, Ended::Exited(0));
    assert_eq!(finished.ended, Ended::Exited(143));
    assert_eq!(text(&survivor), "survived\n");
}
