//! Calls in a program, and what their arguments are.

use super::Language;
use super::call::Call;
use super::code::Piece;
use super::code::{closing, split_marks, whole_arguments};
use super::constant::Reader;
use super::learn::Names;
use super::values::Value;
use crate::env::Env;
use crate::escapes::{Escapes, unescape};
use crate::value::HOLE;
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

/// Longest text that values are put into, in bytes.
const MOST_TEXT: usize = 32 * 1024;

/// Most steps of reading expressions in one program.
const MOST_WORK: usize = 200_000;
/// Most calls that are looked at, and most code in their parentheses, in bytes.
pub(super) const MOST_CALLS: usize = 4096;
const MOST_CODE: usize = 512 * 1024;

/// A program and what is known of it.
pub(super) struct Scan<'a> {
    pub(super) language: Language,
    /// Names that are set to one text.
    pub(super) names: HashMap<String, String>,
    pub(super) bare: &'a str,
    pub(super) pieces: &'a [Piece],
    pub(super) arguments: &'a [String],
    /// The program with a mark for each text.
    pub(super) flat: Rc<String>,
    pub(super) known: Names,
    /// Where in `flat` something is read, which decides what names stand for.
    pub(super) at: Cell<usize>,
    /// Which of the values is taken that a name may stand for there.
    pub(super) choice: Cell<usize>,
    /// Whether there was a further one.
    pub(super) has_choices: Cell<bool>,
    /// How much work may still be done to find out what expressions give.
    pub(super) work: Cell<usize>,
}

