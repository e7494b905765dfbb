//! A text made ready for parsing: line continuations joined, here-documents lifted out, and the
//! extent of every quoted or substituted part known.
//!
//! One pass with a stack of its own, so that the time is linear and the depth of nesting costs
//! memory only.

use std::ops::Range;

/// What a nested part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nest {
    /// `$(` or a process substitution.
    Command,
    /// `$((`, `((` or `$[`.
    Arithmetic,
    /// `${`.
    Parameter,
    /// A backtick.
    Backtick,
    /// `"`.
    Double,
}

/// A here-document.
#[derive(Debug)]
pub(crate) struct Document {
    /// Where its operator stands in the text.
    at: usize,
    /// Whether the body is taken as it is.
    pub(crate) is_quoted: bool,
    /// The lines.
    pub(crate) body: String,
}

#[derive(Debug)]
struct Extent {
    start: usize,
    /// After the closing character.
    end: usize,
    kind: Nest,
}

/// A text made ready.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Without here-documents and joined lines.
    pub(crate) text: String,
    extents: Vec<Extent>,
    documents: Vec<Document>,
    /// Where the text was cut: an offset in it and the offset in what was read.
    cuts: Vec<(usize, usize)>,
    /// Offsets, in what was read, in front of which a NUL was left out.
    nuls: Vec<usize>,
    /// Whether something was left open at the end.
    pub(crate) is_unbalanced: bool,
    /// Whether a command or process is substituted.
    pub(crate) has_substitution: bool,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        Self::scan(text, None)
    }

    /// The body of a here-document, in which quotes mean nothing.
    pub(crate) fn data(text: &str) -> Self {
        Self::scan(text, Some(Nest::Double))
    }

    fn scan(text: &str, kind: Option<Nest>) -> Self {
        // A shell leaves them out, wherever they are.
        let nuls: Vec<usize> = memchr::memchr_iter(0, text.as_bytes())
            .enumerate()
            .map(|(before, at)| at - before)
            .collect();
        let without = (!nuls.is_empty()).then(|| text.replace('\0', ""));
        let text = without.as_deref().unwrap_or(text);
        let mut scan = Scan {
            bytes: text.as_bytes(),
            at: 0,
            from: 0,
            out: Self::default(),
            stack: vec![Mode::new(kind, usize::MAX)],
            waiting: Vec::new(),
        };
        scan.run(text);
        scan.out.nuls = nuls;
        scan.out
    }

    /// The end of the nested part that starts at `at`, and what it is.
    pub(crate) fn nested(&self, at: usize) -> Option<(usize, Nest)> {
        let index = self.extents.binary_search_by_key(&at, |it| it.start).ok()?;
        self.extents.get(index).map(|it| (it.end, it.kind))
    }

    /// All nested parts, in the order of their starts.
    pub(crate) fn all_nested(&self) -> impl Iterator<Item = (Range<usize>, Nest)> {
        self.extents.iter().map(|it| (it.start..it.end, it.kind))
    }

    /// The here-document of the operator at `at`.
    pub(crate) fn document(&self, at: usize) -> Option<&Document> {
        let index = self.documents.binary_search_by_key(&at, |it| it.at).ok()?;
        self.documents.get(index)
    }

    /// A range of the text in the original.
    pub(crate) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let map = |at: usize| {
            let after = self.cuts.partition_point(|(cut, _)| *cut <= at);
            let cut = after.checked_sub(1).and_then(|index| self.cuts.get(index));
            let at = cut.map_or(at, |(cut, original)| at - cut + original);
            at + self.nuls.partition_point(|nul| *nul <= at)
        };
        map(range.start)
            ..map(range.end.saturating_sub(1).max(range.start)) + usize::from(!range.is_empty())
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

/// A part that is being read.
struct Mode {
    /// None at the top.
    kind: Option<Nest>,
    /// The place in `extents`.
    extent: usize,
    /// Open parentheses.
    parens: usize,
    /// Open `case`s.
    cases: usize,
    /// Whether a command may start here.
    is_start: bool,
    /// Whether it ends with `]`: `$[`.
    is_bracket: bool,
}

impl Mode {
    const fn new(kind: Option<Nest>, extent: usize) -> Self {
        Self { kind, extent, parens: 0, cases: 0, is_start: true, is_bracket: false }
    }

    const fn is_command(&self) -> bool {
        matches!(self.kind, None | Some(Nest::Command))
    }
}

