//! What a shell hook costs beside starting its program plainly.
#![expect(clippy::unwrap_used, reason = "a bench that can't run should say so")]

use std::sync::Arc;

use divan::{Bencher, black_box};
use hermes_hooks::shell::{Script, ShellHook, parse_hooks_config};
use hermes_hooks::{Event, Hook as _, HookEvent};
use hermes_registry::Settings;
use serde_json::{Map, Value, json};

fn main() {
    divan::main();
}

const COMMANDS: &[&str] = &["/bin/true", "/bin/sh -c 'echo {}'"];

#[divan::bench(args = COMMANDS)]
fn plain(bencher: Bencher<'_, '_>, command: &str) {
    let settings = settings();
    let script = Script::of(command, &settings);
    let (program, args) = script.words().split_first().unwrap();
    bencher.bench(|| {
        #[expect(clippy::disallowed_methods, reason = "the yardstick")]
        let mut plain = std::process::Command::new(program);
        black_box(plain.args(args).output().unwrap())
    });
}

#[divan::bench(args = COMMANDS)]
fn hook(bencher: Bencher<'_, '_>, command: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let settings = settings();
    let config = json!({"pre_tool_call": [{"command": command}]});
    let spec = parse_hooks_config(&config).hooks.remove(0);
    let hook = ShellHook::new(spec, Script::of(command, &settings), settings);
    let args = json!({"command": "ls -la"});
    let payload = Map::from_iter([
        ("tool_name".to_owned(), Value::from("terminal")),
        ("args".to_owned(), args),
    ]);
    let event = Arc::new(Event::new(HookEvent::PreToolCall, payload, "/"));
    bencher.bench(|| runtime.block_on(hook.run(Arc::clone(&event))).unwrap());
}

fn settings() -> Settings {
    Settings::new("/nowhere").with_env([("PATH", "/usr/bin:/bin"), ("HOME", "/nowhere")])
}
