//! Where homes, profiles and safe folders are.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::lexical;
use super::links::follow;
use super::table::{ALL, Base, Row};

/// The name of the profile that lives in the root home.
pub const DEFAULT_PROFILE: &str = "default";

/// The folder of the root home that holds the other profiles.
const PROFILES: &str = "profiles";

/// Where things are on the file system that paths belong to: the host's, or a container's.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The user's home under each of its names, as the others below.
    home: Vec<PathBuf>,
    /// The home of the default profile, which holds the others.
    hermes_root: Vec<PathBuf>,
    /// The home of the active profile.
    hermes_home: Vec<PathBuf>,
    profile: String,
    safe_roots: Option<Vec<PathBuf>>,
    /// Where rows of the tables lead that are links.
    linked: Vec<(PathBuf, &'static Row)>,
    in_container: bool,
    fold_case: bool,
}

impl Places {
    /// The user's home, and the home of the active profile. The root home is found by its shape:
    /// it is the profile's own, or the profile's is `profiles/NAME` in it. A path that isn't
    /// absolute is as good as none.
    #[must_use]
    pub fn new(home: Option<&Path>, hermes_home: &Path) -> Self {
        let mut places = Self { profile: DEFAULT_PROFILE.to_owned(), ..Self::default() };
        places.fold_case = cfg!(any(windows, target_vendor = "apple"));
        places.home = home.and_then(|home| places.absolute(home)).into_iter().collect();
        let Some(active) = places.absolute(hermes_home) else { return places };
        let root = active
            .parent()
            .filter(|folder| folder.file_name() == Some(OsStr::new(PROFILES)))
            .and_then(Path::parent);
        if let (Some(root), Some(name)) = (root, active.file_name()) {
            places.hermes_root = vec![root.to_owned()];
            places.profile = name.to_string_lossy().into_owned();
        } else {
            places.hermes_root = vec![active.clone()];
        }
        places.hermes_home = vec![active];
        places
    }

    /// Restricts writes to the folders in `list`, separated as in `PATH`. `~` is the home, and
    /// relative paths start at `cwd`. A blank list restricts nothing.
    #[must_use]
    pub fn with_safe_roots(mut self, list: &str, cwd: &Path) -> Self {
        if list.trim().is_empty() {
            return self;
        }
        let roots = std::env::split_paths(list)
            .filter(|root| !root.as_os_str().is_empty())
            .filter_map(|root| match (root.strip_prefix("~"), self.home.first()) {
                (Ok(rest), Some(home)) => Some(home.join(rest)),
                (Ok(_), None) => None,
                (Err(_), _) => Some(cwd.join(root)),
            })
            .filter_map(|root| self.absolute(&root))
            .collect();
        self.safe_roots = Some(roots);
        self
    }

    /// Paths are of a container that keeps its own `/root/.hermes`, a mirror of the host's.
    #[must_use]
    pub const fn in_container(mut self) -> Self {
        self.in_container = true;
        self
    }

    /// Upper and lower case are the same, as on macOS and Windows (where this is the default).
    #[must_use]
    pub fn case_folded(mut self) -> Self {
        self.fold_case = true;
        let mut lists = vec![&mut self.home, &mut self.hermes_root, &mut self.hermes_home];
        lists.extend(self.safe_roots.as_mut());
        for path in lists.into_iter().flatten() {
            *path = folded(path);
        }
        for (path, _) in &mut self.linked {
            *path = folded(path);
        }
        self
    }

