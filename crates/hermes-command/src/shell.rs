//! Programs that run a text as shell, and builtins that change the shell itself.

use std::rc::Rc;

use crate::Category;
use crate::env::{Env, Variable};
use crate::judge::{Judge, Via};
use crate::options::{Options, Spec};
use crate::path::resolve;
use crate::value::{Arg, Flow, Taint};
use crate::wrap::{Inner, Io, join, quote};

pub(crate) fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "mksh" | "rbash" | "fish" | "yash" | "hush" | "csh" | "tcsh" | "oksh" | "posh" | "ksh93" | "lksh" | "-bash" | "-sh" | "bash5")
}

impl Judge {
    pub(crate) fn remote_code(&mut self, taint: Taint) {
        let why = if taint.has(Taint::FETCHED) {
            "Runs text that comes from the network."
        } else {
            "Runs text that was decoded, so that it can't be read before."
        };
        self.find("remote_code", Category::RemoteCode, false, why);
    }

    /// Runs a text that flows into a shell.
    pub(crate) fn run_text(&mut self, flow: &Flow, env: &mut Env, stdin: Flow) -> Flow {
        if flow.taint.has(Taint::FETCHED | Taint::DECODED) {
            self.remote_code(flow.taint);
        }
        let shown = self.argv.clone();
        let flow = self.payload(&flow.text, env, stdin);
        self.argv = shown;
        flow
    }

