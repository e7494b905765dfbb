//! Pieces of text at places as lines of text.

/// A piece of text that was drawn in one go.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Where it begins and ends on the page.
    pub(super) start: (f64, f64),
    pub(super) end: (f64, f64),
    /// The direction it runs in; of length 1.
    pub(super) direction: (f64, f64),
    /// How large its characters are, in the same units.
    pub(super) size: f64,
}

/// The text of a page, in the order it is drawn in.
#[derive(Debug, Default)]
pub(super) struct Layout {
    out: String,
    last: Option<Piece>,
}

impl Layout {
    pub(super) fn add(&mut self, piece: Piece) {
        let numbers = [piece.start.0, piece.start.1, piece.end.0, piece.end.1, piece.size];
        if piece.text.is_empty() || !numbers.iter().all(|number| number.is_finite()) {
            return;
        }
        if let Some(last) = &self.last {
            // The same once more beside itself is how some programs make bold.
            if last.text == piece.text && distance(last.start, piece.start) < 0.2 * piece.size {
                return;
            }
            match gap(last, &piece) {
                Gap::None => {}
                // Blanks are often drawn, and often not.
                _ if self.out.ends_with(' ') && !matches!(gap(last, &piece), Gap::Line) => {}
                Gap::Blank if piece.text.starts_with(' ') => {}
                Gap::Blank => self.out.push(' '),
                Gap::Tab => self.out.push('\t'),
                Gap::Line => self.out.push('\n'),
            }
        }
        self.out.push_str(&piece.text);
        self.last = Some(piece);
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// The lines, without blanks at their ends.
    pub(super) fn finish(self) -> String {
        let lines: Vec<&str> = self.out.lines().map(str::trim_end).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }
}

enum Gap {
    None,
    Blank,
    Tab,
    Line,
}

/// What is between two pieces.
fn gap(last: &Piece, next: &Piece) -> Gap {
    let size = last.size.max(next.size).max(f64::MIN_POSITIVE);
    let (dx, dy) = (next.start.0 - last.end.0, next.start.1 - last.end.1);
    let (x, y) = last.direction;
    let (along, across) = ((dx * x + dy * y) / size, (dy * x - dx * y) / size);
    let turned = x * next.direction.0 + y * next.direction.1 < 0.9;
    if turned || across.abs() > 0.6 || along < -1.5 {
        Gap::Line
    } else if along > 1.0 {
        Gap::Tab
    } else if along > 0.16 {
        Gap::Blank
    } else {
        Gap::None
    }
}

fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn text(pieces: &[(&str, f64, f64)]) -> String {
        let mut layout = Layout::default();
        for (text, x, y) in pieces {
            let end = (x + 5.0 * text.chars().count() as f64, *y);
            let text = (*text).to_owned();
            layout.add(Piece { text, start: (*x, *y), end, direction: (1.0, 0.0), size: 10.0 });
        }
        layout.finish()
    }

    #[test]
    fn gaps_become_blanks_tabs_and_lines() {
        assert_eq!(text(&[("ab", 0.0, 100.0), ("c", 10.0, 100.0), ("d", 18.0, 100.0)]), "abc d");
        assert_eq!(text(&[("a ", 0.0, 100.0), ("b", 13.0, 101.0)]), "a b");
        assert_eq!(text(&[("a", 0.0, 100.0), ("b", 50.0, 100.0), ("c", 0.0, 88.0)]), "a\tb\nc");
        assert_eq!(text(&[("a", 0.0, 100.0), ("a", 0.5, 100.0), ("b", 5.0, 100.0)]), "ab");
        assert_eq!(text(&[("x", 0.0, 0.0), ("y", f64::NAN, 0.0), ("", 9.0, 9.0)]), "x");
    }
}
