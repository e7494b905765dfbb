//! Tasks of the project, run as `cargo xtask COMMAND`.
//!
//! Each command has a module of the same name. What a command generates it also checks, by the
//! same code: see [`generated`].

mod cargo;
mod ci;
mod cli;
mod docs;
mod dump;
mod features;
mod finding;
mod generated;
mod new_tool;
mod project;
mod registrations;
mod schema;
mod shadow;
mod sources;
mod tidy;
mod tokens;
mod wire;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::{Command, UsageError};
use crate::project::Project;

fn main() -> ExitCode {
    match cli::parse(lexopt::Parser::from_env()).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("error: {err:#}");
            ExitCode::from(if err.is::<UsageError>() { 2 } else { 1 })
        }
    }
}

fn run(command: Command) -> Result<()> {
    let project = Project::here()?;
    match command {
        Command::Help => {
            print!("{}", cli::HELP);
            Ok(())
        }
        Command::NewTool { name, toolset } => new_tool::run(&project, &name, toolset.as_deref()),
        Command::Wire(mode) => wire::run(&project, mode),
        Command::Schema(mode) => schema::run(&project, mode),
        Command::Shadow => shadow::run(&project),
        Command::Tidy => tidy::run(&project),
        Command::Features(parts) => features::run(&project, parts),
        Command::Docs(mode) => docs::run(&project, mode),
        Command::Ci(choice) => ci::run(&project, &choice),
    }
}
