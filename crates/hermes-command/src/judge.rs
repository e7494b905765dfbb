//! The state of one classification, and its limits.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::env::{Env, Unit};
use crate::path::Homes;
use crate::report::{Category, Ctx, Finding, Report, SimpleCommand};
use crate::service::Services;
use crate::source::Source;
use crate::syntax::{Script, parse};
use crate::value::{Arg, Flow, Taint};

/// Longest text that is looked into, in characters.
const MOST_CHARS: usize = 128_000;
/// From this many separators on a text isn't looked into.
const MOST_SEPARATORS: usize = 25_000;
/// Most backticks in a text that is looked into.
const MOST_BACKTICKS: usize = 4096;
/// Deepest nesting of substitutions and of texts that commands run.
const MOST_DEPTH: usize = 16;
/// Most texts that are run by commands.
const MOST_PAYLOADS: usize = 256;
/// Most commands that are looked at, repetitions included.
const MOST_STEPS: usize = 60_000;
/// Most text that is made of variables and substitutions, in bytes.
const MOST_EXPANDED: usize = 2 * 1024 * 1024;
/// Most text that programs are followed with that print what they read, in bytes.
const MOST_PRINTED: usize = 16 * 1024 * 1024;
/// Most findings and commands that are told of.
const MOST_FINDINGS: usize = 128;
const MOST_COMMANDS: usize = 4096;

/// How a program came to be run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Via {
    #[default]
    Shell,
    /// With arguments from a list: `xargs`, `parallel`.
    List,
    /// For each file that was found.
    Found,
}

pub(crate) struct Judge {
    pub(crate) homes: Homes,
    findings: Vec<Finding>,
    commands: Vec<SimpleCommand>,
    pub(crate) is_complete: bool,
    pub(crate) env_dump: bool,
    pub(crate) depth: usize,
    payloads: usize,
    steps: usize,
    /// How much text was made of variables and substitutions, in bytes.
    expanded: usize,
    /// How much text programs were followed with that print what they read, in bytes.
    printed: usize,
    /// Which of the values that a variable may have is taken.
    pub(crate) choice: usize,
    /// Whether there was a further one.
    pub(crate) has_choices: bool,
    /// Process substitutions that read what the current command writes.
    pub(crate) sinks: Vec<(Rc<Unit>, Range<usize>)>,
    /// Copies and other names of programs and files: what they are in truth.
    pub(crate) links: HashMap<String, String>,
    /// Whether folders that the text has made hold only what it has made.
    pub(crate) keeps_fresh: bool,
    /// Where the current command stands in the text.
    pub(crate) span: Range<usize>,
    /// How many lines were read: an alias counts from the next one on.
    pub(crate) line: usize,
    /// How many texts within texts the current command stands in.
    pub(crate) nested: usize,
    /// Services whose keys stand in the text.
    pub(crate) services: Services,
    /// The current program and its arguments.
    pub(crate) argv: Vec<String>,
    /// The program of the current command as it is written, when it is a path.
    pub(crate) argv_path: Option<String>,
    pub(crate) via: Via,
    /// Whether the words of the current text come from a list.
    pub(crate) is_fed: bool,
    /// Whether the current command has a redirect.
    pub(crate) has_redirect: bool,
}

/// What the command would do in the place that `ctx` describes.
///
/// The time is linear in the length, and limited; nothing is run.
#[must_use]
pub fn classify(command: &str, ctx: &Ctx) -> Report {
    let mut judge = Judge::new(ctx);
    if let Some(why) = too_big(command) {
        judge.span = 0..command.len();
        judge.is_complete = false;
        judge.find("parser_limit", Category::Other, false, why);
        return judge.report(false);
    }
    let unit = judge.unit(command);
    let mut env = Env::new(ctx);
    let steps = 0..unit.script.steps.len();
    judge.exec(&unit, steps, &mut env, Flow::tainted(Taint::TERMINAL));
    judge.is_complete &= unit.script.is_complete && !unit.source.is_unbalanced;
    crate::second::look(&mut judge, command, &unit, &mut env);
    let mut report = judge.report(unit.source.has_substitution);
    let spans = report
        .findings
        .iter_mut()
        .map(|it| &mut it.span)
        .chain(report.commands.iter_mut().map(|it| &mut it.span));
    for span in spans {
        // What isn't shell may have been cut within a character.
        *span = command.floor_char_boundary(span.start)..command.ceil_char_boundary(span.end);
    }
    report
}

