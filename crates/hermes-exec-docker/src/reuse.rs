//! Which of the containers that are there is taken.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::options::Options;
use crate::run_args::{Facts, settings};

/// The label that says what a container is like.
pub(crate) const SPEC: &str = "hermes-spec";

/// A container that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Its number.
    pub id: String,
    /// Whether it must be started first.
    pub start_needed: bool,
}

/// A line of `ps` with the columns `{{.ID}}` and `{{.State}}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) id: &'a str,
    state: &'a str,
}

impl Row<'_> {
    /// Podman says `Up 3 minutes` where Docker says `running`.
    pub(crate) fn is_running(&self) -> bool {
        let first = self.state.split_ascii_whitespace().next().unwrap_or_default();
        first.eq_ignore_ascii_case("running") || first.eq_ignore_ascii_case("up")
    }
}

/// The lines that are some.
pub(crate) fn rows(ps: &str) -> impl Iterator<Item = Row<'_>> {
    ps.lines().filter_map(|line| {
        let mut columns = line.split('\t').map(str::trim);
        let (id, state) = (columns.next()?, columns.next()?);
        (!id.is_empty()).then_some(Row { id, state })
    })
}

/// The container to be taken from the output of `ps`: one that runs, else the first.
#[must_use]
pub fn reuse_pick(ps: &str) -> Option<Pick> {
    pick(rows(ps))
}

pub(crate) fn pick<'a>(rows: impl Iterator<Item = Row<'a>>) -> Option<Pick> {
    let rows: Vec<Row<'_>> = rows.collect();
    let row = rows.iter().find(|row| row.is_running()).or_else(|| rows.first())?;
    Some(Pick { id: row.id.to_owned(), start_needed: !row.is_running() })
}

/// What a container is like: whose it is, then everything that it was started with. Two that differ
/// in the second part only can't both be the task's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    owner: String,
    settings: String,
}

impl Spec {
    pub(crate) fn of(options: &Options, facts: &Facts) -> Self {
        // The label of a task is not the task: `a/b` and `a_b` look alike there.
        let owner = digest([options.task_id.as_str(), options.profile.as_str()]);
        let image = std::iter::once(options.image.trim().to_owned());
        let settings: Vec<String> = image.chain(settings(options, facts)).collect();
        Self { owner, settings: digest(settings.iter().map(String::as_str)) }
    }

    /// As the value of the label.
    pub(crate) fn label(&self) -> String {
        format!("{}-{}", self.owner, self.settings)
    }

    /// Whether the container with this label is another task's.
    pub(crate) fn is_others(&self, label: &str) -> bool {
        label.split_once('-').is_some_and(|(owner, _)| owner != self.owner)
    }
}

/// 16 hexadecimal digits for a list of words.
fn digest<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word);
        hash.update([0]);
    }
    let mut text = String::new();
    for byte in hash.finalize().iter().take(8) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn picks() {
        for (ps, expected) in [
            ("aaa\texited\nbbb\trunning\n", Some(("bbb", false))),
            ("aaa\texited\nccc\tcreated\n", Some(("aaa", true))),
            ("junk line\n\naaa\tUP 3 minutes\n", Some(("aaa", false))),
            (" aaa \t Running \r\n", Some(("aaa", false))),
            ("aaa\tUpset\n", Some(("aaa", true))),
            ("", None),
            ("\trunning\n", None),
        ] {
            let pick = reuse_pick(ps);
            let pick = pick.as_ref().map(|pick| (pick.id.as_str(), pick.start_needed));
            assert_eq!(pick, expected, "{ps:?}");
        }
    }

    #[test]
    fn specs_tell_owners_and_settings() {
        let spec = |task: &str, image: &str| {
            let options =
                Options { task_id: task.into(), image: image.into(), ..Options::default() };
            Spec::of(&options, &Facts::default())
        };
        let one = spec("a/b", "i");
        assert_eq!(one, spec("a/b", " i "));
        assert!(one.is_others(&spec("a_b", "i").label()));
        assert!(!one.is_others(&spec("a/b", "j").label()) && !one.is_others(""));
        assert_ne!(one.label(), spec("a/b", "j").label());
    }
}
