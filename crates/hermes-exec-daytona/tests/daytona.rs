//! Sandboxes at a service and a toolbox that run their commands here.

#![cfg(target_os = "linux")]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests aren't seen as tests"
)]

mod fake;

use std::time::Duration;

use fake::{Fake, Fault};
use hermes_exec::environment::{
    Close, Environment as _, Exit, Running, Size, Start, StartFailure, Stdin,
};
use hermes_exec::program::{Ended, Program};
use hermes_exec_daytona::{Credentials, Daytona, Options};
use hermes_net::Client;
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// How long things may take here before the test fails.
const LONGEST: Duration = Duration::from_secs(60);

fn options(fake: &Fake) -> Options {
    let credentials = Credentials::ApiKey(fake::KEY.to_owned());
    Options {
        api_url: Some(fake.url.clone()),
        ..Options::new(credentials, "debian:12", "task/one")
    }
}

async fn open(options: Options) -> Result<Daytona, StartFailure> {
    tokio::time::timeout(LONGEST, Daytona::open(&Client::default(), options)).await.unwrap()
}

async fn sandbox() -> (Fake, Daytona) {
    let fake = Fake::new().await;
    let daytona = open(options(&fake)).await.unwrap();
    (fake, daytona)
}

async fn finish(mut running: Running) -> (String, Exit) {
    let finishing = async {
        let mut output = Vec::new();
        running.output.read_to_end(&mut output).await.unwrap();
        (String::from_utf8(output).unwrap(), running.handle.wait().await)
    };
    tokio::time::timeout(LONGEST, finishing).await.unwrap()
}

async fn run(daytona: &Daytona, start: Start) -> (String, Exit) {
    finish(daytona.start(start).await.unwrap()).await
}

fn done(text: &str) -> (String, Exit) {
    (text.to_owned(), Exit::Code(0))
}

async fn until(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONGEST, waiting).await.unwrap();
}

#[tokio::test]
async fn a_sandbox_is_made_as_asked() {
    let fake = Fake::new().await;
    let states = ["pending_build", "building_snapshot", "creating", "starting", "started"];
    fake.set(|inner| inner.birth = states.into());
    let asked = Options { target: Some("eu".to_owned()), cpu: 2, ..options(&fake) };
    let daytona = open(asked).await.unwrap();
    let lines: Vec<String> =
        fake.calls("/api/").into_iter().map(|call| call.line).take(3).collect();
    let labels = "%7B%22hermes_task_id%22%3A%22task%2Fone%22%7D";
    assert_eq!(
        lines,
        [
            "GET /api/sandbox/hermes-task-one".to_owned(),
            format!("GET /api/sandbox?labels={labels}&limit=1"),
            "POST /api/sandbox".to_owned(),
        ]
    );
    let made = &fake.calls("POST /api/sandbox")[0];
    assert_eq!(
        made.body,
        json!({
            "name": "hermes-task-one",
            "env": {},
            "labels": { "hermes_task_id": "task/one", "code-toolbox-language": "python" },
            "autoStopInterval": 0,
            "cpu": 2,
            "memory": 5,
            "disk": 10,
            "buildInfo": { "dockerfileContent": "FROM debian:12\n" },
            "target": "eu",
        })
    );
    for (name, value) in
        [("authorization", "Bearer dtn-test"), ("content-type", "application/json")]
    {
        assert_eq!(made.headers[name], value);
    }
    assert!(made.headers.contains_key("x-daytona-source"));
    assert!(made.headers.contains_key("x-daytona-sdk-version"));
    assert_eq!((daytona.kind(), daytona.identity()), ("daytona", "daytona:id-1".to_owned()));
    assert_eq!((daytona.home(), daytona.initial_cwd()), (Some("/fake-home"), "/root"));
    daytona.close(Close::AsConfigured).await;
    daytona.close(Close::AsConfigured).await;
    assert_eq!(fake.calls("POST /api/sandbox/id-1/stop?force=false").len(), 1);
    // The next one of the same task finds it, stopped, and starts it.
    let daytona = open(options(&fake)).await.unwrap();
    assert_eq!(daytona.identity(), "daytona:id-1");
    assert_eq!(fake.calls("POST /api/sandbox/id-1/start").len(), 1);
    daytona.close(Close::Remove).await;
    assert_eq!(fake.calls("DELETE /api/sandbox/id-1").len(), 1);
}

