//! Containers: what they are started with, which are taken, which are removed.

use std::path::PathBuf;
use std::time::Duration;

use hermes_exec_docker::{Facts, Options, is_orphan, own_folders, reuse_pick, run_args, values};
use hermes_exec_policy::isolation::is_host_folder;
use serde_json::{Map, Value, json};

use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("docker_run_args", Binding::Checked(docker_run_args)),
    ("docker_label", Binding::Actual(docker_label)),
    ("docker_forward_env", Binding::Actual(docker_forward_env)),
    ("docker_volume_is_host", Binding::Actual(docker_volume_is_host)),
    ("docker_reuse_pick", Binding::Actual(docker_reuse_pick)),
    ("docker_reap", Binding::Actual(docker_reap)),
];

fn flag(input: &Value, key: &str, default: bool) -> bool {
    input.get(key).and_then(Value::as_bool).unwrap_or(default)
}

fn number(input: &Value, key: &str) -> f64 {
    input.get(key).and_then(Value::as_f64).unwrap_or_default()
}

fn name<'a>(input: &'a Value, key: &str, default: &'a str) -> &'a str {
    input.get(key).and_then(Value::as_str).unwrap_or(default)
}

fn options(input: &Value) -> Result<Options, String> {
    let id = |key: &str| u32::try_from(input.get(key)?.as_u64()?).ok();
    let user = flag(input, "run_as_host_user", false).then(|| id("uid").zip(id("gid"))).flatten();
    let wants_cwd = flag(input, "auto_mount_cwd", false) && flag(input, "host_cwd_exists", true);
    let host_cwd = input.get("host_cwd").and_then(Value::as_str).map(str::trim);
    let host_cwd = host_cwd.filter(|path| wants_cwd && !path.is_empty()).map(PathBuf::from);
    let none = Map::new();
    let env = input.get("env").and_then(Value::as_object).unwrap_or(&none);
    Ok(Options {
        image: text(input, "image")?.to_owned(),
        cwd: name(input, "cwd", "/root").to_owned(),
        task_id: name(input, "task_id", "default").to_owned(),
        profile: name(input, "profile", "default").to_owned(),
        sandbox_root: PathBuf::from(name(input, "sandbox_root", "/sandboxes")),
        persistent: flag(input, "persistent", false),
        network: flag(input, "network", true),
        cpu: number(input, "cpu"),
        memory_mb: number(input, "memory") as u64,
        disk_mb: number(input, "disk") as u64,
        volumes: values::volumes(list(input, "volumes").unwrap_or(&[])),
        env: values::environment(env),
        extra_args: values::extra_args(list(input, "extra_args").unwrap_or(&[])),
        host_cwd,
        user,
        ..Options::default()
    })
}

pub(crate) fn docker_run_args(input: &Value, expect: &Value) -> Result<(), String> {
    let options = options(input)?;
    let entrypoint = list(input, "entrypoint").unwrap_or(&[]);
    let facts = Facts {
        limits: flag(input, "cgroups", false),
        disk_limit: flag(input, "storage_opt", false),
        entrypoint: entrypoint.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        skip_entrypoint: false,
    };
    let args = run_args(&options, &facts, "hermes-00000000");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let has = |words: &[&str]| !words.is_empty() && args.windows(words.len()).any(|it| it == words);
    let keys = expect.as_object().ok_or("the expectation is no object")?;
    for (key, value) in keys {
        let rows = value.as_array().map_or(&[][..], Vec::as_slice);
        let words = |row: &'_ Value| -> Vec<String> {
            let row = row.as_array().map_or(&[][..], Vec::as_slice);
            row.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let single: Vec<&str> = rows.iter().filter_map(Value::as_str).collect();
        let holds = match key.as_str() {
            "contains" | "absent_pairs" => rows.iter().all(|row| {
                let row = words(row);
                let row: Vec<&str> = row.iter().map(String::as_str).collect();
                has(&row) == (key == "contains")
            }),
            "absent" => single.iter().all(|word| !args.contains(word)),
            "ends_with" => args.ends_with(&single),
            "volume_targets" => {
                let binds = args.windows(2).filter(|it| it.first() == Some(&"-v"));
                let mut targets: Vec<&str> = binds
                    .filter_map(|it| it.get(1)?.split_once(':'))
                    .map(|(_, rest)| rest.split(':').next().unwrap_or(rest))
                    .collect();
                let mut expected = single;
                targets.sort_unstable();
                expected.sort_unstable();
                targets == expected
            }
            "host_paths_inside_sandbox_root" => {
                let is_inside = own_folders(&options).iter().all(|(folder, _)| {
                    let parts = folder.strip_prefix(&options.sandbox_root).map(PathBuf::from);
                    parts.is_ok_and(|parts| {
                        let names = parts.components();
                        names.clone().count() == 3
                            && names
                                .into_iter()
                                .all(|it| matches!(it, std::path::Component::Normal(_)))
                    })
                });
                value.as_bool() == Some(is_inside)
            }
            other => return Err(format!("unknown expectation {other:?}")),
        };
        if !holds {
            return Err(format!("{key}: {value} doesn't hold of {args:?}"));
        }
    }
    Ok(())
}

pub(crate) fn docker_label(input: &Value) -> Result<Value, String> {
    Ok(json!({"value": values::label(text(input, "value")?)}))
}

pub(crate) fn docker_forward_env(input: &Value) -> Result<Value, String> {
    Ok(json!({"names": values::forward_names(list(input, "names")?)}))
}

pub(crate) fn docker_volume_is_host(input: &Value) -> Result<Value, String> {
    Ok(json!({"host": is_host_folder(text(input, "volume")?)}))
}

pub(crate) fn docker_reuse_pick(input: &Value) -> Result<Value, String> {
    let pick = reuse_pick(text(input, "ps_output")?);
    let start_needed = pick.as_ref().map(|pick| pick.start_needed);
    Ok(json!({"id": pick.map(|pick| pick.id), "start_needed": start_needed}))
}

pub(crate) fn docker_reap(input: &Value) -> Result<Value, String> {
    let max_age = Duration::try_from_secs_f64(number(input, "max_age_seconds"));
    let max_age = max_age.map_err(|error| error.to_string())?;
    let finished_at = name(input, "finished_at", "");
    Ok(json!({"reap": is_orphan(finished_at, text(input, "now")?, max_age)}))
}
