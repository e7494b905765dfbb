//! Files that never end, that wait, or that show what a process has in its memory.

use std::path::Path;

use super::lexical;

/// Below `/dev`.
const DEVICES: &[&str] = &[
    "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "console",
    "kmsg", //
    "fd/0", "fd/1", "fd/2",
];

/// Files below `/sys` whose reader waits for events of the kernel, wherever they are mounted there.
const TRACE_PIPES: &[&str] = &["trace_pipe", "trace_pipe_raw"];

/// Files below `/proc` whose reader waits for messages of the kernel, or gets all of its memory.
const KERNEL_FILES: &[&str] = &["kmsg", "kcore", "acpi/event"];

/// Files of a process, or of one of its threads.
const PROCESS_SECRETS: &[&str] =
    &["environ", "cmdline", "maps", "smaps", "smaps_rollup", "numa_maps", "mem", "auxv", "pagemap"];

/// Whether a path, by its letters alone, names a device that never ends or blocks, or a file that
/// shows another process's memory or secrets. To be asked of the path as given, of every link on
/// the way and of where they lead, before anything is opened.
#[must_use]
pub fn is_blocked(path: &Path) -> bool {
    let path = lexical(path);
    let Some(text) = path.to_str() else { return false };
    if let Some(rest) = text.strip_prefix("/dev/") {
        return DEVICES.contains(&rest);
    }
    if let Some(rest) = text.strip_prefix("/sys/") {
        return rest.rsplit('/').next().is_some_and(|last| TRACE_PIPES.contains(&last));
    }
    let Some(rest) = text.strip_prefix("/proc/") else { return false };
    if KERNEL_FILES.contains(&rest) || is_process_secret(&path) {
        return true;
    }
    let mut from_end = rest.rsplit('/');
    matches!(
        (from_end.next(), from_end.next(), from_end.next()),
        (Some("0" | "1" | "2"), Some("fd"), Some(_))
    )
}

/// Whether a path without `.` and `..` shows the memory or the environment of a process.
pub(super) fn is_process_secret(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else { return false };
    let is_listed = rest
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| PROCESS_SECRETS.contains(&name));
    is_listed && rest.components().nth(1).is_some()
}

/// Whether a name in `/proc` is that of a process.
pub(super) fn is_process(name: &str) -> bool {
    matches!(name, "self" | "thread-self")
        || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
}
