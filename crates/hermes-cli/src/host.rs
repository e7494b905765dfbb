//! What stands behind every command: settings, tools and a runtime over them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_checkpoint::{CheckpointConfig, Checkpoints};
use hermes_config::{Loaded, Options, process_env};
use hermes_hooks::Hooks;
use hermes_hooks::shell::ShellHooks;
use hermes_registry::{
    CallIds, CancellationToken, Registry, Rejection, Scope, Services, Settings, Surface,
    ToolContext,
};
use hermes_tools::audit_log::{AuditLog, Limits};
use hermes_tools::file_state::FileState;
use hermes_tools::toolset::{
    CustomToolsets, PlatformRequest, SelectRequest, ToolsetWorld, UnknownPlatform, select,
    validate_denials, validate_platform_toolsets,
};
use hermes_tools::{
    Extensions, Runtime, Session, SessionOptions, ToolSelection, platform_selection, suggest,
};
use serde_json::{Map, Value};

use crate::cli::{Calling, Globals};
use crate::consent;
use crate::exit::Failure;
use crate::output::Ui;

/// Settings, tools and a runtime over them.
pub(crate) struct Host {
    /// The settings and where they came from.
    pub(crate) loaded: Loaded,
    /// The runtime.
    pub(crate) runtime: Runtime,
    /// Which toolset names stand for what.
    pub(crate) world: ToolsetWorld,
    /// Linked tools that were refused.
    pub(crate) refused: Vec<Rejection>,
    /// What the file tools of all sessions remember.
    pub(crate) files: Arc<FileState>,
    /// The hooks that run at calls.
    pub(crate) told: Hooks,
}

/// The settings alone, for commands that need no tools.
pub(crate) fn load(globals: &Globals, tolerate_broken: bool) -> Result<Loaded, Failure> {
    let options = Options {
        home: globals.home.clone(),
        profile: globals.profile.clone(),
        env: process_env::read(),
        tolerate_broken,
    };
    Ok(hermes_config::load(options)?)
}

impl Host {
    /// Loads everything and tells of what is odd about it.
    pub(crate) fn new(globals: &Globals, ui: &Ui) -> Result<Self, Failure> {
        let host = Self::over(load(globals, false)?);
        for warning in &host.loaded.warnings {
            ui.warn(warning);
        }
        for rejection in &host.refused {
            ui.warn(rejection);
        }
        let config = host.settings().config();
        for error in CustomToolsets::parse(config, &host.world).1 {
            ui.warn(error);
        }
        let lists = config.get("platform_toolsets").unwrap_or(&Value::Null);
        for unknown in validate_platform_toolsets(&host.world, lists, &mcp_servers(config)).unknown
        {
            ui.warn(unknown);
        }
        Ok(host)
    }

    /// As [`new`](Self::new), and insists that what is denied in the configuration exists: a
    /// denial with a slip in its name would leave the tool on.
    pub(crate) fn checked(globals: &Globals, ui: &Ui) -> Result<Self, Failure> {
        let host = Self::new(globals, ui)?;
        validate_denials(&host.world, host.settings().config(), &[])
            .map_err(Failure::usage_lines)?;
        Ok(host)
    }

    /// As [`checked`](Self::checked), for calls: with the hooks of the configuration, the log of
    /// calls and, if they are wanted, snapshots.
    pub(crate) fn for_calls(
        globals: &Globals,
        calling: &Calling,
        ui: &Ui,
    ) -> Result<Self, Failure> {
        let mut host = Self::checked(globals, ui)?;
        host.told = host.hooks(globals, ui);
        let mut extensions =
            Extensions::default().hooks(host.told.clone()).listener(Arc::clone(&host.files) as _);
        match host.audit_log() {
            Ok(Some(log)) => extensions = extensions.audit(Arc::new(log)),
            Ok(None) => {}
            Err(error) => ui.warn(format!("the log of calls can't be written: {error}")),
        }
        let checkpoints = CheckpointConfig::of(host.settings());
        if checkpoints.enabled || calling.checkpoints {
            extensions = extensions.checkpointer(Arc::new(Checkpoints::new(checkpoints)));
        }
        host.runtime = Runtime::builder(host.runtime.registry().clone())
            .scope(host.scope())
            .settings(host.settings().clone())
            .extensions(extensions)
            .build();
        Ok(host)
    }

