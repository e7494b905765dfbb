#![doc = include_str!("../docs.md")]

mod args;
mod available;
mod background;
mod desktop;
mod files;
mod foreground;
mod mask;
mod output;
mod plan;
mod process;
mod spill;
mod sudo;
mod terminal;
mod terminals;

/// What hosts put a terminal together from.
pub use {
    hermes_backends as backends, hermes_environments as environments, hermes_exec_policy as policy,
    hermes_processes as processes,
};

pub use desktop::{DesktopTerminal, close_terminal, read_terminal};
pub use mask::mask;
pub use sudo::{PasswordAsk, PasswordPrompt};
pub use terminals::{LateMessages, Terminals};

hermes_registry::tools![
    terminal::TERMINAL,
    process::PROCESS,
    desktop::READ_TERMINAL,
    desktop::CLOSE_TERMINAL
];
