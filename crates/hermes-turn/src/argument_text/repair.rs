//! From a text to the value that it means.

use serde_json::{Map, Value};

use super::report::{Ended, Fault, Repair, RepairReport};
use super::tokens::{Bracket, Stop, Token, Tokens};

/// The deepest arguments accepted, in brackets that are open at the same time. It is what
/// `serde_json` reads.
pub const MAX_DEPTH: usize = 127;

/// What a text turned out to be.
#[derive(Debug)]
pub(super) enum Read {
    /// A complete value, after repairs of its spelling only.
    Whole(Value, RepairReport),
    /// The beginning of a value, with the missing brackets added.
    Closed(Value, RepairReport, Ended),
    /// The beginning of a value, cut where brackets don't help.
    Cut(Ended),
    /// No JSON. `complete` says whether it ends with a closing bracket all the same.
    Fault { fault: Fault, complete: bool },
}

/// Reads argument text, mending what can be mended; with what was mended.
///
/// Valid JSON is returned unchanged, but for three spellings: `null`, `None` and blank text mean
/// no arguments, hence `{}`, and a string that holds the text of an object is that object.
/// Values that are no object are returned too; a tool can't be called with them.
///
/// Mended are: commas before a closing bracket, brackets too many at the end, single quotes,
/// `True`, `False` and `None`, control characters and stray backslashes in strings, half
/// surrogate pairs, and a code fence around it all. Brackets that are missing at the end are added
/// if the text ends after a complete value; [`RepairReport::is_cut`] tells, and such arguments must
/// not be run. Everything else is `None`: text that ends inside a string or before a value, two
/// values in a row, words, `NaN`, two commas in a row, nesting deeper than [`MAX_DEPTH`].
///
/// ```
/// use hermes_turn::argument_text::repair_json_args;
/// use serde_json::json;
///
/// let (args, report) = repair_json_args("{'path': 'a.txt', \"all\": True,}").unwrap();
/// assert_eq!(args, json!({"path": "a.txt", "all": true}));
/// assert_eq!(report.to_string(), "trailing_comma, quotes, literals");
/// assert!(repair_json_args(r#"{"command": "rm -rf /tmp/x"#).is_none());
/// ```
#[must_use]
pub fn repair_json_args(raw: &str) -> Option<(Value, RepairReport)> {
    match read(raw) {
        Read::Whole(value, report) | Read::Closed(value, report, _) => Some((value, report)),
        Read::Cut(_) | Read::Fault { .. } => None,
    }
}

/// Reads argument text.
pub(super) fn read(raw: &str) -> Read {
    match read_once(raw) {
        Read::Whole(Value::Null, report) => Read::Whole(Value::Object(Map::new()), report),
        Read::Whole(Value::String(text), report) => decode_again(text, report),
        read => read,
    }
}

/// The object whose JSON text is `text`; else `text` itself.
fn decode_again(text: String, mut report: RepairReport) -> Read {
    // Prose and paths needn't be searched for JSON.
    if text.trim_start().starts_with('{') {
        match read_once(&text) {
            Read::Whole(value @ Value::Object(_), inner) => {
                report.merge(inner);
                report.note(Repair::DoubleEncoded);
                return Read::Whole(value, report);
            }
            Read::Closed(value @ Value::Object(_), inner, ended) => {
                report.merge(inner);
                report.note(Repair::DoubleEncoded);
                return Read::Closed(value, report, ended);
            }
            _ => {}
        }
    }
    Read::Whole(Value::String(text), report)
}

