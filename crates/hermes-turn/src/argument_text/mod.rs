//! Mending the JSON text of arguments, and deciding whether it may be run.
//!
//! Models write arguments as text, and the text has faults of two sorts. It may be misspelt: a
//! comma too many, single quotes, a code fence around it. What is meant is beyond doubt then, and
//! such text is mended and run. Or it may be cut off. Then nobody knows what is missing, and
//! running the part that arrived would write half a file or delete the parent of a folder. Text
//! that was cut is never run, also where brackets could be added to make it JSON; the added
//! brackets are for history only, where the call has been answered already.
//!
//! All of it is linear in the length of the text and uses no stack for nesting.

mod decide;
mod history;
mod repair;
mod report;
#[cfg(test)]
mod tests;
mod tokens;

pub use decide::{ArgsDecision, NotObject, decide, decide_value};
pub use history::history_arguments;
pub use repair::{MAX_DEPTH, repair_json_args};
pub use report::{Ended, Fault, Repair, RepairReport};
