//! A skill's own ignore files, in the manner of git.

use globset::{GlobBuilder, GlobMatcher};

use crate::shape::SkillFile;

/// Their names, at the top of a skill.
const NAMES: [&str; 2] = [".skillignore", ".clawhubignore"];

/// Most rules that are read.
const MAX_RULES: usize = 1000;

struct Rule {
    glob: GlobMatcher,
    is_folder: bool,
    keeps: bool,
}

/// Tells which files the skill leaves out.
pub(crate) struct Ignored(Vec<Rule>);

impl Ignored {
    pub(crate) fn of(files: &[SkillFile<'_>]) -> Self {
        let texts = files.iter().filter(|file| NAMES.contains(&file.path));
        let texts = texts.filter_map(SkillFile::content).map(String::from_utf8_lossy);
        let rules = texts.flat_map(|text| text.lines().filter_map(rule).collect::<Vec<_>>());
        Self(rules.take(MAX_RULES).collect())
    }

    /// Whether a file is left out. What makes it a skill, and what is run, never is.
    pub(crate) fn has(&self, file: &SkillFile<'_>) -> bool {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        !name.eq_ignore_ascii_case("SKILL.md")
            && !file.is_script()
            && file.content().is_some()
            && self.is_named(file.path)
    }

    fn is_named(&self, path: &str) -> bool {
        let mut is_out = false;
        for rule in &self.0 {
            let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
            let is_met = folders.into_iter().any(|folder| rule.glob.is_match(folder))
                || (!rule.is_folder && rule.glob.is_match(path));
            if is_met {
                is_out = !rule.keeps;
            }
        }
        is_out
    }
}

fn rule(line: &str) -> Option<Rule> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (keeps, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (is_folder, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    let pattern = match line.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if line.contains('/') => line.to_owned(),
        None => format!("**/{line}"),
    };
    let glob = GlobBuilder::new(&pattern).literal_separator(true).build().ok()?;
    Some(Rule { glob: glob.compile_matcher(), is_folder, keeps })
}
