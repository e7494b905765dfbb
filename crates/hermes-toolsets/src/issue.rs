//! A name in a list that means nothing there.

use std::fmt;

use crate::catalog;
use crate::suggest;
use crate::world::ToolsetWorld;

/// The list a name stood in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NamePlace {
    /// The toolsets a session asked for.
    Enabled,
    /// The toolsets a session or `agent.disabled_toolsets` turns off.
    DisabledToolsets,
    /// The single tools that `agent.disabled_tools` turns off.
    DisabledTools,
}

impl fmt::Display for NamePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Enabled => "the enabled toolsets",
            Self::DisabledToolsets => "the disabled toolsets",
            Self::DisabledTools => "the disabled tools",
        })
    }
}

/// What is wrong with a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NameProblem {
    /// Nothing has that name.
    Unknown {
        /// The nearest name that would be valid there.
        nearest: Option<String>,
    },
    /// A tool stands among toolsets.
    ToolAmongToolsets {
        /// The toolsets that have the tool.
        toolsets: Vec<String>,
    },
    /// A toolset stands among tools.
    ToolsetAmongTools,
}

/// A name in a list of toolsets or tools that means nothing there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameIssue {
    /// The name as it was written.
    pub name: String,
    /// The list it stood in.
    pub place: NamePlace,
    /// What is wrong with it.
    pub problem: NameProblem,
}

impl NameIssue {
    /// The nearest name that is valid in that place.
    #[must_use]
    pub fn nearest(&self) -> Option<&str> {
        match &self.problem {
            NameProblem::Unknown { nearest } => nearest.as_deref(),
            NameProblem::ToolAmongToolsets { toolsets } => toolsets.first().map(String::as_str),
            NameProblem::ToolsetAmongTools => None,
        }
    }
}

impl fmt::Display for NameIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, place, problem } = self;
        match problem {
            NameProblem::Unknown { nearest } => {
                write!(f, "unknown name `{name}` among {place}")?;
                nearest.iter().try_for_each(|nearest| write!(f, "; did you mean `{nearest}`?"))
            }
            NameProblem::ToolAmongToolsets { toolsets } => {
                write!(f, "`{name}` among {place} is a tool")?;
                if !toolsets.is_empty() {
                    write!(f, "; it belongs to `{}`", toolsets.join("`, `"))?;
                }
                Ok(())
            }
            NameProblem::ToolsetAmongTools => {
                write!(f, "`{name}` among {place} is a toolset, not a tool")
            }
        }
    }
}

impl std::error::Error for NameIssue {}

impl ToolsetWorld {
    /// What is wrong with `name` in a list of toolsets; none if it is a toolset or an old name.
    pub(super) fn toolset_issue(&self, name: &str, place: NamePlace) -> Option<NameIssue> {
        if self.is_valid(name) || catalog::legacy(name).is_some() {
            return None;
        }
        let problem = if self.is_tool(name) {
            let toolsets = self.toolsets_with(name).into_iter().map(str::to_owned).collect();
            NameProblem::ToolAmongToolsets { toolsets }
        } else {
            NameProblem::Unknown { nearest: self.nearest_toolset(name) }
        };
        Some(NameIssue { name: name.to_owned(), place, problem })
    }

    /// What is wrong with `name` in a list of tools; none if it is a tool.
    pub(super) fn tool_issue(&self, name: &str, place: NamePlace) -> Option<NameIssue> {
        if self.is_tool(name) {
            return None;
        }
        let problem = if self.is_valid(name) || catalog::legacy(name).is_some() {
            NameProblem::ToolsetAmongTools
        } else {
            let nearest = suggest::nearest(name, self.tools()).map(str::to_owned);
            NameProblem::Unknown { nearest }
        };
        Some(NameIssue { name: name.to_owned(), place, problem })
    }

    pub(super) fn nearest_toolset(&self, name: &str) -> Option<String> {
        suggest::nearest(name, self.valid_names()).map(str::to_owned)
    }
}
