//! `hermes tools enable` and `hermes tools disable`.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::World;

const CONFIG: &str = "\
# What I changed, and why.
agent:
  disabled_toolsets: [spotify] # too loud
platform_toolsets:
  # Only what I use.
  cli: [file, todo]
model:
  default: some-model
";

#[test]
fn a_toolset_is_switched_off_and_on_and_comments_stay() {
    let world = World::with_config(CONFIG);
    let off = world.run(&["tools", "disable", "todo", "--json"]).exits(0).json();
    assert_eq!(off["removed"], json!(["todo"]));
    assert_eq!((&off["applied"], &off["written"]), (&json!(["todo"]), &json!(true)));
    let written = world.config();
    for kept in ["# What I changed, and why.", "# too loud", "# Only what I use.", "some-model"] {
        assert!(written.contains(kept), "{written}");
    }
    assert!(!world.run(&["definitions"]).stdout.contains("\"todo\""));
    let on = world.run(&["tools", "enable", "todo"]).exits(0);
    assert!(on.stdout.contains("+ todo\n"), "{on:?}");
    assert!(world.run(&["definitions"]).stdout.contains("\"todo\""));
    let again = world.run(&["tools", "enable", "todo", "--json"]).exits(0).json();
    assert_eq!((&again["written"], &again["edits"]), (&json!(false), &json!([])));
}

#[cfg(feature = "file")]
#[test]
fn a_single_tool_can_be_switched() {
    let world = World::new();
    let off = world.run(&["tools", "disable", "search_files", "--json"]).exits(0).json();
    assert_eq!(off["removed"], json!(["search_files"]));
    assert_eq!(off["edits"][0]["key"], "agent.disabled_tools");
    world.run(&["call", "search_files", r#"{"pattern":"x"}"#]).exits(3);
    let on = world.run(&["tools", "enable", "search_files", "--json"]).exits(0).json();
    assert_eq!(on["added"], json!(["search_files"]));
}

#[test]
fn what_another_setting_keeps_off_is_told() {
    let world = World::with_config("platform_toolsets: {cli: [todo]}\n");
    world.run(&["config", "set", "agent.disabled_tools", "[todo]"]).exits(0);
    let on = world.run(&["tools", "enable", "todo", "--json"]).exits(0).json();
    assert_eq!(on["blocked"][0]["tool"], "todo");
}

#[test]
fn rejected_names_fail_and_the_rest_is_applied() {
    let world = World::new();
    let part = world.run(&["tools", "disable", "todo", "filee"]).exits(1);
    part.says("unknown toolset `filee`; did you mean `file`?");
    assert!(part.stdout.contains("- todo\n"), "{part:?}");
    let before = world.config();
    let none = world.run(&["tools", "disable", "filee", "--json"]).exits(2);
    none.says("did you mean `file`?");
    assert_eq!(none.json()["rejected"][0]["nearest"], "file");
    world.run(&["tools", "disable", "file", "--platform", "slakc"]).exits(2).says("`slack`");
    world.run(&["tools", "enable", "discord"]).exits(2).says("exists only on discord");
    world.run(&["tools", "disable"]).exits(2);
    assert_eq!(world.config(), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::new();
    let dry = world.run(&["tools", "disable", "todo", "--dry-run"]).exits(0);
    assert!(dry.stdout.contains("- todo\n") && dry.stdout.contains("nothing was written"));
    assert!(!world.config_path().exists());
    assert_eq!(std::fs::read_dir(world.home.path()).unwrap().count(), 0);
}
