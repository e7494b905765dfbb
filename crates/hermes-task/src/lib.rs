#![doc = include_str!("../README.md")]

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio::task::{JoinError, JoinHandle};

/// A spawned task that is aborted when nobody waits for it any more.
#[derive(Debug)]
#[must_use = "dropping the handle aborts the task"]
pub struct Tracked<T> {
    handle: JoinHandle<T>,
}

/// Why a task gave no result.
#[derive(Debug)]
pub enum TaskFailure {
    /// It panicked; the text is the panic's message.
    Panicked(String),
    /// It was aborted, or the runtime is shutting down.
    Aborted,
}

/// Runs a future as a task of its own: what it does to its thread it does to nobody else.
pub fn spawn<F>(future: F) -> Tracked<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    #[expect(clippy::disallowed_methods, reason = "this is the tracked spawn helper")]
    let handle = tokio::spawn(future);
    Tracked { handle }
}

/// Runs a function on a thread where it may block.
///
/// A function that has begun can't be stopped from outside; dropping the handle abandons it, and
/// the cancellation token in its context tells it to end.
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Tracked<T> {
    Tracked { handle: tokio::task::spawn_blocking(work) }
}

impl<T> Future for Tracked<T> {
    type Output = Result<T, TaskFailure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.handle).poll(cx).map(|joined| joined.map_err(TaskFailure::from))
    }
}

impl<T> Drop for Tracked<T> {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl From<JoinError> for TaskFailure {
    fn from(error: JoinError) -> Self {
        match error.try_into_panic() {
            Ok(payload) => Self::Panicked(panic_message(&*payload)),
            Err(_) => Self::Aborted,
        }
    }
}

/// Runs a future in place; a panic in it becomes its message.
pub async fn caught<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    std::future::poll_fn(move |cx| {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(payload) => Poll::Ready(Err(panic_message(&*payload))),
        }
    })
    .await
}

/// The message of a panic, as far as it has one.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
