//! The one place that reads the environment of the process.

use std::collections::BTreeMap;

/// All variables of the process, by name.
///
/// Bytes that are no UTF-8 are replaced by U+FFFD: a stray variable must not stop the program.
/// Call it once, in `main`, and pass the result on.
#[must_use]
pub fn read() -> BTreeMap<String, String> {
    #[expect(clippy::disallowed_methods, reason = "this is the reader everyone else is sent to")]
    let variables = std::env::vars_os();
    variables
        .map(|(name, value)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_path_is_among_the_variables() {
        assert!(super::read().contains_key("PATH"));
    }
}
