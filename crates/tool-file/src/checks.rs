//! What is said about a file that is written: whether it still parses, and what language servers
//! make of the change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_lint::{Before, Change, Diagnostics, Kind, Lint};
use serde_json::{Map, Value};

use crate::work::Work;

/// A file that is going to be written.
pub(crate) struct Checks {
    path: PathBuf,
    kind: Option<Kind>,
    /// What is known before the write.
    lint: Option<Lint>,
    servers: Option<Arc<dyn Diagnostics>>,
}

impl Checks {
    /// Looks at a new content before it is written, and lets language servers look at the old one.
    ///
    /// # Errors
    /// What is wrong with a content that must not be written: a JSON, YAML or TOML file would no
    /// longer parse.
    pub(crate) fn before(
        work: &Work<'_>,
        path: &Path,
        old: Option<&str>,
        new: &str,
    ) -> Result<Self, String> {
        let kind = Kind::of(path);
        let lint = kind.filter(|kind| kind.is_format()).map(|kind| kind.check(old, new));
        if let Some(Lint::Broken { output, before: Before::Sound }) = lint {
            return Err(output);
        }
        // They look at the host's files.
        let servers = work.cx.service::<dyn Diagnostics>().filter(|_| work.backend.is_local());
        Ok(Self { path: path.to_owned(), kind, lint, servers })
    }

    /// Shows the file to language servers as it is. Nothing may be held for it that is needed to
    /// read the file.
    pub(crate) fn show_old(&self) {
        if let Some(servers) = &self.servers {
            servers.before(&self.path);
        }
    }

    /// Looks at the file that was written.
    pub(crate) fn after(self, old: Option<&str>, new: &str) -> Said {
        let lint = self.lint.or_else(|| self.kind.map(|kind| kind.check(old, new)));
        let broken = matches!(lint, Some(Lint::Broken { .. }));
        let change = Change { path: &self.path, old, new };
        Said {
            diagnostics: self.servers.filter(|_| !broken).and_then(|it| it.after(&change)),
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
