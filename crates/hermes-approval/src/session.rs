//! What is remembered of each session, and the questions that wait in it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::approver::{Answer, Prompter};
use crate::question::Ask;

/// The way to a person that a notice takes; an error says why it didn't arrive.
pub type NotifyFuture<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Tells the person behind a messaging platform that something waits for them.
pub trait Notifier: Send + Sync {
    /// Sends the notice. The answer comes by [`Sessions::answer`].
    fn notify<'a>(&'a self, ask: &'a Ask) -> NotifyFuture<'a>;
}

/// Which of the waiting questions an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// The one that has waited longest.
    Oldest,
    /// Every one.
    All,
    /// The one with this id.
    Id(&'a str),
}

/// All sessions of a process. Cheap to clone; clones are the same sessions.
#[derive(Clone, Default)]
pub struct Sessions {
    by_key: Arc<Mutex<HashMap<String, State>>>,
}

#[derive(Default)]
struct State {
    approved: BTreeSet<String>,
    is_yolo: bool,
    pending: Option<Arc<Pending>>,
    /// The commands that may run once more, by their digest.
    tickets: BTreeSet<String>,
    queue: VecDeque<Entry>,
    notifier: Option<Arc<dyn Notifier>>,
    prompter: Option<Arc<dyn Prompter>>,
}

/// A question that nobody was there to hear.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) ask: Arc<Ask>,
    /// The digest of the command itself, secrets and all.
    pub(crate) digest: String,
}

struct Entry {
    ask: Arc<Ask>,
    wake: oneshot::Sender<Answer>,
}

/// A question in the queue of its session. Leaves the queue when it is dropped.
pub(crate) struct Waiting {
    sessions: Sessions,
    session: String,
    id: String,
    answer: oneshot::Receiver<Answer>,
}

impl Waiting {
    /// The answer; none when nobody listens to the session any more.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut sessions = self.sessions.lock();
        if let Some(state) = sessions.get_mut(&self.session) {
            state.queue.retain(|entry| entry.ask.id != self.id);
        }
    }
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, State>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, session: &str, read: impl FnOnce(&State) -> T) -> Option<T> {
        self.lock().get(session).map(read)
    }

    fn edit<T>(&self, session: &str, edit: impl FnOnce(&mut State) -> T) -> T {
        edit(self.lock().entry(session.to_owned()).or_default())
    }

    /// Switches yolo mode of a session on or off. An empty key is nobody's.
    pub fn set_yolo(&self, session: &str, is_on: bool) {
        if !session.is_empty() {
            self.edit(session, |state| state.is_yolo = is_on);
        }
    }

    /// Turns yolo mode of a session over; what it is now.
    pub fn toggle_yolo(&self, session: &str) -> bool {
        let is_on = !self.is_yolo(session);
        self.set_yolo(session, is_on);
        self.is_yolo(session)
    }

    /// Whether a session is in yolo mode.
    #[must_use]
    pub fn is_yolo(&self, session: &str) -> bool {
        self.with(session, |state| state.is_yolo).unwrap_or_default()
    }

    /// Remembers keys for the rest of a session. Whoever has no key is remembered nothing for.
    pub fn approve(&self, session: &str, keys: impl IntoIterator<Item = String>) {
        if !session.is_empty() {
            self.edit(session, |state| state.approved.extend(keys));
        }
    }

    /// What a session remembers.
    #[must_use]
    pub fn approved(&self, session: &str) -> BTreeSet<String> {
        self.with(session, |state| state.approved.clone()).unwrap_or_default()
    }

    /// Forgets a session. What waits in it is denied.
    pub fn clear(&self, session: &str) {
        let state = self.lock().remove(session);
        for entry in state.into_iter().flat_map(|state| state.queue) {
            // Whoever waited may be gone.
            let _ = entry.wake.send(Answer::NO);
        }
    }

    /// Sets who tells the person of a session about questions.
    pub fn register(&self, session: &str, notifier: Arc<dyn Notifier>) {
        self.edit(session, |state| state.notifier = Some(notifier));
    }

    /// Takes back [`register`](Self::register). What waits goes unanswered.
    pub fn unregister(&self, session: &str) {
        let queue = self.edit(session, |state| {
            state.notifier = None;
            std::mem::take(&mut state.queue)
        });
        // Dropping the other ends wakes those who wait.
        drop(queue);
    }

    /// Sets the dialog of a session, in place of the host's; none takes it back.
    pub fn set_prompter(&self, session: &str, prompter: Option<Arc<dyn Prompter>>) {
        self.edit(session, |state| state.prompter = prompter);
    }

    pub(crate) fn notifier(&self, session: &str) -> Option<Arc<dyn Notifier>> {
        self.with(session, |state| state.notifier.clone()).flatten()
    }

    pub(crate) fn prompter(&self, session: &str) -> Option<Arc<dyn Prompter>> {
        self.with(session, |state| state.prompter.clone()).flatten()
    }

    pub(crate) fn push(&self, ask: Arc<Ask>) -> Waiting {
        let (wake, answer) = oneshot::channel();
        let (session, id) = (ask.session.clone(), ask.id.clone());
        self.edit(&session, |state| state.queue.push_back(Entry { ask, wake }));
        Waiting { sessions: self.clone(), session, id, answer }
    }

    /// The questions that wait in a session, oldest first.
    #[must_use]
    pub fn waiting(&self, session: &str) -> Vec<Arc<Ask>> {
        let asks = |state: &State| state.queue.iter().map(|it| Arc::clone(&it.ask)).collect();
        self.with(session, asks).unwrap_or_default()
    }

    /// Answers waiting questions, and says how many.
    pub fn answer(&self, session: &str, which: Which<'_>, answer: &Answer) -> usize {
        let mut woken = Vec::new();
        if let Some(state) = self.lock().get_mut(session) {
            for entry in std::mem::take(&mut state.queue) {
                let is_meant = match which {
                    Which::Oldest => woken.is_empty(),
                    Which::All => true,
                    Which::Id(id) => entry.ask.id == id,
                };
                // One whose owner is gone can't take an answer.
                match entry.wake.is_closed() {
                    true => {}
                    false if is_meant => woken.push(entry.wake),
                    false => state.queue.push_back(entry),
                }
            }
        }
        woken.into_iter().filter_map(|wake| wake.send(answer.clone()).ok()).count()
    }

    /// Keeps a question that nobody was there to hear.
    pub(crate) fn set_pending(&self, ask: Arc<Ask>, digest: String) {
        let session = ask.session.clone();
        self.edit(&session, |state| state.pending = Some(Arc::new(Pending { ask, digest })));
    }

    /// The question of a session that nobody was there to hear.
    #[must_use]
    pub fn pending(&self, session: &str) -> Option<Arc<Ask>> {
        let ask = |state: &State| state.pending.as_ref().map(|it| Arc::clone(&it.ask));
        self.with(session, ask).flatten()
    }

    pub(crate) fn take_pending(&self, session: &str) -> Option<Arc<Pending>> {
        self.edit(session, |state| state.pending.take())
    }

    /// Lets the command with this digest run once.
    pub(crate) fn allow_once(&self, session: &str, digest: String) {
        self.edit(session, |state| state.tickets.insert(digest));
    }

    /// Whether the command with this digest may run once, which uses that up.
    pub(crate) fn use_ticket(&self, session: &str, digest: &str) -> bool {
        self.lock().get_mut(session).is_some_and(|state| state.tickets.remove(digest))
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("len", &self.lock().len()).finish()
    }
}
