//! Which paths are never opened: devices, process secrets, secret files. And which names mean
//! that a file isn't text.

use std::fs::Metadata;
use std::path::Path;

use hermes_registry::{ToolContext, ToolError};

use crate::fault::Fault;
use crate::path::{Resolved, lexical};

/// Extensions of files that hold no text.
const BINARY_EXTENSIONS: &[&str] = &[
    // Images.
    "png", "jpg", "jpeg", "gif", "bmp", "ico", "webp", "tiff", "tif", //
    // Video and audio.
    "mp4", "mov", "avi", "mkv", "webm", "wmv", "flv", "m4v", "mpeg", "mpg", //
    "mp3", "wav", "ogg", "flac", "aac", "m4a", "wma", "aiff", "opus", //
    // Archives and images of disks.
    "zip", "tar", "gz", "bz2", "7z", "rar", "xz", "z", "tgz", "iso", //
    // Programs and their parts.
    "exe", "dll", "so", "dylib", "bin", "o", "a", "obj", "lib", "app", "msi", "deb", "rpm", //
    // Documents.
    "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", //
    // Fonts.
    "ttf", "otf", "woff", "woff2", "eot", //
    // Byte code.
    "pyc", "pyo", "class", "jar", "war", "ear", "node", "wasm", "rlib", //
    // Data bases.
    "sqlite", "sqlite3", "db", "mdb", "idx", //
    // Design and 3D.
    "psd", "ai", "eps", "sketch", "fig", "xd", "blend", "3ds", "max", "swf", "fla", //
    // Others.
    "lockb", "dat", "data",
];

const IMAGE_EXTENSIONS: &[&str] =
    &["png", "jpg", "jpeg", "gif", "bmp", "ico", "webp", "tiff", "tif"];

/// Base names of files that hold secrets, in lower case.
const SECRET_NAMES: &[&str] = &[
    ".env",
    ".env.local",
    ".env.development",
    ".env.production",
    ".env.test",
    ".env.staging",
    ".envrc",
];

/// Secret files and folders below the home folder of Hermes.
const SECRET_HOME_FILES: &[&str] = &[
    "auth.json",
    "auth.lock",
    ".anthropic_oauth.json",
    ".env",
    "webhook_subscriptions.json",
    "auth/google_oauth.json",
    "cache/bws_cache.json",
];
const SECRET_HOME_FOLDERS: &[&str] = &["mcp-tokens", "skills/.hub"];

const DEVICES: &[&str] = &[
    "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "console",
    "kmsg", //
    "fd/0", "fd/1", "fd/2",
];

/// Files below `/sys` whose reader waits for events of the kernel, wherever they are mounted there.
const TRACE_PIPES: &[&str] = &["trace_pipe", "trace_pipe_raw"];

/// Files below `/proc` whose reader waits for messages of the kernel, or gets all of its memory.
const KERNEL_FILES: &[&str] = &["kmsg", "kcore", "acpi/event"];

const PROC_SECRETS: &[&str] =
    &["environ", "cmdline", "maps", "smaps", "smaps_rollup", "numa_maps", "mem", "auxv", "pagemap"];

/// Whether the base name's extension is one of a file that holds no text.
pub fn has_binary_extension(path: &str) -> bool {
    extension(path).is_some_and(|ext| BINARY_EXTENSIONS.contains(&ext.as_str()))
}

/// Whether the extension is one of an image.
pub(crate) fn has_image_extension(path: &str) -> bool {
    extension(path).is_some_and(|ext| IMAGE_EXTENSIONS.contains(&ext.as_str()))
}

/// The text after the last dot of the base name, in lower case.
fn extension(path: &str) -> Option<String> {
    let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
    base.rsplit_once('.').map(|(_, ext)| ext.to_ascii_lowercase())
}

/// Whether a path, by its letters alone, names a device that never ends or blocks, or a file that
/// shows another process's memory or secrets.
pub fn is_blocked_device(path: &Path) -> bool {
    let path = lexical(path);
    let Some(text) = path.to_str() else { return false };
    if let Some(rest) = text.strip_prefix("/dev/") {
        return DEVICES.contains(&rest);
    }
    if let Some(rest) = text.strip_prefix("/sys/") {
        return rest.rsplit('/').next().is_some_and(|last| TRACE_PIPES.contains(&last));
    }
    let Some(rest) = text.strip_prefix("/proc/") else { return false };
    if KERNEL_FILES.contains(&rest) {
        return true;
    }
    let parts: Vec<&str> = rest.split('/').collect();
    match parts.as_slice() {
        [_, .., "fd", "0" | "1" | "2"] => true,
        [_, .., last] => PROC_SECRETS.contains(last),
        _ => false,
    }
}