    /// Programs that run texts, and builtins.
    pub(crate) fn shells(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &mut Io) -> Inner {
        if is_shell(name) {
            return Inner::Done(self.shell(args, env, io));
        }
        match name {
            "eval" => {
                let mut flow = Flow { text: join(args), taint: Taint::NONE };
                for arg in args {
                    flow.taint |= arg.taint;
                }
                Inner::Done(self.run_text(&flow, env, io.stdin.clone()))
            }
            "source" | "." => {
                let Some(file) = args.first() else { return Inner::Done(Flow::unknown()) };
                let flow = if matches!(file.marked.as_str(), "/dev/stdin" | "/dev/fd/0") { io.stdin.clone() } else { self.file(file, env) };
                Inner::Done(self.run_text(&without_secrets(flow), env, Flow::unknown()))
            }
            "trap" => {
                let operands = Options::parse(args, Spec::stopping("", &[])).operands;
                if operands.len() > 1
                    && let Some(text) = operands.first()
                {
                    let mut inner = env.clone();
                    self.run_text(&text.flow(), &mut inner, Flow::unknown());
                }
                Inner::Done(Flow::known(""))
            }
            "alias" => {
                for arg in args {
                    if let Some((name, text)) = arg.text().split_once('=') {
                        let line = self.line;
                        Rc::make_mut(&mut env.aliases).insert(name.to_owned(), (text.to_owned(), line));
                    }
                }
                Inner::Done(Flow::unknown())
            }
            "cd" | "pushd" | "popd" | "chdir" => {
                self.change_directory(name, args, env);
                Inner::Done(Flow::known(""))
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => Inner::Done(self.declare(name, args, env, io.maybe)),
            "unset" => {
                for arg in args {
                    env.unset(&arg.marked);
                    Rc::make_mut(&mut env.functions).remove(&arg.marked);
                }
                Inner::Done(Flow::known(""))
            }
            "set" => Inner::Done(self.set_builtin(args, env)),
            "shift" => {
                let count = args.first().and_then(|it| it.marked.parse().ok()).unwrap_or(1);
                if let Some(list) = &env.positionals {
                    env.positionals = Some(Rc::new(list.iter().skip(count).cloned().collect()));
                }
                Inner::Done(Flow::known(""))
            }
            "read" | "mapfile" | "readarray" => {
                read(name, args, env, &io.stdin);
                Inner::Done(Flow::known(""))
            }
            "printf" if args.first().is_some_and(|it| it.is("-v")) => {
                let name = args.get(1).map(|it| it.marked.clone()).unwrap_or_default();
                let flow = crate::print::printf(args.get(2..).unwrap_or_default());
                env.set(&name, Variable::text(flow), io.maybe);
                Inner::Done(Flow::known(""))
            }
            _ => self.runners(name, args, env, io),
        }
    }

    /// `sh` and its like.
    fn shell(&mut self, args: &[Arg], env: &mut Env, io: &Io) -> Flow {
        let mut at = 0;
        let mut wants_text = false;
        let mut from_stdin = false;
        while let Some(arg) = args.get(at) {
            let text = arg.marked.as_str();
            if text == "--" || text == "-" {
                at += 1;
                break;
            }
            if !(text.starts_with(['-', '+']) && text.len() > 1) {
                break;
            }
            at += 1;
            if text.starts_with("--") {
                match text {
                    "--help" | "--version" => return Flow::unknown(),
                    "--rcfile" | "--init-file" => {
                        if let Some(file) = args.get(at) {
                            let flow = self.file(&file.clone(), env);
                            let mut inner = env.clone();
                            self.run_text(&without_secrets(flow), &mut inner, Flow::unknown());
                        }
                        at += 1;
                    }
                    "--command" => wants_text = true,
                    _ => {}
                }
                continue;
            }
            let letters = text.get(1..).unwrap_or_default();
            wants_text |= text.starts_with('-') && letters.contains('c');
            from_stdin |= letters.contains('s');
            if text.starts_with('-') && letters.contains('n') && !letters.contains('c') {
                return Flow::unknown();
            }
            if text.starts_with('-') && letters.contains('n') {
                return Flow::unknown();
            }
            at += letters.matches(['o', 'O']).count();
        }
        let rest = args.get(at..).unwrap_or_default();
        let mut inner = env.clone();
        let positionals = |rest: &[Arg]| Some(Rc::new(rest.iter().map(|it| it.marked.clone()).collect::<Vec<_>>()));
        if wants_text {
            let Some(text) = rest.first() else { return Flow::unknown() };
            inner.positionals = positionals(rest.get(2..).unwrap_or_default());
            if let Some(zero) = rest.get(1) {
                inner.set("0", Variable::text(zero.flow()), false);
            }
            return self.run_text(&text.flow(), &mut inner, io.stdin.clone());
        }
        if let Some(file) = rest.first()
            && !from_stdin
            && !matches!(file.marked.as_str(), "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
        {
            inner.positionals = positionals(rest.get(1..).unwrap_or_default());
            let flow = self.file(file, env);
            return self.run_text(&without_secrets(flow), &mut inner, io.stdin.clone());
        }
        inner.positionals = positionals(rest);
        if io.is_network {
            self.reverse_shell();
            return Flow::unknown();
        }
        self.run_text(&without_secrets(io.stdin.clone()), &mut inner, Flow::unknown())
    }

    pub(crate) fn reverse_shell(&mut self) {
        let why = "Gives a shell on this machine to whoever is at the other end of a network connection.";
        self.find("reverse_shell", Category::RemoteCode, false, why);
    }

    fn change_directory(&mut self, name: &str, args: &[Arg], env: &mut Env) {
        let operands: Vec<Arg> = Options::parse(args, Spec::stopping("", &[])).operands;
        if name == "popd" {
            let directory = env.pushed.pop().flatten();
            env.enter(directory);
            return;
        }
        if name == "pushd" {
            env.pushed.push(env.cwd.clone());
        }
        let target = match operands.first() {
            None => env.home().map(str::to_owned),
            Some(arg) if arg.is("-") => env.previous.clone(),
            Some(arg) => {
                let target = resolve(arg, env);
                let path = if target.covers { format!("{}/{}", target.path, crate::value::HOLE) } else { target.path };
                (!target.is_rootless && !path.contains(crate::value::HOLE)).then_some(path)
            }
        };
        env.enter(target);
    }

    /// `export` and its like.
    fn declare(&mut self, name: &str, args: &[Arg], env: &mut Env, maybe: bool) -> Flow {
        let is_list = |it: &Arg| it.is_option() && !it.starts_with("--") && it.marked.contains('p');
        let mut has_names = false;
        for arg in args {
            if arg.is_option() {
                continue;
            }
            has_names = true;
            let text = arg.marked.clone();
            if let Some((variable, value)) = text.split_once('=') {
                let variable = variable.trim_end_matches('+');
                let value = arg.with(value);
                if name == "export" {
                    self.check_variable(variable, &value, false, env);
                }
                env.set(variable, Variable::text(value.flow()), maybe);
            }
        }
        let prints = args.iter().any(is_list) || (args.is_empty() && matches!(name, "export" | "declare" | "typeset"));
        let lists_functions = args.iter().any(|it| it.is_option() && it.marked.contains(['f', 'F']));
        if prints && !has_names && !lists_functions {
            self.env_dump = true;
            return Flow::tainted(Taint::ENVIRONMENT);
        }
        Flow::known("")
    }

    fn set_builtin(&mut self, args: &[Arg], env: &mut Env) -> Flow {
        if args.is_empty() {
            self.env_dump = true;
            return Flow::tainted(Taint::ENVIRONMENT);
        }
        let at = args.iter().position(|it| it.is("--")).map(|it| it + 1).or_else(|| args.iter().position(|it| !it.starts_with("-") && !it.starts_with("+")));
        let after_option = args.first().is_some_and(|it| matches!(it.marked.as_str(), "-o" | "+o"));
        if let Some(at) = at
            && !after_option
        {
            let list = args.get(at..).unwrap_or_default();
            env.positionals = Some(Rc::new(list.iter().map(|it| it.marked.clone()).collect()));
        }
        Flow::known("")
    }

    /// Programs that run a text which is one of their arguments.
    fn runners(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        match name {
            "watch" => {
                let options = Options::parse(args, Spec::stopping("nq", &["interval", "equexit"]));
                Inner::Done(self.words_as_text(&options.operands, env))
            }
            "su" | "runuser" => {
                let options = Options::parse(args, Spec::new("cgGsuTw", &["command", "group", "shell", "user", "session-command", "supp-group", "whitelist-environment"]));
                let text = options.value("c", "command").or_else(|| options.value("", "session-command")).cloned();
                match text {
                    Some(text) => {
                        let mut inner = env.clone();
                        Inner::Done(self.run_text(&text.flow(), &mut inner, Flow::unknown()))
                    }
                    None if name == "runuser" && options.value("u", "user").is_some() => Inner::Argv(options.operands),
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
                let options = Options::parse(args, Spec::stopping("cTIOBEmo", &["command", "timing", "log-in", "log-out", "log-io", "log-timing", "logging-format", "echo", "output-limit"]));
                if let Some(text) = options.value("c", "command").cloned() {
                    let mut inner = env.clone();
                    return Inner::Done(self.run_text(&text.flow(), &mut inner, Flow::unknown()));
                }
                // BSD: the file, then the program.
                Inner::Argv(options.operands.get(1..).unwrap_or_default().to_vec())
            }
            "flock" => {
                let options = Options::parse(args, Spec::stopping("wE", &["timeout", "wait", "conflict-exit-code"]));
                let rest = options.operands.get(1..).unwrap_or_default();
                if rest.first().is_some_and(|it| matches!(it.marked.as_str(), "-c" | "--command")) {
                    return Inner::Done(self.words_as_text(rest.get(1..).unwrap_or_default(), env));
                }
                Inner::Argv(rest.to_vec())
            }
            "systemd-run" => {
                let options = Options::parse(args, Spec::stopping("tHMpEu", &["unit", "property", "description", "slice", "uid", "gid", "nice", "working-directory", "setenv", "on-calendar", "on-active", "on-boot", "on-unit-active", "timer-property", "machine", "host", "service-type", "path-property"]));
                Inner::Argv(options.operands)
            }
            "gdb" | "lldb" => {
                for text in Options::parse(args, Spec { long: &["ex", "eval-command", "iex"], single: true, ..Spec::default() }).values("", "ex") {
                    if let Some(text) = text.marked.strip_prefix("shell ").or_else(|| text.marked.strip_prefix('!')) {
                        let mut inner = env.clone();
                        self.payload(text, &mut inner, Flow::unknown());
                    }
                }
                let at = args.iter().position(|it| matches!(it.marked.as_str(), "--args" | "-args" | "--"));
                Inner::Argv(at.map_or_else(Vec::new, |at| args.get(at + 1..).unwrap_or_default().to_vec()))
            }
            "ssh" | "autossh" | "mosh" | "sshpass" | "dropbear" | "dbclient" => self.ssh(name, args, env, io),
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "kubectl" | "oc" | "k3s" | "microk8s" | "lxc" | "lxc-attach" | "incus" | "machinectl" | "toolbox" | "distrobox" | "vagrant" | "multipass" | "wsl" | "nix-shell" | "nix" | "heroku" | "fly" | "flyctl" | "apptainer" | "singularity" | "crictl" | "ctr" | "adb" => {
                self.containers(name, args, env, io)
            }
            "tmux" | "screen" => self.multiplexer(name, args, env),
            "at" | "batch" => {
                let mut inner = env.clone();
                Inner::Done(self.run_text(&io.stdin, &mut inner, Flow::unknown()))
            }
            "entr" | "nodemon" | "watchexec" | "inotifywait" | "hyperfine" | "concurrently" | "chronic" | "retry" | "make" | "just" | "expect" => {
                self.developers(name, args, env, io)
            }
            "cmd" | "cmd.exe" => {
                let at = args.iter().position(|it| it.marked.eq_ignore_ascii_case("/c") || it.marked.eq_ignore_ascii_case("/k"));
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
    fn words_as_text(&mut self, words: &[Arg], env: &Env) -> Flow {
        let mut flow = Flow { text: join(words), taint: Taint::NONE };
        for word in words {
            flow.taint |= word.taint;
        }
        let mut inner = env.clone();
        self.run_text(&flow, &mut inner, Flow::unknown())
    }

    /// A shell elsewhere: `home` and the directory are others.
    fn elsewhere(&mut self, words: &[Arg], env: &Env, stdin: &Flow) -> Flow {
        let mut flow = Flow { text: join(words), taint: Taint::NONE };
        for word in words {
            flow.taint |= word.taint & Taint::FETCHED | word.taint & Taint::DECODED;
        }
        let mut inner = env.clone();
        self.run_text(&flow, &mut inner, stdin.clone())
    }

    fn ssh(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
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
            let lower = option.marked.to_ascii_lowercase();
            for key in ["proxycommand", "localcommand", "knownhostscommand"] {
                if let Some(rest) = lower.strip_prefix(key) {
                    let text = option.marked.get(option.marked.len() - rest.len()..).unwrap_or_default();
                    let text = text.trim_start_matches(['=', ' ']).to_owned();
                    let mut inner = env.clone();
                    self.payload(&text, &mut inner, Flow::unknown());
                }
            }
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

    fn multiplexer(&mut self, name: &str, args: &[Arg], env: &mut Env) -> Inner {
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
                let words = if args.iter().any(|it| it.is("-t")) { words.get(1..).unwrap_or_default() } else { words.as_slice() };
                Inner::Done(self.words_as_text(words, env))
            }
            Some("new" | "new-session" | "neww" | "new-window" | "split-window" | "splitw" | "run-shell" | "run" | "popup" | "display-popup" | "if-shell") => {
                let rest: Vec<Arg> = args.iter().skip_while(|it| it.is_option()).skip(1).cloned().collect();
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
    fn developers(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        match name {
            "entr" => {
                let options = Options::parse(args, Spec::stopping("", &[]));
                if options.has("s") { Inner::Done(self.words_as_text(&options.operands, env)) } else { Inner::Argv(options.operands) }
            }
            "watchexec" | "chronic" | "retry" => {
                let options = Options::parse(args, Spec::stopping("ewidtn", &["exts", "watch", "ignore", "filter", "shell", "delay", "times", "tries"]));
                if name == "watchexec" && options.operands.len() == 1 { Inner::Done(self.words_as_text(&options.operands, env)) } else { Inner::Argv(options.operands) }
            }
            "hyperfine" | "concurrently" => {
                let options = Options::parse(args, Spec::new("wrmMpcnSuN", &["warmup", "runs", "prepare", "cleanup", "setup", "export-json", "export-markdown", "names", "shell"]));
                for text in options.operands.iter().chain(options.values("pc", "prepare")).chain(options.values("", "cleanup")) {
                    let mut inner = env.clone();
                    self.run_text(&text.flow(), &mut inner, Flow::unknown());
                }
                Inner::Done(Flow::unknown())
            }
            "nodemon" => {
                let options = Options::parse(args, Spec::new("xewi", &["exec", "ext", "watch", "ignore"]));
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
                let options = Options::parse(args, Spec::new("fCIjlo", &["eval", "file", "directory"]));
                if let Some(text) = options.value("", "eval").map(|it| it.text()) {
                    self.makefile(&text, env);
                }
                let reads_stdin = options.value("f", "file").is_some_and(|it| matches!(it.marked.as_str(), "-" | "/dev/stdin"));
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
    fn makefile(&mut self, text: &str, env: &mut Env) {
        for line in text.lines().take(256) {
            let recipe = line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
            let shell = line.split_once("$(shell ").map(|(_, rest)| rest.trim_end_matches(')'));
            for script in recipe.into_iter().chain(shell) {
                let script = script.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$");
                let mut inner = env.clone();
                self.payload(&script, &mut inner, Flow::unknown());
            }
        }
    }

    /// Programs in containers and on other machines.
    fn containers(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        let inner = crate::rules::services::inner_of_container(name, args);
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
                let flow = self.call(argv, &mut other, &Io { stdin: io.stdin.clone(), ..Io::default() });
                self.argv = shown;
                self.depth -= 1;
                Inner::Done(flow)
            }
        }
    }

    /// A command line of Windows.
    pub(crate) fn windows(&mut self, text: &str, env: &mut Env) {
        for part in text.split(['&', '|', '\n']) {
            let words: Vec<Arg> = part.split_whitespace().map(|it| Arg::new(it.trim_matches('"'))).collect();
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

/// A script that is a secret file is still a local script.
fn without_secrets(flow: Flow) -> Flow {
    Flow { text: flow.text, taint: (flow.taint & Taint::FETCHED) | (flow.taint & Taint::DECODED) }
}

/// `read` and `mapfile`: variables from what is piped.
fn read(name: &str, args: &[Arg], env: &mut Env, stdin: &Flow) {
    let options = Options::parse(args, Spec::new("adinNptuCcsO", &[]));
    let names: Vec<String> = match options.value("a", "") {
        Some(name) => vec![name.marked.clone()],
        None if options.operands.is_empty() => vec![if name == "read" { "REPLY".to_owned() } else { "MAPFILE".to_owned() }],
        None => options.operands.iter().map(|it| it.marked.clone()).collect(),
    };
    let is_list = name != "read" || options.has("a");
    if !stdin.is_known() || stdin.text.is_empty() {
        for name in names {
            let variable = Variable { items: vec![crate::value::HOLE.to_string()], is_list, taint: stdin.taint };
            env.set(&name, variable, false);
        }
        return;
    }
    if is_list {
        let items: Vec<String> = if name == "read" {
            stdin.text.lines().next().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
        } else {
            stdin.text.lines().map(str::to_owned).collect()
        };
        if let Some(name) = names.first() {
            env.set(name, Variable { items, is_list, taint: stdin.taint }, false);
        }
        return;
    }
    // Of a loop over lines each line counts; they are taken as values the variable may have.
    for (round, line) in stdin.text.lines().take(8).enumerate() {
        let mut rest = line.trim();
        for (index, name) in names.iter().enumerate() {
            let is_last = index + 1 == names.len();
            let (word, after) = match rest.split_once(char::is_whitespace) {
                Some((word, after)) if !is_last => (word, after.trim_start()),
                _ => (rest, ""),
            };
            rest = after;
            env.set(name, Variable::text(Flow { text: word.to_owned(), taint: stdin.taint }), round > 0);
        }
    }
}
