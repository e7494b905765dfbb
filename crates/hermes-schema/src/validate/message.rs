//! The validator's findings in words a model can act on.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    Issue,
    finding::{Fault, Finding, Step},
    node::{Rule, Types},
};

/// Longest echo of a value or of one path, in characters.
const MAX_ECHO: usize = 60;
/// How many choices of an enumeration are listed.
const MAX_CHOICES: usize = 20;
/// How many findings are looked at before giving up on an exact count.
const MAX_FINDINGS: usize = 1_000;
/// How deep unions inside unions are explained.
const MAX_UNION_DEPTH: usize = 4;

/// Turns findings into issues, without repetition and in the order found.
pub(super) fn issues(findings: &[Finding<'_>], secrets: &[&str]) -> Vec<Issue> {
    let mut writer = Writer { secrets, issues: Vec::new() };
    for finding in findings.iter().take(MAX_FINDINGS) {
        writer.finding(finding, MAX_UNION_DEPTH);
    }
    writer.issues
}

struct Writer<'a> {
    secrets: &'a [&'a str],
    issues: Vec<Issue>,
}

impl Writer<'_> {
    fn finding(&mut self, finding: &Finding<'_>, depth: usize) {
        let path = &finding.path;
        let expected = match &finding.fault {
            Fault::Missing(name) => {
                return self.push(path, Some(name), "is required".to_owned());
            }
            Fault::Unknown(name) => {
                return self.push(path, Some(name), "is not a known parameter".to_owned());
            }
            Fault::NoBranch(branches) => return self.union(finding, branches, depth),
            Fault::Rule(Rule::PropertyNames(_)) => {
                let message = "has a key with a name that is not allowed";
                return self.push(path, None, message.to_owned());
            }
            Fault::Type(types) if *types == Types::NONE => "must not be given".to_owned(),
            Fault::Type(types) => format!("must be {}", types.words()),
            Fault::TooLong(limit) => {
                format!("must have at most {}", count(*limit as u64, "element"))
            }
            Fault::SeveralBranches => {
                "must fit exactly one of the alternatives, but fits several".to_owned()
            }
            Fault::Rule(rule) => rule_words(rule),
        };
        let got = self.got(path, finding.value);
        self.push(path, None, format!("{expected}, got {got}"));
    }

    /// Explains why no branch of a union fits: by the one branch that comes near, else by the
    /// types that would do.
    fn union(&mut self, finding: &Finding<'_>, branches: &[Vec<Finding<'_>>], depth: usize) {
        let path = &finding.path;
        let (misfits, near): (Vec<_>, Vec<_>) =
            branches.iter().partition(|branch| wrong_type(branch, path).is_some());
        let meant: Vec<_> = near.iter().filter(|branch| !is_other_kind(branch)).collect();
        let only = match (near.as_slice(), meant.as_slice()) {
            ([only], _) => Some(*only),
            (_, [only]) => Some(**only),
            _ => None,
        };
        if let (Some(only), Some(depth)) = (only, depth.checked_sub(1)) {
            for finding in only {
                self.finding(finding, depth);
            }
            return;
        }
        let expected = if near.is_empty() {
            let mut types: Vec<String> =
                misfits.iter().filter_map(|branch| wrong_type(branch, path)).collect();
            types.dedup();
            format!("must be {}", types.join(" or "))
        } else {
            "must fit one of the alternatives".to_owned()
        };
        let got = self.got(path, finding.value);
        self.push(path, None, format!("{expected}, got {got}"));
    }

    fn push(&mut self, path: &[Step<'_>], member: Option<&str>, message: String) {
        let issue = Issue { path: readable_path(path, member), message };
        if !self.issues.contains(&issue) {
            self.issues.push(issue);
        }
    }

    /// What was found, shown short; containers and secrets only by kind.
    fn got(&self, path: &[Step<'_>], value: &Value) -> String {
        let kind = match value {
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
            Value::Null => return "null".to_owned(),
            Value::String(_) => "a string",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
        };
        let is_named_secret =
            |step: &Step<'_>| matches!(step, Step::Member(name) if self.secrets.contains(name));
        let is_secret = path.iter().any(is_named_secret)
            || value.as_str().is_some_and(|text| self.secrets.iter().any(|s| text.contains(s)));
        match value {
            Value::Array(_) | Value::Object(_) => kind.to_owned(),
            _ if is_secret => format!("{kind} (hidden)"),
            Value::String(text) => Value::from(cut(text)).to_string(),
            other => cut(&other.to_string()),
        }
    }
}

/// The type a union branch wants, if the value at `path` is of another one.
fn wrong_type(branch: &[Finding<'_>], path: &[Step<'_>]) -> Option<String> {
    branch.iter().find_map(|finding| match finding.fault {
        Fault::Type(types) if types != Types::NONE && finding.path == path => Some(types.words()),
        _ => None,
    })
}

/// Whether a union branch is ruled out by a fixed value, as those of tagged unions are.
fn is_other_kind(branch: &[Finding<'_>]) -> bool {
    branch
        .iter()
        .any(|finding| matches!(finding.fault, Fault::Rule(Rule::Const(_) | Rule::Enum(_))))
}

/// The path as `todos[0].status`.
fn readable_path(steps: &[Step<'_>], member: Option<&str>) -> String {
    let mut path = String::new();
    for step in steps.iter().copied().chain(member.map(Step::Member)) {
        match step {
            Step::Element(index) => {
                let _ = write!(path, "[{index}]");
            }
            Step::Member(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&cut(name));
            }
        }
    }
    path
}

/// What a rule asks for.
fn rule_words(rule: &Rule) -> String {
    match rule {
        Rule::Enum(options) => choices(options),
        Rule::Const(only) => format!("must be {}", cut(&only.to_string())),
        Rule::Minimum(limit) => format!("must be at least {limit}"),
        Rule::Maximum(limit) => format!("must be at most {limit}"),
        Rule::ExclusiveMinimum(limit) => format!("must be more than {limit}"),
        Rule::ExclusiveMaximum(limit) => format!("must be less than {limit}"),
        Rule::MultipleOf(step) => format!("must be a multiple of {step}"),
        Rule::MinLength(limit) => format!("must have at least {}", count(*limit, "character")),
        Rule::MaxLength(limit) => format!("must have at most {}", count(*limit, "character")),
        Rule::MinItems(limit) => format!("must have at least {}", count(*limit, "element")),
        Rule::MaxItems(limit) => format!("must have at most {}", count(*limit, "element")),
        Rule::MinProperties(limit) => format!("must have at least {}", count(*limit, "member")),
        Rule::MaxProperties(limit) => format!("must have at most {}", count(*limit, "member")),
        Rule::Pattern(pattern) => format!("must match {}", cut(pattern.as_str())),
        Rule::UniqueItems => "must not repeat an element".to_owned(),
        Rule::Contains { .. } => "must contain an element of the wanted kind".to_owned(),
        Rule::Not(_) => "breaks the rule `not`".to_owned(),
        Rule::UnevaluatedItems(_) => "breaks the rule `unevaluatedItems`".to_owned(),
        _ => "does not fit".to_owned(),
    }
}

fn choices(options: &[Value]) -> String {
    let mut list: Vec<String> =
        options.iter().take(MAX_CHOICES).map(|option| cut(&option.to_string())).collect();
    if options.len() > MAX_CHOICES {
        list.push(format!("{} more", options.len() - MAX_CHOICES));
    }
    format!("must be one of {}", list.join(", "))
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The text itself, or its beginning and an ellipsis.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_ECHO) {
        None => text.to_owned(),
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
    }
}
