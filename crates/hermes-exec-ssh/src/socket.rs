//! The socket through which calls of ssh share one connection, in a folder of our own.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use hermes_exec::environment::StartFailure;

/// Bytes that the path of a socket may have: what the systems allow, less a suffix that ssh adds
/// while it makes the socket.
const LONGEST: usize = 104 - 1 - 17;

/// The path of the socket, in a folder that only we can use. None where no path is short enough.
///
/// # Errors
/// The folder can't be made, or is somebody else's.
pub(crate) fn socket(temp_dir: &Path, name: &str) -> Result<Option<PathBuf>, StartFailure> {
    let user = rustix::process::geteuid().as_raw();
    let folder = temp_dir.join("hermes-ssh");
    let folder = match own(&folder, user) {
        Ok(()) => folder,
        // On a machine with several users the first one has the name.
        Err(_) => {
            let folder = temp_dir.join(format!("hermes-ssh-{user}"));
            own(&folder, user).map_err(|error| {
                StartFailure::new(format!(
                    "the folder for the sockets of ssh, {}, can't be used: {error}",
                    folder.display()
                ))
            })?;
            folder
        }
    };
    let path = folder.join(name);
    Ok((path.as_os_str().len() <= LONGEST).then_some(path))
}

/// Makes a folder that nobody else can enter, or finds it so.
fn own(folder: &Path, user: u32) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Not followed: a link leads where somebody else wants.
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != user {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is somebody else's"));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_folder_is_closed_to_others() {
        let temp = tempfile::tempdir_in("/tmp").unwrap();
        let folder = temp.path().join("hermes-ssh");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let path = socket(temp.path(), "x.sock").unwrap().unwrap();
        assert_eq!(path, folder.join("x.sock"));
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_link_is_not_followed() {
        let temp = tempfile::tempdir_in("/tmp").unwrap();
        let elsewhere = temp.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, temp.path().join("hermes-ssh")).unwrap();
        let path = socket(temp.path(), "x.sock").unwrap().unwrap();
        let own = format!("hermes-ssh-{}", rustix::process::geteuid().as_raw());
        assert_eq!(path, temp.path().join(own).join("x.sock"));
    }

    #[test]
    fn a_long_path_is_none() {
        let temp = tempfile::tempdir_in("/tmp").unwrap();
        let long = temp.path().join("x".repeat(90));
        fs::create_dir(&long).unwrap();
        assert_eq!(socket(&long, "x.sock"), Ok(None));
    }
}
