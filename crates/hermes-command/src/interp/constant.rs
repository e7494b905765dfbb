//! Values of expressions in a program, as far as they are known without running it.
//!
//! One reader for many languages: it knows texts, numbers and lists, how they are joined, and the
//! functions that only change texts. Whatever else it meets has no known value.

use super::Language;
use super::expression::{Scan, expand_home};
use super::values::{Value, paths};
use crate::env::Env;

/// Deepest nesting of an expression that is read.
const MOST_DEPTH: usize = 12;
/// Most items of a list or of arguments.
const MOST_ITEMS: usize = 256;

/// Reads an expression of a program. Texts stand in it as marks.
pub(super) struct Reader<'a, 'b> {
    scan: &'a Scan<'b>,
    env: &'a Env,
    code: &'a str,
    pub(super) at: usize,
    depth: usize,
}

/// An argument with its name, if it has one.
type Given = (Option<String>, Value);

impl<'a, 'b> Reader<'a, 'b> {
    pub(super) fn new(scan: &'a Scan<'b>, env: &'a Env, code: &'a str, at: usize) -> Self {
        Self { scan, env, code, at, depth: 0 }
    }

    /// The value of a whole code; None if there is more than one expression in it.
    pub(super) fn whole(mut self) -> Option<Value> {
        let value = self.expression()?;
        self.rest().trim().is_empty().then_some(value)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.code.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.code.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        let is_blank =
            |byte: u8| matches!(byte, b' ' | b'\t' | b'\r') || (byte == b'\n' && self.depth > 1);
        let bytes = self.code.as_bytes();
        while bytes.get(self.at).is_some_and(|it| is_blank(*it)) {
            self.at += 1;
        }
    }

    /// Operands and what joins them.
    pub(super) fn expression(&mut self) -> Option<Value> {
        if self.depth >= MOST_DEPTH || !self.scan.works(1) {
            return None;
        }
        self.depth += 1;
        let value = self.joined();
        self.depth -= 1;
        value
    }

    fn joined(&mut self) -> Option<Value> {
        let mut value = self.operand()?;
        loop {
            let before = self.at;
            self.blanks();
            let rest = self.rest();
            let language = self.scan.language;
            let operator = match language {
                Language::Perl | Language::Php => ".",
                Language::Lua => "..",
                Language::AppleScript => "&",
                _ => "+",
            };
            let joins = rest.strip_prefix(operator).is_some_and(|it| !it.starts_with(['=', '+']));
            if joins {
                self.at += operator.len();
                value = value.plus(self.operand()?)?;
            } else if rest.starts_with('%') && !rest.starts_with("%=") {
                self.at += 1;
                value = value.filled(self.operand()?);
            } else if rest.starts_with('\u{1}')
                && matches!(language, Language::Python | Language::Ruby | Language::Other)
            {
                value = value.plus(self.operand()?)?;
            } else {
                self.at = before;
                return Some(value);
            }
        }
    }

    fn operand(&mut self) -> Option<Value> {
        self.blanks();
        let value = match self.peek()? {
            1 => self.mark()?,
            b'(' => {
                self.at += 1;
                let mut items = self.items(b')')?;
                if items.len() == 1 {
                    items.pop().map(|(_, value)| value)?
                } else {
                    Value::List(items.into_iter().map(|(_, value)| value).collect())
                }
            }
            b'[' => {
                self.at += 1;
                let items = self.items(b']')?;
                Value::List(items.into_iter().map(|(_, value)| value).collect())
            }
            // A list given as arguments.
            b'*' | b'\\' if self.depth < MOST_DEPTH => {
                self.at += 1;
                self.depth += 1;
                let value = self.operand();
                self.depth -= 1;
                return value;
            }
            b'0'..=b'9' => self.number()?,
            b':' if self.scan.language == Language::Ruby => {
                self.at += 1;
                Value::Text(self.name()?)
            }
            _ => self.named()?,
        };
        self.postfix(value)
    }

