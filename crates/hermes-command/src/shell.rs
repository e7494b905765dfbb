//! Programs that run a text as shell, and builtins that change the shell itself.

use std::rc::Rc;

use crate::Category;
use crate::env::{Env, Variable};
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::resolve;
use crate::value::{Arg, Flow, Taint};
use crate::wrap::{Inner, Io, join};

pub(crate) fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "ash"
            | "mksh"
            | "rbash"
            | "fish"
            | "yash"
            | "hush"
            | "csh"
            | "tcsh"
            | "oksh"
            | "posh"
            | "ksh93"
            | "lksh"
            | "-bash"
            | "-sh"
            | "bash5"
    )
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
            "test" | "[" => {
                self.test_words(args, env);
                return Inner::None;
            }
            "let" => {
                for arg in args {
                    self.expression_text(&arg.marked, env);
                }
                return Inner::Done(Flow::known(""));
            }
            "compgen" | "complete" => {
                self.completion(args, env);
                return Inner::Done(Flow::unknown());
            }
            "hash" => {
                if let [option, program, names @ ..] = args
                    && option.is("-p")
                {
                    for name in names {
                        self.link(&name.marked, &program.marked);
                    }
                }
                return Inner::Done(Flow::known(""));
            }
            "unset" | "read" | "mapfile" | "readarray" | "printf" | "export" | "declare"
            | "typeset" | "local" | "readonly"
                if name != "printf" || args.first().is_some_and(|it| it.is("-v")) =>
            {
                let names = if name == "printf" { args.get(1..2) } else { Some(args) };
                self.names_of_variables(names.unwrap_or_default(), env);
                if matches!(name, "mapfile" | "readarray")
                    && let Some(text) =
                        Options::parse(args, Spec::new("dnOsuCc", &[])).value("C", "")
                {
                    let mut inner = env.clone();
                    self.run_text(&text.flow(), &mut inner, Flow::unknown());
                }
            }
            _ => {}
        }
        match name {
            "eval" => {
                let mut flow = Flow::known(join(args));
                for arg in args {
                    flow.taint |= arg.taint;
                }
                Inner::Done(self.run_text(&flow, env, io.stdin.clone()))
            }
            "source" | "." => {
                let Some(file) = args.first() else { return Inner::Done(Flow::unknown()) };
                let flow = if matches!(file.marked.as_str(), "/dev/stdin" | "/dev/fd/0") {
                    io.stdin.clone()
                } else {
                    self.file(file, env)
                };
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
                        env.aliases.insert(name.to_owned(), (text.to_owned(), line));
                    }
                }
                Inner::Done(Flow::unknown())
            }
            "cd" | "pushd" | "popd" | "chdir" => {
                self.change_directory(name, args, env);
                Inner::Done(Flow::known(""))
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                Inner::Done(self.declare(name, args, env, io.maybe))
            }
            "unset" => {
                for arg in args {
                    if arg.is("HISTFILE") {
                        self.history_cleared();
                    }
                    env.unset(&arg.marked);
                    env.functions.remove(&arg.marked);
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

    /// `compgen` and `complete`: a command for the words, or words that are expanded.
    fn completion(&mut self, args: &[Arg], env: &mut Env) {
        let options = Options::parse(args, Spec::new("oAGWFCXPS", &[]));
        for text in options.values("C", "") {
            let mut inner = env.clone();
            self.run_text(&text.flow(), &mut inner, Flow::unknown());
        }
        for words in options.values("W", "") {
            self.expanded_text(&words.text(), env);
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
        let positionals = |rest: &[Arg]| {
            Some(Rc::new(rest.iter().map(|it| it.marked.clone()).collect::<Vec<_>>()))
        };
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
        let is_told = io.stdin.taint.has(Taint::FIFO)
            || args.iter().any(|it| it.is_option() && it.marked.contains('i'));
        let mut flow =
            self.run_text(&without_secrets(io.stdin.clone()), &mut inner, Flow::unknown());
        if is_told {
            flow.taint |= Taint::SHELL;
        }
        flow
    }

    pub(crate) fn reverse_shell(&mut self) {
        let why =
            "Gives a shell on this machine to whoever is at the other end of a network connection.";
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
            env.push_directory();
        }
        let target = match operands.first() {
            None => env.home().map(str::to_owned),
            Some(arg) if arg.is("-") => env.previous.clone(),
            Some(arg) => {
                let target = resolve(arg, env);
                let path = if target.covers {
                    format!("{}/{}", target.path, crate::value::HOLE)
                } else {
                    target.path
                };
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
                let letters = |wanted: &str| {
                    args.iter().any(|it| {
                        it.is_option() && !it.starts_with("--") && it.marked.contains(wanted)
                    })
                };
                if letters("i") {
                    self.expression_text(&value.marked, env);
                }
                if letters("n") && name != "export" {
                    env.refer(variable, &value.marked);
                    continue;
                }
                env.set(variable, Variable::text(value.flow()), maybe);
            }
        }
        if name == "export" {
            let pairs = args.iter().filter_map(|it| {
                let (name, value) = it.marked.split_once('=')?;
                Some((name.to_owned(), it.with(value)))
            });
            let io = Io { set: pairs.collect(), ..Io::default() };
            self.hook_variables(env, &io);
        }
        let prints = args.iter().any(is_list)
            || (args.is_empty() && matches!(name, "export" | "declare" | "typeset"));
        let lists_functions =
            args.iter().any(|it| it.is_option() && it.marked.contains(['f', 'F']));
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
        if matches!(args, [switch, option, ..] if switch.is("+o") && option.is("history")) {
            self.history_cleared();
        }
        let at =
            args.iter().position(|it| it.is("--")).map(|it| it + 1).or_else(|| {
                args.iter().position(|it| !it.starts_with("-") && !it.starts_with("+"))
            });
        let after_option = args.first().is_some_and(|it| matches!(it.marked.as_str(), "-o" | "+o"));
        if let Some(at) = at
            && !after_option
        {
            let list = args.get(at..).unwrap_or_default();
            env.positionals = Some(Rc::new(list.iter().map(|it| it.marked.clone()).collect()));
        }
        Flow::known("")
    }
}

/// A script that is a secret file is still a local script.
pub(crate) fn without_secrets(flow: Flow) -> Flow {
    let taint = (flow.taint & Taint::FETCHED) | (flow.taint & Taint::DECODED);
    Flow { taint, ..flow }
}

/// `read` and `mapfile`: variables from what is piped.
fn read(name: &str, args: &[Arg], env: &mut Env, stdin: &Flow) {
    let spec = if name == "read" { "adinNptu" } else { "dnOsuCc" };
    let options = Options::parse(args, Spec::new(spec, &[]));
    let names: Vec<String> = match options.value("a", "") {
        Some(name) => vec![name.marked.clone()],
        None if options.operands.is_empty() => {
            vec![if name == "read" { "REPLY".to_owned() } else { "MAPFILE".to_owned() }]
        }
        None => options.operands.iter().map(|it| it.marked.clone()).collect(),
    };
    let is_list = name != "read" || options.has("a");
    if !stdin.is_known() || stdin.text.is_empty() {
        for name in names {
            let variable = Variable {
                items: vec![crate::value::HOLE.to_string()],
                is_list,
                taint: stdin.taint,
            };
            env.set(&name, variable, false);
        }
        return;
    }
    if is_list {
        let items: Vec<String> = if name == "read" {
            stdin
                .text
                .lines()
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect()
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
            env.set(
                name,
                Variable::text(Flow { taint: stdin.taint, ..Flow::known(word) }),
                round > 0,
            );
        }
    }
}
