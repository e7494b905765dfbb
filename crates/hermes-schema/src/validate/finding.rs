//! What a run of the validator finds wrong, before it is put into words.

use serde_json::Value;

use super::node::{Rule, Types};

/// One step from a value to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Member(&'a str),
    Element(usize),
}

/// The way from the arguments to the value being checked, kept on the stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'p, 'a> {
    parent: Option<(&'p At<'p, 'a>, Step<'a>)>,
}

impl<'p, 'a> At<'p, 'a> {
    /// The arguments themselves.
    pub(super) const ROOT: Self = At { parent: None };

    pub(super) fn below(&'p self, step: Step<'a>) -> Self {
        At { parent: Some((self, step)) }
    }

    /// The steps, the first one first.
    pub(super) fn path(&self) -> Vec<Step<'a>> {
        let mut path = Vec::new();
        let mut at = self;
        while let Some((parent, step)) = &at.parent {
            path.push(*step);
            at = parent;
        }
        path.reverse();
        path
    }
}

/// One thing wrong.
#[derive(Debug)]
pub(super) struct Finding<'a> {
    pub(super) path: Vec<Step<'a>>,
    pub(super) value: &'a Value,
    pub(super) fault: Fault<'a>,
}

/// What is wrong with the value.
#[derive(Debug)]
pub(super) enum Fault<'a> {
    /// It is of none of these types; of no types, if nothing fits.
    Type(Types),
    /// It breaks a rule that needs no more explanation.
    Rule(&'a Rule),
    /// It lacks a member.
    Missing(&'a str),
    /// It has a member that nothing in the schema admits.
    Unknown(&'a str),
    /// It has elements beyond this many.
    TooLong(usize),
    /// It fits no branch of a union; the findings of each branch.
    NoBranch(Vec<Vec<Finding<'a>>>),
    /// It fits several alternatives of which only one may fit.
    SeveralBranches,
}
