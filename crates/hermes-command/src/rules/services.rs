//! Services, power and containers.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::rules::process::names_agent;
use crate::value::Arg;

const SYSTEMCTL: Spec = Spec::new(
    "HMtpnosP",
    &["host", "machine", "type", "property", "lines", "output", "signal", "state", "job-mode", "kill-whom", "kill-who", "root", "message", "when", "preset-mode", "what", "image", "timestamp"],
);

impl Judge {
    fn power(&mut self) {
        self.find("power", Category::ServiceControl, true, "Stops or restarts the machine.");
    }

    fn service(&mut self, units: &[String], why: &str) {
        if units.iter().any(|it| names_agent(it)) {
            self.find("agent_service", Category::SelfHarm, false, "Stops or restarts the agent's own service.");
        } else {
            self.find("service_control", Category::ServiceControl, false, why);
        }
    }

    /// Programs about services. Whether the name is one of them.
    pub(super) fn services(&mut self, name: &str, args: &[Arg], env: &mut Env) -> bool {
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let has = |wanted: &[&str]| texts.iter().any(|it| wanted.contains(it));
        match name {
            "shutdown" => {
                let cancels = has(&["-c", "--show", "-k"]) || texts.iter().any(|it| it.starts_with("--c") || it.starts_with("/a"));
                if !cancels {
                    self.power();
                }
            }
            "reboot" | "halt" | "poweroff" | "pm-hibernate" | "systemd-shutdown" => {
                if !has(&["-w", "--wtmp-only"]) {
                    self.power();
                }
            }
            "kexec" => {
                if has(&["-e", "--exec"]) || texts.iter().any(|it| it.starts_with("-") && !it.starts_with("--") && it.contains('e')) {
                    self.power();
                }
            }
            "init" | "telinit" => {
                if texts.iter().any(|it| matches!(*it, "0" | "6")) {
                    self.power();
                } else if texts.iter().any(|it| matches!(*it, "1" | "s" | "S" | "q2")) {
                    self.find("service_control", Category::ServiceControl, false, "Stops most services of the machine.");
                }
            }
            "systemctl" => self.systemctl(args),
            "loginctl" => {
                if texts.iter().any(|it| matches!(*it, "poweroff" | "reboot" | "halt")) {
                    self.power();
                } else if texts.iter().any(|it| it.starts_with("terminate-") || it.starts_with("kill-")) {
                    self.find("session_end", Category::Kill, false, "Ends a session with everything in it.");
                }
            }
            "dbus-send" | "busctl" | "gdbus" | "qdbus" | "qdbus6" => {
                let all = texts.join(" ").to_ascii_lowercase();
                let methods = ["reboot", "poweroff", "halt", "kexec", "rebootwithflags", "poweroffwithflags"];
                let is_login = all.contains("login1") || all.contains("consolekit") || all.contains("systemd1") || all.contains("sessionmanager") || all.contains("ksmserver");
                let words = all.split([' ', '.', '/', ':', '(', ')', '\'', '"']).any(|it| methods.contains(&it) || it == "shutdown" || it == "stop" && all.contains("consolekit"));
                if is_login && words {
                    self.power();
                } else if all.contains("systemd1") && ["stopunit", "restartunit", "maskunitfiles", "disableunitfiles", "killunit"].iter().any(|it| all.contains(it)) {
                    let units: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
                    self.service(&units, "Stops or restarts a service.");
                }
            }
            "service" | "rc-service" | "invoke-rc.d" | "initctl" | "sv" | "runit" | "s6-svc" | "supervisorctl" | "monit" | "pm2" | "brew" | "rc-update" | "chkconfig" | "update-rc.d" | "svc" | "svcadm" | "stop" | "restart"
            | "rcctl" | "god" | "nssm" | "forever" | "net" | "sc" | "dinitctl" | "Stop-Service" => self.old_services(name, args),
            "launchctl" => {
                let verb = texts.first().copied().unwrap_or_default();
                if matches!(verb, "stop" | "kickstart" | "bootout" | "unload" | "kill" | "disable" | "remove") {
                    let units: Vec<String> = texts.iter().skip(1).map(|it| (*it).to_owned()).collect();
                    self.service(&units, "Stops, restarts or removes a service.");
                } else if verb == "reboot" {
                    self.power();
                }
            }
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => self.docker(name, args),
            "kubectl" | "oc" | "k3s" | "microk8s" => self.kubectl(args),
            "helm" | "helmfile" => {
                let options = Options::parse(args, Spec::new("nf", &["namespace", "kube-context", "kubeconfig", "timeout", "file"]));
                let verb = options.texts().first().copied().unwrap_or_default();
                if matches!(verb, "uninstall" | "delete" | "del" | "un" | "destroy" | "rollback") && !options.long("dry-run", 7) {
                    self.find("cluster", Category::ServiceControl, false, "Removes what runs in a cluster.");
                }
            }
            "nomad" | "consul" => {
                if texts.windows(2).any(|it| matches!(it, ["job", "stop"])) || texts.first() == Some(&"stop") || texts.windows(2).any(|it| matches!(it, ["kv", "delete"])) {
                    self.find("cluster", Category::ServiceControl, false, "Stops what runs in a cluster.");
                }
            }
            "crictl" | "ctr" | "lxc" | "incus" | "virsh" | "VBoxManage" | "vboxmanage" | "multipass" | "vagrant" | "qm" | "pct" | "xl" | "machinectl" | "minikube" | "kind" | "k3d" | "docker-machine" | "lxc-stop" | "lxc-destroy" | "colima" | "limactl" => {
                let options = Options::parse(args, Spec::default());
                let verbs = ["stop", "stopp", "rm", "rmp", "rmi", "destroy", "delete", "undefine", "kill", "poweroff", "controlvm", "unregistervm", "restart", "terminate", "halt", "shutdown", "purge"];
                let first = options.texts().into_iter().take(2).any(|it| verbs.contains(&it));
                if first || name.starts_with("lxc-") {
                    self.find("container", Category::ServiceControl, false, "Stops or removes machines or containers.");
                }
            }
            "nginx" | "apachectl" | "apache2ctl" | "httpd" | "pg_ctl" | "rabbitmqctl" | "haproxy" | "varnishadm" => {
                let stops = has(&["stop", "restart", "graceful-stop", "stop_app", "reset", "force_reset", "immediate"]) && !has(&["-t"]);
                if stops {
                    self.find("service_control", Category::ServiceControl, false, "Stops or restarts a service.");
                }
            }
            "ifdown" | "ifconfig" | "ip" | "nmcli" | "rfkill" => {
                let downs = name == "ifdown" || has(&["down"]) && (has(&["set"]) || name == "ifconfig" || has(&["connection", "con", "c", "device"])) || name == "nmcli" && has(&["off"]) || name == "rfkill" && has(&["block"]);
                let flushes = name == "ip" && has(&["flush"]);
                if downs || flushes {
                    self.find("network_down", Category::ServiceControl, false, "Takes the network of the machine down.");
                }
            }
            "swapoff" | "rmmod" | "modprobe" => {
                let removes = name == "rmmod" || name == "modprobe" && has(&["-r", "--remove"]);
                if removes {
                    self.find("kernel_module", Category::ServiceControl, false, "Takes a part of the kernel away.");
                }
            }
            _ => return false,
        }
        let _ = env;
        true
    }

