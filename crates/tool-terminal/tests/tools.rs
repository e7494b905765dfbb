//! The tools as a model calls them, on this machine.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use hermes_approval::{Approvals, Forced};
use hermes_environments::{Environments, Overrides, Setup};
use hermes_processes::{Options, Processes};
use hermes_registry::{
    CallIds, CancellationToken, ErrorKind, Invocation, Services, Settings, Surface, Tool,
    ToolContext, ToolError, ToolOutput,
};
use hermes_tool_terminal::{Terminals, mask, tools};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

struct World {
    dir: tempfile::TempDir,
    terminals: Arc<Terminals>,
    context: ToolContext,
}

impl World {
    fn new() -> Self {
        Self::with(json!({"approvals": {"mode": "off"}}), &[])
    }

    fn with(config: Value, env: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().display().to_string();
        let bin = format!("{path}/bin:/usr/bin:/bin");
        let env = [("PATH", bin.as_str()), ("HOME", &path)].into_iter().chain(env.iter().copied());
        let settings = Settings::new(dir.path().join("hermes")).with_env(env).with_config(config);
        let environments = Environments::new(Setup::new(settings.clone(), dir.path()));
        let mask = Arc::new(|command: &str, text: &str| mask(command, text).into_owned());
        let processes = Processes::new(Options { mask, ..Options::default() });
        let terminals = Terminals::new(environments, processes);
        let services = terminals.lend(Services::new());
        let context = ToolContext::new(dir.path())
            .with_ids(CallIds { task: "one".into(), session: "s".into(), ..CallIds::default() })
            .with_surface(Surface::Cli)
            .with_services(Approvals::builder(&settings).build().lend(services))
            .with_settings(settings);
        Self { dir, terminals, context }
    }

    async fn call(&self, tool: &str, args: Value) -> Result<Value, ToolError> {
        self.call_in(self.context.clone(), tool, args).await
    }

    async fn call_in(
        &self,
        context: ToolContext,
        tool: &str,
        args: Value,
    ) -> Result<Value, ToolError> {
        let spec = tools().iter().find(|spec| spec.name == tool).unwrap();
        let Invocation::Async(call) = Tool::linked(spec).start(args, context) else { panic!() };
        call.await.map(|output| match output {
            ToolOutput::Json(value) => value,
            other => panic!("{other:?}"),
        })
    }

    async fn run(&self, command: &str) -> Value {
        self.call("terminal", json!({"command": command})).await.unwrap()
    }

    async fn output(&self, command: &str) -> String {
        self.run(command).await["output"].as_str().unwrap().to_owned()
    }

    fn is_used(&self) -> bool {
        std::fs::read_dir(self.dir.path().join("hermes")).is_ok_and(|it| it.count() > 0)
    }
}

