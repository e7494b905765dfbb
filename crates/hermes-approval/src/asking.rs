//! Putting a question to whoever can be reached, and waiting.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hermes_hooks::{Event, HookEvent};
use hermes_registry::{Surface, ToolContext};
use serde_json::{Map, Value};

use crate::approver::{Answer, Prompter};
use crate::gate::Approvals;
use crate::mailbox::Letter;
use crate::question::Ask;
use crate::ruling::Reach;
use crate::session::Notifier;

/// How often an answer from another process is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// How often the host is told that the call is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The way a question takes.
pub(crate) enum Way {
    /// Somebody in front of the program.
    Prompt(Arc<dyn Prompter>),
    /// Somebody behind a messaging platform.
    Notify(Arc<dyn Notifier>),
    /// Whoever answers from another process.
    Mail,
    /// None now: it is kept for the platform to ask about.
    Keep,
    /// None: the terminal belongs to something else.
    Taken,
    /// None at all.
    Nobody,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Reply {
    /// An answer, or the end of the time for it.
    Answered(Answer),
    /// Another question's answer covers this one.
    Covered,
    /// The call was given up.
    Interrupted,
    /// Nobody listens to the session any more.
    Unheard,
    /// Asking failed.
    Failed(String),
    /// It is kept.
    Kept,
}

impl Approvals {
    /// The way that questions of a context take.
    pub(crate) fn way(&self, cx: &ToolContext) -> Way {
        let session = &*cx.ids().session;
        match cx.surface() {
            Surface::Cron => Way::Nobody,
            Surface::Gateway => match self.sessions.notifier(session) {
                Some(notifier) => Way::Notify(notifier),
                None => Way::Keep,
            },
            Surface::Cli => match (self.sessions.prompter(session), &self.prompter) {
                (Some(prompter), _) => Way::Prompt(prompter),
                (None, _) if self.is_terminal_taken.load(Ordering::Acquire) => Way::Taken,
                (None, Some(prompter)) => Way::Prompt(Arc::clone(prompter)),
                (None, None) => self.way_of_nobody(session),
            },
            _ => self.way_of_nobody(session),
        }
    }

    /// Where nobody is known to be, somebody may still insist on being asked.
    fn way_of_nobody(&self, session: &str) -> Way {
        if !self.must_ask {
            return Way::Nobody;
        }
        match (self.sessions.notifier(session), &self.mailbox) {
            (Some(notifier), _) => Way::Notify(notifier),
            (None, Some(_)) => Way::Mail,
            (None, None) => Way::Keep,
        }
    }

    /// Whether anybody could answer, now or later.
    pub(crate) fn reach(&self, cx: &ToolContext, way: &Way) -> Reach {
        match way {
            _ if cx.surface() == Surface::Cron => Reach::Cron,
            Way::Nobody => Reach::Nobody,
            _ => Reach::Person,
        }
    }

    /// Puts a question and waits for what comes of it. `is_covered` is asked again when it is the
    /// question's turn: the answer to an earlier one may settle it.
    pub(crate) async fn put(
        &self,
        ask: Ask,
        way: &Way,
        surface: &str,
        cx: &ToolContext,
        is_covered: &(dyn Fn() -> bool + Sync),
    ) -> Reply {
        let ask = Arc::new(ask);
        let _waiting_for_person = cx.wait_for_person();
        match way {
            Way::Taken => return Reply::Failed("another program owns the terminal".to_owned()),
            Way::Nobody => return Reply::Failed("there is nobody to ask".to_owned()),
            Way::Keep => return Reply::Kept,
            Way::Prompt(_) | Way::Notify(_) | Way::Mail => {}
        }
        let letter = self.post(&ask);
        let letter = letter.as_ref();
        // At a terminal questions come one after the other, and time runs from when they show up.
        let turn = async {
            match way {
                Way::Prompt(_) => Some(self.prompting.lock().await),
                _ => None,
            }
        };
        let mut my_turn = None;
        let reply = wait(None, letter, cx, async {
            my_turn = turn.await;
            Reply::Covered
        })
        .await;
        if !matches!(reply, Reply::Covered) || is_covered() {
            return reply;
        }
        let reply = match way {
            Way::Notify(notifier) => {
                let mut waiting = self.sessions.push(Arc::clone(&ask));
                self.tell_before(&ask, surface, cx).await;
                match hermes_task::caught(notifier.notify(&ask)).await {
                    Ok(Ok(())) => {
                        wait(Some(ask.timeout), letter, cx, async {
                            waiting.answer().await.map_or(Reply::Unheard, Reply::Answered)
                        })
                        .await
                    }
                    Ok(Err(error)) | Err(error) => Reply::Failed(error),
                }
            }
            Way::Prompt(prompter) => {
                self.tell_before(&ask, surface, cx).await;
                let prompted = async {
                    match hermes_task::caught(prompter.prompt(&ask)).await {
                        Ok(Ok(answer)) => Reply::Answered(answer),
                        Ok(Err(error)) | Err(error) => Reply::Failed(error),
                    }
                };
                wait(Some(ask.timeout), letter, cx, prompted).await
            }
            _ => {
                self.tell_before(&ask, surface, cx).await;
                wait(Some(ask.timeout), letter, cx, std::future::pending()).await
            }
        };
        drop(my_turn);
        self.tell_after(&ask, surface, &reply, cx).await;
        reply
    }

