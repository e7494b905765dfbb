//! How a container is started.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hermes_exec_container::{Mount, path_segment};
use hermes_exec_policy::isolation::volume_parts;

use crate::options::Options;
use crate::values::label;

/// Labels that tell ours from others'.
pub(crate) const OURS: &str = "hermes-agent=1";
pub(crate) const TASK: &str = "hermes-task-id";
pub(crate) const PROFILE: &str = "hermes-profile";

/// What a container runs so that it stays.
pub(crate) const STAY: [&str; 2] = ["sleep", "infinity"];

/// Entry points of images that bring an init of their own.
const S6: [&str; 2] = ["/init", "/package/admin/s6-overlay/command/init"];

/// What was found out about the engine and the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Processors, memory and the number of processes can be limited.
    pub limits: bool,
    /// The size of the disk can be limited.
    pub disk_limit: bool,
    /// The image's entry point.
    pub entrypoint: Vec<String>,
    /// The image's entry point doesn't run what it is given, so it is left out.
    pub skip_entrypoint: bool,
}

/// The arguments of `docker` that start a container, from `run` on.
#[must_use]
pub fn run_args(options: &Options, facts: &Facts, name: &str) -> Vec<String> {
    let mut args = Args::default();
    args.add(["run", "-d"]);
    let is_s6 = is_s6(&facts.entrypoint);
    if !is_s6 {
        args.add(["--init"]);
    }
    args.pair("--name", name);
    args.pair("--label", OURS);
    args.pair("--label", &format!("{TASK}={}", label(&options.task_id)));
    args.pair("--label", &format!("{PROFILE}={}", label(&options.profile)));
    args.0.extend(settings(options, facts));
    args.add([options.image.trim()]);
    args.add(STAY);
    args.0
}

/// Whether the image brings an init of its own.
fn is_s6(entrypoint: &[String]) -> bool {
    entrypoint.first().is_some_and(|program| S6.contains(&program.as_str()))
}

/// What makes one container different from another.
pub(crate) fn settings(options: &Options, facts: &Facts) -> Vec<String> {
    let mut args = Args::default();
    // Where the user has mounted something of their own, nothing else can be.
    let taken: BTreeSet<&str> = options
        .volumes
        .iter()
        .filter_map(|volume| Some(volume_parts(volume)?.1.trim_end_matches('/')))
        .collect();
    let is_free = |target: &str| !taken.contains(target);
    args.pair("-w", options.cwd.trim());
    args.security(options, is_s6(&facts.entrypoint), &is_free);
    if let Some((user, group)) = options.user {
        args.pair("--user", &format!("{user}:{group}"));
    }
    let host_cwd = options.host_cwd.as_ref().filter(|_| is_free("/workspace"));
    args.writable(options, host_cwd.is_some(), &is_free);
    args.limits(options, facts);
    if let Some(host) = host_cwd {
        args.bind(host.clone(), "/workspace", false);
    }
    for volume in &options.volumes {
        args.pair("-v", volume);
    }
    for mount in &options.mounts {
        args.bind(mount.host.clone(), &mount.container, mount.read_only);
    }
    for (name, value) in &options.env {
        args.pair("-e", &format!("{name}={value}"));
    }
    if facts.skip_entrypoint {
        args.pair("--entrypoint", "");
    }
    args.0.extend(options.extra_args.iter().cloned());
    args.0
}

