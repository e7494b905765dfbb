//! What a local session reads at its start.

use std::path::{Path, PathBuf};

use hermes_registry::Settings;

use super::reader::{Reader, expand_home};

/// What a login shell of the user would read.
const USUAL: [&str; 3] = [".profile", ".bash_profile", ".bashrc"];

/// Which files a local session reads at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitFiles {
    /// `terminal.shell_init_files`, as written.
    pub files: Vec<String>,
    /// Whether, without such files, the user's own are read.
    pub auto_source: bool,
}

impl InitFiles {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        Self {
            files: reader.config_texts("shell_init_files"),
            auto_source: reader.config_flag("auto_source_bashrc", true),
        }
    }

    /// The files to read, in this order; those that `is_file` doesn't find are left out.
    ///
    /// `~` is replaced by the home, and `${VAR}` and `$VAR` by a variable; a file that names one
    /// that isn't set is left out.
    #[must_use]
    pub fn resolve(&self, settings: &Settings, is_file: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let home = settings.env_filled("HOME");
        let paths: Vec<PathBuf> = if !self.files.is_empty() {
            let paths = self.files.iter();
            let paths = paths.filter_map(|file| expand(&expand_home(file, home), settings));
            paths.map(PathBuf::from).collect()
        } else if let Some(home) = home.filter(|_| self.auto_source) {
            USUAL.iter().map(|name| Path::new(home).join(name)).collect()
        } else {
            Vec::new()
        };
        paths.into_iter().filter(|path| is_file(path)).collect()
    }
}

/// A text with its variables replaced; none if one isn't set.
fn expand(text: &str, settings: &Settings) -> Option<String> {
    let mut parts = text.split('$');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = match part.strip_prefix('{') {
            Some(braced) => braced.split_once('}')?,
            None => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
                part.split_at_checked(end)?
            }
        };
        expanded.push_str(settings.env(name)?);
        expanded.push_str(rest);
    }
    Some(expanded)
}
