//! Containers and clusters: what is stopped, and what runs in them.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::{Device, Loss, Target, resolve};
use crate::value::Arg;

/// The options in front of a subcommand of an engine that have a value.
const ENGINE: Spec = Spec::stopping(
    "HcfpL",
    &[
        "host",
        "context",
        "config",
        "log-level",
        "file",
        "project-name",
        "profile",
        "env-file",
        "project-directory",
        "ansi",
        "connection",
        "url",
        "namespace",
        "tlscacert",
    ],
);

/// The options of `run` and of what is like it that have a value.
const RUN: Spec = Spec::stopping(
    "euwvplhmcna",
    &[
        "env",
        "user",
        "workdir",
        "volume",
        "publish",
        "name",
        "network",
        "net",
        "mount",
        "env-file",
        "entrypoint",
        "label",
        "hostname",
        "memory",
        "cpus",
        "platform",
        "restart",
        "add-host",
        "cap-add",
        "cap-drop",
        "device",
        "dns",
        "gpus",
        "pull",
        "security-opt",
        "shm-size",
        "tmpfs",
        "ulimit",
        "pid",
        "ipc",
        "userns",
        "log-driver",
        "log-opt",
        "detach-keys",
        "index",
        "cidfile",
        "expose",
        "link",
        "runtime",
        "stop-signal",
        "group-add",
        "init-path",
        "ip",
        "sysctl",
        "cgroup-parent",
        "volumes-from",
        "memory-swap",
        "cpu-shares",
        "attach",
    ],
);

impl Judge {
    pub(crate) fn docker(&mut self, name: &str, args: &[Arg]) {
        let options = Options::parse(args, ENGINE);
        let mut words = options.operands.as_slice();
        let mut is_compose = name.ends_with("-compose");
        if words.first().is_some_and(|it| it.is("compose")) {
            is_compose = true;
            words = words.get(1..).unwrap_or_default();
        }
        let inner = Options::parse(words, ENGINE);
        if is_compose {
            words = inner.operands.as_slice();
        }
        let Some((verb, rest)) = words.split_first() else { return };
        let mut verb = verb.marked.as_str();
        let mut rest = rest;
        let mut group = "";
        if !is_compose
            && matches!(
                verb,
                "container"
                    | "image"
                    | "volume"
                    | "network"
                    | "system"
                    | "builder"
                    | "swarm"
                    | "service"
                    | "stack"
                    | "node"
                    | "secret"
                    | "config"
                    | "machine"
                    | "pod"
                    | "context"
                    | "buildx"
                    | "plugin"
            )
        {
            group = verb;
            let Some((first, after)) = rest.split_first() else { return };
            verb = first.marked.as_str();
            rest = after;
        }
        let forces = rest.iter().any(|it| {
            it.is("--force") || (it.is_option() && !it.starts_with("--") && it.marked.contains('f'))
        });
        let texts = rest.iter().map(Arg::text).collect::<Vec<_>>();
        let why = "Stops, restarts or removes containers or what belongs to them.";
        let is_bad = match (group, verb) {
            _ if is_compose => {
                matches!(verb, "down" | "stop" | "kill" | "restart")
                    || (verb == "rm"
                        && (forces
                            || rest.iter().any(|it| it.is_option() && it.marked.contains('s'))))
            }
            ("" | "container", "stop" | "kill" | "restart") => true,
            ("" | "container", "rm" | "remove") => forces,
            ("container" | "volume" | "system", "prune") => true,
            ("image", "prune") => rest.iter().any(|it| {
                it.is("--all")
                    || (it.is_option() && !it.starts_with("--") && it.marked.contains('a'))
            }),
            ("volume", "rm" | "remove") => true,
            ("image" | "", "rmi") | ("image", "rm" | "remove") => forces,
            ("system", "reset")
            | ("swarm", "leave")
            | ("stack" | "service" | "node" | "secret" | "config", "rm" | "remove") => true,
            ("machine" | "pod", "stop" | "rm" | "kill" | "reset" | "restart") => true,
            ("service", "scale") => texts.iter().any(|it| it.ends_with("=0")),
            _ => false,
        };
        if is_bad {
            self.service(&texts, why);
        }
    }

