//! What takes the machine apart without deleting a file: mounts, modules, packages, devices.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::{Guarded, Loss, Target, resolve};
use crate::value::{Arg, Flow, Taint};

/// Packages that nothing runs without.
const ESSENTIAL: [&str; 20] = [
    "*",
    ".*",
    "bash",
    "dash",
    "libc6",
    "libc-bin",
    "glibc",
    "musl",
    "coreutils",
    "busybox",
    "systemd",
    "init",
    "dpkg",
    "apt",
    "rpm",
    "util-linux",
    "login",
    "sudo",
    "linux-image-*",
    "kernel",
];

impl Judge {
    /// Whether a folder is one of the system, or holds people's homes.
    fn is_vital(&self, path: &Target, env: &Env) -> bool {
        path.loss(env, &self.homes) == Loss::All && !path.path.starts_with("/mnt/")
    }

    pub(super) fn machine(&mut self, name: &str, args: &[Arg], env: &mut Env) {
        let words: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let has = |wanted: &[&str]| words.iter().any(|it| wanted.contains(it));
        match name {
            "sshfs" | "bindfs" | "rclone" | "unionfs" | "encfs" | "gocryptfs" => {
                self.keeps_fresh = false;
            }
            "mount" => {
                self.keeps_fresh = false;
                let options = Options::parse(args, Spec::new("otTLUNO", &["options", "types"]));
                let settings = options.values("o", "options");
                let remounts = settings.iter().any(|it| it.marked.contains("remount"));
                let over = options.operands.last().filter(|_| options.operands.len() > 1);
                let is_over = over.is_some_and(|it| self.is_vital(&resolve(it, env), env));
                if remounts || is_over {
                    self.taken_apart("mount_over", "Puts another file system over a folder of the system, or changes how one is mounted.");
                }
            }
            "umount" => {
                let options = Options::parse(args, Spec::new("tO", &["types"]));
                if options.operands.iter().any(|it| self.is_vital(&resolve(it, env), env)) {
                    self.taken_apart("unmount_system", "Takes a file system of the machine away.");
                }
            }
            "docker" | "podman" | "nerdctl" => self.opens_machine(args, env),
            "efibootmgr" => {
                let changes = Options::parse(args, Spec::new("bdeElLmMnoptT", &["bootnum"]));
                if changes.has("BcoOnNDyaA") || changes.long("delete-bootnum", 1) {
                    self.find(
                        "boot_entries",
                        Category::SystemConfigOverwrite,
                        false,
                        "Changes what the machine starts, and in which order.",
                    );
                }
            }
            "swapoff" if !args.is_empty() && !has(&["-h", "-V", "-v"]) => {
                self.taken_apart("swap_off", "Takes memory away from the programs that run.");
            }
            "dmsetup" if has(&["remove_all", "wipe_table"]) => {
                self.find(
                    "mapper_removed",
                    Category::FilesystemFormat,
                    false,
                    "Takes mapped devices away from under their file systems.",
                );
            }
            "grub-install" | "grub2-install" | "lilo" | "extlinux" => {
                let is_device = |it: &Arg| !it.is_option() && resolve(it, env).device().is_some();
                if args.iter().any(is_device) {
                    self.find(
                        "boot_loader",
                        Category::DiskWrite,
                        false,
                        "Overwrites what a disk starts the machine with.",
                    );
                }
            }
            "insmod" | "modprobe" => {
                let looks = has(&[
                    "-n",
                    "--dry-run",
                    "-c",
                    "--showconfig",
                    "-D",
                    "--show-depends",
                    "-R",
                    "-V",
                ]);
                let removes = has(&["-r", "--remove"]);
                if !looks && !removes && args.iter().any(|it| !it.is_option()) {
                    self.find(
                        "kernel_module_loaded",
                        Category::Other,
                        false,
                        "Runs code in the kernel.",
                    );
                }
            }
            "apt" | "apt-get" | "aptitude" | "dpkg" | "dnf" | "yum" | "zypper" | "pacman"
            | "apk" | "rpm" => {
                let removes = match name {
                    "dpkg" => has(&["-r", "--remove", "-P", "--purge"]),
                    "rpm" => words.iter().any(|it| it.starts_with("-e") || *it == "--erase"),
                    "pacman" => words.iter().any(|it| it.starts_with("-R")),
                    _ => has(&["remove", "purge", "erase", "autoremove", "del", "rm"]),
                };
                let is_dry = has(&["-s", "--simulate", "--dry-run", "--test", "--no-act"]);
                let essential = |it: &Arg| {
                    let text = it.text();
                    ESSENTIAL.contains(&text.split(':').next().unwrap_or_default())
                };
                if removes && !is_dry && args.iter().any(essential) {
                    self.find(
                        "essential_package",
                        Category::SystemConfigOverwrite,
                        false,
                        "Removes packages that the machine can't run without.",
                    );
                }
            }
            "gpg" | "gpg2" if words.iter().any(|it| it.starts_with("--delete-secret")) => {
                self.find(
                    "keys_deleted",
                    Category::SystemConfigOverwrite,
                    false,
                    "Deletes private keys, which can't be made again.",
                );
            }
            "setfacl" => {
                let options = Options::parse(args, Spec::new("mxMX", &["modify", "remove"]));
                let is_system = |it: &Arg| {
                    let path = resolve(it, env);
                    path.guarded(&self.homes) == Some(Guarded::System)
                        || path.loss(env, &self.homes) == Loss::All
                };
                let is_dry = options.long("test", 1);
                if !is_dry && options.operands.iter().any(is_system) {
                    self.find(
                        "permissions_of_system",
                        Category::Permission,
                        false,
                        "Changes who may use a file of the system.",
                    );
                }
            }
            "mkfifo" => {
                for fifo in args.iter().filter(|it| !it.is_option()) {
                    let path = resolve(fifo, env).path;
                    env.write(&path, &Flow::tainted(Taint::FIFO), false);
                }
            }
            _ => {}
        }
    }

