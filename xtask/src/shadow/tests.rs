//! Names over several crates, from made-up registrations and dumps.

use super::*;

fn at(name: &str, toolset: &str, folder: &str, line: usize) -> Registration {
    Registration {
        name: name.into(),
        toolset: toolset.into(),
        folder: folder.into(),
        file: format!("crates/{folder}/src/lib.rs"),
        line,
    }
}

fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn one_name_in_two_crates_names_both_places() {
    let found =
        names(&[at("a", "x", "tool-x", 3), at("a", "y", "tool-y", 7), at("b", "y", "tool-y", 9)]);
    assert_eq!(
        shown(&found),
        ["crates/tool-y/src/lib.rs:7: a is registered already, at crates/tool-x/src/lib.rs:3"]
    );
}

#[test]
fn names_that_cannot_be_used() {
    for (name, expected) in [
        ("tool_search", Some("reserved")),
        ("Read", Some("doesn't match")),
        ("2a", Some("doesn't match")),
        ("a-b", Some("doesn't match")),
        ("", Some("doesn't match")),
        ("a2_b", None),
    ] {
        let found = names(&[at(name, "x", "tool-x", 1)]);
        assert_eq!(found.is_empty(), expected.is_none(), "{name}");
        assert!(found.iter().all(|it| it.message.contains(expected.unwrap())), "{found:?}");
    }
    assert!(is_tool_name(&"a".repeat(64)) && !is_tool_name(&"a".repeat(65)));
}

#[test]
fn a_tool_is_in_its_crates_toolset() {
    let krate = ToolCrate {
        folder: "tool-x".into(),
        feature: "x".into(),
        package: "hermes-tool-x".into(),
        toolset: "x".into(),
        default: false,
        groups: vec![],
        extras: vec![],
    };
    let all =
        [at("a", "x", "tool-x", 1), at("b", "y", "tool-x", 2), at("c", "x", "hermes-agent", 3)];
    let found = toolsets(&all, &[krate]);
    assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn the_plan_only_shrinks() {
    let found = planned_by_now(&[at("a", "x", "tool-x", 1)], &[(4, "a".into()), (5, "b".into())]);
    assert_eq!(
        shown(&found),
        [
            "xtask/planned-tools.txt:4: a is no longer planned, crates/tool-x/src/lib.rs registers it: remove the line"
        ]
    );
}

#[test]
fn sources_dump_and_toolsets_agree() {
    let dump = Dump::parse(
        r#"{"tools": {"a": {}, "ghost": {}},
            "toolsets": {"x": ["a", "later"], "y": ["nobody"]}}"#,
    )
    .unwrap();
    let all = [at("a", "x", "tool-x", 1), at("b", "x", "tool-x", 2)];
    assert_eq!(
        shown(&unlinked(&all, &dump)),
        [
            "crates/tool-x/src/lib.rs:2: b isn't linked with all features on",
            "ghost: is linked, but no `register!` in the sources has its name",
        ]
    );
    let found = rows(&all, &[(1, "later".into())], &dump).unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("lists nobody"), "{found:?}");
    assert!(rows(&all, &[], &Dump::parse("{\"tools\": {}}").unwrap()).is_err());
}

#[test]
fn registrations_of_a_folder_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project { root: folder.path().to_path_buf() };
    for (path, text) in [
        ("crates/tool-x/src/lib.rs", "mod deep;\nregister! { name: \"a\", toolset: \"x\" }"),
        ("crates/tool-x/src/deep.rs", "register! { name: NAME, toolset: \"x\" }"),
        ("crates/tool-y/src/lib.rs", "register! { name: \"a\", toolset: \"y\" }"),
        ("crates/tool-y/tests/t.rs", "register! { name: \"t\", toolset: \"y\" }"),
    ] {
        let path = project.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let (found, faults) = registrations::of_project(&project).unwrap();
    let places: Vec<_> = found.iter().map(|it| (it.folder.as_str(), it.line)).collect();
    assert_eq!(places, [("tool-x", 2), ("tool-y", 1)]);
    assert_eq!(faults.len(), 1);
    assert_eq!(names(&found).len(), 1);
}
