//! Edits on hand-written texts, and random ones against the same edits on plain values.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn path(dotted: &str) -> Vec<String> {
    dotted.split('.').map(str::to_owned).collect()
}

fn set(dotted: &str, value: Value) -> Edit {
    Edit::Set { path: path(dotted), value }
}

fn remove(dotted: &str) -> Edit {
    Edit::Remove { path: path(dotted) }
}

const TEXT: &str = "\
# The head.
model:
  default: 'big'  # the usual one

  # In tokens.
  context_length: 1000
list:
- a # first
- b
flow: {a: 1, b: [x, y]} # inline
none:
1: number
# The tail.
";

#[test]
fn only_the_lines_concerned_change() {
    for (edit, old, new) in [
        (set("model.default", json!("small")), "'big'  #", "small  #"),
        (set("model.context_length", json!(2)), "1000", "2"),
        (set("model.new", json!("yes")), "1000\n", "1000\n  new: \"yes\"\n"),
        (set("flow.a", json!("2")), "{a: 1,", "{a: \"2\","),
        (set("flow.c", json!(["p: q"])), "y]}", "y], c: [\"p: q\"]}"),
        (set("none.k", json!(true)), "none:\n", "none:\n  k: true\n"),
        (set("1", json!("x")), "1: number", "1: x"),
        (set("top.sub", json!({"k": []})), "1: number\n", "1: number\ntop:\n  sub:\n    k: []\n"),
        (remove("model.context_length"), "  context_length: 1000\n", ""),
        (remove("list"), "list:\n- a # first\n- b\n", ""),
        (remove("flow.b"), ", b: [x, y]", ""),
    ] {
        let result = apply(TEXT, std::slice::from_ref(&edit)).unwrap();
        let expected = TEXT.replace(old, new);
        // A new last key may come before or after the comment at the end.
        if matches!(&edit, Edit::Set { path, .. } if path == &["top", "sub"]) {
            assert_eq!(result.replace("# The tail.\n", ""), expected.replace("# The tail.\n", ""));
        } else {
            assert_eq!(result, expected, "{edit:?}");
        }
    }
}

#[test]
fn nothing_to_change_changes_nothing() {
    let same = [
        set("model.default", json!("big")),
        set("list", json!(["a", "b"])),
        remove("nowhere"),
        remove("none.k"),
        remove("model.x.y"),
    ];
    assert_eq!(apply(TEXT, &same).unwrap(), TEXT);
}

#[test]
fn awkward_texts_are_edited_too() {
    for (text, edits) in [
        ("", vec![set("a.b", json!(1))]),
        ("# only this\n", vec![set("a", json!([1, {"b": 2}]))]),
        ("# c\n{}\n# d\n", vec![set("a", json!(1)), set("b", json!("x"))]),
        ("null\n", vec![set("a", json!(1))]),
        ("---\na: 1\n...\n", vec![set("b", json!(2))]),
        ("---\n...\n", vec![set("b", json!(2))]),
        ("{a: 1}\n", vec![set("b.c", json!({"d": [1]})), remove("a")]),
        ("a: 1", vec![set("b", json!(2)), remove("a")]),
        ("a:\n  b: 1\n", vec![remove("a.b"), set("a.c", json!(1))]),
        ("a: {b: 1}\n", vec![remove("a.b")]),
        ("\u{feff}a: 1\r\nb: 2\r\n", vec![set("a", json!({"x": "y"})), set("c", json!(3))]),
        ("a: &x {k: 1}\nb: *x\n", vec![set("b.k", json!(2))]),
        ("a: &x\n  k: 1\nb:\n  <<: *x\n  l: 2\n", vec![set("b.k", json!(2)), remove("b.l")]),
        ("a: &x\n  k: 1\nb:\n  <<: *x\n  l: 2\n", vec![remove("b.k")]),
        (
            "a: |\n  x\n  # no comment\nb: >-\n  folded\n",
            vec![set("a", json!("p\nq\n")), remove("b")],
        ),
        ("? a\n: 1\n", vec![set("a", json!(2)), set("b", json!(3))]),
        ("a: \"x\n  y\"\nb: 1\n", vec![set("a", json!("z")), set("b", json!(null))]),
        ("a: !tag 5\n", vec![set("a", json!(6))]),
        (
            "a.b: 1\n'c d': {'e[0]': 2}\n",
            vec![
                Edit::Set { path: vec!["a.b".into()], value: json!(3) },
                Edit::Set { path: vec!["c d".into(), "e[0]".into()], value: json!("\\") },
                Edit::Set { path: vec!["".into(), "0".into()], value: json!(1) },
            ],
        ),
        ("a:\n- b: 1\n  c: 2\n", vec![set("a", json!([{"b": 2}])), set("d", json!([[], {}]))]),
    ] {
        let mut wanted = yaml::parse_mapping(text).unwrap();
        for edit in &edits {
            edit.apply_to(&mut wanted).unwrap();
        }
        let new = apply(text, &edits).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(yaml::parse_mapping(&new), Ok(wanted), "{text:?} became {new:?}");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let deep = (0..80).fold(json!(1), |value, _| json!([value]));
    for (text, edit, part) in [
        ("a: [1\n", set("a", json!(1)), "line 1"),
        ("- a\n", set("a", json!(1)), "a list"),
        ("a: 1\n", set("a.b", json!(1)), "`a` is a number"),
        ("a: {b: [1]}\n", remove("a.b.c"), "`a.b` is a list"),
        ("a: 1\n", Edit::Remove { path: vec![] }, "no name"),
        ("a: 1\n", set("a", deep), "deeper"),
        ("a: &x {k: 1}\nb: *x\n", set("a.k", json!(2)), "by hand"),
    ] {
        let error = apply(text, &[edit]).unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{text:?}: {error}");
    }
}

/// A random mapping as people write one, every comment with its own number.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    comments: usize,
}

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        Just("on".to_owned()),
        Just("12".to_owned()),
        Just("'it''s # so'".to_owned()),
        Just("\"a: b\"".to_owned()),
        Just("[p, q]".to_owned()),
        Just("{p: 1, q: {r: s}}".to_owned()),
        Just(String::new()),
    ]
}

