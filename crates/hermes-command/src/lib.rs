#![doc = include_str!("../README.md")]

mod env;
mod report;
mod source;
mod syntax;
mod value;
mod judge;
mod expand;
mod parameter;
mod path;
mod run;
mod wrap;
mod shell;
mod print;
mod options;
mod rules;
mod interp;
mod sql;
mod tree;
mod names;
mod second;

pub use judge::classify;
pub use report::{Category, Ctx, Finding, Report, SimpleCommand};
