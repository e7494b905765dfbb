//! What a conversation should hear of.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::checkpoint::Routing;
use crate::state::{Reason, Source};

/// Most events that wait. Whoever never fetches them loses the oldest.
const MOST: usize = 10_000;

/// Something that happened to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The process.
    pub process: String,
    /// Its command, secrets masked.
    pub command: String,
    /// Whose process it is; empty for nobody's.
    pub session_key: String,
    /// Where an answer would go.
    pub routing: Routing,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It ended.
    Completion {
        /// Its exit code, if known.
        exit_code: Option<i32>,
        /// Why it ended.
        reason: Reason,
        /// Who ended it.
        source: Source,
        /// The end of its output, secrets masked.
        output: String,
    },
    /// A pattern was found in its output.
    WatchMatch {
        /// The pattern.
        pattern: String,
        /// The lines, secrets masked.
        output: String,
        /// How many matches were not told of before.
        suppressed: u64,
    },
    /// It is no longer watched: there were too many matches.
    WatchDisabled {
        /// How many matches were not told of.
        suppressed: u64,
    },
    /// All processes together told too much; matches are dropped for a while.
    WatchOverflowTripped,
    /// Matches are told again.
    WatchOverflowReleased {
        /// How many were dropped.
        dropped: u64,
    },
}

impl EventKind {
    /// The name in events.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Completion { .. } => "completion",
            Self::WatchMatch { .. } => "watch_match",
            Self::WatchDisabled { .. } => "watch_disabled",
            Self::WatchOverflowTripped => "watch_overflow_tripped",
            Self::WatchOverflowReleased { .. } => "watch_overflow_released",
        }
    }
}

impl Event {
    /// What the model is told, as a message from outside of the conversation.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { process, command, kind, .. } = self;
        let head = |what: &str| format!("[IMPORTANT: Background process {process} {what}]");
        let about = |what: &str| format!("{}\nCommand: {command}", head(what));
        match kind {
            EventKind::Completion { exit_code, reason, output, .. } => {
                let code = exit_code.map_or("unknown".to_owned(), |code| code.to_string());
                let what = match reason {
                    Reason::Exited => format!("has ended with exit code {code}"),
                    Reason::Killed => "was ended".to_owned(),
                    Reason::Lost => "is lost: its machine can't be reached".to_owned(),
                    Reason::FailedStart => "could not be started".to_owned(),
                };
                format!("{}\nOutput:\n{output}", about(&what))
            }
            EventKind::WatchMatch { pattern, output, suppressed } => {
                let more = match suppressed {
                    0 => String::new(),
                    count => format!("\n({count} earlier matches were not told)"),
                };
                let what = format!("wrote a line with \"{pattern}\"");
                format!("{}\nMatched:\n{output}{more}", about(&what))
            }
            EventKind::WatchDisabled { .. } => about(
                "matches its patterns too often and is no longer watched; its end will be told",
            ),
            EventKind::WatchOverflowTripped => head(
                "and others match their patterns too often: matches are dropped for 30 seconds",
            ),
            EventKind::WatchOverflowReleased { dropped } => {
                head(&format!("is watched again after a pause; {dropped} matches were dropped"))
            }
        }
    }
}

/// Who fetches events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient<'a> {
    /// Everybody: a program with one conversation.
    All,
    /// The conversation with this key: its own events, and those addressed to nobody.
    Session(&'a str),
}

/// The events that wait to be fetched.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    events: Mutex<VecDeque<Event>>,
}

impl Queue {
    pub(crate) fn push(&self, event: Event) {
        let mut events = self.lock();
        if events.len() >= MOST {
            events.pop_front();
        }
        events.push_back(event);
    }

    /// Takes the events of a recipient; those of others stay, in their order.
    pub(crate) fn drain(&self, recipient: Recipient<'_>) -> Vec<Event> {
        let mut events = self.lock();
        let (mine, others) =
            std::mem::take(&mut *events).into_iter().partition(|event| match recipient {
                Recipient::All => true,
                Recipient::Session(key) => event.session_key.is_empty() || event.session_key == key,
            });
        *events = others;
        Vec::from(mine)
    }

    /// Drops the news of an end that somebody knows of already.
    pub(crate) fn consume_completion(&self, process: &str) {
        self.lock().retain(|event| {
            event.process != process || !matches!(event.kind, EventKind::Completion { .. })
        });
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn event(process: &str, session_key: &str) -> Event {
        Event {
            process: process.to_owned(),
            command: "make".to_owned(),
            session_key: session_key.to_owned(),
            routing: Routing::default(),
            kind: EventKind::Completion {
                exit_code: Some(0),
                reason: Reason::Exited,
                source: Source::Itself,
                output: "done".to_owned(),
            },
        }
    }

    #[test]
    fn events_go_to_whom_they_are_addressed() {
        let queue = Queue::default();
        for (process, key) in [("a", "x"), ("b", "y"), ("c", ""), ("d", "x")] {
            queue.push(event(process, key));
        }
        queue.consume_completion("d");
        let names = |events: Vec<Event>| -> String {
            events.into_iter().map(|event| event.process).collect()
        };
        assert_eq!(names(queue.drain(Recipient::Session("x"))), "ac");
        assert_eq!(names(queue.drain(Recipient::Session("z"))), "");
        assert_eq!(names(queue.drain(Recipient::All)), "b");
    }

    #[test]
    fn messages_say_what_happened() {
        let message = event("proc_1", "").message();
        assert!(
            message.starts_with("[IMPORTANT: Background process proc_1 has ended"),
            "{message}"
        );
        assert!(message.ends_with("Command: make\nOutput:\ndone"), "{message}");
    }
}
