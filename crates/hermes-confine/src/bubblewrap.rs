//! What is written before a command so that bubblewrap runs it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::rules::{Rules, Verdict};

/// What the superuser keeps: what belongs to files of its own and of others, to processes and to
/// the use of a network. With the rest it could mount anew what was mounted read-only.
const KEPT: [&str; 9] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETGID",
    "CAP_SETUID",
];

/// How a path appears to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Writable,
    ReadOnly,
    Empty,
}

/// The words before the command. The rules must be resolved; `sockets` are made unusable.
///
/// `--die-with-parent` isn't among them: the kernel ties it to the *thread* that forks, which for us
/// ends long before the command does. `--unshare-pid` neither: what a command leaves running in the
/// background would end with it, and process numbers would mean something else to the host.
pub(crate) fn prefix(
    program: &Path,
    rules: &Rules,
    sockets: impl IntoIterator<Item = PathBuf>,
    superuser: bool,
) -> Vec<OsString> {
    let mut words = vec![program.as_os_str().to_owned()];
    let all = rules.writable.iter().any(|it| it.parent().is_none());
    add(&mut words, if all { "--bind" } else { "--ro-bind" }, ["/", "/"]);
    add(&mut words, "--dev", ["/dev"]);
    add(&mut words, "--bind-try", ["/dev/shm", "/dev/shm"]);
    let mut hidden_folders = Vec::new();
    for (path, seen) in places(rules) {
        let path = path.as_path();
        match seen {
            // Devices that are named may be used.
            Seen::Writable if path.starts_with("/dev") => {
                add(&mut words, "--dev-bind-try", [path, path]);
            }
            Seen::Writable => add(&mut words, "--bind-try", [path, path]),
            Seen::ReadOnly => add(&mut words, "--ro-bind-try", [path, path]),
            Seen::Empty if path.is_dir() => {
                add(&mut words, "--tmpfs", [path]);
                hidden_folders.push(path.to_owned());
            }
            Seen::Empty => add(&mut words, "--ro-bind", [Path::new("/dev/null"), path]),
        }
    }
    for path in hidden_folders {
        add(&mut words, "--remount-ro", [path]);
    }
    for socket in sockets {
        add(&mut words, "--ro-bind", [Path::new("/dev/null"), &socket]);
    }
    if !rules.network {
        add(&mut words, "--unshare-net", [""; 0]);
    }
    if superuser {
        add(&mut words, "--cap-drop", ["ALL"]);
        for capability in KEPT {
            add(&mut words, "--cap-add", [capability]);
        }
    }
    words.push("--".into());
    words
}

fn add<W: Into<OsString>>(
    words: &mut Vec<OsString>,
    option: &str,
    args: impl IntoIterator<Item = W>,
) {
    words.push(option.into());
    words.extend(args.into_iter().map(Into::into));
}

/// How paths appear, parents first: what is mounted later covers what was mounted before.
fn places(rules: &Rules) -> BTreeMap<PathBuf, Seen> {
    let mut places = BTreeMap::new();
    for path in &rules.protected {
        // A folder on the way to it could be moved away with all that is in it and a new one put
        // there; a place where something is mounted can't.
        for above in path.ancestors().skip(1) {
            if above.parent().is_none() || rules.about(above) != Verdict::Writable {
                break;
            }
            places.insert(above.to_owned(), Seen::Writable);
        }
    }
    let not_root = |path: &&PathBuf| path.parent().is_some();
    places.extend(rules.writable.iter().filter(not_root).map(|it| (it.clone(), Seen::Writable)));
    places.extend(rules.protected.iter().filter(not_root).map(|it| (it.clone(), Seen::ReadOnly)));
    places.extend(rules.hidden.iter().filter(not_root).map(|it| (it.clone(), Seen::Empty)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn text(rules: &Rules, sockets: &[&str], superuser: bool) -> String {
        let sockets = sockets.iter().map(PathBuf::from);
        let words = prefix(Path::new("/usr/bin/bwrap"), rules, sockets, superuser);
        words.iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn parents_come_first_and_the_way_to_what_is_protected_is_pinned() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("w/.git/hooks")).unwrap();
        fs::create_dir_all(root.join("w/.ssh")).unwrap();
        fs::write(root.join("w/.env"), "").unwrap();
        let rules = Rules {
            writable: vec![root.join("w")],
            protected: vec![root.join("w/.git/hooks")],
            hidden: vec![root.join("w/.ssh"), root.join("w/.env")],
            network: false,
        };
        let w = root.join("w").display().to_string();
        let expected = format!(
            "/usr/bin/bwrap --ro-bind / / --dev /dev --bind-try /dev/shm /dev/shm \
             --bind-try {w} {w} --ro-bind /dev/null {w}/.env --bind-try {w}/.git {w}/.git \
             --ro-bind-try {w}/.git/hooks {w}/.git/hooks --tmpfs {w}/.ssh --remount-ro {w}/.ssh \
             --ro-bind /dev/null /run/x --unshare-net --"
        );
        assert_eq!(text(&rules.resolved(), &["/run/x"], false), expected);
    }

    #[test]
    fn everything_may_be_writable() {
        let rules = Rules {
            writable: vec!["/".into(), "/dev/tty".into()],
            network: true,
            ..Rules::default()
        };
        let text = text(&rules, &[], true);
        assert!(text.starts_with("/usr/bin/bwrap --bind / / --dev /dev "), "{text}");
        assert!(text.contains("--dev-bind-try /dev/tty /dev/tty --cap-drop ALL "), "{text}");
        assert!(!text.contains("--unshare-net"), "{text}");
    }
}
