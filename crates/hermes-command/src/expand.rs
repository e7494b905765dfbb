//! Words as the shell would hand them to a program.

use std::ops::Range;
use std::rc::Rc;

use crate::env::{Env, Unit};
use crate::escapes::{Escapes, unescape};
use crate::judge::Judge;
use crate::source::Nest;
use crate::syntax::name_length;
use crate::value::{Arg, BRACES, Flow, HOLE, SPLIT, Taint, is_private, quoted};

/// Longest text that values are put into, in bytes.
const MOST_BYTES: usize = 64 * 1024;
/// Most words that one word becomes.
const MOST_WORDS: usize = 1024;

/// So many words of one word cost no more than their letters.
const FEW_WORDS: usize = 16;
/// What each word costs otherwise, in bytes.
const BYTES_PER_WORD: usize = 512;

/// A word that is being read.
#[derive(Default)]
pub(crate) struct Word {
    pub(crate) out: String,
    pub(crate) taint: Taint,
    is_quoted: bool,
    /// Whether a list in braces may be in it.
    has_braces: bool,
    file: Option<Box<Flow>>,
}

impl Word {
    /// A part that can't be known. Two of them in a row are no more than one.
    pub(crate) fn unknown(&mut self) {
        if !self.out.ends_with(HOLE) {
            self.out.push(HOLE);
        }
    }
}

/// Where a word is read, and how.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Within double quotes.
    pub(crate) in_double: bool,
    /// As a value: neither split nor multiplied.
    pub(crate) is_value: bool,
}

const PLAIN: Style = Style { in_double: false, is_value: false };

