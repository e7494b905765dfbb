//! Text without escape sequences.

use std::borrow::Cow;

use memchr::{memchr2, memchr3};

const ESCAPE: u8 = 0x1B;
const BELL: u8 = 0x07;
/// The first byte of U+0080 to U+00BF, of which those below U+00A0 are controls.
const C1_LEAD: u8 = 0xC2;
/// Longest sequence of parameters, in bytes. What is longer isn't one.
const MOST_PARAMETERS: usize = 256;
/// Most of a string sequence that is kept in case it turns out not to be one, in bytes.
const MOST_HELD: usize = 64 * 1024;
/// Longest string sequence, in bytes: images are sent in them.
const MOST_STRING: usize = 4 * 1024 * 1024;

/// Which characters a string sequence holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A command of the operating system: titles, links. A bell ends it too.
    Command,
    /// Device control and its like: only a string terminator ends it.
    Payload,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and a character from the blank to `/`.
    Intermediate,
    /// In the parameters after `ESC [`.
    Parameters,
    String(Kind),
    /// After ESC in a string.
    StringEscape(Kind),
}

/// Takes escape sequences out of text that comes in pieces.
///
/// It knows CSI, OSC, DCS, SOS, PM and APC sequences, charset selections and those of two
/// characters, and the controls U+0080 to U+009F. Of a sequence that is broken off by something
/// that can't belong to it only the introducer goes; one that the text ends in goes whole.
///
/// ```
/// let mut stripper = hermes_terminal::Stripper::default();
/// let mut text = String::new();
/// for piece in ["a\u{1b}[3", "1mb\u{1b}]0;tit", "le\u{7}c"] {
///     stripper.push(piece, &mut |part| text.push_str(part));
/// }
/// assert_eq!(text, "abc");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stripper {
    state: State,
    /// What of the sequence is text if it isn't one.
    held: String,
    /// How long the string sequence is so far, in bytes.
    length: usize,
}

impl Stripper {
    /// Reads the next piece and gives `out` the text in it.
    pub fn push(&mut self, text: &str, out: &mut impl FnMut(&str)) {
        let mut rest = text;
        while !rest.is_empty() {
            rest = match self.state {
                State::Ground => self.ground(rest, out),
                State::Escape => self.escape(rest),
                State::Intermediate | State::Parameters => self.sequence(rest, out),
                State::String(kind) => self.string(kind, rest, out),
                State::StringEscape(kind) => self.string_escape(kind, rest, out),
            };
        }
    }

    /// Ends the text. A sequence that it ends in is dropped, but not the lines after the start of
    /// a string that was never ended.
    pub fn finish(&mut self, out: &mut impl FnMut(&str)) {
        let is_string = matches!(self.state, State::String(_) | State::StringEscape(_));
        if is_string && self.held.contains('\n') {
            self.release(out);
        }
        self.enter(State::Ground);
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.held.clear();
        self.length = 0;
    }

    /// It was no sequence: all but its introducer is text.
    fn release(&mut self, out: &mut impl FnMut(&str)) {
        for part in self.held.split(is_c1).filter(|part| !part.is_empty()) {
            out(part);
        }
        self.enter(State::Ground);
    }

