//! An archive of files to send.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::FileKind;
use super::changes::{Stamp, SyncPlan, Upload};

/// Why an archive could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum PackError {
    /// A file is to go outside of the folder that the archive is for.
    Outside(String),
    /// A file can't be read, or changed while it was.
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The archive can't be written.
    Archive(io::Error),
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(path) => write!(f, "{path} is outside of the folder for files"),
            Self::File { path, source } => write!(f, "can't send {}: {source}", path.display()),
            Self::Archive(source) => write!(f, "can't send files: {source}"),
        }
    }
}

impl std::error::Error for PackError {}

/// Writes the files of a plan as a tar archive whose paths are relative to `base`, the other side's
/// place for files of this program: to be unpacked there by `tar xf - --no-overwrite-dir -C BASE`.
///
/// Notes in the plan what was sent, so that it is known later what the other side changed. A file is
/// never held in memory as a whole.
///
/// # Errors
///
/// A file can't be read, changed meanwhile or belongs elsewhere, or the archive can't be written.
/// Then nothing may be committed.
pub fn pack<W: Write>(plan: &mut SyncPlan, base: &str, to: W) -> Result<W, PackError> {
    let mut archive = Builder::new(to);
    for upload in &mut plan.uploads {
        append(upload, base, &mut archive)?;
    }
    archive.into_inner().map_err(PackError::Archive)
}

fn append<W: Write>(
    upload: &mut Upload,
    base: &str,
    archive: &mut Builder<W>,
) -> Result<(), PackError> {
    let Upload { file, stamp, digest } = upload;
    let relative = file.remote.strip_prefix(base.trim_end_matches('/'));
    let relative = relative.and_then(|it| it.strip_prefix('/'));
    let relative = relative.filter(|it| super::credential::normal(it).as_deref() == Some(*it));
    let relative = relative.ok_or_else(|| PackError::Outside(file.remote.clone()))?;

    let failed = |source| PackError::File { path: file.host.clone(), source };
    let (opened, metadata) = open(&file.host).map_err(failed)?;
    let now = Stamp::from_metadata(&metadata).map_err(failed)?;
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(metadata.len());
    header.set_mode(mode(file.kind, &metadata));
    let modified =
        metadata.modified().ok().and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
    header.set_mtime(modified.map_or(0, |it| it.as_secs()));

    let mut source =
        Source { file: opened, left: metadata.len(), hash: Sha256::new(), error: None };
    if let Err(error) = archive.append_data(&mut header, relative, &mut source) {
        return Err(match source.error {
            Some(kind) => failed(kind.into()),
            None => PackError::Archive(error),
        });
    }
    *digest = Some(source.hash.finalize().into());
    *stamp = now;
    Ok(())
}

/// Opens an ordinary file, and not what a link put in its place leads to.
fn open(path: &std::path::Path) -> io::Result<(File, fs::Metadata)> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// A credential is for the owner alone; of the others it counts whether they can be run.
fn mode(kind: FileKind, metadata: &fs::Metadata) -> u32 {
    #[cfg(unix)]
    let can_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0;
    #[cfg(not(unix))]
    let can_run = {
        let _ = metadata;
        false
    };
    match (kind, can_run) {
        (FileKind::Credential, _) => 0o600,
        (_, true) => 0o755,
        (_, false) => 0o644,
    }
}

/// A file of exactly the announced length, hashed on its way.
struct Source {
    file: File,
    left: u64,
    hash: Sha256,
    error: Option<io::ErrorKind>,
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let Some(buffer) = buffer.get_mut(..room).filter(|it| !it.is_empty()) else { return Ok(0) };
        let read = self.file.read(buffer).inspect_err(|error| self.error = Some(error.kind()))?;
        if read == 0 {
            // What follows in the archive would be taken for the rest of this file.
            self.error = Some(io::ErrorKind::UnexpectedEof);
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}
