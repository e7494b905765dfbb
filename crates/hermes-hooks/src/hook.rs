//! What a hook is.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::event::{Event, HookEvent};

/// What a hook has to say.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// Nothing.
    #[default]
    Nothing,
    /// The call must not run.
    Block {
        /// Why, for the model.
        message: Option<String>,
    },
    /// A person must agree.
    Approve {
        /// What the person should know.
        message: Option<String>,
        /// What remembers the answer.
        rule_key: Option<String>,
    },
    /// The call runs with these arguments.
    Modify {
        /// All arguments.
        args: Value,
    },
    /// This text takes the place of the result or output.
    Replace {
        /// The text.
        text: String,
    },
    /// This text is added to the user's message.
    Context {
        /// The text.
        text: String,
    },
    /// The turn goes on with this message.
    Continue {
        /// The message.
        message: String,
    },
}

impl Reply {
    /// The call must not run, for this reason.
    pub fn block(message: impl Into<String>) -> Self {
        Self::Block { message: Some(message.into()) }
    }

    /// A person must agree, knowing this.
    pub fn approve(message: impl Into<String>) -> Self {
        Self::Approve { message: Some(message.into()), rule_key: None }
    }

    /// This text takes the place of the result.
    pub fn replace(text: impl Into<String>) -> Self {
        Self::Replace { text: text.into() }
    }
}

/// What happens to a call whose hook fails, crashes or hangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It goes on as if the hook had said nothing.
    #[default]
    Allow,
    /// It is blocked.
    Block,
}

/// Why a hook has nothing to say although it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookError(pub String);

impl std::fmt::Display for HookError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HookError {}

/// A reply to come.
pub type HookFuture = Pin<Box<dyn Future<Output = Result<Reply, HookError>> + Send>>;

/// Something that is told of events and may have a say.
///
/// Every call of [`run`](Self::run) is a task of its own: a panic, a busy loop or a hang is an
/// error of the hook, dealt with as [`on_error`](Self::on_error) says.
pub trait Hook: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Whether it listens to such events at all. Asked once.
    fn listens(&self, event: HookEvent) -> bool;

    /// Whether it is to be told of this one.
    fn matches(&self, event: &Event) -> bool {
        let _ = event;
        true
    }

    /// How long it may take.
    fn timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// What its failure means for a call that waits for it.
    fn on_error(&self) -> OnError {
        OnError::Allow
    }

    /// Takes an event.
    fn run(&self, event: Arc<Event>) -> HookFuture;
}

/// A hook made of a closure. Made by [`on`].
pub struct FnHook<F> {
    event: HookEvent,
    name: String,
    on_error: OnError,
    timeout: Duration,
    run: F,
}

/// A hook that hands every `event` to a closure.
pub fn on<F, Fut>(event: HookEvent, name: impl Into<String>, run: F) -> FnHook<F>
where
    F: Fn(Arc<Event>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Reply> + Send + 'static,
{
    FnHook {
        event,
        name: name.into(),
        on_error: OnError::default(),
        timeout: Duration::from_secs(60),
        run,
    }
}

impl<F> FnHook<F> {
    /// The same hook; when it fails, calls are blocked.
    #[must_use]
    pub fn blocking_on_error(mut self) -> Self {
        self.on_error = OnError::Block;
        self
    }

    /// The same hook with another time limit.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl<F, Fut> Hook for FnHook<F>
where
    F: Fn(Arc<Event>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Reply> + Send + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn listens(&self, event: HookEvent) -> bool {
        event == self.event
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn on_error(&self) -> OnError {
        self.on_error
    }

    fn run(&self, event: Arc<Event>) -> HookFuture {
        let reply = (self.run)(event);
        Box::pin(async move { Ok(reply.await) })
    }
}

impl<F> std::fmt::Debug for FnHook<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FnHook").field("event", &self.event).field("name", &self.name).finish()
    }
}
