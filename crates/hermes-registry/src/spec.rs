//! What a tool crate declares about a tool, as constants.

use std::borrow::Cow;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;

use crate::check::CheckFn;
use crate::handler::Invocation;
use crate::overrides::OverridesFn;
use crate::{Settings, ToolContext, ToolError, name};

/// A tool as its crate declares it with [`register!`](crate::register).
///
/// Everything in it is known at compile time, so that it can live in a linker section. At run time
/// the [`Registry`](crate::Registry) holds a [`Tool`](crate::Tool) made from it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name the model calls, unique over everything that is linked.
    pub name: &'static str,
    /// The toolset the tool belongs to.
    pub toolset: &'static str,
    /// What the tool does, for the model. May hold [templates](crate::template).
    pub description: &'static str,
    /// The JSON schema of the arguments.
    pub schema: fn() -> Value,
    /// Starts a call.
    pub invoke: fn(Value, ToolContext) -> Invocation,
    /// Everything with a default.
    pub meta: ToolMeta,
    /// The availability probe; none means always available.
    pub check: Option<CheckFn>,
    /// Changes to the definition that depend on settings or on which tools are available.
    pub overrides: Option<OverridesFn>,
    /// Builds what a call would change, for tools that edit files.
    pub propose: Option<ProposeFn>,
    /// Finds out what a call would ask a person, for those who ask before they run it.
    pub foresee: Option<ForeseeFn>,
    /// Who declared it.
    pub origin: Origin,
}

/// The part of a declaration that has defaults.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolMeta {
    /// One emoji for progress lines; empty means ⚡.
    pub emoji: &'static str,
    /// What a call does, for progress lines, e.g. `Reading`; empty means the tool's name.
    pub verb: &'static str,
    /// Variables the tool uses. They inform people and `hermes doctor`; they are no gate.
    pub requires_env: &'static [EnvVar],
    /// How long a result may be before it is written to a file.
    pub max_result_size: ResultLimit,
    /// How long a call may take; none means the host's default (300 s).
    pub timeout: Option<Duration>,
    /// What may run beside a call.
    pub concurrency: Concurrency,
    /// Whose words the result holds.
    pub trust: Trust,
    /// Whether the definition may be hidden behind tool search.
    pub exposure: Exposure,
    /// Who can run it.
    pub kind: Kind,
    /// Platform presets that include the tool besides its toolset, e.g. `hermes-discord`.
    pub tags: &'static [&'static str],
    /// Parameters whose values are never shown or logged.
    pub secret_params: &'static [&'static str],
    /// Whether an equal call with an equal result means that the model goes round in circles.
    pub idempotent: bool,
    /// Whether equal calls in one turn are meant, such as pressing a key twice.
    pub repeatable: bool,
    /// How many calls of the tool one turn may hold; none means any number.
    pub per_turn: Option<PerTurnFn>,
    /// What is worth a snapshot before a call.
    pub checkpoint: CheckpointScope,
}

/// How many calls of a tool one turn may hold under the settings.
pub type PerTurnFn = fn(&Settings) -> usize;

/// Builds what a call would change, without changing it. May block.
pub type ProposeFn = fn(&Value, &ToolContext) -> Result<Vec<EditProposal>, ToolError>;

/// Finds out, without doing anything and without asking anybody, what a call would begin with: the
/// question that it would ask a person, as a sentence, or the error of a refusal.
pub type ForeseeFn = fn(Value, ToolContext) -> ForeseeFuture;

/// What a call would ask, to come.
pub type ForeseeFuture = Pin<Box<dyn Future<Output = Result<Option<String>, ToolError>> + Send>>;

/// What is worth a snapshot before a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointScope {
    /// What the concurrency says: the path for tools that write one, else nothing.
    #[default]
    Declared,
    /// Nothing, although the tool writes a path.
    Never,
    /// The path in one argument, and all paths that the patch in another names.
    Patch {
        /// The argument that holds the path.
        path: &'static str,
        /// The argument that holds the patch.
        patch: &'static str,
    },
    /// The working directory, when the command in an argument is destructive.
    Command {
        /// The argument that holds the command.
        command: &'static str,
        /// The argument that holds the working directory.
        workdir: &'static str,
    },
}

