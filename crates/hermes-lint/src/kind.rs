//! Which files are looked at, and by what.

use std::path::Path;

use crate::data;
use crate::problem::Parsed;
#[cfg(feature = "python")]
use crate::python;
#[cfg(feature = "rust")]
use crate::rust;
#[cfg(feature = "grammars")]
use crate::syntax;

/// What the name of a file promises about its content, and how that is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    name: &'static str,
    promise: Promise,
    parse: fn(&str) -> Parsed,
}

/// How much the parser's word counts.
#[cfg_attr(not(feature = "full"), allow(dead_code, reason = "not every language has each"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// The format is closed: what doesn't parse is broken for every reader.
    Format,
    /// What doesn't parse is broken, up to one file in a hundred.
    Language,
    /// Many sound files don't parse, for macros or dialects that the parser can't know. Only that
    /// a file no longer parses means something.
    Dialects,
}

impl Kind {
    /// The kind of the file at `path`, by its name alone; none when nothing can be said of it.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let (_, extension) = name.rsplit_once('.')?;
        let (name, promise, parse): (_, _, fn(&str) -> Parsed) = match extension {
            "json" if may_hold_comments(path, &name) => return None,
            "json" => ("JSON", Promise::Format, data::json),
            "yaml" | "yml" => ("YAML", Promise::Format, data::yaml),
            "toml" => ("TOML", Promise::Format, data::toml),
            #[cfg(feature = "python")]
            "py" | "pyi" => ("Python", Promise::Language, python::parse),
            #[cfg(feature = "rust")]
            "rs" => ("Rust", Promise::Language, rust::parse),
            #[cfg(feature = "javascript")]
            "js" | "jsx" | "mjs" | "cjs" => ("JavaScript", Promise::Language, syntax::javascript),
            #[cfg(feature = "typescript")]
            "ts" | "mts" | "cts" => ("TypeScript", Promise::Dialects, syntax::typescript),
            #[cfg(feature = "typescript")]
            "tsx" => ("TypeScript", Promise::Dialects, syntax::tsx),
            #[cfg(feature = "go")]
            "go" => ("Go", Promise::Language, syntax::go),
            #[cfg(feature = "java")]
            "java" => ("Java", Promise::Language, syntax::java),
            #[cfg(feature = "html")]
            "html" | "htm" => ("HTML", Promise::Language, syntax::html),
            #[cfg(feature = "css")]
            "css" => ("CSS", Promise::Dialects, syntax::css),
            #[cfg(feature = "bash")]
            "sh" | "bash" => ("shell", Promise::Dialects, syntax::bash),
            #[cfg(feature = "c")]
            "c" | "h" => ("C", Promise::Dialects, syntax::c),
            #[cfg(feature = "cpp")]
            "cpp" | "cc" | "cxx" | "hpp" | "hh" | "hxx" => ("C++", Promise::Dialects, syntax::cpp),
            _ => return None,
        };
        Some(Self { name, promise, parse })
    }

    /// The name of the language, to show.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Whether a file of this kind that doesn't parse shouldn't be written at all.
    #[must_use]
    pub fn is_format(self) -> bool {
        self.promise == Promise::Format
    }

    /// Whether what the parser refuses is broken, without knowing what was there before.
    pub(crate) fn is_sure(self) -> bool {
        self.promise != Promise::Dialects
    }

    /// What the parser says. A byte order mark and a text without any content are all right.
    pub(crate) fn parse(self, text: &str) -> Parsed {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() { Parsed::Sound } else { (self.parse)(text) }
    }
}

/// JSON files whose programs allow comments.
fn may_hold_comments(path: &Path, name: &str) -> bool {
    name.starts_with("tsconfig")
        || name.starts_with("jsconfig")
        || name.starts_with(".eslintrc")
        || matches!(name, "devcontainer.json" | ".devcontainer.json")
        || path.components().any(|part| part.as_os_str() == ".vscode")
}