/// The program as one code with a mark for each text.
fn flattened(language: Language, pieces: &[Piece]) -> String {
    let mut flat = String::new();
    let add = |flat: &mut String, code: &str| {
        // What looks like a mark is none.
        flat.extend(code.chars().filter(|it| !matches!(it, '\u{1}' | '\u{2}')));
    };
    for (index, piece) in pieces.iter().enumerate() {
        add(&mut flat, &piece.before);
        if piece.quote == '`' && !matches!(language, Language::JavaScript | Language::Python) {
            flat.push_str(&format!(" system(\u{1}{index}\u{2})"));
        } else if piece.quote != ' ' {
            flat.push_str(&format!("\u{1}{index}\u{2}"));
        }
    }
    if let Some(last) = pieces.last() {
        add(&mut flat, &last.rest);
    }
    flat
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        language: Language,
        bare: &'a str,
        pieces: &'a [Piece],
        arguments: &'a [String],
        env: &Env,
    ) -> Self {
        let mut scan = Self {
            language,
            names: constants(pieces, env),
            bare,
            pieces,
            arguments,
            flat: Rc::new(flattened(language, pieces)),
            known: Names::default(),
            at: Cell::new(0),
            choice: Cell::new(0),
            has_choices: Cell::new(false),
            work: Cell::new(MOST_WORK),
        };
        scan.learn(env);
        scan
    }

    /// Whether some more work may be done.
    pub(super) fn works(&self, steps: usize) -> bool {
        let left = self.work.get().saturating_sub(steps);
        self.work.set(left);
        left > 0
    }

    /// Calls in the order of the program, and whether that is all of them.
    pub(super) fn found(&self) -> (Vec<Call>, bool) {
        let mut calls = Vec::new();
        let flat = self.flat.as_str();
        let bytes = flat.as_bytes();
        let is_name = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'!' | b'?' | b'>')
        };
        let mut at = 0;
        let mut code_left = MOST_CODE;
        while at < bytes.len() && calls.len() < MOST_CALLS && code_left > 0 {
            let Some(byte) = bytes.get(at) else { break };
            // Without parentheses: `unlink "x"`, `system "x"`, `rm_rf 'x'`.
            let is_open = *byte == b'(';
            let is_space = matches!(byte, b' ' | 1)
                && at > 0
                && matches!(
                    self.language,
                    Language::Perl
                        | Language::Ruby
                        | Language::Lua
                        | Language::AppleScript
                        | Language::Php
                        | Language::Other
                );
            if !is_open && !is_space {
                at += 1;
                continue;
            }
            let mut start = at;
            while start > 0 && bytes.get(start - 1).is_some_and(|it| *it == b' ') {
                start -= 1;
            }
            let end = start;
            while start > 0 && bytes.get(start - 1).is_some_and(|it| is_name(*it)) {
                start -= 1;
            }
            let mut name = flat
                .get(start..end)
                .unwrap_or_default()
                .trim_start_matches(['.', ':', '>'])
                .trim_end_matches(['!', '?'])
                .to_owned();
            if name.is_empty() && !is_open {
                at += 1;
                continue;
            }
            if self.language == Language::AppleScript
                && flat.get(..end).unwrap_or_default().ends_with("do shell script")
            {
                name = "do shell script".to_owned();
            }
            let close = if is_open {
                closing(bytes, at)
            } else {
                let rest = flat.get(at..).unwrap_or_default();
                at + rest.find([';', '\n', '}']).unwrap_or(rest.len())
            };
            let inner = flat.get(at + usize::from(is_open)..close).unwrap_or_default();
            if !is_open
                && !matches!(
                    name.rsplit(['.', ':']).next().unwrap_or_default(),
                    "system"
                        | "exec"
                        | "eval"
                        | "unlink"
                        | "rmtree"
                        | "remove_tree"
                        | "rm_rf"
                        | "rm_r"
                        | "delete"
                        | "spawn"
                        | "kill"
                        | "open"
                        | "do shell script"
                        | "execute"
                        | "write"
                        | "chmod"
                        | "rm"
                        | "shell_exec"
                        | "passthru"
                        | "rename"
                        | "rmdir"
                )
            {
                at += 1;
                continue;
            }
            let before = flat.get(..start).unwrap_or_default();
            let previous = before
                .rsplit('\u{1}')
                .next()
                .and_then(|it| it.split('\u{2}').next())
                .and_then(|it| it.parse().ok())
                .filter(|_| before.contains('\u{1}'));
            let (code, texts) = split_marks(inner);
            if !(name.is_empty() || (code.is_empty() && texts.is_empty() && before.is_empty())) {
                let tail: String =
                    before.chars().rev().take(120).collect::<Vec<_>>().into_iter().rev().collect();
                let is_method = flat.get(start..end).is_some_and(|it| it.starts_with(['.', '>']));
                let flat = inner.to_owned();
                code_left = code_left.saturating_sub(flat.len());
                calls.push(Call {
                    name,
                    at: start,
                    is_method,
                    flat,
                    code,
                    texts,
                    previous,
                    before: tail,
                });
            }
            at += 1;
        }
        (calls, at >= bytes.len())
    }

    /// The text at a place, with what is put into it when it runs as a hole.
    pub(super) fn text(&self, index: usize, env: &Env) -> String {
        let Some(piece) = self.pieces.get(index) else { return HOLE.to_string() };
        let is_raw = piece.before.ends_with('r') && self.language == Language::Python
            || (piece.quote == '\''
                && matches!(self.language, Language::Perl | Language::Ruby | Language::Php));
        let mut text =
            if is_raw { piece.text.clone() } else { unescape(&piece.text, Escapes::Ansi) };
        let is_format = piece.before.ends_with(['f', 'F']) && self.language == Language::Python;
        if is_format {
            text = self.put_in(&text, "{", '}');
        } else if self.language == Language::Ruby && piece.quote != '\'' {
            text = self.put_in(&text, "#{", '}');
        } else if self.language == Language::JavaScript && piece.quote == '`' {
            text = self.put_in(&text, "${", '}');
        } else if matches!(self.language, Language::Perl | Language::Php) && piece.quote != '\'' {
            text = text
                .replace("$ENV{HOME}", env.home().unwrap_or("~"))
                .replace("$ENV{'HOME'}", env.home().unwrap_or("~"));
            text = self.variables(&text);
        }
        text
    }

    /// What an expression gives; parts that can't be known are holes.
    pub(super) fn evaluate(
        &self,
        code: &str,
        texts: &mut std::slice::Iter<'_, usize>,
        env: &Env,
    ) -> String {
        let home = env.home().unwrap_or("~").to_owned();
        let mut out = String::new();
        let mut rest = code.trim();
        let joins = code.contains("join(")
            || code.contains("resolve(")
            || code.contains("joinpath(")
            || code.contains("catdir(")
            || code.contains("catfile(");
        while !rest.is_empty() {
            let word_end = rest
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | ':')))
                .unwrap_or(rest.len());
            if let Some(after) = rest.strip_prefix('\u{1}') {
                rest = after;
                let text =
                    texts.next().map_or_else(|| HOLE.to_string(), |index| self.text(*index, env));
                if joins && !out.is_empty() && !out.ends_with('/') && !text.starts_with('/') {
                    out.push('/');
                }
                if joins && text.starts_with('/') {
                    out.clear();
                }
                // `Path("a") / "b"`.
                out.push_str(&text);
                continue;
            }
            if word_end == 0 {
                if rest.starts_with('/') && !out.is_empty() {
                    out.push('/');
                }
                if rest.starts_with('%') && !out.is_empty() {
                    out = out.replace("%s", &HOLE.to_string());
                    // What is put in is in it as a hole.
                    break;
                }
                rest =
                    rest.get(rest.chars().next().map_or(1, char::len_utf8)..).unwrap_or_default();
                continue;
            }
            let word = rest.get(..word_end).unwrap_or_default();
            rest = rest.get(word_end..).unwrap_or_default();
            let last = word.rsplit(['.', ':']).next().unwrap_or(word);
            match word {
                "Path.home" | "pathlib.Path.home" | "os.homedir" | "Dir.home" | "homedir"
                | "process.env.HOME" => {
                    out.push_str(&home);
                    rest = rest.strip_prefix("()").unwrap_or(rest);
                }
                _ if last == "homedir" => out.push_str(&home),
                "require" => {
                    texts.next();
                    rest = rest.split_once(')').map_or(rest, |(_, rest)| rest);
                }
                "os.environ" | "os.getenv" | "os.environ.get" | "ENV" | "getenv"
                | "process.env" | "$ENV" | "ENV.fetch" | "$_SERVER" | "$_ENV" => {
                    let name = texts.next().map(|index| self.text(*index, env)).unwrap_or_default();
                    match env.text(&name) {
                        Some(value) => out.push_str(value),
                        None if rest.starts_with("{HOME}") => out.push_str(&home),
                        None => out.push(HOLE),
                    }
                    if let Some(at) = rest.find([')', ']', '}']) {
                        rest = rest.get(at + 1..).unwrap_or_default();
                    }
                }
                _ if matches!(
                    last,
                    "Path"
                        | "PosixPath"
                        | "join"
                        | "expanduser"
                        | "resolve"
                        | "str"
                        | "abspath"
                        | "realpath"
                        | "String"
                        | "normpath"
                        | "path"
                        | "File"
                        | "os"
                        | "pathlib"
                        | "b"
                        | "r"
                        | "f"
                        | "u"
                        | "rb"
                        | "absolute"
                        | "to_s"
                        | "as_posix"
                        | "shlex.split"
                        | "split"
                        | "expand_path"
                        | "glob"
                        | "encode"
                        | "my"
                        | "format"
                        | "joinpath"
                        | "catdir"
                        | "catfile"
                        | "fspath"
                        | "strip"
                        | "trim"
                        | "Pathname"
                        | "cd"
                        | "raw"
                        | "w"
                        | "qw"
                        | "and"
                        | "or"
                        | "if"
                        | "as"
                ) => {}
                _ if self.constant(word).or_else(|| self.constant(last)).is_some() => {
                    let value = self.constant(word).or_else(|| self.constant(last));
                    out.push_str(&value.unwrap_or_default());
                }
                "true" | "True" | "false" | "False" | "None" | "null" => {}
                _ if word.chars().all(|c| c.is_ascii_digit() || c == '.') => {}
                _ => {
                    if (word.starts_with("sys.argv")
                        || word == "process.argv"
                        || word == "ARGV"
                        || word == "$ARGV"
                        || word == "@ARGV"
                        || word == "$argv")
                        && !self.arguments.is_empty()
                    {
                        out.push_str(self.arguments.first().map_or("", String::as_str));
                        if let Some(at) = rest.find(']') {
                            rest = rest.get(at + 1..).unwrap_or_default();
                        }
                    } else if !out.ends_with(HOLE) {
                        out.push(HOLE);
                    }
                }
            }
        }
        expand_home(&out, env)
    }
}

