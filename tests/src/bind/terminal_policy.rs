//! What a command gets from the host: its variables, the configuration of the terminal, files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_exec_policy::child_env::{
    Blocklist, ChildEnv, HomeMode, HomeRule, Passthrough, Purpose, Request, SessionVars,
    repair_path,
};
use hermes_exec_policy::choice::{
    DaytonaResources, ModalBackend, ModalMeans, sif_name, ssh_socket_name,
};
use hermes_exec_policy::config::cwd::container_cwd_unusable;
use hermes_exec_policy::config::{Backend, ModalMode, TerminalConfig};
use hermes_exec_policy::files::{CONTAINER_BASE, SyncMap, credential_file};
use hermes_registry::Settings;
use serde_json::{Map, Value, json};

use super::paths::make_link;
use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("container_cwd_unusable", Binding::Actual(cwd_unusable)),
    ("credential_file", Binding::Actual(credential)),
    ("daytona_resources", Binding::Actual(daytona_resources)),
    ("env_path", Binding::Actual(env_path)),
    ("env_scrub", Binding::Checked(env_scrub)),
    ("modal_backend", Binding::Actual(modal_backend)),
    ("passthrough_register", Binding::Actual(passthrough_register)),
    ("sif_name", Binding::Actual(sif)),
    ("ssh_socket_name", Binding::Actual(ssh_socket)),
    ("sync_back_target", Binding::Actual(sync_back_target)),
    ("terminal_config", Binding::Checked(terminal_config)),
];

fn env_scrub(input: &Value, expect: &Value) -> Result<(), String> {
    let process = texts_by_name(input, "env")?;
    let flag = |key: &str| input.get(key).and_then(Value::as_bool).unwrap_or_default();
    let purpose = match text(input, "mode").unwrap_or("foreground") {
        "background" => Purpose::Background,
        "helper" => Purpose::Helper { inherit_credentials: flag("inherit_credentials") },
        _ => Purpose::Foreground,
    };
    let blocklist = Arc::new(Blocklist::default());
    let passthrough = names(input, "passthrough")?;
    Passthrough::new(Arc::clone(&blocklist), [""; 0]).register("", passthrough);
    let session = texts_by_name(input, "session_vars")?;
    let session = SessionVars::new(session).multi_session(flag("multi_session"));
    let hermes_home = process.get("HERMES_HOME").map(PathBuf::from);
    let mode = process.get("TERMINAL_HOME_MODE").map_or(HomeMode::Auto, |it| HomeMode::of(it));
    let home = HomeRule { mode, hermes_home: hermes_home.as_deref(), ..HomeRule::default() };
    let extra = texts_by_name(input, "extra")?;
    let request = Request { purpose, extra, session, home, program_dir: None };
    let env = ChildEnv::new(&process, &blocklist, &request);

    for name in names(expect, "present")? {
        if !env.vars.contains_key(name) {
            return Err(format!("{name} is not passed on"));
        }
    }
    for name in names(expect, "absent")? {
        if env.vars.contains_key(name) {
            return Err(format!("{name} is passed on"));
        }
    }
    for (name, value) in texts_by_name(expect, "values")? {
        let found = env.vars.get(&name);
        if found != Some(&value) {
            return Err(format!("{name} is {found:?} and not {value:?}"));
        }
    }
    Ok(())
}

fn env_path(input: &Value) -> Result<Value, String> {
    Ok(json!({ "path": repair_path(text(input, "path")?, None) }))
}

fn passthrough_register(input: &Value) -> Result<Value, String> {
    let passthrough = Passthrough::new(Arc::new(Blocklist::default()), [""; 0]);
    let found = passthrough.register("", names(input, "names")?);
    Ok(json!({ "accepted": found.accepted, "refused": found.refused }))
}

fn cwd_unusable(input: &Value) -> Result<Value, String> {
    Ok(json!({ "unusable": container_cwd_unusable(text(input, "cwd")?) }))
}

fn terminal_config(input: &Value, expect: &Value) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|err| err.to_string())?;
    let settings = Settings::new(dir.path()).with_env(texts_by_name(input, "env")?);
    let settings = match input.get("config") {
        Some(config) => settings.with_config(json!({ "terminal": config })),
        None => settings,
    };
    let found = TerminalConfig::of(&settings, dir.path());
    let resolved = match &found {
        Ok(config) => resolved(config),
        Err(error) => json!({ "ok": false, "error_names": error.to_string() }),
    };
    for (key, expected) in expect.as_object().ok_or("the expectation is no object")? {
        let actual = resolved.get(key);
        let is_as_expected = match (key.as_str(), actual) {
            ("error_names", Some(Value::String(error))) => {
                expected.as_str().is_some_and(|name| error.contains(name))
            }
            // A number is the same however it is written.
            (_, Some(Value::Number(number))) => number.as_f64() == expected.as_f64(),
            _ => actual == Some(expected),
        };
        if !is_as_expected {
            return Err(format!("{key} is {actual:?} and not {expected}"));
        }
    }
    Ok(())
}

