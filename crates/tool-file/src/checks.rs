//! What is said about a file after it was written: does it parse, and what do language servers and
//! other programs make of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_lint::{Change, Diagnostics, Lint};
use hermes_registry::ToolContext;
use serde_json::{Map, Value};

use crate::external;
use crate::format_gate::Gate;

/// A change that is about to be made, and may be.
pub(crate) struct Checks<'a> {
    cx: &'a ToolContext,
    /// Absolute, without links.
    path: PathBuf,
    old: Option<&'a str>,
    new: &'a str,
    lint: Option<Lint>,
    is_local: bool,
}

/// What the checks said.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The value of `lint` in results.
    pub(crate) lint: Option<Value>,
    /// The value of `lsp_diagnostics` in results.
    pub(crate) diagnostics: Option<String>,
}

impl<'a> Checks<'a> {
    /// Before the file is written: language servers look at what is there. They and other programs
    /// are asked only where the file is on this machine.
    pub(crate) fn before(
        cx: &'a ToolContext,
        is_local: bool,
        path: &Path,
        (old, new): (Option<&'a str>, &'a str),
        gate: &Gate,
    ) -> Self {
        let lint = match gate {
            Gate::Open { lint } => lint.clone(),
            Gate::Refused(_) => None,
        };
        let checks = Self { cx, path: path.to_owned(), old, new, lint, is_local };
        if let Some(servers) = checks.servers() {
            servers.before(path);
        }
        checks
    }

    /// After the file is written.
    pub(crate) fn after(mut self) -> Findings {
        let servers = self.servers();
        let is_covered = servers.as_ref().is_some_and(|servers| servers.covers(&self.path));
        if self.is_local && self.may_be_sound() && !is_covered {
            self.lint = external::check(self.cx, &self.path).or(self.lint);
        }
        let change = Change { path: &self.path, old: self.old, new: self.new };
        let servers = servers.filter(|_| self.may_be_sound());
        Findings {
            diagnostics: servers.and_then(|servers| servers.after(&change)),
            lint: self.lint.as_ref().map(Lint::to_value),
        }
    }

    /// Those who have more to tell. What they say of a file that doesn't even parse is noise.
    fn servers(&self) -> Option<Arc<dyn Diagnostics>> {
        let asked = self.is_local && self.may_be_sound();
        if asked { self.cx.service::<dyn Diagnostics>() } else { None }
    }

    fn may_be_sound(&self) -> bool {
        !matches!(self.lint, Some(Lint::Broken { .. }))
    }
}

impl Findings {
    /// Puts them into the result of a change of one file.
    pub(crate) fn put(self, mut put: impl FnMut(&str, Value)) {
        if let Some(lint) = self.lint {
            put("lint", lint);
        }
        if let Some(diagnostics) = self.diagnostics {
            put("lsp_diagnostics", diagnostics.into());
        }
    }

    /// Puts those of several files into the result of their change: `lint` is a map then.
    pub(crate) fn put_all(
        all: impl IntoIterator<Item = (String, Self)>,
        mut put: impl FnMut(&str, Value),
    ) {
        let mut lint = Map::new();
        let mut diagnostics = Vec::new();
        for (path, findings) in all {
            if let Some(value) = findings.lint {
                lint.insert(path, value);
            }
            diagnostics.extend(findings.diagnostics);
        }
        if !lint.is_empty() {
            put("lint", lint.into());
        }
        if !diagnostics.is_empty() {
            put("lsp_diagnostics", diagnostics.join("\n").into());
        }
    }
}
