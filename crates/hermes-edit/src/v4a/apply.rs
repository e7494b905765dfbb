//! Applying all sections of a patch to files in memory.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::hunk::apply_hunks;
use super::parse::{Action, Patch, Section};
use super::{Problem, ProblemKind};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Nothing.
    Missing,
    /// A file of text.
    Text(String),
    /// A file without text, which can be deleted and moved only.
    Binary,
}

/// Where the files of a patch come from.
pub trait Files {
    /// Why a file can't be had.
    type Error;

    /// The file that a path leads to: the same key for all paths that lead to the same file.
    fn key(&self, path: &str) -> String;

    /// What is at that key before the patch.
    ///
    /// # Errors
    /// The file can't be read, or must not be.
    fn load(&self, key: &str) -> Result<Loaded, Self::Error>;
}

/// What is to be done on disk. Paths are keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file that wasn't there.
    Created {
        /// Where.
        path: String,
        /// What is in it.
        content: String,
    },
    /// A file with another text.
    Changed {
        /// Which.
        path: String,
        /// The text before; empty if it had none.
        old: String,
        /// The text to write.
        new: String,
    },
    /// A file at another place. What was there is moved or deleted by the same patch.
    Moved {
        /// Where it was.
        from: String,
        /// Where it goes.
        to: String,
        /// The text before and the text to write, if it changes too.
        change: Option<(String, String)>,
    },
    /// A file that goes.
    Deleted {
        /// Which.
        path: String,
        /// Its text, if it had any.
        old: Option<String>,
    },
}

/// A section that can't be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure<E> {
    /// The path in the section's header; none when the patch as a whole is at fault.
    pub path: Option<String>,
    /// What is wrong.
    pub cause: Cause<E>,
}

/// Why a section can't be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause<E> {
    /// The patch doesn't fit.
    Patch(Problem),
    /// A file can't be had.
    Files(E),
}

/// A file in memory.
#[derive(Clone, Debug)]
struct Entry {
    /// The key it had before the patch; none for one that was added.
    origin: Option<String>,
    /// None for a file without text.
    text: Option<Rc<str>>,
    changed: bool,
}

/// The files as the sections so far left them.
struct Overlay<'f, F: Files> {
    files: &'f F,
    now: HashMap<String, Option<Entry>>,
    before: HashMap<String, Option<Entry>>,
    /// The keys in the order in which they were looked at.
    order: Vec<String>,
}

