//! Very many commands at once, ended in all ways there are; and what is left of them.
//!
//! For any environment: `#[path]` brings it into the tests of another crate.

pub(crate) mod commands;
pub(crate) mod table;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hermes_exec::environment::{BoxFuture, Dialect, Environment, Start, StartFailure, Stdin};
use hermes_exec::session::{Background, Ended, Foreground, Initial, Session};
use hermes_processes::{Killed, Options, Processes, Routing, Source, Spawn, Waited};
use tokio::io::AsyncReadExt as _;

use self::commands::{Command, End, Expect, Rng};
use self::table::Table;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) commands: u64,
    pub(crate) at_once: u64,
    /// Whether the environment has terminals.
    pub(crate) terminals: bool,
}

/// Takes the machine or the way there away while commands run.
#[allow(dead_code, reason = "not every environment can be taken away")]
pub(crate) struct Cut {
    /// How many commands were begun before.
    pub(crate) after: u64,
    pub(crate) how: BoxFuture<'static, ()>,
}

/// What became of a command.
pub(crate) enum Outcome {
    /// What should.
    Good(&'static str),
    /// Nobody knows, as was said.
    Lost(String),
    Wrong(String),
}

impl From<StartFailure> for Outcome {
    fn from(failure: StartFailure) -> Self {
        Self::Lost(failure.message)
    }
}

/// Kilobytes that the allocator may keep of what was used at the same time. Given back by
/// `malloc_trim`, what 5,000 commands with 200 at once left was 9 MB.
const KEPT: u64 = 96 * 1024;

/// Whatever takes longer than this hangs.
const HANGS: Duration = Duration::from_secs(120);

struct Soak {
    session: Session,
    processes: Arc<Processes>,
    table: Mutex<Table>,
    next: AtomicU64,
    /// Commands may be lost from now on.
    is_cut: AtomicBool,
    plan: Plan,
}

/// Runs commands as planned, and panics if one of them did what it should not, or left something.
/// `home` is a folder for lists and output of processes. Returns the counts.
pub(crate) async fn soak(
    environment: Arc<dyn Environment>,
    home: PathBuf,
    plan: Plan,
    cut: Option<Cut>,
) -> Table {
    let before = {
        // What is made once is there before it is counted.
        let warm = Plan { commands: 40, at_once: 20, ..plan };
        round(Arc::clone(&environment), home.clone(), warm, None).await;
        Own::settled(None).await
    };
    let (begin, is_cut) = (Instant::now(), cut.is_some());
    let mut table = round(environment, home, plan, cut).await;
    let took = begin.elapsed();
    let after = Own::settled(Some(&before)).await;
    table.line(format!(
        "{} commands, {} at once, seed {:#x}: {:.1} s",
        plan.commands,
        plan.at_once,
        plan.seed,
        took.as_secs_f64()
    ));
    table.line(format!("before: {before:?}"));
    table.line(format!("after:  {after:?}"));
    assert!(table.is_good(), "commands went wrong\n{table}");
    assert!(!is_cut || table.of("lost") > 0, "nothing is lost\n{table}");
    // A way to another machine may have some.
    assert!(after.children <= before.children, "children are left\n{table}");
    let open = || -> Vec<_> {
        let entries = std::fs::read_dir("/proc/self/fd").unwrap();
        entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).collect()
    };
    assert!(after.descriptors <= before.descriptors, "descriptors are left: {:?}\n{table}", open());
    assert!(after.threads <= before.threads, "threads are left\n{table}");
    assert!(after.kilobytes < before.kilobytes + KEPT, "memory is left\n{table}");
    table
}

