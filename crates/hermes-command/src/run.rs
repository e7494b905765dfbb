//! A script, step by step, as if it ran.

use std::ops::Range;
use std::rc::Rc;

use crate::env::{Env, Unit, Variable};
use crate::judge::Judge;
use crate::redirect::Writes;
use crate::syntax::{Block, Script, Simple, Step};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::Io;

/// Most rounds of a loop over known words.
const MOST_ROUNDS: usize = 64;
/// Most values of variables that one command is judged with.
const MOST_CHOICES: usize = 8;

/// A construct that is open.
struct Frame {
    stdin: Flow,
    /// What the step before pipes into the next.
    piped: Option<Flow>,
    out: Flow,
    /// The shell as it was, if it is a shell of its own.
    saved: Option<Env>,
    /// What follows may not run.
    is_maybe: bool,
    is_branch: bool,
    /// A loop: its variable, the words that are left, where its body starts.
    rounds: Option<(String, Vec<Arg>, usize)>,
    redirects: Writes,
    is_function: bool,
}

impl Frame {
    fn new(stdin: Flow) -> Self {
        Self {
            stdin,
            piped: None,
            out: Flow::default(),
            saved: None,
            is_maybe: false,
            is_branch: false,
            rounds: None,
            redirects: Writes::default(),
            is_function: false,
        }
    }
}

impl Judge {
    /// Runs steps of a unit.
    pub(crate) fn exec(
        &mut self,
        unit: &Rc<Unit>,
        range: Range<usize>,
        env: &mut Env,
        stdin: Flow,
    ) -> Flow {
        let owned = Rc::clone(unit);
        let steps = owned.script.steps.get(range.clone()).unwrap_or_default();
        self.run(unit, steps, range.start, env, stdin)
    }

    pub(crate) fn steps(
        &mut self,
        unit: &Rc<Unit>,
        steps: &[Step],
        env: &mut Env,
        stdin: Flow,
    ) -> Flow {
        self.run(unit, steps, 0, env, stdin)
    }

