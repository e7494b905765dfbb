#![doc = include_str!("../README.md")]

pub mod child_env;
pub mod config;
