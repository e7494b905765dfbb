#![doc = include_str!("../README.md")]

mod align;
pub mod closest;
pub mod diff;
mod fold;
mod indent;
pub mod lines;
pub mod replace;
mod similarity;

mod view;

pub use closest::closest_lines;
pub use replace::{Refusal, Replaced, Strategy, replace};
