//! From what is written to the program that runs: functions, aliases, wrappers, disguises.

use std::rc::Rc;

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::names::{KNOWN, is_pattern, known_by_pattern, undisguised};
use crate::options::{Options, Spec};
use crate::path::{Loss, resolve};
use crate::value::{Arg, Flow, HOLE, Taint};
use crate::wrappers::{is_wrapper, simple_wrapper};

/// Most wrappers around one program.
const MOST_WRAPPERS: usize = 16;

/// What is around a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Io {
    pub(crate) stdin: Flow,
    /// Whether it talks to a network connection.
    pub(crate) is_network: bool,
    /// Variables set for it alone.
    pub(crate) set: Vec<(String, Arg)>,
    /// Whether it may not run.
    pub(crate) maybe: bool,
}

/// What a wrapper leads to.
pub(crate) enum Inner {
    /// A program with its arguments.
    Argv(Vec<Arg>),
    /// Nothing more: this is what it printed.
    Done(Flow),
    /// It is no wrapper.
    None,
}

impl Judge {
    /// Judges a program with its arguments; what it prints.
    pub(crate) fn call(&mut self, argv: Vec<Arg>, env: &mut Env, io: &Io) -> Flow {
        let mut argv = argv;
        let mut io = io.clone();
        let via = self.via;
        self.check_variables(&argv, env, &io);
        for _ in 0..MOST_WRAPPERS {
            let Some(first) = argv.first() else { break };
            self.record(&argv);
            self.argv = argv.iter().map(Arg::shown).collect();
            if !first.is_known() && first.taint.has(Taint::FETCHED | Taint::DECODED) {
                self.remote_code(first.taint);
            }
            let filled = first.filled();
            if filled.is_empty() {
                if argv.len() > 1 {
                    self.opaque(&argv, env);
                }
                if first.is_quoted || argv.len() == 1 {
                    break;
                }
                argv.remove(0);
                continue;
            }
            let filled = self.program_of_link(&filled, env).unwrap_or(filled);
            let Some(name) = self.program(first, &filled) else { break };
            self.argv_path = filled.contains('/').then(|| filled.clone());
            let args = argv.get(1..).unwrap_or_default().to_vec();
            if !first.is_quoted
                && let Some((text, line)) = env.aliases.get(&filled)
                && *line < self.line
            {
                let text = format!("{text} {}", quote(&args));
                env.aliases.remove(&filled);
                return self.payload(&text, env, io.stdin);
            }
            if let Some((unit, range)) = env.functions.get(&filled).cloned() {
                return self.call_function(&filled, &unit, range, &args, env, io.stdin);
            }
            match self.unwrap(&name, &args, env, &mut io) {
                Inner::Argv(inner) => {
                    if inner.is_empty() {
                        break;
                    }
                    argv = inner;
                }
                Inner::Done(flow) => {
                    self.via = via;
                    return flow;
                }
                Inner::None => {
                    let flow = self.rules(&name, &args, env, &io);
                    self.via = via;
                    return flow;
                }
            }
        }
        if argv.len() > 1 && argv.iter().take(MOST_WRAPPERS).all(|it| is_wrapper(&it.marked)) {
            self.too_complex();
        }
        self.via = via;
        Flow::unknown()
    }

