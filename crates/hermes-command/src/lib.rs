#![doc = include_str!("../README.md")]

mod assign;
mod env;
mod escapes;
mod expand;
mod file;
mod interp;
mod judge;
mod later;
mod launchers;
mod links;
mod lists;
mod names;
mod options;
pub mod outline;
mod parameter;
mod path;
mod print;
mod redirect;
mod report;
mod rules;
mod run;
mod runners;
mod second;
mod service;
mod shell;
mod source;
mod sql;
mod subscript;
mod syntax;
mod tree;
mod value;
mod wrap;
mod wrappers;

pub use file::{FileChange, judge_file};
pub use judge::classify;
pub use report::{Category, Ctx, Finding, Report, SimpleCommand};
