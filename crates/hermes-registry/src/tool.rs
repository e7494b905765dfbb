//! A tool as the run-time registry holds it.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::handler::{DynHandler, Invocation};
use crate::owner::{Owner, Scope};
use crate::{
    Check, EnvVar, ForeseeFn, Origin, OverridesFn, ProposeFn, ToolContext, ToolMeta, ToolSpec,
};

/// A tool: what the model is told of it, how it runs, who owns it.
///
/// Linked tools become one through [`Tool::linked`], tools made at run time through
/// [`Tool::dynamic`]. A registered tool never changes; a new version replaces it.
pub struct Tool {
    name: Cow<'static, str>,
    toolset: Cow<'static, str>,
    description: Cow<'static, str>,
    // Generated on first use: a program that only lists names builds no schema.
    parameters: OnceLock<Arc<Value>>,
    requires_env: Cow<'static, [EnvVar]>,
    meta: ToolMeta,
    check: Option<Check>,
    propose: Option<ProposeFn>,
    body: Body,
    pub(crate) owner: Owner,
    pub(crate) scope: Scope,
}

enum Body {
    Linked(&'static ToolSpec),
    Dynamic(Arc<dyn DynHandler>),
}

impl Tool {
    /// The tool of a linked declaration, owned by its crate.
    pub fn linked(spec: &'static ToolSpec) -> Self {
        Self {
            name: Cow::Borrowed(spec.name),
            toolset: Cow::Borrowed(spec.toolset),
            description: Cow::Borrowed(spec.description),
            parameters: OnceLock::new(),
            requires_env: Cow::Borrowed(spec.meta.requires_env),
            meta: spec.meta,
            check: spec.check.map(Check::Static),
            propose: spec.propose,
            body: Body::Linked(spec),
            owner: Owner::builtin(spec.origin.crate_name),
            scope: Scope::Global,
        }
    }

    /// A tool made at run time. Whoever registers it becomes its owner.
    ///
    /// `parameters` is the JSON schema of the arguments; it is kept as it is, and calls are
    /// validated against it.
    pub fn dynamic(
        name: impl Into<String>,
        toolset: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        handler: impl DynHandler + 'static,
    ) -> Self {
        Self {
            name: Cow::Owned(name.into()),
            toolset: Cow::Owned(toolset.into()),
            description: Cow::Owned(description.into()),
            parameters: OnceLock::from(Arc::new(parameters)),
            requires_env: Cow::Borrowed(&[]),
            meta: ToolMeta::DEFAULT,
            check: None,
            propose: None,
            body: Body::Dynamic(Arc::new(handler)),
            owner: Owner::User,
            scope: Scope::Global,
        }
    }

    /// The same tool with other properties.
    #[must_use]
    pub fn with_meta(mut self, meta: ToolMeta) -> Self {
        self.meta = meta;
        self
    }

    /// The same tool with an availability probe.
    #[must_use]
    pub fn with_check(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// The same tool with what builds the change that a call would make.
    #[must_use]
    pub fn with_propose(mut self, propose: ProposeFn) -> Self {
        self.propose = Some(propose);
        self
    }

    /// The same tool with the variables it uses.
    #[must_use]
    pub fn with_env(mut self, vars: impl Into<Vec<EnvVar>>) -> Self {
        self.requires_env = Cow::Owned(vars.into());
        self
    }

    /// The name the model calls.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The toolset it belongs to.
    pub fn toolset(&self) -> &str {
        &self.toolset
    }

    /// What it does, as declared: may hold [templates](crate::template).
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON schema of the arguments, as declared. Arguments are validated against this one.
    pub fn parameters(&self) -> &Arc<Value> {
        self.parameters.get_or_init(|| match &self.body {
            Body::Linked(spec) => Arc::new((spec.schema)()),
            Body::Dynamic(_) => Arc::default(),
        })
    }

    /// The variables it uses, for people.
    pub fn requires_env(&self) -> &[EnvVar] {
        &self.requires_env
    }

    /// Its other properties.
    pub fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    /// Its availability probe; none means always available.
    pub fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// What changes its definition.
    pub fn overrides(&self) -> Option<OverridesFn> {
        match &self.body {
            Body::Linked(spec) => spec.overrides,
            Body::Dynamic(_) => None,
        }
    }

    /// What builds the change that a call would make, for tools that edit files.
    pub fn propose(&self) -> Option<ProposeFn> {
        self.propose
    }

    /// What finds out what a call would ask a person.
    pub fn foresee(&self) -> Option<ForeseeFn> {
        match &self.body {
            Body::Linked(spec) => spec.foresee,
            Body::Dynamic(_) => None,
        }
    }

    /// Who registered it.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Which profiles see it.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Where a linked tool was declared.
    pub fn origin(&self) -> Option<Origin> {
        match &self.body {
            Body::Linked(spec) => Some(spec.origin),
            Body::Dynamic(_) => None,
        }
    }

    /// Starts a call with arguments that were validated against [`parameters`](Self::parameters).
    pub fn start(&self, args: Value, cx: ToolContext) -> Invocation {
        match &self.body {
            Body::Linked(spec) => (spec.invoke)(args, cx),
            Body::Dynamic(handler) => handler.start(args, cx),
        }
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .field("toolset", &self.toolset)
            .field("owner", &self.owner)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
