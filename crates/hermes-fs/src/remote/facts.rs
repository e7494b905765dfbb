//! What `stat` says.

use std::time::{Duration, SystemTime};

use crate::stat::{Closed, Kind, Stat};

const TYPE: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;

/// Reads what `st` of the scripts printed: length, number, device, time of change (whole seconds,
/// then in a longer form with the fraction), and after a bar mode, names, owner and group.
pub(super) fn stat(line: &str, closed: bool) -> Option<Stat> {
    let (what, who) = line.trim().split_once('|')?;
    let mut what = what.splitn(5, ' ');
    let mut number = || what.next()?.parse::<u64>().ok();
    let (len, inode, device, seconds) = (number()?, number()?, number()?, number()?);
    let modified = SystemTime::UNIX_EPOCH + Duration::new(seconds, fraction(what.next()?));
    let mut who = who.split(' ');
    let mode = u32::from_str_radix(who.next()?, 16).ok()?;
    let mut number = || who.next()?.parse::<u64>().ok();
    let (links, uid, gid) = (number()?, number()?, number()?);
    Some(Stat {
        kind: match mode & TYPE {
            FILE => Kind::File,
            FOLDER => Kind::Folder,
            _ => Kind::Other,
        },
        len,
        modified: Some(modified),
        device,
        inode,
        links,
        mode: mode & 0o7777,
        uid: uid.try_into().ok()?,
        gid: gid.try_into().ok()?,
        closed: closed.then_some(Closed::Permissions),
        told: line.split('|').next().map(Into::into),
    })
}

/// The nanoseconds behind the first dot.
pub(super) fn fraction(text: &str) -> u32 {
    let digits = text.split_once('.').map_or("", |(_, rest)| rest);
    let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn both_dialects() {
        for line in [
            "12 34 56 1700000000 2023-11-14 22:13:20.123456789 +0000|81a4 1 1000 100\n",
            "12 34 56 1700000000 1700000000.123456789|81A4 1 1000 100",
        ] {
            let stat = stat(line, true).unwrap();
            assert_eq!((stat.kind, stat.len, stat.mode), (Kind::File, 12, 0o644));
            assert_eq!((stat.inode, stat.device, stat.links), (34, 56, 1));
            assert_eq!((stat.uid, stat.gid, stat.closed), (1000, 100, Some(Closed::Permissions)));
            let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
            assert_eq!(stat.modified, Some(time));
        }
        assert_eq!(stat("1 2 3 4 x|41ed 2 0 0", false).unwrap().kind, Kind::Folder);
        assert_eq!(stat("1 2 3 4 x|21b6 1 0 0", false).unwrap().kind, Kind::Other);
        for slip in ["", "1 2 3", "a b c d e|f", "1 2 3 4 5|zz 1 1 1"] {
            assert_eq!(stat(slip, false), None, "{slip}");
        }
    }

    #[test]
    fn fractions() {
        for (text, expected) in [
            ("x", 0),
            ("1.5", 500_000_000),
            ("1.", 0),
            ("1.000000001 x", 1),
            ("0.1234567891", 123_456_789),
        ] {
            assert_eq!(fraction(text), expected, "{text}");
        }
    }
}
