//! The path rules at work: what these tools refuse to open, to show or to write.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hermes_fs::{Closed, Content, Kind, Stat};
use hermes_guard::paths::soft::{self, SoftGuard};
use hermes_guard::paths::write::Writer;
use hermes_guard::paths::{Class, Places, Target, devices, read, write};
use hermes_registry::{ToolContext, ToolError};

use crate::fault::Fault;
use crate::path::Resolved;

/// The home of this program where the settings name none, below the user's.
const DEFAULT_HOME: &str = ".hermes";
/// The variable that restricts writes to some folders.
const SAFE_ROOT: &str = "HERMES_WRITE_SAFE_ROOT";

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
pub(crate) fn refuse_special(path: &Resolved, stat: &Stat) -> Result<(), ToolError> {
    if stat.kind != Kind::Other {
        return Ok(());
    }
    Err(Fault::Device.error(format!(
        "{} is no regular file but a pipe, a socket or a device; it isn't opened",
        path.given.display()
    )))
}

/// Refuses a file that the user may not write to: a new file could take its place all the same,
/// but that isn't what its permissions mean.
pub(crate) fn refuse_unwritable(path: &Path, stat: &Stat) -> Result<(), ToolError> {
    let reason = match stat.closed {
        None => return Ok(()),
        Some(Closed::Permissions) => "its permissions don't allow this user to write to it",
        Some(Closed::ReadOnly) => "it is on a file system that is read-only",
    };
    Err(Fault::Denied.error(format!("nothing was written to {}: {reason}", path.display())))
}

/// The user's home and this program's: on this machine, or in an environment whose user has the
/// home `remote`. There this program's home has the same place below the user's.
pub(crate) fn homes(cx: &ToolContext, remote: Option<&Path>) -> (Option<PathBuf>, PathBuf) {
    let settings = cx.settings();
    let home = settings.env_filled("HOME").map(Path::new);
    let hermes = match (settings.home(), home) {
        (path, Some(home)) if path.as_os_str().is_empty() => home.join(DEFAULT_HOME),
        (path, _) => path.to_owned(),
    };
    match remote {
        Some(remote) => {
            let below = home.and_then(|home| hermes.strip_prefix(home).ok());
            (Some(remote.to_owned()), remote.join(below.unwrap_or(Path::new(DEFAULT_HOME))))
        }
        None => (home.map(Path::to_owned), hermes),
    }
}

/// What is protected below the homes of a call; see [`homes`].
pub(crate) fn places(cx: &ToolContext, remote: Option<&Path>, cwd: &Path) -> Places {
    let (home, hermes) = homes(cx, remote);
    let safe_roots = cx.settings().env(SAFE_ROOT).unwrap_or_default();
    let places = Places::new(home.as_deref(), &hermes).with_safe_roots(safe_roots, cwd);
    if remote.is_some() { places.in_container() } else { places }
}

fn target(path: &Resolved) -> Target {
    let target = Target::new(&path.given, &path.real);
    path.hops.iter().fold(target, |target, hop| target.with_name(hop))
}

/// Refuses secret files, by the path given, by every link on the way and by where they lead.
pub(crate) fn refuse_secret(path: &Resolved) -> Result<(), ToolError> {
    match read::denied(&path.places, &target(path)) {
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
pub(crate) fn refuse_private_key(
    path: &Resolved,
    content: &mut dyn Content,
) -> Result<(), ToolError> {
    if read::may_hold_private_key(&path.real) && has_key_header(content).unwrap_or(true) {
        return Err(secret(Class::Credential, path));
    }
    Ok(())
}

fn has_key_header(content: &mut dyn Content) -> io::Result<bool> {
    let mut head = Vec::new();
    content.take(read::KEY_SAMPLE as u64).read_to_end(&mut head)?;
    content.rewind()?;
    Ok(read::holds_private_key(&head))
}

/// Refuses to write to what is protected; `cross_profile` lets through what is most likely a
/// mistake only.
pub(crate) fn refuse_write(path: &Resolved, cross_profile: bool) -> Result<(), ToolError> {
    let (places, target) = (&*path.places, target(path));
    let shown = path.given.display().to_string();
    if let Some(class) = write::denied(places, &target, Writer::FileTool) {
        let err = Fault::Denied.error(write::message(class, &shown));
        return Err(err.with_extra("class", class.name()));
    }
    match soft::guard(places, &target) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_registry::Settings;

    #[test]
    fn the_settings_say_where_homes_are() {
        let env = [("HOME", "/home/u"), (SAFE_ROOT, "/home/u/proj")];
        let denied = |settings: Settings, path: &str| {
            let cx = ToolContext::new("/w").with_settings(settings.with_env(env));
            let places = places(&cx, None, cx.cwd());
            write::denied(&places, &Target::unresolved(Path::new(path)), Writer::FileTool)
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
    fn places_of_an_environment_are_below_its_own_home() {
        let settings = Settings::new("/home/u/.hermes/profiles/p").with_env([("HOME", "/home/u")]);
        let denied = |settings: &Settings, path: &str| {
            let cx = ToolContext::new("/w").with_settings(settings.clone());
            let places = places(&cx, Some(Path::new("/root")), Path::new("/w"));
            let target = Target::unresolved(Path::new(path));
            write::denied(&places, &target, Writer::FileTool).map(Class::name)
        };
        for (path, expected) in [
            ("/root/.ssh/x", Some("credential")),
            ("/root/.hermes/.env", Some("credential")),
            ("/root/.hermes/profiles/p/config.yaml", Some("system")),
            ("/home/u/.hermes/auth.json", None),
            ("/root/x", None),
        ] {
            assert_eq!(denied(&settings, path), expected, "{path}");
        }
        let elsewhere = Settings::new("/opt/hermes").with_env([("HOME", "/home/u")]);
        assert_eq!(denied(&elsewhere, "/root/.hermes/auth.json"), Some("credential"));
    }
}
