//! What an archive says about an entry before it.

use std::io::{self, Read};

/// No name of an archive has more bytes.
pub(super) const MAX_PREFACE: u64 = 64 * 1024;

/// What stands before an entry and says something about it.
#[derive(Default)]
pub(super) struct Preface {
    /// Its path, where that is too long for its own header.
    pub(super) name: Option<Vec<u8>>,
    /// Whether its contents are in a form of their own.
    pub(super) is_special: bool,
}

impl Preface {
    /// Takes an entry that is part of a preface; false if it stands for itself.
    pub(super) fn take(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> io::Result<bool> {
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() {
            let mut name = bounded(entry)?;
            while name.last() == Some(&0) {
                name.pop();
            }
            self.name = Some(name);
        } else if kind.is_pax_local_extensions() {
            let bytes = bounded(entry)?;
            for extension in tar::PaxExtensions::new(&bytes) {
                let extension = extension?;
                if extension.key_bytes() == b"path" {
                    self.name = Some(extension.value_bytes().to_owned());
                }
                self.is_special |= extension.key_bytes().starts_with(b"GNU.sparse");
            }
        } else {
            // A long target of a link says nothing of interest; the same counts for what is said
            // about all entries.
            return Ok(kind.is_gnu_longlink() || kind.is_pax_global_extensions());
        }
        Ok(true)
    }
}

/// The contents of a preface, which hold a few paths at most.
fn bounded(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(MAX_PREFACE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PREFACE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a name is far too long"));
    }
    Ok(bytes)
}
