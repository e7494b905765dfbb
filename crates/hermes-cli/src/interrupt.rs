//! Running calls until they end or somebody wants the program to.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use hermes_registry::CancellationToken;
use hermes_tools::task;
use tokio::sync::oneshot;

use crate::exit::{Exit, Failure};
use crate::silence;

/// How long an interrupted program waits for what it gave up: programs it started are killed in
/// that time, and a thread that doesn't listen is left behind.
const TO_CLEAN_UP: Duration = Duration::from_millis(500);

/// Whether and how somebody wants the program to end: by Ctrl-C, by `SIGTERM`, or because the
/// terminal went away.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    cancel: CancellationToken,
    signal: Arc<AtomicU8>,
}

impl Interrupt {
    /// An interrupt that has not come yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Cancelled when it comes.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.cancel
    }

    /// How the program ends if it came.
    pub(crate) fn exit(&self) -> Option<Exit> {
        [Exit::HungUp, Exit::Interrupted, Exit::Terminated]
            .into_iter()
            .find(|exit| *exit as u8 == self.signal.load(Ordering::Acquire))
    }

    /// Runs `work` on an async runtime. A signal cancels the token, so that the work can end with
    /// an answer to every call; a second one drops the work.
    pub(crate) fn run<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Failure::failed(format!("no async runtime: {error}")))?;
        let this = self.clone();
        let ended = runtime.block_on(async move {
            let (insist, insisted) = oneshot::channel();
            let _listening = task::spawn(this.listen(insist));
            tokio::select! {
                biased;
                ended = work => ended,
                Ok(exit) = insisted => Err(Failure::stopped(exit)),
            }
        });
        // Work that was given up may still hold a thread, for which nobody waits long.
        let patience = if self.exit().is_some() { TO_CLEAN_UP } else { Duration::ZERO };
        runtime.shutdown_timeout(patience);
        ended
    }

    /// As [`run`](Self::run), for work that knows nothing of the token: the first signal drops it.
    pub(crate) fn run_or_drop<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        self.run(async {
            tokio::select! {
                biased;
                ended = work => Ok(ended),
                () = self.cancel.cancelled() => {
                    Err(Failure::stopped(self.exit().unwrap_or(Exit::Interrupted)))
                }
            }
        })
    }

    async fn listen(self, insist: oneshot::Sender<Exit>) {
        let Ok(mut signals) = Signals::new() else { return };
        let first = signals.next().await;
        self.signal.store(first as u8, Ordering::Release);
        self.cancel.cancel();
        let second = signals.next().await;
        // Whoever took it is gone if the work has ended; a thread that blocks can't take it.
        let _ = insist.send(second);
        tokio::time::sleep(2 * TO_CLEAN_UP).await;
        silence::end();
        std::process::exit(i32::from(second as u8));
    }
}

/// The signals that end programs.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None if whoever started the program said that it is to live on without its terminal.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up,
        })
    }

    async fn next(&mut self) -> Exit {
        let hang_up = async {
            match &mut self.hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
            _ = hang_up => Exit::HungUp,
        }
    }
}

/// Whether the program was started by `nohup` or the like. Where that can't be seen it was not.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    /// The bit of `SIGHUP`, signal 1.
    const HANG_UP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & HANG_UP != 0)
}

/// The signals that end programs.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Exit {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Exit::Interrupted
    }
}
