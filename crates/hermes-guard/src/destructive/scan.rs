//! Taking a shell text apart into simple commands, in one pass and without recursion.

mod operators;

use std::mem;
use std::str::Chars;

use super::Script;
use super::judge::{Verdict, is_lost, judge};
use super::wrappers::is_reserved;

/// What ends the part of the text that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closer {
    End,
    Paren,
    /// The values of an array: words, but no command.
    Array,
    Backtick,
    /// A backtick within backticks, which is written with a backslash.
    InnerBacktick,
    /// The end of `${..}`.
    Brace,
}

/// What the word after a redirecting operator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redirect {
    /// A file that is emptied.
    Overwrite,
    /// A descriptor, or else a file that is emptied.
    Duplicate,
    /// A file that is read or appended to.
    Harmless,
    HereText,
    HereDocument {
        strip_tabs: bool,
    },
}

#[derive(Debug, Default)]
struct Command {
    words: Vec<String>,
    word: Option<String>,
    is_quoted: bool,
    redirect: Option<Redirect>,
    here_texts: Vec<String>,
    here_documents: usize,
}

#[derive(Debug)]
struct Frame {
    closer: Closer,
    in_double: bool,
    /// Whether it is `${..}` in double quotes, where a single quote is a character like others.
    was_in_double: bool,
    /// Within `((`, where `>` compares.
    is_arithmetic: bool,
    /// Whether there was a `>` in what seemed to be arithmetic.
    compares: bool,
    /// How many `case` are open, whose patterns end in a parenthesis.
    cases: usize,
    command: Command,
}

impl Frame {
    fn new(closer: Closer) -> Self {
        Self {
            closer,
            in_double: false,
            was_in_double: false,
            is_arithmetic: false,
            compares: false,
            cases: 0,
            command: Command::default(),
        }
    }
}

#[derive(Debug)]
struct HereDocument {
    end: String,
    strip_tabs: bool,
    is_quoted: bool,
    feeds_shell: bool,
}

struct Scanner<'a> {
    chars: Chars<'a>,
    frame: Frame,
    outer: Vec<Frame>,
    here_documents: Vec<HereDocument>,
    scripts: &'a mut Vec<Script>,
    found: bool,
}

