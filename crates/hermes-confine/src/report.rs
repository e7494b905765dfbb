//! What holds for a command, in facts.

use std::fmt;

use serde::Serialize;

/// Who refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// Nobody.
    None,
    /// A filter of system calls alone: files aren't guarded.
    Seccomp,
    /// Landlock, and a filter of system calls for the network.
    Landlock,
    /// Bubblewrap: file systems and a network of the command's own.
    Bubblewrap,
}

/// Whether files are guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Filesystem {
    /// All that the rules say holds.
    Enforced,
    /// Some of it doesn't; the reasons say what.
    Partial,
    /// Nothing of it.
    Open,
}

/// Whether the network is out of reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// It is.
    Blocked,
    /// Some ways are left; the reasons say which.
    Partial,
    /// It may be used.
    Open,
}

/// What holds for a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Who refuses.
    pub mechanism: Mechanism,
    /// The version of Landlock in this kernel, where Landlock is what refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abi: Option<u32>,
    /// Whether files are guarded.
    pub filesystem: Filesystem,
    /// Whether the network is out of reach.
    pub network: Network,
    /// Why not all of the rules hold, in words for people; empty where all do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl Report {
    /// Nothing holds.
    pub(crate) fn nothing(reasons: Vec<String>) -> Self {
        Self {
            mechanism: Mechanism::None,
            abi: None,
            filesystem: Filesystem::Open,
            network: Network::Open,
            reasons,
        }
    }

    /// Some rule about files doesn't hold.
    pub(crate) fn weaken_files(&mut self, reason: impl Into<String>) {
        if self.filesystem == Filesystem::Enforced {
            self.filesystem = Filesystem::Partial;
        }
        self.reasons.push(reason.into());
    }
}

impl fmt::Display for Report {
    /// One line without the reasons.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.mechanism, self.abi) {
            (Mechanism::None, _) => return f.write_str("not confined"),
            (Mechanism::Seccomp, _) => f.write_str("seccomp")?,
            (Mechanism::Landlock, Some(abi)) => write!(f, "landlock (ABI {abi})")?,
            (Mechanism::Landlock, None) => f.write_str("landlock")?,
            (Mechanism::Bubblewrap, _) => f.write_str("bubblewrap")?,
        }
        f.write_str(match self.filesystem {
            Filesystem::Enforced => ", files elsewhere read-only",
            Filesystem::Partial => ", files elsewhere partly read-only",
            Filesystem::Open => ", files open",
        })?;
        f.write_str(match self.network {
            Network::Blocked => ", network blocked",
            Network::Partial => ", network partly blocked",
            Network::Open => ", network open",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn facts_are_short() {
        let report = Report {
            mechanism: Mechanism::Landlock,
            abi: Some(7),
            filesystem: Filesystem::Enforced,
            network: Network::Blocked,
            reasons: Vec::new(),
        };
        let expected = json!({
            "mechanism": "landlock", "abi": 7, "filesystem": "enforced", "network": "blocked",
        });
        assert_eq!(serde_json::to_value(&report).unwrap(), expected);
        let line = "landlock (ABI 7), files elsewhere read-only, network blocked";
        assert_eq!(report.to_string(), line);
        assert_eq!(Report::nothing(Vec::new()).to_string(), "not confined");
    }
}
