//! What a call knows about where it runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::deadline::{Deadline, PersonWait};
use crate::{CancellationToken, Services, Settings, ToolCaller, ToolError, ToolResult};

/// Who is at the other end of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Surface {
    /// A person at a terminal.
    Cli,
    /// A person behind a messaging platform.
    Gateway,
    /// Nobody: a scheduled job.
    Cron,
    /// Unknown: nobody can be asked.
    #[default]
    None,
}

/// The ids a call carries. All are opaque; an empty one is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallIds {
    /// The task: calls with the same task share working directory, processes and trackers.
    pub task: Arc<str>,
    /// The conversation.
    pub session: Arc<str>,
    /// The turn within the conversation.
    pub turn: Arc<str>,
    /// The call, as the model or its client named it.
    pub call: Arc<str>,
}

/// Where progress of a call goes.
pub trait Progress: Send + Sync {
    /// Takes one line about call `call`. Must not block.
    fn report(&self, call: &str, message: &str);
}

/// Everything a handler may know beyond its arguments.
///
/// A context is passed by value and cheap to clone. There is no other source: handlers read no
/// process-wide state, and what they need from their host is a [service](Self::service).
#[derive(Clone, Default)]
pub struct ToolContext {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    ids: CallIds,
    cancel: CancellationToken,
    /// Its own, and those of everything that waits for it.
    deadlines: Vec<Deadline>,
    progress: Option<Arc<dyn Progress>>,
    cwd: Arc<Path>,
    surface: Surface,
    settings: Settings,
    services: Services,
    caller: Option<Arc<dyn ToolCaller>>,
    depth: u32,
}

/// What a call has beyond its session.
pub struct CallSetup<'a> {
    /// Its id.
    pub call: &'a str,
    /// Its cancellation token.
    pub cancel: CancellationToken,
    /// When it must have ended.
    pub deadline: Option<Deadline>,
    /// The settings in force.
    pub settings: Settings,
    /// What takes the calls that it makes itself.
    pub caller: Option<Arc<dyn ToolCaller>>,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            ids: CallIds::default(),
            cancel: CancellationToken::default(),
            deadlines: Vec::new(),
            progress: None,
            cwd: Arc::from(Path::new("")),
            surface: Surface::default(),
            settings: Settings::default(),
            services: Services::default(),
            caller: None,
            depth: 0,
        }
    }
}

impl ToolContext {
    /// A context without ids, services or deadline, at the given working directory.
    pub fn new(cwd: impl AsRef<Path>) -> Self {
        Self { inner: Arc::new(Inner { cwd: cwd.as_ref().into(), ..Inner::default() }) }
    }

    fn edit(mut self, edit: impl FnOnce(&mut Inner)) -> Self {
        edit(Arc::make_mut(&mut self.inner));
        self
    }

    /// The same context with other ids.
    #[must_use]
    pub fn with_ids(self, ids: CallIds) -> Self {
        self.edit(|inner| inner.ids = ids)
    }

    /// The same context with another cancellation token.
    #[must_use]
    pub fn with_cancel(self, cancel: CancellationToken) -> Self {
        self.edit(|inner| inner.cancel = cancel)
    }

