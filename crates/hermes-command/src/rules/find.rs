//! `find` and `fd`: what they do with what they find.

use crate::Category;
use crate::env::Env;
use crate::judge::{Judge, Via};
use crate::options::{Options, Spec};
use crate::path::{Loss, resolve};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::{Inner, Io};

/// Tests and options that leave all files of a tree.
const BROAD: [&str; 22] = [
    "-type",
    "-xtype",
    "-xdev",
    "-mount",
    "-depth",
    "-d",
    "-mindepth",
    "-maxdepth",
    "-print",
    "-print0",
    "-ls",
    "-follow",
    "-noleaf",
    "-ignore_readdir_race",
    "-warn",
    "-nowarn",
    "-regextype",
    "-daystart",
    "-a",
    "-and",
    "-true",
    "-o",
];

impl Judge {
    pub(crate) fn find_program(&mut self, args: &[Arg], env: &mut Env, io: &Io) -> Inner {
        if super::wants_help(args) {
            return Inner::Done(Flow::unknown());
        }
        let mut at = 0;
        while args.get(at).is_some_and(|it| {
            matches!(
                it.marked.as_str(),
                "-H" | "-L" | "-P" | "-E" | "-X" | "-x" | "-s" | "-d" | "-f"
            ) || it.starts_with("-O")
                || it.is("-D")
        }) {
            at += 1 + usize::from(args.get(at).is_some_and(|it| it.is("-D")));
        }
        let mut starts = Vec::new();
        while let Some(arg) = args.get(at)
            && !arg.starts_with("-")
            && !matches!(arg.marked.as_str(), "(" | "!" | ")")
        {
            starts.push(arg.clone());
            at += 1;
        }
        if starts.is_empty() {
            starts.push(Arg::new("."));
        }
        let is_narrow = is_narrowed(args.get(at..).unwrap_or_default());
        let flow_taint = starts
            .iter()
            .fold(Taint::NONE, |taint, it| taint | (self.file(it, env).taint & Taint::SECRET));
        let shown = self.argv.clone();
        while let Some(arg) = args.get(at) {
            at += 1;
            match arg.marked.as_str() {
                "-delete" => {
                    for start in &starts {
                        self.found_deleted(start, is_narrow, env, "find_delete");
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let rest = args.get(at..).unwrap_or_default();
                    let end = rest
                        .iter()
                        .enumerate()
                        .position(|(index, it)| {
                            it.is(";")
                                || it.is("\\;")
                                || (it.is("+")
                                    && index > 0
                                    && rest
                                        .get(index - 1)
                                        .is_some_and(|it| it.marked.contains("{}")))
                        })
                        .unwrap_or(rest.len());
                    let inner = rest.get(..end).unwrap_or_default().to_vec();
                    at += end + 1;
                    self.for_each(&inner, &starts, is_narrow, env);
                    self.argv.clone_from(&shown);
                }
                "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                    if let Some(file) = args.get(at) {
                        self.judge_write(file, env);
                    }
                    at += 1;
                }
                _ => {}
            }
        }
        let mut flow = Flow::tainted(flow_taint | io.stdin.taint);
        // The paths that are printed start with these.
        if !is_narrow
            && starts.iter().any(|it| resolve(it, env).loss(env, &self.homes) == Loss::All)
        {
            let text: String = starts.iter().map(|it| it.text() + "\n").collect();
            flow = Flow { taint: flow.taint | Taint::EVERYTHING, ..Flow::known(text) };
        }
        Inner::Done(flow)
    }

    fn found_deleted(&mut self, start: &Arg, is_narrow: bool, env: &Env, rule: &'static str) {
        let path = resolve(start, env);
        if self.is_fresh(&path, env) {
            return;
        }
        let is_all = !is_narrow && path.loss(env, &self.homes) == Loss::All;
        if path.is_agent(&self.homes) {
            self.judge_path(&path, true);
        }
        self.find(
            rule,
            Category::RecursiveDelete,
            is_all,
            "Deletes every file that it finds in a tree.",
        );
    }

    /// A program that runs for every file that is found.
    fn for_each(&mut self, inner: &[Arg], starts: &[Arg], is_narrow: bool, env: &mut Env) {
        // Which program it is in the end: it is judged with a name that can't be known, and, where
        // everything is found, with the start.
        let unknown = Arg::unknown(Taint::NONE);
        let item: Vec<Arg> = if is_narrow { vec![unknown] } else { starts.to_vec() };
        let is_protected = !is_narrow
            && starts.iter().any(|it| resolve(it, env).loss(env, &self.homes) == Loss::All);
        for item in item {
            let argv: Vec<Arg> = inner
                .iter()
                .map(|it| {
                    let with = if is_protected {
                        item.marked.clone()
                    } else {
                        crate::value::HOLE.to_string()
                    };
                    let text = it.marked.replace("{}", &with);
                    if text == it.marked { it.clone() } else { it.with(&text) }
                })
                .collect();
            let before = self.found();
            self.for_found(argv, env);
            if is_protected && self.found() > before {
                self.harden(before);
            }
        }
    }

    pub(crate) fn fd(&mut self, args: &[Arg], env: &mut Env) -> Inner {
        let at = args
            .iter()
            .position(|it| matches!(it.marked.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
        if let Some(at) = at {
            let inner: Vec<Arg> = args
                .get(at + 1..)
                .unwrap_or_default()
                .iter()
                .take_while(|it| !it.is(";"))
                .cloned()
                .collect();
            let options = Options::parse(
                args.get(..at).unwrap_or_default(),
                Spec::new(
                    "eEtdScjog",
                    &[
                        "extension",
                        "exclude",
                        "type",
                        "max-depth",
                        "size",
                        "base-directory",
                        "search-path",
                    ],
                ),
            );
            let roots: Vec<Arg> = options.operands.iter().skip(1).cloned().collect();
            let is_narrow = options.value("e", "extension").is_some()
                || options
                    .operands
                    .first()
                    .is_some_and(|it| !matches!(it.marked.as_str(), "." | "" | ".*"));
            let roots = if roots.is_empty() { vec![Arg::new(".")] } else { roots };
            let is_protected = !is_narrow
                && roots.iter().any(|it| resolve(it, env).loss(env, &self.homes) == Loss::All);
            let argv: Vec<Arg> = inner
                .iter()
                .map(|it| {
                    if it.marked.contains("{}") {
                        it.with(&it.marked.replace("{}", "\u{F8FF}"))
                    } else {
                        it.clone()
                    }
                })
                .collect();
            let before = self.found();
            self.apart(argv, Via::Found, env, Flow::unknown());
            if is_protected {
                self.harden(before);
            }
        }
        Inner::Done(Flow::unknown())
    }
}

/// Whether tests leave out some files of a tree.
fn is_narrowed(args: &[Arg]) -> bool {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        let text = arg.marked.as_str();
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = args.get(at..).unwrap_or_default();
                at += rest
                    .iter()
                    .position(|it| it.is(";") || it.is("+"))
                    .map_or(rest.len(), |it| it + 1);
            }
            "-type" | "-xtype" | "-mindepth" | "-maxdepth" | "-regextype" | "-fprint" | "-fls" => {
                at += 1;
            }
            // A name that everything has, and sizes and times that everything has.
            "-name" | "-iname" | "-path" | "-wholename"
                if args
                    .get(at)
                    .is_some_and(|it| matches!(it.text().as_str(), "*" | "**" | "?*")) =>
            {
                at += 1;
            }
            "-regex"
                if args.get(at).is_some_and(|it| matches!(it.text().as_str(), ".*" | "^.*$")) =>
            {
                at += 1;
            }
            _ if BROAD.contains(&text)
                || text == "-delete"
                || matches!(text, "(" | ")" | "," | ";" | "+") => {}
            _ if text.starts_with('-') || text == "!" => return true,
            _ => {}
        }
    }
    false
}
