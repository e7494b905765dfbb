//! How far a source of skills is trusted, and what follows from a verdict.

use crate::finding::Verdict;

/// Repositories whose skills are trusted, themselves and what is below them.
const TRUSTED: [&str; 4] =
    ["openai/skills", "anthropics/skills", "huggingface/skills", "NVIDIA/skills"];

/// What catalogues put before the name of a repository.
const PREFIXES: [&str; 2] = ["skills-sh/", "skills.sh/"];

/// How far a source is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trust {
    /// It comes with the program.
    Builtin,
    /// It comes from a known publisher.
    Trusted,
    /// It comes from anybody.
    Community,
    /// The agent wrote it.
    AgentCreated,
}

/// Whether a skill is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is.
    Allow,
    /// A person is asked.
    Ask,
    /// It isn't.
    Block,
}

impl Trust {
    /// The trust in a source: `official`, `agent-created`, or the repository.
    #[must_use]
    pub fn of(source: &str) -> Self {
        let mut source = source.trim();
        while let Some(rest) = PREFIXES.iter().find_map(|prefix| source.strip_prefix(prefix)) {
            source = rest;
        }
        let is_below = |name: &str| {
            let rest = source.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // A path that goes up again is below nothing.
        let goes_up = source.split(['/', '\\']).any(|part| part == "..");
        match source {
            "official" => Self::Builtin,
            "agent-created" => Self::AgentCreated,
            _ if !goes_up && TRUSTED.into_iter().any(is_below) => Self::Trusted,
            _ => Self::Community,
        }
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Trusted => "trusted",
            Self::Community => "community",
            Self::AgentCreated => "agent-created",
        }
    }

    /// What follows from a verdict. `force` is a person's wish to have the skill all the same, which
    /// overrules a caution and never what is dangerous from elsewhere.
    #[must_use]
    pub fn decide(self, verdict: Verdict, force: bool) -> Decision {
        match (self, verdict) {
            (Self::Builtin, _)
            | (_, Verdict::Safe)
            | (Self::Trusted | Self::AgentCreated, Verdict::Caution) => Decision::Allow,
            (Self::Community, Verdict::Caution) if force => Decision::Allow,
            (Self::AgentCreated, Verdict::Dangerous) if force => Decision::Allow,
            (Self::AgentCreated, Verdict::Dangerous) => Decision::Ask,
            (Self::Trusted | Self::Community, _) => Decision::Block,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn sources_are_known_by_their_whole_names() {
        for (source, trust) in [
            ("official", Trust::Builtin),
            ("agent-created", Trust::AgentCreated),
            ("openai/skills", Trust::Trusted),
            ("skills-sh/anthropics/skills/pdf", Trust::Trusted),
            ("skills.sh/NVIDIA/skills", Trust::Trusted),
            ("nvidia/skills", Trust::Community),
            ("openai/skills-evil", Trust::Community),
            ("openai/skills/../../x", Trust::Community),
            ("x/openai/skills", Trust::Community),
            ("official/x", Trust::Community),
            ("", Trust::Community),
        ] {
            assert_eq!(Trust::of(source), trust, "{source}");
        }
    }

    #[test]
    fn force_never_brings_in_what_is_dangerous_from_elsewhere() {
        use Decision::{Allow, Ask, Block};
        use Trust::{AgentCreated, Builtin, Community, Trusted};
        use Verdict::{Caution, Dangerous, Safe};
        for (trust, verdict, plain, forced) in [
            (Builtin, Dangerous, Allow, Allow),
            (Trusted, Caution, Allow, Allow),
            (Trusted, Dangerous, Block, Block),
            (Community, Safe, Allow, Allow),
            (Community, Caution, Block, Allow),
            (Community, Dangerous, Block, Block),
            (AgentCreated, Caution, Allow, Allow),
            (AgentCreated, Dangerous, Ask, Allow),
        ] {
            let decided = (trust.decide(verdict, false), trust.decide(verdict, true));
            assert_eq!(decided, (plain, forced), "{trust:?} {verdict:?}");
        }
    }
}
