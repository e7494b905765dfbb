//! Running a [`Program`] over a value.

use serde_json::Value;

use super::{
    equal,
    finding::{At, Fault, Finding, Step},
    node::{Members, NodeId, Program, Rule, Types},
};

/// How deep nodes are followed into each other: parts of values, union branches and references.
const MAX_DEPTH: u32 = 512;
/// How many nodes and costlier rules one run visits.
const FUEL: u32 = 1_000_000;
/// How many findings one run collects, those of union branches included.
const MAX_FINDINGS: u32 = 10_000;

/// Where findings go; without it a run stops at the first.
pub(super) type Report<'r, 'a> = Option<&'r mut Vec<Finding<'a>>>;

/// What one run has left to spend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    fuel: u32,
    depth: u32,
    findings: u32,
    /// Whether a limit was hit, so that the verdict means nothing.
    pub(super) gave_up: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        Self { program, fuel: FUEL, depth: MAX_DEPTH, findings: MAX_FINDINGS, gave_up: false }
    }

    /// Whether `value` fits the node; what is wrong goes to `report`.
    pub(super) fn node(
        &mut self,
        id: NodeId,
        value: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        let program = self.program;
        let Some(node) = program.nodes.get(id) else { return true };
        if !self.spend(1) || !self.enter() {
            return false;
        }
        let mut fits = node.types.admits(value);
        if !fits {
            self.report(&mut report, at, value, Fault::Type(node.types));
        }
        // Nothing more to say about what may not be there at all.
        if node.types != Types::NONE {
            for rule in &node.rules {
                if !fits && self.is_done(&report) {
                    break;
                }
                let report = report.as_deref_mut();
                fits &= match rule {
                    Rule::UnevaluatedItems(_) | Rule::UnevaluatedProperties(_) => {
                        self.unevaluated(&node.rules, rule, value, at, report)
                    }
                    _ => self.rule(rule, value, at, report),
                };
            }
        }
        self.leave();
        fits && !self.gave_up
    }

    /// Whether `value` fits the node, and nothing about why not.
    pub(super) fn fits(&mut self, id: NodeId, value: &'a Value) -> bool {
        self.node(id, value, &At::ROOT, None)
    }

    fn rule(
        &mut self,
        rule: &'a Rule,
        value: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        let fits = match (rule, value) {
            (Rule::Ref(id), _) => return self.node(*id, value, at, report),
            (Rule::AllOf(ids), _) => return self.all(ids.iter(), value, at, report),
            (Rule::AnyOf(ids), _) => {
                return ids.iter().any(|id| self.fits(*id, value))
                    || self.no_branch(ids, value, at, report);
            }
            (Rule::OneOf(ids), _) => {
                let fitting = ids.iter().filter(|id| self.fits(**id, value)).take(2).count();
                if fitting == 0 {
                    return self.no_branch(ids, value, at, report);
                }
                if fitting > 1 {
                    self.report(&mut report, at, value, Fault::SeveralBranches);
                }
                return fitting == 1;
            }
            (Rule::If { condition, then, otherwise }, _) => {
                let branch = if self.fits(*condition, value) { then } else { otherwise };
                return self.all(branch.iter(), value, at, report);
            }
            (Rule::DependentSchemas(list), Value::Object(members)) => {
                let ids = list.iter().filter(|(name, _)| members.contains_key(name));
                return self.all(ids.map(|(_, id)| id), value, at, report);
            }
            (Rule::Items { prefix, rest }, Value::Array(_)) => {
                return self.items(prefix, *rest, value, at, report);
            }
            (Rule::Members(members), Value::Object(_)) => {
                return self.members(members, value, at, report);
            }
            (Rule::Required(names), Value::Object(_)) => {
                return self.required(names, value, at, &mut report);
            }
            (Rule::DependentRequired(list), Value::Object(members)) => {
                let mut fits = true;
                for (_, names) in list.iter().filter(|(name, _)| members.contains_key(name)) {
                    fits &= self.required(names, value, at, &mut report);
                }
                return fits;
            }
            (Rule::Not(id), _) => !self.fits(*id, value),
            (Rule::Contains { node, min, max }, Value::Array(elements)) => {
                let fitting = elements.iter().filter(|element| self.fits(*node, element)).count();
                fitting as u64 >= *min && max.is_none_or(|max| fitting as u64 <= max)
            }
            (Rule::PropertyNames(id), Value::Object(members)) => {
                members.keys().all(|name| self.name_fits(*id, name))
            }
            (Rule::UniqueItems, Value::Array(elements)) => {
                self.spend(elements.len()) && equal::all_differ(elements)
            }
            (Rule::Pattern(_), Value::String(text)) => {
                self.spend(text.len() / 1024) && rule.holds(value)
            }
            (Rule::Enum(options), _) => {
                self.spend(options.len() / 16)
                    && options.iter().any(|option| equal::equal(option, value))
            }
            _ => rule.holds(value),
        };
        if !fits {
            self.report(&mut report, at, value, Fault::Rule(rule));
        }
        fits
    }

    /// Whether `value` fits all of the nodes.
    fn all<'i>(
        &mut self,
        ids: impl Iterator<Item = &'i NodeId>,
        value: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        let mut fits = true;
        for id in ids {
            fits &= self.node(*id, value, at, report.as_deref_mut());
            if !fits && self.is_done(&report) {
                break;
            }
        }
        fits
    }

    /// Reports what keeps `value` from fitting each of the branches.
    fn no_branch(
        &mut self,
        ids: &[NodeId],
        value: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        if !self.is_done(&report) {
            let branches = ids.iter().map(|id| {
                let mut findings = Vec::new();
                self.node(*id, value, at, Some(&mut findings));
                findings
            });
            let branches = branches.collect();
            self.report(&mut report, at, value, Fault::NoBranch(branches));
        }
        false
    }

    fn items(
        &mut self,
        prefix: &[NodeId],
        rest: Option<NodeId>,
        value: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        let elements = value.as_array().map_or(&[][..], Vec::as_slice);
        let is_closed = rest.is_some_and(|rest| self.program.is_false(rest));
        let mut fits = !is_closed || elements.len() <= prefix.len();
        if !fits {
            self.report(&mut report, at, value, Fault::TooLong(prefix.len()));
        }
        let rest = rest.filter(|_| !is_closed);
        for (index, element) in elements.iter().enumerate() {
            if !fits && self.is_done(&report) {
                break;
            }
            let Some(id) = prefix.get(index).copied().or(rest) else { break };
            let at = at.below(Step::Element(index));
            fits &= self.node(id, element, &at, report.as_deref_mut());
        }
        fits
    }

    fn members(
        &mut self,
        rules: &'a Members,
        value: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        let mut fits = true;
        for (name, member) in value.as_object().into_iter().flatten() {
            let below = at.below(Step::Member(name));
            let named = rules.named.get(name);
            if let Some(id) = named {
                fits &= self.node(*id, member, &below, report.as_deref_mut());
            }
            let mut is_known = named.is_some();
            for (pattern, id) in &rules.patterns {
                if self.spend(1) && pattern.is_match(name) {
                    is_known = true;
                    fits &= self.node(*id, member, &below, report.as_deref_mut());
                }
            }
            if let Some(rest) = rules.rest.filter(|_| !is_known) {
                fits &= self.extra(rest, name, value, member, at, report.as_deref_mut());
            }
            if !fits && self.is_done(&report) {
                break;
            }
        }
        fits
    }

    /// Whether a member that is not named fits what is asked of such members.
    pub(super) fn extra(
        &mut self,
        id: NodeId,
        name: &'a str,
        value: &'a Value,
        member: &'a Value,
        at: &At<'_, 'a>,
        mut report: Report<'_, 'a>,
    ) -> bool {
        if self.program.is_false(id) {
            self.report(&mut report, at, value, Fault::Unknown(name));
            return false;
        }
        self.node(id, member, &at.below(Step::Member(name)), report)
    }

    fn required(
        &mut self,
        names: &'a [String],
        value: &'a Value,
        at: &At<'_, 'a>,
        report: &mut Report<'_, 'a>,
    ) -> bool {
        let mut fits = true;
        for name in names.iter().filter(|name| value.get(name.as_str()).is_none()) {
            fits = false;
            self.report(report, at, value, Fault::Missing(name));
        }
        fits
    }

    /// Whether a member's name, which is no value of its own anywhere, fits the node.
    fn name_fits(&mut self, id: NodeId, name: &str) -> bool {
        let name = Value::from(name);
        let mut inner: Run<'_> = *self;
        let fits = inner.fits(id, &name);
        (self.fuel, self.gave_up) = (inner.fuel, inner.gave_up);
        fits
    }

    pub(super) fn report(
        &mut self,
        report: &mut Report<'_, 'a>,
        at: &At<'_, 'a>,
        value: &'a Value,
        fault: Fault<'a>,
    ) {
        if !self.gave_up
            && let Some(findings) = report
            && let Some(left) = self.findings.checked_sub(1)
        {
            self.findings = left;
            findings.push(Finding { path: at.path(), value, fault });
        }
    }

    /// Whether one fault is enough, because no more would be told.
    pub(super) fn is_done(&self, report: &Report<'_, 'a>) -> bool {
        report.is_none() || self.gave_up || self.findings == 0
    }

    /// Goes one level deeper; false if that is too deep.
    pub(super) fn enter(&mut self) -> bool {
        match self.depth.checked_sub(1) {
            Some(left) => self.depth = left,
            None => self.gave_up = true,
        }
        !self.gave_up
    }

    /// Goes back up after an [`enter`](Self::enter) that was allowed.
    pub(super) fn leave(&mut self) {
        self.depth += 1;
    }

    /// Pays for work; false if there is nothing left to pay with.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        match u32::try_from(cost).ok().and_then(|cost| self.fuel.checked_sub(cost)) {
            Some(left) => self.fuel = left,
            None => self.gave_up = true,
        }
        !self.gave_up
    }
}