    /// The name of a program; None if it can't be known and was judged by its arguments.
    fn program(&mut self, first: &Arg, filled: &str) -> Option<String> {
        if is_own_program(filled) {
            return Some("bash".to_owned());
        }
        let base = filled.rsplit(['/', '\\']).next().unwrap_or_default();
        if is_pattern(&first.marked)
            && first.marked.len() > 1
            && let Some(known) = known_by_pattern(&first.marked)
        {
            return Some(known.to_owned());
        }
        if let Some(bare) = undisguised(filled) {
            let bare = bare.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            if KNOWN.contains(&bare.as_str()) || bare.starts_with("mkfs.") {
                let category = match bare.as_str() {
                    "rm" | "shred" | "find" | "unlink" | "mv" | "truncate" | "git" => {
                        Category::RecursiveDelete
                    }
                    "dd" | "tee" | "blkdiscard" => Category::DiskWrite,
                    "mkswap" | "wipefs" | "fdisk" => Category::FilesystemFormat,
                    "kill" | "killall" | "pkill" => Category::Kill,
                    "chmod" | "chown" => Category::Permission,
                    "reboot" | "shutdown" | "halt" | "poweroff" | "init" | "systemctl" => {
                        Category::ServiceControl
                    }
                    "bash" | "sh" | "zsh" | "curl" | "wget" | "python3" | "eval" => {
                        Category::RemoteCode
                    }
                    it if it.starts_with("mkfs") => Category::FilesystemFormat,
                    _ => Category::Other,
                };
                let why = format!(
                    "The name of the program only looks like `{bare}`: characters are hidden in it or replaced."
                );
                self.find("disguised_command", category, false, why);
                return None;
            }
        }
        let base = base.strip_suffix(".exe").or_else(|| base.strip_suffix(".EXE")).unwrap_or(base);
        Some(if base.is_empty() { filled.to_owned() } else { base.to_owned() })
    }

    /// A program that can't be known, by its arguments.
    fn opaque(&mut self, argv: &[Arg], env: &Env) {
        let args = argv.get(1..).unwrap_or_default();
        // Options that no program for deleting has.
        let is_other = args.iter().any(|it| {
            it.is_option()
                && !it.starts_with("--")
                && it.marked.chars().skip(1).any(|c| !"rRfivdI".contains(c))
        });
        let is_delete = !is_other
            && args.iter().any(|it| {
                let text = it.marked.as_str();
                let bundle = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
                bundle
                    .is_some_and(|it| it.contains(['r', 'R']) && it.contains('f') && it.len() <= 4)
                    || text == "--no-preserve-root"
                    || (text == "--recursive" && args.iter().any(|it| it.is("--force")))
            });
        let is_disk = args.iter().any(|it| {
            it.marked
                .strip_prefix("of=")
                .is_some_and(|it| crate::path::resolve_text(it, env).device().is_some())
        });
        let is_root = args.iter().any(|it| {
            !it.is_option()
                && it.marked.starts_with(['/', '~'])
                && resolve(it, env).loss(env, &self.homes) == Loss::All
        });
        let why = "The program can't be known before it runs, and its arguments look destructive.";
        if is_disk {
            self.find("opaque_command", Category::DiskWrite, false, why);
        } else if is_delete || is_root {
            self.find("opaque_command", Category::RecursiveDelete, false, why);
        }
    }

    fn call_function(
        &mut self,
        name: &str,
        unit: &Rc<crate::env::Unit>,
        range: std::ops::Range<usize>,
        args: &[Arg],
        env: &mut Env,
        stdin: Flow,
    ) -> Flow {
        if !self.deeper() {
            return Flow::unknown();
        }
        let saved = env.positionals.take();
        // A function that calls itself is followed once.
        let functions = env.functions.clone();
        env.functions.remove(name);
        env.positionals = Some(Rc::new(args.iter().map(|it| it.marked.clone()).collect()));
        let span = self.span.clone();
        self.nested += 1;
        let flow = self.exec(unit, range, env, stdin);
        self.nested -= 1;
        self.span = span;
        env.positionals = saved;
        env.functions = functions;
        self.depth -= 1;
        flow
    }

    /// Variables in front of a program that change what it runs.
    fn check_variables(&mut self, argv: &[Arg], env: &mut Env, io: &Io) {
        let program = argv
            .first()
            .map(|it| it.marked.rsplit('/').next().unwrap_or_default().to_owned())
            .unwrap_or_default();
        let is_shell = crate::shell::is_shell(&program);
        for (name, value) in &io.set {
            self.check_variable(name, value, is_shell, env);
        }
        self.hook_variables(env, io);
    }

