//! The record of snapshots: which image a task's sandbox is to be made from again.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The file below the home folder.
const FILE: &str = "modal_snapshots.json";

/// What comes before the task's name. Records of older versions have nothing there.
const DIRECT: &str = "direct:";

/// The snapshots of one home folder.
#[derive(Clone, Debug)]
pub(crate) struct Snapshots {
    home: PathBuf,
}

impl Snapshots {
    pub(crate) fn of(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// The image of a task. A record of an older version gets the key of today.
    pub(crate) async fn get(&self, task: &str) -> io::Result<Option<String>> {
        let task = task.to_owned();
        self.change(move |records| {
            let key = format!("{DIRECT}{task}");
            if !records.contains_key(&key)
                && let Some(image) = records.remove(&task)
            {
                records.insert(key.clone(), image);
            }
            let image = records.get(&key)?.as_str()?;
            (!image.is_empty()).then(|| image.to_owned())
        })
        .await
    }

    /// Notes the image of a task.
    pub(crate) async fn set(&self, task: &str, image: &str) -> io::Result<()> {
        let (key, image) = (format!("{DIRECT}{task}"), Value::from(image));
        self.change(move |records| {
            records.insert(key, image);
        })
        .await
    }

    /// Forgets the image of a task, if it is still this one.
    pub(crate) async fn forget(&self, task: &str, image: Option<&str>) -> io::Result<()> {
        let (task, image) = (task.to_owned(), image.map(Value::from));
        self.change(move |records| {
            for key in [format!("{DIRECT}{task}"), task] {
                if image.is_none() || records.get(&key) == image.as_ref() {
                    records.remove(&key);
                }
            }
        })
        .await
    }

    /// Reads the records, changes them and writes them if they are others then. Other processes
    /// wait meanwhile.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Map<String, Value>) -> T + Send + 'static,
    ) -> io::Result<T> {
        let home = self.home.clone();
        let work = move || {
            fs::create_dir_all(&home)?;
            let path = home.join(FILE);
            let lock = File::create(home.join(format!("{FILE}.lock")))?;
            lock.lock()?;
            let before = read(&path)?;
            let mut records = before.clone();
            let result = change(&mut records);
            if records != before {
                let mut file = tempfile::NamedTempFile::new_in(&home)?;
                file.write_all(&serde_json::to_vec_pretty(&records)?)?;
                file.as_file().sync_all()?;
                file.persist(&path)?;
            }
            Ok(result)
        };
        hermes_task::spawn_blocking(work)
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the work was stopped")))
    }
}

/// The records in a file. One that nobody can read is as good as none, and is kept beside.
fn read(path: &Path) -> io::Result<Map<String, Value>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(err) => return Err(err),
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(records)) => Ok(records),
        _ => {
            tracing::warn!(path = %path.display(), "no record of snapshots; it is put aside");
            fs::rename(path, path.with_extension("json.unreadable"))?;
            Ok(Map::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[tokio::test]
    async fn records_are_kept_and_old_ones_found() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        let stored = || serde_json::from_slice::<Value>(&fs::read(&file).unwrap()).unwrap();
        let snapshots = Snapshots::of(home.path());
        assert_eq!(snapshots.get("a").await.unwrap(), None);
        assert!(!file.exists(), "nothing to write");
        fs::write(&file, r#"{"a": "im-1", "direct:b": "im-2", "b": "im-0"}"#).unwrap();
        assert_eq!(snapshots.get("a").await.unwrap().as_deref(), Some("im-1"));
        assert_eq!(snapshots.get("b").await.unwrap().as_deref(), Some("im-2"));
        assert_eq!(stored(), json!({"direct:b": "im-2", "b": "im-0", "direct:a": "im-1"}));
        snapshots.forget("a", Some("im-9")).await.unwrap();
        snapshots.forget("b", None).await.unwrap();
        assert_eq!(stored(), json!({"direct:a": "im-1"}));
        snapshots.set("a", "im-3").await.unwrap();
        assert_eq!(stored(), json!({"direct:a": "im-3"}));
    }

    #[tokio::test]
    async fn what_is_no_record_is_put_aside() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(FILE), "[broken").unwrap();
        let snapshots = Snapshots::of(home.path());
        snapshots.set("a", "im-1").await.unwrap();
        assert_eq!(snapshots.get("a").await.unwrap().as_deref(), Some("im-1"));
        assert_eq!(
            fs::read(home.path().join("modal_snapshots.json.unreadable")).unwrap(),
            b"[broken"
        );
    }
}
