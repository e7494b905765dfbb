//! One conversation with its tools: what it may use, where it runs, who watches.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};
use hermes_registry::{CallIds, CancellationToken, Settings, ToolContext};
use hermes_toolsets::{NameIssue, NamePlace, PlatformRequest, SelectRequest};
use hermes_turn::guardrail::{GuardrailConfig, Guardrails};
use hermes_turn::limits::LimitConfig;
use serde_json::Value;

use crate::definitions::Memo;
use crate::directory_hints::DirectoryHints;
use crate::edit_review::EditReviewer;
use crate::nested::Caller;
use crate::observer::CallObserver;
use crate::result_store::{Keep, LocalResults, ResultStore};
use crate::view::View;

/// Which tools a session asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSelection {
    /// The toolsets to take; none means all, an empty list means nothing.
    pub enabled: Option<Vec<String>>,
    /// The toolsets to take away.
    pub disabled: Vec<String>,
    /// Single tools to take away.
    pub denied_tools: Vec<String>,
}

impl ToolSelection {
    /// All tools.
    pub fn all() -> Self {
        Self::default()
    }

    /// The named toolsets.
    pub fn of<S: Into<String>>(toolsets: impl IntoIterator<Item = S>) -> Self {
        Self { enabled: Some(toolsets.into_iter().map(Into::into).collect()), ..Self::default() }
    }

    /// What the configuration says about everyone: `agent.disabled_toolsets` and
    /// `agent.disabled_tools`.
    #[must_use]
    pub fn with_config_denials(mut self, settings: &Settings) -> Self {
        self.disabled.extend(hermes_toolsets::disabled_toolsets(settings.config()));
        self.denied_tools.extend(hermes_toolsets::disabled_tools(settings.config()));
        self
    }
}

/// How to open a session.
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Which tools it gets.
    pub tools: ToolSelection,
    /// Ids, working directory, surface, services and cancellation of all its calls.
    pub context: ToolContext,
    /// Whether long tool lists may be hidden behind tool search.
    pub tool_search: bool,
    /// The context window of the model, in tokens, if it is known.
    pub context_length: Option<u64>,
    /// Whether availability checks count. Without them every granted tool is listed and callable.
    pub check_availability: bool,
    /// Whether tools that no model ever sees may be called; for the host itself.
    pub allow_hidden: bool,
    /// Who is told of every call.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Who looks at edits before they are made; without one nobody does.
    pub edit_reviewer: Option<Arc<dyn EditReviewer>>,
    /// The only tools that may be called; none means all that were granted.
    pub whitelist: Option<BTreeSet<String>>,
    /// Whether the model sees images; else it gets their summaries.
    pub images: bool,
    /// Whether results tell of the instructions that lie in the folders they are about.
    pub directory_hints: bool,
    /// How many calls of a batch may run at once; none means `tools.max_parallel` of the
    /// configuration, else 8.
    pub max_parallel: Option<usize>,
    /// What happens to stored results when the session ends.
    pub keep_results: Keep,
    /// Whether outcomes hold the decision of every gate, and not only those that mattered.
    pub trace: bool,
}

impl SessionOptions {
    /// A session with the given tools and context, and the defaults for the rest.
    pub fn new(tools: ToolSelection, context: ToolContext) -> Self {
        Self {
            tools,
            context,
            tool_search: true,
            context_length: None,
            check_availability: true,
            allow_hidden: false,
            observer: None,
            edit_reviewer: None,
            whitelist: None,
            images: true,
            directory_hints: false,
            max_parallel: None,
            keep_results: Keep::Session,
            trace: false,
        }
    }
}

impl std::fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionOptions")
            .field("tools", &self.tools)
            .field("context", &self.context)
            .field("tool_search", &self.tool_search)
            .field("context_length", &self.context_length)
            .field("check_availability", &self.check_availability)
            .field("allow_hidden", &self.allow_hidden)
            .finish_non_exhaustive()
    }
}

/// Why a session can't be opened: a deny list names something that doesn't exist there, so that
/// what the user meant to forbid would be allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenyListError {
    /// The names, each with its list and the nearest valid name.
    pub issues: Vec<NameIssue>,
}

impl std::fmt::Display for DenyListError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, issue) in self.issues.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{issue}")?;
        }
        Ok(())
    }
}

impl std::error::Error for DenyListError {}

/// A conversation. Made by [`Runtime::open`](crate::Runtime::open). Cheap to clone; clones are the
/// same session.
#[derive(Clone)]
pub struct Session {
    pub(crate) state: Arc<SessionState>,
}

pub(crate) struct SessionState {
    pub(crate) options: SessionOptions,
    grant: ArcSwapOption<Grant>,
    pub(crate) definitions: ArcSwapOption<Memo>,
    turn: ArcSwap<Turn>,
    pub(crate) hints: DirectoryHints,
    results: LocalResults,
    /// Takes the calls that tools make.
    pub(crate) caller: OnceLock<Arc<Caller>>,
}

/// What belongs to one turn: from a user's message to the last answer to it.
pub(crate) struct Turn {
    pub(crate) context: ToolContext,
    pub(crate) request: Arc<str>,
    pub(crate) guardrails: Arc<Mutex<Guardrails>>,
    /// How long results may be.
    pub(crate) limits: LimitConfig,
}

/// The tools a session was granted, whether or not they are available right now.
pub(crate) struct Grant {
    pub(crate) view: Arc<View>,
    /// Registered tools, by name.
    pub(crate) tools: BTreeSet<Arc<str>>,
    /// Names in the session's lists that meant nothing.
    pub(crate) issues: Vec<NameIssue>,
}

