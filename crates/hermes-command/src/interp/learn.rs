//! What the names in a program stand for: assignments, loops over lists, parameters.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::Language;
use super::constant::Reader;
use super::expression::Scan;
use super::values::Value;
use crate::env::Env;
use crate::value::HOLE;

/// Most assignments, loops and functions that are followed.
const MOST_NAMES: usize = 512;
const MOST_LOOPS: usize = 64;
const MOST_FUNCTIONS: usize = 32;
/// Most calls whose arguments a parameter stands for.
const MOST_CALLS: usize = 8;
/// Most values that a name has at one place.
const MOST_VALUES: usize = 8;
/// Longest expression for a path, in bytes.
const MOST_PATH: usize = 512;
/// Most text that is kept for names, in bytes.
const MOST_BYTES: usize = 512 * 1024;

/// Where names get values, and which.
#[derive(Default)]
pub(super) struct Names {
    places: HashMap<String, Vec<(usize, Vec<Value>)>>,
    count: usize,
    bytes: usize,
}

impl Names {
    fn put(&mut self, name: &str, at: usize, values: Vec<Value>) {
        self.count += 1;
        self.bytes += values.iter().flat_map(Value::texts).map(|it| it.len()).sum::<usize>();
        if self.count <= MOST_NAMES && self.bytes <= MOST_BYTES && !values.is_empty() {
            self.places.entry(name.to_owned()).or_default().push((at, values));
        }
    }

    /// What a name stands for at a place: what it was given last in front of it, or first at all.
    pub(super) fn get(&self, name: &str, at: usize) -> Option<&[Value]> {
        let places = self.places.get(name)?;
        let before = places.iter().rev().find(|(place, _)| *place < at);
        before.or_else(|| places.first()).map(|(_, values)| values.as_slice())
    }
}

static LOOPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\bfor\s+(?P<a>\w+)\s+in\s",
        r"|\bfor\s*\(\s*(?:const|let|var)\s+(?P<b>\w+)\s+of\s",
        r"|\bfor(?:each)?\s+(?:my\s+)?(?P<c>\$\w+)\s*",
    ))
    .ok()
});
static EACH: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\.each\s*(?:do|\{)\s*\|(\w+)\|").ok());
static FUNCTIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:def|function)\s+(?P<a>\w+)\s*\((?P<b>[\w\s,$:]*)\)",
        r"|\b(?P<c>\w+)\s*=\s*(?:async\s*)?\(?(?P<d>[\w\s,]*?)\)?\s*=>",
        r"|\b(?P<e>\w+)\s*=\s*lambda\s+(?P<f>[\w\s,]*):",
    ))
    .ok()
});

