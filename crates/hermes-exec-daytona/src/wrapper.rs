//! The script around each command, and the lines that go in and out of it.

use std::fmt::Write as _;

use hermes_exec::remote::quoted;

/// The script.
const WRAPPER: &str = include_str!("wrapper.sh");

/// What a command reads.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// Nothing.
    Null,
    /// Lines of [`Lines`].
    Open,
    /// A file, which is removed.
    File(String),
}

/// The text that runs `argv` with the script around it, for the shell of a session. `folder` is
/// one of its own.
pub(crate) fn wrapped(folder: &str, errors_apart: bool, input: &Input, argv: &[String]) -> String {
    let input = match input {
        Input::Null => "null",
        Input::Open => "open",
        Input::File(path) => path,
    };
    let own = ["sh", "-c", WRAPPER, "sh", folder, if errors_apart { "1" } else { "0" }, input];
    let words = own.into_iter().chain(argv.iter().map(String::as_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// Numbers the lines of an input. One that arrives twice counts once.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    next: u64,
}

impl Lines {
    /// The line for some bytes.
    pub(crate) fn line(&mut self, bytes: &[u8]) -> String {
        let mut line = format!("{}:", self.next);
        self.next += 1;
        for &byte in bytes {
            if byte.is_ascii_alphanumeric() || b" ,./-_".contains(&byte) {
                line.push(byte.into());
            } else {
                let _ = write!(line, "\\0{byte:03o}");
            }
        }
        line.push('\n');
        line
    }

    /// The line that ends the input.
    pub(crate) fn end(&self) -> String {
        format!("{}.\n", self.next)
    }
}
