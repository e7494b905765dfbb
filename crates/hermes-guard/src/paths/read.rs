//! What isn't read: secrets, and text that nobody has looked at.

use std::path::Path;

use super::table::{ENV_PREFIX, ENV_SAMPLES, READ, SECRET_NAMES};
use super::{Class, Places, SEAT_BELT, Target, devices};

/// How many bytes from the start of a file are enough to see whether it holds a private key:
/// certificates may come before it.
pub const KEY_SAMPLE: usize = 64 * 1024;

/// Extensions of files that hold a private key or only certificates; their content tells.
const KEY_EXTENSIONS: &[&str] = &["pem", "key"];

/// Why a file isn't read; none if it may be.
#[must_use]
pub fn denied(places: &Places, target: &Target) -> Option<Class> {
    target.names(places).iter().find_map(|name| denied_name(places, name))
}

/// The same for a path that is known to have no links, `.` and `..`, as the paths that a walk
/// comes upon.
#[must_use]
pub fn denied_below(places: &Places, real: &Path) -> Option<Class> {
    denied_name(places, &places.key(real))
}

fn denied_name(places: &Places, name: &Path) -> Option<Class> {
    if devices::is_process_secret(name) {
        return Some(Class::Process);
    }
    if is_secret_name(name) || is_private_key(name) {
        return Some(Class::Credential);
    }
    places.find(READ, name).map(|row| row.class)
}

/// Whether a base name is that of a file with settings and secrets, in any case.
fn is_secret_name(path: &Path) -> bool {
    let Some(base) = path.file_name() else { return false };
    if !base.as_encoded_bytes().starts_with(b".") {
        return false;
    }
    let base = base.to_string_lossy().to_lowercase();
    if let Some(variant) = base.strip_prefix(ENV_PREFIX) {
        let last = variant.rsplit('.').next().unwrap_or(variant);
        return !ENV_SAMPLES.contains(&last);
    }
    SECRET_NAMES.contains(&base.as_str())
}

/// Whether a path is that of a private key of SSH: a user's, or the machine's own.
fn is_private_key(path: &Path) -> bool {
    let Some(base) = path.file_name().and_then(|base| base.to_str()) else { return false };
    let Some(folder) = path.parent() else { return false };
    if base.ends_with(".pub") {
        return false;
    }
    let in_ssh = folder.file_name().is_some_and(|name| name == ".ssh");
    let of_host = folder == Path::new("/etc/ssh") && base.starts_with("ssh_host_");
    (in_ssh && base.starts_with("id_")) || of_host
}

/// Whether the content of a file with this name tells if it is a secret: see
/// [`holds_private_key`].
#[must_use]
pub fn may_hold_private_key(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        KEY_EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// Whether the start of a file, [`KEY_SAMPLE`] bytes at most, has the header of a private key.
#[must_use]
pub fn holds_private_key(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n').any(|line| {
        let line = line.trim_ascii();
        line.strip_prefix(b"-----BEGIN ").and_then(|line| line.strip_suffix(b"-----")).is_some_and(
            |kind| kind.trim_ascii_end().windows(11).any(|part| part == b"PRIVATE KEY"),
        )
    })
}

/// What to tell a model about a file that isn't read; `shown` is its path.
#[must_use]
pub fn message(class: Class, shown: &str) -> String {
    match class {
        Class::Untrusted => format!(
            "{shown} is a catalogue of skills from elsewhere, whose text could hold instructions \
             that nobody has looked at, so it isn't shown. {SEAT_BELT}; use the skill tools to \
             look at a skill"
        ),
        Class::Process => format!(
            "{shown} shows the memory or the environment of a process, secrets among them, so it \
             isn't shown. {SEAT_BELT}; ask the user for the value you need"
        ),
        _ => format!(
            "{shown} holds secrets, so its content isn't shown. {SEAT_BELT}; ask the user for the \
             value you need, or read an example file such as .env.example"
        ),
    }
}
