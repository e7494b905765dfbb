//! Running the hooks that listen.

use std::sync::Arc;

use hermes_task::TaskFailure;
use serde_json::Value;

use crate::event::{Event, HookEvent};
use crate::hook::{Hook, HookError, OnError, Reply};
use crate::verdict::{self, Verdict, merge};

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
            match reply {
                Ok(reply @ Reply::Block { .. }) => return (merge([&reply]), changed),
                Ok(reply) => replies.push(reply),
                Err(error) => {
                    tracing::warn!(hook = hook.name(), %error, "hook failed");
                    if hook.on_error() == OnError::Block {
                        let message =
                            format!("the hook {} failed, so the call was blocked", hook.name());
                        return (Verdict::Block { message }, changed);
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

/// Runs one hook where it can harm nobody.
async fn run(hook: &Arc<dyn Hook>, event: &Arc<Event>) -> Result<Reply, HookError> {
    let limit = hook.timeout();
    let task = hermes_task::spawn({
        let (hook, event) = (Arc::clone(hook), Arc::clone(event));
        async move { hook.run(event).await }
    });
    match tokio::time::timeout(limit, task).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(TaskFailure::Panicked(message))) => Err(HookError(format!("it crashed: {message}"))),
        Ok(Err(TaskFailure::Aborted)) => Err(HookError("it was stopped".to_owned())),
        Err(_) => Err(HookError(format!("it took longer than {} s", limit.as_secs_f64()))),
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
}
