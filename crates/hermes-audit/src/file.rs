//! Opening files that only their owner may read.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The path with something after the name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Makes the folder of a file. One that is there stays as it is.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens the file that is appended to, or makes it.
pub(crate) fn open_log(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().append(true).read(true))
}

/// Opens the file that is locked, or makes it.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    open(&with_suffix(path, ".lock"), OpenOptions::new().write(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Opening a pipe would wait for a reader, and a link may lead anywhere.
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => {
            let message = format!("{} is not an ordinary file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(_) => {}
        Err(err) if err.kind() == io::ErrorKind::NotFound => {}
        Err(err) => return Err(err),
    }
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let file = options.open(path)?;
    make_private(&file)?;
    Ok(file)
}

/// Takes the rights of others away from a file that was there.
#[cfg(unix)]
fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Whether the open file is still the one at `path`.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(found)) => is_same(&open, &found),
        _ => false,
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// There is nothing to tell files apart by: it is opened again.
#[cfg(not(unix))]
fn is_same(_a: &Metadata, _b: &Metadata) -> bool {
    false
}

/// Whether the file, of `size` bytes, ends within a line: its writer died.
pub(crate) fn ends_torn(mut file: &File, size: u64) -> io::Result<bool> {
    let Some(last) = size.checked_sub(1) else { return Ok(false) };
    // Appending doesn't care about the position.
    file.seek(SeekFrom::Start(last))?;
    let mut byte = [0];
    Ok(file.read(&mut byte)? == 1 && byte != *b"\n")
}
