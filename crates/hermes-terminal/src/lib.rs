#![doc = include_str!("../README.md")]

mod ansi;
mod breaker;
mod clean;
mod collect;
mod dump;
mod exit_note;
mod foreground;
mod marker;
mod poller;
mod program;
mod ring;
mod servers;
mod settle;
mod store;
mod sudo;
mod utf8;
mod watch;
mod window;
mod workdir;

pub use ansi::{Stripper, sanitize_display_text, strip_ansi};
pub use breaker::{Admission, Breaker, EVENT_WINDOW, MOST_EVENTS, PAUSE};
pub use clean::Cleaner;
pub use collect::Collector;
pub use dump::is_env_dump;
pub use exit_note::exit_note;
pub use foreground::{ForegroundIssue, ForegroundKind, foreground_check};
pub use marker::cwd_extract;
pub use poller::is_ci_poller;
pub use ring::{Cursor, DEFAULT_RING, Page, Ring};
pub use settle::Settler;
pub use sudo::{prepare_command, sudo_auth_failed, sudo_count, sudo_needs_password};
pub use utf8::Decoder;
pub use watch::{COOL_DOWN, MOST_STRIKES, SILENCE, Watch, WatchEvent};
pub use window::{DEFAULT_LIMIT, Output, Window};
pub use workdir::{WorkdirError, validate_workdir};
