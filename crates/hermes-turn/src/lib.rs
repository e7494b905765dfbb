#![doc = include_str!("../README.md")]

pub mod argument_text;
pub mod canonical;
pub mod duplicates;
pub mod failure;
pub mod framing;
pub mod guardrail;
pub mod limits;
pub mod message_pairs;
pub mod plan;
