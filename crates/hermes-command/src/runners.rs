//! Programs that run a text or a program which is one of their arguments.

use crate::Category;
use crate::env::Env;
use crate::judge::{Judge, Via};
use crate::options::{Options, Spec};
use crate::shell::without_secrets;
use crate::value::{Arg, Flow, Taint};
use crate::wrap::{Inner, Io, join, quote};

impl Judge {
    /// Programs that run a text which is one of their arguments.
    pub(crate) fn runners(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        match name {
            "watch" => {
                let options = Options::parse(args, Spec::stopping("nq", &["interval", "equexit"]));
                Inner::Done(self.words_as_text(&options.operands, env))
            }
            "su" | "runuser" => {
                let options = Options::parse(
                    args,
                    Spec::new(
                        "cgGsuTw",
                        &[
                            "command",
                            "group",
                            "shell",
                            "user",
                            "session-command",
                            "supp-group",
                            "whitelist-environment",
                        ],
                    ),
                );
                let text = options
                    .value("c", "command")
                    .or_else(|| options.value("", "session-command"))
                    .cloned();
                match text {
                    Some(text) => {
                        let mut inner = env.clone();
                        Inner::Done(self.run_text(&text.flow(), &mut inner, Flow::unknown()))
                    }
                    None if name == "runuser" && options.value("u", "user").is_some() => {
                        Inner::Argv(options.operands)
                    }
                    None if options.wants_help() => Inner::Done(Flow::unknown()),
                    None => {
                        // A text piped to it is run.
                        if io.stdin.is_known() {
                            let mut inner = env.clone();
                            self.run_text(&io.stdin, &mut inner, Flow::unknown());
                        }
                        let why = "Opens a shell of another user.";
                        self.find("root_shell", Category::Other, false, why);
                        Inner::Done(Flow::unknown())
                    }
                }
            }
            "script" => {
                let options = Options::parse(
                    args,
                    Spec::stopping(
                        "cTIOBEmo",
                        &[
                            "command",
                            "timing",
                            "log-in",
                            "log-out",
                            "log-io",
                            "log-timing",
                            "logging-format",
                            "echo",
                            "output-limit",
                        ],
                    ),
                );
                if let Some(text) = options.value("c", "command").cloned() {
                    let mut inner = env.clone();
                    return Inner::Done(self.run_text(&text.flow(), &mut inner, Flow::unknown()));
                }
                // BSD: the file, then the program.
                Inner::Argv(options.operands.get(1..).unwrap_or_default().to_vec())
            }
            "flock" => {
                let options = Options::parse(
                    args,
                    Spec::stopping("wE", &["timeout", "wait", "conflict-exit-code"]),
                );
                let rest = options.operands.get(1..).unwrap_or_default();
                if rest.first().is_some_and(|it| matches!(it.marked.as_str(), "-c" | "--command")) {
                    return Inner::Done(self.words_as_text(rest.get(1..).unwrap_or_default(), env));
                }
                Inner::Argv(rest.to_vec())
            }
            "systemd-run" => {
                let options = Options::parse(
                    args,
                    Spec::stopping(
                        "tHMpEu",
                        &[
                            "unit",
                            "property",
                            "description",
                            "slice",
                            "uid",
                            "gid",
                            "nice",
                            "working-directory",
                            "setenv",
                            "on-calendar",
                            "on-active",
                            "on-boot",
                            "on-unit-active",
                            "timer-property",
                            "machine",
                            "host",
                            "service-type",
                            "path-property",
                        ],
                    ),
                );
                Inner::Argv(options.operands)
            }
            "gdb" | "lldb" => {
                for text in Options::parse(
                    args,
                    Spec { long: &["ex", "eval-command", "iex"], single: true, ..Spec::default() },
                )
                .values("", "ex")
                {
                    if let Some(text) =
                        text.marked.strip_prefix("shell ").or_else(|| text.marked.strip_prefix('!'))
                    {
                        let mut inner = env.clone();
                        self.payload(text, &mut inner, Flow::unknown());
                    }
                }
                let at = args
                    .iter()
                    .position(|it| matches!(it.marked.as_str(), "--args" | "-args" | "--"));
                Inner::Argv(
                    at.map_or_else(Vec::new, |at| args.get(at + 1..).unwrap_or_default().to_vec()),
                )
            }
            "ssh" | "autossh" | "mosh" | "sshpass" | "dropbear" | "dbclient" => {
                self.ssh(name, args, env, io)
            }
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "kubectl"
            | "oc" | "k3s" | "microk8s" | "lxc" | "lxc-attach" | "incus" | "machinectl"
            | "toolbox" | "distrobox" | "vagrant" | "multipass" | "wsl" | "nix-shell" | "nix"
            | "heroku" | "fly" | "flyctl" | "apptainer" | "singularity" | "crictl" | "ctr"
            | "adb" => self.containers(name, args, env, io),
            "tmux" | "screen" => self.multiplexer(name, args, env),
            "at" | "batch" => {
                let mut inner = env.clone();
                Inner::Done(self.run_text(&io.stdin, &mut inner, Flow::unknown()))
            }
            "entr" | "nodemon" | "watchexec" | "inotifywait" | "hyperfine" | "concurrently"
            | "chronic" | "retry" | "make" | "just" => self.developers(name, args, env, io),
            "cmd" | "cmd.exe" => {
                let at = args.iter().position(|it| {
                    it.marked.eq_ignore_ascii_case("/c") || it.marked.eq_ignore_ascii_case("/k")
                });
                match at {
                    Some(at) => {
                        let text = join(args.get(at + 1..).unwrap_or_default());
                        self.windows(&text, env);
                        Inner::Done(Flow::unknown())
                    }
                    None => Inner::None,
                }
            }
            _ => Inner::None,
        }
    }

