//! Which names tools may have.

/// Names of the tool-search bridge. No source may register them.
pub const RESERVED_NAMES: [&str; 3] = ["tool_call", "tool_describe", "tool_search"];

/// The longest tool name that every model provider takes, in bytes.
pub const MAX_NAME_LEN: usize = 64;

/// Whether `name` can be the name of a linked tool: `^[a-z][a-z0-9_]{0,63}$`.
///
/// `register!` evaluates this at compile time.
pub const fn is_valid_name(name: &str) -> bool {
    let Some((first, mut rest)) = name.as_bytes().split_first() else { return false };
    if name.len() > MAX_NAME_LEN || !first.is_ascii_lowercase() {
        return false;
    }
    while let Some((byte, tail)) = rest.split_first() {
        if !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_') {
            return false;
        }
        rest = tail;
    }
    true
}

/// Whether `name` can be the name of a tool registered at run time: `^[A-Za-z0-9_-]{1,64}$`.
///
/// Tools of foreign servers keep their spelling, so this is wider than [`is_valid_name`], yet no
/// wider than what providers accept.
pub fn is_valid_dynamic_name(name: &str) -> bool {
    (1..=MAX_NAME_LEN).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_names() {
        for (name, valid) in [
            ("a", true),
            ("read_file2", true),
            ("", false),
            ("2a", false),
            ("_a", false),
            ("Read", false),
            ("read-file", false),
            ("é", false),
        ] {
            assert_eq!(is_valid_name(name), valid, "{name}");
        }
        assert!(is_valid_name(&"a".repeat(64)));
        assert!(!is_valid_name(&"a".repeat(65)));
    }

    #[test]
    fn run_time_names_are_wider() {
        assert!(is_valid_dynamic_name("mcp__GitHub__list-prs"));
        assert!(!is_valid_dynamic_name("a b"));
        assert!(!is_valid_dynamic_name(""));
    }
}
