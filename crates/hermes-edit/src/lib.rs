#![doc = include_str!("../README.md")]

mod align;
pub mod closest;
pub mod diff;
mod fold;
mod indent;
pub mod lines;
pub mod replace;
mod search;
mod similarity;
pub mod v4a;

mod view;

pub use align::align;
pub use closest::closest_lines;
pub use replace::{Refusal, Replaced, Strategy, replace};
