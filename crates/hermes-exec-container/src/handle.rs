//! Control over a command in a container.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Exit, Handle, Pid, Size};
use hermes_exec::remote::told;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::census::Doomed;
use crate::ending;
use crate::pump::{Pump, settled};
use crate::reaper::Reaper;
use crate::transport::Fate;

/// How long the command's own word of its end is waited for when the way knows of it already.
const LATE: Duration = Duration::from_secs(1);

/// The exit code of what was killed.
const KILLED: i32 = 128 + 9;

/// How long ending a command may take beside its grace.
const ENDING: Duration = Duration::from_secs(30);

/// A command in a container.
pub(crate) struct CommandHandle {
    pub(crate) doomed: Doomed,
    pub(crate) exit: watch::Receiver<Option<Exit>>,
    pub(crate) raw: Arc<dyn Handle>,
    pub(crate) reaper: Arc<Reaper>,
    /// We are ending it.
    pub(crate) is_ending: Arc<AtomicBool>,
    /// Nothing of it is alive, by what was seen inside.
    pub(crate) is_dead: watch::Sender<bool>,
    /// Nothing is left to be ended.
    pub(crate) is_over: AtomicBool,
    pub(crate) _pump: Pump,
}

impl CommandHandle {
    /// What the way says, where the command's own word doesn't come: it may be behind output that
    /// nobody reads.
    async fn late(&self) -> Exit {
        let exit = self.raw.wait().await;
        match timeout(LATE, told(self.exit.clone())).await {
            Ok(exit) => exit,
            Err(_) => {
                let is_ours = self.is_ending.load(Ordering::Acquire);
                settled(exit, self.reaper.transport(), is_ours).await
            }
        }
    }

    async fn end(&self, grace: Duration) {
        self.is_ending.store(true, Ordering::Release);
        let doomed = [self.doomed.clone()];
        let ended = ending::end(self.reaper.transport(), &doomed, grace);
        let ended = timeout(grace + ENDING, ended).await;
        match &ended {
            Ok(Ok(())) => self.is_over.store(true, Ordering::Release),
            Ok(Err(failure)) => tracing::debug!(%failure, "a command was not ended"),
            Err(_) => tracing::debug!("a command was not ended in time"),
        }
        // The way sees the end too, as a rule; but one with much to do sees it late.
        if timeout(LATE, self.wait()).await.is_err() {
            self.raw.terminate(Duration::ZERO).await;
            let is_gone = match ended {
                Ok(Ok(())) => true,
                // With the container all of it is gone.
                _ => matches!(
                    timeout(ENDING, self.reaper.transport().fate()).await,
                    Ok(Fate::Gone(_))
                ),
            };
            if is_gone {
                self.is_over.store(true, Ordering::Release);
                self.is_dead.send_replace(true);
            }
        }
    }
}

impl Handle for CommandHandle {
    fn pid(&self) -> Option<Pid> {
        self.doomed.leader.map(|leader| Pid::Inside(leader.pid))
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        let mut is_dead = self.is_dead.subscribe();
        Box::pin(async move {
            tokio::select! {
                biased;
                exit = told(self.exit.clone()) => exit,
                _ = is_dead.wait_for(|is_dead| *is_dead) => Exit::Code(KILLED),
                exit = self.late() => exit,
            }
        })
    }

    fn terminate(&self, grace: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.end(grace))
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        self.raw.resize(size)
    }

    fn release(&self) {
        self.raw.release();
        self.is_over.store(true, Ordering::Release);
    }
}

impl Drop for CommandHandle {
    fn drop(&mut self) {
        let is_lost = matches!(&*self.exit.borrow(), Some(Exit::Lost(_)));
        if !is_lost && !self.is_over.load(Ordering::Acquire) {
            self.reaper.end(self.doomed.clone());
        }
    }
}
