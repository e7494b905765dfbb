//! What is run on the other machine: POSIX sh, with `tar` and the usual small programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hermes_exec::environment::{Dialect, Start, Stdin};
use hermes_exec::session::quote;
use hermes_exec_policy::files::{SyncPlan, delete_script};

/// Most bytes of names that one program is given. Arguments have a limit.
const MOST_NAMES: usize = 64 * 1024;

/// A script to be run, with its errors apart.
pub(super) fn start(script: impl Into<String>, stdin: Stdin) -> Start {
    Start { dialect: Dialect::Posix, stdin, errors_apart: true, ..Start::new(script) }
}

/// Does what a plan says below `base`, with the archive of its uploads on stdin.
///
/// The archive is unpacked beside, and only when all of it is there each file takes its place at
/// once: nobody ever sees half a file, and an archive that is broken off changes nothing. Each file
/// is named here, since no `tar` notices when it is broken off between two of them.
pub(super) fn push(base: &str, token: &str, plan: &SyncPlan) -> String {
    let mut script = format!("umask 022\nset -e\nb={}\nmkdir -p -- \"$b\"\n", quote(base));
    let has_uploads = !plan.uploads.is_empty();
    if has_uploads {
        let _ = writeln!(script, "n=$b/.sync-{token}");
        script.push_str(UNPACK);
        push_files(&mut script, base, plan);
        script.push_str("all has\n");
    }
    for names in pieces(&plan.deletions, String::len) {
        // One that somebody there made a folder of is none of ours any more.
        script.push_str(&delete_script(names));
        script.push_str(" || :\n");
    }
    for folder in folders(base, &plan.deletions) {
        let _ = writeln!(script, "rmdir -- {} 2>/dev/null || :", quote(folder));
    }
    if has_uploads {
        script.push_str("all put\n");
    }
    script
}

/// A function that calls another one for the files of each folder.
fn push_files(script: &mut String, base: &str, plan: &SyncPlan) {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for upload in &plan.uploads {
        let path = relative(base, &upload.file.remote);
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        files.entry(folder).or_default().push(name);
    }
    script.push_str("all() {\n");
    for (folder, names) in files {
        for names in pieces(&names, |name| name.len()) {
            let names: String = names.iter().map(|name| format!(" {}", quote(name))).collect();
            let _ = writeln!(script, "\"$1\" {}{names}", quote(folder));
        }
    }
    script.push_str("}\n");
}

/// Unpacks stdin into a folder of our own. What others left there when they were killed goes.
///
/// `has` looks for files of a folder in it, `put` puts them in their places; a file in the place of
/// the folder goes.
const UNPACK: &str = r#"find "$b" -maxdepth 1 -name '.sync-*' -mmin +600 -exec rm -rf {} + 2>/dev/null || :
rm -rf -- "$n"
trap 'rm -rf -- "$n"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -m 700 -- "$n"
tar -xof - -C "$n"
has() {
  d=$1
  shift
  for f; do
    [ -f "$n/$d/$f" ] || { echo "the archive isn't whole: $d/$f didn't come" >&2; exit 1; }
  done
}
put() {
  d=$1
  shift
  [ -d "$b/$d" ] || rm -f -- "$b/$d"
  mkdir -p -- "$b/$d"
  cd "$n/$d"
  mv -f -- "$@" "$b/$d/"
}
"#;

/// Writes an archive of what may come back, if there is any.
pub(super) fn back(base: &str) -> String {
    format!("b={}\n{BACK}", quote(base))
}

const BACK: &str = r#"set --
for d in skills cache external_skills; do
  [ ! -d "$b/$d" ] || set -- "$@" ".$b/$d"
done
[ $# -gt 0 ] || exit 0
case $(tar --version 2>/dev/null) in
  *GNU*) set -- --ignore-failed-read "$@";;
esac
exec tar -cf - -C / "$@"
"#;

fn relative<'p>(base: &str, path: &'p str) -> &'p str {
    path.strip_prefix(base).map_or(path, |path| path.trim_start_matches('/'))
}

/// The folders that deleted files were in, the inner ones first.
fn folders<'p>(base: &str, paths: &'p [String]) -> Vec<&'p str> {
    let mut folders = BTreeSet::new();
    for path in paths {
        let mut path = &**path;
        while let Some((folder, _)) = path.rsplit_once('/') {
            if relative(base, folder).is_empty() || !folders.insert(folder) {
                break;
            }
            path = folder;
        }
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    folders
}

/// Names in pieces that fit into the arguments of a program.
fn pieces<T>(names: &[T], len: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let mut pieces = Vec::new();
    let mut rest = names;
    while !rest.is_empty() {
        let mut room = MOST_NAMES;
        let count = rest.iter().take_while(|name| {
            // A name as long as paths can be always fits.
            let is_in = room > 8 * 1024;
            room = room.saturating_sub(len(name) + 16);
            is_in
        });
        let (piece, more) = rest.split_at(count.count().max(1));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn folders_that_may_be_empty_now() {
        let paths = ["/r/.hermes/skills/a/b/c.md", "/r/.hermes/skills/a/d.md", "/r/.hermes/t.json"];
        let paths = paths.map(str::to_owned);
        assert_eq!(
            folders("/r/.hermes", &paths),
            ["/r/.hermes/skills/a/b", "/r/.hermes/skills/a", "/r/.hermes/skills"]
        );
    }

    #[test]
    fn names_fit_into_arguments() {
        let names: Vec<String> = (0..10_000).map(|n| format!("{n:0100}")).collect();
        let pieces = pieces(&names, String::len);
        assert_eq!(pieces.iter().map(|piece| piece.len()).sum::<usize>(), names.len());
        assert!(pieces.iter().all(|piece| piece.len() * 116 <= MOST_NAMES));
    }
}
