//! The cases that can't run yet.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::bind;
use crate::runner::{Case, Outcome};

/// What waits for which crate, as `cases/pending.toml` lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pending {
    /// Whole files, by their name without `.jsonl`.
    pub areas: BTreeMap<String, String>,
    /// All cases of a function.
    pub functions: BTreeMap<String, String>,
    /// Single cases, by id.
    pub cases: BTreeMap<String, String>,
}

impl Pending {
    /// Reads the list from a file.
    ///
    /// # Errors
    /// The file can't be read or doesn't hold such a list.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|err| format!("can't read {}: {err}", path.display()))?;
        toml::from_str(&text).map_err(|err| format!("{}: {err}", path.display()))
    }

    /// The crate that a case waits for.
    pub fn crate_of(&self, area: &str, case: &Case) -> Option<&str> {
        self.cases
            .get(&case.id)
            .or_else(|| self.functions.get(&case.function))
            .or_else(|| self.areas.get(area))
            .map(String::as_str)
    }

    /// The entries that have no business in the list any more, each with the reason: what they
    /// list can run, or there is no such case.
    pub fn stale(&self, cases: &[(String, Case)]) -> Vec<String> {
        let mut stale = Vec::new();
        for area in self.areas.keys() {
            let mut functions =
                cases.iter().filter(|(a, _)| a == area).map(|(_, case)| &case.function).peekable();
            if functions.peek().is_none() {
                stale.push(format!("area {area}: there is no such file"));
            } else if let Some(bound) = functions.find(|name| bind::lookup(name).is_some()) {
                stale.push(format!("area {area}: {bound} is bound; list the others by function"));
            }
        }
        for name in self.functions.keys() {
            if !cases.iter().any(|(_, case)| case.function == *name) {
                stale.push(format!("function {name}: no case uses it"));
            } else if bind::lookup(name).is_some() {
                stale.push(format!("function {name}: it is bound"));
            }
        }
        for id in self.cases.keys() {
            match cases.iter().find(|(_, case)| case.id == *id) {
                None => stale.push(format!("case {id}: there is no such case")),
                Some((_, case)) if case.run() == Outcome::Passed => {
                    stale.push(format!("case {id}: it passes"));
                }
                Some(_) => {}
            }
        }
        stale
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn case(id: &str, function: &str, expect: bool) -> (String, Case) {
        let line = json!({
            "id": id, "fn": function, "expect": {"text": expect.then_some("x")},
            "input": {"todos": []},
        });
        ("here".to_owned(), Case::parse(&line.to_string()).unwrap())
    }

    #[test]
    fn an_entry_that_could_run_is_stale() {
        let cases = [case("1", "todo_inject", false), case("2", "unheard_of", true)];
        for (list, stale) in [
            ("", None),
            ("[functions]\nunheard_of = 'c'", None),
            ("[cases]\n2 = 'c'", None),
            ("[functions]\ntodo_inject = 'c'", Some("function todo_inject: it is bound")),
            ("[functions]\nother = 'c'", Some("function other: no case uses it")),
            ("[cases]\n1 = 'c'", Some("case 1: it passes")),
            ("[cases]\n3 = 'c'", Some("case 3: there is no such case")),
            ("[areas]\nhere = 'c'", Some("area here: todo_inject is bound")),
            ("[areas]\nthere = 'c'", Some("area there: there is no such file")),
        ] {
            let found = toml::from_str::<Pending>(list).unwrap().stale(&cases);
            assert_eq!(found.len(), usize::from(stale.is_some()), "{list}: {found:?}");
            assert!(stale.is_none_or(|stale| found[0].starts_with(stale)), "{found:?}");
        }
    }

    #[test]
    fn the_narrowest_entry_counts() {
        let list = "areas.here = 'a'\nfunctions.unheard_of = 'b'\ncases.2 = 'c'";
        let pending: Pending = toml::from_str(list).unwrap();
        let wait = |id, function| {
            let (area, case) = case(id, function, true);
            pending.crate_of(&area, &case).map(str::to_owned)
        };
        assert_eq!(wait("2", "unheard_of").as_deref(), Some("c"));
        assert_eq!(wait("3", "unheard_of").as_deref(), Some("b"));
        assert_eq!(wait("3", "else").as_deref(), Some("a"));
    }
}