/// A change of one file, for a person to look at before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditProposal {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its present text; none if it doesn't exist.
    pub old: Option<String>,
    /// Its text afterwards; none if it would be removed.
    pub new: Option<String>,
}

impl ToolMeta {
    /// The defaults: exclusive, trusted, deferrable, no timeout of its own.
    pub const DEFAULT: Self = Self {
        emoji: "",
        verb: "",
        requires_env: &[],
        max_result_size: ResultLimit::Default,
        timeout: None,
        concurrency: Concurrency::Exclusive,
        trust: Trust::Own,
        exposure: Exposure::Deferrable,
        kind: Kind::Ordinary,
        tags: &[],
        secret_params: &[],
        idempotent: false,
        repeatable: false,
        per_turn: None,
        checkpoint: CheckpointScope::Declared,
    };

    /// The emoji, or ⚡ when the tool declares none.
    pub const fn emoji_or_default(&self) -> &'static str {
        if self.emoji.is_empty() { "⚡" } else { self.emoji }
    }
}

impl Default for ToolMeta {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How many characters of a result are passed on before the rest goes to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultLimit {
    /// The host's default, 100,000 characters unless configured.
    #[default]
    Default,
    /// This many characters (Unicode scalar values).
    Chars(u32),
    /// The tool bounds its own results.
    Unlimited,
}

/// What a call may run beside, within one batch of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Concurrency {
    /// Changes nothing: beside any other read.
    ReadOnly,
    /// Touches the path in the named argument: beside calls on other paths; reads beside reads.
    PathScoped {
        /// What the call does to the path.
        access: Access,
        /// The argument that holds the path.
        arg: &'static str,
        /// The path when the argument is missing, e.g. `.`; none makes such a call exclusive.
        default: Option<&'static str>,
    },
    /// Beside nothing.
    Exclusive,
    /// Talks to the person at the keyboard: beside nothing, and the wait isn't counted as work.
    Interactive,
}

impl Concurrency {
    /// Reads the path in argument `arg`.
    pub const fn reads(arg: &'static str) -> Self {
        Self::PathScoped { access: Access::Read, arg, default: None }
    }

    /// Reads the path in argument `arg`, or `default` when it isn't given.
    pub const fn reads_or(arg: &'static str, default: &'static str) -> Self {
        Self::PathScoped { access: Access::Read, arg, default: Some(default) }
    }

    /// Changes the path in argument `arg`.
    pub const fn writes(arg: &'static str) -> Self {
        Self::PathScoped { access: Access::Write, arg, default: None }
    }

    /// Whether a call changes nothing.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::ReadOnly | Self::PathScoped { access: Access::Read, .. })
    }
}

/// What a call does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it or what lies below it.
    Read,
    /// Creates, changes or removes it.
    Write,
}

/// Whose words a result holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The host's or the user's own.
    Own,
    /// A third party's: framed as data before the model sees it.
    ThirdParty,
}

/// Whether a definition may be hidden behind tool search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Always in the list of definitions.
    Core,
    /// Hidden behind tool search when the list gets too long.
    Deferrable,
    /// Never in the list; callable by the host only.
    Hidden,
}

/// Who can run a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anyone with a runtime.
    Ordinary,
    /// Needs a service that only an agent loop lends; elsewhere the call says so.
    AgentLevel,
}

/// A variable that a tool uses, and how a person gets its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// The variable's name.
    pub name: Cow<'static, str>,
    /// The label of an input field.
    pub prompt: Cow<'static, str>,
    /// Where to get the value.
    pub url: Option<Cow<'static, str>>,
    /// Whether the value must not be shown.
    pub secret: bool,
}

impl EnvVar {
    /// A variable whose value must not be shown.
    pub const fn secret(name: &'static str, prompt: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), prompt: Cow::Borrowed(prompt), url: None, secret: true }
    }

    /// A variable whose value may be shown.
    pub const fn plain(name: &'static str, prompt: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), prompt: Cow::Borrowed(prompt), url: None, secret: false }
    }
}

/// Where a linked tool was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The package.
    pub crate_name: &'static str,
    /// The source file, as the compiler names it.
    pub file: &'static str,
    /// The line of the declaration.
    pub line: u32,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}:{})", self.crate_name, self.file, self.line)
    }
}

