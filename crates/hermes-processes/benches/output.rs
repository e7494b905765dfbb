//! Endless output: how fast a session takes it in and turns it into what a model is shown, beside
//! the same pipe into `cat >/dev/null`, and how much memory that costs.
//!
//! `cargo bench -p hermes-processes --bench output`

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a bench without its programs has nothing to measure")]
#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_exec::local::{Local, Options};
use hermes_exec::program::Program;
use hermes_exec::session::{Ended, Foreground, Initial, Session};
use hermes_terminal::Collector;

const GIB: u64 = 1 << 30;
const BYTES: u64 = 4 * GIB;
const ROUNDS: usize = 3;

/// What writes: the usual, and lines as programs write them.
const WRITERS: [(&str, &str); 3] = [
    ("y", "yes"),
    ("lines", "yes 'a line of plain text of a usual length, as compilers write it'"),
    ("colours", "yes $'\\e[32mok\\e[0m ünder all lines there is one with 10 %\\r20 %'"),
];

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let child = std::env::args().skip_while(|arg| arg != "--child").nth(1);
    match child {
        Some(command) => runtime.block_on(child_of(&command)),
        None => runtime.block_on(parent()),
    }
}

async fn parent() {
    for (name, writer) in WRITERS {
        let command = format!("{writer} | head -c {BYTES}");
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            let plain = format!("{command} | cat >/dev/null");
            Program::new(["bash", "-c", &plain]).env(env()).run().await.unwrap();
            let plain = begin.elapsed();
            let (took, memory) = measured(&command).await;
            let speed = |time: Duration| BYTES as f64 / GIB as f64 / time.as_secs_f64();
            let ratio = plain.as_secs_f64() / took.as_secs_f64();
            println!(
                "{name:<8} cat {:.2} GiB/s, session {:.2} GiB/s, ratio {ratio:.2}, {memory} kB",
                speed(plain),
                speed(took),
            );
            ratios.push(ratio);
        }
        ratios.sort_by(f64::total_cmp);
        println!("{name:<8} ratio {:.2}", ratios.get(ROUNDS / 2).unwrap());
    }
    let (took, memory) = measured("yes").await;
    println!("`yes` until it is stopped: {:.1} s, {memory} kB", took.as_secs_f64());
}

/// Runs a command in a process of its own: how long it took, and the kB of memory at its height
/// above those of the idle process.
async fn measured(command: &str) -> (Duration, u64) {
    let own = std::env::current_exe().unwrap();
    let own = own.to_str().unwrap();
    let child = Program::new([own, "--child", command]).env(env());
    let said = child.run().await.unwrap();
    let said = said.stdout.text().into_owned();
    let mut numbers = said.split_whitespace().map(|number| number.parse::<u64>().unwrap());
    (Duration::from_micros(numbers.next().unwrap()), numbers.next().unwrap())
}

async fn child_of(command: &str) {
    let dir = tempfile::tempdir().unwrap();
    let local = Local::new(Options {
        env: env().to_vec(),
        cwd: PathBuf::from("/"),
        temp_dir: dir.path().to_owned(),
        ..Options::default()
    });
    let session = Session::new(Arc::new(local), Initial::default());
    let run = async |command: &str| {
        let limit = match command {
            "yes" => Some(Duration::from_secs(10)),
            _ => None,
        };
        let foreground = Foreground { timeout: limit, ..Foreground::new(command, "/") };
        let mut collector = Collector::new(50_000);
        let mut take = |bytes: &[u8]| collector.push(bytes);
        let finished = session.run(foreground, &mut take, std::future::pending()).await.unwrap();
        let ended = if limit.is_some() { Ended::TimedOut } else { Ended::Exited(0) };
        assert_eq!(finished.ended, ended);
        collector.finish("", &|text| text.into())
    };
    run("true").await;
    let idle = status("VmRSS:");
    let begin = Instant::now();
    let output = run(command).await;
    let took = begin.elapsed();
    assert!(output.is_truncated && output.text.len() > 40_000);
    println!("{} {}", took.as_micros(), status("VmHWM:").saturating_sub(idle));
}

fn env() -> [(String, String); 1] {
    [("PATH".to_owned(), "/usr/bin:/bin".to_owned())]
}

/// A figure of this process, in kB.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
