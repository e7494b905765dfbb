//! Running the hooks that listen.

use std::sync::Arc;
use std::time::Instant;

use hermes_task::TaskFailure;
use serde_json::Value;

use crate::event::{Event, HookEvent};
use crate::hook::{Hook, HookError, OnError, Reply};
use crate::verdict::{self, Verdict, merge};

/// Characters of an error that the model is told.
const MAX_ERROR: usize = 200;

/// All hooks of a host, in the order of their registration. Cheap to clone.
#[derive(Clone, Default)]
pub struct Hooks {
    hooks: Vec<Arc<dyn Hook>>,
    /// The events that somebody listens to, so that nobody builds a payload for nothing.
    listened: u32,
}

impl Hooks {
    /// No hooks.
    pub fn none() -> Self {
        Self::default()
    }

    /// These hooks and one more, which is asked last.
    #[must_use]
    pub fn with(self, hook: impl Hook + 'static) -> Self {
        self.with_shared(Arc::new(hook))
    }

    /// These hooks and one more, which is asked last.
    #[must_use]
    pub fn with_shared(mut self, hook: Arc<dyn Hook>) -> Self {
        for event in HookEvent::ALL {
            if hook.listens(*event) {
                self.listened |= event.bit();
            }
        }
        self.hooks.push(hook);
        self
    }

    /// Whether anybody listens to such events.
    pub fn listens(&self, event: HookEvent) -> bool {
        self.listened & event.bit() != 0
    }

    /// The names of all of them, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hooks.iter().map(|hook| hook.name())
    }

    /// Asks about a call, one hook after the other. A change of the arguments is fitted to the
    /// tool by `refit` and then shown to the later hooks.
    ///
    /// Gives the verdict, and the arguments if a hook changed them.
    pub async fn pre_tool_call(
        &self,
        event: Event,
        mut refit: impl FnMut(Value) -> Result<Value, String>,
    ) -> (Verdict, Option<Value>) {
        let mut event = Arc::new(event);
        let mut replies = Vec::new();
        let mut changed = None;
        for hook in self.listeners(&event) {
            let mut reply = run(&hook, &event).await;
            if let Ok(Some(args)) = reply.as_ref().map(verdict::modification) {
                match refit(args.clone()) {
                    Ok(args) => {
                        let told = Event::clone(&event).with("args", args.clone());
                        event = Arc::new(told);
                        changed = Some(args);
                    }
                    Err(why) => {
                        reply = Err(HookError(format!("its arguments don't fit the tool: {why}")));
                    }
                }
            }
            match reply.map(|reply| with_words(&*hook, reply)) {
                Ok(reply @ Reply::Block { .. }) => return (merge([&reply]), changed),
                Ok(reply) => replies.push(reply),
                Err(error) => {
                    tracing::warn!(hook = hook.name(), %error, "hook failed");
                    if hook.on_error() == OnError::Block {
                        return (Verdict::Block { message: failed(&*hook, &error) }, changed);
                    }
                }
            }
        }
        (merge(&replies), changed)
    }

    /// Tells of something, one hook after the other, and gives what they reply. Failures are
    /// logged only.
    pub async fn tell(&self, event: Event) -> Vec<Reply> {
        let event = Arc::new(event);
        let mut replies = Vec::new();
        for hook in self.listeners(&event) {
            match run(&hook, &event).await {
                Ok(Reply::Nothing) => {}
                Ok(reply) => replies.push(reply),
                Err(error) => tracing::warn!(hook = hook.name(), %error, "hook failed"),
            }
        }
        replies
    }

    /// The first text that takes the place of what `event` shows.
    pub async fn replacement(&self, event: Event) -> Option<String> {
        let replies = self.tell(event).await;
        replies.into_iter().find_map(|reply| match reply {
            Reply::Replace { text } => Some(text),
            _ => None,
        })
    }

    fn listeners(&self, event: &Event) -> Vec<Arc<dyn Hook>> {
        let kind = event.kind();
        let listening = self.hooks.iter().filter(|hook| hook.listens(kind) && hook.matches(event));
        listening.cloned().collect()
    }
}

/// What a hook said; where it decides without a word, with words that name it.
fn with_words(hook: &dyn Hook, reply: Reply) -> Reply {
    let is_said = |message: &Option<String>| {
        message.as_deref().is_some_and(|message| !message.trim().is_empty())
    };
    let name = hook.name();
    match reply {
        Reply::Block { message } if !is_said(&message) => {
            Reply::block(format!("the hook {name} blocked the call"))
        }
        Reply::Approve { message, rule_key } if !is_said(&message) => {
            let message = Some(format!("the hook {name} wants a person to agree"));
            Reply::Approve { message, rule_key }
        }
        reply => reply,
    }
}

/// What the model is told of a hook whose failure blocks.
fn failed(hook: &dyn Hook, error: &HookError) -> String {
    let why: String = error.0.chars().take(MAX_ERROR).collect();
    format!("the hook {} failed ({why}), so the call was blocked", hook.name())
}

