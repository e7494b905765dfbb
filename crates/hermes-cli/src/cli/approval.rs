//! What can be typed behind `hermes approval`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::Json;

#[derive(Debug, Subcommand)]
pub(crate) enum Approval {
    /// Say what is dangerous about a command, without running it (exit 3 if anything is)
    Check(ApprovalCheck),
    /// List what was agreed to for ever
    List {
        #[command(flatten)]
        json: Json,
    },
    /// Take agreements back
    Revoke {
        /// The entries, as `approval list` shows them
        #[arg(required_unless_present = "all", conflicts_with = "all", value_name = "ENTRY")]
        entries: Vec<String>,
        /// All of them
        #[arg(long)]
        all: bool,
    },
    /// List the questions that wait for an answer in running programs
    Pending {
        #[command(flatten)]
        json: Json,
    },
    /// Answer a question that waits in a running program
    Answer {
        /// Its id or the beginning of it, `oldest`, or `all`
        #[arg(value_name = "ID", value_parser = Waiting::parse)]
        which: Waiting,
        /// The answer
        choice: Choice,
        /// What the model is told about a no
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct ApprovalCheck {
    /// The command; - reads one JSON string per line and prints one JSON object per line
    #[arg(value_name = "COMMAND|-", allow_hyphen_values = true)]
    pub(crate) command: String,
    /// Where it would start [default: the present folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: Json,
}

/// Which question is meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Waiting {
    Oldest,
    All,
    Id(String),
}

impl Waiting {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "oldest" => Ok(Self::Oldest),
            "all" => Ok(Self::All),
            id if !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Ok(Self::Id(id.to_ascii_lowercase()))
            }
            _ => Err("an id has hexadecimal digits only; see `hermes approval pending`".to_owned()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Choice {
    /// Yes, this time
    Once,
    /// Yes, for the rest of its session
    Session,
    /// Yes, from now on
    Always,
    /// No
    Deny,
}
