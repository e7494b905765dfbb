//! What can go wrong with home folder, `config.yaml` and `.env`.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::edit::EditError;
use crate::yaml::YamlError;

/// A failure around settings. Its text is one line that names the file and what to do; it never
/// holds a value of the configuration.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The home folder cannot be told.
    Home {
        /// Why.
        reason: String,
    },
    /// A profile's name is not acceptable.
    Profile {
        /// The name as given.
        name: String,
    },
    /// The system refused an operation on a file or folder.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, such as `read`.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A file is of a kind that is not read: a folder or a device, too large, or not UTF-8.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file or its folder may not be written.
    ReadOnly {
        /// The file or folder that lacks the permission.
        path: PathBuf,
    },
    /// `config.yaml` is broken.
    Yaml {
        /// The file.
        path: PathBuf,
        /// Place and fault.
        source: YamlError,
    },
    /// A change of `config.yaml` cannot be made. The file is as it was.
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        source: EditError,
    },
    /// A setting's dotted name or its value is not acceptable.
    Key {
        /// The name as given.
        key: String,
        /// Why.
        reason: String,
    },
    /// An environment variable cannot be stored in `.env`.
    Variable {
        /// Its name.
        name: String,
        /// Why.
        reason: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home { reason } => {
                write!(f, "no home folder: {reason}; give one with --home or HERMES_HOME")
            }
            Self::Profile { name } => write!(
                f,
                "`{}` is no profile name: use `default`, or up to 64 of a-z, 0-9, `-` and `_`, \
                 starting with a letter or digit",
                one_line(name)
            ),
            Self::Io { path, action, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Self::Unreadable { path, reason } => write!(f, "{} {reason}", path.display()),
            Self::ReadOnly { path } => {
                write!(f, "{} is read-only: make it writable to change settings", path.display())
            }
            Self::Yaml { path, source } => {
                write!(f, "{}: {source}; mend the file and try again", path.display())
            }
            Self::Edit { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Key { key, reason } => write!(f, "setting `{}`: {reason}", one_line(key)),
            Self::Variable { name, reason } => {
                write!(f, "variable `{}`: {reason}", one_line(name))
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Yaml { source, .. } => Some(source),
            Self::Edit { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A name from outside as part of a one-line message.
pub(crate) fn one_line(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() })
        .collect()
}
