//! Staying within a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::super::{lexical, links, within};

#[test]
fn traversal() {
    for (path, expected) in [
        ("a/../b", true),
        ("a\\..\\b", true),
        ("..", true),
        ("../../etc/passwd", true),
        ("a/..", true),
        ("a/..b/c", false),
        ("a/b..", false),
        ("...", false),
        ("", false),
    ] {
        assert_eq!(within::has_traversal(path), expected, "{path}");
    }
}

/// A file system of links only.
type Links = BTreeMap<PathBuf, PathBuf>;

fn inside(links: &Links, path: &str) -> Option<PathBuf> {
    within::inside(Path::new("/r"), Path::new(path), |path| Ok(links.get(path).cloned()))
}

#[test]
fn staying_inside() {
    let links: Links = [
        ("/r/out", "/etc"),
        ("/r/up", "../x"),
        ("/r/in", "sub/deep"),
        ("/r/sub/deep/back", "../../.."),
        ("/r/loop", "loop"),
        ("/r/self", "/r"),
        ("/alias", "/r"),
    ]
    .map(|(from, to)| (from.into(), to.into()))
    .into();
    for (path, expected) in [
        ("sub/a.txt", Some("/r/sub/a.txt")),
        ("", Some("/r")),
        (".", Some("/r")),
        ("../x", None),
        ("../r/x", Some("/r/x")),
        ("../rx", None),
        ("sub/../../x", None),
        ("/etc/passwd", None),
        ("/r/x", Some("/r/x")),
        ("/alias/x", Some("/r/x")),
        ("out/x", None),
        ("out", None),
        ("out/../r/x", Some("/r/x")),
        ("up", None),
        ("in/x", Some("/r/sub/deep/x")),
        ("in/../x", Some("/r/sub/x")),
        ("in/back/x", None),
        ("loop/x", None),
        ("self/self/x", Some("/r/x")),
        ("a\0b", None),
    ] {
        assert_eq!(inside(&links, path), expected.map(PathBuf::from), "{path:?}");
    }
    let fails = |_: &Path| Err(std::io::Error::from(std::io::ErrorKind::PermissionDenied));
    assert_eq!(within::inside(Path::new("/r"), Path::new("x"), fails), None);
    let long = "a/".repeat(links::MAX_LENGTH);
    assert_eq!(inside(&Links::new(), &long), None);
    assert_eq!(within::inside(Path::new("r"), Path::new("x"), |_| Ok(None)), None);
}

#[test]
fn a_root_that_is_a_link_is_followed() {
    let read = |path: &Path| Ok((path == Path::new("/alias")).then(|| PathBuf::from("/r")));
    let found = within::inside(Path::new("/alias"), Path::new("/r/x"), read);
    assert_eq!(found, Some(PathBuf::from("/r/x")));
}

proptest! {
    #[test]
    fn what_is_inside_has_no_link_left_and_lies_below(
        links in proptest::collection::btree_map("/r(/[abc]){1,3}", "(\\.\\./){0,3}[abc](/[abc]){0,2}|/r/[abc]|/[abc]", 0..6),
        path in "([abc]|\\.\\.|\\.)(/([abc]|\\.\\.|\\.)){0,6}",
    ) {
        let links: Links = links.into_iter().map(|(from, to)| (from.into(), to.into())).collect();
        if let Some(real) = inside(&links, &path) {
            prop_assert!(real.starts_with("/r"));
            prop_assert!(real.ancestors().all(|part| !links.contains_key(part)));
            prop_assert_eq!(lexical(&real), real);
        }
    }
}
