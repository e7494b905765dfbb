//! Programs given to interpreters on their command line or through a pipe.

mod call;
mod calls;
mod code;
mod constant;
mod expression;
mod learn;
mod powershell;
mod remote;
mod rename;
mod tables;
mod values;

use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::Io;

pub(crate) use code::{code, literals};

/// A language whose programs are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    Perl,
    Ruby,
    JavaScript,
    Php,
    Lua,
    AppleScript,
    PowerShell,
    Other,
}

/// The language of an interpreter.
pub(crate) fn language(name: &str) -> Option<Language> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match bare {
        "python" | "py" | "pypy" | "ipython" | "jython" | "micropython" | "pythonw" => {
            Language::Python
        }
        "perl" | "raku" => Language::Perl,
        "ruby" | "irb" | "jruby" | "truffleruby" => Language::Ruby,
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" | "qjs" | "d" if bare != "d" => {
            Language::JavaScript
        }
        "php" | "php-cli" | "hhvm" => Language::Php,
        "lua" | "luajit" | "texlua" => Language::Lua,
        "osascript" => Language::AppleScript,
        "powershell" | "pwsh" => Language::PowerShell,
        "Rscript" | "R" | "julia" | "tclsh" | "groovy" | "expect" | "guile" | "elixir" | "erl"
        | "scala" | "swift" | "racket" | "sbcl" | "clisp" | "gjs" | "wish" | "octave" => {
            Language::Other
        }
        _ => return None,
    })
}

impl Judge {
    /// An interpreter with its arguments.
    pub(crate) fn interpreter(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        let Some(language) = language(name) else { return };
        if language == Language::PowerShell {
            return self.powershell(args, env, io);
        }
        let mut scripts: Vec<Flow> = Vec::new();
        let mut file: Option<Arg> = None;
        let mut rest: Vec<Arg> = Vec::new();
        let mut modules = String::new();
        let mut in_place = false;
        let mut at = 0;
        let (inline, valued): (&str, &str) = match language {
            Language::Python => ("c", "WXm"),
            Language::Perl => ("eE", "IF"),
            Language::Ruby => ("e", "ICEFTWx"),
            Language::JavaScript => ("ep", "rC"),
            Language::Php => ("rBRE", "cdfSt"),
            Language::Lua => ("e", "l"),
            Language::AppleScript => ("e", "ls"),
            _ => ("eEc", ""),
        };
        if language == Language::JavaScript
            && args.first().is_some_and(|it| matches!(it.marked.as_str(), "eval" | "repl" | "exec"))
        {
            let operands =
                Options::parse(args.get(1..).unwrap_or_default(), Spec::new("", &["ext"])).operands;
            scripts.extend(operands.first().map(Arg::flow));
            at = args.len();
        } else if language == Language::JavaScript && args.first().is_some_and(|it| it.is("run")) {
            at = 1;
        }
        while let Some(arg) = args.get(at) {
            let text = arg.marked.as_str();
            at += 1;
            if text == "--" {
                if scripts.is_empty() {
                    file = args.get(at).cloned();
                    at += 1;
                }
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (long, value) = match long.split_once('=') {
                    Some((long, value)) => (long, Some(arg.with(value))),
                    None => (long, None),
                };
                match long {
                    "eval" | "print" | "execute" | "run" => {
                        let value = value.or_else(|| args.get(at).cloned());
                        at += usize::from(!text.contains('='));
                        scripts.extend(value.as_ref().map(Arg::flow));
                    }
                    "help" | "version" if scripts.is_empty() => return,
                    "require" | "import" | "loader" | "config" => {
                        at += usize::from(value.is_none());
                    }
                    _ => {}
                }
                continue;
            }
            if !arg.is_option() {
                if scripts.is_empty() {
                    file = Some(arg.clone());
                } else {
                    at -= 1;
                }
                break;
            }
            let letters = text.char_indices().skip(1);
            for (index, letter) in letters {
                let tail = text.get(index + letter.len_utf8()..).unwrap_or_default();
                if inline.contains(letter) {
                    // `-pe` of node prints what it evaluates.
                    if language == Language::JavaScript && letter == 'p' && tail.starts_with('e') {
                        continue;
                    }
                    let value = if tail.is_empty() {
                        at += 1;
                        args.get(at - 1).cloned()
                    } else {
                        Some(arg.with(tail))
                    };
                    scripts.extend(value.as_ref().map(Arg::flow));
                    break;
                }
                if language == Language::Python && letter == 'm' {
                    // A module; its options are its own.
                    return;
                }
                if matches!((language, letter), (Language::Perl, 'M' | 'm'))
                    || (language == Language::Ruby && letter == 'r')
                {
                    modules.push_str("use ");
                    modules.push_str(tail.trim_start_matches('-'));
                    modules.push_str(";\n");
                    if tail.is_empty() {
                        at += 1;
                    }
                    break;
                }
                if letter == 'i' && matches!(language, Language::Perl | Language::Ruby) {
                    in_place = true;
                    break;
                }
                if valued.contains(letter) {
                    at += usize::from(tail.is_empty());
                    break;
                }
            }
            // Of python the first `-c` ends the options.
            if language == Language::Python && !scripts.is_empty() {
                break;
            }
        }
        rest.extend(args.get(at.min(args.len())..).unwrap_or_default().iter().cloned());
        if in_place {
            for target in rest.iter().chain(&file) {
                self.judge_write(target, env);
            }
        }
        if scripts.is_empty() {
            match &file {
                Some(file) if !matches!(file.marked.as_str(), "-" | "/dev/stdin") => {
                    let flow = self.file(file, env);
                    let is_url = file.starts_with("http://")
                        || file.starts_with("https://")
                        || file.starts_with("npm:");
                    if is_url {
                        self.remote_code(Taint::FETCHED);
                    }
                    scripts.push(Flow {
                        taint: (flow.taint & Taint::FETCHED) | (flow.taint & Taint::DECODED),
                        ..flow
                    });
                }
                _ => scripts.push(io.stdin.clone()),
            }
        }
        for script in scripts {
            if script.taint.has(Taint::FETCHED | Taint::DECODED) {
                self.remote_code(script.taint);
            }
            let text =
                if modules.is_empty() { script.text } else { format!("{modules}{}", script.text) };
            // Arguments that the program may run or delete.
            let arguments: Vec<String> = rest.iter().map(Arg::text).collect();
            self.program_text(language, &text, &arguments, env);
        }
    }
}
