//! Running calls until they end or somebody presses Ctrl-C.

use std::future::Future;

use hermes_registry::CancellationToken;
use hermes_tools::task;

use crate::exit::{Exit, Failure};

/// Runs `work` on an async runtime. Ctrl-C cancels `cancel`, so that the work can end with an
/// answer to every call; a second one ends the program.
pub(crate) fn run<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("no async runtime: {error}")))?;
    let cancel = cancel.clone();
    let ended = runtime.block_on(async move {
        let _listening = task::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                cancel.cancel();
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::exit(i32::from(Exit::Interrupted as u8));
                }
            }
        });
        work.await
    });
    // Work that was given up may still hold a thread; nobody waits for it.
    runtime.shutdown_background();
    ended
}
