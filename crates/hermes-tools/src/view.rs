//! What the registry and the settings amount to, derived once for each change of either.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use hermes_registry::{Registry, Scope, Settings, Snapshot};

use crate::prepared::PreparedTool;
use hermes_toolsets::{CustomToolsets, ToolsetWorld};

/// The tools that a profile sees, prepared, and the toolsets they form.
pub(crate) struct View {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) settings: Settings,
    pub(crate) world: ToolsetWorld,
    tools: HashMap<Arc<str>, Arc<PreparedTool>>,
}

impl View {
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<PreparedTool>> {
        self.tools.get(name)
    }

    fn key(&self) -> (u64, u64) {
        (self.snapshot.generation(), self.settings.id())
    }
}

/// Keeps the latest view.
pub(crate) struct ViewCache {
    registry: Registry,
    scope: Scope,
    // The toolsets before anything is registered.
    toolsets: ToolsetWorld,
    latest: ArcSwapOption<View>,
}

impl ViewCache {
    pub(crate) fn new(registry: Registry, scope: Scope, toolsets: ToolsetWorld) -> Self {
        Self { registry, scope, toolsets, latest: ArcSwapOption::empty() }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The view under `settings` as of now.
    pub(crate) fn get(&self, settings: &Settings) -> Arc<View> {
        let latest = self.latest.load();
        if let Some(view) = &*latest
            && view.key() == (self.registry.generation(), settings.id())
        {
            return Arc::clone(view);
        }
        // Two callers may do this at once; both results are right, and one is kept.
        let view = Arc::new(self.derive(settings, latest.as_deref()));
        self.latest.store(Some(Arc::clone(&view)));
        view
    }

    fn derive(&self, settings: &Settings, earlier: Option<&View>) -> View {
        let snapshot = self.registry.snapshot();
        let mut tools = HashMap::new();
        let registered = snapshot.tools_in(&self.scope);
        for tool in &registered {
            // What was derived from a tool that is still there stays good.
            let kept = earlier
                .and_then(|view| view.get(tool.name()))
                .filter(|prepared| Arc::ptr_eq(&prepared.tool, *tool));
            let prepared =
                kept.map_or_else(|| Arc::new(PreparedTool::new(Arc::clone(*tool))), Arc::clone);
            tools.insert(Arc::from(tool.name()), prepared);
        }
        let world = self
            .toolsets
            .clone()
            .with_registered(registered.iter().map(|tool| (tool.name(), tool.toolset())))
            .with_aliases(snapshot.aliases());
        // A toolset with a mistake is left out; `hermes config check` tells about it.
        let (custom, _) = CustomToolsets::parse(settings.config(), &world);
        let world = world.with_custom(&custom);
        View { snapshot, settings: settings.clone(), world, tools }
    }
}
