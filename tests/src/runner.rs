//! Reads the conformance cases, runs them, and tells what came out.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::bind::{self, Binding};
use crate::compare;
use crate::pending::Pending;

/// One line of a case file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Case {
    /// The id, unique over all files.
    pub id: String,
    /// What is called.
    #[serde(rename = "fn")]
    pub function: String,
    /// What it is called with.
    pub input: Value,
    /// What is to come out.
    pub expect: Value,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It came out as expected.
    Passed,
    /// It didn't, for this reason.
    Failed(String),
    /// It waits for this crate.
    Pending(String),
}

impl Case {
    /// Reads one line.
    ///
    /// # Errors
    /// The line is no case.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|err| format!("not a case: {err}"))
    }

    /// Calls the bound function and compares. A function that isn't bound is a failure, and so is
    /// a panic.
    pub fn run(&self) -> Outcome {
        let Some(binding) = bind::lookup(&self.function) else {
            return Outcome::Failed(format!("no function is bound to {:?}", self.function));
        };
        let checked = catch_unwind(AssertUnwindSafe(|| match binding {
            Binding::Actual(function) => {
                function(&self.input).and_then(|actual| compare::keys(&self.expect, &actual))
            }
            Binding::Checked(function) => function(&self.input, &self.expect),
        }));
        match checked {
            Ok(Ok(())) => Outcome::Passed,
            Ok(Err(reason)) => Outcome::Failed(reason),
            Err(_) => Outcome::Failed("it panicked".to_owned()),
        }
    }
}

/// The cases of a folder, each with its area: the name of its file without `.jsonl`.
///
/// # Errors
/// The folder or a file can't be read, there are no cases, a line is no case, or an id occurs
/// twice.
pub fn read_cases(folder: &Path) -> Result<Vec<(String, Case)>, String> {
    let in_folder = |err| format!("can't read {}: {err}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    let mut cases: Vec<(String, Case)> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    for path in files {
        let area = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path)
            .map_err(|err| format!("can't read {}: {err}", path.display()))?;
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = || format!("{}:{}", path.display(), at + 1);
            let case = Case::parse(line).map_err(|err| format!("{}: {err}", place()))?;
            if !ids.insert(case.id.clone()) {
                return Err(format!("{}: the id {} occurs twice", place(), case.id));
            }
            cases.push((area.clone(), case));
        }
    }
    if cases.is_empty() {
        return Err(format!("there are no cases in {}", folder.display()));
    }
    Ok(cases)
}

/// The outcome of every case. `Display` gives one line for each area and one for each failure.
#[derive(Clone, Debug, Default)]
pub struct Report {
    areas: Vec<Area>,
}

#[derive(Clone, Debug)]
struct Area {
    name: String,
    outcomes: Vec<(String, Outcome)>,
}

impl Area {
    fn count(&self, wanted: impl Fn(&Outcome) -> bool) -> usize {
        self.outcomes.iter().filter(|(_, outcome)| wanted(outcome)).count()
    }
}

impl Report {
    /// Runs the cases that don't wait for anything. Cases of an area follow each other.
    pub fn new(cases: &[(String, Case)], pending: &Pending) -> Self {
        let areas = cases.chunk_by(|(a, _), (b, _)| a == b).map(|cases| {
            let name = cases.first().map(|(area, _)| area.clone()).unwrap_or_default();
            let outcomes = cases
                .iter()
                .map(|(area, case)| {
                    let outcome = pending
                        .crate_of(area, case)
                        .map_or_else(|| case.run(), |krate| Outcome::Pending(krate.to_owned()));
                    (case.id.clone(), outcome)
                })
                .collect();
            Area { name, outcomes }
        });
        Self { areas: areas.collect() }
    }

    /// How many cases failed.
    pub fn failures(&self) -> usize {
        self.areas.iter().map(|area| area.count(|o| matches!(o, Outcome::Failed(_)))).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for area in &self.areas {
            let passed = area.count(|outcome| *outcome == Outcome::Passed);
            let pending = area.count(|outcome| matches!(outcome, Outcome::Pending(_)));
            write!(f, "{}: {passed}/{}", area.name, area.outcomes.len())?;
            if pending > 0 {
                write!(f, " ({pending} pending)")?;
            }
            writeln!(f)?;
            for (id, outcome) in &area.outcomes {
                if let Outcome::Failed(reason) = outcome {
                    writeln!(f, "  {id}: {}", shortened(reason))?;
                }
            }
        }
        Ok(())
    }
}

/// A reason of bearable length: some cases are about megabytes of text.
fn shortened(reason: &str) -> String {
    const SHOWN: usize = 2000;
    match reason.char_indices().nth(SHOWN) {
        None => reason.to_owned(),
        Some((at, _)) => {
            let (shown, rest) = reason.split_at(at);
            format!("{shown} ... and {} more characters", rest.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn case(id: &str, function: &str, input: Value, expect: Value) -> (String, Case) {
        let case = Case { id: id.to_owned(), function: function.to_owned(), input, expect };
        ("area".to_owned(), case)
    }

    #[test]
    fn an_unknown_function_and_a_difference_are_failures() {
        let cases = [
            case("a", "unheard_of", json!({}), json!({})),
            case("b", "register_ops", json!({"base": "empty", "ops": []}), json!({"tools": {}})),
            case("c", "register_ops", json!({"base": "empty", "ops": []}), json!({"tools": 1})),
            case("d", "waiting", json!({}), json!({})),
        ];
        let pending = Pending {
            functions: [("waiting".to_owned(), "a-crate".to_owned())].into(),
            ..Pending::default()
        };
        let report = Report::new(&cases, &pending);
        assert_eq!(report.failures(), 2);
        assert_eq!(
            report.to_string(),
            "area: 1/4 (1 pending)\n  a: no function is bound to \"unheard_of\"\n  c: tools: \
             expected 1, got {}\n"
        );
    }

    #[test]
    fn folders_are_read_in_order_and_slips_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        assert!(read_cases(folder.path()).unwrap_err().contains("no cases"));
        let line = |id| json!({"id": id, "fn": "f", "input": 1, "expect": 2}).to_string();
        write("b.jsonl", &format!("{}\n\n{}\n", line("3"), line("2"))).unwrap();
        write("a.jsonl", &line("1")).unwrap();
        write("c.txt", "no case").unwrap();
        let cases = read_cases(folder.path()).unwrap();
        let ids: Vec<_> = cases.iter().map(|(a, case)| format!("{a}{}", case.id)).collect();
        assert_eq!(ids, ["a1", "b3", "b2"]);
        write("d.jsonl", &line("1")).unwrap();
        assert!(read_cases(folder.path()).unwrap_err().contains("occurs twice"));
        write("d.jsonl", "{}").unwrap();
        assert!(read_cases(folder.path()).unwrap_err().contains("d.jsonl:1"));
    }
}
