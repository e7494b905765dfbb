//! Sandboxes by the provider's own protocol, at a server that runs their commands here.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests aren't seen as tests"
)]

mod fake;

use std::time::Duration;

use fake::proto::*;
use fake::{Fake, Fault, Settings};
use hermes_exec::environment::{
    Close, Environment as _, Exit, Running, Size, Start, StartFailure, Stdin,
};
use hermes_exec::program::{Ended, Program};
use hermes_exec_modal::{Credentials, Modal, Options};
use hermes_net::Client;
use pretty_assertions::assert_eq;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Code;

/// How long things may take here before the test fails.
const LONGEST: Duration = Duration::from_secs(60);

fn options(fake: &Fake, home: &TempDir) -> Options {
    let credentials =
        Credentials { token_id: "ak-test".to_owned(), token_secret: "as-test".to_owned() };
    Options {
        server_url: Some(fake.url.clone()),
        is_persistent: false,
        ..Options::new(credentials, "debian:12", "task one", home.path())
    }
}

async fn open(options: Options) -> Result<Modal, StartFailure> {
    tokio::time::timeout(LONGEST, Modal::open(&Client::default(), options)).await.unwrap()
}

async fn sandbox(settings: Settings) -> (Fake, TempDir, Modal) {
    let (fake, home) = (Fake::new(settings).await, tempfile::tempdir().unwrap());
    let modal = open(options(&fake, &home)).await.unwrap();
    (fake, home, modal)
}

async fn finish(mut running: Running) -> (String, Exit) {
    let finishing = async {
        let mut output = Vec::new();
        running.output.read_to_end(&mut output).await.unwrap();
        (String::from_utf8(output).unwrap(), running.handle.wait().await)
    };
    tokio::time::timeout(LONGEST, finishing).await.unwrap()
}

async fn run(modal: &Modal, start: Start) -> (String, Exit) {
    finish(modal.start(start).await.unwrap()).await
}

fn done(text: &str) -> (String, Exit) {
    (text.to_owned(), Exit::Code(0))
}

#[tokio::test]
async fn a_sandbox_is_made_as_asked() {
    let (fake, home) = (Fake::new(Settings::default()).await, tempfile::tempdir().unwrap());
    let asked = Options {
        cpu: 1.5,
        network: false,
        idle: Some(Duration::from_secs(300)),
        environment: Some("dev".to_owned()),
        ..options(&fake, &home)
    };
    let modal = open(asked).await.unwrap();
    let app = AppGetOrCreateRequest {
        app_name: "hermes-agent".to_owned(),
        environment_name: "dev".to_owned(),
        object_creation_type: 1,
    };
    assert_eq!(fake.seen::<AppGetOrCreateRequest>("AppGetOrCreate"), [app]);
    let image = ImageGetOrCreateRequest {
        image: Some(Image { dockerfile_commands: vec!["FROM debian:12".to_owned()] }),
        app_id: "ap-hermes-agent".to_owned(),
        builder_version: "2025.06".to_owned(),
    };
    assert_eq!(fake.seen::<ImageGetOrCreateRequest>("ImageGetOrCreate"), [image]);
    let definition = Sandbox {
        entrypoint_args: vec!["sleep".to_owned(), "infinity".to_owned()],
        image_id: "im-built".to_owned(),
        resources: Some(Resources { memory_mb: 5120, milli_cpu: 1500 }),
        timeout_secs: 3600,
        network_access: Some(NetworkAccess { network_access_type: 2 }),
        idle_timeout_secs: Some(300),
    };
    let create =
        SandboxCreateRequest { app_id: "ap-hermes-agent".to_owned(), definition: Some(definition) };
    assert_eq!(fake.seen::<SandboxCreateRequest>("SandboxCreateV2"), [create]);
    assert_eq!(modal.identity(), "modal:sb-1");
    assert_eq!((modal.home(), modal.initial_cwd()), (Some("/fake-home"), "/root"));
    modal.close(Close::AsConfigured).await;
    modal.close(Close::AsConfigured).await;
    let ended = fake.calls("SandboxTerminateV2");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].metadata["x-modal-sandbox-token"], "token-of-the-sandbox");
    assert!(fake.calls("TaskSnapshotFilesystem").is_empty());
}

