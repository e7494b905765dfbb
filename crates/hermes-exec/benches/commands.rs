//! What a session adds to a command: `true` in a warm session beside a bare `bash -c true`.

#![expect(clippy::unwrap_used, reason = "a bench without its shell has nothing to measure")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use hermes_exec::local::{Local, Options};
use hermes_exec::program::Program;
use hermes_exec::session::{Foreground, Initial, Session};
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn env() -> Vec<(String, String)> {
    let mut env: Vec<_> = (0..40).map(|n| (format!("VARIABLE_{n}"), "a value".repeat(4))).collect();
    env.push(("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()));
    env
}

/// A shell that does nothing, started by the standard library.
#[divan::bench]
#[expect(clippy::disallowed_methods, reason = "the measure of all things")]
fn bash(bencher: Bencher<'_, '_>) {
    let env = env();
    bencher.bench_local(|| {
        let mut command = std::process::Command::new("/usr/bin/bash");
        command.args(["-c", "true"]).env_clear().envs(env.iter().cloned());
        command.stdin(std::process::Stdio::null()).output().unwrap()
    });
}

/// The same by this crate, without a session.
#[divan::bench]
fn program(bencher: Bencher<'_, '_>) {
    let (runtime, env) = (runtime(), env());
    bencher.bench_local(|| {
        runtime.block_on(Program::new(["bash", "-c", "true"]).env(env.clone()).run()).unwrap()
    });
}

/// A command of a warm session, with time before it as an agent has: milliseconds of it.
#[divan::bench(args = [0, 20])]
fn session(bencher: Bencher<'_, '_>, pause: u64) {
    let (runtime, dir) = (runtime(), tempfile::tempdir().unwrap());
    let memory = PathBuf::from("/dev/shm");
    let local = Local::new(Options {
        env: env(),
        cwd: PathBuf::from("/"),
        temp_dir: dir.path().to_owned(),
        memory_dir: Some(memory).filter(|it| it.is_dir()),
        ..Options::default()
    });
    let session = Session::new(Arc::new(local), Initial::default());
    let run = || {
        let command = Foreground::new("true", "/");
        runtime.block_on(session.run(command, &mut |_| {}, std::future::pending())).unwrap()
    };
    run();
    let rest = || {
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(pause)).await });
    };
    bencher.with_inputs(rest).bench_local_values(|()| run());
}

/// Output at full speed: 1 GiB of `yes` by a session.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn output(bencher: Bencher<'_, '_>) {
    let (runtime, dir) = (runtime(), tempfile::tempdir().unwrap());
    let local = Local::new(Options {
        env: env(),
        cwd: PathBuf::from("/"),
        temp_dir: dir.path().to_owned(),
        ..Options::default()
    });
    let session = Session::new(Arc::new(local), Initial::default());
    bencher.counter(divan::counter::BytesCount::new(1_u64 << 30)).bench_local(|| {
        let command = Foreground::new("yes | head -c 1073741824", "/");
        let mut count = 0;
        let mut take = |bytes: &[u8]| count += bytes.len();
        runtime.block_on(session.run(command, &mut take, std::future::pending())).unwrap();
        assert_eq!(count, 1 << 30);
    });
}