    fn systemctl(&mut self, args: &[Arg]) {
        let options = Options::parse(args, SYSTEMCTL);
        let mut operands = options.operands.iter().map(Arg::text);
        let Some(verb) = operands.next() else { return };
        if options.long("dry-run", 3) {
            return;
        }
        let units: Vec<String> = operands.collect();
        let stem = |it: &str| it.strip_suffix(".target").map(str::to_owned);
        let targets: Vec<String> = units.iter().filter_map(|it| stem(it)).collect();
        let is_power = |it: &str| matches!(it, "poweroff" | "reboot" | "halt" | "kexec" | "rescue" | "emergency" | "runlevel0" | "runlevel6" | "shutdown" | "exit" | "soft-reboot" | "ctrl-alt-del" | "runlevel1");
        let is_user = options.long("user", 2);
        match verb.as_str() {
            "poweroff" | "reboot" | "halt" | "kexec" | "rescue" | "emergency" | "soft-reboot" | "suspend-then-poweroff" | "default-poweroff" => {
                if !(verb == "reboot" && options.long("help", 2)) {
                    self.power();
                }
            }
            "start" | "isolate" | "restart" | "reload-or-restart" if targets.iter().any(|it| is_power(it)) || units.iter().any(|it| matches!(it.as_str(), "systemd-poweroff.service" | "systemd-reboot.service" | "systemd-halt.service" | "systemd-kexec.service" | "systemd-poweroff" | "systemd-reboot" | "systemd-halt")) => {
                self.power();
            }
            "isolate" if units.iter().any(|it| is_power(it)) => self.power(),
            "stop" | "restart" | "disable" | "mask" | "kill" | "isolate" | "try-restart" | "reload-or-restart" | "force-reload" | "condrestart" | "try-reload-or-restart" | "clean" | "revert" | "freeze" => {
                self.service(&units, "Stops, restarts or disables a service.");
            }
            "exit" if is_user => self.find("service_control", Category::ServiceControl, false, "Ends the user's session."),
            "suspend" | "hibernate" | "hybrid-sleep" | "suspend-then-hibernate" | "sleep" => {
                self.find("suspend", Category::ServiceControl, false, "Puts the machine to sleep.");
            }
            "set-default" if targets.iter().any(|it| is_power(it)) => self.find("service_control", Category::ServiceControl, false, "Makes the machine stop at every start."),
            _ => {}
        }
    }