    fn ground<'a>(&mut self, text: &'a str, out: &mut impl FnMut(&str)) -> &'a str {
        let bytes = text.as_bytes();
        let mut from = 0;
        while let Some(at) = bytes.get(from..).and_then(|rest| memchr2(ESCAPE, C1_LEAD, rest)) {
            let at = from + at;
            let second = bytes.get(at + 1).copied().unwrap_or_default();
            let (state, length) = match (bytes.get(at), second) {
                (Some(&ESCAPE), _) => (State::Escape, 1),
                (_, 0x9B) => (State::Parameters, 2),
                (_, 0x9D) => (State::String(Kind::Command), 2),
                (_, 0xA0..) => {
                    from = at + 2;
                    continue;
                }
                _ => (State::Ground, 2),
            };
            let (before, rest) = split(text, at);
            if !before.is_empty() {
                out(before);
            }
            self.enter(state);
            return split(rest, length).1;
        }
        out(text);
        ""
    }

    fn escape<'a>(&mut self, text: &'a str) -> &'a str {
        let Some((first, rest)) = first(text) else { return "" };
        let state = match first {
            '[' => State::Parameters,
            ']' => State::String(Kind::Command),
            'P' | 'X' | '^' | '_' => State::String(Kind::Payload),
            '\u{1B}' => State::Escape,
            ' '..='/' => State::Intermediate,
            '0'..='~' => State::Ground,
            _ => {
                self.enter(State::Ground);
                return text;
            }
        };
        self.enter(state);
        if state == State::Intermediate {
            self.held.push(first);
        }
        rest
    }

    /// Parameters or intermediates, and the final character.
    fn sequence<'a>(&mut self, text: &'a str, out: &mut impl FnMut(&str)) -> &'a str {
        let Some((first, rest)) = first(text) else { return "" };
        let (last_inner, first_final) =
            if self.state == State::Parameters { ('?', '@') } else { ('/', '0') };
        if (' '..=last_inner).contains(&first) && self.held.len() < MOST_PARAMETERS {
            self.held.push(first);
            return rest;
        }
        if (first_final..='~').contains(&first) {
            self.enter(State::Ground);
            return rest;
        }
        self.release(out);
        text
    }

    fn string<'a>(&mut self, kind: Kind, text: &'a str, out: &mut impl FnMut(&str)) -> &'a str {
        let bytes = text.as_bytes();
        let mut from = 0;
        let end = loop {
            let rest = bytes.get(from..).unwrap_or_default();
            let Some(at) = memchr3(ESCAPE, BELL, C1_LEAD, rest) else { break text.len() };
            let at = from + at;
            let is_end = match bytes.get(at) {
                Some(&ESCAPE) => true,
                Some(&BELL) => kind == Kind::Command,
                _ => bytes.get(at + 1) == Some(&0x9C),
            };
            if is_end {
                break at;
            }
            from = at + 1;
        };
        let (inner, rest) = split(text, end);
        if let Some(after) = self.hold(inner, out) {
            // It is text again from there on.
            return split(text, end - after).1;
        }
        match rest.as_bytes().first() {
            None => {}
            Some(&ESCAPE) => {
                self.state = State::StringEscape(kind);
                return split(rest, 1).1;
            }
            Some(&BELL) => {
                self.enter(State::Ground);
                return split(rest, 1).1;
            }
            Some(_) => {
                self.enter(State::Ground);
                return split(rest, 2).1;
            }
        }
        rest
    }

    /// Adds to a string. If it can't be one after all: how many bytes of `text` come after it.
    fn hold(&mut self, text: &str, out: &mut impl FnMut(&str)) -> Option<usize> {
        let room = MOST_HELD.saturating_sub(self.held.len());
        let (kept, more) = split(text, text.floor_char_boundary(room));
        let was_full = self.length > self.held.len();
        if !was_full {
            self.held.push_str(kept);
        }
        if !more.is_empty() && !was_full && self.held.contains('\n') {
            self.release(out);
            return Some(more.len());
        }
        let most = MOST_STRING.saturating_sub(self.length);
        let (_, after) = split(text, text.floor_char_boundary(most));
        self.length += text.len() - after.len();
        if after.is_empty() {
            return None;
        }
        self.enter(State::Ground);
        Some(after.len())
    }

    fn string_escape<'a>(
        &mut self,
        kind: Kind,
        text: &'a str,
        out: &mut impl FnMut(&str),
    ) -> &'a str {
        match (kind, first(text)) {
            (_, Some(('\\', rest))) => {
                self.enter(State::Ground);
                return rest;
            }
            (Kind::Command, _) => {
                self.release(out);
                self.state = State::Escape;
            }
            // A multiplexer doubles the escapes of what it passes on.
            (Kind::Payload, Some(('\u{1B}', rest))) => return rest,
            (Kind::Payload, _) => self.state = State::String(kind),
        }
        text
    }
}

const fn is_c1(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9F}')
}

fn first(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    chars.next().map(|first| (first, chars.as_str()))
}

/// At a place that is known to be a boundary.
fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Takes the escape sequences out of a text, as [`Stripper`] does.
///
/// ```
/// assert_eq!(hermes_terminal::strip_ansi("\u{1b}[1;31mred\u{1b}[0m plain"), "red plain");
/// ```
#[must_use]
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| c == '\u{1B}' || is_c1(c)) {
        return Cow::Borrowed(text);
    }
    let mut stripper = Stripper::default();
    let mut out = String::with_capacity(text.len());
    stripper.push(text, &mut |part| out.push_str(part));
    stripper.finish(&mut |part| out.push_str(part));
    Cow::Owned(out)
}

/// Makes a text safe to show: no escape sequences, no control characters but tabs and line feeds,
/// and line feeds alone between lines.
///
/// ```
/// assert_eq!(hermes_terminal::sanitize_display_text("a\u{7}\r\nb\rc\u{7f}"), "a\nb\nc");
/// ```
#[must_use]
pub fn sanitize_display_text(text: &str) -> Cow<'_, str> {
    let text = strip_ansi(text);
    let is_dropped = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n');
    if !text.contains(is_dropped) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\r' {
            chars.next_if_eq(&'\n');
            out.push('\n');
        } else if !is_dropped(c) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
#[path = "ansi_tests.rs"]
mod tests;
