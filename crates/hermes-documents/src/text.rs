//! Text that is put together line by line and has an end.

/// The longest text of a document, in bytes.
const MAX_TEXT: usize = 16 * 1024 * 1024;

/// What stands in [`crate::Document::omitted`] for what came after the longest text.
pub(crate) const REST: &str = "what comes after the first 16 MiB of text";

/// Lines, up to a limit. What doesn't fit is left out, and all that follows too.
#[derive(Debug, Default)]
pub(crate) struct Text {
    out: String,
    started: bool,
    full: bool,
}

impl Text {
    /// Adds a line, or several with LF between them.
    pub(crate) fn line(&mut self, line: &str) {
        if self.full || self.out.len() + line.len() >= MAX_TEXT {
            self.full = true;
            return;
        }
        if self.started {
            self.out.push('\n');
        }
        self.started = true;
        self.out.push_str(line);
    }

    /// Adds a blank line, unless there is nothing above it or a blank line already.
    #[cfg(feature = "office")]
    pub(crate) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.line("");
        }
    }

    /// Whether more would be left out.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether nothing but blanks was added.
    #[cfg(feature = "office")]
    pub(crate) fn is_blank(&self) -> bool {
        self.out.trim().is_empty()
    }

    pub(crate) fn into_string(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "office")]
    #[test]
    fn lines_and_gaps() {
        let mut text = Text::default();
        text.gap();
        for line in ["", "a"] {
            text.line(line);
        }
        text.gap();
        text.gap();
        text.line("b");
        assert_eq!(text.into_string(), "\na\n\nb");
    }

    #[test]
    fn a_text_has_an_end() {
        let mut text = Text::default();
        let line = "x".repeat(MAX_TEXT / 4);
        (0..5).for_each(|_| text.line(&line));
        text.line("y");
        assert!(text.is_full());
        assert!(text.into_string().len() == 3 * (MAX_TEXT / 4) + 2);
    }
}
