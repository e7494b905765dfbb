//! Which servers could look after a file: what project it is in, and where the programs are.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hermes_exec::program::find;

use crate::catalog::{self, Known};
use crate::config::{Command, LspConfig, Strategy};

/// How long it is believed that nothing about a folder changed: programs get installed and
/// repositories made while a host runs.
const BELIEVED: Duration = Duration::from_secs(10);

/// How many folders are remembered.
const MAX_SEEN: usize = 1024;

/// A server that could look after a file.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) known: &'static Known,
    /// The protocol's name of the file's language.
    pub(crate) language: &'static str,
    /// The folder of the project.
    pub(crate) root: PathBuf,
    /// The program, as a path, and its arguments.
    pub(crate) argv: Vec<OsString>,
}

/// Finds servers, and remembers for a while what it found.
#[derive(Debug)]
pub(crate) struct Finder {
    config: Arc<LspConfig>,
    seen: Mutex<HashMap<(PathBuf, OsString), Seen>>,
}

#[derive(Clone, Debug)]
struct Seen {
    at: Instant,
    candidates: Arc<[Candidate]>,
}

impl Finder {
    pub(crate) fn new(config: Arc<LspConfig>) -> Self {
        Self { config, seen: Mutex::default() }
    }

    /// The servers that could look after a file, the preferred one first.
    pub(crate) fn candidates(&self, path: &Path) -> Arc<[Candidate]> {
        let nobody = || Arc::new([]) as Arc<[Candidate]>;
        let (Some(folder), Some(extension)) = (path.parent(), path.extension()) else {
            return nobody();
        };
        if !self.config.enabled || catalog::of_file(path).next().is_none() {
            return nobody();
        }
        let key = (folder.to_owned(), extension.to_owned());
        let lock = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = lock().get(&key).filter(|seen| seen.at.elapsed() < BELIEVED) {
            return Arc::clone(&seen.candidates);
        }
        let candidates: Arc<[Candidate]> = self.look(path, folder).into();
        let mut seen = lock();
        if seen.len() >= MAX_SEEN {
            seen.clear();
        }
        seen.insert(key, Seen { at: Instant::now(), candidates: Arc::clone(&candidates) });
        candidates
    }

    fn look(&self, path: &Path, folder: &Path) -> Vec<Candidate> {
        let Some(worktree) = folder.ancestors().find(|it| it.join(".git").exists()) else {
            return Vec::new();
        };
        let home = self.config.env.get("HOME").map(Path::new);
        let candidate = |(known, language): (&'static Known, &'static str)| {
            let root = project(known, folder, worktree)?;
            // A server reads the whole folder.
            if root.parent().is_none() || Some(root) == home {
                return None;
            }
            let argv = self.argv(known, root, worktree)?;
            Some(Candidate { known, language, root: root.to_owned(), argv })
        };
        catalog::of_file(path).filter_map(candidate).collect()
    }

    /// What starts a server, if it may be started and is there.
    fn argv(&self, known: &Known, root: &Path, worktree: &Path) -> Option<Vec<OsString>> {
        let said = self.config.server(known.id);
        if said.disabled {
            return None;
        }
        let path = self.config.env.get("PATH").map(OsStr::new);
        let in_path = |name: &str| find(OsStr::new(name), root, path).ok();
        let whole = |program: PathBuf, rest: &mut dyn Iterator<Item = &str>| {
            std::iter::once(program.into_os_string()).chain(rest.map(OsString::from)).collect()
        };
        match &said.command {
            Some(Command::Whole(words)) => {
                let (program, rest) = words.split_first()?;
                Some(whole(in_path(program)?, &mut rest.iter().map(String::as_str)))
            }
            Some(Command::Program(program)) => {
                let rest = known
                    .commands
                    .first()
                    .map_or(&[] as &[&str], |words| words.get(1..).unwrap_or_default());
                Some(whole(in_path(program)?, &mut rest.iter().copied()))
            }
            None => known.commands.iter().find_map(|words| {
                let (name, rest) = words.split_first()?;
                let program = match self.config.strategy {
                    Strategy::Off => None,
                    Strategy::Manual => in_path(name),
                    Strategy::Auto => in_path(name).or_else(|| self.beside(name, root, worktree)),
                };
                Some(whole(program?, &mut rest.iter().copied()))
            }),
        }
    }

    /// A program that is in no folder of `PATH`, but in our own or in the project's.
    fn beside(&self, name: &str, root: &Path, worktree: &Path) -> Option<PathBuf> {
        let upwards = root.ancestors().take_while(|folder| folder.starts_with(worktree));
        let folders = upwards.map(|folder| folder.join("node_modules").join(".bin"));
        std::iter::once(self.config.own_bin.clone())
            .chain(folders)
            .find_map(|folder| find(folder.join(name).as_os_str(), root, None).ok())
    }
}

