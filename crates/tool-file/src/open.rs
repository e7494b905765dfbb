//! Opening files to read without ever waiting for them.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file to read. Where a read would wait for data, as for a kernel log, it fails with
/// [`io::ErrorKind::WouldBlock`] instead.
#[cfg(unix)]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_pipe_without_data_is_an_error_at_once() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let _writer = File::options().read(true).write(true).open(&path).unwrap();
        let err = open(&path).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::WouldBlock);
        assert!(open(&dir.path().join("none")).is_err());
    }
}
