//! Finding files: with `rg` where there is one, else with `find`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::ignored::{Around, Rules};
use super::reply::Part;
use super::script::{Script, bytes_of, path_of};
use super::{RemoteFs, base64, facts, reply, time_left};
use crate::backend::{FileBackend, GoesOn};
use crate::error::FsError;
use crate::search::{FileQuery, Files, Found, Glob, Limit, MAX_FILES};

/// The most bytes of a list. What is behind them isn't found.
const MAX_LIST: usize = 64 * 1024 * 1024;

/// Refuses a root where there is nothing that may be looked at, and goes there.
pub(super) const ROOT: &str = r#"root() {
  if [ -d "$1" ]; then folder=$1; else folder=${1%/*}; fi
  if [ ! -r "$1" ] || ! cd -- "${folder:-/}"; then
    tell 'fail io search' "$1"; tell message "$(ls -ld -- "$1" 2>&1 >/dev/null || echo 'Permission denied')"; say end; exit 0
  fi
}
"#;

/// Lists files, the ones that `rg` would search where it is there.
const LIST: &str = r#"errors=$(mktemp -- "${TMPDIR:-/tmp}/hermes-XXXXXX" 2>/dev/null) || errors=/dev/null
complaints() { [ "$errors" = /dev/null ] && return; tell unreadable "$(grep -c . "$errors")"; rm -f -- "$errors"; }
with_rg() {
  say rg; { rg --no-config --no-ignore-global --files --null "$@" 2>"$errors"; } | head -c "$len" | base64
  complaints
}
with_find() {
  start=${root%/}/.
  [ -f "$root" ] && start=$root
  set -- -type d '(' -name '.?*' -o -path '/./proc/?*' -o -path '/./sys/?*' ')' -prune -o
  say find; find "$start" "$@" -type f -print0 2>"$errors" | head -c "$len" | base64
  complaints
  [ -f "$root" ] && start=${root%/*}
  folder=$root
  while :; do
    marks "${folder%/}"
    [ -n "$folder" ] || break
    folder=${folder%/*}
  done
  [ -f "$root" ] && return
  find "$start" -name .git -prune -print0 -o "$@" '(' -name .gitignore -o -name .ignore ')' -print0 2>/dev/null |
    xargs -0 sh -c "$rules" sh
}
# What there is in a folder that has to do with ignoring.
marks() {
  for name in .ignore .gitignore .git; do
    [ -e "$1/$name" ] && rule "$1/$name"
  done
}
"#;

/// Tells of one such file; for the shell above and for the one below.
const RULE: &str = r#"rule() {
  text=$1
  case $1 in */.git) text=$1/info/exclude ;; esac
  printf "@rules\n"; printf %s "$1" | base64
  printf "@text\n"
  if [ -f "$text" ] && [ -r "$text" ]; then head -c 65536 < "$text" | base64; fi
}
"#;

/// Dates files, whose names come in stdin.
const DATE: &str = r#"if printf 'eA==' | base64 -d >/dev/null 2>&1; then decode=-d; else decode=-D; fi
say dates
if stat -c %s / >/dev/null 2>&1; then base64 $decode | xargs -0 stat -c '%Y %y|%n' -- 2>/dev/null | base64
else base64 $decode | xargs -0 stat -f '%m %Fm|%N' -- 2>/dev/null | base64; fi
"#;

/// Files that may be searched.
pub(super) struct Listed {
    pub(super) paths: Vec<PathBuf>,
    pub(super) unreadable: usize,
    pub(super) limit: Option<Limit>,
    /// There is no `rg`.
    pub(super) by_find: bool,
}

impl RemoteFs {
    pub(super) fn find_files(
        &self,
        query: &FileQuery<'_>,
        go: GoesOn<'_>,
    ) -> Result<Files, FsError> {
        let Listed { paths, unreadable, limit, by_find } = self.list_files(query, true, go)?;
        let warning = by_find.then(|| {
            "searched with find, since there is no rg: slower, and hidden files are \
             passed over even where an ignore rule lets them through"
                .to_owned()
        });
        let entries = paths.into_iter().map(|path| Found { path, modified: None }).collect();
        Ok(Files { entries, unreadable, limit, warning })
    }

