//! The objects of a file, found by going through it once.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::filter::{Decoded, decode};
use super::lexer::{Lexer, Token};
use super::object::{Dict, Object};
use crate::document::ExtractError;

/// How many bytes streams may have in all once their filters are off.
const MAX_DECODED: usize = 64 * 1024 * 1024;
/// How many objects a file may have.
const MAX_OBJECTS: usize = 1_000_000;
/// How many values are kept of all objects.
const MAX_VALUES: usize = 4_000_000;
/// How many references may lead from one to the next.
const MAX_HOPS: usize = 16;

const BOMB: ExtractError =
    ExtractError::TooLarge("its streams have more than 64 MiB, or 200 times their size");

/// A file whose objects are known.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    places: HashMap<u32, Place>,
    /// Streams of objects, without their filters.
    inner: Vec<Vec<u8>>,
    /// What trailers said, in the order of the file.
    trailers: Vec<Rc<Dict>>,
    encrypted: bool,
    catalogs: Vec<u32>,
    read: RefCell<HashMap<u32, Option<Rc<Item>>>>,
    decoded: RefCell<HashMap<u32, Option<Rc<[u8]>>>>,
    budget: Cell<usize>,
    values: Cell<usize>,
}

/// Where an object's value begins.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the file.
    At { at: usize, data: Option<Data> },
    /// In a stream of objects.
    In { stream: usize, at: usize },
}

/// Where the data of a stream is: its start and end.
type Data = (usize, usize);

/// An object: its value and, of a stream, where its data is in the file.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) value: Object,
    data: Option<Data>,
}

impl Item {
    /// The dictionary that the object is, or that describes its stream.
    pub(super) fn dict(&self) -> Option<&Rc<Dict>> {
        self.value.dict()
    }
}

