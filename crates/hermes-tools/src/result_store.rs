//! Where results go that are too long for a conversation.

use std::fs::{self, DirBuilder, OpenOptions};
use std::future::Future;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::task;

/// The name of the folder below the temporary folder. Whatever is read from below a folder of
/// this name may hold words of third parties.
pub const RESULTS_FOLDER: &str = "hermes-results";

/// How long a write may take.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// The path of a stored result as tools see it, or why it wasn't stored.
pub type StoreFuture<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

/// Writes results into files that file tools of the same session can read.
///
/// A host whose tools work in another file system lends one of its own:
/// `services.with::<dyn ResultStore>(..)`.
pub trait ResultStore: Send + Sync {
    /// Writes the whole `text` under a new name that resembles `name`.
    fn store<'a>(&'a self, name: &'a str, text: Arc<String>) -> StoreFuture<'a>;
}

/// What happens to the files when the session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// They go with it.
    Session,
    /// They stay: another process may ask for them. Folders older than a day are removed by the
    /// next one that is made.
    Day,
}

/// Files in the temporary folder of this machine, readable by their owner only. The folder is made
/// when the first result is stored.
#[derive(Debug)]
pub(crate) struct LocalResults {
    temp: PathBuf,
    keep: Keep,
    folder: Mutex<Option<tempfile::TempDir>>,
}

impl LocalResults {
    pub(crate) fn new(temp: PathBuf, keep: Keep) -> Self {
        Self { temp, keep, folder: Mutex::new(None) }
    }

    fn folder(&self) -> io::Result<PathBuf> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*folder
            && folder.path().is_dir()
        {
            return Ok(folder.path().to_owned());
        }
        let parent = parent(&self.temp)?;
        if self.keep == Keep::Day {
            remove_old(&parent);
        }
        let mut made = private(tempfile::Builder::new().prefix("session-")).tempdir_in(parent)?;
        made.disable_cleanup(self.keep == Keep::Day);
        let path = made.path().to_owned();
        *folder = Some(made);
        Ok(path)
    }
}

impl ResultStore for LocalResults {
    fn store<'a>(&'a self, name: &'a str, text: Arc<String>) -> StoreFuture<'a> {
        Box::pin(async move {
            let folder = self.folder().map_err(|error| error.to_string())?;
            let name = name.to_owned();
            let write = task::spawn_blocking(move || write_new(&folder, &name, &text));
            match tokio::time::timeout(WRITE_PATIENCE, write).await {
                Ok(Ok(Ok(path))) => Ok(path.to_string_lossy().into_owned()),
                Ok(Ok(Err(error))) => Err(error.to_string()),
                Ok(Err(_)) => Err("the write was stopped".to_owned()),
                Err(_) => Err("the write took too long".to_owned()),
            }
        })
    }
}

/// The folder of all sessions. The usual one is shared by everyone who uses the temporary folder,
/// so it may belong to somebody else, who must not see or replace what we write: then there is one
/// with our number, and if that isn't ours either, a new one.
fn parent(temp: &Path) -> io::Result<PathBuf> {
    #[cfg(unix)]
    let numbered = format!("{RESULTS_FOLDER}-{}", rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    let numbered = format!("{RESULTS_FOLDER}-own");
    for name in [RESULTS_FOLDER, &numbered] {
        let folder = temp.join(name);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let _ = builder.recursive(false).create(&folder);
        if is_ours(&folder) {
            return Ok(folder);
        }
    }
    Ok(private(tempfile::Builder::new().prefix(RESULTS_FOLDER)).tempdir_in(temp)?.keep())
}

#[cfg(unix)]
fn is_ours(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(folder).is_ok_and(|found| {
        let ours = found.uid() == rustix::process::geteuid().as_raw();
        found.is_dir() && ours && found.mode() & 0o077 == 0
    })
}

#[cfg(not(unix))]
fn is_ours(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir())
}

fn private<'b, 'p, 's>(
    builder: &'b mut tempfile::Builder<'p, 's>,
) -> &'b mut tempfile::Builder<'p, 's> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder
}

/// Writes a file that must not exist yet, not even as a link.
fn write_new(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "txt"));
    for attempt in 0..1000 {
        let path = match attempt {
            0 => folder.join(name),
            _ => folder.join(format!("{stem}-{attempt}.{extension}")),
        };
        // `create_new` never follows a link.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = match options.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        if let Err(error) = file.write_all(text.as_bytes()) {
            // Half a result would be taken for a whole one.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        return Ok(path);
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

/// Removes the folders of sessions that ended long ago.
fn remove_old(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|found| found.modified()).ok();
        let age = age.and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > Duration::from_secs(24 * 60 * 60)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether an argument names something below a folder of stored results.
pub(crate) fn mentions_stored<'v>(args: &'v Value) -> bool {
    // Nothing is allocated for arguments that are plain values, as most are.
    let mut todo = Vec::new();
    let mut next = Some(args);
    while let Some(value) = next {
        let mut look = |value: &'v Value| match value {
            Value::String(text) => {
                text.len() >= RESULTS_FOLDER.len() && text.contains(RESULTS_FOLDER)
            }
            Value::Array(_) | Value::Object(_) => {
                todo.push(value);
                false
            }
            _ => false,
        };
        let found = match value {
            Value::Array(items) => items.iter().any(&mut look),
            Value::Object(map) => map.values().any(&mut look),
            other => look(other),
        };
        if found {
            return true;
        }
        next = todo.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_are_private_whole_and_gone_with_the_session() {
        let temp = tempfile::tempdir().unwrap();
        let store = LocalResults::new(temp.path().to_owned(), Keep::Session);
        let first = store.store("c1.txt", Arc::new("a\0é".repeat(1000))).await.unwrap();
        let second = store.store("c1.txt", Arc::new("b".to_owned())).await.unwrap();
        assert_ne!(first, second);
        assert_eq!(fs::read_to_string(&first).unwrap(), "a\0é".repeat(1000));
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let folder = Path::new(&first).parent().unwrap();
            assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
            assert_eq!(fs::metadata(&first).unwrap().mode() & 0o777, 0o600);
        }
        drop(store);
        assert!(!Path::new(&first).exists());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_folder_that_others_can_see_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tempfile::tempdir().unwrap();
        let shared = temp.path().join(RESULTS_FOLDER);
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
        let store = LocalResults::new(temp.path().to_owned(), Keep::Session);
        let path = store.store("c1.txt", Arc::new("x".to_owned())).await.unwrap();
        assert!(!Path::new(&path).starts_with(&shared), "{path}");
        assert!(path.contains(RESULTS_FOLDER));
    }

    #[test]
    fn mentions_are_found_at_any_depth() {
        let path = "/tmp/hermes-results/x";
        for (args, found) in [
            (serde_json::json!({"path": path}), true),
            (serde_json::json!({"a": 1, "b": [{"c": [path]}]}), true),
            (serde_json::json!({"a": "short", "b": ["hermes-result"]}), false),
        ] {
            assert_eq!(mentions_stored(&args), found, "{args}");
        }
    }

    #[tokio::test]
    async fn a_store_without_a_place_says_why() {
        let store = LocalResults::new("/no/such/folder".into(), Keep::Session);
        assert!(store.store("a.txt", Arc::new("x".to_owned())).await.is_err());
    }
}
