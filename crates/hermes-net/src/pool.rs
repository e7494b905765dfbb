//! Connections that wait for the next request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_guard::urls::{Target, UrlPolicy};

use crate::connect::Connection;

/// How many wait for one host, and in all.
const MOST: (usize, usize) = (16, 128);
/// How long one waits. Servers give up after a minute or more.
const LONGEST: Duration = Duration::from_secs(50);

/// What a connection is good for. The policy is part of it: a connection that was allowed for one
/// request isn't for another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    is_https: bool,
    host: String,
    port: u16,
    allow_private: bool,
}

impl Key {
    pub(crate) fn new(target: &Target, policy: UrlPolicy) -> Self {
        Self {
            is_https: target.url().scheme() == "https",
            host: target.host().to_string(),
            port: target.port(),
            allow_private: policy.allow_private,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Pool {
    idle: Mutex<HashMap<Key, Vec<(Connection, Instant)>>>,
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, HashMap<Key, Vec<(Connection, Instant)>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that waited the shortest.
    pub(crate) fn take(&self, key: &Key) -> Option<Connection> {
        let mut idle = self.idle();
        let waiting = idle.get_mut(key)?;
        while let Some((connection, since)) = waiting.pop() {
            if since.elapsed() < LONGEST && connection.sender.is_ready() {
                return Some(connection);
            }
        }
        idle.remove(key);
        None
    }

    pub(crate) fn put(&self, key: Key, connection: Connection) {
        let (most, in_all) = MOST;
        let mut idle = self.idle();
        idle.retain(|_, waiting| {
            waiting.retain(|(connection, since)| {
                since.elapsed() < LONGEST && !connection.sender.is_closed()
            });
            !waiting.is_empty()
        });
        if idle.values().map(Vec::len).sum::<usize>() >= in_all {
            return;
        }
        let waiting = idle.entry(key).or_default();
        if waiting.len() < most {
            waiting.push((connection, Instant::now()));
        }
    }
}