impl Judge {
    /// The arguments that a word becomes.
    pub(crate) fn args(
        &mut self,
        unit: &Rc<Unit>,
        range: &Range<usize>,
        env: &mut Env,
    ) -> Vec<Arg> {
        let text = unit.source.slice(range.clone());
        let is_simple = |byte: u8| {
            byte.is_ascii()
                && !matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`' | b'~' | b'{' | b'<' | b'>')
        };
        if text.bytes().all(is_simple) {
            return vec![Arg::new(text)];
        }
        let mut word = Word::default();
        self.read(unit, range.clone(), env, PLAIN, &mut word);
        if !self.expands(word.out.len()) {
            return vec![Arg::unknown(word.taint)];
        }
        let taint = word.taint;
        let args = finish(word);
        // Lists in braces multiply; so does the work on what they give.
        if args.len() > FEW_WORDS {
            let bytes: usize = args.iter().map(|it| it.marked.len() + BYTES_PER_WORD).sum();
            if !self.expands(bytes) {
                return vec![Arg::unknown(taint)];
            }
        }
        args
    }

    /// A word as one value.
    pub(crate) fn value(&mut self, unit: &Rc<Unit>, range: &Range<usize>, env: &mut Env) -> Arg {
        let mut word = Word::default();
        let style = Style { in_double: false, is_value: true };
        self.read(unit, range.clone(), env, style, &mut word);
        if !self.expands(word.out.len()) {
            return Arg::unknown(word.taint);
        }
        let marked = word.out.replace(SPLIT, " ");
        Arg { marked, taint: word.taint, is_quoted: word.is_quoted, file: word.file }
    }

    /// The text of a here-document or of double quotes.
    pub(crate) fn double(&mut self, unit: &Rc<Unit>, range: Range<usize>, env: &mut Env) -> Flow {
        let mut word = Word::default();
        self.read(unit, range, env, Style { in_double: true, is_value: true }, &mut word);
        let text = crate::value::plain(&word.out.replace(SPLIT, " "));
        Flow { text, taint: word.taint, program: None }
    }

    pub(crate) fn read(
        &mut self,
        unit: &Rc<Unit>,
        range: Range<usize>,
        env: &mut Env,
        style: Style,
        word: &mut Word,
    ) {
        let text = unit.source.text.as_str();
        let end = range.end.min(text.len());
        let mut at = range.start;
        while at < end {
            let rest = text.get(at..end).unwrap_or_default();
            let Some(c) = rest.chars().next() else { break };
            match c {
                '\'' if !style.in_double => {
                    let inner = rest.get(1..).unwrap_or_default();
                    let length = inner.find('\'').unwrap_or(inner.len());
                    word.is_quoted = true;
                    push_quoted(inner.get(..length).unwrap_or_default(), word);
                    at += length + 2;
                }
                '"' if !style.in_double => {
                    word.is_quoted = true;
                    let close = unit.source.nested(at).map_or(end, |(close, _)| close.min(end));
                    let is_closed =
                        text.get(close.saturating_sub(1)..close) == Some("\"") && close > at + 1;
                    let inner = at + 1..(close - usize::from(is_closed)).max(at + 1);
                    let style = Style { in_double: true, ..style };
                    self.read(unit, inner, env, style, word);
                    at = close.max(at + 1);
                }
                '\\' => at += escape(rest, style.in_double, word),
                '$' => at = self.dollar(unit, at, end, env, style, word),
                '`' => {
                    let close = unit.source.nested(at).map_or(end, |(close, _)| close.min(end));
                    let inner = text.get(at + 1..close.saturating_sub(1)).unwrap_or_default();
                    let script = backtick(inner, style.in_double);
                    let flow = self.substitute_text(&script, env);
                    push_flow(&flow, env, style, word);
                    at = close.max(at + 1);
                }
                '<' | '>' if !style.in_double && rest.get(1..2) == Some("(") => {
                    let close = unit.source.nested(at).map_or(end, |(close, _)| close.min(end));
                    let inner = at + 2..close.saturating_sub(1);
                    if c == '<' {
                        let flow = self.substitute(unit, inner, env);
                        word.taint |= flow.taint;
                        word.file = Some(Box::new(flow));
                        word.out.push_str("/dev/fd/63");
                    } else {
                        self.sinks.push((Rc::clone(unit), inner));
                        word.out.push_str("/dev/fd/62");
                    }
                    at = close.max(at + 2);
                }
                '~' if !style.in_double && is_tilde(word, text, at, style) => {
                    at += tilde(rest, env, word);
                }
                '{' | ',' | '}' if !style.in_double && !style.is_value => {
                    word.has_braces |= c == '{';
                    let marked = BRACES.iter().find(|(plain, _)| *plain == c);
                    word.out.push(marked.map_or(c, |(_, marked)| *marked));
                    at += 1;
                }
                _ => {
                    let pushed = if style.in_double { quoted(c) } else { c };
                    word.out.push(if is_private(c) { '\u{FFFD}' } else { pushed });
                    at += c.len_utf8();
                }
            }
        }
    }

    /// What `$` starts; where it ends.
    fn dollar(
        &mut self,
        unit: &Rc<Unit>,
        at: usize,
        end: usize,
        env: &mut Env,
        style: Style,
        word: &mut Word,
    ) -> usize {
        let text = unit.source.text.as_str();
        let rest = text.get(at + 1..end).unwrap_or_default();
        let bytes = rest.as_bytes();
        match bytes.first() {
            Some(b'(' | b'[') => {
                let Some((close, kind)) = unit.source.nested(at) else {
                    word.unknown();
                    return end;
                };
                let close = close.min(end).max(at + 2);
                if kind == Nest::Command {
                    let flow = self.substitute(unit, at + 2..close.saturating_sub(1), env);
                    push_flow(&flow, env, style, word);
                } else {
                    // Only substitutions in it run.
                    let mut inner = Word::default();
                    if self.deeper() {
                        let range = (at + 2).min(close)..close.saturating_sub(1).max(at + 2);
                        self.read(
                            unit,
                            range,
                            env,
                            Style { in_double: true, is_value: true },
                            &mut inner,
                        );
                        self.depth -= 1;
                    }
                    self.expression_text(&inner.out, env);
                    match crate::parameter::arithmetic(&inner.out) {
                        Some(number) => word.out.push_str(&number.to_string()),
                        None => word.unknown(),
                    }
                }
                close
            }
            Some(b'{') => {
                let close = unit.source.nested(at).map_or(end, |(close, _)| close.min(end));
                let close = close.max(at + 2);
                let inner = (at + 2)..close.saturating_sub(1).max(at + 2);
                self.parameter(unit, inner, env, style, word);
                close
            }
            Some(b'\'') if !style.in_double => {
                word.is_quoted = true;
                at + 1 + ansi(rest, word)
            }
            Some(b'"') if !style.in_double => at + 1,
            Some(b'@' | b'*') => {
                self.positionals(0, env, style, word);
                at + 2
            }
            Some(b'0'..=b'9') => {
                self.named(rest.get(..1).unwrap_or_default(), env, style, word);
                at + 2
            }
            Some(b'?' | b'#' | b'$' | b'!' | b'-') => {
                word.unknown();
                at + 2
            }
            _ => {
                let length = name_length(bytes);
                if length == 0 {
                    word.out.push('$');
                    return at + 1;
                }
                self.named(rest.get(..length).unwrap_or_default(), env, style, word);
                at + 1 + length
            }
        }
    }

    /// `$@` from the nth on.
    pub(crate) fn positionals(&mut self, from: usize, env: &Env, style: Style, word: &mut Word) {
        match &env.positionals {
            None => word.unknown(),
            Some(list) => {
                for (index, item) in list.iter().skip(from).enumerate() {
                    if index > 0 {
                        word.out.push(SPLIT);
                    }
                    push_text(item, env, style, word);
                }
            }
        }
    }

    /// A variable by its name.
    pub(crate) fn named(&mut self, name: &str, env: &Env, style: Style, word: &mut Word) {
        if let Ok(number @ 1..) = name.parse::<usize>() {
            match &env.positionals {
                None => word.unknown(),
                Some(list) => {
                    if let Some(item) = list.get(number - 1) {
                        push_text(&item.clone(), env, style, word);
                    }
                }
            }
            return;
        }
        word.taint |= self.names_key(name);
        match env.get(name, self.choice) {
            Some((variable, more)) => {
                self.has_choices |= more;
                word.taint |= variable.taint;
                let text = variable.items.first().cloned().unwrap_or_default();
                push_text(&text, env, style, word);
            }
            None => word.unknown(),
        }
    }
}