/// Reads one level of JSON text. Blank text is null.
fn read_once(raw: &str) -> Read {
    let text = raw.trim();
    if text.is_empty() {
        return Read::Whole(Value::Null, RepairReport::default());
    }
    // Nearly every text is JSON, and nothing reads that faster.
    if let Ok(value) = serde_json::from_str(text) {
        return Read::Whole(value, RepairReport::default());
    }
    let fenced = unfence(text);
    let body = fenced.as_ref().map_or(text, |fenced| fenced.body);
    let before_body = raw.len() - raw.trim_start().len() + fenced.as_ref().map_or(0, |it| it.start);
    let mut read = Reader::read(body).unwrap_or_else(|(reason, at)| Read::Fault {
        fault: Fault::new(reason, raw, before_body + at),
        complete: body.ends_with(['}', ']']),
    });
    if let (Some(fenced), Read::Whole(_, report) | Read::Closed(_, report, _)) =
        (&fenced, &mut read)
    {
        report.note(Repair::CodeFence);
        if !fenced.closed {
            report.note_cut();
        }
    }
    match read {
        Read::Whole(value, report) if report.is_cut() => {
            Read::Closed(value, report, Ended::InFence)
        }
        read => read,
    }
}

/// The inside of a code fence.
struct Fenced<'t> {
    body: &'t str,
    /// The byte at which it starts.
    start: usize,
    /// Whether the closing fence is there.
    closed: bool,
}

/// The inside of a code fence around `text`, if there is one.
fn unfence(text: &str) -> Option<Fenced<'_>> {
    const FENCE: &str = "```";
    let inside = text.strip_prefix(FENCE)?.trim_start_matches('`');
    // The language; what isn't followed by a blank or a bracket is content.
    let unnamed = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let named = unnamed.is_empty() || unnamed.starts_with([' ', '\t', '\r', '\n', '{', '[']);
    let content = if named { unnamed } else { inside }.trim_start();
    let closed = content.ends_with(FENCE);
    Some(Fenced {
        body: content.trim_end_matches('`').trim_end(),
        start: text.len() - content.len(),
        closed,
    })
}

/// What may come next.
#[derive(Debug, Clone, Copy)]
enum Expect {
    /// The value that is the whole text.
    Top,
    /// The first item of a list, or its end.
    ItemOrEnd,
    /// An item after a comma; its end makes that comma a trailing one.
    Item,
    KeyOrEnd,
    Key,
    Colon,
    FieldValue,
    CommaOrEnd,
    /// Nothing.
    Nothing,
}

/// A list or object that isn't closed yet.
enum Open {
    List(Vec<Value>),
    Object { map: Map<String, Value>, key: String },
}

impl Open {
    fn bracket(&self) -> Bracket {
        match self {
            Self::List(_) => Bracket::Square,
            Self::Object { .. } => Bracket::Curly,
        }
    }

    fn close(self) -> Value {
        match self {
            Self::List(items) => Value::Array(items),
            Self::Object { map, .. } => Value::Object(map),
        }
    }
}

/// Puts tokens together. The containers are a stack of its own, so that nesting costs no calls.
struct Reader {
    open: Vec<Open>,
    expect: Expect,
    top: Value,
}

impl Reader {
    /// Reads the text between blanks and fences.
    ///
    /// # Errors
    /// What is wrong, and the byte at which it is.
    fn read(text: &str) -> Result<Read, (&'static str, usize)> {
        let mut tokens = Tokens::new(text);
        let mut reader = Self { open: Vec::new(), expect: Expect::Top, top: Value::Null };
        loop {
            match tokens.next() {
                Ok(Some(token)) => reader
                    .take(token, &mut tokens.report)
                    .map_err(|reason| (reason, tokens.start()))?,
                Ok(None) => return Ok(reader.finish(tokens.report)),
                // Cut text is told from wrong text only as long as nothing was wrong before.
                Err(Stop::Cut(ended)) if reader.admits_scalar(ended) => {
                    return Ok(Read::Cut(ended));
                }
                Err(Stop::Cut(_)) => return Err((reader.wanted(), tokens.start())),
                Err(Stop::Fault(reason)) => return Err((reason, tokens.start())),
            }
        }
    }

    /// Whether a token that the end of the text cut may stand here.
    fn admits_scalar(&self, cut: Ended) -> bool {
        match self.expect {
            Expect::Top | Expect::ItemOrEnd | Expect::Item | Expect::FieldValue => true,
            Expect::KeyOrEnd | Expect::Key => cut == Ended::InString,
            Expect::Colon | Expect::CommaOrEnd | Expect::Nothing => false,
        }
    }

