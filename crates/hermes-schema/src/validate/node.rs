//! A compiled schema: nodes in one list that refer to each other by index, so that recursive
//! schemas are nothing special.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::pattern::Pattern;

/// The index of a node in its [`Program`].
pub(super) type NodeId = usize;

/// A schema, ready to run.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
}

impl Program {
    /// The node the arguments as a whole are checked against.
    pub(super) const ROOT: NodeId = 0;

    /// Whether nothing fits the node, whatever it is.
    pub(super) fn is_false(&self, id: NodeId) -> bool {
        self.nodes.get(id).is_some_and(|node| node.types == Types::NONE)
    }
}

/// One schema: the types it admits and what else it asks for, in the order faults are told.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) types: Types,
    pub(super) rules: Vec<Rule>,
}

/// One keyword, or a few that only make sense together.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    Ref(NodeId),
    Enum(Vec<Value>),
    Const(Value),
    MultipleOf(Number),
    Minimum(Number),
    Maximum(Number),
    ExclusiveMinimum(Number),
    ExclusiveMaximum(Number),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Items { prefix: Vec<NodeId>, rest: Option<NodeId> },
    Contains { node: NodeId, min: u64, max: Option<u64> },
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    Members(Box<Members>),
    PropertyNames(NodeId),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, NodeId)>),
    MinProperties(u64),
    MaxProperties(u64),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If { condition: NodeId, then: Option<NodeId>, otherwise: Option<NodeId> },
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

/// What an object's members are checked against.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    pub(super) named: BTreeMap<String, NodeId>,
    pub(super) patterns: Vec<(Pattern, NodeId)>,
    /// For members that are neither named nor match a pattern.
    pub(super) rest: Option<NodeId>,
}

/// A set of JSON types; a number without a fraction is both an integer and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ANY: Self = Self(0x7f);

    /// Bit by bit, the name in a schema and the words in a message.
    const NAMES: [(&str, &str); 7] = [
        ("null", "null"),
        ("boolean", "a boolean"),
        ("integer", "an integer"),
        ("number", "a number"),
        ("string", "a string"),
        ("array", "an array"),
        ("object", "an object"),
    ];

    /// The type a schema calls `name`.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|(known, _)| *known == name).map(|bit| Self(1 << bit))
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn admits(self, value: &Value) -> bool {
        let fitting = match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(number) if is_whole(number) => (1 << 2) | (1 << 3),
            Value::Number(_) => 1 << 3,
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        };
        self.0 & fitting != 0
    }

    /// The types in words, as `null or an integer`.
    pub(super) fn words(self) -> String {
        let words = (0..).zip(Self::NAMES).filter(|(bit, _)| self.0 & (1 << bit) != 0);
        words.map(|(_, (_, words))| words).collect::<Vec<_>>().join(" or ")
    }
}

fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}