    /// The log of calls, unless it is switched off.
    fn audit_log(&self) -> std::io::Result<Option<AuditLog>> {
        if self.settings().get("audit.enabled").and_then(Value::as_bool) == Some(false) {
            return Ok(None);
        }
        let path = self.settings().home().join("logs").join("tool-calls.jsonl");
        AuditLog::open(path, Limits::default()).map(Some)
    }

    /// A host over settings that are loaded already.
    pub(crate) fn over(loaded: Loaded) -> Self {
        let (registry, refused) = Registry::builtin();
        let settings = loaded.settings.clone();
        let runtime = Runtime::builder(registry).scope(scope(&settings)).settings(settings).build();
        let world = runtime.toolset_world();
        Self { loaded, runtime, world, refused, files: Arc::default(), told: Hooks::none() }
    }

    /// The settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.loaded.settings
    }

    /// The hooks of the configuration that may run, after asking about those nobody agreed to.
    fn hooks(&self, globals: &Globals, ui: &Ui) -> Hooks {
        let mut hooks = ShellHooks::of(self.settings());
        consent::settle(&mut hooks, consent::accepts_all(globals, self.settings()), ui);
        hooks.register(Hooks::none())
    }

    /// Which tools are seen.
    pub(crate) fn scope(&self) -> Scope {
        scope(self.settings())
    }

    /// What decides which toolsets a platform gets under `config`.
    pub(crate) fn platform_request<'a>(
        &self,
        config: &'a Value,
        platform: &'a str,
    ) -> PlatformRequest<'a> {
        PlatformRequest::new(self.settings(), config, platform)
    }

    /// The tools a platform gets.
    pub(crate) fn platform_tools(&self, platform: &str) -> Result<ToolSelection, Failure> {
        if self.world.is_platform(platform) {
            return Ok(platform_selection(&self.world, self.settings(), platform));
        }
        let nearest = suggest::nearest(platform, self.world.platforms()).map(str::to_owned);
        Err(Failure::usage(UnknownPlatform { platform: platform.to_owned(), nearest }))
    }

    /// The tools of named toolsets, less what the configuration denies to everyone.
    pub(crate) fn named_tools(&self, toolsets: &[String]) -> Result<ToolSelection, Failure> {
        let request = SelectRequest { enabled: Some(toolsets), ..SelectRequest::default() };
        let selection = select(&self.world, &request);
        if selection.issues.is_empty() {
            Ok(ToolSelection::of(toolsets).with_config_denials(self.settings()))
        } else {
            Err(Failure::usage_lines(selection.issues))
        }
    }

    /// Opens a session.
    pub(crate) fn open(&self, options: SessionOptions) -> Result<Session, Failure> {
        self.runtime.open(options).map_err(|error| Failure::usage_lines(error.issues))
    }

    /// Opens a session that only lists tools: nothing behind tool search.
    pub(crate) fn open_for_listing(&self, tools: ToolSelection) -> Result<Session, Failure> {
        let mut options = SessionOptions::new(tools, ToolContext::default());
        options.tool_search = false;
        self.open(options)
    }

    /// Where calls run and what they may use.
    pub(crate) fn context(
        &self,
        cwd: Option<&Path>,
        task: &str,
        services: Services,
        cancel: CancellationToken,
    ) -> Result<ToolContext, Failure> {
        let ids = CallIds { task: task.into(), session: "cli".into(), ..CallIds::default() };
        Ok(ToolContext::new(working_directory(cwd)?)
            .with_ids(ids)
            .with_cancel(cancel)
            .with_surface(Surface::Cli)
            .with_settings(self.settings().clone())
            .with_services(services.with(Arc::clone(&self.files))))
    }
}

fn scope(settings: &Settings) -> Scope {
    settings.profile().map_or(Scope::Global, Scope::profile)
}

/// The names of the configured MCP servers.
pub(crate) fn mcp_servers(config: &Value) -> Vec<&str> {
    let servers = config.get("mcp_servers").and_then(Value::as_object);
    servers.into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

/// The folder asked for, else the present one.
pub(crate) fn working_directory(asked_for: Option<&Path>) -> Result<PathBuf, Failure> {
    let path = match asked_for {
        Some(path) => std::path::absolute(path),
        #[expect(clippy::disallowed_methods, reason = "this is the binary that reads it once")]
        None => std::env::current_dir(),
    };
    let path = path.map_err(|error| Failure::usage(format!("no working directory: {error}")))?;
    if path.is_dir() {
        Ok(path)
    } else {
        Err(Failure::usage(format!("--cwd {} is no folder", path.display())))
    }
}
