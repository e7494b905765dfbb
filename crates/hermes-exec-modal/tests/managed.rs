//! Sandboxes through the gateway, at one that runs their commands here.

#![cfg(target_os = "linux")]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests aren't seen as tests"
)]

mod gateway;

use std::sync::Arc;
use std::time::Duration;

use gateway::{Fault, Gateway};
use hermes_exec::environment::{
    Close, Environment as _, Exit, Running, Start, StartFailure, Stdin,
};
use hermes_exec_modal::{ManagedModal, ManagedOptions};
use hermes_net::Client;
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// How long things may take here before the test fails.
const LONGEST: Duration = Duration::from_secs(60);

fn options(gateway: &Gateway) -> ManagedOptions {
    let tokens = Arc::new(gateway::TOKEN.to_owned());
    ManagedOptions {
        gateway_url: Some(gateway.url.clone()),
        ..ManagedOptions::new(tokens, "debian:12", "task one")
    }
}

async fn open(options: ManagedOptions) -> Result<ManagedModal, StartFailure> {
    let net = Client::default();
    let opening = ManagedModal::open(&net, options);
    tokio::time::timeout(LONGEST, opening).await.unwrap()
}

async fn sandbox() -> (Gateway, ManagedModal) {
    let gateway = Gateway::new().await;
    let modal = open(options(&gateway)).await.unwrap();
    (gateway, modal)
}

async fn finish(mut running: Running) -> (String, Exit) {
    let finishing = async {
        let mut output = Vec::new();
        running.output.read_to_end(&mut output).await.unwrap();
        (String::from_utf8(output).unwrap(), running.handle.wait().await)
    };
    tokio::time::timeout(LONGEST, finishing).await.unwrap()
}

async fn run(modal: &ManagedModal, start: Start) -> (String, Exit) {
    finish(modal.start(start).await.unwrap()).await
}

fn done(text: &str) -> (String, Exit) {
    (text.to_owned(), Exit::Code(0))
}

#[tokio::test]
async fn a_sandbox_is_made_as_asked() {
    let gateway = Gateway::new().await;
    gateway.fault("POST /v1/sandboxes", Fault::After(502));
    let modal = open(ManagedOptions { disk_mb: Some(1024), ..options(&gateway) }).await.unwrap();
    let made = gateway.calls("POST /v1/sandboxes");
    assert_eq!(made.len(), 2);
    assert_eq!(
        made[0].body,
        json!({
            "image": "debian:12",
            "cwd": "/root",
            "cpu": 1.0,
            "memoryMiB": 5120,
            "timeoutMs": 3_600_000,
            "idleTimeoutMs": 3_600_000,
            "persistentFilesystem": true,
            "logicalKey": "task one",
            "diskMiB": 1024,
        })
    );
    let key = &made[0].headers["x-idempotency-key"];
    assert_eq!((key.len(), key), (36, &made[1].headers["x-idempotency-key"]));
    assert_eq!(modal.identity(), "modal-managed:sb-1");
    modal.close(Close::AsConfigured).await;
    modal.close(Close::AsConfigured).await;
    let ended = gateway.calls("POST /v1/sandboxes/sb-1/terminate");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].body, json!({ "snapshotBeforeTerminate": true }));
}

