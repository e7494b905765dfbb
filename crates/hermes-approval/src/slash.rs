//! Confirming chat commands that throw something away.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::case::new_id;

/// How long a confirmation is waited for.
const VALID: Duration = Duration::from_secs(300);

/// What a person says to a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlashChoice {
    /// Do it.
    Once,
    /// Do it, and don't ask again.
    Always,
    /// Leave it.
    Cancel,
}

impl SlashChoice {
    /// Reads a reply, as a word or as a command of a chat (`/approve`, `!yes`).
    #[must_use]
    pub fn parse(reply: &str) -> Option<Self> {
        let reply = reply.trim().to_lowercase();
        let word = reply.strip_prefix(['!', '/']).unwrap_or(&reply);
        match word {
            "approve" | "yes" | "ok" | "confirm" | "once" => Some(Self::Once),
            "always" | "remember" => Some(Self::Always),
            "cancel" | "no" | "deny" | "nevermind" => Some(Self::Cancel),
            _ => None,
        }
    }
}

/// What a confirmed command says in the end.
pub type SlashFuture = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// What runs when a choice was made.
pub type SlashHandler = Box<dyn FnOnce(SlashChoice) -> SlashFuture + Send>;

struct Waiting {
    id: String,
    command: String,
    handler: SlashHandler,
    since: Instant,
}

/// The commands that wait for a confirmation: at most one in each session.
#[derive(Default)]
pub struct SlashConfirmations {
    waiting: Mutex<HashMap<String, Waiting>>,
}

impl SlashConfirmations {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a command wait, in place of one that waits already; the id of the confirmation.
    pub fn request(&self, session: &str, command: &str, handler: SlashHandler) -> String {
        self.request_at(session, command, handler, Instant::now())
    }

    fn request_at(
        &self,
        session: &str,
        command: &str,
        handler: SlashHandler,
        now: Instant,
    ) -> String {
        let id = new_id();
        let waiting = Waiting { id: id.clone(), command: command.to_owned(), handler, since: now };
        self.lock().insert(session.to_owned(), waiting);
        id
    }

    /// The id and the command that wait in a session.
    #[must_use]
    pub fn waiting(&self, session: &str) -> Option<(String, String)> {
        let waiting = self.lock();
        let waiting = waiting.get(session).filter(|it| it.since.elapsed() < VALID)?;
        Some((waiting.id.clone(), waiting.command.clone()))
    }

    /// Confirms or cancels. None if no such confirmation waits any more. The command is taken out
    /// before it runs, so that a second click does nothing. Its error becomes a message.
    pub async fn respond(&self, session: &str, id: &str, choice: SlashChoice) -> Option<String> {
        self.respond_at(session, id, choice, Instant::now()).await
    }

    async fn respond_at(
        &self,
        session: &str,
        id: &str,
        choice: SlashChoice,
        now: Instant,
    ) -> Option<String> {
        let taken = {
            let mut waiting = self.lock();
            if waiting.get(session)?.id != id {
                return None;
            }
            waiting.remove(session)?
        };
        if now.saturating_duration_since(taken.since) >= VALID {
            return None;
        }
        Some(match hermes_task::caught((taken.handler)(choice)).await {
            Ok(Ok(message)) => message,
            Ok(Err(error)) | Err(error) => format!("{} failed: {error}", taken.command),
        })
    }
}

impl std::fmt::Debug for SlashConfirmations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlashConfirmations").field("len", &self.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn says(text: &'static str) -> SlashHandler {
        Box::new(move |choice| Box::pin(async move { Ok(format!("{text} {choice:?}")) }))
    }

    #[tokio::test]
    async fn a_confirmation_works_once_and_for_a_while() {
        let all = SlashConfirmations::default();
        let now = Instant::now();
        let old = all.request_at("s", "/reset", says("old"), now);
        let id = all.request_at("s", "/undo", says("new"), now);
        assert_eq!(all.waiting("s"), Some((id.clone(), "/undo".to_owned())));
        assert_eq!(all.respond_at("s", &old, SlashChoice::Once, now).await, None);
        let said = all.respond_at("s", &id, SlashChoice::Once, now).await;
        assert_eq!(said.as_deref(), Some("new Once"));
        assert_eq!(all.respond_at("s", &id, SlashChoice::Once, now).await, None);
        let id = all.request_at("s", "/reset", says("late"), now);
        assert_eq!(all.respond_at("s", &id, SlashChoice::Once, now + VALID).await, None);
        let fails: SlashHandler = Box::new(|_| Box::pin(async { Err("no".to_owned()) }));
        let id = all.request("s", "/reset", fails);
        assert_eq!(
            all.respond("s", &id, SlashChoice::Always).await.as_deref(),
            Some("/reset failed: no")
        );
        let panics: SlashHandler = Box::new(|_| Box::pin(async { panic!("boom") }));
        let id = all.request("s", "/reset", panics);
        assert!(all.respond("s", &id, SlashChoice::Once).await.unwrap().contains("boom"));
    }

    #[test]
    fn replies_are_understood() {
        for (reply, expected) in [
            ("yes", Some(SlashChoice::Once)),
            ("!OK", Some(SlashChoice::Once)),
            ("/approve", Some(SlashChoice::Once)),
            ("remember", Some(SlashChoice::Always)),
            ("!nevermind", Some(SlashChoice::Cancel)),
            ("perhaps", None),
        ] {
            assert_eq!(SlashChoice::parse(reply), expected, "{reply}");
        }
    }
}