    pub(crate) fn check_variable(
        &mut self,
        name: &str,
        value: &Arg,
        is_shell: bool,
        env: &mut Env,
    ) {
        match name {
            "BASH_ENV" | "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES"
                if !value.marked.is_empty() =>
            {
                self.preloaded(name);
            }
            "HISTFILE" if matches!(value.marked.as_str(), "" | "/dev/null") => {
                self.history_cleared();
            }
            "HISTSIZE" | "HISTFILESIZE" if value.is("0") => self.history_cleared(),
            "ENV"
                if is_shell
                    || value.marked.starts_with(['/', '.'])
                    || value.marked.ends_with(".sh") =>
            {
                self.preloaded(name);
            }
            "PROMPT_COMMAND"
            | "PAGER"
            | "GIT_PAGER"
            | "EDITOR"
            | "VISUAL"
            | "GIT_EDITOR"
            | "GIT_SSH_COMMAND"
            | "MANPAGER"
            | "GIT_SEQUENCE_EDITOR"
            | "GIT_EXTERNAL_DIFF"
            | "SUDO_ASKPASS"
            | "GIT_ASKPASS"
            | "BROWSER"
            | "LESSOPEN"
            | "GIT_PROXY_COMMAND"
            | "GIT_SSH"
            | "SSH_ASKPASS"
            | "SYSTEMD_EDITOR"
            | "PS4" => {
                let text = value.text();
                let text = text.trim_start_matches('|');
                let mut inner = env.clone();
                self.payload(text, &mut inner, Flow::unknown());
            }
            _ => {}
        }
    }

    fn preloaded(&mut self, name: &str) {
        let why = format!("`{name}` makes the program run other code first.");
        self.find("preloaded_code", Category::Other, false, why);
    }

    /// Takes one wrapper off.
    fn unwrap(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &mut Io) -> Inner {
        if !crate::rules::wants_help(args.get(..1).unwrap_or_default())
            && let Some(inner) = self.launchers(name, args, env, io)
        {
            return inner;
        }
        self.hooks(name, args, env);
        if let Some(inner) = simple_wrapper(name, args) {
            return Inner::Argv(inner);
        }
        match name {
            "sudo" | "doas" | "sudoedit" | "run0" | "pkexec" => self.sudo(name, args, env, io),
            "env" => self.env_wrapper(args, env, io),
            "command" => {
                let options = Options::parse(args, Spec::stopping("", &[]));
                if options.has("vV") {
                    Inner::Done(crate::print::place_of(&options.operands))
                } else {
                    Inner::Argv(options.operands)
                }
            }
            "xargs" | "parallel" | "find" | "fd" | "fdfind" => self.lists(name, args, env, io),
            _ => self.shells(name, args, env, io),
        }
    }

    fn sudo(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        let spec = Spec::stopping(
            "ughpCcRrTtDUa",
            &[
                "user",
                "group",
                "host",
                "prompt",
                "close-from",
                "chroot",
                "role",
                "type",
                "command-timeout",
                "chdir",
                "other-user",
                "login-class",
            ],
        );
        if name == "sudoedit" {
            for file in Options::parse(args, spec).operands {
                self.judge_write(&file, env);
            }
            return Inner::Done(Flow::unknown());
        }
        let spec = if name == "doas" { Spec::stopping("uCa", &[]) } else { spec };
        let options = Options::parse(args, spec);
        if name == "sudo"
            && (options.has("SA") || options.long("stdin", 3) || options.long("askpass", 2))
        {
            let why = "A password for other rights is given to sudo by a program.";
            self.find("sudo_password", Category::Other, false, why);
        }
        if let Some(directory) = options.value("D", "chdir") {
            let target = resolve(directory, env);
            env.enter((!target.is_rootless).then_some(target.path));
        }
        let mut rest = options.operands.as_slice();
        while let Some(arg) = rest.first() {
            let is_assignment =
                arg.marked.split_once('=').is_some_and(|(name, _)| crate::syntax::is_name(name));
            if !is_assignment {
                break;
            }
            if let Some((name, value)) = arg.marked.split_once('=') {
                let (name, value) = (name.to_owned(), arg.with(value));
                self.check_variable(&name, &value, false, env);
            }
            rest = rest.get(1..).unwrap_or_default();
        }
        if options.has("e") || options.long("edit", 2) {
            for file in rest {
                self.judge_write(file, env);
            }
            return Inner::Done(Flow::unknown());
        }
        // `sudo bash` is `sudo -s`, if nothing tells the shell what to do.
        let is_shell = io.stdin.taint.has(Taint::TERMINAL)
            && rest.first().is_some_and(|it| crate::shell::is_shell(&it.marked))
            && rest.iter().skip(1).all(|it| matches!(it.marked.as_str(), "-i" | "-l" | "--login"));
        if is_shell
            || rest.is_empty()
                && (options.has("si") || options.long("shell", 2) || options.long("login", 3))
        {
            let why = "Opens a shell with all rights.";
            self.find("root_shell", Category::Other, false, why);
        }
        // `-i` and `-s` quote the words for the shell that runs them.
        Inner::Argv(rest.to_vec())
    }