impl Session {
    pub(crate) fn new(options: SessionOptions, settings: &Settings) -> Self {
        let turn = Turn {
            context: options.context.clone(),
            request: Arc::from(""),
            guardrails: guardrails(settings),
            limits: limits(settings, options.context_length),
        };
        let temp = settings.env_filled("TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let results = LocalResults::new(temp, options.keep_results);
        Self {
            state: Arc::new(SessionState {
                options,
                grant: ArcSwapOption::empty(),
                definitions: ArcSwapOption::empty(),
                turn: ArcSwap::from_pointee(turn),
                hints: DirectoryHints::default(),
                results,
                caller: OnceLock::new(),
            }),
        }
    }

    /// The context that calls of the session start from.
    pub fn context(&self) -> ToolContext {
        self.turn().context.clone()
    }

    /// What the session was opened with.
    pub fn options(&self) -> &SessionOptions {
        &self.state.options
    }

    /// Begins the turn of another message of the user: what was noticed of circles is forgotten.
    /// A new `cancel` takes the place of one that was used up by an interrupt.
    pub fn begin_turn(&self, id: &str, cancel: CancellationToken, settings: &Settings) {
        let context = &self.state.options.context;
        let ids = CallIds { turn: id.into(), ..context.ids().clone() };
        self.state.turn.store(Arc::new(Turn {
            context: context.clone().with_ids(ids).with_cancel(cancel),
            request: Arc::from(""),
            guardrails: guardrails(settings),
            limits: limits(settings, self.options().context_length),
        }));
    }

    /// Names the request to the model whose answer the next calls are part of.
    pub fn begin_request(&self, id: &str) {
        let turn = self.turn();
        self.state.turn.store(Arc::new(Turn {
            context: turn.context.clone(),
            request: id.into(),
            guardrails: Arc::clone(&turn.guardrails),
            limits: turn.limits.clone(),
        }));
    }

    /// Why the turn must end, if the guardrails decided that it goes round in circles.
    pub fn halted(&self) -> Option<hermes_turn::guardrail::Decision> {
        lock(&self.turn().guardrails).halted().cloned()
    }

    pub(crate) fn turn(&self) -> Arc<Turn> {
        self.state.turn.load_full()
    }

    /// Where results go that are too long: what the host lends, else the temporary folder.
    pub(crate) async fn store_result(
        &self,
        name: &str,
        text: Arc<String>,
    ) -> Result<String, String> {
        match self.state.options.context.service::<dyn ResultStore>() {
            Some(store) => store.store(name, text).await,
            None => self.state.results.store(name, text).await,
        }
    }

    /// What the session may use under `view`.
    pub(crate) fn grant(&self, view: &Arc<View>) -> Arc<Grant> {
        let latest = self.state.grant.load();
        if let Some(grant) = &*latest
            && Arc::ptr_eq(&grant.view, view)
        {
            return Arc::clone(grant);
        }
        let grant = Arc::new(self.derive(view));
        self.state.grant.store(Some(Arc::clone(&grant)));
        grant
    }

    fn derive(&self, view: &Arc<View>) -> Grant {
        let options = &self.state.options;
        let tools = &options.tools;
        let request = SelectRequest {
            enabled: tools.enabled.as_deref(),
            disabled: &tools.disabled,
            denied_tools: &tools.denied_tools,
            kanban_task: view
                .settings
                .env("HERMES_KANBAN_TASK")
                .is_some_and(|task| !task.is_empty()),
        };
        let selection = hermes_toolsets::select(&view.world, &request);
        let granted = selection
            .tools
            .iter()
            .filter_map(|name| view.get(name))
            .filter(|prepared| options.allow_hidden || !prepared.is_hidden())
            .map(|prepared| Arc::from(prepared.tool.name()))
            .collect();
        Grant { view: Arc::clone(view), tools: granted, issues: selection.issues }
    }
}

fn guardrails(settings: &Settings) -> Arc<Mutex<Guardrails>> {
    let config = settings.get("tool_loop_guardrails").unwrap_or(&Value::Null);
    Arc::new(Mutex::new(Guardrails::new(GuardrailConfig::from_value(config))))
}

fn limits(settings: &Settings, window: Option<u64>) -> LimitConfig {
    let configured = || settings.get("model.context_length").and_then(Value::as_u64);
    let limits = LimitConfig::for_context(window.or_else(configured));
    match settings.get("tool_output.max_result_size") {
        Some(overrides) => limits.with_overrides(overrides),
        None => limits,
    }
}

/// Locks; a panic of another thread left nothing half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Grant {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.contains(name)
    }

    /// The names in deny lists that mean nothing, and won't once servers are connected.
    pub(crate) fn deny_issues(&self) -> Vec<NameIssue> {
        let config = self.view.settings.config();
        let denied = self.issues.iter().filter(|issue| issue.place != NamePlace::Enabled);
        denied.filter(|issue| !hermes_toolsets::waits_for_server(config, issue)).cloned().collect()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("options", self.options()).finish_non_exhaustive()
    }
}

/// The toolsets a platform gets under the settings, as a selection with the configured denials.
pub fn platform_selection(
    world: &hermes_toolsets::ToolsetWorld,
    settings: &Settings,
    platform: &str,
) -> ToolSelection {
    let request = PlatformRequest::new(settings, settings.config(), platform);
    let on = hermes_toolsets::platform_toolsets(world, &request);
    ToolSelection::of(on.toolsets).with_config_denials(settings)
}