/// Adds what a substitution prints.
pub(crate) fn push_flow(flow: &Flow, env: &Env, style: Style, word: &mut Word) {
    word.taint |= flow.taint;
    push_text(flow.text.trim_end_matches('\n'), env, style, word);
}

/// Adds a value; unquoted it is split.
pub(crate) fn push_text(text: &str, env: &Env, style: Style, word: &mut Word) {
    if word.out.len() + text.len() > MOST_BYTES {
        word.unknown();
        return;
    }
    let text = if word.out.ends_with(HOLE) { text.trim_start_matches(HOLE) } else { text };
    if style.in_double || style.is_value {
        push_quoted(text, word);
        return;
    }
    let separators = env.latest("IFS").and_then(|it| it.items.first());
    let separators = separators.map_or(" \t\n", String::as_str);
    for c in text.chars() {
        word.out.push(if separators.contains(c) { SPLIT } else { c });
    }
}

/// Adds a text as it is.
fn push_quoted(text: &str, word: &mut Word) {
    // Our own characters start with the byte 0xEF.
    let bytes = text.as_bytes();
    let is_plain =
        memchr::memchr3(b'*', b'?', b'[', bytes).is_none() && memchr::memchr(0xEF, bytes).is_none();
    if is_plain {
        word.out.push_str(text);
    } else {
        word.out.extend(text.chars().map(quoted));
    }
}

/// A backslash and what it quotes. Its length.
fn escape(rest: &str, in_double: bool, word: &mut Word) -> usize {
    let Some(c) = rest.chars().nth(1) else {
        word.out.push('\\');
        return 1;
    };
    if in_double && !matches!(c, '$' | '`' | '"' | '\\') {
        word.out.push('\\');
        return 1;
    }
    word.is_quoted = true;
    word.out.push(quoted(c));
    1 + c.len_utf8()
}

/// Whether a `~` here stands for a home.
fn is_tilde(word: &Word, text: &str, at: usize, style: Style) -> bool {
    if word.out.is_empty() && !word.is_quoted {
        return true;
    }
    let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    // `if=~/x` isn't expanded by every shell; judged as if it were.
    matches!(before, Some(b'=' | b'{' | b',')) || (style.is_value && before == Some(&b':'))
}

/// `~`, `~user`, `~+`, `~-`. Its length.
fn tilde(rest: &str, env: &Env, word: &mut Word) -> usize {
    let end = rest.find(['/', ':', '"', '\'', '\\', '$', '`', ',', '}']).unwrap_or(rest.len());
    let name = rest.get(1..end).unwrap_or_default();
    let home = match name {
        "" => env.home().map(str::to_owned),
        "+" => env.cwd.clone(),
        "-" => env.previous.clone(),
        "root" => Some("/root".to_owned()),
        _ if name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) => {
            Some(format!("/home/{name}"))
        }
        _ => {
            word.out.push('~');
            return 1;
        }
    };
    match home {
        Some(home) => word.out.push_str(&home),
        None => word.unknown(),
    }
    end
}

/// The script in backticks: one level of backslashes is taken off.
fn backtick(inner: &str, in_double: bool) -> String {
    let mut script = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\'
            && chars
                .peek()
                .is_some_and(|it| matches!(it, '`' | '\\' | '$') || (in_double && *it == '"'))
        {
            script.extend(chars.next());
        } else {
            script.push(c);
        }
    }
    script
}

/// `'..'` after a `$`. Its length.
fn ansi(rest: &str, word: &mut Word) -> usize {
    let mut end = 1;
    let bytes = rest.as_bytes();
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 2,
            b'\'' => break,
            _ => end += 1,
        }
    }
    let inner = rest.get(1..end.min(rest.len())).unwrap_or_default();
    word.out.extend(unescape(inner, Escapes::Ansi).chars().map(quoted));
    (end + 1).min(rest.len())
}

/// The arguments a word stands for.
fn finish(word: Word) -> Vec<Arg> {
    let Word { out, taint, is_quoted, has_braces, mut file } = word;
    let words = if has_braces { crate::names::braces(&out, MOST_WORDS) } else { vec![out] };
    let mut args = Vec::with_capacity(words.len());
    for word in &words {
        if !word.contains(SPLIT) {
            if !word.is_empty() || is_quoted {
                let file = file.take();
                args.push(Arg { marked: word.clone(), taint, is_quoted, file });
            }
            continue;
        }
        for part in word.split(SPLIT).filter(|part| !part.is_empty()) {
            if args.len() >= MOST_WORDS {
                break;
            }
            args.push(Arg { marked: part.to_owned(), taint, is_quoted, file: None });
        }
    }
    args
}