impl<'a> File<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        let head = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
        if !head.windows(5).any(|it| it == b"%PDF-") {
            return Err(ExtractError::Malformed("it doesn't begin like a PDF"));
        }
        let mut file = Self {
            bytes,
            places: HashMap::new(),
            inner: Vec::new(),
            trailers: Vec::new(),
            encrypted: false,
            catalogs: Vec::new(),
            read: RefCell::default(),
            decoded: RefCell::default(),
            budget: Cell::new(MAX_DECODED),
            values: Cell::new(MAX_VALUES),
        };
        file.scan()?;
        if file.encrypted { Err(ExtractError::Encrypted) } else { Ok(file) }
    }

    fn add_trailer(&mut self, trailer: Rc<Dict>) {
        self.encrypted |= trailer.get("Encrypt").is_some();
        self.trailers.push(trailer);
    }

    /// Finds every object. Where there are several of a number, the last one counts, as it does
    /// in files that were changed by adding to them.
    fn scan(&mut self) -> Result<(), ExtractError> {
        let mut at = 0;
        // Values that don't end are read again and again; this is how much of that is allowed.
        let mut fuel = self.bytes.len().saturating_mul(4).saturating_add(1 << 20);
        // Once there is no `endstream` any more there never will be.
        let mut streams_end = true;
        while let Some(found) = next_keyword(self.bytes, at) {
            at = found.end;
            let mut lexer = Lexer::new(self.bytes, found.end);
            let value = lexer.value();
            let used = lexer.position() - found.end;
            let Some(left) = fuel.checked_sub(used) else { break };
            fuel = left;
            let Some(value) = value else { continue };
            at = lexer.position();
            let Some(number) = found.object else {
                if let Object::Dict(dict) = value {
                    self.add_trailer(dict);
                }
                continue;
            };
            if self.places.len() > MAX_OBJECTS {
                return Err(ExtractError::TooLarge("it has more than a million objects"));
            }
            let data = match &value {
                Object::Dict(dict) => stream_data(self.bytes, &mut lexer, dict, &mut streams_end),
                _ => None,
            };
            self.places.insert(number, Place::At { at: found.end, data });
            let Object::Dict(dict) = value else { continue };
            if dict.is("Type", "Catalog") {
                self.catalogs.push(number);
            }
            let Some(data) = data else { continue };
            at = data.1;
            if dict.is("Type", "ObjStm") {
                self.open_stream(&dict, data)?;
            } else if dict.is("Type", "XRef") {
                self.add_trailer(dict);
            }
        }
        Ok(())
    }

    /// Finds the objects in a stream of objects.
    fn open_stream(&mut self, dict: &Dict, data: Data) -> Result<(), ExtractError> {
        let Some(data) = self.decode(dict, data)? else { return Ok(()) };
        let number = |key| dict.get(key).and_then(Object::integer).unwrap_or_default();
        let (count, first) = (number("N"), number("First"));
        let stream = self.inner.len();
        let mut lexer = Lexer::new(&data, 0);
        for _ in 0..count {
            let mut next = || match lexer.next(false) {
                Some(Token::Value(value)) => value.integer(),
                _ => None,
            };
            let (Some(number), Some(at)) = (next(), next()) else { break };
            let Ok(number) = u32::try_from(number) else { continue };
            let at = first.saturating_add(at);
            if let Some(Object::Dict(dict)) = catalog_at(&data, at)
                && dict.is("Type", "Catalog")
            {
                self.catalogs.push(number);
            }
            self.places.insert(number, Place::In { stream, at });
            if self.places.len() > MAX_OBJECTS {
                break;
            }
        }
        self.inner.push(data);
        Ok(())
    }

    /// The value of an object; none when there isn't one.
    pub(super) fn item(&self, number: u32) -> Option<Rc<Item>> {
        if let Some(item) = self.read.borrow().get(&number) {
            return item.clone();
        }
        let item = self.read_item(number).map(Rc::new);
        self.read.borrow_mut().insert(number, item.clone());
        item
    }

    fn read_item(&self, number: u32) -> Option<Item> {
        let (mut lexer, data) = match *self.places.get(&number)? {
            Place::At { at, data } => (Lexer::new(self.bytes, at), data),
            Place::In { stream, at } => (Lexer::new(self.inner.get(stream)?, at), None),
        };
        Some(Item { value: self.pay(lexer.value()?)?, data })
    }

    /// Lets a value be kept if there is room.
    fn pay(&self, value: Object) -> Option<Object> {
        let mut count = 0;
        let mut rest = vec![&value];
        while let Some(value) = rest.pop() {
            count += 1;
            match value {
                Object::Array(items) => rest.extend(&**items),
                Object::Dict(dict) => rest.extend(dict.values()),
                _ => {}
            }
        }
        self.values.set(self.values.get().checked_sub(count)?);
        Some(value)
    }

    /// What a value is, or what it refers to.
    pub(super) fn resolve(&self, value: &Object) -> Object {
        let mut value = value.clone();
        for _ in 0..MAX_HOPS {
            let Object::Reference(number) = value else { return value };
            value = self.item(number).map_or(Object::Null, |item| item.value.clone());
        }
        Object::Null
    }

    /// The value of a name in a dictionary, or what it refers to.
    pub(super) fn get(&self, dict: &Dict, key: &str) -> Option<Object> {
        dict.get(key).map(|value| self.resolve(value)).filter(|value| *value != Object::Null)
    }

    pub(super) fn get_dict(&self, dict: &Dict, key: &str) -> Option<Rc<Dict>> {
        match self.get(dict, key)? {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// The data of a stream that a value refers to, without its filters; none when there is no
    /// such stream or it is an image.
    pub(super) fn stream(&self, value: &Object) -> Result<Option<Rc<[u8]>>, ExtractError> {
        let Object::Reference(number) = *value else { return Ok(None) };
        if let Some(data) = self.decoded.borrow().get(&number) {
            return Ok(data.clone());
        }
        let data = match self.item(number).as_deref() {
            Some(Item { value: Object::Dict(dict), data: Some(data) }) => {
                self.decode(dict, *data)?.map(Rc::from)
            }
            _ => None,
        };
        self.decoded.borrow_mut().insert(number, data.clone());
        Ok(data)
    }

    fn decode(&self, dict: &Dict, data: Data) -> Result<Option<Vec<u8>>, ExtractError> {
        let list = |keys: [&str; 2]| {
            let value = keys.into_iter().find_map(|key| self.get(dict, key));
            match value {
                None => Vec::new(),
                Some(Object::Array(items)) => {
                    items.iter().take(16).map(|item| self.resolve(item)).collect()
                }
                Some(value) => vec![value],
            }
        };
        let mut parameters = list(["DecodeParms", "DP"]).into_iter();
        let mut filters = Vec::new();
        for filter in list(["Filter", "F"]) {
            let parameters = match parameters.next() {
                Some(Object::Dict(dict)) => dict,
                _ => Rc::default(),
            };
            let Object::Name(name) = filter else { return Ok(None) };
            filters.push((name, parameters));
        }
        let data = self.bytes.get(data.0..data.1).unwrap_or_default();
        let mut budget = self.budget.get();
        // Without filters too, since what is kept is a copy.
        let Some(left) = budget.checked_sub(if filters.is_empty() { data.len() } else { 0 }) else {
            return Err(BOMB);
        };
        budget = left;
        let decoded = decode(data, &filters, &mut budget);
        self.budget.set(budget);
        match decoded {
            Decoded::Data(data) => Ok(Some(data)),
            Decoded::Unknown => Ok(None),
            Decoded::TooLarge => Err(BOMB),
        }
    }

    /// The root of the document.
    pub(super) fn catalog(&self) -> Option<Rc<Dict>> {
        let told = self.trailers.iter().rev().filter_map(|trailer| self.get_dict(trailer, "Root"));
        let found = self.catalogs.iter().rev().filter_map(|number| {
            let item = self.item(*number)?;
            item.dict().cloned()
        });
        told.chain(found).find(|dict| dict.get("Pages").is_some())
    }

    /// The numbers of all objects, in order.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Only as much as tells whether it is the catalog: the others are read when they are needed.
fn catalog_at(data: &[u8], at: usize) -> Option<Object> {
    const ENOUGH: usize = 512;
    let end = at.saturating_add(ENOUGH).min(data.len());
    let head = data.get(at..end)?;
    head.windows(8).any(|it| it == b"/Catalog").then(|| Lexer::new(data, at).value())?
}

/// The word `obj` behind two numbers, or the word `trailer`.
struct Keyword {
    /// The number of the object; none for a trailer.
    object: Option<u32>,
    end: usize,
}

fn next_keyword(bytes: &[u8], mut at: usize) -> Option<Keyword> {
    loop {
        let rest = bytes.get(at..)?;
        // Both words have a letter that is rare elsewhere.
        let here = at + rest.iter().position(|&byte| matches!(byte, b'o' | b't'))?;
        let found = bytes.get(here..).unwrap_or_default();
        if found.starts_with(b"obj")
            && let Some(number) = object_number(bytes.get(..here).unwrap_or_default())
        {
            return Some(Keyword { object: Some(number), end: here + 3 });
        }
        if found.starts_with(b"trailer") {
            return Some(Keyword { object: None, end: here + 7 });
        }
        at = here + 1;
    }
}

/// The first of the two numbers that `before` ends with.
fn object_number(before: &[u8]) -> Option<u32> {
    let trim = |bytes: &'_ [u8]| bytes.trim_ascii_end().len();
    let digits = |end: usize| {
        let bytes = before.get(..end).unwrap_or_default();
        // Longer ones are no numbers of objects.
        let count = bytes.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        (1..=10).contains(&count).then_some(end - count)
    };
    let end = trim(before.get(before.len().saturating_sub(64)..).unwrap_or_default());
    let end = before.len() - before.len().min(64) + end;
    let generation = digits(end)?;
    let gap = before.get(..generation).unwrap_or_default();
    let window = gap.get(gap.len().saturating_sub(64)..).unwrap_or_default();
    let end = gap.len() - window.len() + trim(window);
    if end == generation {
        return None;
    }
    let start = digits(end)?;
    std::str::from_utf8(before.get(start..end)?).ok()?.parse().ok()
}

/// Where the data of a stream is, whose dictionary was just read.
fn stream_data(
    bytes: &[u8],
    lexer: &mut Lexer<'_>,
    dict: &Dict,
    streams_end: &mut bool,
) -> Option<Data> {
    const END: &[u8] = b"endstream";
    lexer.skip_blanks();
    let rest = lexer.rest().strip_prefix(b"stream")?;
    let rest = match rest {
        [b'\r', b'\n', rest @ ..] | [b'\n' | b'\r', rest @ ..] => rest,
        rest => rest,
    };
    let start = bytes.len() - rest.len();
    let told = dict.get("Length").and_then(Object::integer);
    if let Some(end) = told.and_then(|len| start.checked_add(len))
        && bytes.get(end..).is_some_and(|after| after.trim_ascii_start().starts_with(END))
    {
        return Some((start, end));
    }
    // The length is wrong, or told elsewhere.
    let len = streams_end.then(|| rest.windows(END.len()).position(|it| it == END)).flatten();
    *streams_end &= len.is_some();
    let len = len.unwrap_or(rest.len());
    let data = rest.get(..len).unwrap_or_default();
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let data = data.strip_suffix(b"\r").unwrap_or(data);
    Some((start, start + data.len()))
}