/// Applies all sections in order, in memory, and tells what is to be done on disk.
///
/// # Errors
/// All sections that can't be applied; then nothing is to be done.
pub fn apply<F: Files>(
    patch: &Patch<'_>,
    files: &F,
) -> Result<Vec<Change>, Vec<Failure<F::Error>>> {
    let mut overlay =
        Overlay { files, now: HashMap::new(), before: HashMap::new(), order: Vec::new() };
    let mut failures = Vec::new();
    for section in &patch.sections {
        if let Err(causes) = overlay.section(section) {
            let path = Some(section.path().to_owned());
            failures.extend(causes.into_iter().map(|cause| Failure { path: path.clone(), cause }));
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let changes = overlay.changes();
    if changes.is_empty() {
        let message = "the patch changes nothing".to_owned();
        let problem = Problem { kind: ProblemKind::NoChanges, line: 1, message };
        return Err(vec![Failure { path: None, cause: Cause::Patch(problem) }]);
    }
    Ok(changes)
}

impl<F: Files> Overlay<'_, F> {
    /// What is at a path now, with its key.
    fn look(&mut self, path: &str) -> Result<(String, Option<Entry>), Cause<F::Error>> {
        let key = self.files.key(path);
        if let Some(entry) = self.now.get(&key) {
            return Ok((key, entry.clone()));
        }
        let text = match self.files.load(&key).map_err(Cause::Files)? {
            Loaded::Missing => None,
            Loaded::Text(text) => Some(Some(Rc::from(text))),
            Loaded::Binary => Some(None),
        };
        let entry = text.map(|text| Entry { origin: Some(key.clone()), text, changed: false });
        self.before.insert(key.clone(), entry.clone());
        self.now.insert(key.clone(), entry.clone());
        self.order.push(key.clone());
        Ok((key, entry))
    }

    fn existing(&mut self, line: usize, path: &str) -> Result<(String, Entry), Cause<F::Error>> {
        let (key, entry) = self.look(path)?;
        let entry = entry.ok_or_else(|| {
            problem(ProblemKind::NotFound, line, "there is no such file".to_owned())
        })?;
        Ok((key, entry))
    }

    /// The key of a path where nothing is.
    fn free(&mut self, line: usize, path: &str) -> Result<String, Cause<F::Error>> {
        let (key, entry) = self.look(path)?;
        match entry {
            None => Ok(key),
            Some(_) => Err(problem(
                ProblemKind::AlreadyExists,
                line,
                format!("{path} exists already: update it, or delete it first"),
            )),
        }
    }

    fn section(&mut self, section: &Section<'_>) -> Result<(), Vec<Cause<F::Error>>> {
        let line = section.line;
        let one = |cause| vec![cause];
        match &section.action {
            Action::Add { path, content } => {
                let key = self.free(line, path).map_err(one)?;
                let text = Some(Rc::from(content.as_str()));
                self.now.insert(key, Some(Entry { origin: None, text, changed: true }));
            }
            Action::Delete { path } => {
                let (key, _) = self.existing(line, path).map_err(one)?;
                self.now.insert(key, None);
            }
            Action::Move { from, to } => {
                let (old, entry) = self.existing(line, from).map_err(one)?;
                let new = self.free(line, to).map_err(one)?;
                self.now.insert(old, None);
                self.now.insert(new, Some(entry));
            }
            Action::Update { path, to, hunks } => {
                let (key, mut entry) = self.existing(line, path).map_err(one)?;
                if hunks.iter().any(super::parse::Hunk::is_change) {
                    let Some(text) = &entry.text else {
                        let message = "the file has no text that could be changed".to_owned();
                        return Err(one(problem(ProblemKind::Binary, line, message)));
                    };
                    let new = apply_hunks(text, hunks).map_err(|problems| {
                        problems.into_iter().map(Cause::Patch).collect::<Vec<_>>()
                    })?;
                    entry.changed |= new != **text;
                    entry.text = Some(Rc::from(new));
                }
                let target = match to {
                    Some(to) => self.free(line, to).map_err(one)?,
                    None => key.clone(),
                };
                self.now.insert(key, None);
                self.now.insert(target, Some(entry));
            }
        }
        Ok(())
    }

    /// What became of all files.
    fn changes(self) -> Vec<Change> {
        let entry = |map: &HashMap<String, Option<Entry>>, key: &str| {
            map.get(key).cloned().unwrap_or_default()
        };
        let text = |entry: &Entry| entry.text.as_deref().unwrap_or_default().to_owned();
        let moved: Vec<String> = self
            .now
            .iter()
            .filter_map(|(key, entry)| entry.as_ref()?.origin.clone().filter(|from| from != key))
            .collect();
        let mut changes = Vec::new();
        for path in &self.order {
            let path = path.clone();
            let (before, now) = (entry(&self.before, &path), entry(&self.now, &path));
            let change = match (before, now) {
                (before, Some(now)) => match (&now.origin, before) {
                    (Some(from), _) if *from != path => {
                        let old = entry(&self.before, from);
                        let change = now
                            .changed
                            .then(|| (old.as_ref().map(text).unwrap_or_default(), text(&now)));
                        Change::Moved { from: from.clone(), to: path, change }
                    }
                    (None, before) if before.is_none() || moved.contains(&path) => {
                        Change::Created { path, content: text(&now) }
                    }
                    (_, Some(before)) => {
                        let (old, new) = (text(&before), text(&now));
                        if !now.changed || (before.text.is_some() && old == new) {
                            continue;
                        }
                        Change::Changed { path, old, new }
                    }
                    (_, None) => continue,
                },
                (Some(before), None) if !moved.contains(&path) => {
                    Change::Deleted { path, old: before.text.as_deref().map(str::to_owned) }
                }
                (_, None) => continue,
            };
            changes.push(change);
        }
        changes
    }
}

fn problem<E>(kind: ProblemKind, line: usize, message: String) -> Cause<E> {
    Cause::Patch(Problem { kind, line, message })
}

/// Files in memory: the text of each path, or none for a file without text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// By path.
    pub files: BTreeMap<String, Option<String>>,
}

impl<const N: usize> From<[(String, String); N]> for Memory {
    fn from(files: [(String, String); N]) -> Self {
        Self { files: files.into_iter().map(|(path, text)| (path, Some(text))).collect() }
    }
}

impl Files for Memory {
    type Error = std::convert::Infallible;

    fn key(&self, path: &str) -> String {
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        parts.collect::<Vec<_>>().join("/")
    }

    fn load(&self, key: &str) -> Result<Loaded, Self::Error> {
        Ok(match self.files.get(key) {
            None => Loaded::Missing,
            Some(None) => Loaded::Binary,
            Some(Some(text)) => Loaded::Text(text.clone()),
        })
    }
}

impl Memory {
    /// Does what a patch came to.
    pub fn commit(&mut self, changes: &[Change]) {
        let before = self.files.clone();
        for change in changes {
            match change {
                Change::Deleted { path, .. } | Change::Moved { from: path, .. } => {
                    self.files.remove(path);
                }
                Change::Created { .. } | Change::Changed { .. } => {}
            }
        }
        for change in changes {
            let (path, text) = match change {
                Change::Created { path, content: text }
                | Change::Changed { path, new: text, .. } => (path, Some(text.clone())),
                Change::Moved { to, change: Some((_, new)), .. } => (to, Some(new.clone())),
                Change::Moved { from, to, change: None } => {
                    (to, before.get(from).cloned().flatten())
                }
                Change::Deleted { .. } => continue,
            };
            self.files.insert(path.clone(), text);
        }
    }
}
