//! Names for the files of stored results.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Longest stem that is taken from a call id; they are ASCII, so bytes.
const LONGEST_STEM: usize = 120;
/// Stem for a call without an id.
const NO_ID: &str = "tool_result";
/// Bytes of the digest that tell apart ids that look alike; two hex digits each.
const DIGEST_BYTES: usize = 6;
/// What a stem neither begins nor ends with.
const TRIMMED: [char; 3] = ['.', '_', '-'];

/// The name of the file that stores the result of the call with this id: safe as a file name
/// whatever the id holds, and different for different ids.
#[must_use]
pub fn file_name(id: &str) -> String {
    let mut stem = String::with_capacity(id.len().min(LONGEST_STEM) + 1);
    let mut replacing = false;
    for c in id.chars() {
        let safe = c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if safe {
            stem.push(c);
        } else if !replacing {
            stem.push('_');
        }
        replacing = !safe;
    }
    let stem = stem.trim_matches(TRIMMED);
    let stem = if stem.is_empty() { NO_ID } else { stem };
    if id.is_empty() || (stem == id && stem.len() <= LONGEST_STEM) {
        return format!("{stem}.txt");
    }
    let cut = stem.get(..LONGEST_STEM).unwrap_or(stem).trim_matches(TRIMMED);
    let mut name = format!("{cut}_");
    for byte in Sha256::digest(id).iter().take(DIGEST_BYTES) {
        // Writing to a text can't fail.
        let _ = write!(name, "{byte:02x}");
    }
    name.push_str(".txt");
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_and_their_names() {
        assert_eq!(file_name("call_1"), "call_1.txt");
        assert_eq!(file_name(""), "tool_result.txt");
        assert_eq!(file_name("../../etc/passwd"), "etc_passwd_3754d6cb3a38.txt");
        assert!(file_name("///").starts_with("tool_result_"));
        assert!(file_name("a  é b").starts_with("a_b_"));
        assert!(file_name("call_1.").starts_with("call_1_"));
        assert_eq!(file_name(&"x".repeat(120)).len(), 124);
        assert_eq!(file_name(&"x".repeat(121)).len(), 120 + 1 + 12 + 4);
        let cut_at_a_dot = format!("{}.y", "x".repeat(119));
        assert!(file_name(&cut_at_a_dot).starts_with(&format!("{}_", "x".repeat(119))));
    }

    proptest! {
        #[test]
        fn any_id_gives_a_safe_name(id in ".{0,200}", other in ".{0,200}") {
            let name = file_name(&id);
            prop_assert!(name.len() <= 137);
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)));
            prop_assert!(name.starts_with(|c: char| c.is_ascii_alphanumeric()));
            prop_assert!(id == other || name != file_name(&other));
        }
    }
}
