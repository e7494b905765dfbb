//! A git worktree in a folder of its own.

use std::path::{Path, PathBuf};
use std::{env, fs};

use hermes_lint::{Change, Diagnostics as _};
use hermes_lsp::{LanguageServers, LspConfig};
use hermes_registry::Settings;
use serde_json::{Value, json};

/// A folder with an empty repository in it.
#[derive(Debug)]
pub(crate) struct World {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("a project");
        fs::create_dir_all(root.join(".git")).unwrap();
        Self { _dir: dir, root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Settings with what is under `lsp` in the configuration, and the environment of the test.
    pub(crate) fn config(&self, lsp: &Value) -> LspConfig {
        #[expect(clippy::disallowed_methods, reason = "a test is its own host")]
        let env = env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let settings = Settings::new(self.root.join("../hermes"))
            .with_env(env)
            .with_config(json!({"lsp": lsp}));
        LspConfig::of(&settings)
    }

    /// Whether `PATH` has a program.
    pub(crate) fn has(&self, program: &str) -> bool {
        let config = self.config(&Value::Null);
        env::split_paths(config.env.get("PATH").map_or("", String::as_str))
            .any(|folder| folder.join(program).is_file())
    }

    /// Puts a file there that nobody is told of.
    pub(crate) fn put(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }

    /// Writes a file the way tools do: looked at before, looked at after.
    pub(crate) fn change(
        &self,
        servers: &LanguageServers,
        file: &str,
        new: &str,
    ) -> Option<String> {
        let path = self.root.join(file);
        servers.before(&path);
        let old = fs::read_to_string(&path).ok();
        self.put(file, new);
        servers.after(&Change { path: &path, old: old.as_deref(), new })
    }
}
