//! The form of a skill's folder: how many files, how large, of what kind.

use crate::finding::{Category, Finding, Severity};

/// Most files of a skill.
const MAX_FILES: usize = 50;
/// Most bytes of all files together.
const MAX_TOTAL: usize = 1024 * 1024;
/// Most bytes of one file.
const MAX_FILE: usize = 256 * 1024;

/// Extensions of programs and packages.
const BINARIES: [&str; 12] =
    ["exe", "dll", "so", "dylib", "bin", "dat", "com", "msi", "dmg", "app", "deb", "rpm"];

/// Extensions of files that are run by an interpreter.
const SCRIPTS: [&str; 17] = [
    "sh", "bash", "zsh", "fish", "ksh", "py", "pyw", "rb", "pl", "js", "mjs", "cjs", "ts", "ps1",
    "bat", "cmd", "php",
];

/// A file of a skill, as it is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkillFile<'a> {
    /// Its path in the skill, with slashes.
    pub path: &'a str,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// A regular file.
    File {
        /// All of its content.
        content: &'a [u8],
        /// Whether anybody may execute it.
        is_executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
        target: &'a str,
        /// Whether that is outside of the skill, or can't be found out.
        leaves: bool,
    },
}

impl<'a> SkillFile<'a> {
    /// The content of a regular file.
    pub(crate) const fn content(&self) -> Option<&'a [u8]> {
        match self.kind {
            Kind::File { content, .. } => Some(content),
            Kind::Link { .. } => None,
        }
    }

    fn extension(&self) -> Option<String> {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
    }

    /// Whether an interpreter runs it: by its extension, its first line or its permissions.
    pub(crate) fn is_script(&self) -> bool {
        let Kind::File { content, is_executable } = self.kind else { return false };
        is_executable
            || content.starts_with(b"#!")
            || self.extension().is_some_and(|it| SCRIPTS.contains(&it.as_str()))
    }

    /// Whether a shell runs it.
    pub(crate) fn is_shell(&self) -> bool {
        let first = self.content().unwrap_or_default();
        let first = first.split(|&b| b == b'\n').next().unwrap_or_default();
        let by_name =
            self.extension().is_some_and(|it| matches!(it.as_str(), "sh" | "bash" | "zsh" | "ksh"));
        let first = String::from_utf8_lossy(first);
        by_name
            || (first.starts_with("#!")
                && first.split(['/', ' ']).any(|part| {
                    matches!(part.trim(), "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash")
                }))
    }
}

/// What is odd about the folder.
pub(crate) fn findings(files: &[SkillFile<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |id: &str, severity: Severity, category: Category, file: &str, why: String| {
        found.push(Finding::new((id, severity, category), file, 0, "", why));
    };
    let (structure, high) = (Category::Structure, Severity::High);
    if files.len() > MAX_FILES {
        let why = format!("It has {} files; {MAX_FILES} are usual.", files.len());
        add("too_many_files", Severity::Medium, structure, "", why);
    }
    let total: usize = files.iter().filter_map(SkillFile::content).map(<[u8]>::len).sum();
    if total > MAX_TOTAL {
        add("oversized_skill", high, structure, "", format!("It has {total} bytes in all."));
    }
    for file in files {
        let is_odd = file.path.starts_with('/')
            || file.path.split(['/', '\\']).any(|part| part == "..")
            || file.path.chars().any(char::is_control);
        if is_odd {
            let why = "Its path leaves the folder, or isn't plain text.".to_owned();
            add("odd_path", Severity::Critical, Category::Traversal, file.path, why);
        }
        match file.kind {
            Kind::Link { target, leaves: true } => {
                let why = format!("The link leads out of the skill, to {target}.");
                add("symlink_escape", Severity::Critical, Category::Traversal, file.path, why);
            }
            Kind::Link { .. } => {}
            Kind::File { content, is_executable } => {
                if content.len() > MAX_FILE {
                    let why = format!("It has {} bytes.", content.len());
                    add("oversized_file", Severity::Medium, structure, file.path, why);
                }
                let is_program = is_program(content);
                if is_program || file.extension().is_some_and(|it| BINARIES.contains(&it.as_str()))
                {
                    let why =
                        "It is a program or a package, which can't be looked into.".to_owned();
                    add("binary_file", Severity::Critical, structure, file.path, why);
                }
                let by_name = file.extension().is_some_and(|it| SCRIPTS.contains(&it.as_str()));
                if is_executable && !is_program && !by_name && !content.starts_with(b"#!") {
                    let why = "It may be executed, and is no script.".to_owned();
                    add("unexpected_executable", Severity::Medium, structure, file.path, why);
                }
            }
        }
    }
    found
}

/// Whether a content is a program of some system, whatever its name.
fn is_program(content: &[u8]) -> bool {
    [&b"\x7fELF"[..], b"MZ\x90", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe"]
        .iter()
        .any(|magic| content.starts_with(magic))
}