impl ToolSpec {
    /// What `register!` builds; the setters below are its optional keys.
    #[doc(hidden)]
    pub const fn __new(
        name: &'static str,
        toolset: &'static str,
        description: &'static str,
        schema: fn() -> Value,
        invoke: fn(Value, ToolContext) -> Invocation,
        origin: Origin,
    ) -> Self {
        assert!(name::is_valid_name(name), "a tool's name must match ^[a-z][a-z0-9_]{{0,63}}$");
        assert!(!toolset.is_empty(), "a tool needs a toolset");
        assert!(!description.is_empty(), "a tool needs a description");
        Self {
            name,
            toolset,
            description,
            schema,
            invoke,
            meta: ToolMeta::DEFAULT,
            check: None,
            overrides: None,
            propose: None,
            foresee: None,
            origin,
        }
    }

    /// Sets the emoji of progress lines.
    #[must_use]
    pub const fn emoji(mut self, emoji: &'static str) -> Self {
        self.meta.emoji = emoji;
        self
    }

    /// Sets what a call does, for progress lines.
    #[must_use]
    pub const fn verb(mut self, verb: &'static str) -> Self {
        self.meta.verb = verb;
        self
    }

    /// Sets the availability probe.
    #[must_use]
    pub const fn check(mut self, check: CheckFn) -> Self {
        self.check = Some(check);
        self
    }

    /// Sets the variables that the tool uses.
    #[must_use]
    pub const fn requires_env(mut self, vars: &'static [EnvVar]) -> Self {
        self.meta.requires_env = vars;
        self
    }

    /// Sets the length of results.
    #[must_use]
    pub const fn max_result_size(mut self, limit: ResultLimit) -> Self {
        self.meta.max_result_size = limit;
        self
    }

    /// Sets how long a call may take.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.meta.timeout = Some(timeout);
        self
    }

    /// Sets what may run beside a call.
    #[must_use]
    pub const fn concurrency(mut self, concurrency: Concurrency) -> Self {
        self.meta.concurrency = concurrency;
        self
    }

    /// Sets whose words results hold.
    #[must_use]
    pub const fn trust(mut self, trust: Trust) -> Self {
        self.meta.trust = trust;
        self
    }

    /// Sets whether the definition may be hidden behind tool search.
    #[must_use]
    pub const fn exposure(mut self, exposure: Exposure) -> Self {
        self.meta.exposure = exposure;
        self
    }

    /// Sets who can run the tool.
    #[must_use]
    pub const fn kind(mut self, kind: Kind) -> Self {
        self.meta.kind = kind;
        self
    }

    /// Sets the function that changes the definition.
    #[must_use]
    pub const fn overrides(mut self, overrides: OverridesFn) -> Self {
        self.overrides = Some(overrides);
        self
    }

    /// Sets the platform presets that include the tool.
    #[must_use]
    pub const fn tags(mut self, tags: &'static [&'static str]) -> Self {
        self.meta.tags = tags;
        self
    }

    /// Sets the parameters whose values are never shown.
    #[must_use]
    pub const fn secret_params(mut self, params: &'static [&'static str]) -> Self {
        self.meta.secret_params = params;
        self
    }

    /// Sets whether an equal call with an equal result means that nothing moves on.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.meta.idempotent = idempotent;
        self
    }

    /// Sets whether equal calls in one turn are meant.
    #[must_use]
    pub const fn repeatable(mut self, repeatable: bool) -> Self {
        self.meta.repeatable = repeatable;
        self
    }

    /// Sets how many calls of the tool one turn may hold.
    #[must_use]
    pub const fn per_turn(mut self, limit: PerTurnFn) -> Self {
        self.meta.per_turn = Some(limit);
        self
    }

    /// Sets what is worth a snapshot before a call.
    #[must_use]
    pub const fn checkpoint(mut self, scope: CheckpointScope) -> Self {
        self.meta.checkpoint = scope;
        self
    }

    /// Sets the function that builds what a call would change.
    #[must_use]
    pub const fn propose(mut self, propose: ProposeFn) -> Self {
        self.propose = Some(propose);
        self
    }

    /// Sets the function that finds out what a call would ask.
    #[must_use]
    pub const fn foresee(mut self, foresee: ForeseeFn) -> Self {
        self.foresee = Some(foresee);
        self
    }
}

impl std::fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolSpec")
            .field("name", &self.name)
            .field("toolset", &self.toolset)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}