    /// `base` is the index of the first of the steps in its script.
    fn run(
        &mut self,
        unit: &Rc<Unit>,
        steps: &[Step],
        base: usize,
        env: &mut Env,
        stdin: Flow,
    ) -> Flow {
        self.copies_of_itself(unit, steps);
        let mut frames = vec![Frame::new(stdin)];
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            let Some(frame) = frames.last_mut() else { break };
            let goes_on = matches!(steps.get(at + 1), Some(Step::Pipe));
            match step {
                Step::Simple(simple) => {
                    let is_apart = goes_on
                        || frame.piped.is_some()
                        || matches!(steps.get(at + 1), Some(Step::Background));
                    let stdin = frame.piped.take().unwrap_or_else(|| frame.stdin.clone());
                    let maybe = frames.iter().any(|it| it.is_maybe || it.is_branch);
                    let flow = if is_apart {
                        let mut inner = env.clone();
                        let flow = self.simple(unit, simple, &mut inner, stdin, maybe);
                        env.files = inner.files;
                        flow
                    } else {
                        self.simple(unit, simple, env, stdin, maybe)
                    };
                    deliver(&mut frames, flow, goes_on);
                }
                Step::Words(words) => {
                    let text = self.double(unit, words.clone(), env).text;
                    self.expression_text(&text, env);
                }
                Step::Open { block, close, redirects } => {
                    let end = close.saturating_sub(base);
                    let after = steps.get(end + 1);
                    let is_apart = frame.piped.is_some()
                        || matches!(block, Block::Subshell | Block::Function(_))
                        || matches!(after, Some(Step::Pipe | Step::Background));
                    let stdin = frame.piped.take().unwrap_or_else(|| frame.stdin.clone());
                    let mut inner = Frame::new(stdin);
                    let (stdin, writes) = self.redirects(unit, redirects, env);
                    if let Some(stdin) = stdin {
                        inner.stdin = stdin;
                    }
                    inner.redirects = writes;
                    inner.is_branch = !matches!(block, Block::Group | Block::Subshell);
                    if is_apart {
                        inner.saved = Some(env.clone());
                    }
                    match block {
                        Block::Function(name) => {
                            let name = unit.source.slice(name.clone()).to_owned();
                            inner.is_function = true;
                            inner.stdin = Flow::unknown();
                            self.define(unit, &name, steps, (at, end), base, env);
                            if let Some(saved) = &mut inner.saved {
                                saved.functions = env.functions.clone();
                            }
                            env.positionals = None;
                        }
                        Block::For { variable, words, is_positional } => {
                            let variable = unit.source.slice(variable.clone()).to_owned();
                            let mut values = Vec::new();
                            for word in words {
                                for value in self.args(unit, word, env) {
                                    // All that is in a folder is as much as the folder.
                                    let path = crate::path::resolve(&value, env);
                                    let folder = format!("{}/.", path.path.trim_end_matches('/'));
                                    let covers = path.covers && !path.is_rootless;
                                    values.push(value);
                                    values.extend(covers.then(|| Arg::new(&folder)));
                                }
                            }
                            if *is_positional {
                                let list = env.positionals.clone();
                                values = list.map_or_else(
                                    || vec![Arg::unknown(Taint::NONE)],
                                    |list| list.iter().map(|it| Arg::new(it)).collect(),
                                );
                            }
                            values.truncate(MOST_ROUNDS);
                            values.reverse();
                            let value = values.pop().unwrap_or_default();
                            env.set(
                                &variable,
                                Variable::text(Flow {
                                    taint: value.taint,
                                    ..Flow::known(value.marked)
                                }),
                                false,
                            );
                            inner.rounds = Some((variable, values, at));
                        }
                        _ => {}
                    }
                    frames.push(inner);
                }
                Step::Close => {
                    if let Some((variable, values, start)) = &mut frame.rounds
                        && let Some(value) = values.pop()
                        && self.may_repeat()
                    {
                        env.set(
                            variable,
                            Variable::text(Flow {
                                taint: value.taint,
                                ..Flow::known(value.marked)
                            }),
                            false,
                        );
                        frame.is_maybe = false;
                        frame.piped = None;
                        at = *start + 1;
                        continue;
                    }
                    if frames.len() > 1
                        && let Some(frame) = frames.pop()
                    {
                        let mut flow = frame.out;
                        if let Some(saved) = frame.saved {
                            let files = env.files.clone();
                            *env = saved;
                            env.files = files;
                        }
                        flow = self.write(flow, &frame.redirects, env);
                        if frame.is_function {
                            flow = Flow::default();
                        }
                        deliver(&mut frames, flow, goes_on);
                    }
                }
                Step::Pipe => {}
                Step::And | Step::Or => frame.is_maybe = true,
                Step::Background | Step::End | Step::Line => {
                    self.line += usize::from(matches!(step, Step::Line));
                    frame.is_maybe = false;
                    frame.piped = None;
                }
            }
            at += 1;
        }
        let mut out = Flow::default();
        for frame in frames {
            out.push(&frame.out);
        }
        out
    }

    /// Notes a function, and whether it multiplies itself.
    fn define(
        &mut self,
        unit: &Rc<Unit>,
        name: &str,
        steps: &[Step],
        (open, end): (usize, usize),
        base: usize,
        env: &mut Env,
    ) {
        let body = steps.get(open + 1..end.max(open + 1)).unwrap_or_default();
        let mut calls = 0;
        let mut is_multiplied = false;
        for (index, step) in body.iter().enumerate() {
            match step {
                Step::Simple(simple) => {
                    let is_call = simple.words.iter().any(|word| {
                        unit.source.slice(word.clone()).trim_matches(['"', '\'', '\\']) == name
                    });
                    let first = simple.words.first().map(|word| {
                        unit.source.slice(word.clone()).trim_matches(['"', '\'', '\\'])
                    });
                    calls += usize::from(
                        first == Some(name)
                            || (is_call
                                && first.is_some_and(|it| {
                                    matches!(
                                        it,
                                        "$0" | "command" | "eval" | "exec" | "nohup" | "builtin"
                                    )
                                })),
                    );
                }
                Step::Pipe | Step::Background if index > 0 => is_multiplied = true,
                _ => {}
            }
        }
        if calls >= 2 && is_multiplied {
            let saved = std::mem::replace(&mut self.argv, vec![name.to_owned()]);
            self.place(unit, &self.block_span(unit, steps, open));
            self.fork_bomb();
            self.argv = saved;
        }
        // Steps of a part that was parsed by itself can't be found again later.
        let is_whole = unit
            .script
            .steps
            .get(base + open)
            .is_some_and(|it| std::ptr::eq(it, steps.get(open).unwrap_or(it)));
        if is_whole {
            let functions = &mut env.functions;
            functions.insert(
                name.to_owned(),
                (Rc::clone(unit), base + open + 1..base + end.max(open + 1)),
            );
        }
    }

    /// `$0|$0&`: a script that starts itself twice.
    fn copies_of_itself(&mut self, unit: &Rc<Unit>, steps: &[Step]) {
        let is_itself = |step: &Step| match step {
            Step::Simple(simple) => simple.words.iter().take(2).any(|word| {
                matches!(
                    unit.source.slice(word.clone()).trim_matches('"'),
                    "$0" | "${0}" | "./$0" | "$BASH_SOURCE" | "${BASH_SOURCE[0]}"
                )
            }),
            _ => false,
        };
        let first = steps.iter().position(is_itself);
        let Some(first) = first else { return };
        let copies = steps.iter().filter(|it| is_itself(it)).count();
        let runs_on =
            steps.iter().skip(first).any(|it| matches!(it, Step::Pipe | Step::Background));
        let repeats = steps
            .iter()
            .take(first)
            .any(|it| matches!(it, Step::Open { block: Block::Loop, close, .. } if *close > first));
        if (copies >= 2 || repeats) && runs_on {
            if let Some(Step::Simple(simple)) = steps.get(first) {
                self.place(unit, &simple.span);
            }
            self.argv = vec!["$0".to_owned()];
            self.fork_bomb();
        }
    }

    pub(crate) fn fork_bomb(&mut self) {
        let why = "It starts copies of itself without end until the machine stops answering.";
        self.find("fork_bomb", crate::Category::ForkBomb, true, why);
    }

    fn block_span(&self, unit: &Rc<Unit>, steps: &[Step], open: usize) -> Range<usize> {
        match steps.get(open) {
            Some(Step::Open { block: Block::Function(name), .. }) => name.clone(),
            _ => 0..unit.source.text.len(),
        }
    }

    /// Notes where the command stands, if it is in the text itself.
    fn place(&mut self, unit: &Rc<Unit>, span: &Range<usize>) {
        if self.nested == 0 {
            self.span = unit.source.original(span);
        }
    }

    fn simple(
        &mut self,
        unit: &Rc<Unit>,
        simple: &Simple,
        env: &mut Env,
        stdin: Flow,
        maybe: bool,
    ) -> Flow {
        let mut out = Flow::default();
        let mut stdin = Some(stdin);
        let outer = self.choice;
        let outer_more = self.has_choices;
        for choice in 0..MOST_CHOICES {
            if !self.step() {
                return Flow::unknown();
            }
            self.choice = choice.max(outer);
            self.has_choices = false;
            let given = if choice + 1 == MOST_CHOICES { stdin.take() } else { stdin.clone() };
            out = self.once(unit, simple, env, given.unwrap_or_default(), maybe || choice > 0);
            if !self.has_choices || outer > 0 {
                break;
            }
        }
        self.choice = outer;
        self.has_choices = outer_more || (outer > 0 && self.has_choices);
        out
    }

    /// One command with one choice of values.
    fn once(
        &mut self,
        unit: &Rc<Unit>,
        simple: &Simple,
        env: &mut Env,
        stdin: Flow,
        maybe: bool,
    ) -> Flow {
        self.place(unit, &simple.span);
        if simple.is_test {
            let words: Vec<Arg> =
                simple.words.iter().map(|word| self.value(unit, word, env)).collect();
            self.test_words(&words, env);
            return Flow::known("");
        }
        let outer_sinks = std::mem::take(&mut self.sinks);
        let mut before = Vec::new();
        let first = simple.words.first().map(|it| unit.source.slice(it.clone()));
        if first.is_some_and(|it| !crate::syntax::is_declaration(it)) {
            for assignment in &simple.assignments {
                let name = unit.source.slice(assignment.name.clone());
                let name = name.split('[').next().unwrap_or_default();
                before.push((name.to_owned(), env.values(name)));
            }
        }
        let mut set = Vec::new();
        for assignment in &simple.assignments {
            if let Some(pair) = self.assign(unit, assignment, env, maybe && simple.words.is_empty())
            {
                set.push(pair);
            }
        }
        if simple.words.is_empty() {
            for (name, value) in &set {
                if !matches!(name.as_str(), "ENV" | "BASH_ENV" | "LD_PRELOAD" | "LD_AUDIT") {
                    let shown =
                        if value.marked.len() > 4096 { "..".to_owned() } else { value.shown() };
                    self.argv = vec![format!("{name}={shown}")];
                    self.check_variable(name, value, false, env);
                }
            }
        }
        let mut argv = Vec::with_capacity(simple.words.len());
        for (index, word) in simple.words.iter().enumerate() {
            let args = self.declared(unit, word, argv.first(), index, env);
            argv.extend(args);
        }
        self.place(unit, &simple.span);
        let (redirected, writes) = self.redirects(unit, &simple.redirects, env);
        self.place(unit, &simple.span);
        let explicit = redirected.is_some();
        let stdin = redirected.unwrap_or(stdin);
        let outer_redirect = self.has_redirect;
        self.has_redirect = !simple.redirects.is_empty();
        let flow = if argv.is_empty() {
            self.argv = Vec::new();
            // `$(< file)` prints the file.
            if explicit && simple.assignments.is_empty() { stdin } else { Flow::known("") }
        } else {
            let is_exec = argv.len() == 1 && argv.first().is_some_and(|it| it.is("exec"));
            if is_exec {
                self.open_descriptors(unit, &simple.redirects, env);
            }
            let io = Io { stdin, is_network: writes.is_network, set, maybe };
            self.call(argv, env, &io)
        };
        let flow = self.feed_sinks(flow, env);
        let flow = self.write(flow, &writes, env);
        self.has_redirect = outer_redirect;
        for (name, values) in before {
            env.put_back(&name, values);
        }
        self.sinks = outer_sinks;
        flow
    }

    /// Process substitutions that read what a command prints.
    fn feed_sinks(&mut self, flow: Flow, env: &mut Env) -> Flow {
        for (unit, range) in std::mem::take(&mut self.sinks) {
            if !self.deeper() {
                break;
            }
            let script: Script = crate::syntax::parse(&unit.source, range);
            let mut inner = env.clone();
            self.steps(&unit, &script.steps, &mut inner, flow.clone());
            self.depth -= 1;
        }
        flow
    }
}

/// Hands on what a step printed.
fn deliver(frames: &mut [Frame], flow: Flow, goes_on: bool) {
    if let Some(frame) = frames.last_mut() {
        if goes_on {
            frame.piped = Some(flow);
        } else {
            frame.out.push(&flow);
        }
    }
}
