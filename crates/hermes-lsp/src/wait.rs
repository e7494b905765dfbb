//! Waiting until a server has said what is wrong with a file as it is now.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::config::WaitMode;
use crate::conversation::{Answer, Conversation, Phase};
use crate::problem::{self, Problem};
use crate::protocol::{self, TRY_AGAIN, TSSERVER_QUESTIONS};
use crate::server::Server;

/// How long a server that is late may be silent before it is given up.
const SILENCE: Duration = Duration::from_secs(60);

/// How long after unasked news further ones may come that belong to them: many servers tell of
/// syntax first.
const SETTLED: Duration = Duration::from_millis(150);

/// The same for servers that don't say of which version they speak. The first news may be about
/// the version before.
const SETTLED_UNNAMED: Duration = Duration::from_millis(400);

/// The same where all work of the server is waited for, which begins some time after the change.
const SETTLED_FULLY: Duration = Duration::from_millis(1000);

/// The time before a question is asked again that the server had no time for.
const AGAIN: Duration = Duration::from_millis(100);

/// Questions about one version of a file, on their way.
struct Asked {
    ids: Vec<i64>,
    tsserver: bool,
}

/// How things stand.
enum Look {
    /// This is wrong with the file.
    Known(Vec<Problem>),
    /// Nothing will come.
    Never,
    /// Something may come; look again then, whatever happens.
    Wait(Option<Instant>),
}

impl Server {
    /// What is wrong with a file that was shown, as soon as the server knows; none if it doesn't
    /// until `end`.
    ///
    /// A server that let somebody wait in vain is not waited for again until it has caught up: one
    /// that hangs costs one wait and not one for each file.
    pub(crate) fn problems(
        &self,
        path: &Path,
        mode: WaitMode,
        end: Instant,
    ) -> Option<Vec<Problem>> {
        let mut talk = self.shared().lock();
        if talk.owes_answers() && talk.heard.elapsed() > SILENCE {
            drop(talk);
            self.fail("it hangs");
            return None;
        }
        if talk.can_be_asked() && !talk.owes_answers() {
            // It answered all the time, but never in time.
            talk.is_late = false;
        }
        let end = if talk.is_late { Instant::now() } else { end };
        talk.waiting += 1;
        let mut asked = None;
        let mut pause = None;
        let found = loop {
            let again = match self.look(&mut talk, path, mode, &mut asked, &mut pause) {
                Look::Known(problems) => break Some(problems),
                Look::Never => break None,
                Look::Wait(again) => again,
            };
            let now = Instant::now();
            if now >= end {
                talk.is_late = true;
                break None;
            }
            let until = again.map_or(end, |again| again.min(end));
            let left = until.saturating_duration_since(now);
            talk = self
                .shared()
                .changed
                .wait_timeout(talk, left)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(talk, _)| talk);
        };
        for id in asked.into_iter().flat_map(|asked: Asked| asked.ids) {
            talk.abandon(id);
        }
        talk.waiting -= 1;
        talk.used = Instant::now();
        found
    }

    fn look(
        &self,
        talk: &mut Conversation,
        path: &Path,
        mode: WaitMode,
        asked: &mut Option<Asked>,
        pause: &mut Option<Instant>,
    ) -> Look {
        match talk.phase {
            Phase::Closing | Phase::Over => return Look::Never,
            // Questions before it has read its project are answered with nothing.
            Phase::Starting => return Look::Wait(None),
            Phase::Ready if talk.is_loading => return Look::Wait(None),
            Phase::Ready => {}
        }
        let Some(document) = talk.documents.get(path) else { return Look::Never };
        if mode == WaitMode::Full {
            let begun = document.shown + SETTLED_FULLY;
            if talk.is_working() {
                return Look::Wait(None);
            }
            if Instant::now() < begun {
                return Look::Wait(Some(begun));
            }
        }
        let published = document.published.clone();
        if !talk.can_be_asked() {
            let Some(published) = published else { return Look::Wait(None) };
            let settled = match (mode, published.names_version) {
                (WaitMode::Full, _) => SETTLED_FULLY,
                (_, true) => SETTLED,
                (_, false) => SETTLED_UNNAMED,
            };
            let settled = published.at + settled;
            return if Instant::now() < settled {
                Look::Wait(Some(settled))
            } else {
                Look::Known(published.problems)
            };
        }
        if let Some(again) = pause.filter(|again| Instant::now() < *again) {
            return Look::Wait(Some(again));
        }
        let Some(questions) = asked else {
            if talk.is_late {
                // It has enough to answer already.
                return Look::Wait(None);
            }
            *asked = Some(self.ask(talk, path));
            return Look::Wait(None);
        };
        if !questions.ids.iter().all(|id| talk.is_answered(*id)) {
            return Look::Wait(None);
        }
        let answers: Vec<_> = questions.ids.iter().filter_map(|id| talk.take_answer(*id)).collect();
        let tsserver = questions.tsserver;
        *asked = None;
        match self.understand(answers, tsserver) {
            Ok(mut problems) => {
                // Checks that take longer are told of unasked.
                if mode == WaitMode::Full && !tsserver {
                    problems.extend(published.into_iter().flat_map(|it| it.problems));
                }
                Look::Known(problems)
            }
            Err(code) if TRY_AGAIN.contains(&code) => {
                let again = Instant::now() + AGAIN;
                *pause = Some(again);
                Look::Wait(Some(again))
            }
            Err(_) if tsserver => {
                // What it says unasked is better than nothing.
                talk.reaches_tsserver = false;
                Look::Wait(Some(Instant::now()))
            }
            Err(_) => Look::Never,
        }
    }

    fn ask(&self, talk: &mut Conversation, path: &Path) -> Asked {
        let tsserver = talk.reaches_tsserver;
        let questions: &[&str] = if tsserver { &TSSERVER_QUESTIONS } else { &[""] };
        let ids = questions
            .iter()
            .map(|question| {
                let id = talk.ask();
                let message = if tsserver {
                    protocol::ask_tsserver(id, question, path)
                } else {
                    protocol::pull(id, path)
                };
                self.say(talk, &message);
                id
            })
            .collect();
        Asked { ids, tsserver }
    }

    /// What is wrong according to the answers, or the number of an error among them.
    fn understand(&self, answers: Vec<Answer>, tsserver: bool) -> Result<Vec<Problem>, i64> {
        let mut problems = Vec::new();
        for answer in answers {
            let answer = answer?;
            if tsserver {
                problems.extend(problem::typescript_errors(&answer));
            } else {
                let items = answer.get("items").ok_or(0)?;
                problems.extend(problem::errors(items));
            }
        }
        Ok(problems)
    }
}
