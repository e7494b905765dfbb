//! `hermes`: see, switch and call the tools of hermes-tools from a shell.
//!
//! Parsing of arguments, terminal output and wiring only. What a command does is done by
//! `hermes_tools` and `hermes_config`; machine output and exit codes are a contract with scripts.

mod cli;
mod commands;
mod consent;
mod exit;
mod host;
mod interrupt;
mod language_servers;
mod logging;
mod marked;
mod messages;
mod output;
#[cfg(all(unix, feature = "terminal"))]
mod password;
mod preview;
mod prompt;
mod review;
mod silence;
mod status;
mod style;
mod table;
mod terminals;
mod traces;
mod tty;
mod watcher;

use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Ui};
use crate::status::Status;
use crate::traces::Traces;

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.globals.color.choice().write_global();
    let status = Status::stderr();
    let traces = Traces::start(&cli.globals);
    logging::start(&cli.globals, &status, traces.listener());
    let mut ui = Ui {
        out: Output::stdout(),
        status: status.clone(),
        quiet: cli.globals.quiet,
        verbose: cli.globals.verbose,
    };
    if let Some(problem) = traces.problem() {
        ui.warn(problem);
    }
    // Panics are silent, since those of tools become results; this one is the program's own.
    let ended = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let ended = commands::run(cli, &mut ui);
        ended.and_then(|exit| ui.out.flush().map(|()| exit).map_err(Failure::from))
    }));
    let exit = match ended {
        Ok(Ok(exit)) => exit,
        Ok(Err(Failure::ClosedPipe)) => Exit::Success,
        Ok(Err(Failure::Told { exit, lines })) => {
            for line in &lines {
                status.error(line);
            }
            exit
        }
        Err(_) => {
            status.error("the program failed inside; run it again with -vv to see where");
            Exit::Failed
        }
    };
    traces.end();
    exit.into()
}
