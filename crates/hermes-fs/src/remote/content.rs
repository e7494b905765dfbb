//! Reading a file piece by piece.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::RemoteFs;
use super::reply::error_of;
use super::script::Script;
use crate::backend::GoesOn;
use crate::stat::Stat;

/// How many bytes come with the first look at a file.
pub(super) const PIECE: u64 = 1024 * 1024;
/// How many pieces come with each further journey.
const PIECES: u64 = 8;

/// Tells bytes of a file from a piece on, if it is still the same file.
const READ: &str = r#"more() {
  s=$(st "$1") || { tell fail "$(ls -ld -- "$1" 2>&1 >/dev/null)"; return; }
  set -- "$1" "$2" "$3" "$4" $s
  [ "$6 $7" = "$4" ] || { tell fail 'another file took its place while it was read'; return; }
  say bytes; dd bs=SIZE skip="$2" count="$3" 2>/dev/null < "$1" | base64
}
"#;

/// The bytes of a file, of which some are here.
pub(super) struct RemoteContent<'a> {
    fs: &'a RemoteFs,
    path: PathBuf,
    /// Number and device.
    file: String,
    go: GoesOn<'a>,
    /// Where the next read begins.
    at: u64,
    /// The bytes that are here, and where in the file they begin.
    here: Vec<u8>,
    start: u64,
    /// The file ends with what is here.
    is_last: bool,
}

impl<'a> RemoteContent<'a> {
    /// A file whose first bytes came with the look at it.
    pub(super) fn new(
        fs: &'a RemoteFs,
        path: PathBuf,
        stat: &Stat,
        here: Vec<u8>,
        go: GoesOn<'a>,
    ) -> Self {
        let file = format!("{} {}", stat.inode, stat.device);
        let len = here.len() as u64;
        // The kernel's own files have no length.
        let is_last = len < PIECE || len == stat.len;
        Self { fs, path, file, go, at: 0, here, start: 0, is_last }
    }

    fn fetch(&mut self) -> io::Result<()> {
        let piece = self.at / PIECE;
        let mut script = Script::new(&READ.replace("SIZE", &PIECE.to_string()));
        let (path, file) = (script.path(&self.path), &self.file);
        script.add(&format!("more {path} {piece} {PIECES} '{file}'"));
        let answer = self.fs.ask(script, &[], self.go)?.into_iter().next();
        let answer = answer.ok_or_else(|| io::Error::other("the answer is empty"))?;
        if answer.head != "bytes" {
            return Err(error_of(&answer.bytes));
        }
        self.here = answer.bytes;
        self.start = piece * PIECE;
        self.is_last = (self.here.len() as u64) < PIECES * PIECE;
        Ok(())
    }

    /// The bytes that are here from the place of the next read on.
    fn rest(&self) -> &[u8] {
        let skip = self.at.checked_sub(self.start).and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.here.get(skip..)).unwrap_or_default()
    }
}

impl Read for RemoteContent<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let is_past_end = self.is_last && self.at >= self.start;
        if self.rest().is_empty() && !is_past_end && !buf.is_empty() {
            self.fetch()?;
        }
        let read = self.rest().read(buf)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for RemoteContent<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => {
                self.at.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?
            }
            SeekFrom::End(_) => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(self.at)
    }
}
