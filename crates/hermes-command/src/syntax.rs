//! From a text to a flat list of commands and the constructs around them.
//!
//! Tolerant: whatever it is given, it finds the places where commands start. What can't be shell is
//! noted, and the rest is read on. Constructs are on a stack of their own; nothing recurses.

use std::ops::Range;

use crate::source::{Nest, Source};

/// A redirect.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// Such as `>` or `<<<`.
    pub(crate) operator: Operator,
    /// The file descriptor in front of it.
    pub(crate) descriptor: Option<u32>,
    /// The target, or the delimiter of a here-document.
    pub(crate) target: Range<usize>,
    /// Where the operator stands.
    pub(crate) at: usize,
}

/// What a redirect does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Read,
    Write,
    Append,
    Both,
    /// `&>` and `&>>`, and `>&` with a file.
    WriteAll,
    /// `<&` or `>&` with a descriptor.
    Duplicate,
    Document,
    String,
}

/// An assignment in front of a command.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    /// The variable, with an index.
    pub(crate) name: Range<usize>,
    /// Whether it adds to the value.
    pub(crate) is_append: bool,
    pub(crate) value: Value,
    pub(crate) word: Range<usize>,
}

/// What is assigned.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Word(Range<usize>),
    Array(Vec<Range<usize>>),
}

/// A command with its words as they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Range<usize>>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Range<usize>,
    /// `[[ .. ]]`: its words are no program.
    pub(crate) is_test: bool,
}

/// What is around commands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    Group,
    Subshell,
    Condition,
    Loop,
    For { variable: Range<usize>, words: Vec<Range<usize>>, is_positional: bool },
    Case,
    Function(Range<usize>),
}

/// One step of a script.
#[derive(Debug)]
pub(crate) enum Step {
    Simple(Box<Simple>),
    /// The index of its end, and redirects after the end.
    Open {
        block: Block,
        close: usize,
        redirects: Vec<Redirect>,
    },
    Close,
    /// The step before feeds the next.
    Pipe,
    /// `&&`: what follows may not run.
    And,
    /// `||`: what follows may not run.
    Or,
    /// `&`.
    Background,
    /// `;`.
    End,
    /// A new line.
    Line,
    /// An arithmetic expression or the word of a `case`: only its substitutions run.
    Words(Range<usize>),
}

/// A script.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    /// Whether all of it was understood.
    pub(crate) is_complete: bool,
}

pub(crate) fn parse(source: &Source, range: Range<usize>) -> Script {
    let mut parser = Parser {
        source,
        bytes: source.text.as_bytes(),
        at: range.start,
        end: range.end.min(source.text.len()),
        script: Script { steps: Vec::new(), is_complete: true },
        stack: Vec::new(),
        current: None,
        function: None,
        closed: None,
    };
    parser.run();
    parser.script
}

struct Open {
    step: usize,
    block: Kind,
    /// In a `case`: patterns come next.
    is_pattern: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Brace,
    Paren,
    If,
    Loop,
    Case,
}