/// Names that are set to a text once: `x = "/"`.
pub(super) fn constants(pieces: &[Piece], env: &Env) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for piece in pieces {
        let before = piece.before.trim_end().trim_end_matches(['r', 'b', 'f']).trim_end();
        let Some(before) = before.strip_suffix('=').map(str::trim_end) else { continue };
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
            .map_or(0, |it| it + 1);
        let name = before.get(start..).unwrap_or_default();
        let after = piece.rest.trim_start();
        let is_alone = after.is_empty()
            || after.starts_with([';', '\n', ',', ')'])
            || piece.rest.starts_with('\n');
        if !name.is_empty() && is_alone {
            let text = unescape(&piece.text, Escapes::Ansi);
            names.insert(name.to_owned(), expand_home(&text, env));
        }
    }
    names
}

pub(super) fn expand_home(text: &str, env: &Env) -> String {
    match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", env.home().unwrap_or("~"))
        }
        _ => text.to_owned(),
    }
}

impl Scan<'_> {
    /// The name of what is called, where the program gives it another one.
    pub(super) fn own_name(&self, call: &Call, env: &Env) -> Option<String> {
        let name = call.name.as_str();
        if call.names_another()
            && let Some(first) = whole_arguments(&call.flat).first()
            && let Some(Value::Text(method)) = Reader::new(self, env, first, 0).whole()
        {
            return Some(method);
        }
        if matches!(self.language, Language::Php | Language::Perl) {
            let before = self.flat.get(..call.at).unwrap_or_default();
            return before.ends_with('$').then(|| self.constant(&format!("${name}"))).flatten();
        }
        if let Some(Value::Name(own)) = self.lookup(name) {
            return Some(own);
        }
        let (first, rest) = name.split_once('.')?;
        match self.lookup(first) {
            Some(Value::Name(own)) => Some(format!("{own}.{rest}")),
            _ => None,
        }
    }

    /// A text with parts that are put into it, as far as they are known.
    fn put_in(&self, text: &str, open: &str, close: char) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            out.push_str(before);
            let (inner, after) = after.split_once(close).unwrap_or((after, ""));
            let name = inner.split(['!', ':']).next().unwrap_or_default().trim();
            match self.constant(name) {
                Some(value) if out.len() + value.len() < MOST_TEXT => out.push_str(&value),
                _ => out.push(HOLE),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// `$name` in a text, by what is known.
    fn variables(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let braced = after.strip_prefix('{').and_then(|it| it.split_once('}'));
            let length =
                after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
            let (name, after) = braced.unwrap_or_else(|| after.split_at(length));
            match self.constant(&format!("${name}")) {
                Some(value) if out.len() + value.len() < MOST_TEXT => out.push_str(&value),
                None if name.is_empty() => out.push('$'),
                _ => out.push(HOLE),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}
