//! What tells whether a file is still what it was.

use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Below this size, in bytes, the content of a file has a part in its stamp.
pub const HASHED_SIZE: u64 = 1024 * 1024;

/// A file as it was at one moment.
///
/// Of small files the content tells whether they have changed: two writes within one tick of the
/// file system's clock are seen, and a touched file is the same as before. Of large ones the time
/// of the last write, the size and the inode tell.
#[derive(Clone, Debug)]
pub struct Stamp {
    mtime_ns: i128,
    size: u64,
    inode: u64,
    content: Option<u64>,
}

impl Stamp {
    /// A file by its time of last write (in nanoseconds since 1970), its size in bytes and its
    /// inode (0 where there are none).
    pub fn new(mtime_ns: i128, size: u64, inode: u64) -> Self {
        Self { mtime_ns, size, inode, content: None }
    }

    /// The same with the file's whole content: its size, and itself if it is small enough.
    #[must_use]
    pub fn with_content(self, bytes: &[u8]) -> Self {
        let size = bytes.len() as u64;
        let content = (size < HASHED_SIZE).then(|| hash(bytes));
        Self { size, content, ..self }
    }

    /// A file of this machine; none for what is no regular file, can't be read, is made up by the
    /// kernel at each read, or is being written right now. Never waits for data.
    pub fn local(path: &Path) -> Option<Self> {
        look(path, None).ok().flatten()
    }

    /// As [`local`](Self::local), for a file that was looked at before: while time, size and inode
    /// are the same, its content isn't read again.
    pub fn local_again(path: &Path, before: &Self) -> Option<Self> {
        look(path, Some(before)).ok().flatten()
    }

    /// A file of this machine into which `bytes` were just written.
    pub fn local_written(path: &Path, bytes: &[u8]) -> Option<Self> {
        if is_made_up(path) {
            return None;
        }
        let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(of_metadata(&metadata).with_content(bytes))
    }

    /// Whether a file with the one stamp holds what a file with the other held.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.content, other.content) {
            (Some(own), Some(others)) => self.size == other.size && own == others,
            (None, None) => self.has_same_metadata(other),
            _ => false,
        }
    }

    fn has_same_metadata(&self, other: &Self) -> bool {
        (self.mtime_ns, self.size, self.inode) == (other.mtime_ns, other.size, other.inode)
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

fn look(path: &Path, before: Option<&Stamp>) -> io::Result<Option<Stamp>> {
    if is_made_up(path) {
        return Ok(None);
    }
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Ok(None);
    }
    if let Some(before) = before
        && before.has_same_metadata(&of_metadata(&metadata))
    {
        return Ok(Some(before.clone()));
    }
    let file = open(path)?;
    // It may have been swapped since it was looked at.
    let metadata = file.metadata()?;
    let stamp = of_metadata(&metadata);
    if !metadata.is_file() {
        return Ok(None);
    }
    if metadata.len() >= HASHED_SIZE {
        return Ok(Some(stamp));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.take(HASHED_SIZE).read_to_end(&mut bytes)?;
    // Else it grew beyond what is hashed while it was read.
    Ok(((bytes.len() as u64) < HASHED_SIZE).then(|| stamp.with_content(&bytes)))
}

/// Whether the kernel makes a file up when it is read: such a file has no content that lasts.
fn is_made_up(path: &Path) -> bool {
    cfg!(target_os = "linux") && ["/proc", "/sys", "/dev"].iter().any(|it| path.starts_with(it))
}

fn of_metadata(metadata: &Metadata) -> Stamp {
    let mtime_ns = metadata.modified().map_or(0, |time| match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
        Err(err) => -i128::try_from(err.duration().as_nanos()).unwrap_or(i128::MAX),
    });
    Stamp::new(mtime_ns, metadata.len(), inode(metadata))
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// Opens a file without waiting, should a pipe have taken its place.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::{Duration, SystemTime};

    fn touch(path: &Path, time: SystemTime) {
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn the_content_of_small_files_tells() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("f"), dir.path().join("g"));
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000);
        fs::write(&path, "one").unwrap();
        touch(&path, time);
        let first = Stamp::local(&path).unwrap();
        assert!(first.is_same(&Stamp::local_written(&path, b"one").unwrap()));

        touch(&path, SystemTime::now());
        assert!(first.is_same(&Stamp::local(&path).unwrap()), "touched");
        assert!(first.is_same(&Stamp::local_again(&path, &first).unwrap()), "touched");

        fs::write(&path, "two").unwrap();
        touch(&path, time);
        assert!(!first.is_same(&Stamp::local(&path).unwrap()), "within one tick");

        fs::write(&other, "one").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(first.is_same(&Stamp::local_again(&path, &first).unwrap()), "the same again");
    }

    #[test]
    fn of_large_files_time_and_size_tell() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let bytes = vec![b'x'; usize::try_from(HASHED_SIZE).unwrap()];
        fs::write(&path, &bytes).unwrap();
        touch(&path, time);
        let first = Stamp::local(&path).unwrap();
        assert!(first.is_same(&Stamp::local(&path).unwrap()));
        assert!(first.is_same(&Stamp::local_written(&path, &bytes).unwrap()));
        touch(&path, time + Duration::from_secs(1));
        assert!(!first.is_same(&Stamp::local(&path).unwrap()));
        fs::write(&path, "small").unwrap();
        touch(&path, time);
        assert!(!first.is_same(&Stamp::local(&path).unwrap()));
    }

    #[test]
    fn what_has_no_lasting_content_has_no_stamp() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Stamp::local(dir.path()).is_none());
        assert!(Stamp::local(&dir.path().join("missing")).is_none());
        assert!(Stamp::local(Path::new("/proc/self/status")).is_none());
        assert!(Stamp::local_written(&dir.path().join("missing"), b"").is_none());
        assert!(Stamp::local_written(dir.path(), b"").is_none());
    }
}
