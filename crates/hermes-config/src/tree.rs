//! A YAML document as a tree of nodes that know which bytes they were read from.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StructureStyle};

use crate::yaml::{MAX_DEPTH, MAX_NODES, YamlError};

/// One node. Anchor and tag stand in front of the bytes of `span`.
#[derive(Debug)]
pub(crate) struct Node {
    /// The bytes of a scalar, alias or flow collection. A block scalar's are those below its
    /// header; a block collection has only its start.
    pub(crate) span: Range<usize>,
    /// Line and column of the start, both from 1.
    pub(crate) place: (u64, u64),
    /// What aliases refer to it by; 0 when it has no anchor.
    pub(crate) anchor: usize,
    pub(crate) tag: Option<Tag>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Scalar(Scalar),
    /// The anchor referred to.
    Alias(usize),
    List(Collection<Node>),
    Map(Collection<Entry>),
}

#[derive(Debug)]
pub(crate) struct Scalar {
    /// The text without quotes and escapes.
    pub(crate) text: String,
    pub(crate) style: ScalarStyle,
}

#[derive(Debug)]
pub(crate) struct Collection<T> {
    /// Written in brackets or braces, or at least within such.
    pub(crate) flow: bool,
    pub(crate) items: Vec<T>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Node,
    pub(crate) value: Node,
}

/// The tags that say how to read a node. Any other counts as none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A lone `!`, which makes any scalar a text.
    Unspecific,
    Text,
    Bool,
    Integer,
    Float,
    Null,
    List,
    Map,
    Binary,
}

impl Entry {
    /// Whether it is `<<`, which takes over the entries of another mapping.
    pub(crate) fn is_merge(&self) -> bool {
        matches!(&self.key.kind, Kind::Scalar(Scalar { text, style: ScalarStyle::Plain }) if text == "<<")
            && self.key.tag.is_none()
    }
}

/// Reads the one document of a text; none when there is no node in it.
pub(crate) fn read(text: &str) -> Result<Option<Node>, YamlError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        builder.event(event, span)?;
    }
    Ok(builder.root)
}

/// A collection whose end has not come yet.
struct Open {
    node: Node,
    /// A mapping's key that waits for its value.
    key: Option<Node>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Node>,
    nodes: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let (kind, anchor, tag) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                // The parser says `~` where there is nothing.
                let nothing = span.start.byte_offset() == span.end.byte_offset();
                let text = if nothing { String::new() } else { text.into_owned() };
                (Kind::Scalar(Scalar { text, style }), anchor, tag)
            }
            Event::Alias(anchor) => (Kind::Alias(anchor), 0, None),
            Event::SequenceStart(style, anchor, tag) => (Kind::List(open(style)), anchor, tag),
            Event::MappingStart(style, anchor, tag) => (Kind::Map(open(style)), anchor, tag),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { mut node, .. }) = self.open.pop() {
                    if matches!(
                        &node.kind,
                        Kind::List(Collection { flow: true, .. })
                            | Kind::Map(Collection { flow: true, .. })
                    ) {
                        node.span.end = offset(span.end.byte_offset())?;
                    }
                    self.complete(node);
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        let node = Node {
            span: offset(span.start.byte_offset())?..offset(span.end.byte_offset())?,
            place: place(span.start.line(), span.start.col()),
            anchor,
            tag: tag.and_then(|tag| known_tag(tag.handle(), tag.suffix())),
            kind,
        };
        self.begin(node)
    }

    fn begin(&mut self, node: Node) -> Result<(), YamlError> {
        let refused = |message: &str| Err(fault(node.place, message));
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return refused("the document holds too many values");
        }
        if self.open.is_empty() && self.root.is_some() {
            return refused("multiple documents in one file");
        }
        if matches!(node.kind, Kind::Scalar(_) | Kind::Alias(_)) {
            self.complete(node);
            return Ok(());
        }
        if self
            .open
            .last()
            .is_some_and(|above| matches!(above.node.kind, Kind::Map(_)) && above.key.is_none())
        {
            return refused("a key must be a single word or text, no list or mapping");
        }
        if self.open.len() >= MAX_DEPTH {
            return refused(&format!("lists and mappings nest deeper than {MAX_DEPTH} levels"));
        }
        self.open.push(Open { node, key: None });
        Ok(())
    }

    fn complete(&mut self, node: Node) {
        let Some(above) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut above.node.kind {
            Kind::List(list) => list.items.push(node),
            Kind::Map(map) => match above.key.take() {
                Some(key) => map.items.push(Entry { key, value: node }),
                None => above.key = Some(node),
            },
            Kind::Scalar(_) | Kind::Alias(_) => {}
        }
    }
}

fn open<T>(style: StructureStyle) -> Collection<T> {
    Collection { flow: style == StructureStyle::Flow, items: Vec::new() }
}

fn known_tag(handle: &str, suffix: &str) -> Option<Tag> {
    Some(match (handle, suffix) {
        ("!", "") | ("", "!") => Tag::Unspecific,
        ("tag:yaml.org,2002:", "str") => Tag::Text,
        ("tag:yaml.org,2002:", "bool") => Tag::Bool,
        ("tag:yaml.org,2002:", "int") => Tag::Integer,
        ("tag:yaml.org,2002:", "float") => Tag::Float,
        ("tag:yaml.org,2002:", "null") => Tag::Null,
        ("tag:yaml.org,2002:", "seq") => Tag::List,
        ("tag:yaml.org,2002:", "map") => Tag::Map,
        ("tag:yaml.org,2002:", "binary") => Tag::Binary,
        _ => return None,
    })
}

fn syntax(error: &ScanError) -> YamlError {
    let marker = error.marker();
    let message = error.info();
    let message = message.lines().next().unwrap_or_default().trim();
    fault(place(marker.line(), marker.col()), message)
}

/// A fault at a place.
pub(crate) fn fault(place: (u64, u64), message: &str) -> YamlError {
    YamlError { position: Some(place), message: message.to_owned() }
}

/// The parser counts columns from 0.
fn place(line: usize, column: usize) -> (u64, u64) {
    let count = |number| u64::try_from(number).unwrap_or(u64::MAX);
    (count(line).max(1), count(column).saturating_add(1))
}

/// The parser knows every offset of a text in memory.
fn offset(bytes: Option<usize>) -> Result<usize, YamlError> {
    bytes.ok_or_else(|| YamlError {
        position: None,
        message: "the place of a value is unknown".to_owned(),
    })
}
