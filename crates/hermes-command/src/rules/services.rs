//! Services, power and containers.

use crate::Category;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::rules::process::names_agent;
use crate::value::Arg;

const SYSTEMCTL: Spec = Spec::new(
    "HMtpnosP",
    &[
        "host",
        "machine",
        "type",
        "property",
        "lines",
        "output",
        "signal",
        "state",
        "job-mode",
        "kill-whom",
        "kill-who",
        "root",
        "message",
        "when",
        "preset-mode",
        "what",
        "image",
        "timestamp",
    ],
);

impl Judge {
    pub(crate) fn power(&mut self) {
        self.find("power", Category::ServiceControl, true, "Stops or restarts the machine.");
    }

    pub(crate) fn service(&mut self, units: &[String], why: &str) {
        if units.iter().any(|it| names_agent(it)) {
            self.find(
                "agent_service",
                Category::SelfHarm,
                false,
                "Stops or restarts the agent's own service.",
            );
        } else {
            self.find("service_control", Category::ServiceControl, false, why);
        }
    }

    /// Programs about services. Whether the name is one of them.
    pub(super) fn services(&mut self, name: &str, args: &[Arg]) -> bool {
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let has = |wanted: &[&str]| texts.iter().any(|it| wanted.contains(it));
        match name {
            "shutdown" => {
                let cancels = has(&["-c", "--show", "-k"])
                    || texts.iter().any(|it| it.starts_with("--c") || it.starts_with("/a"));
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
                if has(&["-e", "--exec"])
                    || texts
                        .iter()
                        .any(|it| it.starts_with("-") && !it.starts_with("--") && it.contains('e'))
                {
                    self.power();
                }
            }
            "init" | "telinit" => {
                if texts.iter().any(|it| matches!(*it, "0" | "6")) {
                    self.power();
                } else if texts.iter().any(|it| matches!(*it, "1" | "s" | "S" | "q2")) {
                    self.find(
                        "service_control",
                        Category::ServiceControl,
                        false,
                        "Stops most services of the machine.",
                    );
                }
            }
            "systemctl" => self.systemctl(args),
            "loginctl" => {
                if texts.iter().any(|it| matches!(*it, "poweroff" | "reboot" | "halt")) {
                    self.power();
                } else if texts
                    .iter()
                    .any(|it| it.starts_with("terminate-") || it.starts_with("kill-"))
                {
                    self.find(
                        "session_end",
                        Category::Kill,
                        false,
                        "Ends a session with everything in it.",
                    );
                }
            }
            "dbus-send" | "busctl" | "gdbus" | "qdbus" | "qdbus6" => {
                let all = texts.join(" ").to_ascii_lowercase();
                let methods =
                    ["reboot", "poweroff", "halt", "kexec", "rebootwithflags", "poweroffwithflags"];
                let is_login = all.contains("login1")
                    || all.contains("consolekit")
                    || all.contains("systemd1")
                    || all.contains("sessionmanager")
                    || all.contains("ksmserver");
                let words = all.split([' ', '.', '/', ':', '(', ')', '\'', '"']).any(|it| {
                    methods.contains(&it)
                        || it == "shutdown"
                        || it == "stop" && all.contains("consolekit")
                });
                if is_login && words {
                    self.power();
                } else if all.contains("systemd1")
                    && ["stopunit", "restartunit", "maskunitfiles", "disableunitfiles", "killunit"]
                        .iter()
                        .any(|it| all.contains(it))
                {
                    let units: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
                    self.service(&units, "Stops or restarts a service.");
                }
            }
            "service" | "rc-service" | "invoke-rc.d" | "initctl" | "sv" | "runit" | "s6-svc"
            | "supervisorctl" | "monit" | "pm2" | "brew" | "rc-update" | "chkconfig"
            | "update-rc.d" | "svc" | "svcadm" | "stop" | "restart" | "rcctl" | "god" | "nssm"
            | "forever" | "net" | "sc" | "dinitctl" | "Stop-Service" => {
                self.old_services(name, args);
            }
            "launchctl" => {
                let verb = texts.first().copied().unwrap_or_default();
                if matches!(
                    verb,
                    "stop" | "kickstart" | "bootout" | "unload" | "kill" | "disable" | "remove"
                ) {
                    let units: Vec<String> =
                        texts.iter().skip(1).map(|it| (*it).to_owned()).collect();
                    self.service(&units, "Stops, restarts or removes a service.");
                } else if verb == "reboot" {
                    self.power();
                }
            }
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
                self.docker(name, args);
            }
            "kubectl" | "oc" | "k3s" | "microk8s" => self.kubectl(args),
            "helm" | "helmfile" => {
                let options = Options::parse(
                    args,
                    Spec::new(
                        "nf",
                        &["namespace", "kube-context", "kubeconfig", "timeout", "file"],
                    ),
                );
                let verb = options.texts().first().copied().unwrap_or_default();
                if matches!(verb, "uninstall" | "delete" | "del" | "un" | "destroy" | "rollback")
                    && !options.long("dry-run", 7)
                {
                    self.find(
                        "cluster",
                        Category::ServiceControl,
                        false,
                        "Removes what runs in a cluster.",
                    );
                }
            }
            "nomad" | "consul" => {
                if texts.windows(2).any(|it| matches!(it, ["job", "stop"]))
                    || texts.first() == Some(&"stop")
                    || texts.windows(2).any(|it| matches!(it, ["kv", "delete"]))
                {
                    self.find(
                        "cluster",
                        Category::ServiceControl,
                        false,
                        "Stops what runs in a cluster.",
                    );
                }
            }
            "crictl" | "ctr" | "lxc" | "incus" | "virsh" | "VBoxManage" | "vboxmanage"
            | "multipass" | "vagrant" | "qm" | "pct" | "xl" | "machinectl" | "minikube"
            | "kind" | "k3d" | "docker-machine" | "lxc-stop" | "lxc-destroy" | "colima"
            | "limactl" => {
                let options = Options::parse(args, Spec::default());
                let verbs = [
                    "stop",
                    "stopp",
                    "rm",
                    "rmp",
                    "rmi",
                    "destroy",
                    "delete",
                    "undefine",
                    "kill",
                    "poweroff",
                    "controlvm",
                    "unregistervm",
                    "restart",
                    "terminate",
                    "halt",
                    "shutdown",
                    "purge",
                ];
                let first = options.texts().into_iter().take(2).any(|it| verbs.contains(&it));
                if first || name.starts_with("lxc-") {
                    self.find(
                        "container",
                        Category::ServiceControl,
                        false,
                        "Stops or removes machines or containers.",
                    );
                }
            }
            "nginx" | "apachectl" | "apache2ctl" | "httpd" | "pg_ctl" | "rabbitmqctl"
            | "haproxy" | "varnishadm" => {
                let stops = has(&[
                    "stop",
                    "restart",
                    "graceful-stop",
                    "stop_app",
                    "reset",
                    "force_reset",
                    "immediate",
                ]) && !has(&["-t"]);
                if stops {
                    self.find(
                        "service_control",
                        Category::ServiceControl,
                        false,
                        "Stops or restarts a service.",
                    );
                }
            }
            "ifdown" | "ifconfig" | "ip" | "nmcli" | "rfkill" => {
                let downs = name == "ifdown"
                    || has(&["down"])
                        && (has(&["set"])
                            || name == "ifconfig"
                            || has(&["connection", "con", "c", "device"]))
                    || name == "nmcli" && has(&["off"])
                    || name == "rfkill" && has(&["block"]);
                let flushes = name == "ip" && has(&["flush"]);
                if downs || flushes {
                    self.find(
                        "network_down",
                        Category::ServiceControl,
                        false,
                        "Takes the network of the machine down.",
                    );
                }
            }
            "swapoff" | "rmmod" | "modprobe" => {
                let removes = name == "rmmod" || name == "modprobe" && has(&["-r", "--remove"]);
                if removes {
                    self.find(
                        "kernel_module",
                        Category::ServiceControl,
                        false,
                        "Takes a part of the kernel away.",
                    );
                }
            }
            _ => return false,
        }
        true
    }

    pub(crate) fn systemctl(&mut self, args: &[Arg]) {
        let options = Options::parse(args, SYSTEMCTL);
        let mut operands = options.operands.iter().map(Arg::text);
        let Some(verb) = operands.next() else { return };
        if options.long("dry-run", 3) {
            return;
        }
        let units: Vec<String> = operands.collect();
        let stem = |it: &str| it.strip_suffix(".target").map(str::to_owned);
        let targets: Vec<String> = units.iter().filter_map(|it| stem(it)).collect();
        let is_power = |it: &str| {
            matches!(
                it,
                "poweroff"
                    | "reboot"
                    | "halt"
                    | "kexec"
                    | "rescue"
                    | "emergency"
                    | "runlevel0"
                    | "runlevel6"
                    | "shutdown"
                    | "exit"
                    | "soft-reboot"
                    | "ctrl-alt-del"
                    | "runlevel1"
            )
        };
        let is_user = options.long("user", 2);
        match verb.as_str() {
            "poweroff"
            | "reboot"
            | "halt"
            | "kexec"
            | "rescue"
            | "emergency"
            | "soft-reboot"
            | "suspend-then-poweroff"
            | "default-poweroff"
                if !(verb == "reboot" && options.long("help", 2)) =>
            {
                self.power();
            }
            "start" | "isolate" | "restart" | "reload-or-restart"
                if targets.iter().any(|it| is_power(it))
                    || units.iter().any(|it| {
                        matches!(
                            it.as_str(),
                            "systemd-poweroff.service"
                                | "systemd-reboot.service"
                                | "systemd-halt.service"
                                | "systemd-kexec.service"
                                | "systemd-poweroff"
                                | "systemd-reboot"
                                | "systemd-halt"
                        )
                    }) =>
            {
                self.power();
            }
            "isolate" if units.iter().any(|it| is_power(it)) => self.power(),
            "stop"
            | "restart"
            | "disable"
            | "mask"
            | "kill"
            | "isolate"
            | "try-restart"
            | "reload-or-restart"
            | "force-reload"
            | "condrestart"
            | "try-reload-or-restart"
            | "clean"
            | "revert"
            | "freeze" => {
                self.service(&units, "Stops, restarts or disables a service.");
            }
            "exit" if is_user => self.find(
                "service_control",
                Category::ServiceControl,
                false,
                "Ends the user's session.",
            ),
            "suspend" | "hibernate" | "hybrid-sleep" | "suspend-then-hibernate" | "sleep" => {
                self.find("suspend", Category::ServiceControl, false, "Puts the machine to sleep.");
            }
            "set-default" if targets.iter().any(|it| is_power(it)) => self.find(
                "service_control",
                Category::ServiceControl,
                false,
                "Makes the machine stop at every start.",
            ),
            _ => {}
        }
    }

    pub(crate) fn old_services(&mut self, name: &str, args: &[Arg]) {
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let words: Vec<&str> = texts.iter().filter(|it| !it.starts_with('-')).copied().collect();
        let verbs: &[&str] = match name {
            "sv" => &[
                "stop",
                "down",
                "restart",
                "exit",
                "force-stop",
                "force-restart",
                "force-shutdown",
                "kill",
                "term",
                "d",
                "t",
                "k",
                "x",
                "shutdown",
            ],
            "supervisorctl" => &["stop", "restart", "shutdown", "remove", "reload"],
            "pm2" | "forever" => {
                &["stop", "restart", "delete", "kill", "del", "stopall", "restartall"]
            }
            "rc-update" => &["del", "delete"],
            "chkconfig" => &["off"],
            "update-rc.d" => &["remove", "disable"],
            "svcadm" => &["disable", "restart"],
            "brew" => &["stop", "restart", "kill"],
            "net" | "sc" => &["stop", "delete"],
            "rcctl" => &["stop", "restart", "disable"],
            _ => &[
                "stop",
                "restart",
                "force-stop",
                "condrestart",
                "try-restart",
                "force-restart",
                "full-restart",
                "unmonitor",
                "force-reload",
            ],
        };
        if name == "s6-svc" || name == "svc" {
            if texts.iter().any(|it| it.starts_with('-') && it.contains(['d', 't', 'k', 'x', 'r']))
            {
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
}

fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}
