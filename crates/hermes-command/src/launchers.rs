//! Programs that start the one that is named by their arguments, each with its own way to name it.

use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow};
use crate::wrap::{Inner, Io};

impl Judge {
    /// What a launcher starts; None if the program is none, or is used in another way.
    pub(crate) fn launchers(
        &mut self,
        name: &str,
        args: &[Arg],
        env: &mut Env,
        io: &Io,
    ) -> Option<Inner> {
        let first = args.first().map(|it| it.marked.as_str()).unwrap_or_default();
        let from = |at: usize| args.get(at..).unwrap_or_default().to_vec();
        let operands = |spec: Spec, skipped: usize| {
            let operands = Options::parse(args, spec).operands;
            operands.get(skipped..).unwrap_or_default().to_vec()
        };
        if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" {
            let long = &[
                "library-path",
                "preload",
                "argv0",
                "audit",
                "inhibit-rpath",
                "glibc-hwcaps-mask",
            ];
            let options = Options::parse(args, Spec::stopping("", long));
            let lists = options.long("list", 4) || options.long("verify", 6);
            return Some(Inner::Argv(if lists { Vec::new() } else { options.operands }));
        }
        if name.starts_with("qemu-") && !is_machine(name) {
            let long = &["L", "E", "U", "cpu", "g", "0", "s", "B", "d", "D", "p", "R", "r"];
            let spec = Spec { long, single: true, stops: true, ..Spec::default() };
            return Some(Inner::Argv(operands(spec, 0)));
        }
        let argv = match name {
            "bwrap" => in_bubble(args),
            "proot" => operands(
                Spec::stopping("rbwqRSmkil", &["rootfs", "bind", "cwd", "qemu", "mount"]),
                0,
            ),
            "faketime" => operands(Spec::stopping("p", &["pid", "date-prog"]), 1),
            "capsh" => {
                let at = args.iter().position(|it| it.is("--"))?;
                std::iter::once(Arg::new("bash")).chain(from(at + 1)).collect()
            }
            "start-stop-daemon" => daemon(args)?,
            "bun" if first == "x" => from(1),
            "direnv" if first == "exec" => from(2),
            "dotenv" => {
                let operands = operands(Spec::stopping("efvcpo", &["file", "export"]), 0);
                match operands.first().map(|it| it.marked.as_str()) {
                    Some("run") => operands.get(1..).unwrap_or_default().to_vec(),
                    Some("set" | "get" | "list" | "unset") => return None,
                    _ => operands,
                }
            }
            "arch" => operands(
                Spec { long: &["e", "d"], single: true, stops: true, ..Spec::default() },
                0,
            ),
            _ => return self.text_launchers(name, args, env, io),
        };
        Some(Inner::Argv(argv))
    }

    /// Launchers that are given a text.
    fn text_launchers(
        &mut self,
        name: &str,
        args: &[Arg],
        env: &mut Env,
        io: &Io,
    ) -> Option<Inner> {
        let first = args.first().map(|it| it.marked.as_str()).unwrap_or_default();
        let text = match name {
            "sg" => {
                let rest = args.get(1..).unwrap_or_default();
                let rest = match rest.split_first() {
                    Some((option, rest)) if option.is("-c") => rest,
                    _ => rest,
                };
                return Some(Inner::Done(self.words_as_text(rest, env)));
            }
            "split" => {
                let options = Options::parse(args, Spec::new("abClntk", &["filter"]));
                let filter = options.value("", "filter")?.flow();
                let mut inner = env.clone();
                return Some(Inner::Done(self.run_text(&filter, &mut inner, io.stdin.clone())));
            }
            "npx" | "pnpx" => Options::parse(args, Spec::stopping("pc", &["package", "call"]))
                .value("c", "call")?
                .clone(),
            "npm" | "pnpm" if matches!(first, "exec" | "x") => {
                let rest = args.get(1..).unwrap_or_default();
                let spec = Spec::stopping("pc", &["package", "call"]);
                Options::parse(rest, spec).value("c", "call")?.clone()
            }
            "pdsh" | "clush" | "dsh" => {
                let spec = Spec::stopping("wxgltufRSomXa", &["user", "hostfile"]);
                let words = Options::parse(args, spec).operands;
                return Some(Inner::Done(self.elsewhere(&words, env, &Flow::unknown())));
            }
            "pssh" | "parallel-ssh" => {
                let spec = Spec::stopping("hHlpoetxO", &["hosts", "host", "user", "par"]);
                let words = Options::parse(args, spec).operands;
                return Some(Inner::Done(self.elsewhere(&words, env, &Flow::unknown())));
            }
            "ansible" => {
                let long = &["module-name", "args", "inventory", "user", "extra-vars", "forks"];
                let options = Options::parse(args, Spec::new("maiuetfPBcMTl", long));
                let module = options.value("m", "module-name").map(Arg::text);
                let module = module.as_deref().unwrap_or("command");
                let module = module.rsplit('.').next().unwrap_or_default();
                if !matches!(module, "shell" | "command" | "raw" | "win_shell") {
                    return None;
                }
                options.value("a", "args")?.clone()
            }
            "salt" | "salt-call" | "salt-ssh" => {
                let runs = |it: &Arg| {
                    matches!(it.marked.as_str(), "cmd.run" | "cmd.shell" | "cmd.run_all" | "-r")
                };
                args.get(args.iter().position(runs)? + 1)?.clone()
            }
            "gcloud" if args.iter().any(|it| it.is("ssh")) => {
                Options::parse(args, Spec::new("", &["command"])).value("", "command")?.clone()
            }
            "fly" | "flyctl" if first == "ssh" => {
                let spec = Spec::new("Cacos", &["command", "app", "config"]);
                Options::parse(args, spec).value("C", "command")?.clone()
            }
            "screen" => {
                let at = args.iter().position(|it| it.is("stuff"))?;
                let typed = args.get(at + 1)?;
                let lines = typed.marked.replace("\\n", "\n").replace("\\015", "\n");
                typed.with(&lines.replace("^M", "\n").replace('\r', "\n"))
            }
            _ => return None,
        };
        Some(Inner::Done(self.words_as_text(&[text], env)))
    }
}

