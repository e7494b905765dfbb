#![doc = include_str!("../docs.md")]

mod args;
mod available;
mod background;
mod desktop;
mod files;
mod foreground;
mod mask;
mod plan;
mod process;
mod spill;
mod sudo;
mod terminal;
mod terminals;

pub use desktop::{DesktopTerminal, close_terminal, read_terminal};
pub use mask::mask;
pub use sudo::PasswordPrompt;
pub use terminals::{LateMessages, Terminals};

hermes_registry::tools![
    terminal::TERMINAL,
    process::PROCESS,
    desktop::READ_TERMINAL,
    desktop::CLOSE_TERMINAL
];
