#![doc = include_str!("../README.md")]

mod event;
mod hook;
mod hooks;
mod reply;
pub mod shell;
mod verdict;

pub use event::{Event, HookEvent, OBSERVER_SCHEMA};
pub use hook::{FnHook, Hook, HookError, HookFuture, OnError, Reply, on};
pub use hooks::Hooks;
pub use verdict::{DEFAULT_BLOCK, Verdict, merge};
