//! Wrappers whose operands are a program, after some of their own.

use crate::options::{Options, Spec};
use crate::value::Arg;

pub(crate) fn is_wrapper(name: &str) -> bool {
    simple_wrapper(name, &[]).is_some() || matches!(name, "sudo" | "env" | "command" | "doas")
}

/// Wrappers whose operands are the program, after some of their own.
pub(crate) fn simple_wrapper(name: &str, args: &[Arg]) -> Option<Vec<Arg>> {
    let (spec, own) = match name {
        "builtin" | "setsid" | "nohup" | "unbuffer" | "eatmydata" | "fakeroot" | "catchsegv"
        | "dbus-run-session" | "proxychains" | "proxychains4" | "torsocks" | "tsocks"
        | "rlwrap" | "pkgrun" | "noglob" | "nocorrect" | "-" | "!" | "then" | "do" | "else"
        | "coproc" | "caffeinate" => (Spec::stopping("", &[]), 0),
        "firejail" | "xvfb-run" | "aa-exec" | "systemd-inhibit" | "dbus-launch" => {
            (Spec::stopping("fFsnep", &["what", "who", "why", "mode", "profile", "server-args"]), 0)
        }
        "exec" => (Spec::stopping("a", &[]), 0),
        "time" => (Spec::stopping("fo", &["format", "output"]), 0),
        "nice" => (Spec::stopping("n", &["adjustment"]), 0),
        "ionice" => (Spec::stopping("cnpPu", &["class", "classdata", "pid"]), 0),
        "chrt" => (Spec::stopping("TPDp", &["sched-runtime", "sched-period", "sched-deadline"]), 1),
        "taskset" => (Spec::stopping("p", &["pid"]), 1),
        "timeout" | "gtimeout" => (Spec::stopping("ks", &["kill-after", "signal"]), 1),
        "stdbuf" => (Spec::stopping("ioe", &["input", "output", "error"]), 0),
        "setarch" => {
            // The architecture may be left out where options come first.
            let rest = match args.first() {
                Some(first) if !first.text().starts_with('-') => args.get(1..).unwrap_or_default(),
                _ => args,
            };
            return Some(Options::parse(rest, Spec::stopping("p", &["pid"])).operands);
        }
        "ssh-agent" => (Spec::stopping("atEOP", &[]), 0),
        "tini" | "tini-static" | "docker-init" | "dumb-init" | "catatonit" => {
            (Spec::stopping("pe", &["rewrite"]), 0)
        }
        "runcon" => {
            // A whole context, where no part of one is given.
            let is_whole = args.first().is_some_and(|first| !first.text().starts_with('-'));
            (Spec::stopping("turl", &["type", "user", "role", "range"]), usize::from(is_whole))
        }
        "linux32" | "linux64" | "i386" | "x86_64" => (Spec::stopping("", &[]), 0),
        "unshare" => (
            Spec::stopping(
                "GSRw",
                &[
                    "setgid",
                    "setuid",
                    "root",
                    "wd",
                    "map-user",
                    "map-group",
                    "propagation",
                    "setgroups",
                ],
            ),
            0,
        ),
        "nsenter" => (Spec::stopping("tSGN", &["target", "setuid", "setgid"]), 0),
        "chroot" => (Spec::stopping("", &["userspec", "groups"]), 1),
        "strace" | "ltrace" => (
            Spec::stopping(
                "abeEIoOpPsSuUX",
                &["output", "trace", "expr", "attach", "user", "env", "string-limit"],
            ),
            0,
        ),
        "valgrind" | "perf" | "heaptrack" => {
            (Spec::stopping("o", &[]), usize::from(name == "perf"))
        }
        "prlimit" => (Spec::stopping("p", &["pid"]), 0),
        "numactl" => {
            (Spec::stopping("imNCpl", &["interleave", "membind", "cpunodebind", "physcpubind"]), 0)
        }
        "setpriv" => (
            Spec::stopping(
                "",
                &[
                    "reuid",
                    "regid",
                    "groups",
                    "bounding-set",
                    "inh-caps",
                    "ambient-caps",
                    "securebits",
                ],
            ),
            0,
        ),
        "runuser" | "su" | "script" | "watch" => return None,
        "gosu" | "su-exec" | "chpst" | "setuidgid" => (Spec::stopping("u", &[]), 1),
        "softlimit" | "daemonize" | "start-stop-daemon" => (Spec::stopping("uxpe", &[]), 0),
        "cgexec" => (Spec::stopping("g", &[]), 0),
        "capsh" => (Spec::stopping("", &[]), 0),
        "flatpak-spawn" | "host-spawn" => (Spec::stopping("", &[]), 0),
        "bwrap" => {
            let at = args.iter().position(|it| it.is("--")).map(|it| it + 1);
            return at.map(|at| args.get(at..).unwrap_or_default().to_vec());
        }
        "dotenv" | "direnv" | "op" | "aws-vault" | "chamber" | "doppler" | "infisical" => {
            let at = args.iter().position(|it| it.is("--"))?;
            return args.get(at + 1..).map(<[Arg]>::to_vec);
        }
        "poetry" | "pipenv" | "uv" | "hatch" | "pdm" | "rye" | "conda" | "mamba" | "micromamba"
            if args.first().is_some_and(|it| it.is("run")) =>
        {
            let rest = args.get(1..).unwrap_or_default();
            let options = Options::parse(
                rest,
                Spec::stopping(
                    "np",
                    &[
                        "name",
                        "prefix",
                        "with",
                        "python",
                        "env-file",
                        "directory",
                        "project",
                        "extra",
                        "group",
                    ],
                ),
            );
            return Some(options.operands);
        }
        "bundle" | "rbenv" | "pyenv" | "nodenv" | "mise" | "asdf" | "volta" | "fnm"
            if args.first().is_some_and(|it| it.is("exec") || it.is("run")) =>
        {
            let rest = args.get(1..).unwrap_or_default();
            let at = rest.iter().position(|it| it.is("--")).map_or(0, |it| it + 1);
            return rest.get(at..).map(<[Arg]>::to_vec);
        }
        "npx" | "bunx" | "pnpx" => (Spec::stopping("pc", &["package", "call"]), 0),
        "npm" | "pnpm" | "yarn"
            if args.first().is_some_and(|it| it.is("exec") || it.is("dlx") || it.is("x")) =>
        {
            let rest = args.get(1..).unwrap_or_default();
            return Some(Options::parse(rest, Spec::stopping("pc", &["package", "call"])).operands);
        }
        "busybox" | "toybox" => {
            let options = Options::parse(args, Spec::stopping("", &[]));
            return Some(options.operands);
        }
        _ => return None,
    };
    let options = Options::parse(args, spec);
    if options.wants_help() {
        return Some(Vec::new());
    }
    if name == "gosu" && options.operands.is_empty() {
        return Some(Vec::new());
    }
    // `nice -10 rm`, `chrt -r 1 rm` and `taskset -c 0 rm` are read as the program sees them.
    let mut operands = options.operands;
    while name == "unshare" && operands.first().is_some_and(Arg::is_option) {
        operands.remove(0);
    }
    Some(operands.get(own.min(operands.len())..).unwrap_or_default().to_vec())
}
