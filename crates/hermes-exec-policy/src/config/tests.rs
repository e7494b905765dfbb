//! From settings to a configuration.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn read(env: &[(&str, &str)], terminal: &Value) -> Result<TerminalConfig, TerminalConfigError> {
    let settings = Settings::new("/hh")
        .with_env(env.iter().copied())
        .with_config(json!({ "terminal": terminal.clone() }));
    TerminalConfig::of(&settings, Path::new("/start"))
}

fn fine(env: &[(&str, &str)], terminal: &Value) -> TerminalConfig {
    read(env, terminal).unwrap()
}

#[test]
fn nothing_said_is_the_host() {
    let config = fine(&[], &Value::Null);
    assert_eq!((config.backend.name(), &*config.cwd), ("local", "/start"));
    assert_eq!(config.timeout, Duration::from_secs(180));
    assert_eq!(config.max_foreground_timeout, Duration::from_secs(600));
    assert_eq!(config.lifetime, Duration::from_secs(300));
    assert_eq!((config.output_limit, config.term_grace), (50_000, Duration::from_secs(2)));
    assert_eq!(config.sandbox, SandboxConfig::default());
    assert_eq!(config.sandbox_root, Path::new("/hh/sandboxes"));
    assert!(config.init_files.auto_source && config.has_host_access());
}

#[test]
fn a_variable_wins_over_its_key() {
    let terminal = json!({"backend": "ssh", "timeout": 7, "lifetime_seconds": "8"});
    let config = fine(&[("TERMINAL_TIMEOUT", " 9 ")], &terminal);
    assert_eq!(config.backend.name(), "ssh");
    assert_eq!((config.timeout.as_secs(), config.lifetime.as_secs()), (9, 8));
    assert_eq!(fine(&[("TERMINAL_ENV", "Docker ")], &terminal).backend.name(), "docker");
    let config = fine(&[("TERMINAL_ENV", "")], &json!({"backend": "nowhere"}));
    assert_eq!(config.backend, Backend::Unknown("nowhere".into()));
}

#[test]
fn only_what_the_backend_needs_is_read() {
    let broken = [
        ("TERMINAL_SSH_PORT", "x"),
        ("TERMINAL_DOCKER_VOLUMES", "[bad"),
        ("TERMINAL_CONTAINER_CPU", "much"),
    ];
    for (backend, named) in [
        ("local", None),
        ("ssh", Some("TERMINAL_SSH_PORT")),
        ("modal", Some("TERMINAL_CONTAINER_CPU")),
        ("docker", Some("TERMINAL_CONTAINER_CPU")),
    ] {
        let mut env = broken.to_vec();
        env.push(("TERMINAL_ENV", backend));
        let error = read(&env, &Value::Null).err();
        assert_eq!(error.as_ref().map(|it| &*it.variable), named, "{backend}");
        assert!(error.is_none_or(|it| it.to_string().contains(named.unwrap())));
    }
    let env = [("TERMINAL_ENV", "docker"), ("TERMINAL_DOCKER_VOLUMES", "[bad")];
    assert_eq!(read(&env, &Value::Null).unwrap_err().variable, "TERMINAL_DOCKER_VOLUMES");
}

#[test]
fn bad_numbers_are_named_with_their_place() {
    for (env, terminal, place) in [
        (&[("TERMINAL_TIMEOUT", "")][..], json!({}), "the variable TERMINAL_TIMEOUT"),
        (&[("TERMINAL_TIMEOUT", "60.5")], json!({}), "the variable TERMINAL_TIMEOUT"),
        (&[("TERMINAL_TIMEOUT", "0")], json!({}), "the variable TERMINAL_TIMEOUT"),
        (&[], json!({"timeout": "soon"}), "`terminal.timeout` in config.yaml"),
        (&[], json!({"lifetime_seconds": -1}), "`terminal.lifetime_seconds`"),
        (&[], json!({"daemon_term_grace_seconds": -1}), "`terminal.daemon_term_grace_seconds`"),
        (&[], json!({"sandbox": {"mode": "on"}}), "`terminal.sandbox.mode`"),
        (&[], json!({"sandbox": "auto"}), "`terminal.sandbox`"),
        (&[("TERMINAL_SSH_PORT", "70000")], json!({"backend": "ssh"}), "TERMINAL_SSH_PORT"),
        (&[], json!({"backend": "docker", "docker_env": ["A"]}), "`terminal.docker_env`"),
    ] {
        let error = read(env, &terminal).unwrap_err().to_string();
        assert!(error.contains(place), "{error}");
    }
    let config = fine(&[("TERMINAL_MAX_FOREGROUND_TIMEOUT", "long")], &json!({}));
    assert_eq!((config.max_foreground_timeout.as_secs(), config.warnings.len()), (600, 1));
}