/// Runs one hook where it can harm nobody.
async fn run(hook: &Arc<dyn Hook>, event: &Arc<Event>) -> Result<Reply, HookError> {
    let limit = hook.timeout();
    let task = hermes_task::spawn({
        let (hook, event) = (Arc::clone(hook), Arc::clone(event));
        async move {
            let started = Instant::now();
            let reply = hook.run(event).await;
            (reply, started.elapsed())
        }
    });
    let too_long = || Err(HookError(format!("it took longer than {} s", limit.as_secs_f64())));
    match tokio::time::timeout(limit, task).await {
        // On the only thread of a runtime a hook that blocks it also blocks the clock.
        Ok(Ok((_, took))) if took > limit => too_long(),
        Ok(Ok((reply, _))) => reply,
        Ok(Err(TaskFailure::Panicked(message))) => Err(HookError(format!("it crashed: {message}"))),
        Ok(Err(TaskFailure::Aborted)) => Err(HookError("it was stopped".to_owned())),
        Err(_) => too_long(),
    }
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Map, json};

    use super::*;
    use crate::hook::on;

    fn event() -> Event {
        let mut payload = Map::new();
        payload.insert("tool_name".into(), "t".into());
        payload.insert("args".into(), json!({"n": 1}));
        Event::new(HookEvent::PreToolCall, payload, "/")
    }

    #[tokio::test]
    async fn a_change_is_shown_to_later_hooks() {
        let hooks = Hooks::none()
            .with(on(HookEvent::PreToolCall, "change", |_| async {
                Reply::Modify { args: json!({"n": "2"}) }
            }))
            .with(on(HookEvent::PreToolCall, "look", |event| async move {
                assert_eq!(event.get("args"), Some(&json!({"n": 2})));
                Reply::Nothing
            }))
            .with(
                on(HookEvent::PreToolCall, "misfit", |_| async {
                    Reply::Modify { args: json!({"n": "x"}) }
                })
                .blocking_on_error(),
            );
        let refit = |args: Value| match args["n"].as_str().map(str::parse::<u64>) {
            Some(Ok(n)) => Ok(json!({"n": n})),
            _ => Err("no number".to_owned()),
        };
        let (verdict, args) = hooks.pre_tool_call(event(), refit).await;
        assert!(matches!(verdict, Verdict::Block { .. }), "{verdict:?}");
        assert_eq!(args, Some(json!({"n": 2})));
    }

    #[tokio::test]
    async fn crashes_and_hangs_follow_what_the_hook_declares() {
        let crash = || on(HookEvent::PreToolCall, "crash", |_| async { panic!("boom") });
        let hang = || {
            let hang = on(HookEvent::PreToolCall, "hang", |_| std::future::pending());
            hang.with_timeout(Duration::from_millis(10))
        };
        let hooks = Hooks::none().with(crash()).with(hang());
        assert_eq!(hooks.pre_tool_call(event(), Ok).await.0, Verdict::Go);
        for hooks in [
            Hooks::none().with(crash().blocking_on_error()),
            Hooks::none().with(hang().blocking_on_error()),
        ] {
            let (verdict, _) = hooks.pre_tool_call(event(), Ok).await;
            assert!(matches!(verdict, Verdict::Block { .. }), "{verdict:?}");
        }
    }

    #[tokio::test]
    async fn an_answer_after_the_time_limit_is_none() {
        let slow = || {
            let slow = on(HookEvent::PreToolCall, "slow", |_| async {
                // Holds the only thread, so that no timer can fire.
                std::thread::sleep(Duration::from_millis(20));
                Reply::approve("late")
            });
            slow.with_timeout(Duration::from_millis(1))
        };
        assert_eq!(Hooks::none().with(slow()).pre_tool_call(event(), Ok).await.0, Verdict::Go);
        let hooks = Hooks::none().with(slow().blocking_on_error());
        let (verdict, _) = hooks.pre_tool_call(event(), Ok).await;
        let Verdict::Block { message } = verdict else { panic!("{verdict:?}") };
        assert!(message.contains("slow") && message.contains("longer than"), "{message}");
    }

    #[tokio::test]
    async fn who_decides_without_a_word_is_named() {
        let ask = |name: &str, message: Option<&str>| {
            let message = message.map(str::to_owned);
            on(HookEvent::PreToolCall, name, move |_| {
                let message = message.clone();
                async { Reply::Approve { message, rule_key: Some("k".into()) } }
            })
        };
        let asking = Hooks::none().with(ask("first", Some("sure?"))).with(ask("second", None));
        let message = "sure?; the hook second wants a person to agree".to_owned();
        let expected = Verdict::Ask { message, rule_key: Some("k".into()) };
        assert_eq!(asking.pre_tool_call(event(), Ok).await.0, expected);
        let silent = |_| async { Reply::Block { message: Some(" ".into()) } };
        let blocking = asking.with(on(HookEvent::PreToolCall, "third", silent));
        let message = "the hook third blocked the call".to_owned();
        assert_eq!(blocking.pre_tool_call(event(), Ok).await.0, Verdict::Block { message });
    }
}
