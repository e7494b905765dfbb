//! Confined shells, run for real by each mechanism that this machine has.
#![cfg(target_os = "linux")]

mod development;
mod files;
mod lives;
mod network;
mod world;
