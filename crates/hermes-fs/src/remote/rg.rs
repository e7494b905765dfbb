//! Searching lines with `rg`, and reading the events that it tells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::find::{ROOT, globs, number};
use super::script::{Script, parts, path_of};
use super::{RemoteFs, base64, reply, time_left};
use crate::backend::{FileBackend, GoesOn};
use crate::error::FsError;
use crate::search::rows::Rows;
use crate::search::tally::Tally;
use crate::search::{ContentQuery, Limit, Scan};
use crate::secrets::hidden;

/// The most bytes of events. What is behind them isn't found.
const MAX_EVENTS: usize = 64 * 1024 * 1024;

/// Runs `rg` where there is one.
const SEARCH: &str = r#"command -v rg >/dev/null 2>&1 || { say none; say end; exit 0; }
errors=$(mktemp -- "${TMPDIR:-/tmp}/hermes-XXXXXX" 2>/dev/null) || errors=/dev/null
search() {
  say events; { rg --no-config --no-ignore-global --json --no-mmap --crlf --case-sensitive --regex-size-limit=16M --dfa-size-limit=16M "$@" 2>"$errors"; } | head -c "$len" | base64
  [ "$errors" = /dev/null ] && return
  tell unreadable "$(grep -c . "$errors")"; rm -f -- "$errors"
}
"#;

/// Tells which files hold a NUL.
const BINARY: &str = r#"binary() {
  for path do
    if [ "$(($(tr -cd '\000' < "$path" | head -c 1 | wc -c)))" = 0 ]; then say text; else say binary; fi
  done
}
"#;

/// What was told of one file.
struct File {
    rows: Rows,
    count: u64,
}

impl RemoteFs {
    /// None when there is no `rg` that can do it.
    pub(super) fn scan_with_rg(
        &self,
        query: &ContentQuery<'_>,
        go: GoesOn<'_>,
    ) -> Result<Option<Scan>, FsError> {
        let root = query.root;
        if self.is_kernel_state(&root.join("x")) && !self.is_file(root, go)? {
            return Ok(Some(Scan { searched: Some(0), ..Scan::default() }));
        }
        let mut script = Script::new(&format!("{ROOT}len={MAX_EVENTS}\n{SEARCH}"));
        let word = script.path(root);
        // No argument can hold one.
        let pattern = script.word(query.pattern.text.replace('\0', r"\x00").as_bytes());
        let globs = globs(&mut script, root, query.glob);
        let multi_line = if query.pattern.multi_line { "--multiline" } else { "" };
        script.add(&format!("root {word}"));
        script.add(&format!(
            "search {multi_line} --context={} {globs} -e {pattern} -- {word}",
            query.context
        ));
        let answer = self.ask_within(script, &[], time_left(query.deadline), go);
        let answer = answer.map_err(|err| FsError::io("search", root, err))?;
        if let Some(err) = reply::failure(&answer) {
            return Err(err);
        }
        let find = |head: &str| answer.iter().find(|part| part.head == head);
        let Some(events) = find("events").map(|part| part.bytes.as_slice()) else {
            return Ok(None);
        };
        let mut told = Told { query, files: BTreeMap::new(), searched: None };
        for line in events.split(|&byte| byte == b'\n') {
            // The last one may be cut.
            if let Ok(event) = serde_json::from_slice(line) {
                told.take(&event);
            }
        }
        if events.is_empty() {
            // It doesn't take the pattern or an option: it is another version.
            return Ok(None);
        }
        let mut tally = Tally::new(query.unit, query.cap);
        tally.scan.searched = told.searched;
        tally.scan.unreadable = find("unreadable").map(number).unwrap_or_default();
        if events.len() >= MAX_EVENTS {
            tally.scan.limit = Some(Limit::Cap);
        }
        self.count(query, told.files, &mut tally, go)?;
        Ok(Some(tally.scan))
    }

    fn count(
        &self,
        query: &ContentQuery<'_>,
        mut files: BTreeMap<PathBuf, File>,
        tally: &mut Tally,
        go: GoesOn<'_>,
    ) -> Result<(), FsError> {
        files.retain(|_, file| file.count > 0);
        let mut found: Vec<(PathBuf, File)> = files.into_iter().collect();
        found.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
        if query.pattern.multi_line {
            // A text that is held as a whole is looked at for NULs around matches only.
            let paths: Vec<&Path> = found.iter().map(|(path, _)| path.as_path()).collect();
            let mut binary = self.which_are_binary(&paths, go)?.into_iter();
            found.retain(|_| !binary.next().unwrap_or_default());
        }
        let paths: Vec<&Path> = found.iter().map(|(path, _)| path.as_path()).collect();
        let hidden = hidden(self, query.places, &paths, go);
        for ((path, file), hidden) in found.into_iter().zip(hidden) {
            if hidden {
                tally.scan.omitted += file.count;
            } else if !tally.push(path, file.count, Some(file.rows.finish())) {
                break;
            }
        }
        Ok(())
    }

    fn which_are_binary(&self, files: &[&Path], go: GoesOn<'_>) -> Result<Vec<bool>, FsError> {
        let mut binary = Vec::new();
        for part in parts(files) {
            let mut script = Script::new(BINARY);
            script.call("binary", part);
            let answer = self.ask(script, &[], go);
            let first = part.first().copied().unwrap_or(Path::new("/"));
            let answer = answer.map_err(|err| FsError::io("search", first, err))?;
            binary.extend(answer.iter().map(|part| part.head == "binary"));
        }
        Ok(binary)
    }
}

/// What the events told so far.
struct Told<'a> {
    query: &'a ContentQuery<'a>,
    files: BTreeMap<PathBuf, File>,
    searched: Option<usize>,
}

impl Told<'_> {
    fn take(&mut self, event: &Value) {
        let data = event.get("data").unwrap_or(&Value::Null);
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "summary" {
            let searched = data.pointer("/stats/searches").and_then(Value::as_u64);
            self.searched = searched.and_then(|count| usize::try_from(count).ok());
            return;
        }
        let Some(path) = bytes(data.get("path")).map(path_of) else { return };
        if kind == "end" {
            if data.get("binary_offset").is_some_and(|offset| !offset.is_null()) {
                self.files.remove(&path);
            }
            return;
        }
        let query = self.query;
        let Some(lines) = bytes(data.get("lines")) else { return };
        let line = data.get("line_number").and_then(Value::as_u64).unwrap_or(1);
        let file = self.files.entry(path).or_insert_with(|| File {
            rows: Rows::new(query.show, 0, usize::MAX, query.context),
            count: 0,
        });
        if kind == "match" {
            let start = data.pointer("/submatches/0/start").and_then(Value::as_u64);
            let start = start.and_then(|start| usize::try_from(start).ok()).unwrap_or_default();
            file.count += 1;
            file.rows.matched(line, &lines, || start);
        } else {
            file.rows.passed(line, &lines);
        }
    }
}

/// A text, or bytes that are none.
fn bytes(value: Option<&Value>) -> Option<Vec<u8>> {
    let value = value?;
    match value.get("text").and_then(Value::as_str) {
        Some(text) => Some(text.as_bytes().to_vec()),
        None => base64::decode(value.get("bytes")?.as_str()?.as_bytes()),
    }
}
