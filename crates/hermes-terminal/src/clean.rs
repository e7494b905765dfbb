//! From what a program writes to text for people and models.

use crate::{Decoder, Settler, Stripper};

/// Turns bytes into text without escape sequences, in which each line has its last state: a
/// [`Decoder`], a [`Stripper`] and a [`Settler`].
///
/// ```
/// let mut cleaner = hermes_terminal::Cleaner::default();
/// let mut text = String::new();
/// cleaner.push(b"\x1b[1m50 %\r100 %\x1b[0m\n$ ", &mut |part| text.push_str(part));
/// assert_eq!((text.as_str(), cleaner.open_line()), ("100 %\n", "$ "));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cleaner {
    decoder: Decoder,
    stripper: Stripper,
    settler: Settler,
}

impl Cleaner {
    /// Reads the next bytes, and gives `out` the text that won't change any more.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) {
        let Self { decoder, stripper, settler } = self;
        decoder.push(bytes, &mut |text| {
            stripper.push(text, &mut |text| settler.push(text, out));
        });
    }

    /// Gives `out` what was left open at the end.
    pub fn finish(&mut self, out: &mut impl FnMut(&str)) {
        let Self { decoder, stripper, settler } = self;
        decoder.finish(&mut |text| stripper.push(text, &mut |text| settler.push(text, out)));
        stripper.finish(&mut |text| settler.push(text, out));
        settler.finish(out);
    }

    /// The last line as it looks now, if it isn't ended.
    #[must_use]
    pub fn open_line(&self) -> &str {
        self.settler.open_line()
    }
}
