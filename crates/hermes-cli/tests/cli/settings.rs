//! `hermes config`, `features`, `doctor` and the choice of the home folder.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::World;

#[test]
fn settings_are_changed_and_read() {
    let world = World::with_config("# mine\nmodel: {default: a}  # keep\n");
    let get = |key: &str| world.run(&["config", "get", key]);
    assert_eq!(get("tools.tool_search.enabled").exits(0).stdout, "auto\n");
    assert_eq!(get("model.default").exits(0).stdout, "a\n");
    get("model.context_length").exits(1).says("not set");
    get("a..b").exits(2);
    world.run(&["config", "set", "model.context_length", "128000"]).exits(0);
    assert_eq!(get("model.context_length").exits(0).stdout, "128000\n");
    assert!(world.config().starts_with("# mine\n") && world.config().contains("# keep"));
    let path = world.run(&["config", "path"]).exits(0);
    assert_eq!(path.stdout.trim_end(), world.config_path().to_str().unwrap());
    let list = world.run(&["config", "list", "--json"]).exits(0).json();
    let set = list.as_array().unwrap().iter().filter(|row| row["set"] == true).count();
    assert_eq!(set, 2);
    assert!(world.run(&["config", "list"]).exits(0).stdout.contains("model.context_length"));
}

#[test]
fn values_that_make_no_sense_are_refused() {
    let world = World::new();
    for (key, value) in [
        ("checkpoints.enabled", "maybe"),
        ("agent.disabled_tools", "{a: 1}"),
        ("agent.disabled_tools", "[no_such_tool]"),
        ("lsp.wait_mode", "sideways"),
        ("model.default", "[a"),
    ] {
        world.run(&["config", "set", key, value]).exits(2);
    }
    assert!(!world.config_path().exists());
    world.run(&["config", "set", "modle.default", "x"]).exits(0).says("did you mean `model`?");
}

#[test]
fn secrets_are_masked_unless_asked_for() {
    let world = World::with_config("mcp_servers: {a: {headers: {api_key: hunter2}}}\n");
    let key = "mcp_servers.a.headers";
    assert!(!world.run(&["config", "get", key]).exits(0).stdout.contains("hunter2"));
    assert!(world.run(&["config", "get", key, "--reveal"]).exits(0).stdout.contains("hunter2"));
}

#[test]
fn a_broken_configuration_is_bad_input() {
    let world = World::with_config("agent: [\n");
    for args in [
        &["tools", "list"][..],
        &["definitions"],
        &["call", "todo"],
        &["exec"],
        &["config", "get", "toolsets"],
        &["config", "check"],
        &["features"],
    ] {
        let run = world.run(args).exits(2);
        run.says("config.yaml");
        assert!(run.stdout.is_empty(), "{run:?}");
    }
    world.run(&["config", "path"]).exits(0);
    let doctor = world.run(&["doctor", "--json"]).exits(1).json();
    assert_eq!(doctor["problems"][0]["severity"], "error");
}

#[test]
fn the_doctor_and_the_check_agree() {
    let world = World::new();
    assert_eq!(world.run(&["config", "check", "--json"]).exits(0).json(), json!([]));
    let healthy = world.run(&["doctor", "--json"]).exits(0).json();
    assert_eq!(healthy["problems"], json!([]));
    assert_eq!(healthy["home"], world.home.path().to_str().unwrap());
    assert!(world.run(&["doctor"]).exits(0).stdout.contains("Toolsets"));
    let world = World::with_config("checkpoints: {enabled: maybe}\nplatform_toolsets: {cli: [x]}");
    let problems = world.run(&["config", "check", "--json"]).exits(1).json();
    assert_eq!(world.run(&["doctor", "--json"]).exits(1).json()["problems"], problems);
    assert!(problems.as_array().unwrap().len() >= 2, "{problems}");
}

#[test]
fn features_tell_what_is_here_and_what_is_missing() {
    let world = World::with_config("platform_toolsets: {slack: [spotify]}\n");
    let features = world.run(&["features", "--json"]).exits(0).json();
    let compiled_in = features["compiled_in"].as_array().unwrap();
    for feature in compiled_in {
        assert!(!feature["tools"].as_array().unwrap().is_empty(), "{feature}");
    }
    assert_eq!(compiled_in.iter().any(|it| it["feature"] == "file"), cfg!(feature = "file"));
    let missing = features["missing"].as_array().unwrap();
    assert!(
        missing.contains(&json!({"toolset": "spotify", "platforms": ["slack"]})),
        "{missing:?}"
    );
    world.run(&["features"]).exits(0);
}

#[test]
fn the_home_is_an_option_before_it_is_a_variable() {
    let world = World::new();
    let other = World::with_config("model: {default: other}\n");
    let home = other.home.path().to_str().unwrap();
    let get = world.run(&["--home", home, "config", "get", "model.default"]).exits(0);
    assert_eq!(get.stdout, "other\n");
    let path = world.run(&["config", "path", "--profile", "work"]).exits(0);
    assert!(path.stdout.ends_with("profiles/work/config.yaml\n"), "{path:?}");
    world.run(&["config", "path", "--profile", "No Name"]).exits(2);
}
