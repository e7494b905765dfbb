//! What has been seen of each call, bounded.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Signature;

/// Most calls that are remembered; the one not seen for longest is forgotten first.
const MOST: usize = 4_096;

/// What has been seen of equal calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Failures since the last success.
    pub(super) failures: u64,
    /// Equal results in a row.
    pub(super) repeats: u64,
}

#[derive(Clone, Debug)]
struct Record {
    failures: u64,
    /// The hash of the last result, and how often it came in a row.
    progress: Option<([u8; 32], u64)>,
    /// When it was last touched, in the order of touching.
    age: u64,
}

/// What has been seen of a tool. It is only there as long as it has records.
#[derive(Clone, Debug, Default)]
struct Tool {
    failures: u64,
    records: HashMap<Signature, Record>,
}

/// What has been seen of all calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    tools: HashMap<Arc<str>, Tool>,
    by_age: BTreeMap<u64, (Arc<str>, Signature)>,
    next_age: u64,
}

impl Records {
    /// Whether there is anything about the tool.
    pub(super) fn knows(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    pub(super) fn seen(&self, tool: &str, signature: &Signature) -> Seen {
        let record = self.tools.get(tool).and_then(|tool| tool.records.get(signature));
        record.map_or_else(Seen::default, |record| Seen {
            failures: record.failures,
            repeats: record.progress.map_or(0, |(_, repeats)| repeats),
        })
    }

    /// Counts a failure: of equal calls, and of the tool.
    pub(super) fn failed(&mut self, tool: &str, signature: Signature) -> (u64, u64) {
        let (of_tool, record) = self.touch(tool, signature);
        *of_tool += 1;
        record.failures += 1;
        record.progress = None;
        let counts = (record.failures, *of_tool);
        self.forget_oldest();
        counts
    }

    /// Clears the failures of the call and of its tool.
    pub(super) fn succeeded(&mut self, tool: &str, signature: &Signature) {
        let Some(entry) = self.tools.get_mut(tool) else { return };
        entry.failures = 0;
        let Some(record) = entry.records.get_mut(signature) else { return };
        record.failures = 0;
        if record.progress.is_none() {
            let age = record.age;
            self.by_age.remove(&age);
            self.remove(tool, signature);
        }
    }

    /// Takes in the hash of a result; how often it came in a row.
    pub(super) fn gave(&mut self, tool: &str, signature: Signature, hash: [u8; 32]) -> u64 {
        let (_, record) = self.touch(tool, signature);
        let repeats = match record.progress {
            Some((last, repeats)) if last == hash => repeats + 1,
            _ => 1,
        };
        record.progress = Some((hash, repeats));
        self.forget_oldest();
        repeats
    }

    /// The failures of a tool and a record of it, which become the youngest.
    fn touch(&mut self, name: &str, signature: Signature) -> (&mut u64, &mut Record) {
        let name: Arc<str> = match self.tools.get_key_value(name) {
            Some((name, _)) => Arc::clone(name),
            None => name.into(),
        };
        let tool = self.tools.entry(Arc::clone(&name)).or_default();
        let age = self.next_age;
        self.next_age += 1;
        let record =
            tool.records.entry(signature).or_insert(Record { failures: 0, progress: None, age });
        self.by_age.remove(&record.age);
        record.age = age;
        self.by_age.insert(age, (name, signature));
        (&mut tool.failures, record)
    }

    fn forget_oldest(&mut self) {
        if self.by_age.len() > MOST
            && let Some((_, (tool, signature))) = self.by_age.pop_first()
        {
            self.remove(&tool, &signature);
        }
    }

    fn remove(&mut self, tool: &str, signature: &Signature) {
        let Some(entry) = self.tools.get_mut(tool) else { return };
        entry.records.remove(signature);
        if entry.records.is_empty() {
            self.tools.remove(tool);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let records: usize = self.tools.values().map(|tool| tool.records.len()).sum();
        assert_eq!(records, self.by_age.len());
        assert!(self.tools.values().all(|tool| !tool.records.is_empty()));
        records
    }
}