    /// Lists the files of a search; with `rg` only if it may be used.
    pub(super) fn list_files(
        &self,
        query: &FileQuery<'_>,
        with_rg: bool,
        go: GoesOn<'_>,
    ) -> Result<Listed, FsError> {
        let root = query.root;
        let mut listed = Listed { paths: Vec::new(), unreadable: 0, limit: None, by_find: false };
        if self.is_kernel_state(&root.join("x")) && !self.is_file(root, go)? {
            return Ok(listed);
        }
        let mut script = Script::new(&format!("{ROOT}{RULE}len={MAX_LIST}\n{LIST}"));
        let word = script.path(root);
        script.add(&format!("root={word}; root \"$root\""));
        script.add(&format!("rules='{RULE}for file do rule \"$file\"; done'"));
        let globs = globs(&mut script, root, query.glob);
        if with_rg {
            script.add(&format!(
                "if command -v rg >/dev/null 2>&1; then with_rg {globs} -- \"$root\"; else with_find; fi"
            ));
        } else {
            script.add("with_find");
        }
        let answer = self.ask_within(script, &[], time_left(query.deadline), go);
        let answer = answer.map_err(|err| FsError::io("search", root, err))?;
        if let Some(err) = reply::failure(&answer) {
            return Err(err);
        }
        let mut answer = answer.into_iter();
        let Some(list) = answer.next() else { return Ok(listed) };
        listed.by_find = list.head == "find";
        if list.bytes.len() >= MAX_LIST {
            listed.limit = Some(Limit::Cap);
        }
        listed.paths = paths(&list.bytes);
        let mut around = Vec::new();
        while let Some(part) = answer.next() {
            match part.head.as_str() {
                "unreadable" => listed.unreadable = number(&part),
                "rules" => {
                    let text = answer.next().map(|text| text.bytes).unwrap_or_default();
                    around.push(Around { path: straight(&part.path()), text });
                }
                _ => {}
            }
        }
        if listed.by_find {
            let rules = Rules::new(root, &around);
            for path in &mut listed.paths {
                *path = straight(path);
            }
            listed.paths.retain(|path| rules.lets_through(path, query.glob));
        }
        if listed.paths.len() > MAX_FILES {
            listed.paths.truncate(MAX_FILES);
            listed.limit = Some(Limit::Cap);
        }
        Ok(listed)
    }

    pub(super) fn is_file(&self, path: &Path, go: GoesOn<'_>) -> Result<bool, FsError> {
        let stat = self.look(path, go).map_err(|err| FsError::io("search", path, err))?;
        Ok(stat.is_file())
    }

    pub(super) fn find_dates(&self, files: &mut [Found], go: GoesOn<'_>) -> io::Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let mut names = Vec::new();
        for file in &*files {
            names.extend(bytes_of(&file.path));
            names.push(0);
        }
        let script = Script::new(DATE);
        let answer = self.ask(script, &base64::encode(&names), go)?;
        let dates = answer.into_iter().next().map(|part| part.bytes).unwrap_or_default();
        let mut rest = dates.as_slice();
        for file in files {
            // One that is gone by now has no line.
            let Some((date, after)) = dated(rest, &bytes_of(&file.path)) else { continue };
            file.modified = Some(date);
            rest = after;
        }
        Ok(())
    }
}

/// The date before the name, and what comes after its line. The name is known, so it may hold
/// anything.
fn dated<'a>(text: &'a [u8], name: &[u8]) -> Option<(SystemTime, &'a [u8])> {
    let bar = memchr::memchr(b'|', text)?;
    let (date, rest) = text.split_at_checked(bar)?;
    let rest = rest.strip_prefix(b"|")?.strip_prefix(name)?.strip_prefix(b"\n")?;
    let date = std::str::from_utf8(date).ok()?;
    let (seconds, long) = date.split_once(' ')?;
    let since = Duration::new(seconds.parse().ok()?, facts::fraction(long));
    Some((SystemTime::UNIX_EPOCH + since, rest))
}

/// The options of `rg` for a glob. Folders of the kernel are passed over.
pub(super) fn globs(script: &mut Script, root: &Path, glob: Option<&Glob>) -> String {
    let mut options = String::new();
    if let Some(glob) = glob {
        let word = script.word(glob.text.as_bytes());
        options.push_str(&format!("--glob={word} "));
    }
    if root == Path::new("/") {
        options.push_str("'--glob=!/proc/**' '--glob=!/sys/**'");
    }
    options
}

pub(super) fn number(part: &Part) -> usize {
    String::from_utf8_lossy(&part.bytes).trim().parse().unwrap_or_default()
}

/// Paths that end with NULs. The last one may be cut.
fn paths(list: &[u8]) -> Vec<PathBuf> {
    let whole = list.iter().rposition(|&byte| byte == 0).unwrap_or_default();
    let paths = list.get(..whole).unwrap_or_default().split(|&byte| byte == 0);
    paths.filter(|path| !path.is_empty()).map(|path| path_of(path.to_vec())).collect()
}

/// A path without the dot that `find` started from.
fn straight(path: &Path) -> PathBuf {
    path.components().collect()
}
