//! `hermes completions` and `hermes man`.

use std::io::Write as _;
use std::path::Path;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::exit::{Ended, Exit, Failure};
use crate::output::Ui;

/// Prints a completion script.
pub(crate) fn completions(shell: clap_complete::Shell, ui: &mut Ui) -> Ended {
    // The generator panics where it can't write, so it writes where it always can.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hermes", &mut script);
    ui.out.write_all(&script)?;
    Ok(Exit::Success)
}

/// Prints the manual page, or writes one per command into a folder.
pub(crate) fn man(dir: Option<&Path>, ui: &mut Ui) -> Ended {
    let Some(dir) = dir else {
        clap_mangen::Man::new(Cli::command()).render(&mut ui.out)?;
        return Ok(Exit::Success);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
        .map_err(|error| {
            Failure::failed(format!("cannot write into {}: {error}", dir.display()))
        })?;
    Ok(Exit::Success)
}
