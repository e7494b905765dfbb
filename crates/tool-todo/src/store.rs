//! Where lists are kept: a service that the host lends to the tool.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::TodoList;

/// Keeps one list for each session.
///
/// Methods don't wait for anything but each other, so that they may be called from async code.
pub trait TodoStore: Send + Sync {
    /// The list of a session; empty if there is none yet.
    fn get(&self, session: &str) -> TodoList;

    /// Changes the list of a session. No other change comes between what `change` sees and what it
    /// leaves behind.
    fn update(&self, session: &str, change: &mut dyn FnMut(&mut TodoList));
}

/// Lists in memory, gone with the process.
#[derive(Debug, Default)]
pub struct InMemoryTodos {
    lists: Mutex<HashMap<String, TodoList>>,
}

impl InMemoryTodos {
    /// A store without lists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops the list of a session that has ended.
    pub fn forget(&self, session: &str) {
        self.lists().remove(session);
    }

    fn lists(&self) -> MutexGuard<'_, HashMap<String, TodoList>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TodoStore for InMemoryTodos {
    fn get(&self, session: &str) -> TodoList {
        self.lists().get(session).cloned().unwrap_or_default()
    }

    fn update(&self, session: &str, change: &mut dyn FnMut(&mut TodoList)) {
        change(self.lists().entry(session.to_owned()).or_default());
    }
}
