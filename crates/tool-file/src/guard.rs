//! The path rules at work: what these tools refuse to open, to show or to write.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::Path;

use hermes_guard::paths::soft::{self, SoftGuard};
use hermes_guard::paths::write::Writer;
use hermes_guard::paths::{Class, Places, Target, devices, read, write};
use hermes_registry::{ToolContext, ToolError};

use crate::fault::Fault;
use crate::open::open;
use crate::path::Resolved;

/// The home of this program where the settings name none, below the user's.
const DEFAULT_HOME: &str = ".hermes";
/// The variable that restricts writes to some folders.
const SAFE_ROOT: &str = "HERMES_WRITE_SAFE_ROOT";

/// Whether a path lies below a folder where the kernel shows its state: files without end, and
/// reads that wait or change something.
pub(crate) fn is_kernel_state(path: &Path) -> bool {
    cfg!(target_os = "linux")
        && ["/proc", "/sys"].iter().any(|root| path.starts_with(root) && path != Path::new(root))
}

/// Refuses devices: by name at every link on the way, before anything is opened.
pub(crate) fn refuse_device(path: &Resolved) -> Result<(), ToolError> {
    let mut named = path.hops.iter().chain([&path.real]);
    if named.any(|name| devices::is_blocked(name)) {
        return Err(Fault::Device.error(format!(
            "{} is a device or shows a process's memory; it isn't opened",
            path.given.display()
        )));
    }
    Ok(())
}

/// Refuses what is neither a regular file nor a folder: opening a pipe could wait for ever.
pub(crate) fn refuse_special(path: &Resolved, metadata: &Metadata) -> Result<(), ToolError> {
    if metadata.is_file() || metadata.is_dir() {
        return Ok(());
    }
    Err(Fault::Device.error(format!(
        "{} is no regular file but a pipe, a socket or a device; it isn't opened",
        path.given.display()
    )))
}

/// Refuses a file that the user may not write to: a new file could take its place all the same,
/// but that isn't what its permissions mean.
#[cfg(unix)]
pub(crate) fn refuse_unwritable(path: &Path) -> Result<(), ToolError> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use rustix::io::Errno;
    let reason = match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(Errno::ACCESS | Errno::PERM) => "its permissions don't allow this user to write to it",
        Err(Errno::ROFS) => "it is on a file system that is read-only",
        // Any other problem is told by the write itself.
        _ => return Ok(()),
    };
    Err(Fault::Denied.error(format!("nothing was written to {}: {reason}", path.display())))
}

#[cfg(not(unix))]
pub(crate) fn refuse_unwritable(path: &Path) -> Result<(), ToolError> {
    if path.metadata().is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Err(Fault::Denied
            .error(format!("nothing was written: {} is marked as read-only", path.display())));
    }
    Ok(())
}

/// Where the homes of a call are, on this machine.
fn places(cx: &ToolContext) -> Places {
    let settings = cx.settings();
    let home = settings.env_filled("HOME").map(Path::new);
    let hermes = match (settings.home(), home) {
        (path, Some(home)) if path.as_os_str().is_empty() => home.join(DEFAULT_HOME),
        (path, _) => path.to_owned(),
    };
    Places::new(home, &hermes)
        .with_safe_roots(settings.env(SAFE_ROOT).unwrap_or_default(), cx.cwd())
        .resolved(|link| Ok(std::fs::read_link(link).ok()))
}

fn target(path: &Resolved) -> Target {
    let target = Target::new(&path.given, &path.real);
    path.hops.iter().fold(target, |target, hop| target.with_name(hop))
}

/// Refuses secret files, by the path given, by every link on the way and by where they lead.
pub(crate) fn refuse_secret(cx: &ToolContext, path: &Resolved) -> Result<(), ToolError> {
    match read::denied(&places(cx), &target(path)) {
        Some(class) => Err(secret(class, path)),
        None => Ok(()),
    }
}

fn secret(class: Class, path: &Resolved) -> ToolError {
    Fault::Blocked
        .error(read::message(class, &path.given.display().to_string()))
        .with_extra("class", class.name())
}

