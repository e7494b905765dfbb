//! Who registered a tool, and for whom.

use std::fmt;
use std::sync::Arc;

use crate::Origin;

/// The source of a tool.
///
/// An owner is handed out by whoever loads tools and travels with every change to the registry.
/// It is never derived from a handler: code can be wrapped, a declaration can't. Ids compare
/// exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Owner {
    /// A linked crate.
    Builtin {
        /// The package.
        krate: Arc<str>,
    },
    /// A server that speaks the Model Context Protocol.
    Mcp {
        /// Its name in the configuration.
        server: Arc<str>,
    },
    /// A plugin.
    Plugin {
        /// Its key in the configuration.
        id: Arc<str>,
    },
    /// The program that embeds the runtime, or the person who runs it.
    User,
}

impl Owner {
    /// A linked crate.
    pub fn builtin(krate: impl Into<Arc<str>>) -> Self {
        Self::Builtin { krate: krate.into() }
    }

    /// A server of the Model Context Protocol.
    pub fn mcp(server: impl Into<Arc<str>>) -> Self {
        Self::Mcp { server: server.into() }
    }

    /// A plugin.
    pub fn plugin(id: impl Into<Arc<str>>) -> Self {
        Self::Plugin { id: id.into() }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin { krate } => write!(f, "crate {krate}"),
            Self::Mcp { server } => write!(f, "MCP server {server}"),
            Self::Plugin { id } => write!(f, "plugin {id}"),
            Self::User => f.write_str("the host program"),
        }
    }
}

/// Which profile sees a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All profiles.
    #[default]
    Global,
    /// One profile of a process that serves several.
    Profile(Arc<str>),
}

impl Scope {
    /// The scope of a named profile.
    pub fn profile(name: impl Into<Arc<str>>) -> Self {
        Self::Profile(name.into())
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("all profiles"),
            Self::Profile(name) => write!(f, "profile {name}"),
        }
    }
}

/// An owner with the place of its declaration where that is known.
pub(crate) fn describe(owner: &Owner, origin: Option<Origin>) -> String {
    match origin {
        Some(origin) => format!("crate {origin}"),
        None => owner.to_string(),
    }
}
