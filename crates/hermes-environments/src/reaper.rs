//! Giving up environments that nobody uses.

use std::sync::{Arc, Weak};
use std::time::Duration;

use hermes_exec::environment::Close;
use hermes_task::Tracked;

use crate::environments::{CLOSING, Environments, Slot};
use crate::lease::Entry;
use crate::sync;

/// How often it is looked for idle environments.
const ROUND: Duration = Duration::from_secs(60);

/// Looks for idle environments now and then, until nobody has environments any more.
pub(crate) fn start(environments: Weak<Environments>) -> Tracked<()> {
    hermes_task::spawn(async move {
        loop {
            tokio::time::sleep(ROUND).await;
            let Some(environments) = environments.upgrade() else { return };
            environments.reap().await;
        }
    })
}

impl Environments {
    /// Gives up the environments that were idle for longer than configured. Running background
    /// processes hold a lease, so theirs aren't among them.
    pub async fn reap(&self) {
        let lifetime = self.config().map_or(Duration::MAX, |config| config.lifetime);
        for (key, slot) in self.slots() {
            // One that is just being made is in use.
            let Ok(mut entry) = slot.try_lock() else { continue };
            let is_idle = |since: std::time::Instant| since.elapsed() >= lifetime;
            if !entry.as_ref().is_some_and(|it| it.idle_since().is_some_and(is_idle)) {
                continue;
            }
            let Some(idle) = entry.take() else { continue };
            drop(entry);
            self.drop_slot(&key, &slot);
            idle.session.close(Close::AsConfigured).await;
        }
    }
}

/// Closes an environment that has been replaced, beside the work.
pub(crate) fn give_up(entry: Arc<Entry>) {
    drop(hermes_task::spawn(close_entry(entry, Close::AsConfigured, CLOSING)));
}

/// Closes an environment within a time: an end that hangs must not hold up the program's. One whose
/// files come back before has time for that besides.
pub(crate) async fn close(slot: Arc<Slot>, how: Close, limit: Duration) {
    let entry = slot.lock().await.take();
    if let Some(entry) = entry {
        close_entry(entry, how, limit).await;
    }
}

async fn close_entry(entry: Arc<Entry>, how: Close, limit: Duration) {
    let limit = match entry.session.environment().kind() {
        "ssh" | "modal" | "daytona" => limit + sync::BACK,
        _ => limit,
    };
    let _ = tokio::time::timeout(limit, entry.session.close(how)).await;
}