/// The folder of the project that a server works on; none if the server isn't for it.
fn project<'p>(known: &Known, folder: &'p Path, worktree: &'p Path) -> Option<&'p Path> {
    let upwards = || folder.ancestors().take_while(|it| it.starts_with(worktree));
    let has = |folder: &Path, names: &[&str]| names.iter().any(|name| folder.join(name).exists());
    if upwards().any(|folder| has(folder, known.unless)) {
        return None;
    }
    let marked = known.markers.iter().find_map(|names| upwards().find(|it| has(it, names)));
    match marked {
        None if known.needs_marker => None,
        None => Some(worktree),
        marked => marked,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use hermes_registry::Settings;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;

    struct World {
        dir: tempfile::TempDir,
    }

    impl World {
        fn new(files: &[&str]) -> Self {
            let world = Self { dir: tempfile::tempdir().unwrap() };
            files.iter().for_each(|file| world.put(file));
            world
        }

        fn put(&self, file: &str) {
            let path = self.dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            let mode = if file.contains("bin/") { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }

        fn finder(&self, lsp: &Value) -> Finder {
            let dir = self.dir.path();
            let settings = Settings::new(dir.join("hermes"))
                .with_env([("PATH", dir.join("bin").to_str().unwrap()), ("HOME", "/nowhere")])
                .with_config(json!({"lsp": lsp}));
            Finder::new(Arc::new(LspConfig::of(&settings)))
        }

        /// Server, root and command of each candidate, with paths relative to the world.
        fn found(&self, lsp: &Value, file: &str) -> Vec<String> {
            let dir = self.dir.path().to_str().unwrap();
            let shown = |candidate: &Candidate| {
                let argv: Vec<_> = candidate.argv.iter().map(|it| it.to_string_lossy()).collect();
                let line = [candidate.known.id, &candidate.root.to_string_lossy(), &argv.join(" ")]
                    .join(" ");
                line.replace(&format!("{dir}/"), "")
            };
            let path = self.dir.path().join(file);
            self.finder(lsp).candidates(&path).iter().map(shown).collect()
        }
    }

    #[test]
    fn a_project_is_within_its_worktree() {
        let world = World::new(&[
            "pyproject.toml",
            "bin/pyright-langserver",
            "w/.git",
            "w/a/setup.py",
            "w/a/b/x.py",
            "w/c/x.py",
            "out/x.py",
        ]);
        let found = |file| world.found(&json!({}), file);
        let line = |root| [format!("pyright {root} bin/pyright-langserver --stdio")];
        assert_eq!(found("w/a/b/x.py"), line("w/a"));
        assert_eq!(found("w/a/b/new/folder/x.py"), line("w/a"));
        assert_eq!(found("w/c/x.py"), line("w"));
        for file in ["out/x.py", "w/a/b/x.txt", "w/a/x"] {
            assert_eq!(found(file), [""; 0], "{file}");
        }
    }

    #[test]
    fn the_first_group_of_markers_wins() {
        let world = World::new(&[
            "bin/rust-analyzer",
            "w/.git/HEAD",
            "w/Cargo.lock",
            "w/crates/a/Cargo.toml",
        ]);
        assert_eq!(
            world.found(&json!({}), "w/crates/a/src/lib.rs"),
            ["rust-analyzer w bin/rust-analyzer"]
        );
    }

    #[test]
    fn a_marker_gives_a_folder_to_another() {
        let world = World::new(&[
            "bin/deno",
            "bin/typescript-language-server",
            "w/.git/HEAD",
            "w/package.json",
            "w/d/deno.json",
        ]);
        assert_eq!(world.found(&json!({}), "w/d/x.ts"), ["deno w/d bin/deno lsp"]);
        let typescript = ["typescript w bin/typescript-language-server --stdio"];
        assert_eq!(world.found(&json!({}), "w/x.ts"), typescript);
    }

    #[test]
    fn programs_are_looked_for_as_configured() {
        let world = World::new(&[
            "w/.git/HEAD",
            "w/package.json",
            "w/p/package.json",
            "w/node_modules/.bin/typescript-language-server",
            "hermes/lsp/bin/pyright-langserver",
            "bin/other",
            "w/tools/bin/mine",
        ]);
        let line = "typescript w/p w/node_modules/.bin/typescript-language-server --stdio";
        assert_eq!(world.found(&json!({}), "w/p/x.ts"), [line]);
        let own = "pyright w hermes/lsp/bin/pyright-langserver --stdio";
        assert_eq!(world.found(&json!({}), "w/x.py"), [own]);
        for strategy in ["manual", "off"] {
            let lsp = json!({"install_strategy": strategy});
            assert_eq!(world.found(&lsp, "w/p/x.ts"), [""; 0]);
            assert_eq!(world.found(&lsp, "w/x.py"), [""; 0]);
        }
        for (command, expected) in [
            (json!("other"), vec!["pyright w bin/other --stdio"]),
            (json!(["other", "-x"]), vec!["pyright w bin/other -x"]),
            (json!("tools/bin/mine"), vec!["pyright w w/tools/bin/mine --stdio"]),
            (json!("missing"), vec![]),
        ] {
            let lsp =
                json!({"install_strategy": "off", "servers": {"pyright": {"command": command}}});
            assert_eq!(world.found(&lsp, "w/x.py"), expected, "{command}");
        }
        let lsp = json!({"servers": {"pyright": {"disabled": true}}});
        assert_eq!(world.found(&lsp, "w/x.py"), [""; 0]);
        assert_eq!(world.found(&json!({"enabled": false}), "w/x.py"), [""; 0]);
    }

    #[test]
    fn a_home_is_no_project() {
        let world = World::new(&["bin/pyright-langserver", "w/.git/HEAD", "w/p/setup.py"]);
        let mut config = (*world.finder(&json!({})).config).clone();
        let home = world.dir.path().join("w").to_str().unwrap().to_owned();
        config.env.extend(BTreeMap::from([("HOME".to_owned(), home)]));
        let finder = Finder::new(Arc::new(config));
        let count = |file: &str| finder.candidates(&world.dir.path().join(file)).len();
        assert_eq!((count("w/x.py"), count("w/p/x.py")), (0, 1));
    }

    #[test]
    fn what_was_found_is_believed_for_a_while() {
        let world = World::new(&["w/.git/HEAD"]);
        let finder = world.finder(&json!({}));
        let count = || finder.candidates(&world.dir.path().join("w/x.py")).len();
        assert_eq!(count(), 0);
        world.put("bin/pyright-langserver");
        assert_eq!(count(), 0);
        finder.seen.lock().unwrap().clear();
        assert_eq!(count(), 1);
    }
}
