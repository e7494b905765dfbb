//! `config.yaml` as a file that several programs read and change.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::replace::{lock, read_text};
use crate::{ConfigError, Edit, apply, yaml};

/// A `config.yaml`, present or not.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    path: PathBuf,
}

impl ConfigFile {
    /// Names the file; nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole configuration: a mapping, empty when there is no file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is no YAML mapping.
    pub fn read(&self) -> Result<Value, ConfigError> {
        let text = read_text(&self.path)?.unwrap_or_default();
        self.parse(&text)
    }

    /// Changes the file: `edits` is given the configuration as it is and says what to change.
    /// Says whether the file was changed.
    ///
    /// Other writers wait meanwhile, so nothing of theirs is lost. `edits` must not itself update
    /// the same file: it would wait for ever. The file is replaced as a whole and keeps its mode;
    /// a symbolic link stays a link. When the edits change nothing, nothing is written.
    ///
    /// # Errors
    ///
    /// What `edits` answers, a file that cannot be read or written, or an edit that cannot be
    /// made. The file is then as it was.
    pub fn update<F>(&self, edits: F) -> Result<bool, ConfigError>
    where
        F: FnOnce(&Value) -> Result<Vec<Edit>, ConfigError>,
    {
        let file = lock(&self.path)?;
        let old = file.read()?.unwrap_or_default();
        let edits = edits(&self.parse(&old)?)?;
        let new = apply(&old, &edits)
            .map_err(|source| ConfigError::Edit { path: self.path.clone(), source })?;
        if new == old {
            return Ok(false);
        }
        file.replace(&new, false)?;
        Ok(true)
    }

    fn parse(&self, text: &str) -> Result<Value, ConfigError> {
        yaml::parse_mapping(text)
            .map_err(|source| ConfigError::Yaml { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn set(key: &str, value: Value) -> Edit {
        Edit::Set { path: vec![key.to_owned()], value }
    }

    #[test]
    fn a_file_is_created_changed_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = ConfigFile::new(dir.path().join("home/config.yaml"));
        assert_eq!(file.read().unwrap(), json!({}));
        assert!(!file.update(|_| Ok(vec![])).unwrap());
        assert!(!file.path().exists());
        assert!(file.update(|_| Ok(vec![set("a", json!(1))])).unwrap());

        fs::File::options()
            .write(true)
            .open(file.path())
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        assert!(!file.update(|_| Ok(vec![set("a", json!(1))])).unwrap());
        let modified = fs::metadata(file.path()).unwrap().modified().unwrap();
        assert_eq!(modified, SystemTime::UNIX_EPOCH);
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "a: 1\n");
    }

    #[test]
    fn a_failed_update_leaves_the_file_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let file = ConfigFile::new(dir.path().join("config.yaml"));
        for (text, edit) in
            [("a: [\n", set("b", json!(1))), ("a: 1\n", Edit::Remove { path: vec![] })]
        {
            fs::write(file.path(), text).unwrap();
            let error =
                file.update(|_| Ok(vec![set("c", json!(2)), edit])).unwrap_err().to_string();
            assert!(error.contains("config.yaml") && !error.contains('\n'), "{error}");
            assert_eq!(fs::read_to_string(file.path()).unwrap(), text);
        }
        let names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }

    #[test]
    fn threads_lose_nothing_of_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yaml");
        fs::write(&path, "# kept\nlist: []\n").unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let file = ConfigFile::new(&path);
                scope.spawn(move || {
                    for round in 0..5 {
                        let name = format!("{thread}-{round}");
                        file.update(|config| {
                            let mut list = config["list"].as_array().unwrap().clone();
                            list.push(json!(name));
                            Ok(vec![set("list", json!(list)), set(&format!("t{name}"), json!(1))])
                        })
                        .unwrap();
                    }
                });
            }
        });
        let config = ConfigFile::new(&path).read().unwrap();
        assert_eq!(config["list"].as_array().unwrap().len(), 40);
        assert_eq!(config.as_object().unwrap().len(), 41);
        assert!(fs::read_to_string(&path).unwrap().starts_with("# kept\n"));
    }
}