/// The folders of this machine that a persistent container has as its own, and where they appear.
#[must_use]
pub fn own_folders(options: &Options) -> [(PathBuf, &'static str); 2] {
    let folder = options.sandbox_root.join("docker").join(path_segment(options.task_id.trim()));
    [(folder.join("home"), "/root"), (folder.join("workspace"), "/workspace")]
}

#[derive(Default)]
struct Args(Vec<String>);

impl Args {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(str::to_owned));
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.add([key, value]);
    }

    fn bind(&mut self, host: PathBuf, target: &str, read_only: bool) {
        let mount = Mount { host, container: target.to_owned(), read_only };
        match mount.to_argument() {
            Some(argument) => self.pair("-v", &argument),
            None => tracing::warn!(path = %mount.host.display(), "can't be shown in a container"),
        }
    }

    fn security(&mut self, options: &Options, is_s6: bool, is_free: &dyn Fn(&str) -> bool) {
        self.pair("--cap-drop", "ALL");
        for capability in ["DAC_OVERRIDE", "CHOWN", "FOWNER"] {
            self.pair("--cap-add", capability);
        }
        if options.user.is_none() {
            // What package managers need to give up rights.
            self.pair("--cap-add", "SETUID");
            self.pair("--cap-add", "SETGID");
        }
        self.pair("--security-opt", "no-new-privileges");
        let run = if is_s6 { "exec" } else { "noexec" };
        for (target, rest) in [
            ("/tmp", "rw,nosuid,size=512m"),
            ("/var/tmp", "rw,noexec,nosuid,size=256m"),
            ("/run", &format!("rw,{run},nosuid,size=64m")),
        ] {
            self.tmpfs(target, rest, is_free);
        }
    }

    fn writable(&mut self, options: &Options, has_cwd: bool, is_free: &dyn Fn(&str) -> bool) {
        let is_free = |target: &str| is_free(target) && !(has_cwd && target == "/workspace");
        if options.persistent {
            for (host, target) in own_folders(options) {
                if is_free(target) {
                    self.bind(host, target, false);
                }
            }
            return;
        }
        self.tmpfs("/workspace", "rw,exec,size=10g", &is_free);
        self.tmpfs("/home", "rw,exec,size=1g", &is_free);
        self.tmpfs("/root", "rw,exec,size=1g", &is_free);
    }

    fn tmpfs(&mut self, target: &str, rest: &str, is_free: &dyn Fn(&str) -> bool) {
        if is_free(target) {
            self.pair("--tmpfs", &format!("{target}:{rest}"));
        }
    }

    fn limits(&mut self, options: &Options, facts: &Facts) {
        if facts.limits {
            if options.cpu.is_finite() && options.cpu > 0.0 {
                self.pair("--cpus", &options.cpu.to_string());
            }
            if options.memory_mb > 0 {
                self.pair("--memory", &format!("{}m", options.memory_mb));
            }
            self.pair("--pids-limit", "256");
        }
        if facts.disk_limit && options.disk_mb > 0 {
            self.pair("--storage-opt", &format!("size={}m", options.disk_mb));
        }
        if !options.network {
            self.add(["--network=none"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn line(options: &Options, facts: &Facts) -> String {
        run_args(options, facts, "n").join(" ")
    }

    #[test]
    fn defaults() {
        let options = Options { image: " i ".into(), ..Options::default() };
        assert_eq!(
            line(&options, &Facts { limits: true, ..Facts::default() }),
            "run -d --init --name n --label hermes-agent=1 --label hermes-task-id=default --label \
             hermes-profile=default -w /root --cap-drop ALL --cap-add DAC_OVERRIDE --cap-add CHOWN \
             --cap-add FOWNER --cap-add SETUID --cap-add SETGID --security-opt no-new-privileges \
             --tmpfs /tmp:rw,nosuid,size=512m --tmpfs /var/tmp:rw,noexec,nosuid,size=256m --tmpfs \
             /run:rw,noexec,nosuid,size=64m --tmpfs /workspace:rw,exec,size=10g --tmpfs \
             /home:rw,exec,size=1g --tmpfs /root:rw,exec,size=1g --pids-limit 256 i sleep infinity"
        );
    }

    #[test]
    fn nothing_is_mounted_twice() {
        let options = Options {
            image: "i".into(),
            persistent: true,
            sandbox_root: "/s".into(),
            host_cwd: Some("/p".into()),
            volumes: vec!["/h:/root/".into(), "v:/tmp".into()],
            ..Options::default()
        };
        let line = line(&options, &Facts::default());
        assert!(line.contains("-v /p:/workspace -v /h:/root/ -v v:/tmp"), "{line}");
        assert!(!line.contains("/s/docker") && !line.contains("/tmp:rw,nosuid,"), "{line}");
    }

    #[test]
    fn a_task_stays_below_the_root() {
        for task_id in ["../..", "/etc", "..", ".", "", "a/../../b"] {
            let options = Options {
                task_id: task_id.into(),
                sandbox_root: "/s".into(),
                persistent: true,
                ..Options::default()
            };
            for (folder, _) in own_folders(&options) {
                let rest = folder.strip_prefix("/s/docker").unwrap();
                let is_plain =
                    |it: std::path::Component<'_>| matches!(it, std::path::Component::Normal(_));
                assert!(rest.components().count() == 2 && rest.components().all(is_plain));
            }
        }
    }
}