struct Waiting {
    at: usize,
    delimiter: String,
    is_quoted: bool,
    strip_tabs: bool,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the part that isn't copied yet starts.
    from: usize,
    out: Source,
    stack: Vec<Mode>,
    waiting: Vec<Waiting>,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Copies what was read.
    fn copy(&mut self, text: &str) {
        self.out.text.push_str(text.get(self.from..self.at).unwrap_or_default());
        self.from = self.at;
    }

    /// Leaves out `count` bytes.
    fn skip(&mut self, text: &str, count: usize) {
        self.copy(text);
        self.at += count;
        self.from = self.at;
        self.out.cuts.push((self.out.text.len(), self.at));
    }

    /// The offset in the text that is made.
    fn here(&self) -> usize {
        self.out.text.len() + (self.at - self.from)
    }

    fn open(&mut self, kind: Nest, length: usize) {
        let start = self.here();
        self.stack.push(Mode::new(Some(kind), self.out.extents.len()));
        self.out.extents.push(Extent { start, end: usize::MAX, kind });
        self.at += length;
    }

    fn close(&mut self, length: usize) {
        self.at += length;
        let end = self.here();
        if self.stack.len() > 1
            && let Some(mode) = self.stack.pop()
            && let Some(extent) = self.out.extents.get_mut(mode.extent)
        {
            extent.end = end;
            extent.kind = mode.kind.unwrap_or(extent.kind);
        }
    }

    fn run(&mut self, text: &str) {
        while let Some(byte) = self.peek(0) {
            let Some(mode) = self.stack.last() else { break };
            if byte == b'\\' {
                match self.peek(1) {
                    Some(b'\n') => self.skip(text, 2),
                    Some(b'\r') if self.peek(2) == Some(b'\n') => self.skip(text, 3),
                    Some(_) => {
                        self.word();
                        self.at += 2;
                    }
                    None => self.at += 1,
                }
                continue;
            }
            match byte {
                b'`' => self.backtick(),
                b'$' => self.dollar(),
                b'"' => {
                    if mode.kind == Some(Nest::Double) {
                        self.close(1);
                    } else {
                        self.word();
                        self.open(Nest::Double, 1);
                    }
                }
                b'\'' if mode.kind != Some(Nest::Double) && self.quotes_count() => self.single(),
                _ if mode.is_command() => self.command(text, byte),
                b'}' if mode.kind == Some(Nest::Parameter) => self.close(1),
                b'(' | b')' | b']' if mode.kind == Some(Nest::Arithmetic) => self.arithmetic(byte),
                _ => self.at += 1,
            }
        }
        self.at = self.bytes.len();
        self.copy(text);
        let end = self.out.text.len();
        self.out.is_unbalanced |= self.stack.len() > 1;
        for extent in &mut self.out.extents {
            if extent.end == usize::MAX {
                extent.end = end;
            }
        }
        // A document without an end is the rest of the text, or nothing.
        for waiting in std::mem::take(&mut self.waiting) {
            let Waiting { at, is_quoted, .. } = waiting;
            self.out.documents.push(Document { at, is_quoted, body: String::new() });
        }
        self.out.documents.sort_by_key(|it| it.at);
    }

    /// Whether single quotes quote: not in a parameter within double quotes.
    fn quotes_count(&self) -> bool {
        let mut modes = self.stack.iter().rev();
        match modes.next().and_then(|mode| mode.kind) {
            Some(Nest::Parameter) => !modes.next().is_some_and(|it| it.kind == Some(Nest::Double)),
            Some(Nest::Arithmetic) => false,
            _ => true,
        }
    }

    fn word(&mut self) {
        if let Some(mode) = self.stack.last_mut() {
            mode.is_start = false;
        }
    }

    fn single(&mut self) {
        self.word();
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        match memchr::memchr(b'\'', rest) {
            Some(length) => self.at += length + 2,
            None => {
                self.out.is_unbalanced = true;
                self.at = self.bytes.len();
            }
        }
    }

    fn ansi(&mut self) {
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\'' => return,
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.out.is_unbalanced = true;
    }

