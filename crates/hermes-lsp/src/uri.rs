//! Paths as `file:` URIs and back.

use std::path::{Path, PathBuf};

/// The URI of an absolute path. Bytes of the path that aren't UTF-8 are kept.
pub(crate) fn of(path: &Path) -> String {
    let bytes = bytes(path);
    let mut uri = String::with_capacity(bytes.len() + 8);
    uri.push_str("file://");
    if bytes.first() != Some(&b'/') {
        uri.push('/');
    }
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => {
                uri.push('%');
                uri.push(digit(byte >> 4));
                uri.push(digit(byte & 15));
            }
        }
    }
    uri
}

/// The path of a `file:` URI without a host. Servers may encode other characters than we do.
pub(crate) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(rest.len());
    let mut rest = rest.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push((high * 16 + low) as u8);
            }
            // What follows is no part of the path.
            b'?' | b'#' => break,
            byte => bytes.push(byte),
        }
    }
    from_bytes(bytes)
}

fn digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0').to_ascii_uppercase()
}

#[cfg(unix)]
fn bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// A drive's letter stands behind a slash.
#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    let text = String::from_utf8(bytes).ok()?;
    let text = match text.as_bytes() {
        [b'/', _, b':', ..] => text.trim_start_matches('/'),
        _ => &text,
    };
    Some(PathBuf::from(text))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn odd_paths() {
        for (file, uri) in [
            ("/a/b.py", "file:///a/b.py"),
            ("/a b/ä#?%.py", "file:///a%20b/%C3%A4%23%3F%25.py"),
            ("/[id]/(x)/@y/c:d+e&f", "file:///%5Bid%5D/%28x%29/%40y/c%3Ad%2Be%26f"),
            ("/new\nline\"quote'", "file:///new%0Aline%22quote%27"),
        ] {
            assert_eq!(of(Path::new(file)), uri);
            assert_eq!(path(uri), Some(PathBuf::from(file)));
        }
        assert_eq!(path("file:///%5bid]/(x)@y"), Some(PathBuf::from("/[id]/(x)@y")));
        assert_eq!(path("file://localhost/a#L3"), Some(PathBuf::from("/a")));
        for bad in ["untitled:x", "file://host/a", "/a", "file:///a%", "file:///a%2", "file:///%zz"]
        {
            assert_eq!(path(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_path_comes_back(mut bytes in proptest::collection::vec(1u8.., 0..50)) {
            bytes.insert(0, b'/');
            let file = PathBuf::from(std::ffi::OsString::from_vec(bytes));
            let uri = of(&file);
            prop_assert!(uri.is_ascii() && !uri.contains(char::is_whitespace));
            prop_assert_eq!(path(&uri), Some(file));
        }
    }
}