    fn old_services(&mut self, name: &str, args: &[Arg]) {
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let words: Vec<&str> = texts.iter().filter(|it| !it.starts_with('-')).copied().collect();
        let verbs: &[&str] = match name {
            "sv" => &["stop", "down", "restart", "exit", "force-stop", "force-restart", "force-shutdown", "kill", "term", "d", "t", "k", "x", "shutdown"],
            "supervisorctl" => &["stop", "restart", "shutdown", "remove", "reload"],
            "pm2" | "forever" => &["stop", "restart", "delete", "kill", "del", "stopall", "restartall"],
            "rc-update" => &["del", "delete"],
            "chkconfig" => &["off"],
            "update-rc.d" => &["remove", "disable"],
            "svcadm" => &["disable", "restart"],
            "brew" => &["stop", "restart", "kill"],
            "net" | "sc" => &["stop", "delete"],
            "rcctl" => &["stop", "restart", "disable"],
            _ => &["stop", "restart", "force-stop", "condrestart", "try-restart", "force-restart", "full-restart", "unmonitor", "force-reload"],
        };
        if name == "s6-svc" || name == "svc" {
            if texts.iter().any(|it| it.starts_with('-') && it.contains(['d', 't', 'k', 'x', 'r'])) {
                self.service(&own(&words), "Stops or restarts a service.");
            }
            return;
        }
        if name == "brew" && words.first() != Some(&"services") {
            return;
        }
        if matches!(name, "stop" | "restart") {
            // Upstart; also a name that scripts give themselves.
            return;
        }
        let at = words.iter().position(|it| verbs.contains(it));
        if let Some(at) = at
            && (at > 0 || !matches!(name, "service" | "rc-service" | "invoke-rc.d"))
        {
            self.service(&own(&words), "Stops or restarts a service.");
        }
        if texts.contains(&"--full-restart") {
            self.service(&own(&words), "Restarts services.");
        }
    }