fn written() -> impl Strategy<Value = Written> {
    let below = prop::collection::vec((0..4u8, leaf(), any::<[bool; 3]>()), 0..4);
    let top = (0..4u8, leaf(), below, any::<[bool; 3]>(), 0..3u8);
    prop::collection::vec(top, 0..5).prop_map(|tops| {
        let mut out = Written { text: String::new(), comments: 0 };
        let mut used = Vec::new();
        for (name, value, below, marks, shape) in tops {
            if used.contains(&name) {
                continue;
            }
            used.push(name);
            let (before, value) = if shape == 0 || below.is_empty() {
                (marks, value)
            } else {
                (marks, String::new())
            };
            line(&mut out, "", &format!("k{name}"), &value, before);
            if shape == 0 {
                continue;
            }
            let mut used = Vec::new();
            for (name, value, marks) in below {
                if !value.is_empty() && !used.contains(&name) {
                    used.push(name);
                    line(&mut out, "  ", &format!("k{name}"), &value, marks);
                }
            }
        }
        out
    })
}

fn line(
    out: &mut Written,
    indent: &str,
    key: &str,
    value: &str,
    [blank, before, after]: [bool; 3],
) {
    if blank {
        out.text.push('\n');
    }
    if before {
        out.text.push_str(&format!("{indent}# comment {};\n", out.comments));
        out.comments += 1;
    }
    out.text.push_str(&format!("{indent}{key}: {value}"));
    if after {
        out.text.push_str(&format!(" # comment {};", out.comments));
        out.comments += 1;
    }
    out.text.push('\n');
}