fn too_big(command: &str) -> Option<&'static str> {
    let separators = command.bytes().filter(|it| matches!(it, b';' | b'&' | b'|' | b'\n')).count();
    if command.len() > MOST_CHARS && command.chars().count() > MOST_CHARS {
        Some("The command is too long to be looked into.")
    } else if separators >= MOST_SEPARATORS
        || command.bytes().filter(|it| *it == b'`').count() > MOST_BACKTICKS
    {
        Some("The command has too many parts to be looked into.")
    } else {
        None
    }
}

impl Judge {
    pub(crate) fn new(ctx: &Ctx) -> Self {
        Self {
            homes: Homes::new(&ctx.home, &ctx.hermes_home),
            findings: Vec::new(),
            commands: Vec::new(),
            is_complete: true,
            env_dump: false,
            depth: 0,
            payloads: 0,
            steps: 0,
            expanded: 0,
            printed: 0,
            choice: 0,
            has_choices: false,
            sinks: Vec::new(),
            links: HashMap::new(),
            keeps_fresh: true,
            span: 0..0,
            line: 0,
            nested: 0,
            services: 0,
            argv: Vec::new(),
            argv_path: None,
            via: Via::Shell,
            is_fed: false,
            has_redirect: false,
        }
    }

    pub(crate) fn unit(&mut self, text: &str) -> Rc<Unit> {
        let source = Source::new(text);
        let script = parse(&source, 0..source.text.len());
        Rc::new(Unit { source, script })
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    fn report(mut self, has_substitution: bool) -> Report {
        self.findings.sort_by_key(|it| Reverse((it.hardline, it.category == Category::SelfHarm)));
        Report {
            findings: self.findings,
            commands: self.commands,
            complete: self.is_complete,
            has_substitution,
            env_dump: self.env_dump,
        }
    }

    pub(crate) fn find(
        &mut self,
        rule_id: &'static str,
        category: Category,
        hardline: bool,
        why: impl Into<String>,
    ) {
        let is_known =
            |it: &Finding| it.rule_id == rule_id && it.hardline == hardline && it.span == self.span;
        if self.findings.iter().rev().take(32).any(is_known) {
            return;
        }
        if self.findings.len() >= MOST_FINDINGS && (!hardline || self.is_hardline()) {
            return;
        }
        let span = self.span.clone();
        let argv = self.argv.clone();
        self.findings.push(Finding { rule_id, category, hardline, span, argv, why: why.into() });
    }

    fn is_hardline(&self) -> bool {
        self.findings.iter().any(|it| it.hardline)
    }

    /// Findings from the `from`th on that delete are about everything there is.
    pub(crate) fn harden(&mut self, from: usize) {
        for finding in self.findings.iter_mut().skip(from) {
            finding.hardline |= finding.category == Category::RecursiveDelete;
        }
    }

    /// Whether a rule was met by the current command already.
    pub(crate) fn has_found(&self, rule_id: &str) -> bool {
        self.findings.iter().rev().take(8).any(|it| it.rule_id == rule_id && it.span == self.span)
    }

    pub(crate) fn found(&self) -> usize {
        self.findings.len()
    }

    pub(crate) fn record(&mut self, argv: &[Arg]) {
        if self.commands.len() >= MOST_COMMANDS {
            return;
        }
        let is_known = argv.iter().all(Arg::is_known);
        let (span, has_redirect, depth) = (self.span.clone(), self.has_redirect, self.nested);
        let plain = crate::rules::git_without_options(argv);
        let argv: Vec<String> = argv.iter().map(Arg::shown).collect();
        // `git -C . push` is a push too.
        let plain = plain.map(|argv| SimpleCommand {
            argv,
            span: span.clone(),
            is_known,
            has_redirect,
            depth: depth + 1,
        });
        self.commands.push(SimpleCommand { argv, span, is_known, has_redirect, depth });
        self.commands.extend(plain);
    }

    /// Marks the last command as one that another command runs.
    pub(crate) fn too_complex(&mut self) {
        self.is_complete = false;
        self.find(
            "too_complex",
            Category::Other,
            false,
            "The command is nested too deeply to be looked into.",
        );
    }

    /// One level further in; false at the limit. The caller goes back up.
    pub(crate) fn deeper(&mut self) -> bool {
        if self.depth >= MOST_DEPTH {
            self.too_complex();
            return false;
        }
        self.depth += 1;
        true
    }

    /// One more command; false if there were too many.
    pub(crate) fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            self.too_complex();
            return false;
        }
        true
    }

    /// Whether a word of so many bytes may still be made of variables and substitutions.
    pub(crate) fn expands(&mut self, bytes: usize) -> bool {
        self.expanded += bytes;
        if self.expanded > MOST_EXPANDED {
            self.too_complex();
            return false;
        }
        true
    }

    /// Whether a program that reads so many bytes may still be followed.
    pub(crate) fn prints(&mut self, bytes: usize) -> bool {
        self.printed += bytes;
        if self.printed > MOST_PRINTED {
            self.too_complex();
            return false;
        }
        true
    }

    /// Whether loops may still be followed round by round.
    pub(crate) fn may_repeat(&self) -> bool {
        self.steps < MOST_STEPS / 8
    }

    /// What a part of a unit prints when it runs in a shell of its own.
    pub(crate) fn substitute(
        &mut self,
        unit: &Rc<Unit>,
        range: Range<usize>,
        env: &mut Env,
    ) -> Flow {
        if !self.deeper() {
            return Flow::unknown();
        }
        let script = parse(&unit.source, range);
        let flow = self.in_shell(unit, &script, env);
        self.depth -= 1;
        flow
    }

    /// What a text prints when it is substituted.
    pub(crate) fn substitute_text(&mut self, text: &str, env: &mut Env) -> Flow {
        if !self.deeper() {
            return Flow::unknown();
        }
        let unit = self.unit(text);
        let nested = self.nested;
        self.nested += 1;
        let flow = self.in_shell(&unit, &unit.script, env);
        self.nested = nested;
        self.depth -= 1;
        flow
    }

    fn in_shell(&mut self, unit: &Rc<Unit>, script: &Script, env: &mut Env) -> Flow {
        let saved = (
            self.span.clone(),
            std::mem::take(&mut self.argv),
            std::mem::take(&mut self.sinks),
            self.via,
            self.has_redirect,
        );
        self.via = Via::Shell;
        let mut inner = env.clone();
        self.is_complete &= script.is_complete;
        let flow = self.steps(unit, &script.steps, &mut inner, Flow::unknown());
        env.files = inner.files;
        (self.span, self.argv, self.sinks, self.via, self.has_redirect) = saved;
        flow
    }

    /// One program within another; false at the limits.
    pub(crate) fn opens_program(&mut self) -> bool {
        self.payloads += 1;
        if self.payloads > MOST_PAYLOADS {
            self.too_complex();
            return false;
        }
        self.deeper()
    }

    pub(crate) const fn closes_program(&mut self) {
        self.depth -= 1;
    }

    /// Runs a text that a command runs as a shell script.
    pub(crate) fn payload(&mut self, text: &str, env: &mut Env, stdin: Flow) -> Flow {
        self.payloads += 1;
        if self.payloads > MOST_PAYLOADS {
            self.too_complex();
            return Flow::unknown();
        }
        if !self.deeper() {
            return Flow::unknown();
        }
        let unit = self.unit(text);
        let saved = (
            self.span.clone(),
            std::mem::take(&mut self.argv),
            std::mem::take(&mut self.sinks),
            self.via,
            self.has_redirect,
        );
        let is_fed = self.is_fed;
        self.is_fed |= self.via != Via::Shell;
        self.via = Via::Shell;
        self.nested += 1;
        let flow = self.exec(&unit, 0..unit.script.steps.len(), env, stdin);
        self.is_fed = is_fed;
        if !unit.script.is_complete || unit.source.is_unbalanced {
            crate::second::look(self, text, &unit, env);
        }
        self.nested -= 1;
        (self.span, self.argv, self.sinks, self.via, self.has_redirect) = saved;
        self.depth -= 1;
        flow
    }
}
