//! Which files of this machine go into environments that don't have them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_exec::environment::Environment;
use hermes_exec_policy::config::{Backend, TerminalConfig};
use hermes_exec_policy::files::{CredentialRefusal, Sources, credential_file};
use hermes_registry::Settings;
use serde_json::Value;

use crate::factory::Request;
use crate::sync::Synced;

/// A file or folder of this machine that a container sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// Where it is on this machine.
    pub host: PathBuf,
    /// Where it is in the container.
    pub container: String,
    /// Whether the container can't change it.
    pub read_only: bool,
}

/// The credential files that loaded skills ask for, by session.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    sessions: Mutex<BTreeMap<String, BTreeSet<String>>>,
}

impl Declared {
    /// Adds files of a session, and says which of them will stay out as things are.
    pub(crate) fn add(
        &self,
        session: &str,
        paths: impl IntoIterator<Item = String>,
        home: &Path,
    ) -> Vec<(String, CredentialRefusal)> {
        let paths: BTreeSet<String> = paths.into_iter().collect();
        let refusal = |path: &String| Some((path.clone(), credential_file(home, path).err()?));
        let refused = paths.iter().filter_map(refusal).collect();
        // One that isn't there may come; all are judged again whenever they are sent.
        self.lock().entry(session.to_owned()).or_default().extend(paths);
        refused
    }

    pub(crate) fn forget(&self, session: &str) {
        self.lock().remove(session);
    }

    /// Those of one session, or of all.
    fn of(&self, session: Option<&str>) -> Vec<String> {
        let sessions = self.lock();
        let theirs = sessions.iter().filter(|(name, _)| session.is_none_or(|it| it == *name));
        let all: BTreeSet<&String> = theirs.flat_map(|(_, paths)| paths).collect();
        all.into_iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<String>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What goes into the environment of a session, or of all sessions.
pub(crate) fn sources(
    settings: &Settings,
    config: &TerminalConfig,
    declared: &Declared,
    session: Option<&str>,
) -> Sources {
    let home = settings.home().to_owned();
    let user_home = settings.env_filled("HOME").map(Path::new);
    let external = match settings.get("skills.external_dirs") {
        Some(Value::Array(folders)) => folders.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(folder)) => vec![&**folder],
        _ => Vec::new(),
    };
    let external = external.into_iter().map(str::trim).filter(|folder| !folder.is_empty());
    let external = external.map(|folder| match (folder.strip_prefix('~'), user_home) {
        (Some(rest), Some(user)) if rest.is_empty() || rest.starts_with('/') => {
            user.join(rest.trim_start_matches('/'))
        }
        _ => home.join(folder),
    });
    Sources {
        external_skills: external.collect(),
        credentials: config.credential_files.iter().cloned().chain(declared.of(session)).collect(),
        home,
    }
}

/// The environment with the files that its commands need, if its machine is another one.
pub(crate) fn synced(
    environment: Arc<dyn Environment>,
    settings: Settings,
    config: TerminalConfig,
    declared: Arc<Declared>,
    session: Option<String>,
) -> Arc<dyn Environment> {
    let is_elsewhere =
        matches!(config.backend, Backend::Ssh(_) | Backend::Modal(_) | Backend::Daytona(_));
    if !is_elsewhere || settings.home().as_os_str().is_empty() {
        return environment;
    }
    let always = settings.env_truthy("HERMES_FORCE_FILE_SYNC");
    let sources = move || sources(&settings, &config, &declared, session.as_deref());
    Arc::new(Synced::new(environment, sources).always(always))
}

impl Request {
    /// What a container of this machine is to see of it, outer folders first: credential files,
    /// skills without links, caches. `base` is its folder for files of this program, as
    /// [`CONTAINER_BASE`](hermes_exec_policy::files::CONTAINER_BASE). What stays out is told in
    /// `problems`, a sentence each.
    ///
    /// Looks at all of these files, and may copy some: not for the runtime's own threads.
    pub fn binds(&self, base: &str, problems: &mut Vec<String>) -> Vec<Bind> {
        if self.sources.home.as_os_str().is_empty() {
            return Vec::new();
        }
        let copies = self.config.sandbox_root.join("skills");
        let mounts = self.sources.mounts(base, &copies, problems).into_iter();
        let mut binds: Vec<Bind> = mounts
            .map(|it| Bind { host: it.host, container: it.target, read_only: true })
            .collect();
        binds.sort_by(|a, b| a.container.cmp(&b.container));
        binds
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    #[cfg(unix)]
    fn containers_see_folders_before_what_is_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(dir.path()).unwrap().join("home");
        for file in ["skills/a/key.json", "token.json", "auth.json", "cache/web/x", "../more/s"] {
            let file = home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc", home.join("skills/etc")).unwrap();
        let user = fs::canonicalize(dir.path()).unwrap();
        let settings = Settings::new(&home).with_env([("HOME", user.to_str().unwrap())]);
        let settings = settings.with_config(json!({
            "terminal": {"credential_files": ["token.json", "auth.json"]},
            "skills": {"external_dirs": ["~/more", " "]},
        }));
        let config = TerminalConfig::of(&settings, &home).unwrap();
        let declared = Declared::default();
        let named = ["skills/a/key.json", "../x"].map(str::to_owned);
        let refused = declared.add("one", named, &home);
        assert_eq!(refused, [("../x".to_owned(), CredentialRefusal::NotBelowHome)]);
        declared.add("two", ["other.json".to_owned()], &home);
        let request = Request {
            sources: sources(&settings, &config, &declared, Some("one")),
            env: Vec::new(),
            passed: Vec::new(),
            key: "default".to_owned(),
            temp_dir: PathBuf::from("/tmp"),
            settings,
            config,
        };
        let mut problems = Vec::new();
        let binds = request.binds("/root/.hermes", &mut problems);
        let places: Vec<&str> = binds.iter().map(|it| &*it.container).collect();
        let expected =
            ["cache/web", "external_skills/0", "skills", "skills/a/key.json", "token.json"];
        assert_eq!(places, expected.map(|it| format!("/root/.hermes/{it}")));
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(binds.iter().all(|it| it.read_only));
        // A copy, without the link.
        assert!(binds[2].host.starts_with(home.join("sandboxes/skills")));
        assert!(!binds[2].host.join("etc").exists());
        declared.forget("one");
        assert_eq!(declared.of(None), ["other.json"]);
    }
}
