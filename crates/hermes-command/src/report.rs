//! What is said about a command.

use std::fmt;
use std::ops::Range;

/// What a dangerous command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Deletes much, or for good.
    RecursiveDelete,
    /// Makes or destroys file systems and partitions.
    FilesystemFormat,
    /// Writes to a device itself.
    DiskWrite,
    /// Loses rows, tables or keys of a database.
    SqlDestructive,
    /// Changes system files, credentials or what a shell runs at its start.
    SystemConfigOverwrite,
    /// Stops services, containers or the machine.
    ServiceControl,
    /// Runs text that was fetched, decoded or can't be known.
    RemoteCode,
    /// Multiplies processes without end.
    ForkBomb,
    /// Ends processes by force or in bulk.
    Kill,
    /// Gives permissions away.
    Permission,
    /// Touches the agent's own state, process or settings.
    SelfHarm,
    /// Loses commits or changes in a git repository.
    HistoryRewrite,
    /// Privileges, secrets that leave the machine, cloud resources, and what can't be inspected.
    Other,
}

impl Category {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RecursiveDelete => "recursive_delete",
            Self::FilesystemFormat => "filesystem_format",
            Self::DiskWrite => "disk_write",
            Self::SqlDestructive => "sql_destructive",
            Self::SystemConfigOverwrite => "system_config_overwrite",
            Self::ServiceControl => "service_control",
            Self::RemoteCode => "remote_code",
            Self::ForkBomb => "fork_bomb",
            Self::Kill => "kill",
            Self::Permission => "permission",
            Self::SelfHarm => "self_harm",
            Self::HistoryRewrite => "history_rewrite",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A reason to ask a person, or to refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, by its stable name in snake case.
    pub rule_id: &'static str,
    /// What the command does.
    pub category: Category,
    /// Whether the command is never run, whoever agrees.
    pub hardline: bool,
    /// The part of the text that the finding is about, in bytes. For text that another command
    /// runs, the command that runs it.
    pub span: Range<usize>,
    /// The program and its arguments, without wrappers; empty if the finding is about the text.
    pub argv: Vec<String>,
    /// A sentence for people.
    pub why: String,
}

/// One program with its arguments, as the shell would start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program and its arguments. What can't be known stands as `$?`.
    pub argv: Vec<String>,
    /// Where it stands in the text, in bytes.
    pub span: Range<usize>,
    /// Whether nothing in `argv` is unknown.
    pub is_known: bool,
    /// Whether it has a redirect.
    pub has_redirect: bool,
    /// How many wrappers and texts run by others it stands in: 0 is written out in the text.
    pub depth: usize,
}

impl SimpleCommand {
    /// What an allowlist entry for this command is named after: the program without its folder,
    /// its options in order, and its operands.
    #[must_use]
    pub fn head(&self) -> String {
        let mut parts = self.argv.iter();
        let program = parts.next().map(String::as_str).unwrap_or_default();
        let mut head = program.rsplit('/').next().unwrap_or_default().to_owned();
        let (mut options, operands): (Vec<_>, Vec<_>) =
            parts.partition(|it| it.len() > 1 && it.starts_with('-'));
        options.sort_unstable();
        for part in options.into_iter().chain(operands) {
            head.push(' ');
            head.push_str(part);
        }
        head
    }
}

/// What there is to say about a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Reasons to ask or to refuse: those never run first, then what harms the agent, then in the
    /// order of the text.
    pub findings: Vec<Finding>,
    /// The programs it would run, as far as they can be known.
    pub commands: Vec<SimpleCommand>,
    /// Whether all of the text was understood as shell.
    pub complete: bool,
    /// Whether the text has a command or process substitution.
    pub has_substitution: bool,
    /// Whether a command lists the environment, in which secrets may be.
    pub env_dump: bool,
}

impl Report {
    /// Whether a person must agree.
    #[must_use]
    pub fn is_dangerous(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Whether it is never run.
    #[must_use]
    pub fn is_hardline(&self) -> bool {
        self.findings.iter().any(|finding| finding.hardline)
    }

    /// The category of the first finding.
    #[must_use]
    pub fn category(&self) -> Option<Category> {
        self.findings.first().map(|finding| finding.category)
    }
}

/// Where a command would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ctx {
    /// The working directory, absolute.
    pub cwd: String,
    /// The home directory of the user.
    pub home: String,
    /// The agent's own folder.
    pub hermes_home: String,
    /// Variables whose values are known.
    pub env: Vec<(String, String)>,
}