#[test]
fn containers_start_in_folders_of_theirs() {
    let start = |env: &[(&str, &str)]| {
        let config = fine(env, &Value::Null);
        (config.cwd, config.host_cwd)
    };
    let home = ("HOME", "/h");
    for (backend, cwd, expected) in [
        ("docker", "/home/u/p", "/root"),
        ("docker", "/srv/app", "/srv/app"),
        ("docker", r"D:\x", "/root"),
        ("singularity", "src", "/root"),
        ("modal", "auto", "/root"),
        ("daytona", "~/x", "/h/x"),
        ("ssh", "~/x", "~/x"),
        ("ssh", "", "~"),
        ("ssh", "cwd", "~"),
        ("local", "~/x", "/h/x"),
        ("local", "~user", "~user"),
        ("local", ".", "/start"),
        ("local", "src", "src"),
        ("weird", "", "/root"),
    ] {
        let found = start(&[home, ("TERMINAL_ENV", backend), ("TERMINAL_CWD", cwd)]);
        assert_eq!(found, (expected.to_owned(), None), "{backend} {cwd}");
    }
    let dir = tempfile::tempdir().unwrap();
    let existing = dir.path().to_str().unwrap();
    for (cwd, expected, host_cwd) in [
        ("/home/u/p", "/workspace", Some("/home/u/p")),
        (existing, "/workspace", Some(existing)),
        ("/nowhere/x", "/nowhere/x", None),
        ("nowhere", "/root", None),
        ("/workspace/x", "/workspace/x", None),
        ("/root/x", "/root/x", None),
        ("", "/root", None),
    ] {
        let flag = ("TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE", "1");
        let found = start(&[("TERMINAL_ENV", "docker"), ("TERMINAL_CWD", cwd), flag]);
        assert_eq!(found, (expected.to_owned(), host_cwd.map(str::to_owned)), "{cwd}");
    }
}

#[test]
fn docker_is_read_tolerantly_within_its_lists() {
    let config = fine(
        &[("TERMINAL_DOCKER_ENV", r#"{"A":1,"B":true,"C":[1],"D-E":"x"," F ":" v "}"#)],
        &json!({
            "backend": "docker",
            "docker_volumes": [" data:/d ", 3, null, "~/x:/x", ""],
            "docker_network": "no",
            "docker_image": "mine",
            "docker_forward_env": "ONE",
        }),
    );
    let Backend::Docker(docker) = &config.backend else { panic!("{config:?}") };
    assert_eq!(docker.volumes, ["data:/d", "~/x:/x"]);
    assert_eq!(Vec::from_iter(docker.env.keys()), ["A", "B", "F"]);
    assert_eq!((&*docker.env["A"], &*docker.env["B"], &*docker.env["F"]), ("1", "true", " v "));
    assert_eq!((&*docker.container.image, docker.network), ("mine", false));
    assert_eq!(docker.forward_env, ["ONE"]);
    assert!(config.has_host_access());
}

#[test]
fn the_sandbox_is_off_unless_wanted() {
    let sandbox = |value: Value| fine(&[("HOME", "/h")], &json!({ "sandbox": value })).sandbox;
    assert_eq!(sandbox(json!({})).mode, SandboxMode::Off);
    assert_eq!(sandbox(json!({"mode": false})).mode, SandboxMode::Off);
    let found = sandbox(json!({"mode": "Required", "network": true, "writable": ["~/a", "b"]}));
    assert_eq!((found.mode, found.network), (SandboxMode::Required, true));
    assert_eq!(found.writable, [Path::new("/h/a")]);
}

#[test]
fn init_files_are_expanded_and_missing_ones_left_out() {
    let env = [("HOME", "/h"), ("D", "/d")];
    let settings = Settings::new("/hh").with_env(env);
    let resolve = |value: Value| {
        let files = fine(&env, &value).init_files;
        files.resolve(&settings, |path| !path.ends_with("missing"))
    };
    let files =
        json!({"shell_init_files": ["~/a", "${D}/b", "$D.c", "/missing", "${NO}/d", "${D"]});
    assert_eq!(resolve(files), ["/h/a", "/d/b", "/d.c"].map(PathBuf::from));
    assert_eq!(resolve(json!({})).len(), 3);
    assert!(resolve(json!({"auto_source_bashrc": false})).is_empty());
}

#[test]
fn folders_are_anchored_and_fall_back() {
    let process = Path::new("/w/app");
    for (value, exists, expected) in [
        ("/x", false, "/x"),
        ("sub", false, "/w/app/sub"),
        ("app", false, "/w/app"),
        ("app", true, "/w/app/app"),
        ("w/app", false, "/w/app"),
        ("pp", false, "/w/app/pp"),
    ] {
        assert_eq!(cwd::anchored(value, process, |_| exists), Path::new(expected), "{value}");
    }
    let nearest = |dir: &str, usable: &str| {
        cwd::nearest_usable(Path::new(dir), Path::new("/tmp"), |it| it == Path::new(usable))
    };
    assert_eq!(nearest("/a/b/c", "/a"), Path::new("/a"));
    assert_eq!(nearest("/a/b/c", "/x"), Path::new("/tmp"));
    assert_eq!(nearest("a/b", ""), Path::new("/tmp"));
    assert!(cwd::can_enter(Path::new("/")) && !cwd::can_enter(Path::new("/etc/passwd")));

    let wanted = cwd::Wanted::of(Some(" "), None, Some("/t"), "/c");
    assert_eq!((&*wanted.dir, wanted.is_explicit), ("/t", false));
    assert!(cwd::Wanted::of(Some("/w"), Some("/s"), None, "/c").is_explicit);
}
