//! One conversation with its tools: what it may use, where it runs, who watches.

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use hermes_registry::{Settings, ToolContext};

use crate::definitions::Memo;
use crate::observer::CallObserver;
use crate::view::View;
use hermes_toolsets::{NameIssue, NamePlace, PlatformRequest, SelectRequest};

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

/// A conversation. Made by [`Runtime::open`](crate::Runtime::open).
pub struct Session {
    pub(crate) options: SessionOptions,
    grant: ArcSwapOption<Grant>,
    pub(crate) definitions: ArcSwapOption<Memo>,
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
    pub(crate) fn new(options: SessionOptions) -> Self {
        Self { options, grant: ArcSwapOption::empty(), definitions: ArcSwapOption::empty() }
    }

    /// The context that calls of the session start from.
    pub fn context(&self) -> &ToolContext {
        &self.options.context
    }

    /// What the session was opened with.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// What the session may use under `view`.
    pub(crate) fn grant(&self, view: &Arc<View>) -> Arc<Grant> {
        let latest = self.grant.load();
        if let Some(grant) = &*latest
            && Arc::ptr_eq(&grant.view, view)
        {
            return Arc::clone(grant);
        }
        let grant = Arc::new(self.derive(view));
        self.grant.store(Some(Arc::clone(&grant)));
        grant
    }

    fn derive(&self, view: &Arc<View>) -> Grant {
        let tools = &self.options.tools;
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
            .filter(|prepared| self.options.allow_hidden || !prepared.is_hidden())
            .map(|prepared| Arc::from(prepared.tool.name()))
            .collect();
        Grant { view: Arc::clone(view), tools: granted, issues: selection.issues }
    }
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
        f.debug_struct("Session").field("options", &self.options).finish_non_exhaustive()
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
