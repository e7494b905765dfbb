//! `unevaluatedItems` and `unevaluatedProperties`: what no other keyword had a say on.

use serde_json::Value;

use super::{
    finding::{At, Fault, Step},
    node::{NodeId, Rule},
    run::{Report, Run},
};

impl<'a> Run<'a> {
    /// Whether the parts of `value` that `rules`, the node's, leave alone fit `rule`, one of them.
    pub(super) fn unevaluated(
        &mut self,
        rules: &'a [Rule],
        rule: &'a Rule,
        value: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        let mut fits = true;
        match (rule, value) {
            (Rule::UnevaluatedItems(id), Value::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    let step = Step::Element(index);
                    if self.is_evaluated(rules, rule, value, step, element) {
                        continue;
                    }
                    if self.program.is_false(*id) {
                        self.report(&mut report, at, value, Fault::Rule(rule));
                        return false;
                    }
                    fits &= self.node(*id, element, &at.below(step), report.as_deref_mut());
                }
            }
            (Rule::UnevaluatedProperties(id), Value::Object(members)) => {
                for (name, member) in members {
                    let step = Step::Member(name);
                    if !self.is_evaluated(rules, rule, value, step, member) {
                        fits &= self.extra(*id, name, value, member, at, report.as_deref_mut());
                    }
                }
            }
            _ => {}
        }
        fits
    }

    /// Whether one of `rules` other than `but` has a say on the part of `value` at `step`.
    fn is_evaluated(
        &mut self,
        rules: &'a [Rule],
        but: &Rule,
        value: &'a Value,
        step: Step<'a>,
        part: &'a Value,
    ) -> bool {
        rules.iter().any(|rule| !std::ptr::eq(rule, but) && self.evaluates(rule, value, step, part))
    }

    fn evaluates(
        &mut self,
        rule: &'a Rule,
        value: &'a Value,
        step: Step<'a>,
        part: &'a Value,
    ) -> bool {
        match (rule, step) {
            (Rule::Items { prefix, rest }, Step::Element(index)) => {
                rest.is_some() || index < prefix.len()
            }
            (Rule::Contains { node, .. }, Step::Element(_)) => self.fits(*node, part),
            (Rule::UnevaluatedItems(_), Step::Element(_))
            | (Rule::UnevaluatedProperties(_), Step::Member(_)) => true,
            (Rule::Members(members), Step::Member(name)) => {
                members.rest.is_some()
                    || members.named.contains_key(name)
                    || members.patterns.iter().any(|(pattern, _)| pattern.is_match(name))
            }
            (Rule::Ref(id), _) => self.branch_evaluates(*id, value, step, part),
            (Rule::AllOf(ids) | Rule::AnyOf(ids) | Rule::OneOf(ids), _) => {
                ids.iter().any(|id| self.branch_evaluates(*id, value, step, part))
            }
            (Rule::If { condition, then, otherwise }, _) => {
                let (applies, branch) = if self.fits(*condition, value) {
                    (self.branch_evaluates(*condition, value, step, part), then)
                } else {
                    (false, otherwise)
                };
                applies || branch.is_some_and(|id| self.branch_evaluates(id, value, step, part))
            }
            (Rule::DependentSchemas(list), _) => list.iter().any(|(name, id)| {
                value.get(name).is_some() && self.branch_evaluates(*id, value, step, part)
            }),
            _ => false,
        }
    }

    /// Whether a node for the same value has a say on the part; one that does not fit has none.
    fn branch_evaluates(
        &mut self,
        id: NodeId,
        value: &'a Value,
        step: Step<'a>,
        part: &'a Value,
    ) -> bool {
        let program = self.program;
        let Some(node) = program.nodes.get(id) else { return false };
        if !self.fits(id, value) || !self.enter() {
            return false;
        }
        let evaluates = node.rules.iter().any(|rule| self.evaluates(rule, value, step, part));
        self.leave();
        evaluates
    }
}
