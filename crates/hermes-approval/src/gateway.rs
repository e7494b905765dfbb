//! Answers that come in as chat messages.

use crate::approver::Answer;
use crate::chat::{self, ChatAnswer};
use crate::gate::Approvals;
use crate::session::Which;

/// What a message did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatOutcome {
    /// It is no answer: it belongs to the conversation.
    NotAnAnswer,
    /// It was an answer, and nothing waits for one.
    NothingWaits,
    /// So many questions were answered.
    Answered {
        /// The answer.
        answer: Answer,
        /// How many questions it was for.
        count: usize,
    },
    /// A question that nobody had been there to hear was answered: the call can be made again.
    Settled {
        /// The answer.
        answer: Answer,
        /// The command, secrets masked.
        command: String,
    },
}

impl Approvals {
    /// Takes a message of the person behind a session.
    pub async fn chat(&self, session: &str, message: &str) -> ChatOutcome {
        let waits = !self.sessions.waiting(session).is_empty();
        let is_pending = self.sessions.pending(session).is_some();
        let Some(ChatAnswer { answer, all, is_command: _ }) =
            chat::parse(message, waits || is_pending)
        else {
            return ChatOutcome::NotAnAnswer;
        };
        if waits {
            let which = if all { Which::All } else { Which::Oldest };
            let count = self.sessions.answer(session, which, &answer);
            if count > 0 {
                return ChatOutcome::Answered { answer, count };
            }
        }
        self.settle_pending(session, answer).await
    }

    /// Answers the question of a session that nobody had been there to hear. A yes for once lets
    /// the same command through once, when the call is made again.
    async fn settle_pending(&self, session: &str, answer: Answer) -> ChatOutcome {
        let Some(pending) = self.sessions.take_pending(session) else {
            return ChatOutcome::NothingWaits;
        };
        let ask = &pending.ask;
        let answer = if ask.smart_denied && answer.is_yes() { Answer::Once } else { answer };
        match answer {
            Answer::Once => self.sessions.allow_once(session, pending.digest.clone()),
            Answer::Session | Answer::Always => {
                let keys: Vec<String> = ask.keys().into_iter().map(str::to_owned).collect();
                self.sessions.approve(session, keys);
                if answer == Answer::Always && !ask.covers.is_empty() {
                    self.keep_for_ever(ask.covers.clone()).await;
                }
            }
            Answer::Deny { .. } | Answer::Timeout => {}
        }
        ChatOutcome::Settled { answer, command: ask.command.clone() }
    }
}