    fn env_wrapper(&mut self, args: &[Arg], env: &mut Env, io: &mut Io) -> Inner {
        let spec =
            Spec::stopping("uCSaP", &["unset", "chdir", "split-string", "argv0", "block-signal"]);
        let mut args = args.to_vec();
        let mut options;
        let mut rounds = 0;
        loop {
            options = Options::parse(&args, spec);
            rounds += 1;
            let Some(split) = options.value("S", "split-string").cloned() else { break };
            if rounds > 8 {
                self.too_complex();
                break;
            }
            // The text is split and comes before what follows.
            let unit = self.unit(&split.text());
            let mut words = Vec::new();
            for step in &unit.script.steps {
                if let crate::syntax::Step::Simple(simple) = step {
                    for assignment in &simple.assignments {
                        words.push(self.value(&unit, &assignment.word, env));
                    }
                    for word in &simple.words {
                        words.extend(self.args(&unit, word, env));
                    }
                }
            }
            words.extend(options.operands);
            args = words;
        }
        if let Some(directory) = options.value("C", "chdir") {
            let target = resolve(directory, env);
            env.enter((!target.is_rootless).then_some(target.path));
        }
        let mut rest = options.operands.as_slice();
        let mut program = rest.iter();
        let program = program
            .find(|it| !it.marked.contains('='))
            .map(|it| it.marked.clone())
            .unwrap_or_default();
        while let Some(first) = rest.first() {
            if first.is("-") {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let Some((name, value)) = first.marked.split_once('=') else { break };
            let (name, value) = (name.to_owned(), first.with(value));
            let is_shell = crate::shell::is_shell(program.rsplit('/').next().unwrap_or_default());
            self.check_variable(&name, &value, is_shell, env);
            env.set(&name, crate::env::Variable::text(value.flow()), false);
            io.set.push((name, value));
            rest = rest.get(1..).unwrap_or_default();
        }
        if rest.is_empty() && !options.wants_help() {
            self.env_dump = true;
            return Inner::Done(Flow::tainted(Taint::ENVIRONMENT));
        }
        Inner::Argv(rest.to_vec())
    }
}

/// `/proc/self/exe` and its like: the shell itself. The number of a process may be what isn't known.
fn is_own_program(path: &str) -> bool {
    let process = path.strip_prefix("/proc/").and_then(|it| it.strip_suffix("exe"));
    process.is_some_and(|it| {
        let it = it.trim_end_matches('/');
        matches!(it, "self" | "thread-self") || it.bytes().all(|it| it.is_ascii_digit())
    })
}

/// Words as one text.
pub(crate) fn join(args: &[Arg]) -> String {
    let texts: Vec<String> = args.iter().map(Arg::text).collect();
    texts.join(" ")
}

/// Words as one text that a shell reads as the same words.
pub(crate) fn quote(args: &[Arg]) -> String {
    let quoted = |arg: &Arg| {
        let text = arg.text();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%~*?[]".contains(c) || c == HOLE;
        if !text.is_empty() && text.chars().all(is_plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let texts: Vec<String> = args.iter().map(quoted).collect();
    texts.join(" ")
}