    /// The same places also by where links lead: of the homes, of the safe folders, and of what is
    /// protected in the homes. `read_link` is as for [`follow`].
    #[must_use]
    pub fn resolved(self, mut read_link: impl FnMut(&Path) -> io::Result<Option<PathBuf>>) -> Self {
        let mut real = |path: &Path| {
            let followed = follow(path, &mut read_link);
            followed.map_or_else(|_| path.to_owned(), |it| self.key(&it.real).into_owned())
        };
        let mut all_real = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect();
        let real_home: Vec<PathBuf> = all_real(&self.home);
        let real_root: Vec<PathBuf> = all_real(&self.hermes_root);
        let real_active: Vec<PathBuf> = all_real(&self.hermes_home);
        let safe_roots = self.safe_roots.as_deref().map(&mut all_real);

        let mut linked = Vec::new();
        for row in ALL.iter().copied().flatten() {
            let bases: [&[PathBuf]; 2] = match row.base {
                Base::Home => [&real_home, &[]],
                Base::Hermes if real_root == real_active => [&real_root, &[]],
                Base::Hermes => [&real_root, &real_active],
                Base::Active => [&real_active, &[]],
                // The system's own links (`/var/run`) have rows of their own.
                Base::Root => [&[], &[]],
            };
            for base in bases.into_iter().flatten() {
                // Above the row's own parts there is no link any more.
                let mut path = base.clone();
                let is_link = row.path.split('/').any(|part| {
                    path.push(part);
                    matches!(read_link(&path), Ok(Some(_)))
                });
                if is_link && let Ok(to) = follow(&base.join(row.path), &mut read_link) {
                    linked.push((self.key(&to.real).into_owned(), row));
                }
            }
        }
        Self {
            home: joined(&self.home, real_home),
            hermes_root: joined(&self.hermes_root, real_root),
            hermes_home: joined(&self.hermes_home, real_active),
            safe_roots,
            linked,
            ..self
        }
    }

    /// The name of the active profile.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    pub(super) const fn is_container(&self) -> bool {
        self.in_container
    }

    pub(super) fn safe_roots(&self) -> Option<&[PathBuf]> {
        self.safe_roots.as_deref()
    }

    /// A path as it is compared.
    pub(super) fn key<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        if self.fold_case { folded(path).into() } else { path.into() }
    }

    fn absolute(&self, path: &Path) -> Option<PathBuf> {
        path.is_absolute().then(|| self.key(&lexical(path)).into_owned())
    }

    /// The first of `rows` that `name`, a path as it is compared, belongs to.
    pub(super) fn find<'r>(&self, rows: &'r [Row], name: &Path) -> Option<&'r Row> {
        let homes = strip_any(name, &self.home);
        let actives = strip_any(name, &self.hermes_home);
        let profiles: Vec<&Path> = self.profiles(name).map(|(_, rest)| rest).collect();
        let root = name.strip_prefix("/").ok();
        let fits = |row: &Row, rest: &Path| {
            // Most paths are of none of the rows, and a search asks for each file it comes upon.
            if !starts_alike(row.path, rest) {
                return false;
            }
            let path = self.key(Path::new(row.path));
            if row.tree { rest.starts_with(path) } else { rest == path }
        };
        rows.iter().find(|row| {
            let by_base = match row.base {
                Base::Home => homes.iter().any(|rest| fits(row, rest)),
                Base::Active => actives.iter().any(|rest| fits(row, rest)),
                Base::Hermes => actives.iter().chain(&profiles).any(|rest| fits(row, rest)),
                Base::Root => root.is_some_and(|rest| fits(row, rest)),
            };
            by_base
                || self.linked.iter().any(|(path, linked)| {
                    std::ptr::eq::<Row>(*linked, *row)
                        && if row.tree { name.starts_with(path) } else { name == path }
                })
        })
    }

    /// The profiles that `name` could lie in, each with the rest below its home. The profile of
    /// the root home is among them for everything below that, the others' folders included.
    pub(super) fn profiles<'p>(
        &self,
        name: &'p Path,
    ) -> impl Iterator<Item = (String, &'p Path)> + use<'p> {
        let mut found = Vec::new();
        for rest in strip_any(name, &self.hermes_root) {
            found.push((DEFAULT_PROFILE.to_owned(), rest));
            let Ok(below) = rest.strip_prefix(PROFILES) else { continue };
            if let Some(profile) = below.components().next() {
                let rest = below.strip_prefix(profile).unwrap_or(below);
                found.push((profile.as_os_str().to_string_lossy().into_owned(), rest));
            }
        }
        found.into_iter()
    }
}

/// The names and those of `more` that aren't among them.
fn joined(names: &[PathBuf], mut more: Vec<PathBuf>) -> Vec<PathBuf> {
    more.retain(|name| !names.contains(name));
    [names, &more].concat()
}

fn strip_any<'p>(name: &'p Path, bases: &[PathBuf]) -> Vec<&'p Path> {
    bases.iter().filter_map(|base| name.strip_prefix(base).ok()).collect()
}

/// Whether the first letters are the same, in any case.
fn starts_alike(path: &str, rest: &Path) -> bool {
    let first = rest.as_os_str().as_encoded_bytes().first();
    path.as_bytes().first().zip(first).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
}

fn folded(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}
