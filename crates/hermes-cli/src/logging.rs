//! The log on stderr, and what happens to panics.

use tracing::Level;
use tracing_subscriber::fmt::time::uptime;

use crate::cli::Globals;
use crate::status::Status;

/// Starts the log and keeps panics off the terminal.
///
/// A panic in a tool becomes the result of its call, so the terminal need not tell of it; `-vv`
/// shows where it happened.
pub(crate) fn start(globals: &Globals, status: &Status) {
    let level = match (globals.quiet, globals.verbose) {
        (true, _) => Level::ERROR,
        (false, 0) => Level::WARN,
        (false, 1) => Level::INFO,
        (false, 2) => Level::DEBUG,
        (false, _) => Level::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(status.clone())
        .with_ansi(status.is_terminal())
        .with_timer(uptime())
        .compact()
        .init();
    std::panic::set_hook(Box::new(|panic| tracing::debug!("{panic}")));
}