#[tokio::test]
async fn sandboxes_are_found_and_kept_apart() {
    let fake = Fake::new().await;
    fake.add("id-a", "renamed", "task/one", &["archived"]);
    assert_eq!(open(options(&fake)).await.unwrap().identity(), "daytona:id-a");
    let fake = Fake::new().await;
    fake.set(|inner| inner.is_old = true);
    fake.add("id-b", "renamed", "task/one", &["stopping", "stopped"]);
    assert_eq!(open(options(&fake)).await.unwrap().identity(), "daytona:id-b");
    assert_eq!(fake.calls("GET /api/sandbox/paginated?labels=").len(), 1);
    // One that isn't kept is a new one, whatever has its name.
    let fake = Fake::new().await;
    fake.add("id-c", "hermes-task-one", "task/one", &["started"]);
    let daytona = open(Options { is_persistent: false, ..options(&fake) }).await.unwrap();
    assert_eq!(daytona.identity(), "daytona:id-1");
    daytona.close(Close::AsConfigured).await;
    assert_eq!(fake.calls("DELETE /api/sandbox/id-1").len(), 1);
}

#[tokio::test]
async fn commands_run() {
    let (fake, daytona) = sandbox().await;
    assert_eq!(
        run(&daytona, Start::new("echo out; echo err >&2; printf $0")).await,
        done("out\nerr\nbash")
    );
    assert_eq!(run(&daytona, Start::new("exit 7")).await, (String::new(), Exit::Code(7)));
    assert_eq!(run(&daytona, Start::new("kill -9 $$")).await, (String::new(), Exit::Code(137)));
    let start = Start {
        env: vec![("A".to_owned(), "it's".to_owned())],
        stdin: Stdin::Bytes(b"input\x01\x01\x01".to_vec()),
        ..Start::new(
            r#"printf '%s|' "$A"; cat; echo; for n in 6 7 8 9; do ls /proc/self/fd/$n; done 2>/dev/null"#,
        )
    };
    assert_eq!(run(&daytona, start).await, ("it's|input\x01\x01\x01\n".to_owned(), Exit::Code(2)));
    let start = Start { errors_apart: true, ..Start::new("echo out; echo err >&2") };
    let mut running = daytona.start(start).await.unwrap();
    let mut errors = String::new();
    running.errors.take().unwrap().read_to_string(&mut errors).await.unwrap();
    assert_eq!((errors.as_str(), finish(running).await), ("err\n", done("out\n")));
    let execs = fake.calls("/exec");
    assert_eq!(execs.last().unwrap().body["runAsync"], true);
    until(|| fake.sessions() == 0).await;
}

#[tokio::test]
async fn bytes_stay_as_they_are() {
    let (_fake, daytona) = sandbox().await;
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let start = Start { stdin: Stdin::Bytes(bytes.clone()), ..Start::new("cat") };
    let mut running = daytona.start(start).await.unwrap();
    let mut output = Vec::new();
    running.output.read_to_end(&mut output).await.unwrap();
    assert!(output == bytes, "{} bytes", output.len());
    let mut running =
        daytona.start(Start { stdin: Stdin::Open, ..Start::new("cat") }).await.unwrap();
    let mut stdin = running.stdin.take().unwrap();
    let (sent, mut output) = (bytes.get(..20_000).unwrap(), Vec::new());
    let sending = async {
        stdin.write_all(sent).await.unwrap();
        drop(stdin);
    };
    let (_, read) = tokio::join!(sending, running.output.read_to_end(&mut output));
    read.unwrap();
    assert!(output == sent, "{} bytes", output.len());
    assert_eq!(running.handle.wait().await, Exit::Code(0));
}

#[tokio::test]
async fn long_scripts_get_there() {
    let (_fake, daytona) = sandbox().await;
    let script = format!("x={}; echo ${{#x}}", "y".repeat(1_000_000));
    assert_eq!(run(&daytona, Start::new(script)).await, done("1000000\n"));
}

