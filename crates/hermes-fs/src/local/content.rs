//! Searching in files: counting in all of them, then reading the rows of one page.

use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};

use super::open::open;
use crate::search::rows::Rows;
use crate::search::{Pattern, Row};

/// The most memory for one line, or for one file where matches go over lines.
const MAX_HEAP: usize = 32 * 1024 * 1024;

fn searcher(pattern: &Pattern, context: usize) -> Searcher {
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(true)
        .line_terminator(LineTerminator::crlf())
        .multi_line(pattern.multi_line)
        .heap_limit(Some(MAX_HEAP))
        .binary_detection(BinaryDetection::quit(0))
        .before_context(context)
        .after_context(context);
    builder.build()
}

/// Counts the matching lines of each file, on several threads. Files that can't be read have none
/// and are told apart by an error.
pub(super) fn count_all(
    pattern: &Pattern,
    files: &[&Path],
    threads: usize,
    goes_on: impl Fn() -> bool + Sync,
) -> Vec<io::Result<u64>> {
    let next = AtomicUsize::new(0);
    let counts: Mutex<Vec<(usize, io::Result<u64>)>> = Mutex::new(Vec::with_capacity(files.len()));
    let work = || {
        let mut searcher = searcher(pattern, 0);
        let mut own = Vec::new();
        while let Some((index, file)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            files.get(index).map(|file| (index, file))
        } {
            if !goes_on() {
                break;
            }
            own.push((index, count(&mut searcher, pattern, file)));
        }
        if let Ok(mut counts) = counts.lock() {
            counts.append(&mut own);
        }
    };
    let helpers = threads.min(files.len()).saturating_sub(1);
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            // Where no thread can be had, the others do its work.
            let _ = std::thread::Builder::new().name("search".into()).spawn_scoped(scope, work);
        }
        work();
    });
    let mut counts = counts.into_inner().unwrap_or_default();
    counts.sort_unstable_by_key(|(index, _)| *index);
    counts.into_iter().map(|(_, count)| count).collect()
}

/// How many lines of a file match; none when it is binary.
fn count(searcher: &mut Searcher, pattern: &Pattern, file: &Path) -> io::Result<u64> {
    let mut sink = Counter { count: 0 };
    search(searcher, pattern, file, &mut sink)?;
    Ok(sink.count)
}

/// The rows of a file that `rows` wants.
pub(super) fn rows(
    pattern: &Pattern,
    file: &Path,
    context: usize,
    rows: Rows,
) -> io::Result<Vec<Row>> {
    let mut sink = Collector { matcher: &pattern.matcher, rows };
    search(&mut searcher(pattern, context), pattern, file, &mut sink)?;
    Ok(sink.rows.finish())
}

/// The rows of a content that is at hand.
pub(crate) fn search_bytes(
    pattern: &Pattern,
    bytes: &[u8],
    context: usize,
    rows: Rows,
) -> io::Result<Vec<Row>> {
    if holds_nul(bytes)? {
        return Ok(Vec::new());
    }
    let mut sink = Collector { matcher: &pattern.matcher, rows };
    searcher(pattern, context).search_reader(&pattern.matcher, bytes, &mut sink)?;
    Ok(sink.rows.finish())
}

fn search<S: Sink<Error = io::Error>>(
    searcher: &mut Searcher,
    pattern: &Pattern,
    path: &Path,
    sink: S,
) -> io::Result<()> {
    let mut file = open(path)?;
    if pattern.multi_line {
        if file.metadata()?.len() > MAX_HEAP as u64 {
            return Err(io::Error::other(
                "larger than 32 MiB, the most for a pattern that goes over lines",
            ));
        }
        // A text that is held as a whole is looked at for NULs around matches only.
        if holds_nul(&mut file)? {
            return Ok(());
        }
        file.rewind()?;
    }
    searcher.search_file(&pattern.matcher, &file, sink)
}