    fn docker(&mut self, name: &str, args: &[Arg]) {
        let global = Spec::stopping("HcfpL", &["host", "context", "config", "log-level", "file", "project-name", "profile", "env-file", "project-directory", "ansi", "connection", "url", "namespace", "tlscacert"]);
        let options = Options::parse(args, global);
        let mut words = options.operands.as_slice();
        let mut is_compose = name.ends_with("-compose");
        if words.first().is_some_and(|it| it.is("compose")) {
            is_compose = true;
            words = words.get(1..).unwrap_or_default();
        }
        let inner = Options::parse(words, global);
        if is_compose {
            words = inner.operands.as_slice();
        }
        let Some((verb, rest)) = words.split_first() else { return };
        let mut verb = verb.marked.as_str();
        let mut rest = rest;
        let mut group = "";
        if !is_compose && matches!(verb, "container" | "image" | "volume" | "network" | "system" | "builder" | "swarm" | "service" | "stack" | "node" | "secret" | "config" | "machine" | "pod" | "context" | "buildx" | "plugin") {
            group = verb;
            let Some((first, after)) = rest.split_first() else { return };
            verb = first.marked.as_str();
            rest = after;
        }
        let options = Options::parse(rest, Spec::new("tsf", &["time", "signal", "timeout", "filter"]));
        let forces = rest.iter().any(|it| it.is("--force") || (it.is_option() && !it.starts_with("--") && it.marked.contains('f')));
        let texts = rest.iter().map(Arg::text).collect::<Vec<_>>();
        let why = "Stops, restarts or removes containers or what belongs to them.";
        let is_bad = match (group, verb) {
            _ if is_compose => matches!(verb, "down" | "stop" | "kill" | "restart") || (verb == "rm" && (forces || rest.iter().any(|it| it.is_option() && it.marked.contains('s')))),
            ("" | "container", "stop" | "kill" | "restart") => true,
            ("" | "container", "rm" | "remove") => forces,
            ("container" | "volume" | "system", "prune") => true,
            ("image", "prune") => rest.iter().any(|it| it.is("--all") || (it.is_option() && !it.starts_with("--") && it.marked.contains('a'))),
            ("volume", "rm" | "remove") => true,
            ("image" | "", "rmi") | ("image", "rm" | "remove") => forces,
            ("system", "reset") | ("swarm", "leave") | ("stack" | "service" | "node" | "secret" | "config", "rm" | "remove") => true,
            ("machine" | "pod", "stop" | "rm" | "kill" | "reset" | "restart") => true,
            ("service", "scale") => texts.iter().any(|it| it.ends_with("=0")),
            _ => false,
        };
        let _ = options;
        if is_bad {
            self.service(&texts, why);
        }
        // A container that gets the machine's own root.
        if matches!((group, verb), ("" | "container", "run" | "create")) {
            let texts: Vec<&str> = rest.iter().map(|it| it.marked.as_str()).collect();
            let mounts_root = texts.iter().enumerate().any(|(index, it)| {
                let value = match *it {
                    "-v" | "--volume" => texts.get(index + 1).copied().unwrap_or_default(),
                    _ => it.strip_prefix("-v").or_else(|| it.strip_prefix("--volume=")).unwrap_or_default(),
                };
                let mount = match *it {
                    "--mount" => texts.get(index + 1).copied().unwrap_or_default(),
                    _ => it.strip_prefix("--mount=").unwrap_or_default(),
                };
                value.starts_with("/:") || value.starts_with("/etc:") || mount.contains("source=/,") || mount.contains("src=/,")
            });
            if mounts_root {
                self.find("host_root_mounted", Category::Other, false, "Gives a container the root folder of this machine.");
            }
        }
    }

