//! What is said about a file that is written: whether it still parses, and what language servers
//! make of the change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_lint::{Before, Change, Diagnostics, Kind, Lint};
use hermes_registry::ToolContext;
use serde_json::{Map, Value};

use crate::external;
use crate::work::Work;

/// A file that is going to be written.
pub(crate) struct Checks<'a> {
    cx: &'a ToolContext,
    path: PathBuf,
    lint: Option<Lint>,
    /// Whether others can be asked, who look at the host's files. What they say of a file that
    /// doesn't even parse is noise.
    ask: bool,
}

impl<'a> Checks<'a> {
    /// Looks at a new content before it is written.
    ///
    /// # Errors
    /// What is wrong with a content that must not be written: a JSON, YAML or TOML file would no
    /// longer parse.
    pub(crate) fn before(
        work: &Work<'a>,
        path: &Path,
        old: Option<&str>,
        new: &str,
    ) -> Result<Self, String> {
        let kind = Kind::of(path);
        let lint = kind.map(|kind| kind.check(old, new));
        match lint {
            Some(Lint::Broken { output, before: Before::Sound })
                if kind.is_some_and(Kind::is_format) =>
            {
                Err(output)
            }
            lint => {
                let ask = work.backend.is_local() && !matches!(lint, Some(Lint::Broken { .. }));
                Ok(Self { cx: work.cx, path: path.to_owned(), lint, ask })
            }
        }
    }

    fn servers(&self) -> Option<Arc<dyn Diagnostics>> {
        if self.ask { self.cx.service::<dyn Diagnostics>() } else { None }
    }

    /// Shows the file to language servers as it is, right before it is written.
    pub(crate) fn show_old(&self) {
        if let Some(servers) = self.servers() {
            servers.before(&self.path);
        }
    }

    /// Has others look at the file that was written.
    pub(crate) fn after(self, old: Option<&str>, new: &str) -> Said {
        let servers = self.servers();
        let is_covered = servers.as_ref().is_some_and(|servers| servers.covers(&self.path));
        let external = (self.ask && !is_covered).then(|| external::check(self.cx, &self.path));
        let lint = external.flatten().or(self.lint);
        let servers = servers.filter(|_| !matches!(lint, Some(Lint::Broken { .. })));
        let change = Change { path: &self.path, old, new };
        Said {
            diagnostics: servers.and_then(|servers| servers.after(&change)),
            lint: lint.map(|lint| lint.to_value()),
        }
    }
}

/// What there is to say about a file that was written.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// The value of `lint`.
    pub(crate) lint: Option<Value>,
    /// The value of `lsp_diagnostics`.
    pub(crate) diagnostics: Option<String>,
}

impl Said {
    /// Puts it into the result of a tool.
    pub(crate) fn put(self, result: &mut Map<String, Value>) {
        if let Some(lint) = self.lint {
            result.insert("lint".to_owned(), lint);
        }
        if let Some(diagnostics) = self.diagnostics {
            result.insert("lsp_diagnostics".to_owned(), diagnostics.into());
        }
    }
}
