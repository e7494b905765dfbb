//! The one place that writes to stdout.

use std::io::{self, IsTerminal as _, Stdout, Write};

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};
use serde_json::Value;

use crate::status::Status;

/// What a command may write to.
pub(crate) struct Ui {
    /// Results.
    pub(crate) out: Output,
    /// Errors, warnings, progress.
    pub(crate) status: Status,
    /// Whether only results and errors are wanted.
    pub(crate) quiet: bool,
    /// How often `-v` was given.
    pub(crate) verbose: u8,
}

impl Ui {
    /// Tells something worth knowing that is no error.
    pub(crate) fn warn(&self, message: impl std::fmt::Display) {
        if !self.quiet {
            self.status.warning(message);
        }
    }
}

/// Stdout. Colours reach terminals only, unless they were asked for.
pub(crate) struct Output {
    raw: Stdout,
    is_terminal: bool,
    /// Takes the colours off; none where they stay.
    strip: Option<StripBytes>,
}

impl Output {
    /// Stdout as it is.
    pub(crate) fn stdout() -> Self {
        let raw = io::stdout();
        let is_terminal = raw.is_terminal();
        let colourless = AutoStream::choice(&raw) == ColorChoice::Never;
        Self { raw, is_terminal, strip: colourless.then(StripBytes::new) }
    }

    /// Whether a person reads along.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// How many columns a line may have; none where nobody counts them.
    pub(crate) fn width(&self) -> Option<usize> {
        self.is_terminal.then(|| columns(terminal_size::terminal_size())).flatten()
    }

    /// Writes one value: on one line for programs, indented for people.
    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        let text = if self.is_terminal { format!("{value:#}") } else { value.to_string() };
        self.text(&text)
    }

    /// Writes a text as it is, with a line end if it has none.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.raw.write_all(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.raw.write_all(b"\n") }
    }
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let Some(strip) = &mut self.strip else { return self.raw.write(buf) };
        for part in strip.strip_next(buf) {
            self.raw.write_all(part)?;
        }
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.raw.flush()
    }
}

/// The columns of a terminal of some size.
pub(crate) fn columns(
    size: Option<(terminal_size::Width, terminal_size::Height)>,
) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}