    fn taken_apart(&mut self, rule: &'static str, why: &str) {
        self.find(rule, Category::ServiceControl, false, why);
    }

    /// A device that the kernel is told to let go of.
    pub(super) fn detaches(&mut self, path: &str) {
        let is_device = path.starts_with("/sys/")
            && ["/device/delete", "/remove", "/unbind"].iter().any(|it| path.ends_with(it));
        if is_device {
            self.find(
                "device_detached",
                Category::DiskWrite,
                false,
                "Takes a device away from under its file systems.",
            );
        }
    }

    /// The rights of a whole home, or those that leave nothing usable.
    pub(super) fn rights_of_tree(&mut self, mode: &str, targets: &[Arg], env: &Env) {
        let own = env.home().map(str::to_owned);
        let is_home = targets.iter().any(|it| Some(resolve(it, env).path) == own);
        let digits = mode.trim_start_matches('=');
        let (mut takes, mut gives) = (false, false);
        if !digits.is_empty() && digits.bytes().all(|it| matches!(it, b'0'..=b'7')) {
            let value = u32::from_str_radix(digits, 8).unwrap_or(0);
            takes = value & 0o700 == 0 || (is_home && value & 0o700 != 0o700);
            gives = value & 0o7 != 0;
        } else {
            for clause in mode.split(',') {
                let Some(at) = clause.find(['+', '-', '=']) else { continue };
                let (who, rights) = clause.split_at(at);
                let owner = who.is_empty() || who.contains(['u', 'a']);
                let others = who.is_empty() || who.contains(['o', 'a']);
                let all = rights.contains('r') && rights.contains('w');
                takes |= owner && (rights.starts_with('-') && (all || is_home) || rights == "=");
                gives |=
                    others && !rights.starts_with('-') && rights.contains(['r', 'w', 'x', 'X']);
            }
        }
        if takes || (gives && is_home) {
            self.find(
                "permissions_of_tree",
                Category::Permission,
                false,
                "Takes the rights to a whole tree away, or gives them to everyone.",
            );
        }
    }
}