    /// The text that the words make when a shell joins them.
    pub(crate) fn words_as_text(&mut self, words: &[Arg], env: &Env) -> Flow {
        let mut flow = Flow::known(join(words));
        for word in words {
            flow.taint |= word.taint;
        }
        let mut inner = env.clone();
        self.run_text(&flow, &mut inner, Flow::unknown())
    }

    /// A shell elsewhere: `home` and the directory are others.
    pub(crate) fn elsewhere(&mut self, words: &[Arg], env: &Env, stdin: &Flow) -> Flow {
        let mut flow = Flow::known(join(words));
        for word in words {
            flow.taint |= word.taint & Taint::FETCHED | word.taint & Taint::DECODED;
        }
        let mut inner = env.clone();
        self.run_text(&flow, &mut inner, stdin.clone())
    }

    pub(crate) fn ssh(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        let spec = match name {
            "sshpass" => Spec::stopping("pfdP", &[]),
            "mosh" => Spec::stopping("p", &["ssh", "server", "port"]),
            _ => Spec::stopping("BbcDEeFIiJLlmOoPpQRSWwM", &[]),
        };
        let options = Options::parse(args, spec);
        if name == "sshpass" {
            return Inner::Argv(options.operands);
        }
        for option in options.values("o", "") {
            self.ssh_setting(option, env);
        }
        let mut rest = options.operands.get(1..).unwrap_or_default().to_vec();
        // Options may also follow the host.
        while rest.first().is_some_and(Arg::is_option) {
            rest = Options::parse(&rest, spec).operands;
        }
        if rest.first().is_some_and(|it| it.is("--")) {
            rest.remove(0);
        }
        if rest.is_empty() {
            if options.operands.is_empty() {
                return Inner::Done(Flow::unknown());
            }
            // A shell there reads what is piped.
            if io.stdin.is_known() || io.stdin.taint.has(Taint::FETCHED | Taint::DECODED) {
                let mut inner = env.clone();
                self.run_text(&without_secrets(io.stdin.clone()), &mut inner, Flow::unknown());
            }
            return Inner::Done(Flow::tainted(Taint::FETCHED));
        }
        if io.stdin.taint.has(Taint::SECRET | Taint::ENVIRONMENT) {
            self.exfiltration();
        }
        self.elsewhere(&rest, env, &io.stdin);
        Inner::Done(Flow::tainted(Taint::FETCHED))
    }

    pub(crate) fn multiplexer(&mut self, name: &str, args: &[Arg], env: &mut Env) -> Inner {
        let texts: Vec<&Arg> = args.iter().collect();
        let mut inner = env.clone();
        if name == "screen" {
            let options = Options::parse(args, Spec::stopping("ScehpsTtX", &[]));
            if options.has("X") {
                return Inner::Done(Flow::unknown());
            }
            return Inner::Argv(options.operands);
        }
        match texts.iter().find(|it| !it.is_option()).map(|it| it.marked.as_str()) {
            Some("send-keys" | "send") => {
                let words: Vec<Arg> = args
                    .iter()
                    .skip_while(|it| !it.marked.starts_with("send"))
                    .skip(1)
                    .filter(|it| !matches!(it.marked.as_str(), "Enter" | "C-m" | "-t"))
                    .cloned()
                    .collect();
                let words = if args.iter().any(|it| it.is("-t")) {
                    words.get(1..).unwrap_or_default()
                } else {
                    words.as_slice()
                };
                Inner::Done(self.words_as_text(words, env))
            }
            Some(
                "new" | "new-session" | "neww" | "new-window" | "split-window" | "splitw"
                | "run-shell" | "run" | "popup" | "display-popup" | "if-shell",
            ) => {
                let rest: Vec<Arg> =
                    args.iter().skip_while(|it| it.is_option()).skip(1).cloned().collect();
                let options = Options::parse(&rest, Spec::stopping("cesnxytFLTl", &[]));
                self.run_text(&Flow::known(join(&options.operands)), &mut inner, Flow::unknown());
                Inner::Done(Flow::unknown())
            }
            Some("kill-server") => {
                let why = "Ends every session with the programs in it.";
                self.find("kill_sessions", Category::Kill, false, why);
                Inner::Done(Flow::unknown())
            }
            _ => Inner::Done(Flow::unknown()),
        }
    }