/// Whether a command in the text is destructive; texts that commands run are added to `scripts`.
/// Of data only the substitutions run.
pub(super) fn scan(text: &str, is_data: bool, scripts: &mut Vec<Script>) -> bool {
    let mut frame = Frame::new(if is_data { Closer::Array } else { Closer::End });
    frame.in_double = is_data;
    let mut scanner = Scanner {
        chars: text.chars(),
        frame,
        outer: Vec::new(),
        here_documents: Vec::new(),
        scripts,
        found: false,
    };
    while !scanner.found
        && let Some(c) = scanner.chars.next()
    {
        if scanner.frame.in_double || scanner.frame.closer == Closer::Brace {
            scanner.quoted(c, is_data && scanner.outer.is_empty());
        } else {
            scanner.plain(c);
        }
    }
    // What was left open is taken as it stands.
    while !scanner.found && scanner.pop() {}
    scanner.found
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.clone().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.chars.next();
        }
        is_next
    }

    fn push_char(&mut self, c: char) {
        self.frame.command.word.get_or_insert_default().push(c);
    }

    fn push(&mut self, closer: Closer) {
        self.outer.push(mem::replace(&mut self.frame, Frame::new(closer)));
    }

    /// Ends the innermost part; false if there is none.
    fn pop(&mut self) -> bool {
        self.end_command();
        match self.outer.pop() {
            Some(frame) => {
                self.frame = frame;
                true
            }
            None => false,
        }
    }

    /// A character in double quotes or in `${..}`.
    fn quoted(&mut self, c: char, quotes_are_data: bool) {
        let in_double = self.frame.in_double;
        match c {
            '"' if !quotes_are_data => self.frame.in_double = !in_double,
            '}' if !in_double && self.frame.closer == Closer::Brace => {
                self.pop();
            }
            '\'' if !in_double && !self.frame.was_in_double => self.single_quoted(),
            '\\' => self.escaped(),
            '$' => self.dollar(),
            '`' => self.backtick(),
            _ => self.push_char(c),
        }
    }

    /// A character outside of quotes.
    fn plain(&mut self, c: char) {
        match c {
            '\\' => self.escaped(),
            '\'' => {
                self.frame.command.is_quoted = true;
                self.single_quoted();
            }
            '"' => {
                self.frame.command.is_quoted = true;
                self.frame.command.word.get_or_insert_default();
                self.frame.in_double = true;
            }
            '$' => self.dollar(),
            '`' => self.backtick(),
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command();
                self.skip_here_documents();
            }
            '#' if self.frame.command.word.is_none() => {
                let text = self.chars.as_str();
                let line = text.find('\n').unwrap_or(text.len());
                self.chars = text.split_at(line).1.chars();
            }
            '&' if self.take('>') => {
                self.end_word();
                let append = self.take('>');
                let kind = if append { Redirect::Harmless } else { Redirect::Overwrite };
                self.begin_redirect(kind);
            }
            ';' | '&' | '|' => self.end_command(),
            '(' => self.open_paren(),
            ')' => self.close_paren(),
            '<' => self.less_than(),
            '>' => self.greater_than(),
            _ => self.push_char(c),
        }
    }

    fn single_quoted(&mut self) {
        let text = self.chars.as_str();
        let (inside, rest) = match text.split_once('\'') {
            Some((inside, rest)) => (inside, rest),
            None => (text, ""),
        };
        self.frame.command.word.get_or_insert_default().push_str(inside);
        self.chars = rest.chars();
    }

    fn escaped(&mut self) {
        match self.chars.next() {
            Some('`') if self.frame.closer == Closer::InnerBacktick => {
                self.pop();
            }
            Some('`') if self.frame.closer == Closer::Backtick => {
                self.push_char('$');
                self.push(Closer::InnerBacktick);
            }
            Some('\n') | None => {}
            Some(c) => {
                if self.frame.in_double && !matches!(c, '$' | '`' | '"' | '\\') {
                    self.push_char('\\');
                }
                self.frame.command.is_quoted = true;
                self.push_char(c);
            }
        }
    }

    /// After a `$`. What a variable or a substitution gives isn't known: a `$` stands for it.
    fn dollar(&mut self) {
        if !self.frame.in_double && self.peek() == Some('\'') {
            self.chars.next();
            self.ansi_quoted();
            return;
        }
        self.push_char('$');
        if self.take('(') {
            self.push(Closer::Paren);
            if self.take('(') {
                self.push_arithmetic();
            }
        } else if self.take('{') {
            let was_in_double = self.frame.in_double || self.frame.was_in_double;
            self.push(Closer::Brace);
            self.frame.was_in_double = was_in_double;
        }
    }

    /// After `$'`.
    fn ansi_quoted(&mut self) {
        let word = self.frame.command.word.get_or_insert_default();
        while let Some(c) = self.chars.next() {
            match c {
                '\'' => break,
                '\\' => word.extend(self.chars.next()),
                _ => word.push(c),
            }
        }
    }

    fn backtick(&mut self) {
        if self.frame.closer == Closer::Backtick {
            self.pop();
        } else {
            self.push_char('$');
            self.push(Closer::Backtick);
        }
    }

    fn end_word(&mut self) {
        let command = &mut self.frame.command;
        let is_quoted = mem::take(&mut command.is_quoted);
        let Some(word) = command.word.take() else { return };
        match command.redirect.take() {
            None => {
                let is_case = matches!(word.as_str(), "case" | "esac") && !is_quoted;
                if is_case && command.words.iter().all(|word| is_reserved(word)) {
                    self.frame.cases = match word.as_str() {
                        "case" => self.frame.cases + 1,
                        _ => self.frame.cases.saturating_sub(1),
                    };
                }
                command.words.push(word);
            }
            Some(Redirect::Overwrite) => self.found |= is_lost(&word),
            Some(Redirect::Duplicate) => {
                // The number may be in a variable.
                let is_descriptor = word.starts_with('$')
                    || word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                self.found |= !is_descriptor && is_lost(&word);
            }
            Some(Redirect::Harmless) => {}
            Some(Redirect::HereText) => command.here_texts.push(word),
            Some(Redirect::HereDocument { strip_tabs }) => {
                command.here_documents += 1;
                let end = word;
                let document = HereDocument { end, strip_tabs, is_quoted, feeds_shell: false };
                self.here_documents.push(document);
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = mem::take(&mut self.frame.command);
        let is_data = matches!(self.frame.closer, Closer::Array | Closer::Brace);
        if is_data || self.frame.is_arithmetic && self.frame.compares {
            return;
        }
        match judge(&command.words, self.scripts) {
            Verdict::Harmless => {}
            Verdict::Destructive => self.found = true,
            Verdict::ReadsScript => {
                let texts = command.here_texts.into_iter();
                self.scripts.extend(texts.map(|text| Script { text, is_data: false }));
                let own = self.here_documents.iter_mut().rev().take(command.here_documents);
                own.for_each(|document| document.feeds_shell = true);
            }
        }
    }
}
