//! In which folder a command starts.

use std::path::{Path, PathBuf};

use super::Backend;
use super::reader::Reader;

/// Where a container starts when nothing usable is configured.
pub const CONTAINER_DEFAULT: &str = "/root";

/// Where docker mounts the folder of the host.
pub const WORKSPACE: &str = "/workspace";

/// What begins the folders of users on hosts.
const HOST_PREFIXES: [&str; 2] = ["/Users/", "/home/"];

/// Whether a folder can't be meant inside a container: it isn't absolute, or looks like one of a
/// user's on a host.
///
/// A guess before the container runs; once it does, the folder is looked for inside.
#[must_use]
pub fn container_cwd_unusable(cwd: &str) -> bool {
    !cwd.starts_with('/') || is_host_like(cwd)
}

/// The folder for a container: the one wanted, or the default with a note for the caller.
#[must_use]
pub fn container_cwd(wanted: &str) -> (String, Option<String>) {
    if !container_cwd_unusable(wanted) {
        return (wanted.to_owned(), None);
    }
    let note = format!("`{wanted}` is no folder of the container: started in {CONTAINER_DEFAULT}");
    (CONTAINER_DEFAULT.to_owned(), Some(note))
}

fn is_host_like(cwd: &str) -> bool {
    HOST_PREFIXES.iter().any(|prefix| cwd.starts_with(prefix)) || has_drive(cwd)
}

/// Whether a path begins with the letter of a drive.
pub(crate) fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('\\' | '/'))
}

/// Where commands start by the configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) cwd: String,
    pub(super) host_cwd: Option<String>,
}

impl Start {
    pub(super) fn of(reader: &Reader<'_>, backend: &Backend, process_dir: &Path) -> Self {
        // These words mean: wherever it would start anyway.
        let configured = reader.text("cwd");
        let configured =
            configured.filter(|cwd| !matches!(cwd.as_str(), "." | "./" | "auto" | "cwd"));
        let inside = |cwd| Self { cwd, host_cwd: None };
        let expanded = configured.as_deref().map(|cwd| reader.expanded(cwd));
        match backend {
            Backend::Local(_) => {
                inside(expanded.unwrap_or_else(|| process_dir.display().to_string()))
            }
            // The remote shell knows its own home.
            Backend::Ssh(_) => inside(configured.unwrap_or_else(|| "~".to_owned())),
            Backend::Docker(docker) if docker.mount_cwd_to_workspace => {
                let wanted = expanded.clone().unwrap_or_else(|| process_dir.display().to_string());
                if let Some(host_cwd) = mountable(&wanted, process_dir) {
                    return Self { cwd: WORKSPACE.to_owned(), host_cwd: Some(host_cwd) };
                }
                inside(container_cwd(expanded.as_deref().unwrap_or_default()).0)
            }
            Backend::Docker(_)
            | Backend::Singularity(_)
            | Backend::Modal(_)
            | Backend::Daytona(_) => {
                inside(container_cwd(expanded.as_deref().unwrap_or_default()).0)
            }
            Backend::Unknown(_) => inside(expanded.unwrap_or_else(|| CONTAINER_DEFAULT.to_owned())),
        }
    }
}

/// The folder of the host that docker is to mount: one that looks like a user's, or one that exists
/// and isn't meant inside.
fn mountable(wanted: &str, process_dir: &Path) -> Option<String> {
    if is_host_like(wanted) {
        return Some(wanted.to_owned());
    }
    let is_inside = ["/workspace", "/root"].iter().any(|it| Path::new(wanted).starts_with(it));
    let path = process_dir.join(wanted);
    (!is_inside && path.is_dir()).then(|| path.display().to_string())
}

/// A configured local folder made absolute once, from the folder this program was started in.
///
/// A value that names the end of that folder means the folder itself: whoever starts the program in
/// `~/work/app` with `work/app` configured doesn't want `~/work/app/work/app`.
#[must_use]
pub fn anchored(value: &str, process_dir: &Path, exists: impl Fn(&Path) -> bool) -> PathBuf {
    let path = Path::new(value);
    if path.is_absolute() {
        return path.to_owned();
    }
    let joined = process_dir.join(path);
    if !exists(&joined) && process_dir.ends_with(path) { process_dir.to_owned() } else { joined }
}

/// Which folder a call asks for, and whether it must be that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The folder.
    pub dir: String,
    /// Whether the call named it itself: then there is no other to fall back to.
    pub is_explicit: bool,
}

impl Wanted {
    /// The folder of a call: its own argument, else where the session is, else what is registered
    /// for its task, else the configured one. Blank ones count as none.
    #[must_use]
    pub fn of(
        workdir: Option<&str>,
        session: Option<&str>,
        task: Option<&str>,
        configured: &str,
    ) -> Self {
        let filled =
            |dir: Option<&str>| dir.filter(|dir| !dir.trim().is_empty()).map(str::to_owned);
        if let Some(dir) = filled(workdir) {
            return Self { dir, is_explicit: true };
        }
        let dir = filled(session).or_else(|| filled(task)).unwrap_or_else(|| configured.to_owned());
        Self { dir, is_explicit: false }
    }
}

/// The nearest folder that can be used: the one itself, one above it, else the one for temporary
/// files. `is_usable` says whether a folder is there and can be entered: see [`can_enter`].
#[must_use]
pub fn nearest_usable(
    dir: &Path,
    temporary: &Path,
    is_usable: impl FnMut(&Path) -> bool,
) -> PathBuf {
    let mut is_usable = is_usable;
    // The last of the folders above a relative path is the empty one.
    let mut candidates = dir.ancestors().filter(|it| !it.as_os_str().is_empty());
    candidates.find(|it| is_usable(it)).unwrap_or(temporary).to_owned()
}

/// Whether a path is a folder that this process may enter.
#[must_use]
pub fn can_enter(dir: &Path) -> bool {
    #[cfg(unix)]
    let may_enter = rustix::fs::access(dir, rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    let may_enter = true;
    may_enter && dir.is_dir()
}
