//! Which paths are protected, and helpers to keep a path within a folder.
//!
//! Everything here is a pure function of a path and of facts that the caller gives: where homes
//! are ([`Places`]), and where symbolic links lead ([`links::follow`] takes a function that reads
//! one). So the same rules hold for a local file system and for one in a container.
//!
//! A rule is asked about a [`Target`]: all names that one file goes by. It applies when it applies
//! to any of them, so that neither a link nor a `..` leads around it. Names are compared part by
//! part, never letter by letter.
//!
//! None of this is a boundary: whoever can run a command can go around it. The messages say so.

pub mod binary;
pub mod devices;
pub mod links;
mod places;
pub mod read;
pub mod soft;
mod table;
pub mod within;
pub mod write;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};

pub use places::{DEFAULT_PROFILE, Places};

/// All names that one file goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Without `.` and `..`; the last is where the links lead.
    names: Vec<PathBuf>,
}

impl Target {
    /// A file by the absolute path that was given, and by where its links lead.
    #[must_use]
    pub fn new(given: &Path, real: &Path) -> Self {
        Self { names: vec![lexical(real)] }.with_name(given)
    }

    /// A file by its letters alone, where links can't be looked up.
    #[must_use]
    pub fn unresolved(given: &Path) -> Self {
        Self::new(given, given)
    }

    /// The same file, under one more name: a link on the way to it.
    #[must_use]
    pub fn with_name(mut self, name: &Path) -> Self {
        let name = lexical(name);
        if !self.names.contains(&name) {
            self.names.insert(0, name);
        }
        self
    }

    /// The names as they are compared.
    fn names(&self, places: &Places) -> Vec<Cow<'_, Path>> {
        self.names.iter().map(|name| places.key(name)).collect()
    }

    /// Where the links lead.
    fn real(&self) -> &Path {
        self.names.last().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// Why a path is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Keys, tokens and passwords, and what decides who may log in.
    Credential,
    /// Text from a catalogue of skills that nobody has looked at.
    Untrusted,
    /// What a process has in its memory or its environment.
    Process,
    /// Conversations that the program itself keeps.
    Session,
    /// The machine's own configuration, and this program's.
    System,
    /// Outside of the folders that writes are restricted to.
    SafeRoot,
}

impl Class {
    /// The name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Credential => "credential",
            Self::Untrusted => "untrusted",
            Self::Process => "process",
            Self::Session => "session",
            Self::System => "system",
            Self::SafeRoot => "safe_root",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Said of every protection.
const SEAT_BELT: &str = "This is a seat belt and no boundary: a command in the terminal could go \
    around it, so please don't";

/// `path` without `.` and `..`, by its letters alone. The names that `/proc` has for the root
/// folder (`/proc/self/root` and so on) are the root folder.
#[must_use]
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Above the root there is nothing; above a relative path there is.
            Component::ParentDir => {
                if matches!(out.components().next_back(), None | Some(Component::ParentDir)) {
                    out.push(part);
                } else {
                    out.pop();
                }
            }
            part => {
                out.push(part);
                if part.as_os_str() == "root" && out.has_root() && is_root_alias(&out) {
                    out = PathBuf::from("/");
                }
            }
        }
    }
    out
}

/// Whether a path is `/proc/PROCESS/root` or `/proc/PROCESS/task/THREAD/root`.
fn is_root_alias(path: &Path) -> bool {
    let mut parts = path.components().skip(1).map(|part| part.as_os_str().to_str());
    let parts = [(); 6].map(|()| parts.next().flatten());
    match parts {
        [Some("proc"), Some(process), Some("root"), None, ..] => devices::is_process(process),
        [Some("proc"), Some(process), Some("task"), Some(_), Some("root"), None] => {
            devices::is_process(process)
        }
        _ => false,
    }
}