/// The comments that do not stand within the top-level key an edit is about.
fn comments_of_others<'a>(text: &'a str, path: &[String]) -> Vec<&'a str> {
    let root = tree::read(text).unwrap();
    let keys = match root.as_ref().map(|root| &root.kind) {
        Some(Kind::Map(map)) => top_level_keys(map).unwrap(),
        _ => Vec::new(),
    };
    let index = keys.iter().position(|(key, _)| *key == path[0]);
    let start = index.map_or(text.len(), |index| keys[index].1);
    let end = index.and_then(|index| keys.get(index + 1)).map_or(text.len(), |&(_, at)| at);
    let lines = text.get(..start).unwrap().lines().chain(text.get(end..).unwrap().lines());
    lines.filter_map(|line| line.find("# comment").and_then(|at| line.get(at..))).collect()
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<Option<bool>>().prop_map(|v| json!(v)),
        any::<i32>().prop_map(|v| json!(v)),
        "[a-z: ]{0,12}".prop_map(|v| json!(v)),
        Just(json!({})),
        Just(json!(["x", {"y": 1}])),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let key = (0..5u8).prop_map(|n| format!("k{n}"));
    let value = prop_oneof![
        any::<Option<bool>>().prop_map(|v| json!(v)),
        any::<i32>().prop_map(|v| json!(v)),
        ".{0,12}".prop_map(|v| json!(v)),
        prop::collection::vec("[a-z ]{0,5}", 0..3).prop_map(|v| json!(v)),
        ("[a-z]{1,3}", ".{0,4}").prop_map(|(k, v)| json!({k: {"n": [v]}})),
    ];
    (prop::collection::vec(key, 1..4), prop::option::of(value)).prop_map(
        |(path, value)| match value {
            Some(value) => Edit::Set { path, value },
            None => Edit::Remove { path },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn edits_give_what_they_give_on_plain_values(written in written(), edits in prop::collection::vec(edit(), 1..6)) {
        if let Ok(mut value) = yaml::parse_mapping(&written.text) {
            let mut text = written.text;
            for edit in edits {
                let mut wanted = value.clone();
                match edit.apply_to(&mut wanted) {
                    Ok(changed) => {
                        let new = apply(&text, std::slice::from_ref(&edit))
                            .map_err(|error| TestCaseError::fail(format!("{error}\n{edit:?}\n{text}")))?;
                        prop_assert_eq!(yaml::parse_mapping(&new), Ok(wanted.clone()));
                        prop_assert!(changed || new == text);
                        for comment in comments_of_others(&text, edit.path()) {
                            prop_assert!(new.contains(comment), "{comment}\n{edit:?}\n{text}\n=>\n{new}");
                        }
                        (text, value) = (new, wanted);
                    }
                    Err(error) => prop_assert_eq!(apply(&text, &[edit]), Err(error)),
                }
            }
        }
    }

    #[test]
    fn comments_outside_the_changed_value_stay(written in written(), key in 0..5u8, value in "[a-z]{1,5}") {
        // A key nobody has: every comment has to be there afterwards.
        let edits = [set("k0.fresh", json!(value)), set(&format!("z{key}"), json!([value])), remove("k0.fresh")];
        for edit in edits {
            if let Ok(new) = apply(&written.text, std::slice::from_ref(&edit)) {
                for number in 0..written.comments {
                    let comment = format!("# comment {number};");
                    prop_assert_eq!(new.matches(&comment).count(), 1, "{:?}\n{}\n=>\n{}", edit, written.text, new);
                }
            }
        }
    }

    #[test]
    fn every_comment_stays_but_those_of_what_goes(written in written(), keys in (0..5u8, prop::option::of(0..5u8)), value in scalar()) {
        let (top, below) = keys;
        let path = std::iter::once(top).chain(below).map(|n| format!("k{n}")).collect::<Vec<_>>();
        if let Ok(old) = yaml::parse_mapping(&written.text) {
            let pointer = format!("/{}", path.join("/"));
            let holds = |value: &Value| value.is_array() || value.is_object();
            // A collection takes the comments within it along.
            if !old.pointer(&pointer).is_some_and(holds) {
                let edit = Edit::Set { path, value };
                if let Ok(new) = apply(&written.text, std::slice::from_ref(&edit)) {
                    for number in 0..written.comments {
                        let comment = format!("# comment {number};");
                        prop_assert_eq!(new.matches(&comment).count(), 1, "{:?}\n{}\n=>\n{}", edit, written.text, new);
                    }
                }
            }
        }
    }

    #[test]
    fn lists_change_by_the_lines_of_their_items(old in prop::collection::vec("[a-d]", 1..7), new in prop::collection::vec("[a-d]", 1..7), indent in 0..4_usize) {
        let pad = " ".repeat(indent);
        let mut text = "l:\n".to_owned();
        for (number, item) in old.iter().enumerate() {
            text.push_str(&format!("{pad}# above {number};\n{pad}- {item} # behind {number};\n"));
        }
        text.push_str("m: 1\n");
        let result = apply(&text, &[set("l", json!(new))]).unwrap();
        prop_assert_eq!(yaml::parse(&result), Ok(json!({"l": new, "m": 1})));
        if old.iter().any(|item| new.contains(item)) && old[0] == new[0] {
            for number in 0..old.len() {
                let comment = format!("{pad}# above {number};\n");
                prop_assert!(result.contains(&comment), "{}\n{:?}\n{}", text, new, result);
            }
        }
    }

    #[test]
    fn no_text_is_too_odd(text in "([a-c]: |[a-c]|\n|  |- |[\\[\\]{}&*!|>'\"#,?:%@~<-]|<<: |--- |\r\n|\u{feff}){0,24}", edit in edit()) {
        let old = yaml::parse_mapping(&text);
        if let (Ok(new), Ok(mut wanted)) = (apply(&text, std::slice::from_ref(&edit)), old) {
            edit.apply_to(&mut wanted).unwrap();
            prop_assert_eq!(yaml::parse_mapping(&new), Ok(wanted));
        }
    }
}
