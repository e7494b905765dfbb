//! The log on stderr, and what happens to panics.

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::{self, time::uptime};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::Globals;
use crate::status::Status;
use crate::traces::Listener;

/// Starts the log, beside whoever else listens, and keeps panics off the terminal.
///
/// A panic in a tool becomes the result of its call, so the terminal need not tell of it; `-vv`
/// shows where it happened.
pub(crate) fn start(globals: &Globals, status: &Status, listener: Option<Listener>) {
    let level = match (globals.quiet, globals.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::WARN,
        (false, 1) => LevelFilter::INFO,
        (false, 2) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    };
    let log = fmt::layer()
        .with_writer(status.clone())
        .with_ansi(status.is_terminal())
        .with_timer(uptime())
        .compact()
        .with_filter(level)
        .boxed();
    let listeners: Vec<Listener> = std::iter::once(log).chain(listener).collect();
    tracing_subscriber::registry().with(listeners).init();
    std::panic::set_hook(Box::new(|panic| tracing::debug!("{panic}")));
}