#[tokio::test]
async fn output_comes_while_the_command_runs_and_input_is_answered() {
    let (fake, daytona) = sandbox().await;
    let script = "printf ready; read -r x; echo \" $x\"; cat";
    let mut running =
        daytona.start(Start { stdin: Stdin::Open, ..Start::new(script) }).await.unwrap();
    let mut ready = [0; 5];
    running.output.read_exact(&mut ready).await.unwrap();
    // Sent again, since the answer got lost: taken once.
    fake.fault("/input", Fault::After(502));
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"line\nrest").await.unwrap();
    let mut line = [0; 6];
    running.output.read_exact(&mut line).await.unwrap();
    assert_eq!((&ready, &line), (b"ready", b" line\n"));
    drop(stdin);
    assert_eq!(finish(running).await, done("rest"));
    assert_eq!(fake.faults_left(), 0);
}

#[tokio::test]
async fn nothing_is_lost_or_repeated_when_the_log_breaks() {
    let (fake, daytona) = sandbox().await;
    for bytes in [1, 0, 5000, 20_000, 1, 100_000] {
        fake.fault("/logs?follow=true", Fault::Break(bytes));
    }
    fake.fault("/logs?follow=true", Fault::Status(503));
    fake.fault("POST /toolbox/id-1/process/session", Fault::After(500));
    let lines = "line of input\n".repeat(10_000);
    let stdin = Stdin::Bytes(lines.clone().into_bytes());
    let start = Start { stdin, ..Start::new("cat -n; sleep 0.2; echo end; exit 3") };
    let (output, exit) = run(&daytona, start).await;
    let expected: String =
        lines.lines().enumerate().map(|(at, line)| format!("{:6}\t{line}\n", at + 1)).collect();
    assert!(output == format!("{expected}end\n"), "{} bytes", output.len());
    assert_eq!((exit, fake.faults_left()), (Exit::Code(3), 0));
}

#[tokio::test]
async fn the_end_of_the_shell_is_told_though_its_output_stays_open() {
    let (_fake, daytona) = sandbox().await;
    let mut running = daytona.start(Start::new("sleep 1.5 & echo started")).await.unwrap();
    assert_eq!(running.handle.wait().await, Exit::Code(0));
    let mut output = String::new();
    running.output.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "started\n");
}

#[tokio::test]
async fn ending_a_command_ends_nothing_else() {
    let (fake, daytona) = sandbox().await;
    let start = Start { stdin: Stdin::Open, ..Start::new("echo up; cat") };
    let mut beside = daytona.start(start).await.unwrap();
    let script =
        "trap '' TERM; setsid sleep 81 & (sleep 82; sleep 83) & echo up; wait; wait; sleep 84";
    let mut running = daytona.start(Start::new(script)).await.unwrap();
    running.output.read_exact(&mut [0; 3]).await.unwrap();
    running.handle.terminate(Duration::from_millis(200)).await;
    assert_eq!(finish(running).await, (String::new(), Exit::Code(137)));
    beside.stdin.take().unwrap().write_all(b"still here").await.unwrap();
    assert_eq!(finish(beside).await, done("up\nstill here"));
    assert!(fake.calls("/stop").is_empty());
    until(|| fake.sessions() == 0).await;
}

#[tokio::test]
async fn a_dropped_command_is_ended_and_a_released_one_goes_on() {
    let (fake, daytona) = sandbox().await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    for (name, is_released) in [("dropped", false), ("released", true)] {
        let (go, named) = (file("go"), file(name));
        let script = format!(
            "echo up; until [ -e {} ]; do sleep 0.1; done; echo >{}",
            go.display(),
            named.display()
        );
        let mut running = daytona.start(Start::new(script)).await.unwrap();
        running.output.read_exact(&mut [0; 3]).await.unwrap();
        if is_released {
            running.handle.release();
        } else {
            // Nobody holds the other side any more when it is gone.
            drop(running.handle);
            running.output.read_to_end(&mut Vec::new()).await.unwrap();
        }
    }
    std::fs::write(file("go"), "").unwrap();
    until(|| file("released").exists()).await;
    assert!(!file("dropped").exists());
    until(|| fake.sessions() == 1 && fake.is_idle()).await;
}