    fn take(&mut self, token: Token, report: &mut RepairReport) -> Result<(), &'static str> {
        use Expect::{Colon, CommaOrEnd, FieldValue, Item, ItemOrEnd, Key, KeyOrEnd, Nothing, Top};
        match (self.expect, token) {
            (Top | ItemOrEnd | Item | FieldValue, Token::Open(bracket)) => self.open(bracket)?,
            (Top | ItemOrEnd | Item | FieldValue, Token::Text(text)) => {
                self.add(Value::String(text));
            }
            (Top | ItemOrEnd | Item | FieldValue, Token::Scalar(value)) => self.add(value),
            (KeyOrEnd | Key, Token::Text(text)) => {
                if let Some(Open::Object { key, .. }) = self.open.last_mut() {
                    *key = text;
                }
                self.expect = Colon;
            }
            (Colon, Token::Colon) => self.expect = FieldValue,
            (CommaOrEnd, Token::Comma) => {
                let in_list = matches!(self.open.last(), Some(Open::List(_)));
                self.expect = if in_list { Item } else { Key };
            }
            (ItemOrEnd | Item | KeyOrEnd | Key | CommaOrEnd, Token::Close(bracket)) => {
                let Some(open) = self.open.pop_if(|open| open.bracket() == bracket) else {
                    return Err("a bracket of the wrong kind");
                };
                if matches!(self.expect, Item | Key) {
                    report.note(Repair::TrailingComma);
                }
                self.add(open.close());
            }
            (Nothing, Token::Close(_)) if self.top.is_object() || self.top.is_array() => {
                report.note(Repair::SurplusClosers);
                // Only further ones may follow.
            }
            _ => return Err(self.wanted()),
        }
        Ok(())
    }

    fn open(&mut self, bracket: Bracket) -> Result<(), &'static str> {
        if self.open.len() >= MAX_DEPTH {
            return Err("nesting that is too deep");
        }
        let (open, expect) = match bracket {
            Bracket::Square => (Open::List(Vec::new()), Expect::ItemOrEnd),
            Bracket::Curly => {
                (Open::Object { map: Map::new(), key: String::new() }, Expect::KeyOrEnd)
            }
        };
        self.open.push(open);
        self.expect = expect;
        Ok(())
    }

    fn add(&mut self, value: Value) {
        self.expect = Expect::CommaOrEnd;
        match self.open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Object { map, key }) => {
                // Of equal keys the last one counts, as with `serde_json`.
                map.insert(std::mem::take(key), value);
            }
            None => {
                self.top = value;
                self.expect = Expect::Nothing;
            }
        }
    }

    /// What is wrong with a token that can't stand here.
    fn wanted(&self) -> &'static str {
        match self.expect {
            Expect::Top | Expect::Item | Expect::ItemOrEnd | Expect::FieldValue => {
                "no value where one should be"
            }
            Expect::KeyOrEnd | Expect::Key => "no key in quotes where one should be",
            Expect::Colon => "no colon after a key",
            Expect::CommaOrEnd => "no comma between two values",
            Expect::Nothing => "more text after the value",
        }
    }

    /// The text has ended.
    fn finish(mut self, mut report: RepairReport) -> Read {
        match self.expect {
            Expect::Nothing => Read::Whole(self.top, report),
            Expect::CommaOrEnd | Expect::Item | Expect::Key => {
                if !matches!(self.expect, Expect::CommaOrEnd) {
                    report.note(Repair::TrailingComma);
                }
                while let Some(open) = self.open.pop() {
                    self.add(open.close());
                }
                report.note(Repair::ClosersAdded);
                report.note_cut();
                Read::Closed(self.top, report, Ended::InContainer)
            }
            Expect::Top
            | Expect::ItemOrEnd
            | Expect::KeyOrEnd
            | Expect::Colon
            | Expect::FieldValue => Read::Cut(Ended::BeforeValue),
        }
    }
}
