//! Symbolic links: all that lie on some ways, found in one journey.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use hermes_guard::paths::links::follow;

use super::RemoteFs;
use super::script::{Script, parts, path_of};
use crate::backend::{GoesOn, ReadLink};

/// How often new questions are answered. Each time, some link led to names that nobody had asked
/// for before.
const MAX_ROUNDS: usize = 50;

/// Follows a path as the kernel does, and tells of each link that it meets.
const FOLLOW: &str = r#"follow() {
  rest=$1; real=; met=0
  while [ -n "$rest" ]; do
    case $rest in /*) rest=${rest#/}; continue ;; esac
    part=${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    case $part in .) continue ;; ..) real=${real%/*}; continue ;; esac
    real=$real/$part
    [ -h "$real" ] || continue
    to=$(readlink -n -- "$real" 2>/dev/null && echo x) || continue
    to=${to%x}; met=$((met + 1))
    [ $met -gt 40 ] && return
    tell link "$real"; tell to "$to"
    real=${real%/*}
    case $to in /*) real= ;; esac
    rest=$to/$rest
  done
}
all() { for path do follow "$path"; done; }
"#;

impl RemoteFs {
    pub(super) fn find_links(
        &self,
        go: GoesOn<'_>,
        work: &mut dyn FnMut(&mut ReadLink<'_>),
    ) -> io::Result<()> {
        // What is known of each name: where it leads, and none for no link.
        let mut known: BTreeMap<PathBuf, Option<PathBuf>> = BTreeMap::new();
        for _ in 0..MAX_ROUNDS {
            let mut unknown = BTreeSet::new();
            work(&mut |name| {
                Ok(known.get(name).cloned().unwrap_or_else(|| {
                    unknown.insert(name.to_owned());
                    None
                }))
            });
            if unknown.is_empty() {
                return Ok(());
            }
            let links = self.read_links(&unknown, go)?;
            for name in unknown {
                // A name that no system takes is no link.
                let _ = follow(&name, |part| {
                    let target = links.get(part).cloned();
                    Ok(known.entry(part.to_owned()).or_insert(target).clone())
                });
                known.entry(name).or_insert(None);
            }
        }
        Err(io::Error::other("the symbolic links change all the time"))
    }

    /// All links on the ways to the names.
    fn read_links(
        &self,
        names: &BTreeSet<PathBuf>,
        go: GoesOn<'_>,
    ) -> io::Result<BTreeMap<PathBuf, PathBuf>> {
        // The way to a name goes by way of the names above it, which come just before it.
        let mut ways: Vec<&Path> = Vec::new();
        for name in names.iter().rev() {
            if !ways.last().is_some_and(|longer| longer.starts_with(name)) {
                ways.push(name);
            }
        }
        let mut links = BTreeMap::new();
        for part in parts(&ways) {
            let mut script = Script::new(FOLLOW);
            script.call("all", part);
            let mut answer = self.ask(script, &[], go)?.into_iter();
            while let (Some(link), Some(to)) = (answer.next(), answer.next()) {
                links.insert(link.path(), path_of(to.bytes));
            }
        }
        Ok(links)
    }
}