fn at_terminal(script: &str) -> Start {
    let terminal = Some(Size { rows: 33, cols: 99 });
    Start { terminal, stdin: Stdin::Open, ..Start::new(script) }
}

/// Reads until the terminal has said something.
async fn hear(running: &mut Running, wanted: &str) -> String {
    let hearing = async {
        let mut said = Vec::new();
        while !String::from_utf8_lossy(&said).contains(wanted) {
            let mut piece = [0; 1024];
            let count = running.output.read(&mut piece).await.unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&said));
            said.extend_from_slice(&piece[..count]);
        }
        String::from_utf8_lossy(&said).into_owned()
    };
    tokio::time::timeout(LONGEST, hearing).await.unwrap()
}

#[tokio::test]
async fn terminals() {
    let (fake, daytona) = sandbox().await;
    let env = vec![("GIVEN".to_owned(), "it's".to_owned())];
    let script = "test -t 0 && echo tty; stty size; read -r x; echo \"$x $GIVEN\"; stty size; \
                  read -r _; exit 7";
    let mut running = daytona.start(Start { env, ..at_terminal(script) }).await.unwrap();
    // Nothing of the shell that was there before.
    assert_eq!(hear(&mut running, "99\r\n").await, "tty\r\n33 99\r\n");
    running.handle.resize(Size { rows: 11, cols: 55 }).unwrap();
    until(|| fake.calls("/resize").len() == 1).await;
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"typed\n").await.unwrap();
    let said = hear(&mut running, "55\r\n").await;
    assert!(said.ends_with("typed it's\r\n11 55\r\n"), "{said:?}");
    stdin.write_all(b"\n").await.unwrap();
    assert_eq!(finish(running).await.1, Exit::Code(7));
    until(|| fake.terminals() == 0).await;
    // Keys are for the command alone.
    let script = "trap 'echo int; exit 5' INT; echo up; while :; do sleep 0.1; done";
    let mut running = daytona.start(at_terminal(script)).await.unwrap();
    hear(&mut running, "up\r\n").await;
    running.stdin.as_mut().unwrap().write_all(b"\x03").await.unwrap();
    hear(&mut running, "int\r\n").await;
    assert_eq!(finish(running).await.1, Exit::Code(5));
    let given = Start { stdin: Stdin::Bytes(b"a\nb\n".to_vec()), ..at_terminal("exec cat") };
    let (said, exit) = run(&daytona, given).await;
    assert!(said.ends_with("b\r\n"), "{said:?}");
    assert_eq!(exit, Exit::Code(0));
    let long = format!(": '{}'; echo long; exit 3", "x".repeat(200_000));
    assert_eq!(run(&daytona, at_terminal(&long)).await, ("long\r\n".to_owned(), Exit::Code(3)));
    until(|| fake.terminals() == 0).await;
}

#[tokio::test]
async fn terminals_that_are_given_up() {
    let (fake, daytona) = sandbox().await;
    let script = "trap '' HUP TERM; setsid sleep 91 & echo up; sleep 92";
    let mut running = daytona.start(at_terminal(script)).await.unwrap();
    hear(&mut running, "up\r\n").await;
    running.handle.terminate(Duration::from_millis(100)).await;
    assert_eq!(finish(running).await.1, Exit::Code(137));
    let mut running = daytona.start(at_terminal("echo up; sleep 93")).await.unwrap();
    hear(&mut running, "up\r\n").await;
    drop(running);
    until(|| fake.terminals() == 0).await;
    // The sandbox is stopped.
    let mut running = daytona.start(at_terminal("echo up; sleep 5")).await.unwrap();
    hear(&mut running, "up\r\n").await;
    fake.set(|inner| inner.terminals.clear());
    fake.hang_up();
    assert!(matches!(running.handle.wait().await, Exit::Lost(_)));
}

