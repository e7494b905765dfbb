//! hermes-tools

pub mod error_text;
pub mod name_repair;
pub mod search;
