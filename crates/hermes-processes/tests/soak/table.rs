//! What became of the commands, in numbers.

use std::collections::BTreeMap;
use std::fmt;

use super::Outcome;
use super::commands::Command;

/// The ways in which commands end.
const WAYS: [&str; 7] = ["ended", "timed out", "interrupted", "killed", "dropped", "lost", "WRONG"];

/// How many commands of each kind ended how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    rows: BTreeMap<(bool, &'static str), BTreeMap<&'static str, u64>>,
    wrong: Vec<String>,
    lines: Vec<String>,
}

impl Table {
    pub(crate) fn count(&mut self, command: &Command, outcome: Outcome) {
        let row = self.rows.entry((command.is_background, command.kind)).or_default();
        let way = match outcome {
            Outcome::Good(way) => way,
            Outcome::Lost(problem) | Outcome::Wrong(problem) => {
                let text = &command.text;
                self.wrong.push(format!("`{text}` ({:?}): {problem}", command.end));
                "WRONG"
            }
        };
        *row.entry(way).or_default() += 1;
    }

    pub(crate) fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// How many commands ended so.
    pub(crate) fn of(&self, way: &str) -> u64 {
        self.rows.values().filter_map(|row| row.get(way)).sum()
    }

    pub(crate) fn is_good(&self) -> bool {
        self.wrong.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        write!(f, "{:<38}", "")?;
        WAYS.iter().try_for_each(|way| write!(f, "{way:>12}"))?;
        for ((is_background, kind), row) in &self.rows {
            let beside = if *is_background { "beside: " } else { "" };
            write!(f, "\n{:<38}", format!("{beside}{kind}"))?;
            for way in WAYS {
                let count = row.get(way).copied().unwrap_or_default();
                *all.entry(way).or_default() += count;
                write!(f, "{count:>12}")?;
            }
        }
        write!(f, "\n{:<38}", "all")?;
        WAYS.iter().try_for_each(|way| write!(f, "{:>12}", all.get(way).unwrap_or(&0)))?;
        for line in &self.lines {
            write!(f, "\n{line}")?;
        }
        self.wrong.iter().take(20).try_for_each(|wrong| write!(f, "\nwrong: {wrong:.300}"))
    }
}
