//! Where a program's file is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::StartError;

/// Where programs are looked for when the environment doesn't say.
#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file that `name` would run: in the folders of `path` if it is a bare name, else from `cwd`.
///
/// # Errors
///
/// There is none, or it may not be executed.
#[cfg(unix)]
pub fn find(name: &OsStr, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, StartError> {
    use std::os::unix::ffi::OsStrExt as _;

    let missing = || StartError::NotFound { name: name.to_owned() };
    if name.is_empty() {
        return Err(missing());
    }
    let candidates: Vec<PathBuf> = if name.as_bytes().contains(&b'/') {
        vec![cwd.join(name)]
    } else {
        let path = path.filter(|path| !path.is_empty()).unwrap_or(OsStr::new(DEFAULT_PATH));
        // An empty folder is the present one, as in a shell.
        std::env::split_paths(path).map(|folder| cwd.join(folder).join(name)).collect()
    };
    let mut refused = None;
    for file in candidates {
        match check(&file) {
            Ok(true) => return Ok(file),
            Ok(false) => {}
            Err(reason) => {
                refused.get_or_insert(StartError::NotExecutable { path: file, reason });
            }
        }
    }
    Err(refused.unwrap_or_else(missing))
}

/// Whether there is a file that can be run, or why it can't.
#[cfg(unix)]
fn check(file: &Path) -> Result<bool, &'static str> {
    match file.metadata() {
        Err(_) => Ok(false),
        Ok(metadata) if metadata.is_dir() => Err("it is a folder"),
        Ok(_) => match rustix::fs::access(file, rustix::fs::Access::EXEC_OK) {
            Ok(()) => Ok(true),
            Err(_) => Err("it is not executable: chmod +x makes it so"),
        },
    }
}

/// The file that `name` would run. The system looks for it.
///
/// # Errors
///
/// The name is empty.
#[cfg(not(unix))]
pub fn find(name: &OsStr, _cwd: &Path, _path: Option<&OsStr>) -> Result<PathBuf, StartError> {
    if name.is_empty() {
        return Err(StartError::NotFound { name: name.to_owned() });
    }
    Ok(PathBuf::from(name))
}
