//! The list of tools as a model sees it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hermes_registry::{AvailabilityCache, Overrides, SchemaContext, Snapshot, Verdict, template};
use hermes_schema::lower::{LoweredTools, ToolDef, ToolFormat, lower_tools};
use serde_json::Value;

use crate::prepared::{PreparedTool, render_schema, repaired};
use crate::session::{Grant, Session};
use hermes_search::{Catalog, ToolDefinition, ToolSearchConfig};
use hermes_toolsets::NameIssue;

/// The tools of a session: those the model sees, those behind tool search, those left out.
///
/// For the same registrations, settings and availability the list is the same to the byte.
#[derive(Debug)]
pub struct Definitions {
    /// What the model sees, by name; with tool search on, the three bridges come last.
    pub visible: Vec<ToolDefinition>,
    /// What is found through tool search only.
    pub deferred: Vec<ToolDefinition>,
    /// Granted tools that can't be used right now, with the reason.
    pub unavailable: Vec<(Arc<str>, Arc<str>)>,
    /// Granted tools whose schema is beyond repair, with the reason.
    pub quarantined: Vec<(Arc<str>, String)>,
    /// Names in the session's lists that meant nothing.
    pub issues: Vec<NameIssue>,
    /// The settings of tool search.
    pub(crate) search: ToolSearchConfig,
    grant: Arc<Grant>,
    catalog: OnceLock<Catalog>,
}

impl Definitions {
    /// The visible names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.visible.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// Whether tool search hides part of the list.
    pub fn is_search_active(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// The visible tools in the wire shape and schema dialect of a provider.
    ///
    /// MCP clients are served the schemas as they were registered, everybody else repaired ones.
    pub fn lowered(&self, format: ToolFormat) -> LoweredTools {
        let schemas: Vec<Cow<'_, Value>> =
            self.visible.iter().map(|tool| self.schema_for(format, tool)).collect();
        let tools: Vec<ToolDef<'_>> = self
            .visible
            .iter()
            .zip(&schemas)
            .map(|(tool, parameters)| ToolDef {
                name: &tool.name,
                description: &tool.description,
                parameters,
                cache_control: None,
            })
            .collect();
        lower_tools(format, &tools)
    }

    fn schema_for<'a>(&'a self, format: ToolFormat, tool: &'a ToolDefinition) -> Cow<'a, Value> {
        let registered = (format == ToolFormat::Mcp).then(|| self.grant.view.get(&tool.name));
        match registered.flatten() {
            Some(prepared) if prepared.has_templates() => {
                let shown = |name: &str| {
                    self.visible.iter().chain(&self.deferred).any(|tool| tool.name == name)
                };
                Cow::Owned(render_schema(prepared.tool.parameters(), &shown))
            }
            Some(prepared) => Cow::Borrowed(prepared.tool.parameters()),
            None => Cow::Borrowed(&tool.parameters),
        }
    }

    /// The deferrable tools, indexed on first use.
    pub(crate) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| {
            // Tools that could be deferred but aren't can be searched for as well.
            let deferrable = self.visible.iter().chain(&self.deferred).filter_map(|definition| {
                let prepared = self.grant.view.get(&definition.name)?;
                prepared.is_deferrable().then(|| prepared.catalog_entry(definition))
            });
            Catalog::new(deferrable.collect())
        })
    }
}

/// Definitions with what they were made from.
#[derive(Debug)]
pub(crate) struct Memo {
    grant: Arc<Grant>,
    epoch: u64,
    valid_until: Duration,
    /// The availability of each distinct probe; the list holds while this stays the same.
    fingerprint: Vec<bool>,
    definitions: Arc<Definitions>,
}

impl std::fmt::Debug for Grant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grant").field("tools", &self.tools).finish_non_exhaustive()
    }
}

/// The session's definitions under `grant`, from its memo where nothing has changed.
pub(crate) fn definitions(
    session: &Session,
    grant: &Arc<Grant>,
    availability: &AvailabilityCache,
) -> Arc<Definitions> {
    let (epoch, now) = (availability.epoch(), availability.now());
    let memo = session.state.definitions.load();
    let same_grant = memo.as_ref().filter(|memo| Arc::ptr_eq(&memo.grant, grant));
    if let Some(memo) = same_grant
        && memo.epoch == epoch
        && now < memo.valid_until
    {
        return Arc::clone(&memo.definitions);
    }
    let verdicts = Verdicts::ask(session, grant, availability);
    let definitions = match same_grant {
        Some(memo) if memo.fingerprint == verdicts.fingerprint => Arc::clone(&memo.definitions),
        _ => Arc::new(build(session, grant, &verdicts)),
    };
    session.state.definitions.store(Some(Arc::new(Memo {
        grant: Arc::clone(grant),
        epoch,
        valid_until: verdicts.valid_until,
        fingerprint: verdicts.fingerprint,
        definitions: Arc::clone(&definitions),
    })));
    definitions
}