    fn kubectl(&mut self, args: &[Arg]) {
        let args = if args.first().is_some_and(|it| it.is("kubectl")) { args.get(1..).unwrap_or_default() } else { args };
        let options = Options::parse(
            args,
            Spec::new("nlfoc", &["namespace", "context", "kubeconfig", "cluster", "user", "selector", "filename", "output", "server", "token", "as", "field-selector", "grace-period", "timeout", "container", "replicas", "request-timeout", "v"]),
        );
        let dry = options.flags.iter().any(|it| it.name == "dry-run" && it.value.as_ref().is_none_or(|it| !it.is("none")));
        if dry || options.has("h") {
            return;
        }
        let texts = options.texts();
        let verb = texts.first().copied().unwrap_or_default();
        let zero = options.value("", "replicas").is_some_and(|it| it.is("0"));
        let rollout = verb == "rollout" && texts.get(1).is_some_and(|it| matches!(*it, "restart" | "undo"));
        let forced = verb == "replace" && options.long("force", 5);
        if matches!(verb, "delete" | "drain") || (verb == "scale" && zero) || rollout || forced {
            self.find("cluster", Category::ServiceControl, false, "Removes or stops what runs in a cluster.");
        }
    }
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

/// The program that runs in a container, and whether it is a text; None if the program isn't about
/// running one.
pub(crate) fn inner_of_container(name: &str, args: &[Arg]) -> Option<(Vec<Arg>, bool)> {
    let after_dashes = || args.iter().position(|it| it.is("--")).map(|at| args.get(at + 1..).unwrap_or_default().to_vec());
    match name {
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
            let global = Spec::stopping("HcfpL", &["host", "context", "config", "log-level", "file", "project-name", "profile", "env-file", "project-directory", "connection", "url", "namespace"]);
            let mut words = Options::parse(args, global).operands;
            while words.first().is_some_and(|it| matches!(it.marked.as_str(), "compose" | "container")) {
                words.remove(0);
                words = Options::parse(&words, global).operands;
            }
            let verb = words.first().map(|it| it.marked.clone()).unwrap_or_default();
            let rest = words.get(1..).unwrap_or_default();
            let spec = Spec::stopping(
                "euwvplhmcna",
                &["env", "user", "workdir", "volume", "publish", "name", "network", "net", "mount", "env-file", "entrypoint", "label", "hostname", "memory", "cpus", "platform", "restart", "add-host", "cap-add", "cap-drop", "device", "dns", "gpus", "pull", "security-opt", "shm-size", "tmpfs", "ulimit", "pid", "ipc", "userns", "log-driver", "log-opt", "detach-keys", "index", "cidfile", "expose", "link", "runtime", "stop-signal", "group-add", "init-path", "ip", "sysctl", "cgroup-parent", "volumes-from", "memory-swap", "cpu-shares", "attach"],
            );
            match verb.as_str() {
                "exec" => {
                    let options = Options::parse(rest, spec);
                    Some((options.operands.get(1..).unwrap_or_default().to_vec(), false))
                }
                "run" => {
                    let options = Options::parse(rest, spec);
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
            let options = Options::parse(args, Spec::new("nc", &["namespace", "container", "context", "kubeconfig"]));
            let verb = options.texts().first().copied().unwrap_or_default();
            if !matches!(verb, "exec" | "run" | "debug" | "kubectl") {
                return None;
            }
            if let Some(argv) = after_dashes() {
                return Some((argv, false));
            }
            // The old form without `--`.
            let at = args.iter().position(|it| it.is("exec"))?;
            let rest = Options::parse(args.get(at + 1..).unwrap_or_default(), Spec::stopping("nc", &["namespace", "container"]));
            Some((rest.operands.get(1..).unwrap_or_default().to_vec(), false))
        }
        "lxc" | "incus" | "lxc-attach" | "toolbox" | "distrobox" | "multipass" | "fly" | "flyctl" | "heroku" | "machinectl" | "crictl" | "ctr" => {
            if let Some(argv) = after_dashes() {
                return Some((argv, false));
            }
            let at = args.iter().position(|it| matches!(it.marked.as_str(), "exec" | "run" | "shell"))?;
            let options = Options::parse(args.get(at + 1..).unwrap_or_default(), Spec::stopping("nac", &["container", "name", "app"]));
            let skipped = usize::from(name != "heroku" && name != "toolbox");
            Some((options.operands.get(skipped..).unwrap_or_default().to_vec(), name == "heroku"))
        }
        "vagrant" => {
            let at = args.iter().position(|it| matches!(it.marked.as_str(), "-c" | "--command"))?;
            Some((args.get(at + 1..at + 2).unwrap_or_default().to_vec(), true))
        }
        "wsl" => {
            let options = Options::parse(args, Spec::stopping("due", &["distribution", "user", "exec", "cd"]));
            let mut argv = options.operands;
            if let Some(first) = options.flags.iter().find(|it| it.name == "e" || it.name == "exec").and_then(|it| it.value.clone()) {
                argv.insert(0, first);
            }
            Some((argv, false))
        }
        "nix-shell" | "nix" => {
            if let Some(at) = args.iter().position(|it| matches!(it.marked.as_str(), "--run" | "--command")) {
                return Some((args.get(at + 1..at + 2).unwrap_or_default().to_vec(), true));
            }
            let at = args.iter().position(|it| it.is("-c"))?;
            Some((args.get(at + 1..).unwrap_or_default().to_vec(), false))
        }
        "apptainer" | "singularity" => {
            let at = args.iter().position(|it| it.is("exec"))?;
            let options = Options::parse(args.get(at + 1..).unwrap_or_default(), Spec::stopping("BHW", &["bind", "home", "env", "pwd", "overlay"]));
            Some((options.operands.get(1..).unwrap_or_default().to_vec(), false))
        }
        "adb" => {
            let at = args.iter().position(|it| it.is("shell"))?;
            Some((args.get(at + 1..).unwrap_or_default().to_vec(), true))
        }
        _ => None,
    }
}