#[tokio::test]
async fn commands_run() {
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    assert_eq!(
        run(&modal, Start::new("echo out; echo err >&2; echo $0")).await,
        done("out\nerr\nbash\n")
    );
    assert_eq!(run(&modal, Start::new("exit 7")).await, (String::new(), Exit::Code(7)));
    assert_eq!(run(&modal, Start::new("kill -9 $$")).await.1, Exit::Code(137));
    let start = Start {
        env: vec![("A".to_owned(), "it's".to_owned())],
        stdin: Stdin::Bytes(b"input".to_vec()),
        ..Start::new("printf '%s|' \"$A\"; cat")
    };
    assert_eq!(run(&modal, start).await, done("it's|input"));
    let start = Start { errors_apart: true, ..Start::new("echo out; echo err >&2") };
    let mut running = modal.start(start).await.unwrap();
    let mut errors = String::new();
    running.errors.take().unwrap().read_to_string(&mut errors).await.unwrap();
    assert_eq!((errors.as_str(), finish(running).await), ("err\n", done("out\n")));
    let starts = fake.seen::<TaskExecStartRequest>("TaskExecStart");
    assert_eq!(starts.last().unwrap().stderr_config, 1);
    assert!(starts[1..starts.len() - 1].iter().all(|it| it.stderr_config == 2));
    assert!(starts.iter().all(|it| it.task_id == "ta-sb-1" && it.stdout_config == 1));
}

#[tokio::test]
async fn long_scripts_and_much_input_get_there() {
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    let script = format!("x={}; echo ${{#x}}; wc -c", "y".repeat(1_000_000));
    let stdin = Stdin::Bytes(vec![0; 3_000_000]);
    assert_eq!(
        run(&modal, Start { stdin, ..Start::new(script) }).await,
        done("1000000\n3000000\n")
    );
    let starts = fake.seen::<TaskExecStartRequest>("TaskExecStart");
    let longest = starts.iter().flat_map(|it| &it.command_args).map(String::len).max();
    assert!(longest.unwrap() < 128 * 1024);
}

#[tokio::test]
async fn output_comes_while_the_command_runs_and_input_is_answered() {
    let (_fake, _home, modal) = sandbox(Settings::default()).await;
    let start =
        Start { stdin: Stdin::Open, ..Start::new("printf ready; read -r x; echo \" $x\"; cat") };
    let mut running = modal.start(start).await.unwrap();
    let mut ready = [0; 5];
    running.output.read_exact(&mut ready).await.unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"line\nrest").await.unwrap();
    let mut line = [0; 6];
    running.output.read_exact(&mut line).await.unwrap();
    assert_eq!((&ready, &line), (b"ready", b" line\n"));
    drop(stdin);
    assert_eq!(finish(running).await, done("rest"));
}

#[tokio::test]
async fn nothing_is_lost_or_repeated_when_streams_break() {
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    for bytes in [0, 1, 5000, 10_001, 0, 50_000] {
        fake.fault("TaskExecStdioRead", Fault::Break(bytes));
    }
    for method in ["TaskExecStart", "TaskExecWait", "TaskExecStdinWrite"] {
        fake.fault(method, Fault::Status(Code::Unavailable, "busy"));
        fake.fault(method, Fault::After(Code::Internal, "the answer got lost"));
    }
    fake.fault("TaskExecWait", Fault::Hangup);
    let lines = "line of input\n".repeat(20_000);
    let stdin = Stdin::Bytes(lines.clone().into_bytes());
    let started = Start { stdin, ..Start::new("cat -n; sleep 0.2; echo end; exit 3") };
    let (output, exit) = run(&modal, started).await;
    let expected: String =
        lines.lines().enumerate().map(|(at, line)| format!("{:6}\t{line}\n", at + 1)).collect();
    assert!(output == format!("{expected}end\n"), "{} bytes", output.len());
    assert_eq!((exit, fake.faults_left()), (Exit::Code(3), 0));
}

#[tokio::test]
async fn a_broken_stream_that_stays_broken_is_an_error() {
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    for _ in 0..11 {
        fake.fault("TaskExecStdioRead", Fault::Status(Code::Unavailable, "down"));
    }
    let mut running = modal.start(Start::new("echo out")).await.unwrap();
    let error = running.output.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "the connection to the sandbox is lost: down");
}

