//! Calls in a program, and what their arguments are.

use super::Language;
use super::code::Piece;
use super::code::{arguments, closing, split_marks};
use crate::env::Env;
use crate::expand::{Escapes, unescape};
use crate::value::HOLE;
use std::collections::HashMap;

/// A program and what is known of it.
pub(super) struct Scan<'a> {
    pub(super) language: Language,
    pub(super) names: HashMap<String, String>,
    pub(super) bare: &'a str,
    pub(super) pieces: &'a [Piece],
    pub(super) arguments: &'a [String],
}

/// A call: its name, the code of its arguments with texts replaced, and where its texts are.
pub(super) struct Call {
    pub(super) name: String,
    /// The code in the parentheses; `""` stands for each text.
    pub(super) code: String,
    /// The texts in it, by their place among all.
    pub(super) texts: Vec<usize>,
    /// The place of the text in front of it, for `Path("x").unlink()`.
    pub(super) previous: Option<usize>,
    pub(super) before: String,
}

impl Scan<'_> {
    /// Calls in the order of the program.
    pub(super) fn found(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        // One string with a mark for each text.
        let mut flat = String::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            flat.push_str(&piece.before);
            if piece.quote == '`'
                && !matches!(self.language, Language::JavaScript | Language::Python)
            {
                flat.push_str(" system(");
                flat.push_str(&format!("\u{1}{index}\u{2})"));
            } else if piece.quote != ' ' {
                flat.push_str(&format!("\u{1}{index}\u{2}"));
            }
        }
        if let Some(last) = self.pieces.last() {
            flat.push_str(&last.rest);
        }
        let bytes = flat.as_bytes();
        let is_name = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'!' | b'?' | b'>')
        };
        let mut at = 0;
        while at < bytes.len() && calls.len() < 512 {
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
                calls.push(Call { name, code, texts, previous, before: tail });
            }
            at += 1;
        }
        calls
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
            text = holes(&text, "{", '}');
        } else if self.language == Language::Ruby && piece.quote != '\'' {
            text = holes(&text, "#{", '}');
        } else if self.language == Language::JavaScript && piece.quote == '`' {
            text = holes(&text, "${", '}');
        } else if matches!(self.language, Language::Perl | Language::Php) && piece.quote != '\'' {
            text = text
                .replace("$ENV{HOME}", env.home().unwrap_or("~"))
                .replace("$ENV{'HOME'}", env.home().unwrap_or("~"));
            text = variables(&text, &self.names);
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
                _ if self.names.contains_key(word) || self.names.contains_key(last) => {
                    let value = self.names.get(word).or_else(|| self.names.get(last));
                    out.push_str(value.map_or("", String::as_str));
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

impl Call {
    /// The value of each argument, lists taken apart.
    pub(super) fn values(&self, scan: &Scan<'_>, env: &Env) -> Vec<String> {
        let mut texts = self.texts.iter();
        let mut values = Vec::new();
        for part in arguments(&self.code) {
            // Keyword arguments and options.
            let trimmed = part.trim().trim_start_matches(['[', '(']);
            let is_keyword = trimmed.split_once(['=', ':']).is_some_and(|(name, value)| {
                !name.trim().is_empty()
                    && name
                        .trim()
                        .chars()
                        .all(|c| c.is_alphanumeric() || c == '_' || c == ' ' || c == '{')
                    && !name.starts_with('\u{1}')
                    && !value.starts_with([':', '='])
            });
            let is_options = trimmed.starts_with('{');
            if is_keyword || is_options {
                for _ in 0..part.matches('\u{1}').count() {
                    texts.next();
                }
                continue;
            }
            values.push(scan.evaluate(part, &mut texts, env));
        }
        values.retain(|it| !it.is_empty());
        values
    }

    /// The paths that the call is given.
    pub(super) fn targets(&self, scan: &Scan<'_>, env: &Env) -> Vec<String> {
        let mut values = self.values(scan, env);
        if values.is_empty()
            && let Some(subject) = self.subject(scan, env)
        {
            values.push(subject);
        }
        values
    }

    /// `x` in `Path("x").unlink()`.
    pub(super) fn subject(&self, scan: &Scan<'_>, env: &Env) -> Option<String> {
        let chained = self.before.trim_end().ends_with([')', '.'])
            || self.name.starts_with('.')
            || self.before.ends_with('\u{2}');
        if !chained {
            let variable = self.name.rsplit_once('.').map(|(variable, _)| variable)?;
            return scan.names.get(variable).cloned();
        }
        let expression = self.before.rsplit([';', '\n', '=', ',']).next().unwrap_or_default();
        if expression.contains(".home()") && !expression.contains('\u{1}') {
            return env.home().map(str::to_owned);
        }
        let (code, texts) = split_marks(expression);
        if texts.is_empty() {
            return self.previous.map(|index| expand_home(&scan.text(index, env), env));
        }
        Some(scan.evaluate(&code, &mut texts.iter(), env))
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

/// Parts that are put in, as holes.
pub(super) fn holes(text: &str, open: &str, close: char) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        out.push_str(before);
        out.push(HOLE);
        rest = after.split_once(close).map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// `$name` in a text, by what is known.
pub(super) fn variables(text: &str, names: &HashMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let length =
            after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
        let name = after.get(..length).unwrap_or_default();
        match names.get(&format!("${name}")) {
            Some(value) => out.push_str(value),
            None if name.is_empty() => out.push('$'),
            None => out.push(HOLE),
        }
        rest = after.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