    fn backtick(&mut self) {
        self.word();
        self.out.has_substitution = true;
        self.open(Nest::Backtick, 1);
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' if self.peek(1).is_some() => self.at += 2,
                b'`' => return self.close(1),
                _ => self.at += 1,
            }
        }
    }

    fn dollar(&mut self) {
        self.word();
        let in_double = self.stack.last().is_some_and(|mode| mode.kind == Some(Nest::Double));
        match (self.peek(1), self.peek(2)) {
            (Some(b'('), Some(b'(')) => self.open(Nest::Arithmetic, 3),
            (Some(b'('), _) => {
                self.out.has_substitution = true;
                self.open(Nest::Command, 2);
            }
            // `${ cmd; }` and `${| cmd; }` run commands; they end like a parameter.
            (Some(b'{'), _) => self.open(Nest::Parameter, 2),
            (Some(b'['), _) => {
                self.open(Nest::Arithmetic, 2);
                if let Some(mode) = self.stack.last_mut() {
                    mode.is_bracket = true;
                }
            }
            (Some(b'\''), _) if !in_double => self.ansi(),
            _ => self.at += 1,
        }
    }

    fn arithmetic(&mut self, byte: u8) {
        let Some(mode) = self.stack.last_mut() else { return };
        match byte {
            b'(' => mode.parens += 1,
            b')' if mode.parens > 0 => mode.parens -= 1,
            b')' if mode.is_bracket => {}
            b')' if self.bytes.get(self.at + 1) == Some(&b')') => return self.close(2),
            // It was a subshell in a substitution after all.
            b')' => {
                mode.kind = Some(Nest::Command);
                mode.is_start = false;
                self.out.has_substitution = true;
            }
            _ if mode.is_bracket => return self.close(1),
            _ => {}
        }
        self.at += 1;
    }

    /// One character where commands are read.
    fn command(&mut self, text: &str, byte: u8) {
        let Some(mode) = self.stack.last_mut() else { return };
        match byte {
            b'\n' => {
                mode.is_start = true;
                self.at += 1;
                if !self.waiting.is_empty() {
                    self.bodies(text);
                }
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b';' | b'&' | b'|' => {
                mode.is_start = true;
                self.at += 1;
            }
            b'(' => {
                if mode.is_start && self.bytes.get(self.at + 1) == Some(&b'(') {
                    mode.is_start = false;
                    self.open(Nest::Arithmetic, 2);
                } else {
                    mode.parens += 1;
                    mode.is_start = true;
                    self.at += 1;
                }
            }
            b')' => {
                if mode.parens > 0 {
                    mode.parens -= 1;
                    mode.is_start = mode.cases > 0;
                    self.at += 1;
                } else if mode.kind.is_some() && mode.cases == 0 {
                    self.close(1);
                } else {
                    mode.is_start = true;
                    self.at += 1;
                }
            }
            b'<' | b'>' => self.angle(byte),
            b'#' if self.is_word_start() => {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            }
            _ if self.is_word_start() => self.plain_word(),
            _ => self.at += 1,
        }
    }

    fn is_word_start(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        before.is_none_or(|it| b" \t\r\n;&|()<>`".contains(it))
            || self.stack.last().is_some_and(|mode| {
                self.out
                    .extents
                    .get(mode.extent)
                    .is_some_and(|it| mode.kind.is_some() && it.start + 2 >= self.here())
            })
    }

    /// A word without quotes, which may be a reserved one.
    fn plain_word(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|it| b" \t\r\n;&|()<>`\"'\\$".contains(it))
            .unwrap_or(rest.len())
            .max(1);
        let word = rest.get(..length).unwrap_or_default();
        if let Some(mode) = self.stack.last_mut()
            && mode.is_start
        {
            match word {
                b"case" => {
                    mode.cases += 1;
                    mode.is_start = false;
                }
                b"esac" => {
                    mode.cases = mode.cases.saturating_sub(1);
                    mode.is_start = false;
                }
                b"if" | b"then" | b"else" | b"elif" | b"while" | b"until" | b"do" | b"{" | b"!"
                | b"time" => {}
                _ => mode.is_start = false,
            }
        } else if let Some(mode) = self.stack.last_mut()
            && mode.cases > 0
            && word == b"in"
        {
            mode.is_start = true;
        }
        // Whole characters only.
        self.at += length;
        while self.bytes.get(self.at).is_some_and(|it| it & 0xC0 == 0x80) {
            self.at += 1;
        }
    }

    fn angle(&mut self, byte: u8) {
        match (byte, self.peek(1), self.peek(2)) {
            (b'<', Some(b'<'), Some(b'<')) => self.at += 3,
            (b'<', Some(b'<'), _) => self.here_document(),
            (_, Some(b'('), _) => {
                self.word();
                self.out.has_substitution = true;
                self.open(Nest::Command, 2);
            }
            _ => self.at += 1,
        }
    }

    /// `<<` and its delimiter.
    fn here_document(&mut self) {
        let at = self.here();
        self.at += 2;
        let strip_tabs = self.peek(0) == Some(b'-');
        self.at += usize::from(strip_tabs);
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        let mut is_quoted = false;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\'' | b'"' => {
                    is_quoted = true;
                    let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
                    let length = memchr::memchr(byte, rest).unwrap_or(rest.len());
                    delimiter.extend_from_slice(rest.get(..length).unwrap_or_default());
                    self.at = (self.at + length + 2).min(self.bytes.len());
                }
                b'\\' => {
                    is_quoted = true;
                    delimiter.extend(self.peek(1));
                    self.at = (self.at + 2).min(self.bytes.len());
                }
                b'$' if matches!(self.peek(1), Some(b'\'' | b'"')) => self.at += 1,
                _ => {
                    delimiter.push(byte);
                    self.at += 1;
                }
            }
        }
        let delimiter = String::from_utf8_lossy(&delimiter).into_owned();
        self.waiting.push(Waiting { at, delimiter, is_quoted, strip_tabs });
    }

    /// The bodies of the documents that wait, from the start of a line on.
    fn bodies(&mut self, text: &str) {
        let start = self.at;
        self.copy(text);
        for waiting in std::mem::take(&mut self.waiting) {
            let mut body = String::new();
            let mut is_ended = false;
            while self.at < self.bytes.len() {
                let rest = text.get(self.at..).unwrap_or_default();
                let length = memchr::memchr(b'\n', rest.as_bytes());
                let line = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
                self.at += length.map_or(rest.len(), |it| it + 1);
                let line = if waiting.strip_tabs { line.trim_start_matches('\t') } else { line };
                let bare = line.strip_suffix('\r').unwrap_or(line);
                if bare == waiting.delimiter {
                    is_ended = true;
                    break;
                }
                // `EOF)` ends a document in a substitution, with a warning.
                if length.is_none()
                    && let Some(rest) = bare.strip_prefix(waiting.delimiter.as_str())
                    && !waiting.delimiter.is_empty()
                    && rest.starts_with([')', '"', '`'])
                {
                    self.at -= rest.len() + (line.len() - bare.len());
                    is_ended = true;
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            self.out.is_unbalanced |= !is_ended;
            let Waiting { at, is_quoted, .. } = waiting;
            if !is_quoted {
                body = body.replace("\\\n", "");
            }
            self.out.documents.push(Document { at, is_quoted, body });
        }
        if self.at > start {
            self.from = self.at;
            self.out.cuts.push((self.out.text.len(), self.at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_lifted() {
        let source = Source::new("cat <<A <<-'B' | sh\nx\nA\n\ty\n\tB\necho");
        assert_eq!(source.text, "cat <<A <<-'B' | sh\necho");
        assert_eq!(source.document(4).unwrap().body, "x\n");
        assert!(!source.document(4).unwrap().is_quoted);
        assert_eq!(source.document(8).unwrap().body, "y\n");
        assert!(source.document(8).unwrap().is_quoted);
        assert!(!source.is_unbalanced);
        assert_eq!(source.original(&(20..24)), 30..34);
    }

    #[test]
    fn extents() {
        for (text, start, part) in [
            ("echo $(case a in a) x;; esac) b", 5, "$(case a in a) x;; esac)"),
            ("echo $(echo case) b", 5, "$(echo case)"),
            ("echo \"$(cat <<E\n)\nE\n)\" b", 6, "$(cat <<E\n)"),
            ("echo ${x:-$(a \")\")} b", 5, "${x:-$(a \")\")}"),
            ("echo $((1<<2)) b", 5, "$((1<<2))"),
            ("echo $((a); b) b", 5, "$((a); b)"),
            ("echo `a \\` )` b", 5, "`a \\` )`"),
            ("cat <(a (b)) c", 4, "<(a (b))"),
            ("echo $(# )\n) b", 5, "$(# )\n)"),
        ] {
            let source = Source::new(text);
            let (end, _) = source.nested(start).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(source.slice(start..end), part, "{text}");
            assert!(!source.is_unbalanced, "{text}");
        }
    }

    #[test]
    fn what_is_left_open() {
        for text in ["'a", "\"a", "$(a", "${a", "`a", "cat <<E\nx", "$'a"] {
            assert!(Source::new(text).is_unbalanced, "{text}");
        }
    }
}