    /// Containers that get a way to this machine.
    pub(super) fn opens_machine(&mut self, args: &[Arg], env: &Env) {
        let mut words = Options::parse(args, ENGINE).operands;
        if words.first().is_some_and(|it| it.is("container")) {
            words.remove(0);
        }
        let Some((verb, rest)) = words.split_first() else { return };
        if !matches!(verb.marked.as_str(), "run" | "create") {
            return;
        }
        let options = Options::parse(rest, RUN);
        let volumes = options.values("v", "volume").into_iter().map(|it| {
            let source = it.marked.split(':').next().unwrap_or_default();
            it.with(source.trim_start_matches('='))
        });
        let mounts = options.values("", "mount").into_iter().filter_map(|it| {
            let fields = it.marked.split(',').filter_map(|field| field.split_once('='));
            let source = fields.into_iter().find(|(key, _)| matches!(*key, "source" | "src"));
            source.map(|(_, source)| it.with(source))
        });
        let sources: Vec<_> = volumes
            .chain(mounts)
            .filter(|it| it.starts_with("/") || it.starts_with("."))
            .map(|it| resolve(&it, env))
            .collect();
        let own = env.home();
        let mounts_root = sources
            .iter()
            .any(|it| it.loss(env, &self.homes) == Loss::All && own != Some(it.path.as_str()));
        if mounts_root {
            let why = "Gives a container a folder of the system of this machine.";
            self.find("host_root_mounted", Category::Other, false, why);
        }
        let is_named = |option: &str, values: &[&str]| {
            options.values("", option).iter().any(|it| {
                let value = it.marked.to_ascii_uppercase();
                values.contains(&value.trim_start_matches("CAP_"))
            })
        };
        let is_open = options.flags.iter().any(|it| it.name == "privileged")
            || is_named("pid", &["HOST"])
            || is_named("userns", &["HOST"])
            || is_named("cap-add", &["ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_RAWIO"])
            || sources.iter().any(|it| it.path.ends_with("/docker.sock"))
            || options.values("", "device").iter().any(|it| is_of_machine(&resolve(it, env)));
        if is_open {
            let why = "Gives a container the rights of this machine's administrator.";
            self.find("container_opened", Category::Other, false, why);
        }
    }

    pub(crate) fn kubectl(&mut self, args: &[Arg]) {
        let args = if args.first().is_some_and(|it| it.is("kubectl")) {
            args.get(1..).unwrap_or_default()
        } else {
            args
        };
        let options = Options::parse(
            args,
            Spec::new(
                "nlfoc",
                &[
                    "namespace",
                    "context",
                    "kubeconfig",
                    "cluster",
                    "user",
                    "selector",
                    "filename",
                    "output",
                    "server",
                    "token",
                    "as",
                    "field-selector",
                    "grace-period",
                    "timeout",
                    "container",
                    "replicas",
                    "request-timeout",
                    "v",
                ],
            ),
        );
        let dry = options
            .flags
            .iter()
            .any(|it| it.name == "dry-run" && it.value.as_ref().is_none_or(|it| !it.is("none")));
        if dry || options.has("h") {
            return;
        }
        let texts = options.texts();
        let verb = texts.first().copied().unwrap_or_default();
        let zero = options.value("", "replicas").is_some_and(|it| it.is("0"));
        let rollout =
            verb == "rollout" && texts.get(1).is_some_and(|it| matches!(*it, "restart" | "undo"));
        let forced = verb == "replace" && options.long("force", 5);
        if matches!(verb, "delete" | "drain") || (verb == "scale" && zero) || rollout || forced {
            self.find(
                "cluster",
                Category::ServiceControl,
                false,
                "Removes or stops what runs in a cluster.",
            );
        }
    }
}

/// Whether a device is a disk or memory, and no graphics card or the like.
fn is_of_machine(device: &Target) -> bool {
    let name = device.path.strip_prefix("/dev/").unwrap_or_default();
    let is_known = ["dm-", "hd", "kmem", "mapper", "mem", "mmcblk", "nvme", "port", "sd", "vd"];
    device.device() == Some(Device::Disk) && is_known.iter().any(|it| name.starts_with(it))
}

