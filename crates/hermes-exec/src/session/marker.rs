//! Taking the report of the wrapper out of the output of a command.

use memchr::memmem;

/// Most bytes of a folder in a report.
const LONGEST: usize = 4096 + 1;

/// Keeps back the end of the output, in which the report may stand.
#[derive(Debug)]
pub(super) struct Marked {
    marker: Vec<u8>,
    held: Vec<u8>,
}

impl Marked {
    pub(super) fn new(marker: &str) -> Self {
        Self { marker: marker.into(), held: Vec::new() }
    }

    /// Most bytes that are kept back: a report, and what a trap of the command's own says after it.
    fn room(&self) -> usize {
        2 * self.marker.len() + 2 * LONGEST
    }

    /// Takes output; passes on what can't belong to the report.
    pub(super) fn push(&mut self, bytes: &[u8], pass: &mut (dyn FnMut(&[u8]) + Send)) {
        let room = self.room();
        if bytes.len() >= room {
            pass(&self.held);
            self.held.clear();
            let (early, late) = bytes.split_at(bytes.len() - room);
            pass(early);
            self.held.extend_from_slice(late);
            return;
        }
        self.held.extend_from_slice(bytes);
        // Not for every little piece.
        if self.held.len() >= 2 * room {
            let late = self.held.split_off(self.held.len() - room);
            pass(&self.held);
            self.held = late;
        }
    }

    /// The end of the output: passes on what was kept back, and returns the report.
    pub(super) fn end(self, pass: &mut (dyn FnMut(&[u8]) + Send)) -> Option<String> {
        let Some((before, report, after)) = self.find() else {
            pass(&self.held);
            return None;
        };
        let report = String::from_utf8_lossy(report).into_owned();
        pass(before);
        pass(after);
        Some(report)
    }

    /// The output before the last pair of markers, what is between them, and the output after it.
    /// The line feeds around the pair belong to it.
    fn find(&self) -> Option<(&[u8], &[u8], &[u8])> {
        let close = memmem::rfind(&self.held, &self.marker)?;
        let open = memmem::rfind(self.held.get(..close)?, &self.marker)?;
        let report = self.held.get(open + self.marker.len()..close)?;
        let report = report.strip_suffix(b"\n").unwrap_or(report);
        if report.len() > LONGEST {
            return None;
        }
        let before = self.held.get(..open)?;
        let before = before.strip_suffix(b"\n").unwrap_or(before);
        let after = self.held.get(close + self.marker.len()..)?;
        let after = after.strip_prefix(b"\n").unwrap_or(after);
        Some((before, report, after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn run(pieces: &[&[u8]]) -> (Vec<u8>, Option<String>) {
        let mut said = Vec::new();
        let mut pass = |bytes: &[u8]| said.extend_from_slice(bytes);
        let mut marked = Marked::new("__M__");
        for piece in pieces {
            marked.push(piece, &mut pass);
        }
        let report = marked.end(&mut pass);
        (said, report)
    }

    #[test]
    fn reports_are_taken_out_however_they_arrive() {
        let long = [b"x".repeat(100_000), b"\n__M__c/d__M__\nbye\n".to_vec()].concat();
        let rest = [b"x".repeat(100_000), b"bye\n".to_vec()].concat();
        for size in [1, 7, 4096, 20_000, 200_000] {
            let pieces: Vec<&[u8]> = long.chunks(size).collect();
            assert_eq!(run(&pieces), (rest.clone(), Some("c/d".to_owned())), "{size}");
        }
        for (output, said, report) in [
            ("out\n\n__M__c/new__M__\n", "out\n", Some("c/new")),
            ("tail\n__M__s/d__M__\n", "tail", Some("s/d")),
            ("a__M__b", "a__M__b", None),
            ("none", "none", None),
            ("", "", None),
        ] {
            let expected = (said.as_bytes().to_vec(), report.map(str::to_owned));
            assert_eq!(run(&[output.as_bytes()]), expected, "{output}");
        }
    }
}
