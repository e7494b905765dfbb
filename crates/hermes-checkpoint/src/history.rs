//! The snapshots of a project, and what a person calls them.

use serde::Serialize;

use crate::error::{CheckpointError, Result};
use crate::layout::ref_name;
use crate::project::Project;
use crate::snapshot::tip;
use crate::store::Store;

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its hash.
    pub hash: String,
    /// The first eight digits of it.
    pub short_hash: String,
    /// When it was taken, as ISO 8601.
    pub timestamp: String,
    /// What it was taken before.
    pub reason: String,
    /// How many files differ from the snapshot before; 0 for the oldest.
    pub files_changed: u64,
    /// How many lines were added since then.
    pub insertions: u64,
    /// How many lines were removed since then.
    pub deletions: u64,
}

/// The hashes of a project's snapshots, newest first.
pub(crate) async fn hashes(store: &Store, project: &Project) -> Result<Vec<String>> {
    if !store.exists() || tip(store, project).await?.is_none() {
        return Ok(Vec::new());
    }
    let listed = store.git.run(["rev-list", &ref_name(&project.id)]).line().await?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// All snapshots of a project, newest first.
pub(crate) async fn list(store: &Store, project: &Project) -> Result<Vec<Entry>> {
    if !store.exists() || tip(store, project).await?.is_none() {
        return Ok(Vec::new());
    }
    let format = "--format=%H%x00%cI%x00%B%x00";
    let args = ["log", "--shortstat", "--no-renames", "--no-color", format];
    let run = store.git.run(args.into_iter().chain([&*ref_name(&project.id)]));
    Ok(parse(&String::from_utf8_lossy(&run.bytes().await?)))
}

/// What a snapshot was taken before.
pub(crate) async fn reason(store: &Store, hash: &str) -> Result<String> {
    let shown = store.git.run(["log", "-1", "--format=%B", hash]).bytes().await?;
    Ok(String::from_utf8_lossy(&shown).trim_end_matches('\n').to_owned())
}

/// The snapshot that `name` means: its number, 1 being the newest, or the beginning of its hash.
/// Digits that are no number of a snapshot are a hash if there are four or more.
pub(crate) fn resolve(hashes: &[String], name: &str) -> Result<String> {
    let name = name.trim().to_ascii_lowercase();
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(hash) = number.and_then(|number| hashes.get(number)) {
            return Ok(hash.clone());
        }
        if name.len() < 4 {
            return Err(CheckpointError::NotFound(name));
        }
    }
    let is_hash = (4..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_hash {
        return Err(CheckpointError::BadName(name.chars().take(80).collect()));
    }
    let mut found = hashes.iter().filter(|hash| hash.starts_with(&name));
    match (found.next(), found.next()) {
        (None, _) => Err(CheckpointError::NotFound(name)),
        (Some(hash), None) => Ok(hash.clone()),
        (Some(_), Some(_)) => Err(CheckpointError::Ambiguous(name)),
    }
}

/// Takes the log apart. Between two hashes lie a date, a reason and perhaps the counts, which
/// share a part with the next hash.
fn parse(log: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut parts = log.split('\0');
    let mut hash = parts.next().map(str::trim).unwrap_or_default();
    while let (Some(timestamp), Some(reason), Some(rest)) =
        (parts.next(), parts.next(), parts.next())
    {
        let count = |word: &str| {
            let counts = rest.lines().find(|line| line.contains("changed")).unwrap_or_default();
            let count = counts.split(',').find(|count| count.contains(word));
            let number = count.and_then(|count| count.trim().split(' ').next());
            number.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        entries.push(Entry {
            hash: hash.to_owned(),
            short_hash: hash.chars().take(8).collect(),
            timestamp: timestamp.to_owned(),
            reason: reason.trim_end_matches('\n').to_owned(),
            files_changed: count("file"),
            insertions: count("insertion"),
            deletions: count("deletion"),
        });
        hash = rest.lines().last().map(str::trim).unwrap_or_default();
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes() -> Vec<String> {
        ["12340000aaaa", "abcd1", "abcd2"].map(str::to_owned).to_vec()
    }

    #[test]
    fn numbers_come_before_hashes() {
        let named = |name: &str| resolve(&hashes(), name);
        assert_eq!(named("1").unwrap(), "12340000aaaa");
        assert_eq!(named("3").unwrap(), "abcd2");
        assert_eq!(named("1234").unwrap(), "12340000aaaa");
        assert_eq!(named("ABCD1").unwrap(), "abcd1");
        assert!(matches!(named("abcd"), Err(CheckpointError::Ambiguous(_))));
        for name in ["0", "4", "123", "12345", "ffff"] {
            assert!(matches!(named(name), Err(CheckpointError::NotFound(_))), "{name}");
        }
        for name in ["", "abc", "xyz1", "--all", "HEAD", "abcd1~1", &"a".repeat(65)] {
            assert!(matches!(named(name), Err(CheckpointError::BadName(_))), "{name}");
        }
    }

    #[test]
    fn the_log_is_taken_apart() {
        let log = "aaaaaaaaaa\x002026\x00two\nlines\n\x00\n\n 2 files changed, 1 insertion(+), \
                   3 deletions(-)\nbbbbbbbbbb\x002025\x00\x00\n";
        let entries = parse(log);
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].reason, "two\nlines");
        let counts = |at: usize| {
            let Entry { files_changed, insertions, deletions, .. } = entries[at];
            (files_changed, insertions, deletions)
        };
        assert_eq!((counts(0), counts(1)), ((2, 1, 3), (0, 0, 0)));
        assert_eq!((&*entries[1].hash, &*entries[1].reason), ("bbbbbbbbbb", ""));
    }
}
