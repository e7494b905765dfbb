//! One page out of all that a content search finds.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hermes_registry::{ToolContext, ToolError};

use super::content::{self, Row};
use super::pattern::Pattern;
use super::walk::{self, Files};
use crate::fault::check_interrupt;
use crate::guard;
use crate::shown::Shown;

/// How many results a search counts before it stops.
const SCAN_CAP: u64 = 10_000;
/// How many files are searched between two looks at what was found.
const BATCH: usize = 512;
/// About how many characters the rows of a page may hold, the lines around them included.
const MAX_PAGE_CHARS: usize = 60_000;
/// What a row takes beside its lines: its path by name, its number and the punctuation.
const ROW_EXTRA: usize = 50;

/// How many files that couldn't be searched are named.
const MAX_NAMED: usize = 5;

/// What counts as a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Matching lines.
    Lines,
    /// Files with a matching line.
    Files,
}

/// The files with matching lines, by path.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) hits: Vec<Hit>,
    pub(crate) searched: usize,
    pub(crate) unreadable: usize,
    /// The first of the files among them, with the reason.
    pub(crate) skipped: Vec<(PathBuf, String)>,
    /// Matching lines in files whose content isn't shown.
    pub(crate) omitted: u64,
    /// Why not everything was searched.
    pub(crate) limit_reason: Option<&'static str>,
}

/// A file with matching lines.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) path: PathBuf,
    pub(crate) count: u64,
}

/// Counts what there is, in the order of paths, up to the cap.
pub(crate) fn scan(
    cx: &ToolContext,
    pattern: &Pattern,
    files: Files,
    unit: Unit,
    deadline: Instant,
) -> Result<Scan, ToolError> {
    let mut scan = Scan {
        unreadable: files.unreadable,
        limit_reason: if files.timed_out {
            Some("search_timeout")
        } else {
            files.capped.then_some("scan_cap")
        },
        ..Scan::default()
    };
    let mut paths: Vec<PathBuf> =
        files.entries.into_iter().map(ignore::DirEntry::into_path).collect();
    paths.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    let secrets = guard::Secrets::of(cx);
    let goes_on = || cx.check_interrupt().is_ok() && Instant::now() < deadline;
    let mut found = 0;
    for batch in paths.chunks(BATCH) {
        let batch: Vec<_> = batch.iter().map(PathBuf::as_path).collect();
        let counts = content::count_all(pattern, &batch, walk::threads(), goes_on);
        check_interrupt(cx)?;
        let complete = counts.len() == batch.len();
        scan.searched += counts.len();
        for (path, count) in batch.into_iter().zip(counts) {
            let count = match count {
                Ok(count) => count,
                Err(err) => {
                    scan.skip(path, &err);
                    continue;
                }
            };
            if count == 0 {
                continue;
            }
            if secrets.hide(path) {
                scan.omitted += count;
                continue;
            }
            let worth = if unit == Unit::Files { 1 } else { count };
            let room = SCAN_CAP - found;
            if worth > room {
                scan.limit_reason = Some("scan_cap");
                if room > 0 {
                    scan.hits.push(Hit { path: path.to_owned(), count: room });
                }
                return Ok(scan);
            }
            found += worth;
            scan.hits.push(Hit { path: path.to_owned(), count });
        }
        if !complete {
            scan.limit_reason = Some("search_timeout");
            return Ok(scan);
        }
    }
    Ok(scan)
}

impl Scan {
    fn skip(&mut self, path: &Path, err: &io::Error) {
        self.unreadable += 1;
        if self.skipped.len() < MAX_NAMED {
            self.skipped.push((path.to_owned(), err.to_string()));
        }
    }

    /// How many matching lines there are.
    pub(crate) fn lines(&self) -> u64 {
        self.hits.iter().map(|hit| hit.count).sum()
    }

    /// The rows from number `offset` on, by file. They may be fewer than `limit` where they are
    /// long; one there is, and lines around it are left out until it fits.
    pub(crate) fn rows(
        &mut self,
        cx: &ToolContext,
        pattern: &Pattern,
        offset: usize,
        limit: usize,
        context: usize,
    ) -> Result<Vec<(PathBuf, Vec<Row>)>, ToolError> {
        let (mut skip, mut left) = (offset as u64, limit);
        let shown = Shown::of(cx.settings());
        let mut chars = 0;
        let mut page = Vec::new();
        for hit in &self.hits {
            if skip >= hit.count {
                skip -= hit.count;
                continue;
            }
            if left == 0 || chars >= MAX_PAGE_CHARS {
                break;
            }
            check_interrupt(cx)?;
            let in_file = usize::try_from(hit.count - skip).unwrap_or(usize::MAX);
            let Ok(mut rows) = content::rows(pattern, &hit.path, skip, left.min(in_file), context)
            else {
                // It is gone or closed since it was counted.
                self.unreadable += 1;
                continue;
            };
            skip = 0;
            rows.iter_mut().for_each(|row| shown.row(row));
            if page.is_empty()
                && let Some(first) = rows.first_mut()
            {
                first.shrink(MAX_PAGE_CHARS - ROW_EXTRA);
            }
            let extra = hit.path.as_os_str().len() + ROW_EXTRA;
            let (found, mut used) = (rows.len(), chars);
            let fit = rows
                .iter()
                .take_while(|row| {
                    let is_first = used == 0;
                    used += row.chars() + extra;
                    let fits = is_first || used <= MAX_PAGE_CHARS;
                    chars = if fits { used } else { MAX_PAGE_CHARS };
                    fits
                })
                .count();
            rows.truncate(fit);
            left -= rows.len();
            if !rows.is_empty() {
                page.push((hit.path.clone(), rows));
            }
            if fit < found {
                break;
            }
        }
        Ok(page)
    }
}