#[tokio::test]
async fn ending_a_command_ends_nothing_else() {
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    let start = Start { stdin: Stdin::Open, ..Start::new("echo up; cat") };
    let beside = modal.start(start).await.unwrap();
    let script = "trap '' TERM; setsid sleep 71 & (trap '' TERM; sleep 72; sleep 73) & echo up; wait; wait; sleep 74";
    let mut running = modal.start(Start::new(script)).await.unwrap();
    let mut up = [0; 3];
    running.output.read_exact(&mut up).await.unwrap();
    running.handle.terminate(Duration::from_millis(200)).await;
    // The end of the output says that nobody holds it any more.
    assert_eq!(finish(running).await, (String::new(), Exit::Code(137)));
    let mut beside = beside;
    beside.stdin.take().unwrap().write_all(b"still here").await.unwrap();
    assert_eq!(finish(beside).await, done("up\nstill here"));
    assert!(fake.calls("SandboxTerminateV2").is_empty());
}

#[tokio::test]
async fn a_dropped_command_is_ended_and_a_released_one_goes_on() {
    let (_fake, home, modal) = sandbox(Settings::default()).await;
    let file = |name: &str| home.path().join(name);
    for (name, is_released) in [("dropped", false), ("released", true)] {
        let (go, named) = (file("go"), file(name));
        let script = format!(
            "echo up; until [ -e {} ]; do sleep 0.1; done; echo >{}",
            go.display(),
            named.display()
        );
        let mut running = modal.start(Start::new(script)).await.unwrap();
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
    let released = async {
        while !file("released").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONGEST, released).await.unwrap();
    assert!(!file("dropped").exists());
}

#[tokio::test]
async fn access_that_ends_is_renewed() {
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    fake.expire_jwt();
    fake.expire_auth();
    assert_eq!(run(&modal, Start::new("echo one")).await, done("one\n"));
    assert_eq!(fake.calls("SandboxGetCommandRouterAccess").len(), 2, "one of them was refused");
    modal.close(Close::Remove).await;
    assert_eq!(fake.calls("SandboxTerminateV2").len(), 1);
}

#[tokio::test]
async fn servers_that_know_the_first_calls_only_are_used_by_them() {
    let settings = Settings { is_old: true, not_ready: 2, ..Settings::default() };
    let (fake, _home, modal) = sandbox(settings).await;
    assert_eq!(fake.calls("SandboxGetTaskId").len(), 3);
    fake.expire_jwt();
    assert_eq!(run(&modal, Start::new("echo one")).await, done("one\n"));
    modal.close(Close::AsConfigured).await;
    assert_eq!(fake.calls("SandboxTerminate").len(), 1);
}

#[tokio::test]
async fn a_build_is_followed_to_its_end() {
    let build = [vec![(0, "step 1\n"), (0, "step 2\n")], vec![], vec![(1, "done\n")]].into();
    let (fake, _home, _modal) = sandbox(Settings { build, ..Settings::default() }).await;
    let asked = fake.seen::<ImageJoinStreamingRequest>("ImageJoinStreaming");
    let entries: Vec<_> = asked.iter().map(|it| (it.timeout, it.last_entry_id.as_str())).collect();
    assert_eq!(entries, [(55.0, ""), (55.0, "2"), (55.0, "2")]);
    let build = [vec![(0, "RUN false\n"), (2, "no such file\n")]].into();
    let (fake, home) =
        (Fake::new(Settings { build, ..Settings::default() }).await, tempfile::tempdir().unwrap());
    let failure = open(options(&fake, &home)).await.unwrap_err();
    assert!(!failure.is_safe_to_retry);
    assert_eq!(
        failure.message,
        "the image \"debian:12\" can't be built: exit 1\nRUN false\nno such file\n"
    );
}

#[tokio::test]
async fn files_are_kept_by_snapshots() {
    let (fake, home) = (Fake::new(Settings::default()).await, tempfile::tempdir().unwrap());
    let kept = || Options { is_persistent: true, ..options(&fake, &home) };
    let file = home.path().join("modal_snapshots.json");
    let record = || std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, r#"{"task one": "im-old"}"#).unwrap();
    let image = || {
        let created = fake.seen::<SandboxCreateRequest>("SandboxCreateV2");
        created.last().unwrap().definition.clone().unwrap().image_id
    };
    let modal = open(kept()).await.unwrap();
    assert_eq!(image(), "im-old");
    assert!(record().contains("direct:task one"));
    modal.close(Close::AsConfigured).await;
    assert!(record().contains("im-snapshot-1"), "{}", record());
    // The worker can't: the service does it.
    fake.fault("TaskSnapshotFilesystem", Fault::Status(Code::Unimplemented, "no"));
    let modal = open(kept()).await.unwrap();
    assert_eq!(image(), "im-snapshot-1");
    modal.close(Close::AsConfigured).await;
    assert!(record().contains("im-by-service"), "{}", record());
    // A snapshot that can't be used is forgotten, and the image is what there is.
    fake.set(|settings| {
        settings.broken_images.insert("im-by-service".to_owned());
    });
    let modal = open(kept()).await.unwrap();
    assert_eq!((image().as_str(), record().trim()), ("im-built", "{}"));
    modal.close(Close::Remove).await;
    assert_eq!(record().trim(), "{}");
}

#[tokio::test]
async fn failures_say_what_to_do() {
    let (fake, home) = (Fake::new(Settings::default()).await, tempfile::tempdir().unwrap());
    let mut wrong = options(&fake, &home);
    wrong.credentials.token_secret = "as-hunter2".to_owned();
    let failure = open(wrong).await.unwrap_err();
    assert!(failure.message.contains("MODAL_TOKEN_SECRET"), "{failure}");
    assert!(!failure.message.contains("hunter2") && !failure.is_safe_to_retry, "{failure}");
    let url = fake.url.clone();
    drop(fake);
    let nobody =
        Options { server_url: Some(url), ..options(&Fake::new(Settings::default()).await, &home) };
    let failure = open(nobody).await.unwrap_err();
    assert!(failure.is_safe_to_retry, "{failure}");
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    let running = modal.start(Start::new("sleep 5")).await.unwrap();
    fake.set(|settings| settings.is_gone = true);
    let failure = modal.start(Start::new("echo")).await.unwrap_err();
    assert!(failure.is_gone && !failure.is_safe_to_retry, "{failure:?}");
    fake.expire_jwt();
    fake.fault("TaskExecWait", Fault::Hangup);
    assert_eq!(running.handle.wait().await, Exit::Lost("the sandbox is gone".to_owned()));
}

#[tokio::test]
async fn a_terminal_is_asked_for() {
    let (fake, _home, modal) = sandbox(Settings::default()).await;
    let start =
        Start { terminal: Some(Size { rows: 24, cols: 80 }), ..Start::new("read -r x; echo $x") };
    let mut running = modal.start(start).await.unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"typed\n").await.unwrap();
    assert_eq!(finish(running).await, done("typed\n"));
    let starts = fake.seen::<TaskExecStartRequest>("TaskExecStart");
    let terminal = starts.last().unwrap().pty_info.clone().unwrap();
    assert_eq!((terminal.enabled, terminal.winsz_rows, terminal.winsz_cols), (true, 24, 80));
}

/// `HERMES_TEST_SDK_PYTHON` names an interpreter that has the provider's own client.
#[tokio::test]
async fn the_provider_s_own_client_gets_on_with_the_fake() {
    #[expect(clippy::disallowed_methods, reason = "a setting of the tests alone")]
    let Some(python) = std::env::var_os("HERMES_TEST_SDK_PYTHON") else {
        println!("skipped: HERMES_TEST_SDK_PYTHON names no interpreter with modal");
        return;
    };
    let (fake, home) = (Fake::new(Settings::default()).await, tempfile::tempdir().unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk.py");
    let client = Program::new([python, script.into(), fake.url.clone().into()])
        .env([("PATH", "/usr/local/bin:/usr/bin:/bin".into()), ("HOME", home.path().to_owned())])
        .timeout(Duration::from_secs(120));
    let finished = client.run().await.unwrap();
    let said = [finished.stdout.bytes, finished.stderr.bytes].concat();
    assert_eq!(finished.ended, Ended::Exited(0), "{}", String::from_utf8_lossy(&said));
}
