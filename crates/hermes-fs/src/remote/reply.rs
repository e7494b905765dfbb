//! What a script answered.

use std::io;
use std::path::PathBuf;

use super::base64;
use super::script::path_of;
use super::shell::Ran;
use crate::error::FsError;

/// How much of a complaint is passed on.
const MAX_COMPLAINT: usize = 300;

/// One part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The words behind the sign that begins it.
    pub(super) head: String,
    /// The bytes that follow.
    pub(super) bytes: Vec<u8>,
}

impl Part {
    pub(super) fn path(self) -> PathBuf {
        path_of(self.bytes)
    }
}

/// The parts of an answer. One that isn't whole is an error.
pub(super) fn parts(ran: &Ran) -> io::Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    let mut lines = ran.stdout.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    if !lines.any(|line| line == b"@hermes") {
        return Err(complaint(ran, "the environment's shell gave no answer"));
    }
    let mut digits: Vec<u8> = Vec::new();
    for line in lines {
        let Some(head) = line.strip_prefix(b"@") else {
            digits.extend_from_slice(line);
            continue;
        };
        if let Some(last) = parts.last_mut() {
            last.bytes = match base64::decode(&digits) {
                Some(bytes) => bytes,
                // The script itself cut it, and says so.
                None if head == b"cut" => Vec::new(),
                None => return Err(complaint(ran, "the answer can't be read")),
            };
        }
        digits.clear();
        if head == b"end" {
            return Ok(parts);
        }
        let head = String::from_utf8_lossy(head).into_owned();
        parts.push(Part { head, bytes: Vec::new() });
    }
    Err(complaint(ran, "the answer was cut off"))
}

fn complaint(ran: &Ran, what: &str) -> io::Error {
    let stderr = String::from_utf8_lossy(&ran.stderr);
    let stderr: String = stderr.trim().chars().take(MAX_COMPLAINT).collect();
    let code = ran.code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
    let stderr = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
    io::Error::other(format!("{what}{code}{stderr}"))
}

/// The error that a program's message in English tells.
pub(super) fn error_of(message: &[u8]) -> io::Error {
    let text = String::from_utf8_lossy(message);
    let text = text.trim();
    const KINDS: [(&str, io::ErrorKind); 11] = [
        ("symbolic link was put in the way", io::ErrorKind::PermissionDenied),
        ("Permission denied", io::ErrorKind::PermissionDenied),
        ("Operation not permitted", io::ErrorKind::PermissionDenied),
        ("Read-only file system", io::ErrorKind::ReadOnlyFilesystem),
        ("Not a directory", io::ErrorKind::NotADirectory),
        ("Is a directory", io::ErrorKind::IsADirectory),
        ("No such file", io::ErrorKind::NotFound),
        ("nonexistent directory", io::ErrorKind::NotFound),
        ("No space left", io::ErrorKind::StorageFull),
        ("Disk quota", io::ErrorKind::QuotaExceeded),
        ("File name too long", io::ErrorKind::InvalidFilename),
    ];
    let known = KINDS.iter().find(|(part, _)| text.contains(part));
    let kind = known.map_or(io::ErrorKind::Other, |(_, kind)| *kind);
    // Behind the last colon: before it are the program and a path that nobody gave.
    let shown = text.rsplit(": ").next().unwrap_or(text);
    let shown: String = shown.chars().take(MAX_COMPLAINT).collect();
    if shown.is_empty() { kind.into() } else { io::Error::new(kind, shown) }
}

/// The error in an answer of the form `fail KIND VERB`, path, `message`.
pub(super) fn failure(parts: &[Part]) -> Option<FsError> {
    let at = parts.iter().position(|part| part.head.starts_with("fail "))?;
    let (part, message) = (parts.get(at)?, parts.get(at + 1));
    let path = part.clone().path();
    let mut words = part.head.split(' ').skip(1);
    Some(match words.next() {
        Some("changed") => FsError::Changed(path),
        Some("exists") => FsError::Exists(path),
        Some("overtaken") => FsError::Overtaken(path),
        Some("owner") => FsError::Owner(path),
        _ => {
            const VERBS: [&str; 7] =
                ["create", "write", "remove", "move", "read back", "search", "open"];
            let wanted = words.collect::<Vec<_>>().join(" ");
            let verb = VERBS.into_iter().find(|verb| *verb == wanted).unwrap_or("use");
            FsError::io(verb, &path, error_of(message.map_or(&[], |part| &part.bytes)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn of(stdout: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
        let ran =
            Ran { stdout: stdout.as_bytes().to_vec(), stderr: b"sh: no\n".to_vec(), code: Some(1) };
        Ok(parts(&ran)?.into_iter().map(|part| (part.head, part.bytes)).collect())
    }

    #[test]
    fn answers() {
        assert_eq!(
            of("Welcome!\n@hermes\r\n@a b\r\nZm9v\r\nYg==\r\n@c\r\n@end\r\nbye\n").unwrap(),
            [("a b".to_owned(), b"foob".to_vec()), ("c".to_owned(), Vec::new())]
        );
        assert_eq!(of("@hermes\n@a\nZ\n@cut\n@end\n").unwrap()[0], ("a".to_owned(), Vec::new()));
        for (stdout, message) in [
            ("", "gave no answer (exit code 1): sh: no"),
            ("@hermes\n@a\nZm9v\n", "cut off"),
            ("@hermes\n@a\nZm9v!\n@end\n", "can't be read"),
        ] {
            let err = of(stdout).unwrap_err().to_string();
            assert!(err.contains(message), "{err}");
        }
    }

    #[test]
    fn messages_tell_the_kind() {
        for (message, kind, shown) in [
            (
                "ls: /x: No such file or directory",
                io::ErrorKind::NotFound,
                "No such file or directory",
            ),
            (
                "mkdir: can't create directory '/a: b': Permission denied\n",
                io::ErrorKind::PermissionDenied,
                "Permission denied",
            ),
            ("mv: odd", io::ErrorKind::Other, "odd"),
        ] {
            let err = error_of(message.as_bytes());
            assert_eq!((err.kind(), err.to_string().as_str()), (kind, shown));
        }
    }
}