/// The answers of the probes of all granted tools.
struct Verdicts {
    // In the order of the grant's tools; none where a tool has no probe.
    by_tool: Vec<Option<Verdict>>,
    fingerprint: Vec<bool>,
    valid_until: Duration,
}

impl Verdicts {
    fn ask(session: &Session, grant: &Grant, availability: &AvailabilityCache) -> Self {
        if !session.options().check_availability {
            let by_tool = vec![None; grant.tools.len()];
            return Self { by_tool, fingerprint: Vec::new(), valid_until: Duration::MAX };
        }
        let tools: Vec<_> = grant.prepared().map(|prepared| &prepared.tool).collect();
        let settings = &grant.view.settings;
        let distinct = Snapshot::distinct_checks(tools.iter().copied());
        let answers = availability.check_all(settings, &distinct);
        let by_tool: Vec<Option<Verdict>> = tools
            .iter()
            .map(|tool| {
                let check = tool.check()?;
                let index = distinct.iter().position(|other| other.is_same(check))?;
                answers.get(index).cloned()
            })
            .collect();
        Self {
            by_tool,
            fingerprint: answers.iter().map(Verdict::is_available).collect(),
            valid_until: answers.iter().map(|v| v.valid_until).min().unwrap_or(Duration::MAX),
        }
    }
}

impl Grant {
    fn prepared(&self) -> impl Iterator<Item = &Arc<PreparedTool>> {
        self.tools.iter().filter_map(|name| self.view.get(name))
    }
}

fn build(session: &Session, grant: &Arc<Grant>, verdicts: &Verdicts) -> Definitions {
    let mut usable = Vec::new();
    let mut unavailable = Vec::new();
    for (prepared, verdict) in grant.prepared().zip(&verdicts.by_tool) {
        if prepared.is_hidden() {
            continue;
        }
        match verdict {
            Some(Verdict { outcome: Err(why), .. }) => {
                unavailable.push((Arc::from(prepared.tool.name()), Arc::clone(why)));
            }
            _ => usable.push(prepared),
        }
    }
    let available: BTreeSet<&str> = usable.iter().map(|prepared| prepared.tool.name()).collect();
    let cx = SchemaContext { settings: &grant.view.settings, available: &available };
    let mut quarantined = Vec::new();
    let mut tools = Vec::with_capacity(usable.len());
    for prepared in &usable {
        match define(prepared, &cx) {
            Ok(Some(definition)) => tools.push(definition),
            Ok(None) => {}
            Err(why) => quarantined.push((Arc::from(prepared.tool.name()), why)),
        }
    }
    let config = ToolSearchConfig::from_value(
        grant.view.settings.get("tools.tool_search").unwrap_or(&Value::Null),
    );
    let (visible, deferred) = if session.options().tool_search {
        let length = session.options().context_length.or_else(|| context_length(grant));
        let is_deferrable =
            |name: &str| grant.view.get(name).is_some_and(|prepared| prepared.is_deferrable());
        let assembly = hermes_search::assemble(tools.clone(), &config, length, is_deferrable);
        let deferred = if assembly.activated {
            tools.into_iter().filter(|tool| is_deferrable(&tool.name)).collect()
        } else {
            Vec::new()
        };
        (assembly.tools, deferred)
    } else {
        (tools, Vec::new())
    };
    Definitions {
        visible,
        deferred,
        unavailable,
        quarantined,
        issues: grant.issues.clone(),
        search: config,
        grant: Arc::clone(grant),
        catalog: OnceLock::new(),
    }
}

/// The definition of one tool; none if its overrides withdraw it.
fn define(
    prepared: &PreparedTool,
    cx: &SchemaContext<'_>,
) -> Result<Option<ToolDefinition>, String> {
    let declared = prepared.definition().map_err(ToString::to_string)?;
    let overrides = match prepared.tool.overrides() {
        None => Overrides::default(),
        // A failing override is no reason to lose the tool.
        Some(compute) => compute(cx).unwrap_or_else(|error| {
            let tool = prepared.tool.name();
            tracing::warn!(tool, %error, "the schema override failed; using the declared schema");
            Overrides::default()
        }),
    };
    if overrides.withdrawn {
        return Ok(None);
    }
    let mut definition = declared.clone();
    if let Some(description) = overrides.description {
        definition.description = description;
    }
    if let Some(parameters) = overrides.parameters {
        definition.parameters = repaired(&Arc::new(parameters)).map_err(|err| err.to_string())?;
    }
    let is_available = |name: &str| cx.available.contains(name);
    if prepared.has_templates() || template::is_template(&definition.description) {
        definition.description =
            template::render(&definition.description, is_available).into_owned();
        definition.parameters = Arc::new(render_schema(&definition.parameters, &is_available));
    }
    Ok(Some(definition))
}

/// The model's context window according to the configuration, in tokens.
fn context_length(grant: &Grant) -> Option<u64> {
    grant.view.settings.get("model.context_length").and_then(Value::as_u64).filter(|n| *n > 0)
}
