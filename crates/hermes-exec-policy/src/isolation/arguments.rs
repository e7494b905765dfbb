//! Further words for `docker run`, read as its client reads them.

use super::{is_host_folder, names_an_engine, volume};

/// Options that take no value and lead nowhere.
const FLAGS: [&str; 12] = [
    "detach",
    "disable-content-trust",
    "help",
    "init",
    "interactive",
    "no-healthcheck",
    "oom-kill-disable",
    "publish-all",
    "quiet",
    "read-only",
    "rm",
    "tty",
];

/// Options that lead nowhere, whatever their value is.
const CLOSED: [&str; 54] = [
    "add-host",
    "attach",
    "blkio-weight",
    "cap-drop",
    "cpu-count",
    "cpu-percent",
    "cpu-period",
    "cpu-quota",
    "cpu-rt-period",
    "cpu-rt-runtime",
    "cpu-shares",
    "cpus",
    "cpuset-cpus",
    "cpuset-mems",
    "dns",
    "dns-option",
    "dns-search",
    "domainname",
    "entrypoint",
    "expose",
    "gpus",
    "health-cmd",
    "health-interval",
    "health-retries",
    "health-start-interval",
    "health-start-period",
    "health-timeout",
    "hostname",
    "ip",
    "ip6",
    "kernel-memory",
    "label",
    "link",
    "mac-address",
    "memory",
    "memory-reservation",
    "memory-swap",
    "memory-swappiness",
    "name",
    "network-alias",
    "oom-score-adj",
    "pids-limit",
    "platform",
    "publish",
    "pull",
    "restart",
    "shm-size",
    "stop-signal",
    "stop-timeout",
    "storage-opt",
    "sysctl",
    "ulimit",
    "user",
    "workdir",
];

/// Short options by their long names.
const SHORT: [(char, &str); 15] = [
    ('a', "attach"),
    ('P', "publish-all"),
    ('c', "cpu-shares"),
    ('d', "detach"),
    ('e', "env"),
    ('h', "hostname"),
    ('i', "interactive"),
    ('l', "label"),
    ('m', "memory"),
    ('p', "publish"),
    ('q', "quiet"),
    ('t', "tty"),
    ('u', "user"),
    ('v', "volume"),
    ('w', "workdir"),
];

/// Whether one of the words makes a way out of the container, or may.
pub(super) fn open_the_host(words: &[String]) -> bool {
    let mut words = words.iter().map(|word| word.trim());
    while let Some(word) = words.next() {
        let is_closed = if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            if FLAGS.contains(&name) {
                true
            } else {
                value.or_else(|| words.next()).is_some_and(|value| is_closed(name, value))
            }
        } else if let Some(short) = word.strip_prefix('-') {
            is_short_closed(short, || words.next())
        } else {
            // The image, and what it runs: not what is judged here.
            false
        };
        if !is_closed {
            return true;
        }
    }
    false
}

/// Short options in one word: the first that takes a value has what follows it, or the next word.
fn is_short_closed<'a>(bundle: &'a str, next: impl FnOnce() -> Option<&'a str>) -> bool {
    let mut rest = bundle.chars();
    while let Some(letter) = rest.next() {
        let long = SHORT.iter().find(|(short, _)| *short == letter).map(|(_, long)| *long);
        let Some(long) = long else { return false };
        if FLAGS.contains(&long) {
            continue;
        }
        let attached = rest.as_str();
        let value = match attached.strip_prefix('=').unwrap_or(attached) {
            "" => next(),
            value => Some(value),
        };
        return value.is_some_and(|value| is_closed(long, value.trim()));
    }
    !bundle.is_empty()
}

/// Whether an option with this value leads nowhere.
fn is_closed(name: &str, value: &str) -> bool {
    match name {
        "cgroupns" => value == "private",
        "env" => !names_an_engine(value.split('=').next().unwrap_or_default()),
        "ipc" => matches!(value, "none" | "private" | "shareable"),
        // Some of them write to a path of the host.
        "log-driver" => matches!(value, "none" | "local" | "json-file" | "journald"),
        "log-opt" => ["max-size=", "max-file=", "compress=", "labels=", "mode="]
            .iter()
            .any(|option| value.starts_with(option)),
        "mount" => is_mount_closed(value),
        "net" | "network" => is_network_closed(value),
        "runtime" => matches!(value, "crun" | "kata" | "nvidia" | "runc" | "runsc" | "sysbox-runc"),
        "security-opt" => {
            matches!(
                value,
                "no-new-privileges" | "no-new-privileges=true" | "no-new-privileges:true"
            )
        }
        "tmpfs" => true,
        "volume" => !is_host_folder(value),
        _ => CLOSED.contains(&name),
    }
}

/// Whether a network is one of containers only. The name of another container may stand for the
/// network of the host.
fn is_network_closed(value: &str) -> bool {
    match value {
        "bridge" | "default" | "none" | "pasta" | "private" | "slirp4netns" => true,
        "host" => false,
        name => volume::is_name(name),
    }
}

/// Whether a mount is memory, or a volume without options of a driver: with those, a volume is any
/// folder of the host.
fn is_mount_closed(value: &str) -> bool {
    let mut kind = "volume";
    for field in value.split(',') {
        let (key, value) = field.split_once('=').unwrap_or((field, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "type" => kind = value.trim(),
            "source" | "src" if !volume::is_name(value.trim()) => return false,
            "source" | "src" | "target" | "destination" | "dst" | "readonly" | "ro"
            | "volume-nocopy" | "volume-subpath" | "tmpfs-size" | "tmpfs-mode" => {}
            _ => return false,
        }
    }
    matches!(kind, "volume" | "tmpfs")
}
