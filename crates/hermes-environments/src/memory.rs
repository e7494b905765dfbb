//! A folder in memory, for files that live no longer than the program.

use std::path::PathBuf;

/// The variables that name a folder for temporary files, the first of them first.
pub(crate) const TEMPORARY: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// Bytes that must be free there. A container has 64 MiB as a rule, which browsers fill.
#[cfg(target_os = "linux")]
const ROOM: u64 = 256 * 1024 * 1024;

/// The first folder in memory that is there and has room: the user's own for such files, or that of
/// everybody. None where a folder for temporary files is named: that one is to be used. `env` gives a
/// variable that isn't empty.
#[cfg(target_os = "linux")]
pub(crate) fn folder<'a>(env: impl Fn(&str) -> Option<&'a str>) -> Option<PathBuf> {
    if TEMPORARY.iter().any(|name| env(name).is_some()) {
        return None;
    }
    let own = env("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|it| it.is_absolute());
    own.into_iter().chain([PathBuf::from("/dev/shm")]).find(|folder| {
        use rustix::fs::{Access, StatVfsMountFlags, access, statfs, statvfs};
        /// What `statfs` says of a file system in memory.
        const TMPFS: rustix::fs::FsWord = 0x0102_1994;
        let is_in_memory = statfs(folder).is_ok_and(|it| it.f_type == TMPFS);
        let has_room = statvfs(folder).is_ok_and(|it| {
            !it.f_flag.contains(StatVfsMountFlags::RDONLY)
                && it.f_bavail.saturating_mul(it.f_frsize) >= ROOM
        });
        is_in_memory && has_room && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
    })
}

/// The systems that have such a folder at a known place are Linux.
#[cfg(not(target_os = "linux"))]
pub(crate) fn folder<'a>(_env: impl Fn(&str) -> Option<&'a str>) -> Option<PathBuf> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_on_disk_is_none() {
        let disk = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let with = |name: &'static str, value| folder(move |it| (it == name).then_some(value));
        let found = with("XDG_RUNTIME_DIR", disk.path().to_str().unwrap());
        assert_ne!(found.as_deref(), Some(disk.path()));
        assert!(found.is_none_or(|it| it.is_dir()));
        assert_ne!(with("XDG_RUNTIME_DIR", "relative"), Some(PathBuf::from("relative")));
        assert_eq!(with("TMPDIR", "/tmp"), None);
    }
}
