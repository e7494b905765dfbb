//! Commands of Windows.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::path::{Loss, resolve};
use crate::value::Arg;

/// Judges a command of Windows by its name in small letters. Whether it is one.
pub(crate) fn command(judge: &mut Judge, name: &str, args: &[Arg], env: &Env) -> bool {
    let lower: Vec<String> = args.iter().map(|it| it.text().to_ascii_lowercase()).collect();
    let has = |wanted: &[&str]| lower.iter().any(|it| wanted.contains(&it.as_str()));
    let starts = |prefix: &str, least: usize| lower.iter().any(|it| it.len() >= least && prefix.starts_with(it.as_str()) && it.starts_with('-'));
    let is_slash = lower.iter().any(|it| it.starts_with('/') && it.len() <= 4);
    match name {
        "rd" | "rmdir" | "del" | "erase" | "deltree" => {
            // `rmdir /s` of Windows; `rmdir dir` elsewhere takes empty folders only.
            let is_deep = lower.iter().any(|it| it.starts_with("/s") || it.contains("/s/") || it.ends_with("/s"));
            let powershell = starts("-recurse", 2) || name == "deltree";
            if !(is_deep && is_slash) && !powershell {
                return name != "rmdir";
            }
            let is_all = args.iter().any(|it| !is_switch(it) && is_drive(&it.marked) && resolve(it, env).loss(env, &judge.homes) == Loss::All);
            judge.find("windows_delete", Category::RecursiveDelete, is_all, "Deletes a tree.");
        }
        "remove-item" | "ri" | "clear-recyclebin" | "rm" if name != "rm" || starts("-recurse", 3) => {
            if starts("-whatif", 3) {
                return true;
            }
            if starts("-recurse", 2) || name == "clear-recyclebin" {
                let is_all = args.iter().any(|it| !it.is_option() && resolve(it, env).loss(env, &judge.homes) == Loss::All);
                judge.find("windows_delete", Category::RecursiveDelete, is_all, "Deletes a tree.");
            } else {
                for arg in args.iter().filter(|it| !it.is_option()) {
                    judge.judge_removal(arg, env);
                }
            }
        }
        "format-volume" | "clear-disk" | "initialize-disk" | "remove-partition" | "new-partition" => {
            judge.find("format", Category::FilesystemFormat, true, "Erases a drive.");
        }
        "stop-computer" | "restart-computer" => judge.find("power", Category::ServiceControl, true, "Stops or restarts the machine."),
        "stop-service" | "restart-service" | "suspend-service" | "set-service" => {
            judge.find("service_control", Category::ServiceControl, false, "Stops or restarts a service.");
        }
        "stop-process" | "taskkill" | "spps" => {
            if lower.iter().any(|it| it.contains("hermes")) {
                judge.kill_agent_by_windows();
            } else if has(&["-force", "/f"]) {
                judge.find("force_kill", Category::Kill, false, "Kills processes without letting them finish.");
            }
        }
        "reg" => {
            if has(&["delete"]) {
                judge.find("registry", Category::SystemConfigOverwrite, false, "Deletes settings of the machine.");
            }
        }
        "format" | "shutdown" | "net" | "sc" => return false,
        "cipher" => {
            if lower.iter().any(|it| it.starts_with("/w")) {
                judge.find("shred", Category::RecursiveDelete, false, "Overwrites what was deleted.");
            }
        }
        "iex" | "invoke-expression" => {
            judge.find("dynamic_code", Category::RemoteCode, false, "Runs text that is made while it runs.");
        }
        "set-executionpolicy" => {
            judge.find("protection_off", Category::Other, false, "Turns off a protection of the machine.");
        }
        _ => return false,
    }
    true
}

fn is_switch(arg: &Arg) -> bool {
    arg.marked.starts_with('/') && arg.marked.len() <= 3
}

fn is_drive(text: &str) -> bool {
    text.as_bytes().get(1) == Some(&b':') || text.starts_with(['~', '$', '%'])
}

impl Judge {
    fn kill_agent_by_windows(&mut self) {
        self.find("kill_agent", Category::SelfHarm, false, "Ends the agent's own process.");
    }
}
