//! Files that somebody must agree to before they are changed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::{Arc, Mutex};

use hermes_approval::{Answer, Approvals, Ask, AskFuture, Prompter};
use hermes_fs::{FileBackend, LocalFs, Workplace, Workplaces};
use hermes_registry::{CallIds, Services, Settings, Surface, ToolContext};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{World, check};

/// A person who says the same to everything.
struct Person(Answer, Mutex<Vec<Ask>>);

impl Prompter for Person {
    fn prompt<'a>(&'a self, ask: &'a Ask) -> AskFuture<'a> {
        self.1.lock().unwrap().push(ask.clone());
        Box::pin(async { Ok(self.0.clone()) })
    }
}

impl Person {
    fn asked(&self) -> Vec<Ask> {
        self.1.lock().unwrap().clone()
    }
}

/// A home with a project in it.
fn world() -> World {
    let mut world = World::new(&[
        ("home/proj/a.txt", b"a\n"),
        ("home/proj/.git/hooks/pre-commit", b"a\n"),
        ("home/.bashrc", b"a\n"),
    ]);
    let home = world.dir.path().canonicalize().unwrap().join("home");
    let env = [("HOME", home.to_str().unwrap()), ("TIRITH_ENABLED", "0")];
    let settings = Settings::new(home.join(".hermes")).with_env(env);
    world.cx = ToolContext::new(home.join("proj")).with_settings(settings);
    world
}

/// The same world, with a gate.
fn gated(config: Value, surface: Surface, answer: Answer) -> (World, Arc<Person>) {
    let mut world = world();
    let settings = world.cx.settings().clone();
    let env: Vec<(String, String)> =
        settings.envs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let settings = Settings::new(settings.home()).with_config(config).with_env(env);
    let person = Arc::new(Person(answer, Mutex::default()));
    let gate = Approvals::builder(&settings).prompter(person.clone()).build();
    world.cx = world
        .cx
        .clone()
        .with_ids(CallIds { session: "s".into(), ..CallIds::default() })
        .with_settings(settings)
        .with_surface(surface)
        .with_services(gate.lend(Services::new()));
    (world, person)
}

fn write(world: &World, path: &str) -> Value {
    world.call("write_file", json!({"path": path, "content": "b\n"}))
}

/// What runs by itself, or holds secrets, from the folder of the project.
const DANGEROUS: [&str; 7] = [
    "~/.bashrc",
    "~/.config/fish/config.fish",
    ".env",
    "sub/.envrc",
    ".git/hooks/post-merge",
    ".git/config",
    "~/.config/systemd/user/a.service",
];

#[test]
fn without_anybody_to_ask_dangerous_files_stay_as_they_are() {
    let world = world();
    for path in DANGEROUS {
        let said = write(&world, path);
        check(&said, &json!({"error_kind": "denied", "status": "blocked"}));
        assert!(said["error"].as_str().unwrap().contains("nobody to ask"), "{said}");
    }
    let args = json!({"path": "~/.bashrc", "old_string": "a", "new_string": "b"});
    check(&world.call("patch", args), &json!({"class": "shell_startup"}));
    symlink(world.path("home/.bashrc"), world.path("home/proj/plain")).unwrap();
    check(&write(&world, "plain"), &json!({"class": "shell_startup"}));
    assert_eq!(world.bytes("home/.bashrc"), b"a\n");
    assert!(!world.path("home/proj/.env").exists());
    for path in ["a.txt", ".env.example", "config.yaml", ".gitignore", ".github/hooks/x", ".npmrc"]
    {
        assert!(write(&world, path).get("error").is_none(), "{path}");
    }
}

#[test]
fn harmless_files_are_never_asked_about() {
    let (world, person) = gated(json!({}), Surface::Cli, Answer::NO);
    for path in ["a.txt", "src/new.rs", ".env.sample", "Makefile"] {
        assert!(write(&world, path).get("error").is_none(), "{path}");
    }
    assert_eq!(person.asked(), []);
}

