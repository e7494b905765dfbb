//! The words of programs for what was refused to them.

/// What a line of output complains of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Something about the files that the line names.
    File(Fault),
    /// There is no network.
    Network,
    /// Nobody listens on this machine's own network.
    Loopback,
    /// No more rights can be had.
    Privileges,
}

/// What is wrong about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Its file system is read-only.
    ReadOnly,
    /// The access is denied.
    Denied,
    /// It can't be moved or linked to there.
    OtherDevice,
    /// It is in use as a place of its own.
    Busy,
}

/// The system takes no longer paths.
const PATH_MAX: usize = 4096;

const PRIVILEGES: [&str; 3] = [
    "\"no new privileges\" flag",
    "must be owned by uid 0 and have the setuid bit set",
    "sudo: effective uid is not 0",
];

/// None of these comes from a file.
const NETWORK: [&str; 19] = [
    "could not resolve host",
    "couldn't resolve host",
    "unable to resolve host",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "name or service not known",
    "failed to lookup address",
    "eai_again",
    "network is unreachable",
    "enetunreach",
    "socket: permission denied",
    "socket: operation not permitted",
    "create socket: permission denied",
    "sock_raw: permission denied",
    "urlopen error [errno 13]",
    "failed to establish a new connection",
    "connect eacces",
    "listen eacces",
    "couldn't connect to server",
];

const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

const UNANSWERED: [&str; 3] = ["connection refused", "econnrefused", "couldn't connect to server"];

/// A refusal without a path, in Python's words.
const PYTHON: &str = "permissionerror: [errno 13] permission denied";

const FILES: [(Fault, &[&str]); 4] = [
    (Fault::ReadOnly, &["read-only file system", "erofs"]),
    (Fault::Denied, &["permission denied", "eacces"]),
    (Fault::OtherDevice, &["invalid cross-device link", "exdev"]),
    (Fault::Busy, &["device or resource busy", "ebusy"]),
];

/// What a line of `output` complains of.
pub(super) fn refusal(line: &str, output: &str) -> Option<Refusal> {
    let line = line.trim_end().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|it| line.contains(it));
    if has(&PRIVILEGES) {
        return Some(Refusal::Privileges);
    }
    if has(&UNANSWERED) && has(&LOOPBACK) {
        return Some(Refusal::Loopback);
    }
    let by_python = line == PYTHON && output.contains("socket.py\"");
    if by_python || has(&NETWORK) {
        return Some(Refusal::Network);
    }
    FILES.iter().find(|(_, words)| has(words)).map(|(fault, _)| Refusal::File(*fault))
}

/// What looks like a path in a line: absolute, or from the working directory.
///
/// Text between quotes is taken whole; else words end at blanks and brackets, and a colon or the
/// like at their end isn't theirs. The program that speaks doesn't count.
pub(super) fn paths(line: &str) -> impl Iterator<Item = &str> {
    let line = complaint(line);
    const QUOTES: [char; 6] = ['\'', '"', '`', '‘', '’', '“'];
    let quoted = line.split(QUOTES).skip(1).step_by(2);
    let ends = |it: char| it.is_whitespace() || QUOTES.contains(&it) || "()[]{}<>,;=".contains(it);
    let words = line.split(ends).map(|it| it.trim_end_matches([':', '.', '”']));
    quoted.chain(words).filter(|it| is_path(it))
}

/// A line without the name of the program before it: what comes before the first of several colons.
fn complaint(line: &str) -> &str {
    match line.split_once(": ") {
        Some((speaker, rest)) if rest.contains(": ") && is_path(speaker) => rest,
        _ => line,
    }
}

fn is_path(word: &str) -> bool {
    let is_separator = |it: char| it == '/';
    // A name alone may be any word.
    (2..PATH_MAX).contains(&word.len())
        && word.contains('/')
        && !word.contains("://")
        && !word.chars().all(is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn paths_are_found_in_the_words_of_programs() {
        for (line, expected) in [
            ("touch: cannot touch '/usr/a b/x': Read-only file system", &["/usr/a b/x"][..]),
            ("bash: line 1: /etc/x: Permission denied", &["/etc/x"]),
            ("sh: 1: cannot create /etc/x: Permission denied", &["/etc/x"]),
            ("PermissionError: [Errno 13] Permission denied: '/opt/x'", &["/opt/x"]),
            ("Error: EACCES: permission denied, open '/opt/x'", &["/opt/x"]),
            ("cp: cannot create regular file ‘../x/y’: Permission denied", &["../x/y"]),
            ("error: could not lock config file .git/config: Read-only", &[".git/config"]),
            ("open(/opt/x): Permission denied.", &["/opt/x"]),
            ("/bin/bash: line 1: x: Permission denied", &[]),
            ("/bin/sh: 1: cannot create ../x: Permission denied", &["../x"]),
            ("/opt/x: Permission denied", &["/opt/x"]),
            ("Permission denied / x", &[]),
            ("https://example.com/x: Permission denied", &[]),
        ] {
            let mut found: Vec<&str> = paths(line).collect();
            // A quoted one with a blank is seen in pieces too.
            found.truncate(1);
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn complaints_are_told_apart() {
        for (line, expected) in [
            ("curl: (6) Could not resolve host: example.com", Some(Refusal::Network)),
            (
                "curl: (7) Failed to connect to 127.0.0.1 port 1: Couldn't connect to server",
                Some(Refusal::Loopback),
            ),
            (
                "OSError: [Errno 30] Read-only file system: '/x'",
                Some(Refusal::File(Fault::ReadOnly)),
            ),
            ("PermissionError: [Errno 13] Permission denied", Some(Refusal::File(Fault::Denied))),
            (
                "sudo: The \"no new privileges\" flag is set, which prevents sudo from running as \
                 root.",
                Some(Refusal::Privileges),
            ),
            ("all is well", None),
        ] {
            assert_eq!(refusal(line, ""), expected, "{line}");
        }
        let traceback = "File \"/usr/lib/python3.11/socket.py\", line 2\n";
        let line = "PermissionError: [Errno 13] Permission denied";
        assert_eq!(refusal(line, traceback), Some(Refusal::Network));
    }
}
