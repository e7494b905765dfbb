//! Cooperative cancellation without a runtime: a tree of tokens, each a future to wait on.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Tells running work that nobody waits for its result any more.
///
/// A token is cancelled when it or any of its ancestors is. Clones share one state; a
/// [`child`](Self::child) can be cancelled without its parent. The registry has no async runtime
/// underneath, so this stands in for the well-known type of the same name in `tokio-util`.
#[derive(Clone, Default)]
pub struct CancellationToken {
    node: Arc<Node>,
}

#[derive(Default)]
struct Node {
    cancelled: AtomicBool,
    waiting: Mutex<Waiting>,
    // A child looks up its ancestors; they keep no list of children, so that short-lived children
    // cost their parent neither memory nor a lock.
    parent: Option<Arc<Node>>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    wakers: Vec<(u64, Waker)>,
}

impl Node {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CancellationToken {
    /// A token that nothing else can cancel.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, and can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { node: Arc::new(Node { parent: Some(Arc::clone(&self.node)), ..Node::default() }) }
    }

    /// Cancels this token and all its descendants. A second call changes nothing.
    pub fn cancel(&self) {
        self.node.cancelled.store(true, Ordering::SeqCst);
        let woken = std::mem::take(&mut self.node.waiting().wakers);
        for (_, waker) in woken {
            waker.wake();
        }
    }

    /// Whether this token or an ancestor is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.lineage().any(|node| node.cancelled.load(Ordering::SeqCst))
    }

    /// Resolves once the token is cancelled.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { token: self.clone(), places: Vec::new() }
    }

    fn lineage(&self) -> impl Iterator<Item = &Arc<Node>> {
        std::iter::successors(Some(&self.node), |node| node.parent.as_ref())
    }
}

impl std::fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CancellationToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

/// The future of [`CancellationToken::cancelled`].
#[derive(Debug)]
#[must_use = "a future does nothing until it is awaited"]
pub struct Cancelled {
    token: CancellationToken,
    // Where this future's waker lies: one entry in each node from the token up to the root.
    places: Vec<(Arc<Node>, u64)>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Node")
    }
}

impl Cancelled {
    fn forget(&mut self) {
        for (node, key) in self.places.drain(..) {
            node.waiting().wakers.retain(|(k, _)| *k != key);
        }
    }
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.forget();
        if self.token.is_cancelled() {
            return Poll::Ready(());
        }
        let mut next = Some(Arc::clone(&self.token.node));
        while let Some(node) = next {
            let key = {
                let mut waiting = node.waiting();
                waiting.next += 1;
                let key = waiting.next;
                waiting.wakers.push((key, cx.waker().clone()));
                key
            };
            next = node.parent.clone();
            self.places.push((node, key));
        }
        // A cancel between the first look and the registration has woken nobody.
        if self.token.is_cancelled() {
            self.forget();
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::FutureExt as _;

    #[test]
    fn cancelling_reaches_descendants_only() {
        let root = CancellationToken::new();
        let (a, b) = (root.child(), root.child());
        let grandchild = a.child();
        a.cancel();
        assert!(a.is_cancelled() && grandchild.is_cancelled());
        assert!(!root.is_cancelled() && !b.is_cancelled());
        root.cancel();
        assert!(b.is_cancelled());
    }

    #[test]
    fn waiting_on_a_child_ends_when_the_root_is_cancelled_from_another_thread() {
        let root = CancellationToken::new();
        let waiting = root.child().child().cancelled();
        let canceller = std::thread::spawn({
            let root = root.clone();
            move || root.cancel()
        });
        futures_util::future::FutureExt::map(waiting, |()| ()).now_or_never();
        canceller.join().unwrap();
        assert!(root.child().cancelled().now_or_never().is_some());
    }

    #[test]
    fn a_dropped_wait_leaves_no_waker_behind() {
        let root = CancellationToken::new();
        let child = root.child();
        assert!(child.cancelled().now_or_never().is_none());
        assert!(root.node.waiting().wakers.is_empty());
        assert!(child.node.waiting().wakers.is_empty());
    }
}
