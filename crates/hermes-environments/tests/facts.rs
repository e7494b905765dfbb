//! What a prompt is told of the machine.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use hermes_environments::{Environments, Factory, Request, Setup};
use hermes_exec::environment::{BoxFuture, Environment, StartFailure};
use hermes_exec::local::{Local, Options};
use hermes_exec_policy::config::Backend;
use hermes_registry::{CallIds, Settings};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A machine with nothing on its path but these scripts and what the shell needs.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new(programs: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let world = Self { dir };
        let bin = world.path("bin");
        fs::create_dir(&bin).unwrap();
        for (name, text) in programs {
            let path = Path::new(&bin).join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        // What a login sets may be another path.
        fs::write(world.path(".profile"), format!("PATH={bin}\n")).unwrap();
        world
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    fn environments(&self, config: Value, factories: Vec<Arc<dyn Factory>>) -> Arc<Environments> {
        let home = self.dir.path().display().to_string();
        let env = [("PATH", "/usr/bin:/bin"), ("HOME", home.as_str()), ("TMPDIR", &home)];
        let settings = Settings::new(self.path("hermes")).with_env(env).with_config(config);
        let mut setup = Setup::new(settings, self.dir.path());
        setup.factories = factories;
        Environments::new(setup)
    }
}

fn ids() -> CallIds {
    CallIds { task: "one".into(), session: "s".into(), ..CallIds::default() }
}

/// A Python of 3.12.4 whose pip module is there or not.
fn python(pip: &str) -> String {
    format!("case \"$*\" in *version_info*) echo 3.12.4 ;; '-m pip'*) {pip} ;; *) exit 1 ;; esac")
}

#[tokio::test]
async fn what_is_odd_about_python_is_told_once() {
    for (pip, programs, expected) in [
        ("true", vec![("pip", "echo 'pip 24.0 from /x (python 3.12)'")], None),
        (
            "exit 1",
            vec![("pip", "echo 'pip 24.0 from /x (python 3.9)'"), ("uv", "")],
            Some(
                "Python on this machine: python3 is 3.12.4 and has no pip module; there is no \
                 python (say python3); pip installs for another one, 3.9; uv is there.",
            ),
        ),
    ] {
        let python = format!("echo run >>$HOME/runs; {}", python(pip));
        let world = World::new(&[programs, vec![("python3", python.as_str())]].concat());
        let environments = world.environments(json!({}), Vec::new());
        environments.begin_facts(&ids());
        assert_eq!(environments.facts(&ids()).await.as_deref(), expected);
        let runs = fs::read_to_string(world.path("runs")).unwrap();
        assert_eq!(environments.facts(&ids()).await.as_deref(), expected);
        assert_eq!(fs::read_to_string(world.path("runs")).unwrap(), runs, "it is asked once");
    }
}

#[tokio::test]
async fn a_machine_without_python_and_a_probe_that_is_off() {
    let world = World::new(&[]);
    let line = world.environments(json!({}), Vec::new()).facts(&ids()).await.unwrap();
    assert!(line.contains("no working python3"), "{line}");
    let off = json!({"agent": {"environment_probe": false}});
    assert_eq!(world.environments(off, Vec::new()).facts(&ids()).await, None);
}

#[tokio::test]
async fn the_session_is_as_it_was() {
    let world = World::new(&[("python3", &python("true"))]);
    let environments = world.environments(json!({}), Vec::new());
    environments.facts(&ids()).await;
    assert_eq!(environments.recorded(&ids()), None);
    let lease = environments.lease(&ids()).await.unwrap();
    let mut said = Vec::new();
    let command = hermes_exec::session::Foreground::new("declare -F has; echo $version; pwd", "/");
    let mut take = |bytes: &[u8]| said.extend_from_slice(bytes);
    lease.session().run(command, &mut take, std::future::pending()).await.unwrap();
    assert_eq!(String::from_utf8(said).unwrap(), "\n/\n");
}

/// Says that this machine is another one.
struct Elsewhere;

impl Factory for Elsewhere {
    fn makes(&self, backend: &Backend) -> bool {
        matches!(backend, Backend::Ssh(_))
    }

    fn make(&self, request: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>> {
        let cwd = request.config.cwd.clone().into();
        let temp_dir = request.temp_dir.clone();
        let options = Options { env: request.env, cwd, temp_dir, ..Options::default() };
        Box::pin(async { Ok(Arc::new(Local::new(options)) as Arc<dyn Environment>) })
    }
}

#[tokio::test]
async fn of_another_machine_its_system_is_told() {
    let world = World::new(&[]);
    fs::remove_file(world.path(".profile")).unwrap();
    let config = json!({"terminal": {
        "backend": "ssh", "ssh_host": "h", "ssh_user": "u", "cwd": "/usr",
    }});
    let line = world.environments(config, vec![Arc::new(Elsewhere)]).facts(&ids()).await.unwrap();
    for part in ["(ssh): ", "kernel ", "user ", "folder /usr."] {
        assert!(line.contains(part), "{line}");
    }
}

#[tokio::test]
async fn a_machine_that_cannot_be_made_has_no_facts() {
    let world = World::new(&[]);
    let config = json!({"terminal": {"backend": "ssh", "ssh_host": "h", "ssh_user": "u"}});
    assert_eq!(world.environments(config, Vec::new()).facts(&ids()).await, None);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_twice_for_a_machine_that_does_not_answer() {
    struct Never;
    impl Factory for Never {
        fn makes(&self, _: &Backend) -> bool {
            true
        }

        fn make(&self, _: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>> {
            Box::pin(std::future::pending())
        }
    }
    let world = World::new(&[]);
    let config = json!({"terminal": {"backend": "ssh", "ssh_host": "h", "ssh_user": "u"}});
    let environments = world.environments(config, vec![Arc::new(Never)]);
    let begin = tokio::time::Instant::now();
    assert_eq!(environments.facts(&ids()).await, None);
    assert_eq!(begin.elapsed().as_secs(), 10);
    assert_eq!(environments.facts(&ids()).await, None);
    assert_eq!(begin.elapsed().as_secs(), 10);
}
