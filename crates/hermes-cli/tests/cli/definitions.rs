//! `hermes definitions`, `tools list`, `tools show` and `toolsets`.

use serde_json::{Value, json};

use crate::World;

fn names(definitions: &Value) -> Vec<&str> {
    let list = definitions.as_array().unwrap();
    list.iter().map(|tool| tool.pointer("/function/name").unwrap().as_str().unwrap()).collect()
}

#[test]
fn two_runs_print_the_same_bytes_in_order_of_names() {
    let world = World::new();
    let first = world.run(&["definitions", "--all"]).exits(0);
    assert_eq!(first.stdout, world.run(&["definitions", "--all"]).stdout);
    assert_eq!(first.stdout.lines().count(), 1);
    let definitions = first.json();
    let names = names(&definitions);
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(names.contains(&"todo"), cfg!(feature = "todo"));
    assert_eq!(names.contains(&"read_file"), cfg!(feature = "file"));
    assert!(first.stderr.is_empty(), "{first:?}");
}

#[cfg(feature = "todo")]
#[test]
fn each_provider_has_its_shape() {
    let world = World::new();
    for (format, schema) in [
        ("anthropic", "/0/input_schema/type"),
        ("gemini", "/0/parameters/type"),
        ("mcp", "/0/inputSchema/type"),
        ("openai", "/0/function/parameters/type"),
    ] {
        let run = world.run(&["definitions", "--toolsets", "todo", "--format", format]).exits(0);
        let kind = run.json().pointer(schema).cloned().unwrap_or_default();
        assert!(kind.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object")), "{run:?}");
    }
}

#[test]
fn a_name_that_means_nothing_is_an_error_with_the_nearest() {
    let world = World::new();
    for (args, nearest) in [
        (&["definitions", "--disable", "tod"][..], "`todo`"),
        (&["definitions", "--toolsets", "fil"], "`file`"),
        (&["definitions", "--platform", "telegran"], "`telegram`"),
        (&["tools", "list", "--toolset", "tod"], "`todo`"),
        (&["tools", "list", "--platform", "slak"], "`slack`"),
        (&["toolsets", "resolve", "wbe"], "`web`"),
        (&["toolsets", "resolve", "web", "--disable", "wbe"], "`web`"),
    ] {
        let run = world.run(args).exits(2);
        run.says(nearest);
        assert!(run.stdout.is_empty(), "{run:?}");
    }
    world.run(&["definitions", "--format", "klingon"]).exits(2);
    world.run(&["tools", "show", "web_search"]).exits(2).says("not compiled in");
}

#[test]
fn a_denial_that_denies_nothing_is_an_error_everywhere() {
    for (config, text) in [
        ("agent: {disabled_tools: [tod]}", "agent.disabled_tools: unknown name `tod`"),
        ("agent: {disabled_toolsets: [web_search]}", "is a tool"),
        ("agent: {disabled_tools: [web]}", "is a toolset"),
    ] {
        let world = World::with_config(config);
        for args in [
            &["definitions"][..],
            &["tools", "list"],
            &["tools", "--summary"],
            &["tools", "show", "todo"],
            &["call", "todo"],
            &["exec"],
        ] {
            let run = world.run(args).exits(2);
            run.says(text);
            assert!(run.stdout.is_empty(), "{run:?}");
        }
        world.run(&["doctor"]).exits(1);
        world.run(&["config", "check"]).exits(1);
    }
}

#[cfg(feature = "todo")]
#[test]
fn what_is_disabled_is_gone_everywhere() {
    for config in [
        "agent: {disabled_tools: [todo]}",
        "agent: {disabled_toolsets: [todo]}",
        "platform_toolsets: {cli: [file]}",
    ] {
        let world = World::with_config(config);
        let todo = |args: &[&str]| world.run(args).exits(0).stdout.contains("\"todo\"");
        assert!(!todo(&["definitions"]) && !todo(&["definitions", "--all"]), "{config}");
        assert!(!todo(&["tools", "list", "--json"]), "{config}");
        assert!(todo(&["tools", "list", "--json", "--all"]), "{config}");
        let refused = world.run(&["call", "todo"]).exits(3);
        assert!(refused.json()["error"].as_str().is_some_and(|why| why.contains("not enabled")));
    }
}

#[cfg(feature = "todo")]
#[test]
fn tools_are_listed_for_programs_and_for_people() {
    let world = World::with_config("agent: {disabled_tools: [todo]}");
    let rows = world
        .run(&["tools", "list", "--toolset", "todo", "--all", "--tokens", "--json"])
        .exits(0)
        .json();
    let row = &rows[0];
    assert_eq!((&row["name"], &row["emoji"]), (&json!("todo"), &json!("📋")));
    assert_eq!((&row["enabled"], &row["available"]), (&json!(false), &json!(true)));
    assert!(row["tokens"].as_u64().is_some_and(|tokens| tokens > 50), "{row}");
    assert_eq!(world.run(&["tools", "list", "--toolset", "todo", "--json"]).json(), json!([]));

    let table = world.run(&["tools", "list", "--toolset", "todo", "--all"]).exits(0);
    assert!(table.stdout.lines().any(|line| line.starts_with("📋  todo  todo     off")));
    assert!(!table.stdout.contains('\x1b'), "{table:?}");
    let coloured = world.run(&["tools", "list", "--color", "always"]).exits(0);
    assert!(coloured.stdout.contains('\x1b'));
    let shown = world.run(&["tools", "show", "todo", "--json"]).exits(0).json();
    assert_eq!(shown["parameters"]["type"], "object");
    assert_eq!(shown["agent_level"], true);
    assert!(world.run(&["tools", "show", "todo"]).exits(0).stdout.contains("Parameters"));
}

#[test]
fn toolsets_are_listed_and_resolved() {
    let world = World::new();
    let resolved = world.run(&["toolsets", "resolve", "web", "todo", "--disable", "search"]);
    assert_eq!(resolved.exits(0).stdout, "todo\nweb_extract\n");
    let json = world.run(&["toolsets", "resolve", "todo", "--json"]).exits(0).json();
    assert_eq!(json, json!(["todo"]));
    let list = world.run(&["toolsets", "list", "--json"]).exits(0).json();
    let file = list.as_array().unwrap().iter().find(|set| set["name"] == "file").unwrap();
    assert_eq!(file["tools"].as_array().unwrap().len(), 4);
    assert_eq!(file["enabled"], true);
}
