//! What is said about a file after a change.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::kind::Kind;
use crate::problem::{Parsed, Problem};

/// The most problems that are told of.
const MAX_TOLD: usize = 10;

/// Whether a file still parses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lint {
    /// It does.
    Ok,
    /// It doesn't.
    Broken {
        /// A line for each problem, `LINE:COLUMN: what is wrong`, both counted from 1 and the
        /// column in characters; at most 10 problems of at most 200 characters each.
        output: String,
        /// How it was before.
        before: Before,
    },
    /// It was not looked at, or nothing certain came out.
    Skipped {
        /// Why.
        message: String,
    },
}

/// What a file that doesn't parse was like before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It parsed, or it wasn't there.
    Sound,
    /// It had other problems. Only the new ones are told of.
    Broken,
    /// It had all the problems that it has now.
    Same,
}

impl Lint {
    /// The value of `lint` in results: `status`, and where they apply `output` and `message`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Ok => json!({"status": "ok"}),
            Self::Skipped { message } => json!({"status": "skipped", "message": message}),
            Self::Broken { output, before: Before::Sound } => {
                json!({"status": "error", "output": output})
            }
            Self::Broken { output, before } => {
                let message = match before {
                    Before::Same => {
                        "the file didn't parse before this change either; the change brought no \
                         new problem"
                    }
                    Before::Sound | Before::Broken => {
                        "the file didn't parse before this change either; only what is new is \
                         listed"
                    }
                };
                json!({"status": "error", "output": output, "message": message})
            }
        }
    }
}

/// What is to be said about a file with content `new`, and `old` before if there was any; none
/// when nothing is known of files with such a name.
#[must_use]
pub fn check(path: &Path, old: Option<&str>, new: &str) -> Option<Lint> {
    Kind::of(path).map(|kind| kind.check(old, new))
}

impl Kind {
    /// What is to be said about a file of this kind with content `new`, and `old` before if there
    /// was any.
    ///
    /// Never fails, for whatever is in the texts; those that are too large or take too long are
    /// [`Skipped`](Lint::Skipped), but for JSON, YAML and TOML, which always are looked at.
    #[must_use]
    pub fn check(self, old: Option<&str>, new: &str) -> Lint {
        let problems = match self.parse(new) {
            Parsed::Sound => return Lint::Ok,
            Parsed::Unknown(why) => return Lint::Skipped { message: why.to_owned() },
            Parsed::Broken(problems) => problems,
        };
        let old = old.map(|old| self.parse(old));
        match old {
            Some(Parsed::Sound) => broken(&problems, Before::Sound),
            None | Some(Parsed::Unknown(_)) if self.is_sure() => broken(&problems, Before::Sound),
            Some(Parsed::Broken(old)) if self.is_sure() => {
                let new = only_new(&problems, &old);
                if new.is_empty() {
                    broken(&problems, Before::Same)
                } else {
                    broken(new, Before::Broken)
                }
            }
            _ => Lint::Skipped {
                message: format!(
                    "{} has dialects, and no earlier content of this file parsed to compare with",
                    self.name()
                ),
            },
        }
    }
}

fn broken<'a>(problems: impl IntoIterator<Item = &'a Problem>, before: Before) -> Lint {
    let mut lines: Vec<String> = Vec::new();
    let mut more = 0;
    for problem in problems {
        if lines.len() < MAX_TOLD {
            lines.push(problem.to_string());
        } else {
            more += 1;
        }
    }
    if more > 0 {
        lines.push(format!("... and {more} more"));
    }
    Lint::Broken { output: lines.join("\n"), before }
}

/// The problems that weren't there before. A problem is the same wherever its line has gone.
fn only_new<'a>(problems: &'a [Problem], old: &[Problem]) -> Vec<&'a Problem> {
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for problem in old {
        *known.entry(problem.identity()).or_default() += 1;
    }
    let mut new = Vec::new();
    for problem in problems {
        match known.get_mut(&problem.identity()) {
            Some(left) if *left > 0 => *left -= 1,
            _ => new.push(problem),
        }
    }
    new
}
