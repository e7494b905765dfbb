//! Cutting a text into the tokens of JSON, with some tolerance.

use serde_json::Value;

use super::report::{Ended, Repair, RepairReport};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Square,
    Curly,
}

#[derive(Debug)]
pub(super) enum Token {
    Open(Bracket),
    Close(Bracket),
    Comma,
    Colon,
    Text(String),
    /// A number, `true`, `false` or `null`.
    Scalar(Value),
}

/// Why there is no further token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// The text ends inside a token.
    Cut(Ended),
    /// What stands there is no token, for this reason.
    Fault(&'static str),
}

/// The words that stand for a value. The second of each pair is Python's spelling.
const WORDS: [(&str, &str, Value); 3] = [
    ("true", "True", Value::Bool(true)),
    ("false", "False", Value::Bool(false)),
    ("null", "None", Value::Null),
];

/// The tokens of a text. Each byte is looked at a fixed number of times.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    start: usize,
    pub(super) report: RepairReport,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, start: 0, report: RepairReport::default() }
    }

    /// The byte at which the token that was read last, or the fault, begins.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next token, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token>, Stop> {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.at += rest.len() - trimmed.len();
        self.start = self.at;
        let Some(first) = trimmed.chars().next() else { return Ok(None) };
        let token = match first {
            '{' => Token::Open(Bracket::Curly),
            '[' => Token::Open(Bracket::Square),
            '}' => Token::Close(Bracket::Curly),
            ']' => Token::Close(Bracket::Square),
            ',' => Token::Comma,
            ':' => Token::Colon,
            '"' => return self.string(b'"').map(|text| Some(Token::Text(text))),
            '\'' => {
                self.report.note(Repair::Quotes);
                return self.string(b'\'').map(|text| Some(Token::Text(text)));
            }
            c if c.is_alphanumeric() || c == '-' => {
                return self.word().map(|value| Some(Token::Scalar(value)));
            }
            _ => return Err(Stop::Fault("a character that doesn't belong there")),
        };
        self.at += 1;
        Ok(Some(token))
    }

    /// A string, from its opening quote on.
    fn string(&mut self, quote: u8) -> Result<String, Stop> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            let end = rest.bytes().position(|byte| byte == quote || byte == b'\\');
            // Both are ASCII, hence no part of another character.
            let (plain, stop) = end.and_then(|end| rest.split_at_checked(end)).unzip();
            let (Some(plain), Some(stop)) = (plain, stop) else {
                return Err(Stop::Cut(Ended::InString));
            };
            if plain.bytes().any(|byte| byte < b' ') {
                self.report.note(Repair::ControlCharacters);
            }
            out.push_str(plain);
            self.at += plain.len() + 1;
            if !stop.starts_with('\\') {
                return Ok(out);
            }
            self.escape(quote, &mut out)?;
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, quote: u8, out: &mut String) -> Result<(), Stop> {
        let Some(kind) = self.rest().chars().next() else {
            return Err(Stop::Cut(Ended::InString));
        };
        let meant = match kind {
            '"' | '\\' | '/' => kind,
            '\'' if quote == b'\'' => kind,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                if let Some(unit) = hex(self.text, self.at + 1) {
                    self.at += 5;
                    let meant = self.surrogates(unit);
                    out.push(meant);
                    return Ok(());
                }
                return self.literal_backslash(out);
            }
            _ => return self.literal_backslash(out),
        };
        out.push(meant);
        self.at += 1;
        Ok(())
    }

    /// A backslash that escapes nothing; what follows it is read as if it weren't there.
    fn literal_backslash(&mut self, out: &mut String) -> Result<(), Stop> {
        self.report.note(Repair::Escapes);
        out.push('\\');
        Ok(())
    }

    /// The character of a UTF-16 unit and, if that is the first half of a pair, of the next one.
    fn surrogates(&mut self, unit: u32) -> char {
        if let Some(c) = char::from_u32(unit) {
            return c;
        }
        let second = self.rest().strip_prefix("\\u").and_then(|_| hex(self.text, self.at + 2));
        match second {
            Some(second @ 0xDC00..=0xDFFF) if unit < 0xDC00 => {
                self.at += 6;
                let joined = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
                char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => {
                self.report.note(Repair::LoneSurrogates);
                char::REPLACEMENT_CHARACTER
            }
        }
    }

    /// A number or one of the words that stand for a value.
    fn word(&mut self) -> Result<Value, Stop> {
        let rest = self.rest();
        let after = rest.trim_start_matches(|c: char| c.is_alphanumeric() || "+-._".contains(c));
        let word = rest.strip_suffix(after).unwrap_or(rest);
        self.at += word.len();
        for (json, python, value) in WORDS {
            if word == json {
                return Ok(value);
            }
            if word == python {
                self.report.note(Repair::Literals);
                return Ok(value);
            }
            if after.is_empty() && (json.starts_with(word) || python.starts_with(word)) {
                return Err(Stop::Cut(Ended::InLiteral));
            }
        }
        if !word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Err(Stop::Fault(match word {
                "NaN" | "Infinity" => NOT_FINITE,
                _ => "a word without quotes",
            }));
        }
        if let Ok(number) = serde_json::from_str(word) {
            return Ok(number);
        }
        // Whether a digit more would make a number: `-`, `1.`, `1e+`.
        if after.is_empty() && serde_json::from_str::<Value>(&format!("{word}0")).is_ok() {
            return Err(Stop::Cut(Ended::InLiteral));
        }
        Err(Stop::Fault(match word {
            "-Infinity" => NOT_FINITE,
            _ => "a number that is misspelt or too large",
        }))
    }
}

const NOT_FINITE: &str = "NaN or Infinity, which JSON doesn't have,";

/// The four hexadecimal digits at byte `at`.
fn hex(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    // `from_str_radix` would admit a sign.
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(digits, 16).ok())?
}
