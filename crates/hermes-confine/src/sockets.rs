//! Unix sockets that programs listen on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The flag of a socket that accepts connections.
const ACCEPTS: u64 = 0x1_0000;

/// The paths in the kernel's table that are listened on.
pub(crate) fn listening(table: &str) -> BTreeSet<PathBuf> {
    // Number, references, protocol, flags, type, state, inode; the path may have blanks.
    let path = |line: &str| {
        let mut rest = line;
        let mut flags = None;
        for column in 0..7 {
            let (word, after) = rest.trim_start().split_once(' ')?;
            if column == 3 {
                flags = u64::from_str_radix(word, 16).ok();
            }
            rest = after;
        }
        (rest.starts_with('/') && flags? & ACCEPTS != 0).then(|| PathBuf::from(rest))
    };
    table.lines().filter_map(path).collect()
}

/// How old a socket is before it is taken for a daemon's.
const SETTLED: Duration = Duration::from_secs(60);

/// Whether a socket is likely to be there for longer: programs and containers make and remove
/// sockets all the time, and covering up one that is just being removed fails.
pub(crate) fn stays(socket: &Path) -> bool {
    let modified = socket.metadata().and_then(|it| it.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= SETTLED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listeners_with_a_path_count() {
        let table = "\
Num       RefCount Protocol Flags    Type St Inode Path
00000000c322ea67: 00000003 00000000 00000000 0001 03  1616
00000000c322ea68: 00000002 00000000 00010000 0001 01 17000 /run/docker.sock
00000000c322ea69: 00000003 00000000 00000000 0001 03 17001 /run/client
00000000c322ea6a: 00000002 00000000 00010000 0001 01 17002 @/tmp/.X11-unix/X0
00000000c322ea6b: 00000002 00000000 00010000 0005 01   173 /run/with a blank
00000000c322ea6c: 00000002 00000000 nonsense 0001 01 17002 /x
";
        let found: Vec<_> = listening(table).into_iter().collect();
        assert_eq!(found, [PathBuf::from("/run/docker.sock"), "/run/with a blank".into()]);
        assert!(listening("").is_empty());
    }

    #[test]
    fn what_comes_and_goes_is_told_by_age() {
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        let file = dir.path().join("socket");
        let file_of = std::fs::File::create(&file).unwrap();
        assert!(!stays(&file) && !stays(&dir.path().join("gone")));
        file_of.set_modified(std::time::SystemTime::now() - 2 * SETTLED).unwrap();
        assert!(stays(&file));
    }
}