struct Parser<'a> {
    source: &'a Source,
    bytes: &'a [u8],
    at: usize,
    end: usize,
    script: Script,
    stack: Vec<Open>,
    current: Option<Simple>,
    /// The name of a function whose body comes next.
    function: Option<Range<usize>>,
    /// The opening step of a block that has just ended: redirects are its own.
    closed: Option<usize>,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        (at < self.end).then(|| self.bytes.get(at).copied()).flatten()
    }

    fn run(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => self.comment(),
                b'\n' | b';' | b'&' | b'|' => self.separator(byte),
                b'(' => self.paren(),
                b')' => self.close_paren(),
                b'<' | b'>' => {
                    if self.peek(1) == Some(b'(') {
                        self.word();
                    } else {
                        self.redirect(self.at, None);
                    }
                }
                _ => self.word(),
            }
        }
        self.flush();
        while let Some(open) = self.stack.pop() {
            self.script.is_complete = false;
            self.close(&open);
        }
    }

    fn comment(&mut self) {
        let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Ends the current command.
    fn flush(&mut self) {
        self.closed = None;
        if let Some(simple) = self.current.take() {
            self.script.steps.push(Step::Simple(Box::new(simple)));
        }
    }

    fn separator(&mut self, byte: u8) {
        let next = self.peek(1);
        if byte == b'&' && next == Some(b'>') {
            return self.redirect(self.at, None);
        }
        self.flush();
        let (step, length) = match (byte, next) {
            (b';', Some(b';')) => {
                if let Some(open) = self.stack.last_mut()
                    && open.block == Kind::Case
                {
                    open.is_pattern = true;
                }
                (Step::End, 2 + usize::from(self.peek(2) == Some(b'&')))
            }
            (b';', Some(b'&')) => {
                if let Some(open) = self.stack.last_mut()
                    && open.block == Kind::Case
                {
                    open.is_pattern = true;
                }
                (Step::End, 2)
            }
            (b'&', Some(b'&')) => (Step::And, 2),
            (b'|', Some(b'|')) => (Step::Or, 2),
            (b'|', Some(b'&')) => (Step::Pipe, 2),
            (b'|', _) => (Step::Pipe, 1),
            (b'&', _) => (Step::Background, 1),
            (b'\n', _) => (Step::Line, 1),
            _ => (Step::End, 1),
        };
        self.at += length;
        let in_pattern = self.stack.last().is_some_and(|open| open.is_pattern);
        if !in_pattern {
            // A line may end after `|`, `&&` and `||`.
            let goes_on = byte == b'\n'
                && matches!(self.script.steps.last(), Some(Step::Pipe | Step::And | Step::Or));
            if !goes_on {
                self.script.steps.push(step);
            }
        }
    }

    fn is_start(&self) -> bool {
        self.current.is_none()
    }

    fn open(&mut self, kind: Kind, block: Block) {
        let block = match self.function.take() {
            Some(name) => Block::Function(name),
            None => block,
        };
        let step = self.script.steps.len();
        self.script.steps.push(Step::Open { block, close: step, redirects: Vec::new() });
        self.stack.push(Open { step, block: kind, is_pattern: kind == Kind::Case });
    }

    fn close(&mut self, open: &Open) {
        let end = self.script.steps.len();
        self.script.steps.push(Step::Close);
        if let Some(Step::Open { close, .. }) = self.script.steps.get_mut(open.step) {
            *close = end;
        }
    }

    /// Ends the innermost construct of a kind, and what was left open in it.
    fn close_kind(&mut self, kind: Kind) {
        self.flush();
        let Some(depth) = self.stack.iter().rposition(|open| open.block == kind) else {
            self.script.is_complete = false;
            return;
        };
        while self.stack.len() > depth {
            let Some(open) = self.stack.pop() else { break };
            self.script.is_complete &= self.stack.len() == depth;
            self.close(&open);
            self.closed = Some(open.step);
        }
    }

    fn paren(&mut self) {
        if self.stack.last().is_some_and(|open| open.is_pattern) {
            self.at += 1;
            return;
        }
        // `name ()`.
        if let Some(simple) = &self.current
            && simple.words.len() == 1
            && simple.redirects.is_empty()
            && let Some(name) = simple.words.first().cloned()
        {
            let rest = self.bytes.get(self.at + 1..self.end).unwrap_or_default();
            let blanks = rest.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
            if rest.get(blanks) == Some(&b')') {
                self.at += blanks + 2;
                self.current = None;
                self.function = Some(name);
                self.blanks_and_lines();
                return;
            }
        }
        if !self.is_start() {
            self.script.is_complete = false;
            self.flush();
        }
        if self.peek(1) == Some(b'(')
            && let Some((end, Nest::Arithmetic)) = self.source.nested(self.at)
        {
            let start = self.at;
            self.at = end.min(self.end);
            self.function = None;
            self.script.steps.push(Step::Words(start + 2..self.at));
            return;
        }
        self.at += 1;
        self.open(Kind::Paren, Block::Subshell);
    }

    fn blanks_and_lines(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => self.comment(),
                _ => return,
            }
        }
    }

    fn close_paren(&mut self) {
        self.at += 1;
        if let Some(open) = self.stack.last_mut()
            && open.block == Kind::Case
            && (open.is_pattern || self.current.is_none())
        {
            open.is_pattern = false;
            self.current = None;
            return;
        }
        self.close_kind(Kind::Paren);
    }

    fn redirect(&mut self, start: usize, descriptor: Option<u32>) {
        let both = self.peek(0) == Some(b'&');
        self.at += usize::from(both);
        let operator_at = self.at;
        let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
        let (mut operator, length) = match rest {
            [b'<', b'<', b'<', ..] => (Operator::String, 3),
            [b'<', b'<', b'-', ..] => (Operator::Document, 3),
            [b'<', b'<', ..] => (Operator::Document, 2),
            [b'<', b'>', ..] => (Operator::Both, 2),
            [b'<' | b'>', b'&', ..] => (Operator::Duplicate, 2),
            [b'>', b'>', ..] => (if both { Operator::WriteAll } else { Operator::Append }, 2),
            [b'>', b'|', ..] => (Operator::Write, 2),
            [b'>', ..] => (if both { Operator::WriteAll } else { Operator::Write }, 1),
            _ => (Operator::Read, 1),
        };
        self.at += length;
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let target = self.at..self.word_end();
        self.at = target.end;
        if operator == Operator::Duplicate {
            let text = self.source.slice(target.clone());
            let is_descriptor = text.trim_end_matches('-').bytes().all(|it| it.is_ascii_digit());
            let is_write = rest.first() == Some(&b'>');
            if !is_descriptor && is_write && !text.starts_with('$') {
                operator = Operator::WriteAll;
            }
        }
        let redirect = Redirect { operator, descriptor, target: target.clone(), at: operator_at };
        if let Some(step) = self.closed
            && self.current.is_none()
        {
            if let Some(Step::Open { redirects, .. }) = self.script.steps.get_mut(step) {
                redirects.push(redirect);
            }
            return;
        }
        let simple = self.current(start);
        simple.redirects.push(redirect);
        simple.span.end = target.end;
    }

    fn current(&mut self, start: usize) -> &mut Simple {
        self.current.get_or_insert_with(|| Simple { span: start..start, ..Simple::default() })
    }

    /// The end of the word at this place.
    fn word_end(&self) -> usize {
        let mut at = self.at;
        while at < self.end {
            let Some(byte) = self.bytes.get(at).copied() else { break };
            match byte {
                b'\\' => at += 2,
                b'\'' => {
                    let rest = self.bytes.get(at + 1..self.end).unwrap_or_default();
                    at += 2 + memchr::memchr(b'\'', rest).unwrap_or(rest.len());
                }
                b'"' | b'`' => at = self.source.nested(at).map_or(at + 1, |(end, _)| end),
                b'$' if self.bytes.get(at + 1) == Some(&b'\'') => {
                    at += 2;
                    while at < self.end {
                        match self.bytes.get(at) {
                            Some(b'\\') => at += 2,
                            Some(b'\'') => break,
                            _ => at += 1,
                        }
                    }
                    at += 1;
                }
                b'$' => at = self.source.nested(at).map_or(at + 1, |(end, _)| end),
                b'<' | b'>' if self.bytes.get(at + 1) == Some(&b'(') => {
                    at = self.source.nested(at).map_or(at + 2, |(end, _)| end);
                }
                b'(' if self.is_glob_group(at) => at = self.matching(at),
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => {
                    break;
                }
                _ => at += 1,
            }
        }
        let mut at = at.min(self.end);
        while at < self.end && !self.source.text.is_char_boundary(at) {
            at += 1;
        }
        at
    }

    /// `?(..)`, `*(..)`, `+(..)`, `@(..)`, `!(..)` within a word.
    fn is_glob_group(&self, at: usize) -> bool {
        at > self.at
            && matches!(
                at.checked_sub(1).and_then(|at| self.bytes.get(at)),
                Some(b'?' | b'*' | b'+' | b'@' | b'!')
            )
    }

    /// After the parenthesis that closes the one at `at`.
    fn matching(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = at;
        while at < self.end {
            match self.bytes.get(at) {
                Some(b'(') => depth += 1,
                Some(b')') => {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                Some(b'\n') => return at,
                _ => {}
            }
            at += 1;
        }
        at
    }

    fn word(&mut self) {
        let start = self.at;
        if self.stack.last().is_some_and(|open| open.is_pattern) {
            let end = self.word_end().max(start + 1);
            self.at = end;
            if self.source.slice(start..end) == "esac" {
                self.close_kind(Kind::Case);
            }
            return;
        }
        let may_assign = self.current.as_ref().is_none_or(|it| it.words.is_empty());
        if (may_assign || self.declares_array()) && self.assignment() {
            return;
        }
        let end = self.word_end().max(start + 1).min(self.end.max(start + 1));
        self.at = end;
        let text = self.source.slice(start..end);
        // A number right in front of a redirect, or a name in braces.
        if matches!(self.peek(0), Some(b'<' | b'>')) && self.peek(1) != Some(b'(') {
            let name = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
            if text.bytes().all(|it| it.is_ascii_digit()) {
                return self.redirect(start, text.parse().ok());
            } else if name.is_some_and(is_name) {
                return self.redirect(start, None);
            }
        }
        if self.is_start() && self.reserved(text, start) {
            return;
        }
        self.function = None;
        let simple = self.current(start);
        simple.words.push(start..end);
        simple.span.end = end;
    }

    /// Whether `NAME=(` follows `declare` or its like.
    fn declares_array(&self) -> bool {
        let first = self.current.as_ref().and_then(|it| it.words.first());
        if !first.is_some_and(|it| is_declaration(self.source.slice(it.clone()))) {
            return false;
        }
        let rest = self.bytes.get(self.at..self.end).unwrap_or_default();
        let after = rest.get(name_length(rest)..).unwrap_or_default();
        after.starts_with(b"=(") || after.starts_with(b"+=(")
    }

    /// `NAME=`, `NAME+=` or `NAME[..]=` and its value.
    fn assignment(&mut self) -> bool {
        let start = self.at;
        let rest = self.bytes.get(start..self.end).unwrap_or_default();
        let length = name_length(rest);
        if length == 0 {
            return false;
        }
        let mut after = length;
        if rest.get(after) == Some(&b'[') {
            let line = rest.get(after..).unwrap_or_default();
            let limit = memchr::memchr2(b'\n', b';', line).unwrap_or(line.len());
            let Some(close) = memchr::memchr(b']', line.get(..limit).unwrap_or_default()) else {
                return false;
            };
            after += close + 1;
        }
        let is_append = rest.get(after) == Some(&b'+');
        let equals = after + usize::from(is_append);
        if rest.get(equals) != Some(&b'=') {
            return false;
        }
        let name = start..start + after;
        self.at = start + equals + 1;
        let value = if self.peek(0) == Some(b'(') {
            self.at += 1;
            Value::Array(self.array())
        } else {
            let value = self.at..self.word_end();
            self.at = value.end;
            Value::Word(value)
        };
        let word = start..self.at;
        let simple = self.current(start);
        simple.span.end = word.end;
        simple.assignments.push(Assignment { name, is_append, value, word });
        true
    }

    /// The words up to `)`.
    fn array(&mut self) -> Vec<Range<usize>> {
        let mut words = Vec::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                b')' => {
                    self.at += 1;
                    return words;
                }
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => self.comment(),
                _ => {
                    let start = self.at;
                    self.at = self.word_end().max(start + 1).min(self.end);
                    // `[key]=value`.
                    words.push(start..self.at);
                }
            }
        }
        self.script.is_complete = false;
        words
    }

    /// A word where a command starts. Whether it is a reserved one.
    fn reserved(&mut self, text: &str, start: usize) -> bool {
        if self.closed.is_some() && !matches!(text, "}" | "fi" | "done" | "esac" | "then" | "do") {
            // A command right after a block: a separator is missing.
            self.script.is_complete = false;
            self.closed = None;
        }
        match text {
            "if" => self.open(Kind::If, Block::Condition),
            "while" | "until" => self.open(Kind::Loop, Block::Loop),
            "for" | "select" => self.for_loop(),
            "case" => self.case(),
            "then" | "do" | "else" | "elif" => {}
            "!" => {}
            "time" => {
                self.inline_blanks();
                if self.source.slice(self.at..self.end).starts_with("-p ") {
                    self.at += 2;
                }
            }
            "coproc" => self.coproc(),
            "fi" => self.close_kind(Kind::If),
            "done" => self.close_kind(Kind::Loop),
            "esac" => self.close_kind(Kind::Case),
            "{" => self.open(Kind::Brace, Block::Group),
            "}" => self.close_kind(Kind::Brace),
            "function" => self.function_name(),
            "[[" => self.test(start),
            _ => return false,
        }
        true
    }

    fn inline_blanks(&mut self) {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn function_name(&mut self) {
        self.inline_blanks();
        let name = self.at..self.word_end();
        self.at = name.end;
        self.inline_blanks();
        if self.peek(0) == Some(b'(') {
            self.at += 1;
            self.inline_blanks();
            if self.peek(0) == Some(b')') {
                self.at += 1;
            }
        }
        self.blanks_and_lines();
        self.function = Some(name);
    }

    /// `coproc [NAME] COMMAND`.
    fn coproc(&mut self) {
        self.inline_blanks();
        let start = self.at;
        let end = self.word_end();
        let rest = self.source.slice(end..self.end).trim_start_matches([' ', '\t']);
        let name = self.source.slice(start..end);
        if is_name(name) && (rest.starts_with('(') || rest.starts_with("{ ")) {
            self.at = end;
        }
    }

    fn for_loop(&mut self) {
        self.inline_blanks();
        if self.peek(0) == Some(b'(') && self.peek(1) == Some(b'(') {
            let start = self.at;
            let text = self.source.slice(self.at..self.end);
            let end = self.source.nested(start).map_or_else(
                || start + text.find("))").map_or(text.len(), |it| it + 2),
                |(end, _)| end,
            );
            self.at = end.min(self.end);
            self.script.steps.push(Step::Words(start..self.at));
            return self.open(Kind::Loop, Block::Loop);
        }
        let variable = self.at..self.word_end();
        self.at = variable.end;
        self.blanks_and_lines();
        let mut words = Vec::new();
        let mut is_positional = true;
        let end = self.word_end();
        if self.source.slice(self.at..end) == "in" {
            is_positional = false;
            self.at = end;
            while let Some(byte) = self.peek(0) {
                match byte {
                    b' ' | b'\t' | b'\r' => self.at += 1,
                    b'\n' | b';' | b'&' | b'|' | b')' => break,
                    b'(' => self.at += 1,
                    b'<' | b'>' if self.peek(1) != Some(b'(') => self.at += 1,
                    _ => {
                        let start = self.at;
                        self.at = self.word_end().max(start + 1).min(self.end);
                        words.push(start..self.at);
                    }
                }
            }
        }
        self.open(Kind::Loop, Block::For { variable, words, is_positional });
    }

    fn case(&mut self) {
        self.inline_blanks();
        let start = self.at;
        self.at = self.word_end();
        self.script.steps.push(Step::Words(start..self.at));
        self.blanks_and_lines();
        let end = self.word_end();
        if self.source.slice(self.at..end) == "in" {
            self.at = end;
        } else {
            self.script.is_complete = false;
        }
        self.open(Kind::Case, Block::Case);
    }

    /// `[[` up to `]]`, where `<`, `(` and `&&` are operators of the test.
    fn test(&mut self, start: usize) {
        let mut simple = Simple { span: start..self.at, is_test: true, ..Simple::default() };
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'<' | b'>' | b'(' | b')' | b'|' | b'&' | b';' => {
                    // A test has no `;`: it was never closed.
                    if matches!(byte, b';') {
                        self.script.is_complete = false;
                        break;
                    }
                    self.at += 1;
                }
                _ => {
                    let from = self.at;
                    self.at = self.word_end().max(from + 1).min(self.end);
                    if self.source.slice(from..self.at) == "]]" {
                        simple.span.end = self.at;
                        self.script.steps.push(Step::Simple(Box::new(simple)));
                        return;
                    }
                    simple.words.push(from..self.at);
                }
            }
        }
        self.script.is_complete = false;
        simple.span.end = self.at;
        self.script.steps.push(Step::Simple(Box::new(simple)));
    }
}

/// Whether a builtin sets variables that it is given.
pub(crate) fn is_declaration(name: &str) -> bool {
    matches!(name, "export" | "declare" | "local" | "readonly" | "typeset")
}

/// How many bytes at the start are a variable's name.
pub(crate) fn name_length(bytes: &[u8]) -> usize {
    if !bytes.first().is_some_and(|it| it.is_ascii_alphabetic() || *it == b'_') {
        return 0;
    }
    bytes.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count()
}

pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text.as_bytes()) == text.len()
}
