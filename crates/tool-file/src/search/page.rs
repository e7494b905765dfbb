//! One page out of all that a content search finds.

use std::path::PathBuf;

use hermes_fs::search::{ContentQuery, Row, Scan};
use hermes_registry::ToolError;

use crate::fault::check_interrupt;
use crate::shown::Shown;
use crate::work::Work;

/// About how many characters the rows of a page may hold, the lines around them included.
const MAX_PAGE_CHARS: usize = 60_000;
/// What a row takes beside its lines: its path by name, its number and the punctuation.
const ROW_EXTRA: usize = 50;

/// The rows from number `offset` on, by file. They may be fewer than `limit` where they are long;
/// one there is, and lines around it are left out until it fits.
pub(crate) fn page(
    work: &Work<'_>,
    query: &ContentQuery<'_>,
    scan: &mut Scan,
    offset: usize,
    limit: usize,
) -> Result<Vec<(PathBuf, Vec<Row>)>, ToolError> {
    let (mut skip, mut left) = (offset as u64, limit);
    let shown = Shown::of(work.cx.settings());
    let mut chars = 0;
    let mut page = Vec::new();
    for hit in &scan.hits {
        if skip >= hit.count {
            skip -= hit.count;
            continue;
        }
        if left == 0 || chars >= MAX_PAGE_CHARS {
            break;
        }
        check_interrupt(work.cx)?;
        let in_file = usize::try_from(hit.count - skip).unwrap_or(usize::MAX);
        let take = left.min(in_file);
        let Ok(mut rows) = work.backend.rows(query, hit, skip, take, work.go()) else {
            // It is gone or closed since it was counted.
            scan.unreadable += 1;
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
