//! Copies and links that a text makes: what is run or written by their names is another file.

use crate::env::Env;
use crate::judge::Judge;
use crate::path::{Target, resolve, resolve_text};
use crate::value::{Arg, HOLE};

/// Most copies and links that are remembered.
const MOST: usize = 256;

impl Judge {
    /// Remembers that `name` is `target` in truth.
    pub(crate) fn link(&mut self, name: &str, target: &str) {
        if self.links.len() < MOST && name != target && !name.contains(HOLE) {
            self.links.insert(name.to_owned(), target.to_owned());
        }
    }

    /// `cp`, `ln` and their like: the target is the source by another name.
    pub(crate) fn copied(
        &mut self,
        sources: &[Arg],
        target: Option<&Arg>,
        is_link: bool,
        env: &Env,
    ) {
        let here = Arg::new(".");
        let target = match target {
            Some(target) => target,
            None if is_link => &here,
            None => return,
        };
        let name = resolve(target, env).path;
        for source in sources.iter().take(8) {
            let path = resolve(source, env).path;
            if !(is_link || is_program(&path)) {
                continue;
            }
            let own = path.rsplit('/').next().unwrap_or_default();
            let inside = format!("{}/{own}", name.trim_end_matches('/'));
            self.link(&inside, &path);
            if sources.len() == 1 {
                self.link(&name, &path);
            }
        }
    }

    /// The program that a name stands for, if it is a copy or a link.
    pub(crate) fn program_of_link(&self, program: &str, env: &Env) -> Option<String> {
        if self.links.is_empty() && env.files.is_empty() {
            return None;
        }
        let of = |path: &str| {
            let copy = || env.files.get(path)?.program.as_deref().map(str::to_owned);
            self.links.get(path).cloned().or_else(copy)
        };
        if program.contains('/') {
            return of(&resolve_text(program, env).path);
        }
        // The folders that are searched are known if the text sets them.
        let path = env.latest("PATH").and_then(|it| it.items.first());
        let folders = path.map_or("", String::as_str).split(':').take(16);
        let mut places = folders.map(|it| resolve_text(&format!("{it}/{program}"), env).path);
        of(program).or_else(|| places.find_map(|it| of(&it)))
    }

    /// What a path leads to through a link, if it goes through one.
    pub(crate) fn linked(&self, path: &Target, env: &Env) -> Option<Target> {
        if self.links.is_empty() || path.is_rootless {
            return None;
        }
        let mut end = path.path.len();
        for _ in 0..16 {
            let folder = path.path.get(..end)?;
            if let Some(target) = self.links.get(folder).filter(|it| it.starts_with('/')) {
                let rest = path.path.get(end..).unwrap_or_default();
                return Some(resolve_text(&format!("{target}{rest}"), env));
            }
            end = folder.rfind('/').filter(|it| *it > 0)?;
        }
        None
    }

    /// A file that is written, or removed, through a link.
    pub(crate) fn judge_linked(&mut self, path: &Target, is_removed: bool, env: &Env) {
        if let Some(target) = self.linked(path, env) {
            self.judge_path(&target, is_removed);
        }
    }
}

/// Whether a path is that of a program of the system.
pub(crate) fn is_program(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(folder, name)| {
        !name.is_empty() && (folder.ends_with("/bin") || folder.ends_with("/sbin"))
    })
}