/// Whether there is a NUL in a stream that isn't UTF-16.
fn holds_nul(mut file: impl Read) -> io::Result<bool> {
    let mut piece = vec![0; 64 * 1024];
    let mut first = true;
    loop {
        let read = file.read(&mut piece)?;
        let read = piece.get(..read).unwrap_or_default();
        let is_utf16 = first && (read.starts_with(b"\xFF\xFE") || read.starts_with(b"\xFE\xFF"));
        if read.is_empty() || is_utf16 {
            return Ok(false);
        }
        if memchr::memchr(0, read).is_some() {
            return Ok(true);
        }
        first = false;
    }
}

struct Counter {
    count: u64,
}

impl Sink for &mut Counter {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        if finish.binary_byte_offset().is_some() {
            self.count = 0;
        }
        Ok(())
    }
}

struct Collector<'a> {
    matcher: &'a RegexMatcher,
    rows: Rows,
}

impl Sink for &mut Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let Collector { matcher, rows } = &mut **self;
        rows.matched(found.line_number().unwrap_or(1), found.bytes(), || {
            matcher.find(found.bytes()).ok().flatten().map_or(0, |span| span.start())
        });
        // The rest of the file is still to be looked at for a NUL.
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.rows.passed(context.line_number().unwrap_or(1), context.bytes());
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        if finish.binary_byte_offset().is_some() {
            self.rows.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Excerpt;
    use pretty_assertions::assert_eq;

    fn show(line: &[u8], found: usize) -> Excerpt {
        let text = String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
        Excerpt { text, column: (found > 0).then_some(found + 1) }
    }

    fn found(content: &[u8], pattern: &str, context: usize) -> Vec<Row> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let pattern = Pattern::new(pattern).unwrap();
        let wanted = Rows::new(show, 0, 100, context);
        let rows = rows(&pattern, file.path(), context, wanted).unwrap();
        let counts = count_all(&pattern, &[file.path()], 2, || true);
        assert_eq!(*counts[0].as_ref().unwrap(), rows.len() as u64);
        rows
    }

    fn lines(content: &[u8], pattern: &str) -> Vec<(u64, String)> {
        found(content, pattern, 0).into_iter().map(|row| (row.line, row.text)).collect()
    }

    #[test]
    fn rows_are_lines() {
        assert_eq!(lines(b"a\r\nneedle\r\n", "needle$"), [(2, "needle".into())]);
        assert_eq!(lines(b"x a a\nb\na", "a"), [(1, "x a a".into()), (3, "a".into())]);
        assert_eq!(lines(b"caf\xE9 x\n", "x"), [(1, "caf\u{fffd} x".into())]);
        assert_eq!(lines(b"\xFF\xFEh\0i\0\n\0", "hi"), [(1, "hi".into())]);
        assert_eq!(lines(b"\xEF\xBB\xBFhi", "^hi"), [(1, "hi".into())]);
        assert_eq!(lines(b"", "").len(), 0);
        let far = found(format!("a\n{}hit\n", "x".repeat(1000)).as_bytes(), "hit", 1);
        assert_eq!((far[0].line, far[0].column), (2, Some(1001)));
    }

    #[test]
    fn a_file_with_a_nul_has_no_rows_wherever_it_is() {
        let mut far = b"needle\n".repeat(50_000);
        far.push(0);
        for pattern in ["needle", "needle\\nneedle"] {
            assert_eq!(found(b"needle\nneedle\n\0", pattern, 0), []);
            assert_eq!(found(&far, pattern, 0), []);
        }
    }

    #[test]
    fn matches_over_lines_are_rows_of_their_first_line() {
        let rows = found(b"a\nb\nc\nx\na\nb\n", "a\\nb", 1);
        let spans: Vec<_> = rows.iter().map(|row| (row.line, row.end_line)).collect();
        assert_eq!(spans, [(1, 2), (5, 6)]);
        assert_eq!((rows[0].text.as_str(), &rows[0].after), ("a", &vec!["c".to_owned()]));
        assert_eq!(rows[1].before, ["x"]);
    }

    #[test]
    fn every_row_has_its_own_context() {
        let rows = found(b"1\n2\nx3\n4\nx5\n6\n7\n", "x", 2);
        assert_eq!(
            (rows[0].before.join(","), rows[0].after.join(",")),
            ("1,2".into(), "4,x5".into())
        );
        assert_eq!(
            (rows[1].before.join(","), rows[1].after.join(",")),
            ("x3,4".into(), "6,7".into())
        );
    }
}
