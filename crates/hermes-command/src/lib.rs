#![doc = include_str!("../README.md")]

mod env;
mod expand;
mod interp;
mod judge;
mod names;
mod options;
mod parameter;
mod path;
mod print;
mod report;
mod rules;
mod run;
mod second;
mod shell;
mod source;
mod sql;
mod syntax;
mod tree;
mod value;
mod wrap;

pub use judge::classify;
pub use report::{Category, Ctx, Finding, Report, SimpleCommand};
