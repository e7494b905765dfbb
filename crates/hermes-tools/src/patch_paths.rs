//! Which files a patch names: all that its call may change.

/// The paths in the headers of a patch. Rather one too many: what is not there is not kept.
pub(crate) fn patched(patch: &str) -> impl Iterator<Item = &str> {
    const HEADERS: [&str; 5] =
        ["Update File:", "Add File:", "Delete File:", "Move File:", "Move to:"];
    patch
        .lines()
        .filter_map(|line| line.trim().strip_prefix("***").map(str::trim_start))
        .filter_map(|line| HEADERS.iter().find_map(|header| line.strip_prefix(header)))
        .flat_map(|paths| paths.split(" -> "))
        .map(str::trim)
        .filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_all_it_touches() {
        let patch = "*** Begin Patch\n*** Update File: a b.rs\n*** Move to: c.rs\n@@\n-x\n+y\n\
                     ***Add File:  d\n+*** Delete File: not this\n*** Delete File: e\r\n\
                     *** Move File: f -> g/h\n*** Update File:\n*** End Patch";
        let named: Vec<_> = patched(patch).collect();
        assert_eq!(named, ["a b.rs", "c.rs", "d", "e", "f", "g/h"]);
    }
}
