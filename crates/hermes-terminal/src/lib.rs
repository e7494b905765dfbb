#![doc = include_str!("../README.md")]

mod ansi;
mod breaker;
mod clean;
mod collect;
mod ring;
mod settle;
mod store;
mod utf8;
mod watch;
mod window;

pub use ansi::{Stripper, sanitize_display_text, strip_ansi};
pub use breaker::{Admission, Breaker, EVENT_WINDOW, MOST_EVENTS, PAUSE};
pub use clean::Cleaner;
pub use collect::Collector;
pub use ring::{Cursor, DEFAULT_RING, Page, Ring};
pub use settle::Settler;
pub use utf8::Decoder;
pub use watch::{COOL_DOWN, MOST_STRIKES, SILENCE, Watch, WatchEvent};
pub use window::{DEFAULT_LIMIT, Output, Window};
