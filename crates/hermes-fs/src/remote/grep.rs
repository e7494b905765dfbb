//! Searching lines where there is no `rg`: `grep` picks files that may have one, and they are
//! searched here. So patterns mean the same as everywhere.

use std::path::{Path, PathBuf};

use super::find::Listed;
use super::literal;
use super::script::{Script, bytes_of};
use super::{RemoteFs, base64, time_left};
use crate::backend::GoesOn;
use crate::error::FsError;
use crate::local::search_bytes;
use crate::search::rows::Rows;
use crate::search::tally::Tally;
use crate::search::{ContentQuery, FileQuery, Limit, Scan};
use crate::secrets::hidden;

/// The largest file that is fetched.
const MAX_FILE: usize = 8 * 1024 * 1024;
/// The most bytes of all files that are fetched, as digits.
const MAX_ALL: usize = 128 * 1024 * 1024;

/// Tells the content of files whose names come in stdin and in which `grep` finds something.
/// Texts in UTF-16 are always told: `grep` can't read them.
const FETCH: &str = r#"if printf 'eA==' | base64 -d >/dev/null 2>&1; then decode=-d; else decode=-D; fi
if [ -n "$pattern" ]; then
  grep -E -e "$pattern" -- /dev/null >/dev/null 2>&1
  [ $? -gt 1 ] && pattern=
fi
export pattern max
fetch='[ -z "$pattern" ] || grep -qE -e "$pattern" -- "$@" </dev/null 2>/dev/null || exit 0
for file do
  [ -r "$file" ] || { printf "@closed\n"; printf %s "$file" | base64; continue; }
  [ -z "$pattern" ] || grep -qE -e "$pattern" -- "$file" 2>/dev/null || continue
  printf "@file\n"; printf %s "$file" | base64; printf "@bytes\n"; head -c "$max" < "$file" | base64
done'
{ base64 $decode | xargs -0 -n 50 sh -c "$fetch" sh; say all; } | head -c "$len"
printf '\n'; say cut
"#;

impl RemoteFs {
    pub(super) fn scan_with_grep(
        &self,
        query: &ContentQuery<'_>,
        go: GoesOn<'_>,
    ) -> Result<Scan, FsError> {
        let ContentQuery { root, glob, deadline, pattern, .. } = *query;
        let listed = self.list_files(&FileQuery { root, glob, deadline }, false, go)?;
        let Listed { mut paths, unreadable, limit, .. } = listed;
        paths.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        let mut tally = Tally::new(query.unit, query.cap);
        tally.scan.unreadable = unreadable;
        tally.scan.limit = limit;
        tally.scan.searched = Some(paths.len());
        tally.scan.warning = Some(
            "searched with grep, since there is no rg that could do it: slower, files above 8 MiB are left \
             out, and hidden files are passed over even where an ignore rule lets them through"
                .to_owned(),
        );
        let wanted = if pattern.multi_line { None } else { literal::lines(&pattern.text) };
        let utf16 = b"^\xFF\xFE|^\xFE\xFF|".as_slice();
        let wanted = wanted.map(|text| [utf16, &text].concat()).unwrap_or_default();

        let mut names = Vec::new();
        for path in &paths {
            names.extend(bytes_of(path));
            names.push(0);
        }
        let max = MAX_FILE + 1;
        let mut script = Script::new(&format!("len={MAX_ALL}; max={max}\n"));
        let word = script.word(&wanted);
        script.add(&format!("pattern={word}"));
        script.add(FETCH);
        if paths.is_empty() {
            return Ok(tally.scan);
        }
        let answer = self.ask_within(script, &base64::encode(&names), time_left(deadline), go);
        let mut answer = answer.map_err(|err| FsError::io("search", root, err))?;
        if !answer.iter().any(|part| part.head == "all") {
            tally.scan.limit = Some(Limit::Cap);
            // Before the mark is the part that was cut.
            answer.truncate(answer.len().saturating_sub(2));
        }
        let mut found = Vec::new();
        let mut answer = answer.into_iter();
        while let Some(part) = answer.next() {
            match part.head.as_str() {
                "closed" => tally.skip(part.path(), "permission denied".to_owned()),
                "file" => {
                    let Some(content) = answer.next() else { break };
                    found.extend(look(query, part.path(), &content.bytes, &mut tally));
                }
                _ => {}
            }
        }
        let paths: Vec<&Path> = found.iter().map(|(path, _)| path.as_path()).collect();
        let hidden = hidden(self, query.places, &paths, go);
        for ((path, rows), hidden) in found.into_iter().zip(hidden) {
            let count = rows.len() as u64;
            if hidden {
                tally.scan.omitted += count;
            } else if !tally.push(path, count, Some(rows)) {
                break;
            }
        }
        Ok(tally.scan)
    }
}

/// The rows of a file that was fetched; none where there are none.
fn look(
    query: &ContentQuery<'_>,
    path: PathBuf,
    bytes: &[u8],
    tally: &mut Tally,
) -> Option<(PathBuf, Vec<crate::search::Row>)> {
    if bytes.len() > MAX_FILE {
        tally.skip(path, "larger than 8 MiB".to_owned());
        return None;
    }
    let rows = Rows::new(query.show, 0, usize::MAX, query.context);
    match search_bytes(query.pattern, bytes, query.context, rows) {
        Ok(rows) if rows.is_empty() => None,
        Ok(rows) => Some((path, rows)),
        Err(err) => {
            tally.skip(path, err.to_string());
            None
        }
    }
}