#[tokio::test]
async fn a_refused_call_starts_nothing() {
    let world = World::with(json!({}), &[]);
    for (args, kind, part) in [
        (json!({"command": 5}), ErrorKind::InvalidArguments, "must be a text"),
        (json!({"command": " "}), ErrorKind::InvalidArguments, "empty"),
        (json!({"command": "a\u{0}b"}), ErrorKind::InvalidArguments, "NUL"),
        (json!({"command": "ls", "timeout": 601}), ErrorKind::InvalidArguments, "600"),
        (json!({"command": "ls", "timeout": -1}), ErrorKind::InvalidArguments, "timeout"),
        (json!({"command": "ls", "workdir": "$(id)"}), ErrorKind::InvalidArguments, "workdir"),
        (json!({"command": "sleep 9 &"}), ErrorKind::InvalidArguments, "background=true"),
        (json!({"command": "rm -rf /"}), ErrorKind::Denied, "never run"),
        (json!({"command": "rm -rf ~/x"}), ErrorKind::Denied, "consent"),
    ] {
        let error = world.call("terminal", args.clone()).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{args}");
        assert!(error.message().contains(part), "{args}: {}", error.message());
        assert_eq!(error.extra().get("exit_code"), Some(&json!(-1)), "{args}");
    }
    assert!(!world.is_used() || !world.dir.path().join("hermes/processes").exists());
    let without = world.context.clone().with_services(Services::new());
    let error = world.call_in(without, "terminal", json!({"command": "ls"})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn commands_are_judged_by_what_the_session_makes_of_them() {
    let world = World::with(json!({}), &[]);
    let define = "alias ll='rm -rf ~/x'; export C='rm -rf ~/x' OK=1; f() { rm -rf ~/x; }";
    let services = world.terminals.lend(Services::new()).with(Arc::new(Forced));
    let gate = Approvals::builder(world.context.settings()).build();
    let forced = world.context.clone().with_services(gate.lend(services));
    world.call_in(forced, "terminal", json!({"command": define})).await.unwrap();
    for command in ["ll", "$C", "eval $C", "f", "true; f"] {
        let error = world.call("terminal", json!({"command": command})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{command}");
    }
    for command in ["echo $OK", "ls", "export OK=2"] {
        world.run(command).await;
    }
}

#[tokio::test]
async fn what_is_not_kept_is_told() {
    let world = World::new();
    for (command, is_told) in [
        ("export A=1", false),
        ("exit 3", false),
        ("no_such_program", false),
        ("exec >/dev/null", false),
        ("cd /; exec true", true),
        ("export A=2; kill -9 $$", true),
        ("export A=2; ulimit -n 5", true),
        ("export A=2; set -r", true),
    ] {
        let result = world.run(command).await;
        assert_eq!(result.get("state_note").is_some(), is_told, "{command}: {result}");
    }
    for (command, is_told) in [("sleep 60", false), ("export A=2; exec sleep 60", true)] {
        let result = world.call("terminal", json!({"command": command, "timeout": 1})).await;
        let result = result.unwrap();
        assert_eq!(result["exit_code"], 124, "{result}");
        assert_eq!(result.get("state_note").is_some(), is_told, "{command}: {result}");
    }
    assert_eq!(world.output("echo $A").await, "1");
}

#[tokio::test]
async fn a_folder_for_one_command_is_left_again() {
    let world = World::new();
    world.run("cd /usr").await;
    let there = |command: &str| json!({"command": command, "workdir": "/usr/share"});
    let result = world.call("terminal", there("pwd")).await.unwrap();
    assert_eq!(result["output"], "/usr/share");
    assert_eq!(world.output("pwd").await, "/usr");
    world.call("terminal", there("cd /usr/bin")).await.unwrap();
    assert_eq!(world.output("pwd").await, "/usr/bin");
    let result = world.call("terminal", json!({"command": "pwd", "workdir": "/nope"})).await;
    assert_eq!(result.unwrap()["exit_code"], 126);
    // One that is gone gives way to the nearest one.
    world.run("mkdir -p ~/a/b; cd ~/a/b; rmdir ~/a/b").await;
    let result = world.run("basename $PWD").await;
    assert_eq!(result["output"], "a");
    assert!(result["cwd_note"].as_str().unwrap().contains("a/b"), "{result}");
}

#[tokio::test]
async fn long_output_is_in_a_file_without_secrets() {
    let world = World::new();
    let key = "sk-ant-REDACTED";
    let command = format!("echo {key}; seq 1 40000; printf '\\033[31mend\\033[0m\\n'");
    let output = world.output(&command).await;
    assert!(output.chars().count() <= 50_000);
    assert!(output.ends_with("\nend") && !output.contains("789abcdefghij"), "{output}");
    let file = output.split_whitespace().find(|word| word.contains("/hermes-output-")).unwrap();
    let file = Path::new(
        file.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').trim_end_matches('.'),
    );
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("\n20000\n") && text.ends_with("\nend\n"));
    assert!(!text.contains("789abcdefghij"));
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn secrets_of_the_program_stay_behind() {
    let world = World::with(
        json!({"approvals": {"mode": "off"}}),
        &[("OPENAI_API_KEY", "hidden-one"), ("NOTION_TOKEN", "shown"), ("SUDO_PASSWORD", "pw")],
    );
    let output =
        world.output("echo [$OPENAI_API_KEY][$SUDO_PASSWORD]; printenv NOTION_TOKEN | wc -c").await;
    assert_eq!(output.split_whitespace().collect::<Vec<_>>(), ["[][]", "6"]);
    assert!(!world.output("env").await.contains("=shown\n"));
}

#[tokio::test]
async fn sudo_gets_its_password_by_a_helper() {
    let world =
        World::with(json!({"approvals": {"mode": "off"}}), &[("SUDO_PASSWORD", "open sesame")]);
    // Stands in for sudo: asks the helper as `sudo -A` does, and tells what it was given.
    let bin = world.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let sudo = "#!/bin/sh\n[ \"$1\" = -A ] || exit 9\nshift\n\
                [ \"$(\"$SUDO_ASKPASS\")\" = 'open sesame' ] || { echo 'sudo: 1 incorrect password attempt'; exit 1; }\n\
                exec \"$@\"\n";
    std::fs::write(bin.join("sudo"), sudo).unwrap();
    // A login shell begins with the PATH of the system.
    std::fs::write(world.dir.path().join(".profile"), "export PATH=$HOME/bin:$PATH\n").unwrap();
    let runnable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("sudo"), runnable).unwrap();
    let result =
        world.run("sudo echo as root; sudo sh -c 'echo $0 again'; echo [$SUDO_ASKPASS]").await;
    let output = result["output"].as_str().unwrap();
    assert!(output.starts_with("as root\nsh again\n["), "{result}");
    // Gone with the command, and no part of the session.
    let helper = output.rsplit('[').next().unwrap().trim_end_matches(']');
    assert!(!helper.is_empty() && !Path::new(helper).exists());
    assert_eq!(world.output("echo [$SUDO_ASKPASS]").await, "[]");
}

#[tokio::test]
async fn an_interrupted_command_tells_what_it_had_said() {
    let world = World::new();
    let cancel = CancellationToken::new();
    let context = world.context.clone().with_cancel(cancel.clone());
    let call = world.call_in(context, "terminal", json!({"command": "echo so far; sleep 60"}));
    let stop = async {
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, stop);
    let result = result.unwrap();
    assert_eq!(result["exit_code"], 130);
    assert_eq!(result["output"], "so far\n\n[Command interrupted]");
    assert_eq!(world.output("echo on").await, "on");
}

#[tokio::test]
async fn processes_of_others_are_not_seen() {
    let world = World::new();
    let start = json!({"command": "sleep 60", "background": true, "notify_on_complete": true});
    let started = world.call("terminal", start).await.unwrap();
    // Nobody could be told.
    assert!(started["notify_unsupported"].is_string(), "{started}");
    let id = &started["session_id"];
    let of = |task: &str, session: &str| {
        let ids = CallIds { task: task.into(), session: session.into(), ..CallIds::default() };
        world.context.clone().with_ids(ids)
    };
    let poll = json!({"action": "poll", "session_id": id});
    for (task, session, expected) in
        [("one", "s", "running"), ("two", "s", "running"), ("two", "other", "not_found")]
    {
        let found = world.call_in(of(task, session), "process", poll.clone()).await.unwrap();
        assert_eq!(found["status"], expected, "{task} {session}");
    }
    let list = world.call_in(of("two", "s"), "process", json!({"action": "list"})).await.unwrap();
    assert_eq!(list["processes"][0]["session_scoped"], true);
    world.terminals.ended("one").await;
    let found = world.call("process", poll).await.unwrap();
    assert_eq!(
        (&found["status"], &found["termination_source"]),
        (&json!("exited"), &json!("kill_all"))
    );
}

#[tokio::test]
async fn tasks_share_a_machine_unless_they_have_their_own() {
    let world = World::new();
    let environments = world.terminals.environments();
    let ids = |task: &str| CallIds { task: task.into(), ..CallIds::default() };
    environments.register("apart", Overrides::cwd("/usr"));
    let own = Overrides { env_type: Some("local".to_owned()), ..Overrides::default() };
    environments.register("own", own);
    assert_eq!(environments.key(&ids("apart")), "default");
    assert_eq!(environments.key(&ids("own")), "own");
    world.run("export SHARED=1").await;
    for (task, expected) in [("apart", "/usr 1"), ("own", " ")] {
        let context = world.context.clone().with_ids(ids(task));
        let command = json!({"command": "echo \"$([ $PWD = /usr ] && pwd) $SHARED\""});
        let result = world.call_in(context, "terminal", command).await.unwrap();
        assert_eq!(result["output"], expected, "{task}");
    }
}

#[tokio::test]
async fn a_sandbox_is_told_of() {
    let config = json!({
        "approvals": {"mode": "off"},
        "terminal": {"sandbox": {"mode": "auto"}},
    });
    let world = World::with(config, &[]);
    let outside = tempfile::Builder::new().tempdir_in("/var/lib").ok();
    let Some(outside) = outside else {
        println!("skipped: there is no folder to be kept out of");
        return;
    };
    let command = format!("echo x >{0}/f; echo y >f; cat f", outside.path().display());
    let result = world.run(&command).await;
    assert!(result["sandbox"]["mechanism"].is_string(), "{result}");
    if result["sandbox"]["filesystem"] == "enforced" {
        assert!(!outside.path().join("f").exists(), "{result}");
        assert!(result["output"].as_str().unwrap().ends_with("y"), "{result}");
    }
}

#[tokio::test]
async fn what_a_background_command_left_is_ended_by_its_id() {
    let world = World::new();
    let script = "sleep 600 >/dev/null 2>&1 & echo $! >left; exit 0";
    std::fs::write(world.dir.path().join("spawn.sh"), script).unwrap();
    let started = json!({"command": "sh spawn.sh", "background": true, "timeout": 5});
    let started = world.call("terminal", started).await.unwrap();
    assert!(started["arguments_note"].as_str().unwrap().contains("`timeout`"), "{started}");
    let id = started["session_id"].clone();
    let process = |action: &str| json!({"action": action, "session_id": id});
    let waited = world.call("process", process("wait")).await.unwrap();
    assert_eq!(waited["exit_code"], 0, "{waited}");
    let pid = std::fs::read_to_string(world.dir.path().join("left")).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    let is_alive =
        || std::fs::read_to_string(&stat).is_ok_and(|it| !it.contains(") Z ") && !it.is_empty());
    assert!(!cfg!(target_os = "linux") || is_alive());
    let polled = world.call("process", process("poll")).await.unwrap();
    assert_eq!(polled["leftovers"].as_u64().unwrap_or(1), 1, "{polled}");
    let killed = world.call("process", process("kill")).await.unwrap();
    assert_eq!(killed["status"], "already_exited", "{killed}");
    if cfg!(target_os = "linux") {
        assert_eq!(killed["leftovers_killed"], 1, "{killed}");
        assert!(!is_alive());
    }
    let again = world.call("process", process("kill")).await.unwrap();
    assert!(again.get("leftovers_killed").is_none(), "{again}");
}

#[tokio::test]
async fn a_secret_in_two_parts_is_one() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let (start, rest) = token.split_at(9);
    let command = format!("printf 'one\\n{start}'; read x; echo {rest}; read x; seq 2000");
    std::fs::write(world.dir.path().join("tell.sh"), command).unwrap();
    let started = json!({"command": "sh tell.sh", "background": true});
    let id = world.call("terminal", started).await.unwrap()["session_id"].clone();
    let process = |action: &str| json!({"action": action, "session_id": id, "data": ""});
    let mut seen = String::new();
    while !seen.ends_with(start) {
        let polled = world.call("process", process("poll")).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        seen += polled["new_output"].as_str().unwrap();
    }
    world.call("process", process("submit")).await.unwrap();
    while !seen.ends_with("\n") || seen.ends_with("one\n") {
        let polled = world.call("process", process("poll")).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        seen += polled["new_output"].as_str().unwrap();
    }
    assert!(seen.starts_with(&format!("one\n{start}ghp_")) && !seen.contains(rest), "{seen}");
    world.call("process", process("submit")).await.unwrap();
    let waited = world.call("process", process("wait")).await.unwrap();
    assert!(waited["truncated"] == true && waited["output_note"].is_string(), "{waited}");
}

#[tokio::test]
async fn arguments_that_do_nothing_are_told() {
    let world = World::new();
    for (args, parts) in [
        (json!({"command": "true"}), &[] as &[&str]),
        (json!({"command": "true", "timeout": 5, "pty": false}), &[]),
        (json!({"command": "true", "timeout": 0}), &["`timeout` 0", "180 s"]),
        (json!({"command": "true", "pty": true}), &["`pty` does nothing"]),
        (json!({"command": "true", "cwd": "/"}), &["`cwd` does nothing", "workdir"]),
        (
            json!({"command": "true", "notify_on_complete": true, "watch_patterns": ["x"]}),
            &["`notify_on_complete` and `watch_patterns` do nothing"],
        ),
    ] {
        let result = world.call("terminal", args.clone()).await.unwrap();
        let note = result.get("arguments_note").and_then(Value::as_str).unwrap_or_default();
        assert_eq!(note.is_empty(), parts.is_empty(), "{args}: {result}");
        assert!(parts.iter().all(|part| note.contains(part)), "{args}: {result}");
    }
}

#[tokio::test]
async fn what_a_command_proves_is_told() {
    let world = World::new();
    std::fs::write(world.dir.path().join("test.sh"), "exit 1").unwrap();
    let result = world.run("sh ./test.sh 2>&1").await;
    let expected = json!({
        "status": "failed", "kind": "test", "scope": "full",
        "canonical_command": "sh ./test.sh",
    });
    assert_eq!(result["verification_evidence"], expected, "{result}");
    assert!(world.run("sh ./test.sh | cat").await.get("verification_evidence").is_none());
}

#[tokio::test]
async fn a_container_with_a_way_to_the_host_is_asked_about() {
    let docker = |key: &str, value: Value| {
        let mut terminal = json!({"backend": "docker"});
        terminal[key] = value;
        World::with(json!({"terminal": terminal}), &[])
    };
    let ways = [
        json!(["-v", "/:/host"]),
        json!(["-v/:/host"]),
        json!(["--volume=/:/host"]),
        json!(["--mount", "type=bind,src=/,dst=/host"]),
        json!(["--mount=type=bind,src=/,dst=/host"]),
        json!(["--privileged"]),
        json!(["--cap-add", "SYS_ADMIN"]),
        json!(["--device=/dev/sda"]),
        json!(["--pid=host"]),
        json!(["--network=host"]),
        json!(["--net", "host"]),
        json!(["--ipc=host"]),
        json!(["--volumes-from", "other"]),
        json!(["-v", "/var/run/docker.sock:/var/run/docker.sock"]),
        json!(["--security-opt", "seccomp=unconfined"]),
        json!(["--userns=host"]),
        json!("--privileged"),
    ];
    let mut worlds: Vec<World> =
        ways.into_iter().map(|way| docker("docker_extra_args", way)).collect();
    worlds.push(docker("docker_volumes", json!(["/srv:/srv"])));
    worlds.push(docker("docker_image", json!("--privileged")));
    worlds.push(docker("docker_env", json!({"DOCKER_HOST": "tcp://172.17.0.1:2375"})));
    worlds.push(docker("docker_forward_env", json!(["DOCKER_HOST"])));
    let settings = json!({"terminal": {"docker_extra_args": ["--privileged"]}});
    let by_task = World::with(settings, &[]);
    let own = Overrides { env_type: Some("docker".to_owned()), ..Overrides::default() };
    by_task.terminals.environments().register("one", own);
    worlds.push(by_task);
    for world in worlds {
        let settings = world.context.settings().get("terminal").cloned();
        let refused = async |command: &str| {
            let error = world.call("terminal", json!({"command": command})).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied, "{settings:?} {command}");
            error.message().to_owned()
        };
        // What has no way back isn't even asked about.
        assert!(refused("rm -rf /").await.contains("never run"), "{settings:?}");
        assert!(refused("rm -rf ./x").await.contains("consent"), "{settings:?}");
    }
    for (key, value) in [
        ("docker_extra_args", json!(["--gpus", "all", "-v", "data:/data", "--network=none"])),
        ("docker_volumes", json!(["data:/data"])),
        ("docker_env", json!({"A": "b"})),
    ] {
        let error = docker(key, value).call("terminal", json!({"command": "rm -rf /"})).await;
        // Allowed; but this program has no containers.
        assert!(error.unwrap_err().message().contains("compiled in"), "{key}");
    }
}

#[tokio::test]
async fn what_a_container_may_do_is_not_done_here_instead() {
    let world = World::with(json!({}), &[]);
    world.run("true").await;
    let own = Overrides { env_type: Some("docker".to_owned()), ..Overrides::default() };
    let environments = world.terminals.environments();
    environments.register("default", own);
    // Whoever gets the shell of before would lose a folder of this machine.
    let folder = world.dir.path().join("precious");
    std::fs::create_dir(&folder).unwrap();
    let command = format!("rm -rf {}", folder.display());
    let error = world.call("terminal", json!({"command": command})).await.unwrap_err();
    assert!(error.message().contains("compiled in"), "{}", error.message());
    assert!(folder.exists());
    environments.unregister("default");
    assert_eq!(world.output("echo again").await, "again");
}