impl Scan<'_> {
    /// The value of a name where the scan stands.
    pub(super) fn lookup(&self, name: &str) -> Option<Value> {
        let values = self.known.get(name, self.at.get())?;
        let choice = self.choice.get();
        self.has_choices.set(self.has_choices.get() || values.len() > choice + 1);
        values.get(choice).or_else(|| values.last()).cloned()
    }

    /// The text of a name, if it has one.
    pub(super) fn constant(&self, name: &str) -> Option<String> {
        match self.lookup(name) {
            Some(value) => value.text().filter(|it| !it.contains(HOLE)),
            None => self.names.get(name).cloned(),
        }
    }

    /// Reads what the names stand for.
    pub(super) fn learn(&mut self, env: &Env) {
        self.assignments(env);
        self.loops(env);
        self.parameters(env);
        self.at.set(0);
    }

    fn assignments(&mut self, env: &Env) {
        let flat = std::rc::Rc::clone(&self.flat);
        for at in memchr::memchr_iter(b'=', flat.as_bytes()).take(4 * MOST_NAMES) {
            let Some((name, adds)) = target(&flat, at, self.language) else { continue };
            self.at.set(at);
            let mut reader = Reader::new(self, env, &flat, at + 1);
            let value = reader.expression();
            let rest = reader.rest().trim_start_matches([' ', '\t', '\r']);
            let is_whole = rest.is_empty()
                || rest.starts_with([';', '\n', ',', ')', '}', ']'])
                || ["if ", "or ", "||", "unless "].iter().any(|it| rest.starts_with(it));
            let mut value = value.filter(|_| is_whole).unwrap_or(Value::Unknown);
            if matches!(value, Value::Unknown) {
                value = self.path_at(&flat, at + 1, env).unwrap_or(Value::Unknown);
            }
            if adds {
                let old = self.lookup(name).unwrap_or(Value::Unknown);
                value = old.plus(value).unwrap_or(Value::Unknown);
            }
            let name = name.to_owned();
            self.known.put(&name, at, vec![value]);
        }
    }

    /// A path that is put together in ways that only the other reader knows.
    fn path_at(&self, flat: &str, at: usize, env: &Env) -> Option<Value> {
        let end = flat.floor_char_boundary(at + MOST_PATH);
        let rest = flat.get(at..end)?;
        let statement = rest.split([';', '\n']).next()?;
        let is_path = ["home", "HOME", "Path(", "expanduser", "environ", "ENV"]
            .iter()
            .any(|it| statement.contains(it));
        if !is_path {
            return None;
        }
        let (code, texts) = super::code::split_marks(statement);
        let text = self.evaluate(&code, &mut texts.iter(), env);
        (text.starts_with('/') && !text.contains(HOLE)).then_some(Value::Text(text))
    }

    fn loops(&mut self, env: &Env) {
        let flat = std::rc::Rc::clone(&self.flat);
        let mut found = Vec::new();
        if let Some(pattern) = LOOPS.as_ref() {
            for loops in pattern.captures_iter(&flat).take(MOST_LOOPS) {
                let name = ["a", "b", "c"].iter().find_map(|it| loops.name(it));
                let end = loops.get(0).map_or(0, |it| it.end());
                if let Some(name) = name {
                    self.at.set(end);
                    let value = Reader::new(self, env, &flat, end).expression();
                    found.push((name.as_str().to_owned(), name.start(), value));
                }
            }
        }
        if let Some(pattern) = EACH.as_ref() {
            for loops in pattern.captures_iter(&flat).take(MOST_LOOPS) {
                let (Some(all), Some(name)) = (loops.get(0), loops.get(1)) else { continue };
                let before = flat.get(..all.start()).unwrap_or_default();
                let start = before.rfind(['[', '\u{1}', '\n', ';']).unwrap_or(0);
                let start = start
                    + usize::from(
                        before.get(start..).is_some_and(|it| it.starts_with(['\n', ';'])),
                    );
                self.at.set(start);
                let value = Reader::new(self, env, before, start).whole();
                // `%w[a b]` is a text by now.
                let value = match value {
                    Some(Value::Text(text)) => Some(Value::Text(text).method("split", &[])),
                    other => other,
                };
                found.push((name.as_str().to_owned(), name.start(), value));
            }
        }
        for (name, at, value) in found {
            if let Some(Value::List(mut items)) = value {
                items.truncate(MOST_VALUES);
                self.known.put(&name, at, items);
            }
        }
    }

    /// Parameters stand for what the functions are called with.
    fn parameters(&mut self, env: &Env) {
        let flat = std::rc::Rc::clone(&self.flat);
        let Some(pattern) = FUNCTIONS.as_ref() else { return };
        for function in pattern.captures_iter(&flat).take(MOST_FUNCTIONS) {
            let group = |names: [&str; 3]| names.iter().find_map(|it| function.name(it));
            let (Some(name), Some(list)) = (group(["a", "c", "e"]), group(["b", "d", "f"])) else {
                continue;
            };
            let parameters: Vec<&str> = list
                .as_str()
                .split(',')
                .map(|it| it.split([':', ' ']).find(|it| !it.is_empty()).unwrap_or_default())
                .collect();
            let mut values: Vec<Vec<Value>> = vec![Vec::new(); parameters.len()];
            let calls = memchr::memmem::find_iter(flat.as_bytes(), name.as_str().as_bytes());
            for start in calls.filter(|it| *it != name.start()).take(4 * MOST_CALLS) {
                let end = start + name.len();
                let before = start.checked_sub(1).and_then(|it| flat.as_bytes().get(it));
                let is_call = flat.as_bytes().get(end) == Some(&b'(')
                    && before.is_none_or(|it| !(it.is_ascii_alphanumeric() || b"_.$".contains(it)));
                if !is_call {
                    continue;
                }
                self.at.set(start);
                let given = Reader::new(self, env, &flat, end).arguments().unwrap_or_default();
                for (place, value) in values.iter_mut().zip(given) {
                    if place.len() < MOST_CALLS && !place.contains(&value) {
                        place.push(value);
                    }
                }
            }
            for (parameter, values) in parameters.iter().zip(values) {
                if !parameter.is_empty() {
                    self.known.put(parameter, list.start(), values);
                }
            }
        }
    }
}

/// The name in front of the `=` at a place, and whether the value is added to it.
fn target(flat: &str, at: usize, language: Language) -> Option<(&str, bool)> {
    let bytes = flat.as_bytes();
    if bytes.get(at + 1).is_some_and(|it| matches!(it, b'=' | b'~' | b'>')) {
        return None;
    }
    let before = flat.get(..at)?.trim_end_matches([' ', '\t']);
    let adding = match language {
        Language::Perl | Language::Php => '.',
        _ => '+',
    };
    let added = before.strip_suffix(adding);
    let before = added.unwrap_or(before).trim_end_matches([' ', '\t']);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '.');
    let named = |text: &str| text.len() - text.trim_end_matches(is_part).len();
    let mut before = before;
    let mut length = named(before);
    // `x: str = ..`
    if let Some(typed) = before
        .get(..before.len() - length)
        .map(|it| it.trim_end_matches([' ', '\t']))
        .and_then(|it| it.strip_suffix(':'))
        .filter(|_| matches!(language, Language::Python | Language::JavaScript))
    {
        before = typed;
        length = named(before);
    }
    let name = before.get(before.len() - length..)?;
    let outer = before.get(..before.len() - length)?.trim_end_matches([' ', '\t']);
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && (!outer.ends_with(',') || matches!(language, Language::JavaScript | Language::Other));
    // `f(a, x='b')`: an argument.
    let is_argument = outer.ends_with(',') && language != Language::JavaScript;
    (is_name && !is_argument).then_some((name, added.is_some()))
}
