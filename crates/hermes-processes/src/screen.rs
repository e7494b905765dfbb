//! What a person would see of a program that draws on a whole terminal.

use std::num::NonZeroU16;

use hermes_exec::environment::Size;

/// Most lines and characters in a line of a screen: what is drawn costs memory in proportion.
const MOST: u16 = 500;

/// A terminal's screen.
pub struct Screen {
    parser: vt100::Parser,
}

impl Screen {
    /// An empty screen.
    #[must_use]
    pub fn new(size: Size) -> Self {
        let [rows, cols] = bounded(size);
        Self { parser: vt100::Parser::new(rows, cols, 0) }
    }

    /// Draws what a program wrote.
    pub fn push(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// Makes it another size, as the terminal is.
    pub fn resize(&mut self, size: Size) {
        let [rows, cols] = bounded(size);
        self.parser.screen_mut().set_size(rows, cols);
    }

    /// What is on it, without the empty lines at the end.
    #[must_use]
    pub fn text(&self) -> String {
        self.parser.screen().contents().trim_end().to_owned()
    }

    /// Where the cursor is: line and character, counted from 0.
    #[must_use]
    pub fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    /// Whether a program draws on the whole of it, so that the lines that it wrote make no sense
    /// as such.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.parser.screen().alternate_screen()
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("cursor", &self.cursor()).finish_non_exhaustive()
    }
}

fn bounded(size: Size) -> [NonZeroU16; 2] {
    [size.rows, size.cols].map(|it| NonZeroU16::new(it.min(MOST)).unwrap_or(NonZeroU16::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_full_screen_program_can_be_read() {
        let mut screen = Screen::new(Size { rows: 4, cols: 10 });
        screen.push(b"\x1b[?1049h\x1b[2J\x1b[1;1Htop\x1b[3;3H\x1b[7mload\x1b[m 1\x1b[2;1Hx");
        assert_eq!(screen.text(), "top\nx\n  load 1");
        assert_eq!((screen.cursor(), screen.is_full()), ((1, 1), true));
        screen.resize(Size { rows: 2, cols: 2000 });
        screen.push(b"\x1b[?1049l");
        assert!(!screen.is_full());
    }
}
