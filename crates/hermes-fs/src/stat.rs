//! What is known of a file without its content.

use std::time::SystemTime;

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A pipe, a socket or a device.
    Other,
}

/// Why a file can't be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Its permissions.
    Permissions,
    /// Nothing on its file system can be changed.
    ReadOnly,
}

/// What a file was like when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Its length in bytes.
    pub len: u64,
    /// When its content was last changed.
    pub modified: Option<SystemTime>,
    /// With [`inode`](Self::inode), which file it is.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
    /// How many names it has.
    pub links: u64,
    /// The permission bits; 0444 or 0666 where there are none of that kind.
    pub mode: u32,
    /// The owner's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
    /// Why it can't be written to; none if it can, as far as is known.
    pub closed: Option<Closed>,
    /// What tells whether it has changed, in the words of the environment that it is in.
    pub(crate) told: Option<Box<str>>,
}

/// Tells one state of a file from another, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// When its content was last changed.
    pub modified: Option<SystemTime>,
    /// Its length in bytes.
    pub len: u64,
    /// Device and number.
    pub file: (u64, u64),
}

impl Stat {
    /// Whether it is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.kind == Kind::Folder
    }

    /// What changes when the content does.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let Self { modified, len, device, inode, .. } = *self;
        Stamp { modified, len, file: (device, inode) }
    }

    /// A file of the host.
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        let kind = match metadata.file_type() {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_dir() => Kind::Folder,
            _ => Kind::Other,
        };
        let (len, modified) = (metadata.len(), metadata.modified().ok());
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Self {
                kind,
                len,
                modified,
                device: metadata.dev(),
                inode: metadata.ino(),
                links: metadata.nlink(),
                mode: metadata.mode() & 0o7777,
                uid: metadata.uid(),
                gid: metadata.gid(),
                closed: None,
                told: None,
            }
        }
        #[cfg(not(unix))]
        {
            let created = metadata.created().ok();
            let created = created.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
            let created = created.map_or(0, |it| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX));
            let mode = if metadata.permissions().readonly() { 0o444 } else { 0o666 };
            let (device, inode, links, uid, gid) = (0, created, 1, 0, 0);
            let (closed, told) = (None, None);
            Self { kind, len, modified, device, inode, links, mode, uid, gid, closed, told }
        }
    }
}
