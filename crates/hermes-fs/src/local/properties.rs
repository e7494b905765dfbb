//! What a new file takes over from the one whose place it takes.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::stat::Stat;

/// Gives a new file to the owner and the group of the old one. False when it can't be theirs.
#[cfg(unix)]
pub(super) fn give_away(old: &Stat, new: &File) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = new.metadata()?;
    // Only root may give a file away; the group alone may be allowed.
    if now.uid() != old.uid {
        return Ok(fchown(new, Some(old.uid), Some(old.gid)).is_ok());
    }
    if now.gid() != old.gid {
        let _ = fchown(new, None, Some(old.gid));
    }
    Ok(true)
}

#[cfg(not(unix))]
pub(super) fn give_away(_: &Stat, _: &File) -> io::Result<bool> {
    Ok(true)
}

/// Copies permissions, and extended attributes as far as they can be. After [`give_away`], since a
/// change of owner clears bits of the mode.
#[cfg(unix)]
pub(super) fn keep(path: &Path, old: &Stat, new: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    keep_attributes(path, new);
    new.set_permissions(std::fs::Permissions::from_mode(old.mode))
}

#[cfg(not(unix))]
pub(super) fn keep(_: &Path, old: &Stat, new: &File) -> io::Result<()> {
    let mut permissions = new.metadata()?.permissions();
    permissions.set_readonly(old.mode & 0o222 == 0);
    new.set_permissions(permissions)
}

/// Copies extended attributes as far as the file system and the permissions allow.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn keep_attributes(path: &Path, new: &File) {
    use rustix::fs::{XattrFlags, fsetxattr, getxattr, listxattr};
    const MAX: usize = 64 * 1024;
    let mut names = vec![0_u8; MAX];
    let Ok(len) = listxattr(path, names.as_mut_slice()) else { return };
    names.truncate(len);
    let mut value = vec![0_u8; MAX];
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(len) = getxattr(path, name, value.as_mut_slice()) {
            let value = value.get(..len).unwrap_or_default();
            let _ = fsetxattr(new, name, value, XattrFlags::empty());
        }
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn keep_attributes(_: &Path, _: &File) {}
