//! Files as servers are shown them.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::conversation::Stamp;

/// Files of more bytes aren't shown.
pub(crate) const MAX_TEXT: u64 = 2 * 1024 * 1024;

/// What is in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// There is none.
    Missing,
    /// Nothing that is shown: it is no UTF-8, too long, no file, or can't be read.
    Other,
    Text(String),
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Content {
    // Reading what is no file might take forever.
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Content::Missing,
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_TEXT => {}
        _ => return Content::Other,
    }
    let mut bytes = Vec::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MAX_TEXT + 1).read_to_end(&mut bytes));
    match (read, String::from_utf8(bytes)) {
        (Ok(length), Ok(text)) if length as u64 <= MAX_TEXT && !text.contains('\0') => {
            Content::Text(without_mark(&text).to_owned())
        }
        _ => Content::Other,
    }
}

/// A text without a byte order mark, which belongs to the file and not to the text.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// What tells whether the file changed; none if it isn't there.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp { modified: metadata.modified().ok(), length: metadata.len() })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn texts_alone_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let check = |bytes: &[u8], expected: Content| {
            fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path), expected);
        };
        check(b"a\r\n", Content::Text("a\r\n".to_owned()));
        check("\u{feff}ä".as_bytes(), Content::Text("ä".to_owned()));
        check(b"\xff", Content::Other);
        check(b"a\0", Content::Other);
        check(&vec![b'a'; MAX_TEXT as usize + 1], Content::Other);
        assert_eq!(read(dir.path()), Content::Other);
        assert_eq!(read(&dir.path().join("g")), Content::Missing);
    }
}