    fn post(&self, ask: &Ask) -> Option<Letter> {
        let posted = self.mailbox.as_ref()?.post(ask);
        posted
            .map_err(|error| tracing::warn!(%error, "other processes can't answer this question"))
            .ok()
    }

    pub(crate) async fn tell_before(&self, ask: &Ask, surface: &str, cx: &ToolContext) {
        self.tell(HookEvent::PreApprovalRequest, ask, surface, None, cx).await;
    }

    async fn tell_after(&self, ask: &Ask, surface: &str, reply: &Reply, cx: &ToolContext) {
        let choice = match reply {
            Reply::Answered(answer) => answer.as_str(),
            Reply::Unheard => Answer::Timeout.as_str(),
            _ => Answer::NO.as_str(),
        };
        self.tell(HookEvent::PostApprovalResponse, ask, surface, Some(choice), cx).await;
    }

    /// Tells hooks. They can't change anything, and what goes wrong in them is only logged.
    pub(crate) async fn tell(
        &self,
        event: HookEvent,
        ask: &Ask,
        surface: &str,
        choice: Option<&str>,
        cx: &ToolContext,
    ) {
        if !self.hooks.listens(event) {
            return;
        }
        let ids = cx.ids();
        let mut payload = match ask.to_value() {
            Value::Object(payload) => payload,
            _ => Map::new(),
        };
        let more = [
            ("tool_name", ask.tool.as_str()),
            ("session_key", &ids.session),
            ("turn_id", &ids.turn),
            ("tool_call_id", &ids.call),
            ("surface", surface),
        ];
        payload.extend(more.map(|(key, value)| (key.to_owned(), value.into())));
        if let Some(choice) = choice {
            payload.insert("choice".to_owned(), choice.into());
        }
        self.hooks.tell(Event::new(event, payload, cx.cwd())).await;
    }
}

/// Waits for an answer, from wherever it comes first, until the call is given up or the time is
/// over.
async fn wait(
    limit: Option<Duration>,
    letter: Option<&Letter>,
    cx: &ToolContext,
    answer: impl Future<Output = Reply>,
) -> Reply {
    let deadline = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let mut answer = std::pin::pin!(answer);
    let mut deadline = std::pin::pin!(deadline);
    let mut cancelled = std::pin::pin!(cx.cancel().cancelled());
    let mut look = tokio::time::interval(LOOK);
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    // The first beat comes at once.
    heartbeat.tick().await;
    loop {
        tokio::select! {
            biased;
            () = &mut cancelled => return Reply::Interrupted,
            reply = &mut answer => return reply,
            () = &mut deadline => return Reply::Answered(Answer::Timeout),
            _ = look.tick(), if letter.is_some() => {
                if let Some(answer) = letter.and_then(Letter::answer) {
                    return Reply::Answered(answer);
                }
            }
            _ = heartbeat.tick() => cx.progress("waiting for approval"),
        }
    }
}
