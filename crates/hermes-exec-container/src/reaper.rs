//! Ending commands that were dropped.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::census::Doomed;
use crate::ending;
use crate::transport::{Fate, Transport};

/// How many commands are looked for at once.
const TOGETHER: usize = 64;

/// How often ending them is tried.
const TRIES: u32 = 3;

/// How long one that was given up before it began may take to begin.
const UNBORN: Duration = Duration::from_secs(1);

/// Ends commands that were dropped, on a thread of its own: the runtime may be on its way out by
/// then, and whoever drops can't wait. The thread starts with the first command to be ended, and
/// goes when the last was and nobody has this any more.
pub(crate) struct Reaper {
    transport: Arc<dyn Transport>,
    sender: Mutex<Option<Sender<Order>>>,
}

enum Order {
    End(Doomed),
    Tell(oneshot::Sender<()>),
}

impl Reaper {
    pub(crate) fn new(transport: Arc<dyn Transport>) -> Self {
        Self { transport, sender: Mutex::new(None) }
    }

    pub(crate) fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// Has a command ended with everything it started.
    pub(crate) fn end(&self, doomed: Doomed) {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let order = Order::End(doomed);
        let order = match sender.as_ref() {
            None => order,
            Some(orders) => match orders.send(order) {
                Ok(()) => return,
                Err(mpsc::SendError(order)) => order,
            },
        };
        self.begin(&mut sender, order);
    }

    fn begin(&self, sender: &mut Option<Sender<Order>>, first: Order) {
        let (orders, received) = mpsc::channel();
        let transport = Arc::clone(&self.transport);
        let work = move || work(&transport, &received);
        match thread::Builder::new().name("end-commands".to_owned()).spawn(work) {
            Ok(_) => {
                // The other side was just made.
                let _ = orders.send(first);
                *sender = Some(orders);
            }
            Err(error) => tracing::warn!(%error, "a command in a container is left running"),
        }
    }

    /// Waits until everything that was to be ended is.
    pub(crate) async fn settle(&self) {
        let told = {
            let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(sender) = sender.as_ref() else { return };
            let (tell, told) = oneshot::channel();
            if sender.send(Order::Tell(tell)).is_err() {
                return;
            }
            told
        };
        // An error means that nobody is there to be waited for.
        let _ = told.await;
    }
}

fn work(transport: &Arc<dyn Transport>, orders: &Receiver<Order>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::warn!(%error, "commands in a container are left running");
            return;
        }
    };
    while let Ok(first) = orders.recv() {
        let mut doomed = Vec::new();
        let mut waiting = Vec::new();
        for order in std::iter::once(first).chain(orders.try_iter().take(TOGETHER)) {
            match order {
                Order::End(command) => doomed.push(command),
                Order::Tell(whom) => waiting.push(whom),
            }
        }
        if !doomed.is_empty() {
            runtime.block_on(end(transport, &doomed));
            // Connections that were given up are closed only when there is time for that.
            runtime.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
        }
        for whom in waiting {
            // Who doesn't wait any more needs no answer.
            let _ = whom.send(());
        }
    }
}

async fn end(transport: &Arc<dyn Transport>, doomed: &[Doomed]) {
    if doomed.iter().any(|command| command.leader.is_none()) {
        // One that was just about to begin.
        tokio::time::sleep(UNBORN).await;
    }
    for attempt in 1..=TRIES {
        match ending::end(transport, doomed, Duration::ZERO).await {
            Ok(()) => return,
            Err(failure) if attempt == TRIES => {
                tracing::warn!(%failure, "commands in a container may still run");
            }
            // With the container all of it is gone.
            Err(_) if matches!(transport.fate().await, Fate::Gone(_)) => return,
            Err(_) => tokio::time::sleep(Duration::from_millis(200) * attempt).await,
        }
    }
}
