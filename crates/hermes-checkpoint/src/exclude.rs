//! What no snapshot holds.

/// Folders of dependencies, build output, caches and other version control.
const FOLDERS: &[&str] = &[
    // Dependencies.
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    "site-packages",
    "virtualenv",
    // Build output.
    "target",
    "build",
    "dist",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".output",
    ".gradle",
    ".eggs",
    "coverage",
    "DerivedData",
    // Caches.
    "__pycache__",
    ".cache",
    ".parcel-cache",
    ".turbo",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".ipynb_checkpoints",
    ".terraform",
    // Version control.
    ".hg",
    ".svn",
    ".bzr",
    ".jj",
    "CVS",
    "_darcs",
    ".worktrees",
];

/// Endings of files that are made from others, or are too large to be text.
const ENDINGS: &[&str] = &[
    // Native objects.
    "a", "class", "dll", "dylib", "exe", "lib", "o", "obj", "pdb", "pyc", "pyd", "pyo", "rlib",
    "rmeta", "so", "wasm", // Sound and film.
    "aac", "avi", "flac", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "ogg", "ogv",
    "opus", "wav", "webm", "wmv", // Archives.
    "7z", "bz2", "deb", "dmg", "ear", "gz", "iso", "jar", "rar", "rpm", "tar", "tgz", "txz", "war",
    "whl", "xz", "zip", "zst", // Logs.
    "log",
];

/// Files with names of their own.
const FILES: &[&str] = &[".DS_Store", "Thumbs.db"];

/// Whether a folder of this name is left out.
pub(crate) fn folder(name: &[u8]) -> bool {
    is_git(name) || FOLDERS.iter().any(|folder| folder.as_bytes() == name)
}

/// Whether a file of this name is left out.
pub(crate) fn file(name: &[u8]) -> bool {
    let ending = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0);
    let ending = ending.and_then(|dot| name.get(dot + 1..)).unwrap_or_default();
    is_git(name)
        || name.starts_with(b".env")
        || FILES.iter().any(|file| file.as_bytes() == name)
        || ENDINGS.iter().any(|other| other.as_bytes().eq_ignore_ascii_case(ending))
}

/// Whether a file is left out because of its name or of a folder it is in.
pub(crate) fn path(name: &[u8]) -> bool {
    let mut parts = name.rsplit(|byte| *byte == b'/');
    parts.next().is_some_and(file) || parts.any(folder)
}

/// Git refuses this name in any case, as a file too.
fn is_git(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_as_a_whole() {
        for out in ["a/node_modules/b", ".git/HEAD", "x/.GIT", ".env", "c/.env.local", "a.LOG"] {
            assert!(path(out.as_bytes()), "{out}");
        }
        for kept in ["a/targets/b", "build", "target", ".gitignore", "log", ".zip", "env", "a.png"]
        {
            assert!(!path(kept.as_bytes()), "{kept}");
        }
    }
}