    fn mark(&mut self) -> Option<Value> {
        let (number, _) = self.rest().strip_prefix('\u{1}')?.split_once('\u{2}')?;
        self.at += number.len() + 2;
        Some(Value::Text(self.scan.text(number.parse().ok()?, self.env)))
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = rest.get(..length)?;
        self.at += length;
        let value = match word.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok()?,
            None => word.parse().ok()?,
        };
        Some(Value::Number(value))
    }

    /// A name with what is in front of it: `os.path.join`, `$x`, `@list`.
    fn name(&mut self) -> Option<String> {
        let bytes = self.code.as_bytes();
        let start = self.at;
        let is_part = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || byte > 127
        };
        let dots = !matches!(self.scan.language, Language::Perl | Language::Php);
        loop {
            while bytes.get(self.at).is_some_and(|it| is_part(*it)) {
                self.at += 1;
            }
            let rest = self.rest();
            let separator = if rest.starts_with("::") {
                2
            } else {
                usize::from(dots && rest.starts_with('.') && self.at > start)
            };
            let goes_on = bytes
                .get(self.at + separator)
                .is_some_and(|it| it.is_ascii_alphabetic() || matches!(it, b'_' | b'$'));
            if separator == 0 || !goes_on {
                break;
            }
            self.at += separator;
        }
        self.code.get(start..self.at).filter(|it| !it.is_empty()).map(str::to_owned)
    }

    fn named(&mut self) -> Option<Value> {
        let name = self.name()?;
        if self.peek() == Some(1) && name.len() <= 2 {
            // The kind of a text: `f"..."`, `rb"..."`.
            return self.mark();
        }
        if matches!(name.as_str(), "new" | "await" | "my" | "our" | "local" | "return") {
            self.depth += 1;
            let value = if self.depth < MOST_DEPTH { self.operand() } else { None };
            self.depth -= 1;
            return value;
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            let given = self.items(b')')?;
            return Some(self.call(&name, &given));
        }
        let is_bare = matches!(
            name.as_str(),
            "reverse" | "lc" | "uc" | "join" | "sprintf" | "scalar" | "require" | "decode_base64"
        );
        if is_bare && matches!(self.scan.language, Language::Perl | Language::Ruby) {
            let mut given = vec![(None, self.expression()?)];
            while given.len() < MOST_ITEMS {
                self.blanks();
                if self.peek() != Some(b',') {
                    break;
                }
                self.at += 1;
                given.push((None, self.expression()?));
            }
            return Some(self.call(&name, &given));
        }
        if let Some(value) = self.scan.lookup(&name) {
            return Some(value);
        }
        // `list.reverse` of a known list.
        if let Some((receiver, method)) = name.rsplit_once('.') {
            return Some(match self.scan.lookup(receiver) {
                Some(Value::Name(of)) => Value::Name(format!("{of}.{method}")),
                Some(value) => value.method(method, &[]),
                None => Value::Name(name),
            });
        }
        Some(Value::Name(name))
    }

    /// Methods and indices after a value.
    fn postfix(&mut self, mut value: Value) -> Option<Value> {
        for _ in 0..MOST_ITEMS {
            let rest = self.rest();
            if let Some(index) = rest.strip_prefix('[') {
                let (inner, _) = index.split_once(']')?;
                self.at += inner.len() + 2;
                value = if inner.trim() == "::-1" {
                    value.reversed()
                } else if let Some(name) = inner.strip_prefix('\u{1}')
                    && let Value::Name(of) = &value
                    && let Some(index) = name.strip_suffix('\u{2}').and_then(|it| it.parse().ok())
                {
                    Value::Name(format!("{of}.{}", self.scan.text(index, self.env)))
                } else {
                    value.item(inner.trim().parse().ok())
                };
                continue;
            }
            if rest.starts_with('(') {
                self.at += 1;
                let given = self.items(b')')?;
                value = match value {
                    Value::Name(name) => self.call(&name, &given),
                    _ => Value::Unknown,
                };
                continue;
            }
            let is_dotted = !matches!(self.scan.language, Language::Perl | Language::Php);
            let is_method = is_dotted
                && rest.strip_prefix('.').is_some_and(|it| {
                    it.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                });
            if !is_method {
                return Some(value);
            }
            self.at += 1;
            let rest = self.rest();
            let length =
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let method = rest.get(..length)?;
            self.at += length;
            let given = if self.peek() == Some(b'(') {
                self.at += 1;
                Some(self.items(b')')?)
            } else {
                None
            };
            value = match (value, given) {
                (Value::Name(of), None) => Value::Name(format!("{of}.{method}")),
                (Value::Name(of), Some(given)) => self.call(&format!("{of}.{method}"), &given),
                (value, given) => value.method(method, &given.unwrap_or_default()),
            };
        }
        None
    }

    /// The arguments in the parentheses that open here.
    pub(super) fn arguments(mut self) -> Option<Vec<Value>> {
        self.at += 1;
        self.depth += 1;
        let items = self.items(b')')?;
        Some(items.into_iter().map(|(_, value)| value).collect())
    }

    /// Expressions up to a closing character.
    fn items(&mut self, close: u8) -> Option<Vec<Given>> {
        let mut items = Vec::new();
        self.depth += 1;
        let closed = loop {
            self.blanks();
            if self.peek() == Some(close) {
                self.at += 1;
                break true;
            }
            if items.len() >= MOST_ITEMS {
                break false;
            }
            let name = self.keyword();
            let value = self.expression();
            self.blanks();
            let is_end = self.peek().is_some_and(|it| it == b',' || it == close);
            let value = value.filter(|_| is_end).unwrap_or(Value::Unknown);
            if !is_end && !self.skip(close) {
                break false;
            }
            items.push((name, value));
            if self.peek() == Some(b',') {
                self.at += 1;
            }
        };
        self.depth -= 1;
        closed.then_some(items)
    }

    /// `name=` in front of an argument.
    fn keyword(&mut self) -> Option<String> {
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
        let after = rest.get(length..)?.trim_start_matches(' ');
        if length == 0 || !after.starts_with('=') || after.starts_with("==") {
            return None;
        }
        self.at += rest.len() - after.len() + 1;
        rest.get(..length).map(str::to_owned)
    }

    /// Goes to the comma or the end of what can't be read.
    fn skip(&mut self, close: u8) -> bool {
        let mut open = 0_usize;
        let bytes = self.code.as_bytes();
        for (index, byte) in bytes.iter().enumerate().skip(self.at).take(4096) {
            if !self.scan.works(1) {
                return false;
            }
            match byte {
                b',' if open == 0 => {
                    self.at = index;
                    return true;
                }
                _ if open == 0 && *byte == close => {
                    self.at = index;
                    return true;
                }
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' if open > 0 => open -= 1,
                b')' | b']' | b'}' => return false,
                _ => {}
            }
        }
        false
    }

    /// What a function gives that only changes texts.
    fn call(&self, name: &str, given: &[Given]) -> Value {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        if let Some((receiver, method)) = name.rsplit_once('.') {
            match self.scan.lookup(receiver) {
                Some(Value::Name(_)) | None => {}
                Some(value) => return value.method(method, given),
            }
        }
        let text = |at: usize| given.get(at).and_then(|(_, value)| value.text());
        match last {
            "join" if self.scan.language != Language::Perl => {
                paths(given).map_or(Value::Unknown, Value::Text)
            }
            "expanduser" | "expand_path" => match text(0) {
                Some(text) => Value::Text(expand_home(&text, self.env)),
                None => Value::Unknown,
            },
            "homedir" | "home" if given.is_empty() => {
                self.env.home().map_or(Value::Unknown, |it| Value::Text(it.to_owned()))
            }
            "getenv" | "get" if name.ends_with("getenv") || name.ends_with("environ.get") => {
                let value = text(0).and_then(|it| self.env.text(&it).map(str::to_owned));
                value.map_or(Value::Unknown, Value::Text)
            }
            "require" | "__import__" | "import_module" => text(0).map_or(Value::Unknown, |it| {
                Value::Name(it.strip_prefix("node:").unwrap_or(&it).to_owned())
            }),
            "getattr" => match (given.first(), text(1)) {
                (Some((_, Value::Name(of))), Some(member)) => Value::Name(format!("{of}.{member}")),
                _ => Value::Unknown,
            },
            _ => super::values::function(name, last, given),
        }
    }
}