#[tokio::test]
async fn a_terminal_outlives_its_connection() {
    let (fake, daytona) = sandbox().await;
    let script = "echo up; read -r x; echo $x; read -r x; echo $x; exit 6";
    let mut running = daytona.start(at_terminal(script)).await.unwrap();
    hear(&mut running, "up\r\n").await;
    for (before, word) in [(1, "one"), (2, "two")] {
        fake.hang_up();
        until(|| fake.connected() > before).await;
        running.stdin.as_mut().unwrap().write_all(format!("{word}\n").as_bytes()).await.unwrap();
        hear(&mut running, &format!("{word}\r\n")).await;
    }
    assert_eq!(finish(running).await.1, Exit::Code(6));
}

#[tokio::test]
async fn a_sandbox_that_sleeps_is_woken() {
    let (fake, daytona) = sandbox().await;
    daytona.prepare().await.unwrap();
    assert!(fake.calls("GET /api/sandbox/id-1").is_empty(), "it was just seen to run");
    fake.set(|inner| inner.sandboxes[0].states = ["stopped"].into());
    let failure = daytona.start(Start::new("echo")).await.unwrap_err();
    assert!(failure.is_safe_to_retry, "{failure:?}");
    daytona.prepare().await.unwrap();
    assert_eq!(run(&daytona, Start::new("echo one")).await, done("one\n"));
    let mut running = daytona.start(Start::new("sleep 5")).await.unwrap();
    fake.set(|inner| {
        inner.sandboxes.clear();
        inner.sessions.clear();
    });
    let failure = daytona.start(Start::new("echo")).await.unwrap_err();
    assert!(!failure.is_safe_to_retry, "{failure:?}");
    assert!(daytona.prepare().await.unwrap_err().is_gone);
    assert!(matches!(running.handle.wait().await, Exit::Lost(_)));
    assert!(running.output.read_to_end(&mut Vec::new()).await.is_err());
}

#[tokio::test]
async fn failures_say_what_to_do() {
    let fake = Fake::new().await;
    let wrong = Credentials::ApiKey("dtn-hunter2".to_owned());
    let failure = open(Options { credentials: wrong, ..options(&fake) }).await.unwrap_err();
    assert!(failure.message.contains("DAYTONA_API_KEY"), "{failure}");
    assert!(!failure.message.contains("hunter2") && !failure.is_safe_to_retry, "{failure}");
    fake.set(|inner| inner.birth = ["pending_build", "build_failed"].into());
    let failure = open(options(&fake)).await.unwrap_err();
    assert_eq!(failure.message, "the sandbox is broken (build_failed): no such image");
    assert_eq!(fake.calls("DELETE /api/sandbox/id-1").len(), 1);
    fake.fault("POST /api/sandbox", Fault::Status(500));
    let failure = open(options(&fake)).await.unwrap_err();
    assert!(failure.message.contains("on purpose") && !failure.is_safe_to_retry, "{failure}");
    fake.fault("GET /api/sandbox", Fault::Hangup);
    fake.set(|inner| inner.birth = ["creating"].into());
    let hurried = Options { start_limit: Duration::from_millis(300), ..options(&fake) };
    let failure = open(hurried).await.unwrap_err();
    assert!(failure.message.starts_with("the sandbox is still \"creating\""), "{failure}");
}

/// `HERMES_TEST_SDK_PYTHON` names an interpreter that has the provider's own client.
#[tokio::test]
async fn the_provider_s_own_client_gets_on_with_the_fake() {
    #[expect(clippy::disallowed_methods, reason = "a setting of the tests alone")]
    let Some(python) = std::env::var_os("HERMES_TEST_SDK_PYTHON") else {
        println!("skipped: HERMES_TEST_SDK_PYTHON names no interpreter with daytona");
        return;
    };
    let (fake, home) = (Fake::new().await, tempfile::tempdir().unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk.py");
    let client = Program::new([python, script.into(), fake.url.clone().into()])
        .env([("PATH", "/usr/local/bin:/usr/bin:/bin".into()), ("HOME", home.path().to_owned())])
        .timeout(Duration::from_secs(120));
    let finished = client.run().await.unwrap();
    let said = [finished.stdout.bytes, finished.stderr.bytes].concat();
    assert_eq!(finished.ended, Ended::Exited(0), "{}", String::from_utf8_lossy(&said));
}
