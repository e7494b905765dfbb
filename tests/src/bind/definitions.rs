//! Cases about the list of tools that a model sees, through a real runtime.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_registry::{
    AvailabilityCache, AvailabilityLimits, Check, Clock, Owner, Registry, Settings, ToolContext,
};
use hermes_tools::toolset::NamePlace;
use hermes_tools::{Runtime, Session, SessionOptions, ToolSelection};
use serde_json::{Value, json};

use super::{Binding, list, text};
use crate::{fixture, world};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("tool_definitions", Binding::Actual(tool_definitions)),
    ("definitions_over_time", Binding::Actual(definitions_over_time)),
];

fn options(tools: ToolSelection) -> SessionOptions {
    let mut options = SessionOptions::new(tools, ToolContext::new("/"));
    options.tool_search = false;
    options
}

/// Opens a session as upstream would: names that mean nothing are passed over, even in deny lists.
fn open(runtime: &Runtime, mut tools: ToolSelection) -> Result<Session, String> {
    match runtime.open(options(tools.clone())) {
        Ok(session) => Ok(session),
        Err(error) => {
            for issue in &error.issues {
                match issue.place {
                    NamePlace::DisabledTools => tools.denied_tools.retain(|it| *it != issue.name),
                    _ => tools.disabled.retain(|it| *it != issue.name),
                }
            }
            runtime.open(options(tools)).map_err(|error| error.to_string())
        }
    }
}

fn names(runtime: &Runtime, session: &Session) -> Vec<String> {
    runtime.definitions(session).names().into_iter().map(str::to_owned).collect()
}

pub(crate) fn tool_definitions(input: &Value) -> Result<Value, String> {
    let names_at = |key: &str| input.get(key).filter(|it| !it.is_null()).map(world::texts);
    let available = names_at("available");
    let unavailable = names_at("unavailable").unwrap_or_default();
    let passes = |name: &str| match &available {
        Some(available) => available.iter().any(|it| it == name),
        None => !unavailable.iter().any(|it| it == name),
    };
    let registry = match input["world"]["base"].as_str() {
        Some("empty") => Registry::new(),
        _ => fixture::builtin_registry_with_checks(passes),
    };
    let user = registry.registrar(Owner::User);
    for tool in list(&input["world"], "registered")? {
        let tool = fixture::idle_tool(text(tool, "name")?, text(tool, "toolset")?);
        user.register(tool).map_err(|rejection| rejection.to_string())?;
    }
    let env = input["env"].as_object().into_iter().flatten();
    let env = env.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default()));
    let runtime = Runtime::builder(registry)
        .settings(Settings::new("/nowhere").with_env(env))
        .toolsets(world::toolset_world(&input["world"], &input["platforms"]))
        .build();
    let tools = ToolSelection {
        enabled: names_at("enabled"),
        disabled: names_at("disabled").unwrap_or_default(),
        denied_tools: Vec::new(),
    };
    let session = open(&runtime, tools)?;
    Ok(json!({"names": names(&runtime, &session)}))
}

#[derive(Default)]
struct ManualClock(AtomicU64);

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

pub(crate) fn definitions_over_time(input: &Value) -> Result<Value, String> {
    const TOOLSET: &str = "plug";
    let up = Arc::new(Mutex::new(BTreeSet::<String>::new()));
    let registry = Registry::new();
    let user = registry.registrar(Owner::User);
    for name in world::texts(&input["tools"]) {
        let (up, probed) = (Arc::clone(&up), name.clone());
        let check = Check::new(move |_| {
            let up = up.lock().unwrap_or_else(PoisonError::into_inner);
            if up.contains(&probed) { Ok(()) } else { Err("down".to_owned()) }
        });
        let tool = fixture::idle_tool(&name, TOOLSET).with_check(check);
        user.register(tool).map_err(|rejection| rejection.to_string())?;
    }
    let clock = Arc::new(ManualClock::default());
    let cache = AvailabilityCache::new(clock.clone(), AvailabilityLimits::default());
    let runtime = Runtime::builder(registry).availability(cache).build();
    let session = open(&runtime, ToolSelection::of([TOOLSET]))?;
    let pristine = Value::clone(fixture::idle_tool("any", TOOLSET).parameters());
    let mut seen = Vec::new();
    for event in list(input, "events")? {
        let at = event["at"].as_f64().unwrap_or_default();
        clock.0.store(Duration::from_secs_f64(at).as_millis() as u64, Ordering::SeqCst);
        *up.lock().unwrap_or_else(PoisonError::into_inner) =
            world::texts(&event["up"]).into_iter().collect();
        if let Some(name) = event["register"].as_str() {
            let tool = fixture::idle_tool(name, TOOLSET);
            user.register(tool).map_err(|rejection| rejection.to_string())?;
        }
        if let Some(name) = event["deregister"].as_str() {
            user.deregister(name).map_err(|rejection| rejection.to_string())?;
        }
        let definitions = runtime.definitions(&session);
        if let Some(spoiled) = definitions.visible.iter().find(|it| *it.parameters != pristine) {
            return Err(format!("an earlier edit shows in {}", spoiled.name));
        }
        seen.push(names(&runtime, &session));
        if event.get("mutate_returned").is_some() {
            for tool in &mut definitions.visible.clone() {
                *Arc::make_mut(&mut tool.parameters) = json!("spoiled by the caller");
            }
        }
    }
    Ok(json!({"names": seen}))
}
