#![doc = include_str!("../README.md")]

pub mod audit;
mod finding;
mod ignored;
mod rules;
mod scan;
mod shape;
mod shell;
mod trust;

pub use finding::{Category, Finding, Severity, Verdict};
pub use scan::{SCANNER_VERSION, Scan, scan};
pub use shape::{Kind, SkillFile};
pub use trust::{Decision, Trust};

#[cfg(test)]
mod tests;
