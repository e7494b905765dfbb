//! Help, completions, manual pages, summaries and closed pipes.

use crate::World;

#[test]
fn help_and_version_succeed_and_nonsense_is_bad_usage() {
    let world = World::new();
    assert!(world.run(&["--help"]).exits(0).stdout.contains("definitions"));
    assert!(world.run(&["--version"]).exits(0).stdout.starts_with("hermes "));
    for args in [
        &[][..],
        &["frobnicate"],
        &["tools"],
        &["tools", "--json"],
        &["tools", "--summary", "list"],
        &["-q", "-v", "features"],
        &["completions", "cobol"],
    ] {
        let run = world.run(args).exits(2);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{run:?}");
    }
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(world.run(&["completions", shell]).exits(0).stdout.contains("hermes"), "{shell}");
    }
    assert!(world.run(&["man"]).exits(0).stdout.contains(".TH hermes 1"));
    world.run(&["man", "--dir", "pages"]).exits(0);
    assert!(world.cwd().join("pages/hermes-tools-list.1").is_file());
    std::fs::write(world.cwd().join("file"), "").unwrap();
    world.run(&["man", "--dir", "file/below"]).exits(1);
}

#[test]
fn the_summary_covers_the_platforms_in_use() {
    let world = World::new();
    let mut command = world.command(&["tools", "--summary", "--json"]);
    command.env("SLACK_BOT_TOKEN", "x").env("WHATSAPP_ENABLED", "false");
    let summary = crate::Run::of(&mut command).exits(0).json();
    let platforms: Vec<_> = summary.as_array().unwrap().iter().map(|it| &it["platform"]).collect();
    assert_eq!(platforms, ["cli", "slack"]);
    assert!(world.run(&["tools", "--summary"]).exits(0).stdout.contains("PLATFORM"));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let world = World::new();
    let hermes = assert_cmd::cargo::cargo_bin!("hermes").display().to_string();
    let script = format!("'{hermes}' config list | true; echo ${{PIPESTATUS[0]}}");
    let mut command = assert_cmd::Command::new("bash");
    command.env("HERMES_HOME", world.home.path()).args(["-c", &script]);
    let run = crate::Run::of(&mut command);
    assert_eq!((run.stdout.trim(), run.stderr.as_str()), ("0", ""));
}

#[test]
fn nothing_is_written_by_looking() {
    let world = World::new();
    for args in
        [&["tools", "list"][..], &["definitions"], &["doctor"], &["config", "list"], &["features"]]
    {
        world.run(args).exits(0);
    }
    assert_eq!(std::fs::read_dir(world.home.path()).unwrap().count(), 0);
}
