//! Containers of a real engine: what runs in them, how it ends, and what becomes of them.
#![cfg(unix)]

mod commands;
mod ending;
mod lifecycle;
mod world;
