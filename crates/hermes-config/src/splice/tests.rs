//! The exact text after an edit.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::{Edit, apply};

/// Sets a dotted key, or removes it when the value is `"REMOVE"`.
fn check(cases: &[(&str, &str, Value, &str)]) {
    for (text, key, value, expected) in cases {
        let path = key.split('.').map(str::to_owned).collect();
        let edit = match value.as_str() {
            Some("REMOVE") => Edit::Remove { path },
            _ => Edit::Set { path, value: value.clone() },
        };
        assert_eq!(apply(text, &[edit]).as_deref(), Ok(*expected), "{text:?}, {key}");
    }
}

fn remove() -> Value {
    json!("REMOVE")
}

#[test]
fn scalars_keep_what_stands_around_them() {
    check(&[
        ("a: 1 # c\n", "a", json!(2), "a: 2 # c\n"),
        ("a:   'x'   # c\r\nb: 1\r\n", "a", json!("z"), "a:   z   # c\r\nb: 1\r\n"),
        ("a: 1", "a", json!(2), "a: 2"),
        ("a: # c\n", "a", json!(2), "a: 2 # c\n"),
        ("a: &x # c\n", "a", json!(2), "a: &x 2 # c\n"),
        ("a: \"x\n  y\" # c\nb: 1\n", "a", json!("z"), "a: z # c\nb: 1\n"),
        ("a: | # c\n  x\n  # text\n\n# d\nb: 1\n", "a", json!("z"), "a: z # c\n\n# d\nb: 1\n"),
        ("a: |+\n  x\n\nb: 1\n", "a", json!(1), "a: 1\nb: 1\n"),
        ("a: # c\n  b: 1 # d\n# e\n", "a", json!(1), "a: 1 # c\n# e\n"),
        ("---\na: 1\n...\n", "a", json!(2), "---\na: 2\n...\n"),
        ("\u{feff}a: 1\nb: 2\n", "a", remove(), "\u{feff}b: 2\n"),
        ("? a\n: 1 # c\n", "a", json!(2), "? a\n: 2 # c\n"),
    ]);
}

#[test]
fn collections_take_the_indentation_of_the_file() {
    check(&[
        ("a: 1 # c\nb: 2\n", "a", json!({"k": [1]}), "a: # c\n  k:\n    - 1\nb: 2\n"),
        ("x:\n    y: 1\na:\n", "a.b.c", json!(1), "x:\n    y: 1\na:\n    b:\n        c: 1\n"),
        ("x:\n- 1\n", "a", json!([{"k": 1, "l": [2]}]), "x:\n- 1\na:\n- k: 1\n  l:\n  - 2\n"),
        ("a: {}\r\nb: 1\r\n", "a.k.l", json!(1), "a:\r\n  k:\r\n    l: 1\r\nb: 1\r\n"),
        ("a: [] # c", "a", json!([1, 2]), "a: # c\n  - 1\n  - 2"),
        ("a:\n  - 1 # d\n# e\n", "a", json!({"k": 1}), "a:\n  k: 1\n# e\n"),
        ("a: [1, 2] # c\n", "a", json!([1, 2, "x: y"]), "a: [1, 2, \"x: y\"] # c\n"),
        ("a: &x {k: 1} # c\n", "a", json!(["p"]), "a: &x # c\n  - p\n"),
    ]);
}

#[test]
fn keys_come_and_go_with_their_own_lines() {
    check(&[
        ("# a\na: 1 # c\n\n# b\nb: 2\n", "a", remove(), "# a\n\n# b\nb: 2\n"),
        ("a:\n  k: 1\n  # k\n# b\nb: 2\n", "a", remove(), "# b\nb: 2\n"),
        ("a:\n  k: 1\n\n# b\nb: 2\n", "a.l", json!(3), "a:\n  k: 1\n  l: 3\n\n# b\nb: 2\n"),
        ("a: # c\n  k: 1\nb: 2\n", "a.k", remove(), "a: {} # c\nb: 2\n"),
        ("a: {k: 1, l: 2} # c\n", "a.k", remove(), "a: {l: 2} # c\n"),
        (
            "a: {\n  k: 1, # k\n  l: 2, # l\n}\n",
            "a.m",
            json!(3),
            "a: {\n  k: 1, # k\n  l: 2, m: 3, # l\n}\n",
        ),
        ("a: {k, l: }\n", "a.k", json!(1), "a: {k: 1, l: }\n"),
        ("a: {k, l: }\n", "a.l", json!([1]), "a: {k, l: [1] }\n"),
        ("{a: 1}\n", "b", json!({"c": 2}), "{a: 1, b: {c: 2}}\n"),
        (
            "a: &x {k: 1} # c\nb:\n  <<: *x # d\n",
            "b.k",
            json!(2),
            "a: &x {k: 1} # c\nb:\n  <<: *x # d\n  k: 2\n",
        ),
        ("a: |+\n  x\n\n", "b", json!(2), "a: |+\n  x\n\nb: 2\n"),
        ("a: 1", "b", json!(2), "a: 1\nb: 2\n"),
    ]);
}

#[test]
fn list_items_keep_their_lines() {
    let text = "l: # c\n# one\n- 1 # first\n\n# two\n- 2 # second\n- {k: 3} # third\nm: 1\n";
    check(&[
        (text, "l", json!([1, 2]), &text.replace("- {k: 3} # third\n", "")),
        (text, "l", json!([2, {"k": 3}]), &text.replace("- 1 # first\n", "")),
        (text, "l", json!([1, 2, {"k": 3}, "x"]), &text.replace("m: 1", "- x\nm: 1")),
        (text, "l", json!([0, 1, 2, {"k": 3}]), &text.replace("- 1 #", "- 0\n- 1 #")),
        (text, "l", json!([1, [5], 2, {"k": 3}]), &text.replace("\n\n# two", "\n- - 5\n\n# two")),
        (text, "l", json!([1, 5, {"k": 3}]), &text.replace("- 2", "- 5")),
        (text, "l", json!([1, 2, {"k": 4, "m": 5}]), &text.replace("{k: 3}", "{k: 4, m: 5}")),
        (text, "l", json!(["x"]), "l: # c\n- x\nm: 1\n"),
        (text, "l", json!([]), "l: [] # c\nm: 1\n"),
        (
            "l:\n  - a: 1 # c\n    b: 2\n",
            "l",
            json!([{"a": 3, "b": 2}]),
            "l:\n  - a: 3 # c\n    b: 2\n",
        ),
        ("l:\n  - a: 1\n    b: 2 # c\n", "l", json!([{"b": 2}]), "l:\n  - b: 2 # c\n"),
        ("l:\n  - a: 1\n", "l", json!(["x"]), "l:\n  - x\n"),
        ("l:\n  -\n  - b\n", "l", json!([1, "b"]), "l:\n  - 1\n  - b\n"),
    ]);
}
