//! `cargo xtask ci`: everything that must hold before a change goes in.

mod cache;
mod install;
mod steps;

use std::io::{self, Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cargo;
use crate::ci::steps::{Call, Output, STEPS, Step};
use crate::cli::UsageError;
use crate::project::Project;

/// Which steps are wanted.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Choice {
    /// These alone; all when empty.
    pub(crate) only: Vec<String>,
    /// Not these.
    pub(crate) skip: Vec<String>,
    /// Print the steps and run none.
    pub(crate) list: bool,
}

/// Runs the chosen steps, all of them whatever fails, and fails when one did.
pub(crate) fn run(project: &Project, choice: &Choice) -> Result<()> {
    let steps = chosen(choice)?;
    if choice.list {
        steps.iter().for_each(|step| println!("{:<10} {}", step.name, step.what));
        return Ok(());
    }
    let cache = cache::prepare(project)?;
    let mut failed = Vec::new();
    let started = Instant::now();
    for step in &steps {
        let begun = Instant::now();
        if step.output == Output::Live {
            println!("{:<10} {}", step.name, step.what);
        }
        let outcome = run_step(project, step, cache.as_deref());
        let time = seconds(begun.elapsed());
        match outcome {
            Ok(()) => println!("{:<10} ok      {time:>8}", step.name),
            Err(err) => {
                println!("{:<10} FAILED  {time:>8}\n{err:#}", step.name);
                failed.push(step.name);
            }
        }
    }
    let total = seconds(started.elapsed());
    println!("{} steps, {} failed, {}", steps.len(), failed.len(), total.trim());
    if failed.is_empty() {
        return Ok(());
    }
    let again: String = failed.iter().map(|name| format!(" --only {name}")).collect();
    bail!("failed: {}\nto run them again: cargo xtask ci{again}", failed.join(", "));
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn chosen(choice: &Choice) -> Result<Vec<&'static Step>> {
    let exists = |name: &String| STEPS.iter().any(|step| step.name == name);
    if let Some(unknown) = choice.only.iter().chain(&choice.skip).find(|name| !exists(name)) {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        let message = format!("there is no step `{unknown}`; there are {}", names.join(", "));
        return Err(UsageError(message).into());
    }
    let wanted = |step: &&Step| {
        let is_in = |names: &[String]| names.iter().any(|name| name == step.name);
        (choice.only.is_empty() || is_in(&choice.only)) && !is_in(&choice.skip)
    };
    Ok(STEPS.iter().filter(wanted).collect())
}

fn run_step(project: &Project, step: &Step, cache: Option<&std::path::Path>) -> Result<()> {
    for tool in step.needs {
        install::ensure(project, tool)?;
    }
    for call in step.calls {
        let mut command = command(project, call)?;
        if let Some(folder) = cache {
            // Builds of a fresh checkout are never incremental, so they need not prepare to be.
            command.env("CARGO_TARGET_DIR", folder).env("CARGO_INCREMENTAL", "0");
        }
        match step.output {
            Output::Live => live(&mut command)?,
            Output::OnFailure => captured(&mut command)?,
        }
    }
    Ok(())
}

fn command(project: &Project, call: &Call) -> Result<Command> {
    Ok(match call {
        Call::Cargo { args, env } => {
            let mut command = cargo::cargo(&project.root);
            command.args(*args).envs(env.iter().copied());
            command
        }
        Call::Task(args) => {
            let own = std::env::current_exe().context("can't find xtask itself")?;
            let mut command = Command::new(own);
            command.args(*args).current_dir(&project.root).stdin(std::process::Stdio::null());
            command
        }
    })
}

fn live(command: &mut Command) -> Result<()> {
    io::stdout().flush()?;
    cargo::succeed(command)
}

/// Runs a command and fails with what it printed, both streams in the order they were written.
fn captured(command: &mut Command) -> Result<()> {
    let shown = cargo::shown(command);
    let (mut reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("can't start `{shown}`"))?;
    // The command holds the writing ends; the pipe ends when the child's copies are the last.
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut printed = Vec::new();
    reader.read_to_end(&mut printed)?;
    let status = child.wait()?;
    if !status.success() {
        bail!("{}\n`{shown}` failed ({status})", String::from_utf8_lossy(&printed).trim_end());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str], skip: &[&str]) -> Result<Vec<&'static str>> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let steps = chosen(&Choice { only: owned(only), skip: owned(skip), list: false })?;
        Ok(steps.iter().map(|step| step.name).collect())
    }

    #[test]
    fn steps_are_chosen_by_name() {
        assert_eq!(names(&[], &[]).unwrap().len(), STEPS.len());
        assert_eq!(names(&["tidy", "fmt"], &[]).unwrap(), ["fmt", "tidy"]);
        assert!(!names(&[], &["deny"]).unwrap().contains(&"deny"));
        let err = names(&["fmtt"], &[]).unwrap_err();
        assert!(err.is::<UsageError>());
        assert!(err.to_string().contains("there are fmt, "), "{err}");
    }

    #[test]
    fn a_failure_tells_what_was_printed_in_order() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 3"]);
        let message = captured(&mut command).unwrap_err().to_string();
        assert!(message.starts_with("one\ntwo\nthree\n"), "{message}");
        assert!(message.contains("exit status: 3"), "{message}");
        captured(Command::new("sh").args(["-c", "echo quiet"])).unwrap();
    }
}
