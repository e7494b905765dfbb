//! Programs that run another one for each item of a list.

use crate::env::Env;
use crate::judge::{Judge, Via};
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow, HOLE, Taint};
use crate::wrap::{Inner, Io, join};

impl Judge {
    /// Programs that run another one for each item.
    pub(crate) fn lists(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        match name {
            "xargs" => self.xargs(args, env, io),
            "parallel" => self.parallel(args, env, io),
            "find" => self.find_program(args, env, io),
            _ => self.fd(args, env),
        }
    }

    pub(crate) fn xargs(&mut self, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        let spec = Spec::stopping(
            "aEIJLnPRSds",
            &[
                "arg-file",
                "delimiter",
                "max-lines",
                "max-args",
                "max-procs",
                "max-chars",
                "replace",
                "process-slot-var",
                "eof",
            ],
        );
        let options = Options::parse(args, spec);
        if options.wants_help() || options.operands.is_empty() {
            return Inner::Done(io.stdin.clone());
        }
        let flow = match options.value("a", "arg-file") {
            Some(file) => self.file(&file.clone(), env),
            None => io.stdin.clone(),
        };
        let replaced = options.value("IJ", "replace").map(Arg::text);
        let replaced = replaced
            .or_else(|| (options.has("i") || options.long("replace", 4)).then(|| "{}".to_owned()));
        let items: Vec<Arg> = if flow.is_known() {
            let separators: &[char] = match options.value("d", "delimiter") {
                Some(it) if it.marked.starts_with(',') => &[',', '\n'],
                Some(it) if it.marked.starts_with(':') => &[':', '\n'],
                _ if options.has("0") || options.long("null", 2) => &['\0', '\n'],
                _ if replaced.is_some() => &['\n'],
                _ => &[' ', '\t', '\n'],
            };
            let parts = flow
                .text
                .split(separators)
                .map(|it| it.trim_matches(['"', '\'']))
                .filter(|it| !it.is_empty());
            parts
                .take(256)
                .map(|it| Arg { marked: it.to_owned(), taint: flow.taint, ..Arg::default() })
                .collect()
        } else {
            vec![Arg::unknown(flow.taint)]
        };
        let argv = insert(&options.operands, &items, replaced.as_deref());
        let before = self.found();
        let inner = self.apart(argv, Via::List, env, Flow::unknown());
        if flow.taint.has(Taint::EVERYTHING) {
            self.harden(before);
        }
        inner
    }

    pub(crate) fn parallel(&mut self, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        let spec = Spec::stopping(
            "jNLnSaIdXm",
            &[
                "jobs", "max-args", "sshlogin", "arg-file", "joblog", "delay", "timeout",
                "retries", "results", "tmpdir", "colsep",
            ],
        );
        let options = Options::parse(args, spec);
        if options.wants_help() {
            return Inner::Done(Flow::unknown());
        }
        let is_separator = |it: &Arg| it.marked.starts_with(":::");
        let at = options.operands.iter().position(is_separator).unwrap_or(options.operands.len());
        let (command, values) = options.operands.split_at(at);
        let mut items: Vec<Arg> = values.iter().filter(|it| !is_separator(it)).cloned().collect();
        if values.is_empty() {
            items = if io.stdin.is_known() {
                io.stdin.text.lines().take(256).map(Arg::new).collect()
            } else {
                vec![Arg::unknown(io.stdin.taint)]
            };
        }
        if command.is_empty() {
            // The items are the commands.
            for item in &items {
                let mut inner = env.clone();
                self.run_text(&item.flow(), &mut inner, Flow::unknown());
            }
            return Inner::Done(Flow::unknown());
        }
        let text = join(&insert(command, &items, Some("{}")));
        let mut inner = env.clone();
        let via = std::mem::replace(&mut self.via, Via::List);
        let flow =
            if command.len() > 1 && !command.iter().any(|it| it.marked.contains([' ', ';', '|'])) {
                self.call(
                    insert(command, &items, Some("{}")),
                    &mut inner,
                    &Io { stdin: Flow::unknown(), ..Io::default() },
                )
            } else {
                self.payload_via(&text, &mut inner, Via::List)
            };
        self.via = via;
        Inner::Done(flow)
    }

    /// Runs a text whose commands are fed by a list.
    pub(crate) fn payload_via(&mut self, text: &str, env: &mut Env, via: Via) -> Flow {
        let unit = self.unit(text);
        for step in &unit.script.steps {
            if let crate::syntax::Step::Simple(simple) = step {
                let argv: Vec<Arg> =
                    simple.words.iter().flat_map(|word| self.args(&unit, word, env)).collect();
                let saved = std::mem::replace(&mut self.via, via);
                self.call(argv, env, &Io { stdin: Flow::unknown(), ..Io::default() });
                self.via = saved;
            }
        }
        Flow::unknown()
    }

    /// Runs a program with its own surroundings.
    pub(crate) fn apart(&mut self, argv: Vec<Arg>, via: Via, env: &mut Env, stdin: Flow) -> Inner {
        if argv.is_empty() || !self.deeper() {
            return Inner::Done(Flow::unknown());
        }
        let saved = std::mem::replace(&mut self.via, via);
        let mut inner = env.clone();
        let shown = self.argv.clone();
        let mut flow = self.call(argv, &mut inner, &Io { stdin, ..Io::default() });
        self.argv = shown;
        self.via = saved;
        self.depth -= 1;
        flow.text = HOLE.to_string();
        Inner::Done(flow)
    }
}

/// A command with items in the place of `{}`, or at its end.
pub(crate) fn insert(command: &[Arg], items: &[Arg], replaced: Option<&str>) -> Vec<Arg> {
    let mut argv = Vec::with_capacity(command.len() + items.len());
    let mut is_placed = false;
    for arg in command {
        match replaced {
            Some(replaced) if !replaced.is_empty() && arg.marked.contains(replaced) => {
                is_placed = true;
                for item in items {
                    let mut placed = arg.with(&arg.marked.replace(replaced, &item.marked));
                    placed.taint |= item.taint;
                    argv.push(placed);
                    // A text to run gets one item at a time; the first shows what it does.
                    if arg.marked.contains(' ') && items.len() > 8 {
                        break;
                    }
                }
            }
            _ => argv.push(arg.clone()),
        }
    }
    if !is_placed && replaced.is_none_or(|it| it == "{}") {
        argv.extend(items.iter().cloned());
    }
    argv
}
