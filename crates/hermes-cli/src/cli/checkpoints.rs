//! What can be typed behind `hermes checkpoints`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::Json;

#[derive(Debug, Subcommand)]
pub(crate) enum Checkpoints {
    /// List the checkpoints of the project, newest first
    List {
        #[command(flatten)]
        project: ProjectFolder,
        #[command(flatten)]
        json: Json,
    },
    /// Print what has changed since a checkpoint
    Diff {
        /// Its number in the list, or the beginning of its hash
        #[arg(value_name = "N|HASH")]
        checkpoint: String,
        #[command(flatten)]
        project: ProjectFolder,
        #[command(flatten)]
        json: Json,
    },
    /// Put the project back as it was; the present state becomes a checkpoint first
    Restore {
        /// Its number in the list, or the beginning of its hash
        #[arg(value_name = "N|HASH")]
        checkpoint: String,
        /// Only this file or folder, relative to the project
        file: Option<String>,
        #[command(flatten)]
        project: ProjectFolder,
        #[command(flatten)]
        json: Json,
    },
    /// Remove the checkpoints of projects that are gone or were not touched for long
    Prune {
        #[command(flatten)]
        json: Json,
    },
    /// Print which projects have checkpoints and what they take
    Status {
        #[command(flatten)]
        json: Json,
    },
    /// Remove all checkpoints of all projects
    Clear,
    /// Remove what older versions left
    ClearLegacy,
}

#[derive(Args, Debug)]
pub(crate) struct ProjectFolder {
    /// A folder of the project [default: the present one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
}