#[test]
fn an_answer_holds_as_long_as_it_says() {
    for (answer, path, asked, kept) in [
        (Answer::Once, "~/.bashrc", 2, false),
        (Answer::Session, "~/.bashrc", 1, false),
        (Answer::Always, "~/.bashrc", 1, true),
    ] {
        let (world, person) = gated(json!({}), Surface::Cli, answer);
        let said = write(&world, path);
        assert!(said["approval"].as_str().unwrap().contains("approved it"), "{said}");
        let args = json!({"path": path, "old_string": "b", "new_string": "c"});
        check(&world.call("patch", args), &json!({"success": true}));
        assert_eq!((person.asked().len(), world.bytes("home/.bashrc")), (asked, b"c\n".to_vec()));
        // Another file is another matter.
        write(&world, ".git/config");
        assert_eq!(person.asked().len(), asked + 1);
        let config = fs::read_to_string(world.path("home/.hermes/config.yaml")).unwrap_or_default();
        assert_eq!(config.contains("shell_startup:write "), kept, "{config}");
        let ask = &person.asked()[0];
        assert!(ask.command.starts_with("write /") && ask.command.contains("\nb\n"), "{ask:?}");
        assert_eq!(ask.tool, "write_file");
    }
}

#[test]
fn a_no_leaves_everything_as_it_is_and_is_told_to_the_model() {
    let no = Answer::Deny { reason: Some("not my shell".into()) };
    let (world, person) = gated(json!({}), Surface::Cli, no);
    let startup = world.path("home/.bashrc").display().to_string();
    let patch = format!(
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: .git/config\n+[core]\n\
         *** Delete File: {startup}\n*** End Patch\n"
    );
    let said = world.call("patch", json!({"mode": "patch", "patch": patch}));
    check(&said, &json!({"error_kind": "denied", "status": "blocked"}));
    let error = said["error"].as_str().unwrap();
    assert!(error.contains("not my shell") && error.contains("Do not retry"), "{error}");
    assert_eq!(world.bytes("home/proj/a.txt"), b"a\n");
    // One question for all of it.
    let asked = person.asked();
    assert_eq!((asked.len(), asked[0].reasons.len()), (1, 2));
    assert!(asked[0].command.contains("\ndelete /"), "{:?}", asked[0]);
    // No secret in a question or a log.
    world.call("write_file", json!({"path": ".env", "content": "a = hunter2\n"}));
    let asked = person.asked();
    assert!(asked[1].command.contains("/.env") && !asked[1].command.contains("hunter2"));
    let log = fs::read_to_string(world.path("home/.hermes/logs/approvals.jsonl")).unwrap();
    assert!(log.contains("\"verdict\":\"denied\"") && !log.contains("hunter2"), "{log}");
}

#[test]
fn settings_decide_where_nobody_can_be_asked() {
    let approvals = |key: &str, value: &str| json!({"approvals": {key: value}});
    for (config, surface, passes) in [
        (json!({}), Surface::None, false),
        (approvals("noninteractive", "approve"), Surface::None, true),
        (json!({}), Surface::Cron, false),
        (approvals("cron_mode", "approve"), Surface::Cron, true),
        (approvals("mode", "off"), Surface::None, true),
        (approvals("deny", "write *.bashrc"), Surface::Cli, false),
        (json!({"command_allowlist": ["shell_startup"]}), Surface::None, true),
        (json!({"command_allowlist": ["write *"]}), Surface::None, false),
        // Nobody listens in this conversation: it is kept for later.
        (json!({}), Surface::Gateway, false),
    ] {
        let (world, _) = gated(config.clone(), surface, Answer::Once);
        let said = write(&world, "~/.bashrc");
        assert_eq!(said.get("error").is_none(), passes, "{config} {surface:?} {said}");
        if surface == Surface::Gateway {
            check(&said, &json!({"status": "pending_approval", "approval_pending": true}));
        }
        // What is refused stays refused, whoever would agree.
        check(&write(&world, "~/.ssh/authorized_keys"), &json!({"class": "credential"}));
        check(&write(&world, "~/.hermes/config.yaml"), &json!({"class": "system"}));
    }
}

/// A container without folders of the host.
struct Container;

impl Workplaces for Container {
    fn workplace(&self, _: &CallIds) -> Workplace {
        Workplace { backend: Arc::new(LocalFs::new(None)) as Arc<dyn FileBackend>, cwd: None }
    }

    fn is_isolated(&self, _: &CallIds) -> bool {
        true
    }
}

#[test]
fn what_cannot_harm_the_host_is_asked_of_nobody() {
    let mut world = world();
    let services = Services::new().with::<dyn Workplaces>(Arc::new(Container));
    world.cx = world.cx.clone().with_services(services);
    assert!(write(&world, ".git/config").get("error").is_none());
}