#[tokio::test]
async fn commands_run() {
    let (gateway, modal) = sandbox().await;
    assert_eq!(
        run(&modal, Start::new("echo out; echo err >&2; echo $0")).await,
        done("out\nerr\nbash\n")
    );
    assert_eq!(run(&modal, Start::new("exit 7")).await, (String::new(), Exit::Code(7)));
    for (input, as_sent) in [(&b"input"[..], "input"), (&b"\0\xff"[..], "AP8=")] {
        let start = Start {
            env: vec![("A".to_owned(), "it's".to_owned())],
            stdin: Stdin::Bytes(input.to_vec()),
            ..Start::new("printf '%s|' \"$A\"; od -An -tx1")
        };
        let hex: String = input.iter().map(|byte| format!(" {byte:02x}")).collect();
        assert_eq!(run(&modal, start).await, done(&format!("it's|{hex}\n")));
        assert_eq!(
            gateway.calls("POST /v1/sandboxes/sb-1/execs").last().unwrap().body["stdinData"],
            as_sent
        );
    }
    let start = Start { errors_apart: true, ..Start::new("echo out; echo err >&2") };
    let mut running = modal.start(start).await.unwrap();
    let mut errors = String::new();
    running.errors.take().unwrap().read_to_string(&mut errors).await.unwrap();
    assert_eq!((errors.as_str(), finish(running).await), ("err\n", done("out\n")));
    let script = format!("x={}; echo ${{#x}}", "y".repeat(1_000_000));
    assert_eq!(run(&modal, Start::new(script)).await, done("1000000\n"));
    let start = Start { stdin: Stdin::Open, ..Start::new("cat; echo end") };
    let mut running = modal.start(start).await.unwrap();
    assert!(running.stdin.take().unwrap().write_all(b"x").await.is_err());
    assert_eq!(finish(running).await, done("end\n"));
}

#[tokio::test]
async fn looks_that_fail_are_repeated() {
    let (gateway, modal) = sandbox().await;
    // Started, though the answer got lost.
    gateway.fault("POST /v1/sandboxes/sb-1/execs", Fault::After(503));
    for fault in [Fault::Status(502), Fault::Hangup, Fault::Status(429)] {
        gateway.fault("GET /v1/sandboxes/sb-1/execs", fault);
    }
    assert_eq!(run(&modal, Start::new("sleep 0.5; echo once")).await, done("once\n"));
    assert_eq!(gateway.calls("POST /v1/sandboxes/sb-1/execs").len(), 1);
    // Not started at all: it may be tried again.
    gateway.fault("POST /v1/sandboxes/sb-1/execs", Fault::Status(503));
    let failure = modal.start(Start::new("echo")).await.unwrap_err();
    assert!(failure.is_safe_to_retry, "{failure}");
    let running = modal.start(Start::new("sleep 5")).await.unwrap();
    gateway.forget_execs();
    assert!(matches!(running.handle.wait().await, Exit::Lost(_)));
}

#[tokio::test]
async fn commands_are_ended_alone() {
    let (gateway, modal) = sandbox().await;
    let running = modal.start(Start::new("sleep 91")).await.unwrap();
    gateway.fault("/cancel", Fault::Status(503));
    running.handle.terminate(Duration::from_secs(1)).await;
    assert_eq!(finish(running).await, (String::new(), Exit::Code(130)));
    assert_eq!(run(&modal, Start::new("echo still here")).await, done("still here\n"));
    let dropped = modal.start(Start::new("sleep 92")).await.unwrap();
    drop(dropped);
    let cancelled = async {
        while gateway.calls("/cancel").len() < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONGEST, cancelled).await.unwrap();
    gateway.fault("POST /v1/sandboxes/sb-1/execs", Fault::Status(404));
    assert!(modal.start(Start::new("echo")).await.unwrap_err().is_gone);
}

#[tokio::test]
async fn failures_say_what_to_do() {
    let gateway = Gateway::new().await;
    let refused = ManagedOptions { has_credential_files: true, ..options(&gateway) };
    let failure = open(refused).await.unwrap_err();
    assert!(failure.message.contains("terminal.modal_mode"), "{failure}");
    assert!(gateway.calls("").is_empty());
    let wrong = ManagedOptions { tokens: Arc::new("hunter2".to_owned()), ..options(&gateway) };
    let failure = open(wrong).await.unwrap_err();
    assert!(failure.message.contains("TOOL_GATEWAY_USER_TOKEN"), "{failure}");
    assert!(!failure.message.contains("hunter2"), "{failure}");
    gateway.fault("POST /v1/sandboxes", Fault::Status(400));
    let failure = open(options(&gateway)).await.unwrap_err();
    assert_eq!(failure.message, "making a sandbox: on purpose (400 Bad Request)");
}