/// Whether it is a machine, or a tool for its disks.
fn is_machine(name: &str) -> bool {
    ["system", "img", "nbd", "io", "ga", "storage", "bridge", "pr", "edid", "keymap"]
        .iter()
        .any(|it| name.strip_prefix("qemu-").is_some_and(|rest| rest.starts_with(it)))
        && !name.starts_with("qemu-ppc")
}

/// The program after the options of `bwrap`.
fn in_bubble(args: &[Arg]) -> Vec<Arg> {
    let mut at = 0;
    while let Some(option) = args.get(at).and_then(|it| it.marked.strip_prefix("--")) {
        at += 1;
        at += match option {
            "" => return args.get(at..).unwrap_or_default().to_vec(),
            "bind" | "ro-bind" | "dev-bind" | "bind-try" | "ro-bind-try" | "dev-bind-try"
            | "symlink" | "setenv" | "file" | "bind-data" | "ro-bind-data" | "chmod"
            | "bind-fd" | "ro-bind-fd" => 2,
            "overlay" => 3,
            "share-net"
            | "die-with-parent"
            | "new-session"
            | "clearenv"
            | "as-pid-1"
            | "disable-userns"
            | "assert-userns-disabled"
            | "ro-overlay"
            | "help"
            | "version" => 0,
            it if it.starts_with("unshare-") => 0,
            _ => 1,
        };
    }
    args.get(at..).unwrap_or_default().to_vec()
}

/// What `start-stop-daemon` starts.
fn daemon(args: &[Arg]) -> Option<Vec<Arg>> {
    let at = args.iter().position(|it| it.is("--")).unwrap_or(args.len());
    let (own, rest) = args.split_at(at);
    let long = &[
        "exec",
        "startas",
        "pidfile",
        "name",
        "user",
        "group",
        "chuid",
        "chroot",
        "chdir",
        "nicelevel",
        "retry",
        "signal",
        "umask",
    ];
    let options = Options::parse(own, Spec::new("xapnugcrdNRsk", long));
    let program = options.value("a", "startas").or_else(|| options.value("x", "exec"))?;
    let starts = options.has("S") || options.long("start", 5);
    starts.then(|| std::iter::once(program.clone()).chain(rest.iter().skip(1).cloned()).collect())
}