/// Refuses a file whose content is a private key. Afterwards it is read from its start again.
pub(crate) fn refuse_private_key(path: &Resolved, file: &mut File) -> Result<(), ToolError> {
    if read::may_hold_private_key(&path.real) && has_key_header(file).unwrap_or(true) {
        return Err(secret(Class::Credential, path));
    }
    Ok(())
}

fn has_key_header(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(read::KEY_SAMPLE as u64).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(read::holds_private_key(&head))
}

/// Refuses to write to what is protected; `cross_profile` lets through what is most likely a
/// mistake only.
pub(crate) fn refuse_write(
    cx: &ToolContext,
    path: &Resolved,
    cross_profile: bool,
) -> Result<(), ToolError> {
    let (places, target) = (places(cx), target(path));
    let shown = path.given.display().to_string();
    if let Some(class) = write::denied(&places, &target, Writer::FileTool) {
        let err = Fault::Denied.error(write::message(class, &shown));
        return Err(err.with_extra("class", class.name()));
    }
    match soft::guard(&places, &target) {
        Some(guard) if !cross_profile => Err(soft_error(&guard, &shown)),
        _ => Ok(()),
    }
}

fn soft_error(guard: &SoftGuard, shown: &str) -> ToolError {
    let err = Fault::SoftGuard
        .error(guard.message(shown, "cross_profile"))
        .with_extra("class", guard.name())
        .with_extra("active_profile", guard.active());
    match guard {
        SoftGuard::CrossProfile { target, area, .. } => {
            err.with_extra("target_profile", target.as_str()).with_extra("area", *area)
        }
        SoftGuard::SandboxMirror { .. } => err,
    }
}

/// Tells which of the files that a search comes upon aren't shown.
#[derive(Debug)]
pub(crate) struct Secrets {
    places: Places,
}

impl Secrets {
    pub(crate) fn of(cx: &ToolContext) -> Self {
        Self { places: places(cx) }
    }

    /// Whether a file's name and content are left out; its path has no links.
    pub(crate) fn hide(&self, path: &Path) -> bool {
        read::denied_below(&self.places, path).is_some()
            || (read::may_hold_private_key(path)
                && open(path).and_then(|mut file| has_key_header(&mut file)).unwrap_or(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_registry::Settings;

    #[test]
    fn the_settings_say_where_homes_are() {
        let env = [("HOME", "/home/u"), (SAFE_ROOT, "/home/u/proj")];
        let denied = |settings: Settings, path: &str| {
            let cx = ToolContext::new("/w").with_settings(settings.with_env(env));
            write::denied(&places(&cx), &Target::unresolved(Path::new(path)), Writer::FileTool)
                .map(Class::name)
        };
        for (home, path, expected) in [
            ("", "/home/u/.hermes/.env", Some("credential")),
            ("/h", "/h/.env", Some("credential")),
            ("/h", "/home/u/.hermes/x", Some("safe_root")),
            ("/h/profiles/p", "/h/.env", Some("credential")),
            ("/h", "/home/u/.ssh/x", Some("credential")),
            ("/h", "/home/u/proj/x", None),
        ] {
            assert_eq!(denied(Settings::new(home), path), expected, "{home} {path}");
        }
    }

    #[test]
    fn what_a_search_leaves_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("key.pem"), "-----BEGIN PRIVATE KEY-----\nx\n").unwrap();
        std::fs::write(root.join("cert.pem"), "-----BEGIN CERTIFICATE-----\nx\n").unwrap();
        let secrets = Secrets::of(&ToolContext::new("/w").with_settings(Settings::new("/h")));
        for (path, expected) in [
            (root.join("key.pem"), true),
            (root.join("cert.pem"), false),
            (root.join("gone.pem"), true),
            ("/w/.env".into(), true),
            ("/w/.env.example".into(), false),
            ("/h/auth.json".into(), true),
        ] {
            assert_eq!(secrets.hide(&path), expected, "{path:?}");
        }
    }
}