/// Whether a path lies below a folder where the kernel shows its state: files without end, and
/// reads that wait or change something.
pub(crate) fn is_kernel_state(path: &Path) -> bool {
    cfg!(target_os = "linux")
        && ["/proc", "/sys"].iter().any(|root| path.starts_with(root) && path != Path::new(root))
}

/// Refuses devices: by name at every link on the way, before anything is opened.
pub(crate) fn refuse_device(path: &Resolved) -> Result<(), ToolError> {
    let named = path.hops.iter().take(21).map(AsRef::as_ref).chain([path.real.as_path()]);
    if named.into_iter().any(is_blocked_device) {
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

/// Whether the file's content is secret.
pub(crate) fn is_secret(cx: &ToolContext, path: &Path) -> bool {
    let base = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    if base.is_some_and(|base| SECRET_NAMES.contains(&base.as_str())) {
        return true;
    }
    let home = cx.settings().home();
    if !home.is_absolute() {
        return false;
    }
    let real_home = home.canonicalize();
    [Some(home), real_home.as_deref().ok()].into_iter().flatten().any(|home| {
        path.strip_prefix(home).is_ok_and(|rest| {
            SECRET_HOME_FILES.iter().any(|file| rest == Path::new(file))
                || SECRET_HOME_FOLDERS.iter().any(|folder| rest.starts_with(folder))
        })
    })
}

/// Refuses secret files, by the path given and by where it leads.
pub(crate) fn refuse_secret(cx: &ToolContext, path: &Resolved) -> Result<(), ToolError> {
    if is_secret(cx, &path.real) || is_secret(cx, &lexical(&path.given)) {
        return Err(Fault::Blocked.error(format!(
            "{} holds secrets, so its content isn't shown. This is a nudge and no wall: ask the \
             user for the value you need, or read an example file such as .env.example",
            path.given.display()
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_registry::Settings;

    #[test]
    fn binary_extensions() {
        for (path, expected) in [
            ("a/b.PNG", true),
            ("x.pdf", false),
            ("x.svg", false),
            ("archive.tar.gz", true),
            ("a.b/c", false),
            ("a.png/c", false),
            ("lib.so.6", false),
            (".png", true),
            ("png", false),
            ("x.", false),
            ("", false),
        ] {
            assert_eq!(has_binary_extension(path), expected, "{path}");
        }
    }

    #[test]
    fn devices_and_process_secrets() {
        for (path, expected) in [
            ("/dev/urandom", true),
            ("/dev/./zero", true),
            ("/tmp/../dev/tty", true),
            ("/dev/fd/0", true),
            ("/dev/fd/3", false),
            ("/dev/null", false),
            ("/proc/self/environ", true),
            ("/proc/12/task/13/maps", true),
            ("/proc/self/fd/1", true),
            ("/proc/self/fd/7", false),
            ("/proc/kmsg", true),
            ("/proc/../proc/kcore", true),
            ("/dev/kmsg", true),
            ("/sys/kernel/debug/tracing/trace_pipe", true),
            ("/sys/kernel/tracing/per_cpu/cpu0/trace_pipe_raw", true),
            ("/sys/kernel/tracing/trace", false),
            ("/home/u/trace_pipe", false),
            ("/proc/self/kmsg", false),
            ("/proc/cpuinfo", false),
            ("/proc/cmdline", false),
            ("/proc/self/status", false),
            ("/home/u/dev/zero", false),
        ] {
            assert_eq!(is_blocked_device(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn secrets() {
        let cx = ToolContext::new("/w").with_settings(Settings::new("/h"));
        for (path, expected) in [
            ("/w/.env", true),
            ("/w/.ENV.Local", true),
            ("/w/.env.example", false),
            ("/w/env", false),
            ("/h/auth.json", true),
            ("/w/auth.json", false),
            ("/h/mcp-tokens/x.json", true),
            ("/h/mcp-tokens2", false),
            ("/h/skills/.hub/a", true),
            ("/h/config.yaml", false),
        ] {
            assert_eq!(is_secret(&cx, Path::new(path)), expected, "{path}");
        }
    }
}
