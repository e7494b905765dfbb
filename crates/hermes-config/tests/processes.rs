//! Several processes that change one `config.yaml` at once.

use std::process::{Child, Command};

use hermes_config::{ConfigFile, Edit, process_env};
use serde_json::json;

const FILE: &str = "HERMES_CONFIG_TEST_FILE";
const NAME: &str = "HERMES_CONFIG_TEST_NAME";
const ROUNDS: usize = 10;

/// Run as a process of its own by the other test; alone it has nothing to do.
#[test]
fn writer() {
    let env = process_env::read();
    let (Some(file), Some(name)) = (env.get(FILE), env.get(NAME)) else { return };
    for round in 0..ROUNDS {
        let path = vec!["servers".to_owned(), format!("{name}-{round}")];
        let edit = Edit::Set { path, value: json!({"enabled": true}) };
        assert!(ConfigFile::new(file).update(|_| Ok(vec![edit])).unwrap());
    }
}

#[test]
fn processes_lose_nothing_of_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.yaml");
    std::fs::write(&path, "# kept\nmodel: m # kept\n").unwrap();
    let start = |name: usize| -> Child {
        #[expect(
            clippy::disallowed_methods,
            reason = "the test needs writers that share no memory"
        )]
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer", "--quiet"])
            .env(FILE, &path)
            .env(NAME, name.to_string())
            .spawn()
            .unwrap()
    };
    let children: Vec<Child> = (0..4).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let config = ConfigFile::new(&path).read().unwrap();
    assert_eq!(config["servers"].as_object().unwrap().len(), 4 * ROUNDS);
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("# kept\nmodel: m # kept\n"));
}