    /// Runners of developers.
    pub(crate) fn developers(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        match name {
            "entr" => {
                let options = Options::parse(args, Spec::stopping("", &[]));
                if options.has("s") {
                    Inner::Done(self.words_as_text(&options.operands, env))
                } else {
                    Inner::Argv(options.operands)
                }
            }
            "watchexec" | "chronic" | "retry" => {
                let options = Options::parse(
                    args,
                    Spec::stopping(
                        "ewidtn",
                        &["exts", "watch", "ignore", "filter", "shell", "delay", "times", "tries"],
                    ),
                );
                if name == "watchexec" && options.operands.len() == 1 {
                    Inner::Done(self.words_as_text(&options.operands, env))
                } else {
                    Inner::Argv(options.operands)
                }
            }
            "hyperfine" | "concurrently" => {
                let options = Options::parse(
                    args,
                    Spec::new(
                        "wrmMpcnSuN",
                        &[
                            "warmup",
                            "runs",
                            "prepare",
                            "cleanup",
                            "setup",
                            "export-json",
                            "export-markdown",
                            "names",
                            "shell",
                        ],
                    ),
                );
                for text in options
                    .operands
                    .iter()
                    .chain(options.values("pc", "prepare"))
                    .chain(options.values("", "cleanup"))
                {
                    let mut inner = env.clone();
                    self.run_text(&text.flow(), &mut inner, Flow::unknown());
                }
                Inner::Done(Flow::unknown())
            }
            "nodemon" => {
                let options =
                    Options::parse(args, Spec::new("xewi", &["exec", "ext", "watch", "ignore"]));
                if let Some(text) = options.value("x", "exec").cloned() {
                    let mut inner = env.clone();
                    self.run_text(&text.flow(), &mut inner, Flow::unknown());
                }
                Inner::Done(Flow::unknown())
            }
            "make" => {
                for arg in args {
                    if let Some(text) = arg.marked.strip_prefix("SHELL=") {
                        let mut inner = env.clone();
                        self.payload(text, &mut inner, Flow::unknown());
                    }
                }
                let options =
                    Options::parse(args, Spec::new("fCIjlo", &["eval", "file", "directory"]));
                if let Some(text) = options.value("", "eval").map(Arg::text) {
                    self.makefile(&text, env);
                }
                let reads_stdin = options
                    .value("f", "file")
                    .is_some_and(|it| matches!(it.marked.as_str(), "-" | "/dev/stdin"));
                if reads_stdin && io.stdin.taint.has(Taint::FETCHED | Taint::DECODED) {
                    self.remote_code(io.stdin.taint);
                }
                if reads_stdin && io.stdin.is_known() {
                    let text = io.stdin.text.clone();
                    self.makefile(&text, env);
                }
                Inner::Done(Flow::unknown())
            }
            _ => Inner::Done(Flow::unknown()),
        }
    }

    /// Recipes, and what `$(shell ..)` runs.
    pub(crate) fn makefile(&mut self, text: &str, env: &mut Env) {
        for line in text.lines().take(256) {
            let recipe =
                line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
            let shell = line.split_once("$(shell ").map(|(_, rest)| rest.trim_end_matches(')'));
            for script in recipe.into_iter().chain(shell) {
                let script = script.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$");
                let mut inner = env.clone();
                self.payload(&script, &mut inner, Flow::unknown());
            }
        }
    }

    /// Programs in containers and on other machines.
    pub(crate) fn containers(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        let inner = crate::rules::containers::inner_of_container(name, args);
        match inner {
            None => Inner::None,
            Some((argv, is_text)) => {
                // The rules of the outer program count too.
                self.rules(name, args, env, io);
                if argv.is_empty() {
                    return Inner::Done(Flow::unknown());
                }
                let mut other = env.clone();
                if is_text {
                    return Inner::Done(self.elsewhere(&argv, env, &io.stdin));
                }
                if !self.deeper() {
                    return Inner::Done(Flow::unknown());
                }
                let shown = self.argv.clone();
                let flow =
                    self.call(argv, &mut other, &Io { stdin: io.stdin.clone(), ..Io::default() });
                self.argv = shown;
                self.depth -= 1;
                Inner::Done(flow)
            }
        }
    }

    /// A command line of Windows.
    pub(crate) fn windows(&mut self, text: &str, env: &mut Env) {
        for part in text.split(['&', '|', '\n']) {
            let words: Vec<Arg> =
                part.split_whitespace().map(|it| Arg::new(it.trim_matches('"'))).collect();
            if let Some(first) = words.first() {
                let lower = first.marked.to_ascii_lowercase();
                let rest = words.get(1..).unwrap_or_default();
                if lower == "cmd" || lower.starts_with("powershell") {
                    self.payload(&quote(&words), env, Flow::unknown());
                } else {
                    if !crate::rules::windows::command(self, &lower, rest, env) {
                        self.payload(&quote(&words), env, Flow::unknown());
                    }
                }
            }
        }
    }

    /// A program for each file that `find` finds.
    pub(crate) fn for_found(&mut self, argv: Vec<Arg>, env: &mut Env) {
        self.apart(argv, Via::Found, env, Flow::unknown());
    }
}
