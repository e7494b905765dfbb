//! Looking at files and folders.

use std::io;
use std::path::{Path, PathBuf};

use super::content::{PIECE, RemoteContent};
use super::reply::{Part, error_of};
use super::script::{Script, name_of, parts};
use super::{RemoteFs, facts};
use crate::backend::{GoesOn, Name, Opened};
use crate::stat::Stat;

/// Tells what is at a path, or why that can't be told.
const LOOK: &str = r#"look() {
  s=$(st "$1") || { tell fail "$(ls -ld -- "$1" 2>&1 >/dev/null)"; return 1; }
  if [ -w "$1" ]; then tell stat "$s"; else tell closed "$s"; fi
}
"#;

/// Tells the first bytes of a regular file.
const OPEN: &str = r#"bytes() {
  [ -f "$1" ] || return
  if [ -h "$1" ] || ! plain "${1%/*}"; then tell fail "$swapped"; return; fi
  [ -r "$1" ] || { tell fail 'Permission denied'; return; }
  say bytes; head -c "$2" < "$1" | base64
}
"#;

/// Tells the first bytes of each of some regular files.
const HEADS: &str = r#"heads() {
  for path do
    if [ -f "$path" ] && [ -r "$path" ] && [ ! -h "$path" ]; then
      say head; head -c "$len" < "$path" | base64
    else say none; fi
  done
}
"#;

/// Tells the names in each of some folders, `d` before those of folders.
const LIST: &str = r#"names() {
  for path in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -h "$path" ]; then kind=f; elif [ -d "$path" ]; then kind=d; elif [ -e "$path" ]; then kind=f; else continue; fi
    printf '%s%s\0' "$kind" "${path##*/}"
  done
}
list() {
  for folder do
    if [ -d "$folder" ] && [ -r "$folder" ]; then
      say folder; names "${folder%/}" | head -c "$len" | base64
    else say none; fi
  done
}
"#;

/// About how many bytes a name has.
const NAME: usize = 40;

impl RemoteFs {
    pub(super) fn look(&self, path: &Path, go: GoesOn<'_>) -> io::Result<Stat> {
        let mut script = Script::new(LOOK);
        script.call("look", &[path]);
        stat_of(&self.ask(script, &[], go)?)
    }

    pub(super) fn look_into<'a>(&'a self, path: &Path, go: GoesOn<'a>) -> io::Result<Opened<'a>> {
        let mut script = Script::new(&format!("{LOOK}{OPEN}"));
        let word = script.path(path);
        script.add(&format!("look {word} && bytes {word} {PIECE}"));
        let answer = self.ask(script, &[], go)?;
        let stat = stat_of(&answer)?;
        let first = answer.into_iter().nth(1);
        let content = match first {
            Some(Part { head, bytes }) if head == "bytes" => {
                let content = RemoteContent::new(self, path.to_owned(), &stat, bytes, go);
                Some(Box::new(content) as Box<_>)
            }
            Some(Part { bytes, .. }) => return Err(error_of(&bytes)),
            None => None,
        };
        Ok(Opened { stat, content })
    }

    pub(super) fn read_heads(
        &self,
        files: &[&Path],
        len: usize,
        go: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<u8>>>> {
        let mut heads = Vec::new();
        for part in parts(files) {
            let mut script = Script::new(&format!("{HEADS}len={len}\n"));
            script.call("heads", part);
            let answer = self.ask(script, &[], go)?;
            heads.extend(answer.into_iter().map(|it| (it.head == "head").then_some(it.bytes)));
        }
        Ok(heads)
    }

    pub(super) fn list_folders(
        &self,
        folders: &[&Path],
        limit: usize,
        go: GoesOn<'_>,
    ) -> io::Result<Vec<Option<Vec<Name>>>> {
        let mut lists = Vec::new();
        for part in parts(folders) {
            let len = limit.saturating_mul(NAME);
            let mut script = Script::new(&format!("{LIST}len={len}\n"));
            script.call("list", part);
            let answer = self.ask(script, &[], go)?;
            lists.extend(answer.into_iter().map(|it| (it.head == "folder").then(|| names(&it))));
        }
        Ok(lists)
    }

    pub(super) fn find_home(
        &self,
        user: Option<&str>,
        go: GoesOn<'_>,
    ) -> io::Result<Option<PathBuf>> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let mut script = Script::new("");
        match user {
            None => script.add("tell home \"${HOME-}\""),
            // The shell takes such a word as it is and looks the user up.
            Some(user) if !user.is_empty() && user.chars().all(is_plain) => {
                script.add(&format!("home=~{user}; tell home \"$home\""));
            }
            Some(_) => return Ok(None),
        }
        let home = self.ask(script, &[], go)?.into_iter().next().map(Part::path);
        Ok(home.filter(|home| home.has_root()))
    }
}

fn stat_of(answer: &[Part]) -> io::Result<Stat> {
    let unclear = || io::Error::other("the environment's `stat` can't be understood");
    let Part { head, bytes } = answer.first().ok_or_else(unclear)?;
    if head == "fail" {
        return Err(error_of(bytes));
    }
    facts::stat(&String::from_utf8_lossy(bytes), head == "closed").ok_or_else(unclear)
}

fn names(part: &Part) -> Vec<Name> {
    // The last one may be cut.
    let whole = part.bytes.iter().rposition(|&byte| byte == 0).unwrap_or_default();
    let names = part.bytes.get(..whole).unwrap_or_default().split(|&byte| byte == 0);
    let name = |entry: &[u8]| {
        let (&kind, name) = entry.split_first()?;
        Some(Name { name: name_of(name.to_vec()), is_folder: kind == b'd' })
    };
    names.filter_map(name).collect()
}