    /// The same context with a further time by which the call must have ended.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline) -> Self {
        self.edit(|inner| inner.deadlines.push(deadline))
    }

    /// The context of one call. Deadlines of this context hold for the call too.
    #[must_use]
    pub fn for_call(&self, setup: CallSetup<'_>) -> Self {
        let Inner { ids, deadlines, progress, cwd, surface, services, depth, .. } = &*self.inner;
        let ids = CallIds {
            task: Arc::clone(&ids.task),
            session: Arc::clone(&ids.session),
            turn: Arc::clone(&ids.turn),
            call: setup.call.into(),
        };
        let mut deadlines = deadlines.clone();
        deadlines.extend(setup.deadline);
        Self {
            inner: Arc::new(Inner {
                ids,
                cancel: setup.cancel,
                deadlines,
                progress: progress.clone(),
                cwd: Arc::clone(cwd),
                surface: *surface,
                settings: setup.settings,
                services: services.clone(),
                caller: setup.caller,
                depth: *depth,
            }),
        }
    }

    /// The context that calls made by this call start from.
    #[must_use]
    pub fn nested(&self) -> Self {
        self.clone().edit(|inner| inner.depth += 1)
    }

    /// How many calls this one is inside of.
    pub fn depth(&self) -> u32 {
        self.inner.depth
    }

    /// Calls another tool through the pipeline that this call came through.
    ///
    /// # Errors
    /// What the other tool reports, or [`Unavailable`](crate::ErrorKind::Unavailable) when this
    /// context belongs to no pipeline.
    pub async fn call_tool(&self, name: &str, args: Value) -> ToolResult {
        match &self.inner.caller {
            Some(caller) => caller.call_tool(self, name, args).await,
            None => Err(ToolError::unavailable("this host takes no calls from inside of a call")),
        }
    }

    /// Stops the deadlines of the call for as long as the result lives: a person is being asked.
    pub fn wait_for_person(&self) -> PersonWait {
        PersonWait::begin(self.inner.deadlines.clone())
    }

    /// The same context with a place for progress lines.
    #[must_use]
    pub fn with_progress(self, progress: Arc<dyn Progress>) -> Self {
        self.edit(|inner| inner.progress = Some(progress))
    }

    /// The same context at another working directory.
    #[must_use]
    pub fn with_cwd(self, cwd: impl AsRef<Path>) -> Self {
        self.edit(|inner| inner.cwd = cwd.as_ref().into())
    }

    /// The same context for another surface.
    #[must_use]
    pub fn with_surface(self, surface: Surface) -> Self {
        self.edit(|inner| inner.surface = surface)
    }

    /// The same context with other settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        self.edit(|inner| inner.settings = settings)
    }

    /// The same context with other services.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        self.edit(|inner| inner.services = services)
    }

    /// The same context with one service more, in place of an earlier one of its type.
    #[must_use]
    pub fn with_service<T: ?Sized + Send + Sync + 'static>(self, service: Arc<T>) -> Self {
        self.edit(|inner| inner.services = std::mem::take(&mut inner.services).with(service))
    }

    /// The ids.
    pub fn ids(&self) -> &CallIds {
        &self.inner.ids
    }

    /// The token that tells that the result isn't wanted any more.
    pub fn cancel(&self) -> &CancellationToken {
        &self.inner.cancel
    }

    /// When the call must have ended, as far as is known now: waits for a person move it.
    pub fn deadline(&self) -> Option<Instant> {
        self.inner.deadlines.iter().map(Deadline::instant).min()
    }

    /// All deadlines of the call: its own, and those of everything that waits for it.
    pub fn deadlines(&self) -> &[Deadline] {
        &self.inner.deadlines
    }

    /// An error if the call was cancelled or is past its deadline; for loops to ask now and then.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled) or [`Timeout`](crate::ErrorKind::Timeout).
    pub fn check_interrupt(&self) -> Result<(), ToolError> {
        if self.inner.cancel.is_cancelled() {
            return Err(ToolError::cancelled("the call was interrupted"));
        }
        if self.inner.deadlines.iter().any(Deadline::has_passed) {
            return Err(ToolError::timeout("the call ran out of time"));
        }
        Ok(())
    }

    /// The directory that relative paths start from. Not the process's own.
    pub fn cwd(&self) -> &Path {
        &self.inner.cwd
    }

    /// Who is at the other end.
    pub fn surface(&self) -> Surface {
        self.inner.surface
    }

    /// The host's settings.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Reports one line of progress.
    pub fn progress(&self, message: &str) {
        if let Some(progress) = &self.inner.progress {
            progress.report(&self.inner.ids.call, message);
        }
    }

    /// A service that the host lends, e.g. `cx.service::<dyn TodoStore>()`.
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.inner.services.get::<T>()
    }

    /// The service that tool `tool` can't do without.
    ///
    /// # Errors
    /// [`Unavailable`](crate::ErrorKind::Unavailable), saying that the call belongs to the agent
    /// loop, when the host doesn't lend it.
    pub fn require_service<T: ?Sized + Send + Sync + 'static>(
        &self,
        tool: &str,
    ) -> Result<Arc<T>, ToolError> {
        self.service::<T>().ok_or_else(|| {
            ToolError::unavailable(format!(
                "{tool} must be handled by the agent loop: this host lends it no session state"
            ))
        })
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext")
            .field("ids", &self.inner.ids)
            .field("cwd", &self.inner.cwd)
            .field("surface", &self.inner.surface)
            .field("deadlines", &self.inner.deadlines)
            .field("cancel", &self.inner.cancel)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn an_interrupt_is_seen_by_the_call_but_not_made_by_it() {
        let session = CancellationToken::new();
        let cx = ToolContext::new("/w").with_cancel(session.clone());
        let call = cx.for_call(CallSetup {
            call: "c1",
            cancel: session.child(),
            deadline: None,
            settings: Settings::default(),
            caller: None,
        });
        assert_eq!(&*call.ids().call, "c1");
        assert_eq!(call.cwd(), Path::new("/w"));
        call.cancel().cancel();
        assert_eq!(call.check_interrupt().unwrap_err().kind(), ErrorKind::Cancelled);
        assert!(cx.check_interrupt().is_ok());
    }

    #[test]
    fn a_past_deadline_is_a_timeout() {
        let cx = ToolContext::default().with_deadline(Deadline::at(Instant::now()));
        assert_eq!(cx.check_interrupt().unwrap_err().kind(), ErrorKind::Timeout);
    }
}