/// A configuration under the names of its settings.
fn resolved(config: &TerminalConfig) -> Value {
    let mut values = json!({
        "ok": true,
        "env_type": config.backend.name(),
        "backend": config.backend.name(),
        "cwd": config.cwd,
        "host_cwd": config.host_cwd,
        "timeout": config.timeout.as_secs(),
        "max_foreground_timeout": config.max_foreground_timeout.as_secs(),
        "lifetime_seconds": config.lifetime.as_secs(),
        "home_mode": config.home_mode.as_str(),
        "host_access": config.has_host_access(),
    });
    let mut set = |key: &str, value: Value| {
        values.as_object_mut().map(|values| values.insert(key.to_owned(), value));
    };
    if let Some(container) = config.backend.container() {
        set(&format!("{}_image", config.backend.name()), json!(container.image));
        set("container_cpu", json!(container.cpu));
        set("container_memory", json!(container.memory_mb));
        set("container_disk", json!(container.disk_mb));
        set("container_persistent", json!(container.persistent));
    }
    match &config.backend {
        Backend::Local(local) => set("local_persistent", json!(local.persistent)),
        Backend::Docker(docker) => {
            set("docker_forward_env", json!(docker.forward_env));
            set("docker_env", json!(docker.env));
            set("docker_volumes", json!(docker.volumes));
            set("docker_extra_args", json!(docker.extra_args));
            set("docker_network", json!(docker.network));
            set("docker_mount_cwd_to_workspace", json!(docker.mount_cwd_to_workspace));
            set("docker_run_as_host_user", json!(docker.run_as_host_user));
            set("docker_persist_across_processes", json!(docker.persist_across_processes));
            set("docker_orphan_reaper", json!(docker.orphan_reaper));
        }
        Backend::Ssh(ssh) => {
            set("ssh_host", json!(ssh.host));
            set("ssh_user", json!(ssh.user));
            set("ssh_port", json!(ssh.port));
            set("ssh_key", json!(ssh.key.as_deref().unwrap_or_default()));
            set("ssh_persistent", json!(ssh.persistent));
        }
        Backend::Modal(modal) => set("modal_mode", json!(modal.mode.as_str())),
        Backend::Singularity(_) | Backend::Daytona(_) | Backend::Unknown(_) => {}
    }
    values
}

fn modal_backend(input: &Value) -> Result<Value, String> {
    let flag = |key: &str| input.get(key).and_then(Value::as_bool).unwrap_or_default();
    let means = ModalMeans {
        has_direct: flag("has_direct"),
        managed_enabled: flag("managed_enabled"),
        managed_ready: flag("managed_ready"),
    };
    let chosen = ModalBackend::choose(ModalMode::of(text(input, "mode").unwrap_or("")), means);
    Ok(json!({ "selected": chosen.ok().map(ModalBackend::as_str) }))
}

fn daytona_resources(input: &Value) -> Result<Value, String> {
    let number = |key: &str| input.get(key).and_then(Value::as_f64).unwrap_or_default();
    let (memory, disk) = (number("memory_mb"), number("disk_mb"));
    let found = DaytonaResources::of(number("cpu"), memory.ceil() as u64, disk.ceil() as u64);
    Ok(json!({ "cpu": found.cpu, "memory": found.memory, "disk": found.disk }))
}

fn ssh_socket(input: &Value) -> Result<Value, String> {
    let port = input.get("port").and_then(Value::as_u64).unwrap_or(22);
    let port = u16::try_from(port).map_err(|err| err.to_string())?;
    Ok(json!({ "file": ssh_socket_name(text(input, "user")?, text(input, "host")?, port) }))
}

fn sif(input: &Value) -> Result<Value, String> {
    Ok(json!({ "file": sif_name(text(input, "image")?) }))
}

fn credential(input: &Value) -> Result<Value, String> {
    let dir = tempfile::tempdir().map_err(|err| err.to_string())?;
    let home = dir.path().join("home");
    fs::create_dir(&home).map_err(|err| err.to_string())?;
    for (name, content) in texts_by_name(input, "home")? {
        let path = home.join(&name);
        match content.strip_prefix("-> ") {
            Some(target) => make_link(&path, Path::new(target))?,
            None => {
                fs::create_dir_all(path.parent().unwrap_or(&home))
                    .and_then(|()| fs::write(&path, content))
                    .map_err(|err| format!("can't make {name}: {err}"))?;
            }
        }
    }
    let found = credential_file(&home, text(input, "path")?);
    let container_path = found.as_ref().ok().map(|file| file.container_path(CONTAINER_BASE));
    Ok(json!({ "accepted": found.is_ok(), "container_path": container_path }))
}

fn sync_back_target(input: &Value) -> Result<Value, String> {
    let remote = text(input, "remote")?;
    let mut pairs = Vec::new();
    for pair in list(input, "mapping")? {
        let side = |index: usize| pair.get(index).and_then(Value::as_str).ok_or("no pair of texts");
        pairs.push((side(0)?.to_owned(), side(1)?.to_owned()));
    }
    // The cases name no base: it is where `.hermes` is on the other side.
    let known = pairs.iter().map(|(_, remote)| remote.as_str());
    let base = known.filter_map(|path| path.find("/.hermes/").map(|at| path.split_at(at).0)).next();
    let base = format!("{}/.hermes", base.unwrap_or_default());
    let upload_only: Vec<_> = names(input, "upload_only")?.into_iter().map(PathBuf::from).collect();
    let host = SyncMap::new(&base, pairs, upload_only).target(remote);
    Ok(json!({ "host": host.map(|host| host.display().to_string()) }))
}

/// The texts of a list.
fn names<'a>(value: &'a Value, key: &str) -> Result<Vec<&'a str>, String> {
    let texts = list(value, key)?.iter().map(Value::as_str);
    texts.collect::<Option<_>>().ok_or_else(|| format!("{key:?} holds no texts"))
}

/// The texts of an object by name; empty if there is none.
fn texts_by_name(value: &Value, key: &str) -> Result<BTreeMap<String, String>, String> {
    let object = value.get(key).and_then(Value::as_object);
    let pair = |(name, value): (&String, &Value)| {
        let value = value.as_str().ok_or_else(|| format!("{key:?} holds no text: {value}"))?;
        Ok((name.clone(), value.to_owned()))
    };
    object.unwrap_or(&Map::new()).iter().map(pair).collect()
}