/// The program that runs in a container, and whether it is a text; None if the program isn't about
/// running one.
pub(crate) fn inner_of_container(name: &str, args: &[Arg]) -> Option<(Vec<Arg>, bool)> {
    let after_dashes = || {
        args.iter()
            .position(|it| it.is("--"))
            .map(|at| args.get(at + 1..).unwrap_or_default().to_vec())
    };
    match name {
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
            let mut words = Options::parse(args, ENGINE).operands;
            while words
                .first()
                .is_some_and(|it| matches!(it.marked.as_str(), "compose" | "container"))
            {
                words.remove(0);
                words = Options::parse(&words, ENGINE).operands;
            }
            let verb = words.first().map(|it| it.marked.clone()).unwrap_or_default();
            let rest = words.get(1..).unwrap_or_default();
            match verb.as_str() {
                "exec" => {
                    let options = Options::parse(rest, RUN);
                    Some((options.operands.get(1..).unwrap_or_default().to_vec(), false))
                }
                "run" => {
                    let options = Options::parse(rest, RUN);
                    let mut argv = options.operands.get(1..).unwrap_or_default().to_vec();
                    if let Some(entry) = options.value("", "entrypoint") {
                        argv.insert(0, entry.clone());
                    }
                    Some((argv, false))
                }
                _ => None,
            }
        }
        "kubectl" | "oc" | "k3s" | "microk8s" => {
            let options = Options::parse(
                args,
                Spec::new("nc", &["namespace", "container", "context", "kubeconfig"]),
            );
            let verb = options.texts().first().copied().unwrap_or_default();
            if !matches!(verb, "exec" | "run" | "debug" | "kubectl") {
                return None;
            }
            if let Some(argv) = after_dashes() {
                return Some((argv, false));
            }
            // The old form without `--`.
            let at = args.iter().position(|it| it.is("exec"))?;
            let rest = Options::parse(
                args.get(at + 1..).unwrap_or_default(),
                Spec::stopping("nc", &["namespace", "container"]),
            );
            Some((rest.operands.get(1..).unwrap_or_default().to_vec(), false))
        }
        "lxc" | "incus" | "lxc-attach" | "toolbox" | "distrobox" | "multipass" | "fly"
        | "flyctl" | "heroku" | "machinectl" | "crictl" | "ctr" => {
            if let Some(argv) = after_dashes() {
                return Some((argv, false));
            }
            let at = args
                .iter()
                .position(|it| matches!(it.marked.as_str(), "exec" | "run" | "shell"))?;
            let options = Options::parse(
                args.get(at + 1..).unwrap_or_default(),
                Spec::stopping("nac", &["container", "name", "app"]),
            );
            let skipped = usize::from(name != "heroku" && name != "toolbox");
            Some((options.operands.get(skipped..).unwrap_or_default().to_vec(), name == "heroku"))
        }
        "vagrant" => {
            let at = args.iter().position(|it| matches!(it.marked.as_str(), "-c" | "--command"))?;
            Some((args.get(at + 1..at + 2).unwrap_or_default().to_vec(), true))
        }
        "wsl" => {
            let options = Options::parse(
                args,
                Spec::stopping("due", &["distribution", "user", "exec", "cd"]),
            );
            let mut argv = options.operands;
            if let Some(first) = options
                .flags
                .iter()
                .find(|it| it.name == "e" || it.name == "exec")
                .and_then(|it| it.value.clone())
            {
                argv.insert(0, first);
            }
            Some((argv, false))
        }
        "nix-shell" | "nix" => {
            if let Some(at) =
                args.iter().position(|it| matches!(it.marked.as_str(), "--run" | "--command"))
            {
                return Some((args.get(at + 1..at + 2).unwrap_or_default().to_vec(), true));
            }
            let at = args.iter().position(|it| it.is("-c"))?;
            Some((args.get(at + 1..).unwrap_or_default().to_vec(), false))
        }
        "apptainer" | "singularity" => {
            let at = args.iter().position(|it| it.is("exec"))?;
            let options = Options::parse(
                args.get(at + 1..).unwrap_or_default(),
                Spec::stopping("BHW", &["bind", "home", "env", "pwd", "overlay"]),
            );
            Some((options.operands.get(1..).unwrap_or_default().to_vec(), false))
        }
        "adb" => {
            let at = args.iter().position(|it| it.is("shell"))?;
            Some((args.get(at + 1..).unwrap_or_default().to_vec(), true))
        }
        _ => None,
    }
}
