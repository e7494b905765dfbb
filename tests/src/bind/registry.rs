//! Registration, the availability cache and availability by toolset.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_registry::{
    AvailabilityCache, AvailabilityLimits, Check, Clock, EnvVar, Owner, Registry, Removed,
    Settings, toolset_availability,
};
use serde_json::{Map, Value, json};

use super::{Binding, list, text};
use crate::fixture;

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("register_ops", Binding::Actual(register_ops)),
    ("check_cache", Binding::Actual(check_cache)),
    ("toolset_available", Binding::Actual(toolset_available)),
];

pub(crate) fn register_ops(input: &Value) -> Result<Value, String> {
    let is_empty = match text(input, "base")? {
        "empty" => true,
        "builtin" => false,
        other => return Err(format!("unknown base {other:?}")),
    };
    let registry = if is_empty { Registry::new() } else { fixture::builtin_registry() };
    let before = registry.generation();
    let ops = list(input, "ops")?;
    let results: Vec<_> = ops.iter().map(|op| apply(&registry, op)).collect::<Result<_, _>>()?;
    let snapshot = registry.snapshot();
    let named = |name: &str| ops.iter().any(|op| op.get("name").is_some_and(|n| n == name));
    let tools: BTreeMap<_, _> = snapshot
        .tools()
        .map(|tool| (tool.name(), tool.toolset()))
        // Of the built-in tools a case tells only those that it touches.
        .filter(|(name, _)| is_empty || named(name))
        .collect();
    let aliases: BTreeMap<_, _> = snapshot.aliases().collect();
    Ok(json!({
        "results": results,
        "tools": tools,
        "aliases": aliases,
        "generation_bumps": registry.generation() - before,
    }))
}

fn apply(registry: &Registry, op: &Value) -> Result<&'static str, String> {
    let done = |accepted: bool| Ok(if accepted { "ok" } else { "rejected" });
    match text(op, "op")? {
        "register" => {
            let registrar = registry.registrar(owner(op)?);
            let tool = fixture::idle_tool(text(op, "name")?, text(op, "toolset")?);
            let overriding = op.get("override").and_then(Value::as_bool).unwrap_or(false);
            done(if overriding {
                registrar.register_override(tool).is_ok()
            } else {
                registrar.register(tool).is_ok()
            })
        }
        "deregister" => match registry.registrar(owner(op)?).deregister(text(op, "name")?) {
            Ok(Removed::NotThere) => Ok("noop"),
            removed => done(removed.is_ok()),
        },
        "alias" => {
            registry.registrar(Owner::User).alias(text(op, "alias")?, text(op, "toolset")?);
            done(true)
        }
        "allow_override" => {
            let allowed = op.get("allowed").and_then(Value::as_bool).unwrap_or(false);
            registry.allow_override(text(op, "plugin")?, allowed);
            done(true)
        }
        other => Err(format!("unknown op {other:?}")),
    }
}

fn owner(op: &Value) -> Result<Owner, String> {
    let source = op.get("source").ok_or_else(|| format!("no source in {op}"))?;
    let id = text(source, "id")?;
    match text(source, "kind")? {
        "builtin" => Ok(Owner::builtin(id)),
        "plugin" => Ok(Owner::plugin(id)),
        "mcp" => Ok(Owner::mcp(id)),
        other => Err(format!("unknown kind of source {other:?}")),
    }
}

#[derive(Default)]
struct ManualClock {
    millis: AtomicU64,
}

impl ManualClock {
    fn set(&self, seconds: f64) {
        self.millis.store((seconds * 1000.0).round() as u64, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::SeqCst))
    }
}

/// A probe that answers as a case says: true, false or "raise".
fn probe(answer: &Value) -> Result<(), String> {
    match answer {
        Value::Bool(true) => Ok(()),
        Value::Bool(false) => Err("down".to_owned()),
        // A panic that leaves no trace on the terminal.
        _ => resume_unwind(Box::new("raised by the case")),
    }
}

pub(crate) fn check_cache(input: &Value) -> Result<Value, String> {
    let clock = Arc::new(ManualClock::default());
    let cache = AvailabilityCache::new(clock.clone(), AvailabilityLimits::default());
    let settings = Settings::default();
    // What the probe is to answer; taken away by a run.
    let answer = Arc::new(Mutex::new(None::<Value>));
    let check = Check::new({
        let answer = Arc::clone(&answer);
        move |_| {
            let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
            probe(&answer.unwrap_or(Value::Bool(false)))
        }
    });
    let (mut served, mut probed) = (Vec::new(), Vec::new());
    for event in list(input, "events")? {
        if let Some(at) = event.get("at").and_then(Value::as_f64) {
            clock.set(at);
        }
        let Some(next) = event.get("probe") else {
            cache.invalidate();
            served.push(Value::Null);
            probed.push(false);
            continue;
        };
        *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(next.clone());
        served.push(cache.check(&settings, &check).is_available().into());
        let left = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        probed.push(left.is_none());
    }
    Ok(json!({"served": served, "probed": probed}))
}

pub(crate) fn toolset_available(input: &Value) -> Result<Value, String> {
    let registry = Registry::new();
    let registrar = registry.registrar(Owner::User);
    for entry in list(input, "registered")? {
        let vars: Vec<EnvVar> = list(entry, "requires_env")?
            .iter()
            .filter_map(Value::as_str)
            .map(|name| {
                let mut var = EnvVar::secret("", "");
                var.name = name.to_owned().into();
                var
            })
            .collect();
        let mut tool =
            fixture::idle_tool(text(entry, "name")?, text(entry, "toolset")?).with_env(vars);
        if let Some(answer) = entry.get("check").filter(|answer| !answer.is_null()).cloned() {
            tool = tool.with_check(Check::new(move |_| probe(&answer)));
        }
        registrar.register(tool).map_err(|rejection| rejection.to_string())?;
    }
    let (cache, settings) = (AvailabilityCache::default(), Settings::default());
    let snapshot = registry.snapshot();
    let availability = toolset_availability(snapshot.tools(), |tool| {
        tool.check().is_none_or(|check| cache.check(&settings, check).is_available())
    });
    let unavailable: Map<String, Value> = availability
        .unavailable
        .iter()
        .map(|(name, toolset)| {
            let detail = json!({"env_vars": toolset.env_vars, "tools": toolset.tools});
            ((*name).to_owned(), detail)
        })
        .collect();
    let query: Map<String, Value> = list(input, "query")?
        .iter()
        .filter_map(Value::as_str)
        .map(|name| (name.to_owned(), availability.is_available(name).into()))
        .collect();
    Ok(json!({"available": availability.available, "unavailable": unavailable, "query": query}))
}