async fn round(
    environment: Arc<dyn Environment>,
    home: PathBuf,
    plan: Plan,
    cut: Option<Cut>,
) -> Table {
    let options =
        Options { home: Some(home), grace: Duration::from_millis(500), ..Options::default() };
    let soak = Arc::new(Soak {
        session: Session::new(environment, Initial::default()),
        processes: Processes::new(options),
        table: Mutex::default(),
        next: AtomicU64::new(0),
        is_cut: AtomicBool::new(false),
        plan,
    });
    let cutter = {
        let soak = Arc::clone(&soak);
        hermes_task::spawn(async move {
            let Some(cut) = cut else { return };
            while soak.next.load(Ordering::Relaxed) < cut.after {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            soak.is_cut.store(true, Ordering::Relaxed);
            cut.how.await;
        })
    };
    let workers: Vec<_> = (0..plan.at_once)
        .map(|_| {
            let soak = Arc::clone(&soak);
            hermes_task::spawn(async move {
                loop {
                    let number = soak.next.fetch_add(1, Ordering::Relaxed);
                    if number >= soak.plan.commands {
                        return;
                    }
                    soak.one(number).await;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    cutter.await.unwrap();
    soak.processes.kill_all(None).await;
    let Ok(soak) = Arc::try_unwrap(soak) else { panic!("somebody has the session") };
    let environment = Arc::clone(soak.session.environment());
    let folder = soak.session.folder().to_owned();
    // With the shell that waits for another command.
    drop(soak.session);
    let left = left(&*environment, &folder, soak.is_cut.load(Ordering::Relaxed)).await;
    let mut table = soak.table.into_inner().unwrap();
    table.line(format!("processes left: {}", left.len()));
    assert!(left.is_empty(), "processes are left: {left:#?}\n{table}");
    table
}

impl Soak {
    async fn one(&self, number: u64) {
        let mut rng = Rng::new(self.plan.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let command = commands::pick(&mut rng, self.plan.terminals);
        let outcome = match tokio::time::timeout(HANGS, self.run(&command, &mut rng)).await {
            Ok(outcome) => outcome.unwrap_or_else(|failed| failed),
            Err(_) => Outcome::Wrong("hangs".to_owned()),
        };
        let outcome = match outcome {
            Outcome::Lost(_) if self.is_cut.load(Ordering::Relaxed) => Outcome::Good("lost"),
            outcome => outcome,
        };
        self.table.lock().unwrap().count(&command, outcome);
    }

    /// What became of a command.
    async fn run(&self, command: &Command, rng: &mut Rng) -> Result<Outcome, Outcome> {
        if command.is_background {
            self.background(command, rng).await
        } else {
            self.foreground(command, rng).await
        }
    }

    async fn foreground(&self, command: &Command, rng: &mut Rng) -> Result<Outcome, Outcome> {
        let after = Duration::from_millis(rng.below(400));
        let foreground = Foreground {
            timeout: (command.end == End::Timeout).then_some(after),
            stdin: command.stdin.clone().map_or(Stdin::Null, Stdin::Bytes),
            ..Foreground::new(&*command.text, "/")
        };
        let mut kept = Vec::new();
        let mut count = 0;
        let mut take = |bytes: &[u8]| {
            count += bytes.len();
            kept.extend_from_slice(&bytes[..bytes.len().min(1000 - kept.len().min(1000))]);
        };
        let stop: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> = match command.end {
            End::Stop => Box::pin(tokio::time::sleep(after)),
            _ => Box::pin(std::future::pending()),
        };
        let run = self.session.run(foreground, &mut take, stop);
        let ended = if command.end == End::Drop {
            match tokio::time::timeout(after, run).await {
                Err(_) => return Ok(Outcome::Good("dropped")),
                Ok(ended) => ended,
            }
        } else {
            run.await
        };
        let ended = ended?.ended;
        let text = String::from_utf8_lossy(&kept);
        Ok(match (command.end, ended) {
            (End::Timeout, Ended::TimedOut) => Outcome::Good("timed out"),
            (End::Stop, Ended::Interrupted) => Outcome::Good("interrupted"),
            (End::Itself, Ended::Exited(code)) => command.check(code, &text, count),
            (_, Ended::Lost(why)) => Outcome::Lost(why),
            (_, ended) => Outcome::Wrong(format!("{ended:?} {text}")),
        })
    }

    async fn background(&self, command: &Command, rng: &mut Rng) -> Result<Outcome, Outcome> {
        let after = Duration::from_millis(rng.below(400));
        let background = Background {
            command: command.text.clone(),
            cwd: "/".to_owned(),
            env: Vec::new(),
            stdin: command.stdin.clone().map_or(Stdin::Open, Stdin::Bytes),
            terminal: command.terminal,
        };
        let running = self.session.spawn(background).await?;
        if command.end == End::Drop {
            tokio::time::sleep(after).await;
            drop(running);
            return Ok(Outcome::Good("dropped"));
        }
        let spawn = Spawn {
            running,
            lease: None,
            command: command.text.clone(),
            cwd: "/".to_owned(),
            task: "task".to_owned(),
            session_key: "key".to_owned(),
            routing: Routing::default(),
            terminal: command.terminal,
            notify: rng.below(2) == 0,
            patterns: if rng.below(4) == 0 { vec!["ready".to_owned()] } else { Vec::new() },
        };
        let process = self.processes.take(spawn).await;
        if command.end != End::Itself {
            tokio::time::sleep(after).await;
            return Ok(match process.kill(Source::ProcessKill).await {
                Killed::Killed(_) => Outcome::Good("killed"),
                Killed::AlreadyExited(ended) if ended.code.is_none() => {
                    Outcome::Lost(format!("{ended:?}"))
                }
                other => Outcome::Wrong(format!("{other:?}")),
            });
        }
        Ok(match process.wait(HANGS, std::future::pending()).await {
            Waited::Ended(ended) => {
                let text = process.preview(1000);
                match ended.code {
                    Some(code) => command.check(code, &text, text.len()),
                    None => Outcome::Lost(format!("{ended:?}")),
                }
            }
            other => Outcome::Wrong(format!("{other:?}")),
        })
    }
}

/// The processes of commands that are there still. What a command leaves behind when it ends by
/// itself goes on, but here never for long.
async fn left(environment: &dyn Environment, folder: &str, is_cut: bool) -> Vec<String> {
    let name = Path::new(folder).file_name().unwrap().to_str().unwrap();
    let secret = name.trim_start_matches("hermes-");
    let script = format!(
        "for p in /proc/[0-9]*; do if tr '\\000' '\\n' <\"$p/environ\" | \
         grep -q '^HERMES_COMMAND_ID={secret}'; then tr '\\000' ' ' <\"$p/cmdline\"; echo; fi; \
         done 2>/dev/null"
    );
    let mut left = Vec::new();
    for _ in 0..40 {
        let start = Start { dialect: Dialect::Posix, ..Start::new(&*script) };
        let mut running = match environment.start(start).await {
            Ok(running) => running,
            // With the machine all of it is gone.
            Err(failure) if failure.is_gone && is_cut => break,
            Err(failure) => panic!("{failure}"),
        };
        let mut said = String::new();
        running.output.read_to_string(&mut said).await.unwrap();
        left = said.lines().map(str::to_owned).collect();
        if left.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    left
}

/// What this process has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    children: usize,
    descriptors: usize,
    threads: usize,
    kilobytes: u64,
}

impl Own {
    fn now() -> Self {
        let entries = |path: &str| std::fs::read_dir(path).unwrap().count();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let own = std::process::id().to_string();
        let all = std::fs::read_dir("/proc").unwrap();
        let children = all.filter(|entry| {
            let stat = entry.as_ref().unwrap().path().join("stat");
            let stat = std::fs::read_to_string(stat).unwrap_or_default();
            let fields = stat.rsplit(") ").next().unwrap_or_default();
            fields.split(' ').nth(1) == Some(&*own)
        });
        Self {
            // Zombies are among them.
            children: children.count(),
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
            kilobytes: line.trim().trim_end_matches(" kB").parse().unwrap(),
        }
    }

    /// Once nothing is less any more, or as little as it was before. Threads for work that blocks
    /// end when they were idle for some seconds.
    async fn settled(before: Option<&Self>) -> Self {
        let mut own = Self::now();
        let mut same = 0;
        for _ in 0..150 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let now = Self::now();
            let is_less = now.children < own.children
                || now.descriptors < own.descriptors
                || now.threads < own.threads;
            same = if is_less { 0 } else { same + 1 };
            own = now;
            let is_good = before.is_some_and(|before| {
                own.children <= before.children
                    && own.descriptors <= before.descriptors
                    && own.threads <= before.threads
            });
            if is_good || (before.is_none() && same > 10) {
                break;
            }
        }
        own
    }
}

impl Command {
    fn check(&self, code: i32, text: &str, count: usize) -> Outcome {
        let is_right = match &self.expect {
            Expect::Code(expected) => code == *expected,
            Expect::Says(expected) => code == 0 && text.trim() == *expected,
            Expect::Bytes(expected) => code == 0 && (self.is_background || count == *expected),
        };
        if is_right {
            Outcome::Good("ended")
        } else {
            Outcome::Wrong(format!("code {code}, {count} bytes: {text}"))
        }
    }
}
