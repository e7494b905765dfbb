//! The tool runtime: what programs embed.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hermes_registry::{AvailabilityCache, Registry, Scope, Settings};

use hermes_toolsets::ToolsetWorld;
use serde_json::Value;
use tracing::Instrument as _;

use crate::call::{CallOutcome, ToolCall};
use crate::definitions::{self, Definitions};
use crate::extensions::Extensions;
use crate::gates::{Decision, Detail, Trace};
use crate::pipeline::{self, Gated, Origin};
use crate::session::{DenyListError, Grant, Session, SessionOptions};
use crate::view::{View, ViewCache};
use crate::way::Way;
use crate::{batch, spans};

/// How long a call may take if neither its tool nor the host says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

/// Tools, settings and availability of one profile. Cheap to clone; clones are the same runtime.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

struct Shared {
    views: ViewCache,
    settings: ArcSwap<Settings>,
    availability: AvailabilityCache,
    default_timeout: Option<Duration>,
    extensions: Extensions,
}

/// Builds a [`Runtime`].
#[derive(Debug)]
pub struct RuntimeBuilder {
    registry: Registry,
    settings: Settings,
    scope: Scope,
    toolsets: ToolsetWorld,
    availability: AvailabilityCache,
    default_timeout: Option<Duration>,
    extensions: Extensions,
}

impl RuntimeBuilder {
    /// Sets the settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the profile whose tools are seen beside those of all profiles.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the toolsets that exist before any tool is registered, in place of the built-in ones.
    #[must_use]
    pub fn toolsets(mut self, toolsets: ToolsetWorld) -> Self {
        self.toolsets = toolsets;
        self
    }

    /// Sets the availability cache, for another clock or other times.
    #[must_use]
    pub fn availability(mut self, availability: AvailabilityCache) -> Self {
        self.availability = availability;
        self
    }

    /// Sets how long a call may take if its tool doesn't say; none means for ever.
    #[must_use]
    pub fn default_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.default_timeout = timeout;
        self
    }

    /// Sets hooks, middleware and logs.
    #[must_use]
    pub fn extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// The runtime.
    pub fn build(self) -> Runtime {
        Runtime {
            shared: Arc::new(Shared {
                views: ViewCache::new(self.registry, self.scope, self.toolsets),
                settings: ArcSwap::from_pointee(self.settings),
                availability: self.availability,
                default_timeout: self.default_timeout,
                extensions: self.extensions,
            }),
        }
    }
}

impl Runtime {
    /// Starts building a runtime over `registry`.
    pub fn builder(registry: Registry) -> RuntimeBuilder {
        RuntimeBuilder {
            registry,
            settings: Settings::default(),
            scope: Scope::Global,
            toolsets: ToolsetWorld::builtin(),
            availability: AvailabilityCache::default(),
            default_timeout: Some(DEFAULT_TIMEOUT),
            extensions: Extensions::default(),
        }
    }

    /// The registry. Changes are seen by the next question or call.
    pub fn registry(&self) -> &Registry {
        self.shared.views.registry()
    }

    /// The settings in force.
    pub fn settings(&self) -> Settings {
        Settings::clone(&self.shared.settings.load())
    }

    /// Puts other settings in force and forgets what was known of availability.
    pub fn set_settings(&self, settings: Settings) {
        self.shared.settings.store(Arc::new(settings));
        self.shared.availability.invalidate();
    }

    /// What is known of which tools can be used right now.
    pub fn availability(&self) -> &AvailabilityCache {
        &self.shared.availability
    }

    /// All that decides which tools a toolset name stands for, as of now.
    pub fn toolset_world(&self) -> ToolsetWorld {
        self.view().world.clone()
    }

    /// Opens a session.
    ///
    /// # Errors
    /// A deny list of the session names something that doesn't exist there. Unknown names among
    /// the enabled toolsets are no error; they are listed in [`Definitions::issues`].
    pub fn open(&self, options: SessionOptions) -> Result<Session, DenyListError> {
        let session = Session::new(options, &self.shared.settings.load());
        let issues = self.grant(&session).deny_issues();
        if issues.is_empty() { Ok(session) } else { Err(DenyListError { issues }) }
    }

    /// The session's tools as a model sees them, as of now.
    pub fn definitions(&self, session: &Session) -> Arc<Definitions> {
        definitions::definitions(session, &self.grant(session), self.availability())
    }

    /// Takes a call through the pipeline.
    ///
    /// The result is always an outcome: unknown names, broken arguments, panics, timeouts and
    /// interrupts are outcomes that tell the model what to do.
    pub async fn call(&self, session: &Session, call: ToolCall) -> CallOutcome {
        let origin = Origin { context: session.context(), nested: false };
        pipeline::run(self, session, call, &origin).await
    }

    /// Takes the calls of one assistant message through the pipeline, as many at once as is safe.
    ///
    /// There is exactly one outcome for each call, in the order of the calls. An equal call made
    /// twice runs once. Results that are too long together are written to files, the longest
    /// first.
    pub async fn call_batch(&self, session: &Session, calls: Vec<ToolCall>) -> Vec<CallOutcome> {
        batch::run(self, session, calls).await
    }

    /// What the gates would make of a call, without running it.
    ///
    /// Hooks before the call are asked, with `dry_run: true` in their payload; people are not, and
    /// no snapshot is taken. A tool that can tell what it would ask says so.
    pub async fn dry_run(&self, session: &Session, call: ToolCall) -> DryRun {
        let origin = Origin { context: session.context(), nested: false };
        let mut trace = Trace::new(Detail::All);
        let (id, called) = (call.id.clone(), call.name.clone());
        let span = spans::dry_run(&id);
        let gated = span.in_scope(|| pipeline::gates(self, session, call, &mut trace));
        let mut way = Way::new(self, session, &origin, id, called, trace);
        way.dry = true;
        let (tool, arguments) = match gated {
            Ok(Gated::Ready(ready)) => {
                way.begin(&ready);
                let decided = async {
                    let args = pipeline::decide(&mut way, &ready.tool, ready.args).await?;
                    way.foresee(&ready.tool, &args).await.map(|()| args)
                };
                let decided = decided.instrument(span).await;
                (Some(ready.tool.tool.name().to_owned()), decided.ok())
            }
            Ok(Gated::Answered(_)) => (None, None),
            Err(stopped) => (stopped.tool.as_deref().map(str::to_owned), None),
        };
        DryRun { tool, arguments, decisions: way.trace.take() }
    }

    /// Whether both are the same runtime.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn extensions(&self) -> &Extensions {
        &self.shared.extensions
    }

    pub(crate) fn default_timeout(&self) -> Option<Duration> {
        self.shared.default_timeout
    }

    pub(crate) fn grant(&self, session: &Session) -> Arc<Grant> {
        session.grant(&self.view())
    }

    fn view(&self) -> Arc<View> {
        self.shared.views.get(&self.shared.settings.load())
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("registry", self.registry()).finish_non_exhaustive()
    }
}

/// What the gates would make of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DryRun {
    /// The tool that was meant, as far as it was found; none if a bridge answers the call.
    pub tool: Option<String>,
    /// The arguments it would run with; none if a gate stops the call.
    pub arguments: Option<Value>,
    /// What each gate decided, in order.
    pub decisions: Vec<Decision>,
}
