//! Names for what is made: unique ones, and ones that are safe in paths.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};

/// Characters of a name that are kept in a path.
const SEGMENT: usize = 64;

/// 32 hexadecimal digits that nobody else has and nobody can guess.
#[must_use]
pub fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The keys of the hasher are the system's random numbers.
    let half = |which: u64| {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(count);
        hasher.write_u64(which);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}

/// A name as one segment of a path, never one that leaves the folder it is in. Different names stay
/// different.
#[must_use]
pub fn path_segment(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_safe = !name.is_empty()
        && name.len() <= SEGMENT
        && !name.starts_with('.')
        && name.chars().all(is_plain);
    if is_safe {
        return name.to_owned();
    }
    let mut segment: String =
        name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(SEGMENT).collect();
    if segment.starts_with('.') {
        segment.insert(0, '_');
    }
    segment.push('-');
    for byte in Sha256::digest(name).iter().take(6) {
        let _ = write!(segment, "{byte:02x}");
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    #[test]
    fn plain_names_stay() {
        for name in ["default", "a.b-c_9", &"x".repeat(64)] {
            assert_eq!(path_segment(name), name);
        }
    }

    #[test]
    fn unique_names_differ() {
        let names: std::collections::HashSet<_> = (0..1000).map(|_| unique()).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == 32));
    }

    proptest! {
        #[test]
        fn segments_are_segments(name in ".*|[./]{0,6}") {
            let segment = path_segment(&name);
            prop_assert!(!segment.is_empty() && segment.len() < 128);
            prop_assert!(!segment.contains('/') && !segment.starts_with('.'));
        }

        #[test]
        fn different_names_stay_different(a in "[a/._]{0,5}", b in "[a/._]{0,5}") {
            prop_assert_eq!(a == b, path_segment(&a) == path_segment(&b));
        }
    }
}
