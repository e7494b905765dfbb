//! The validator's findings in words a model can act on.

use std::fmt::Write as _;

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::Issue;

/// Longest echo of a value or of one path, in characters.
const MAX_ECHO: usize = 60;
/// How many choices of an enumeration are listed.
const MAX_CHOICES: usize = 20;
/// How many findings are looked at before giving up on an exact count.
const MAX_FINDINGS: usize = 1_000;
/// How deep unions inside unions are explained.
const MAX_UNION_DEPTH: usize = 4;

/// Turns findings about `args` into issues, without repetition and in the order found.
pub(super) fn issues<'a>(
    findings: impl Iterator<Item = ValidationError<'a>>,
    args: &Value,
    secrets: &[&str],
) -> Vec<Issue> {
    let mut writer = Writer { args, secrets, issues: Vec::new() };
    for finding in findings.take(MAX_FINDINGS) {
        writer.finding(&finding, MAX_UNION_DEPTH);
    }
    writer.issues
}

struct Writer<'a> {
    args: &'a Value,
    secrets: &'a [&'a str],
    issues: Vec<Issue>,
}

impl Writer<'_> {
    fn finding(&mut self, finding: &ValidationError<'_>, depth: usize) {
        let pointer = finding.instance_path().as_str();
        let value = finding.instance().as_ref();
        let got = self.got(pointer, value);
        let expected = match finding.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                return self.push(pointer, Some(name), "is required".to_owned());
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    self.push(pointer, Some(name), "is not a known parameter".to_owned());
                }
                return;
            }
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => {
                return self.union(finding, context, depth);
            }
            ValidationErrorKind::PropertyNames { .. } => {
                return self.push(
                    pointer,
                    None,
                    "has a key with a name that is not allowed".into(),
                );
            }
            // The expression gave up, which says nothing about the value.
            ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. } => return,
            ValidationErrorKind::Type { kind } => format!("must be {}", types(kind)),
            ValidationErrorKind::Enum { options } => choices(options),
            ValidationErrorKind::Constant { expected_value } => {
                format!("must be {}", cut(&expected_value.to_string()))
            }
            ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
            ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
            ValidationErrorKind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
            ValidationErrorKind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
            ValidationErrorKind::MultipleOf { multiple_of } => {
                format!("must be a multiple of {multiple_of}")
            }
            ValidationErrorKind::MinLength { limit } => {
                format!("must have at least {}", count(*limit, "character"))
            }
            ValidationErrorKind::MaxLength { limit } => {
                format!("must have at most {}", count(*limit, "character"))
            }
            ValidationErrorKind::MinItems { limit } => {
                format!("must have at least {}", count(*limit, "element"))
            }
            ValidationErrorKind::MaxItems { limit } => {
                format!("must have at most {}", count(*limit, "element"))
            }
            ValidationErrorKind::MinProperties { limit } => {
                format!("must have at least {}", count(*limit, "member"))
            }
            ValidationErrorKind::MaxProperties { limit } => {
                format!("must have at most {}", count(*limit, "member"))
            }
            ValidationErrorKind::AdditionalItems { limit } => {
                format!("must have at most {}", count(*limit as u64, "element"))
            }
            ValidationErrorKind::Pattern { pattern } => format!("must match {}", cut(pattern)),
            ValidationErrorKind::UniqueItems => "must not repeat an element".to_owned(),
            ValidationErrorKind::Contains => {
                "must contain an element of the wanted kind".to_owned()
            }
            ValidationErrorKind::FalseSchema => "must not be given".to_owned(),
            ValidationErrorKind::OneOfMultipleValid { .. } => {
                "must fit exactly one of the alternatives, but fits several".to_owned()
            }
            other => format!("breaks the rule `{}`", other.keyword()),
        };
        self.push(pointer, None, format!("{expected}, got {got}"));
    }

    /// Explains why no branch of a union fits: by the one branch that comes near, else by the
    /// types that would do.
    fn union(
        &mut self,
        finding: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'static>>],
        depth: usize,
    ) {
        let pointer = finding.instance_path().as_str();
        let wrong_type = |branch: &[ValidationError<'static>]| {
            branch.iter().find_map(|error| match error.kind() {
                ValidationErrorKind::Type { kind } if error.instance_path().as_str() == pointer => {
                    Some(types(kind))
                }
                _ => None,
            })
        };
        let mut near = branches.iter().filter(|branch| wrong_type(branch).is_none());
        if let (Some(only), None, Some(depth)) = (near.next(), near.next(), depth.checked_sub(1)) {
            for error in only {
                self.finding(error, depth);
            }
            return;
        }
        let mut expected: Vec<String> = branches.iter().filter_map(|b| wrong_type(b)).collect();
        expected.dedup();
        let expected = if expected.len() < branches.len()
            && branches.len() > 1
            && near_count(branches, wrong_type) > 0
        {
            "must fit one of the alternatives".to_owned()
        } else {
            format!("must be {}", expected.join(" or "))
        };
        let got = self.got(pointer, finding.instance().as_ref());
        self.push(pointer, None, format!("{expected}, got {got}"));
    }

    fn push(&mut self, pointer: &str, member: Option<&str>, message: String) {
        let path = readable_path(self.args, pointer, member);
        let issue = Issue { path, message };
        if !self.issues.contains(&issue) {
            self.issues.push(issue);
        }
    }

    /// What was found, shown short; containers and secrets only by kind.
    fn got(&self, pointer: &str, value: &Value) -> String {
        let kind = match value {
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
            Value::Null => return "null".to_owned(),
            Value::String(_) => "a string",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
        };
        let is_secret = pointer.split('/').any(|name| self.secrets.contains(&&*unescaped(name)))
            || value.as_str().is_some_and(|text| self.secrets.iter().any(|s| text.contains(s)));
        match value {
            Value::Array(_) | Value::Object(_) => kind.to_owned(),
            _ if is_secret => format!("{kind} (hidden)"),
            Value::String(text) => Value::from(cut(text)).to_string(),
            other => cut(&other.to_string()),
        }
    }
}

fn near_count(
    branches: &[Vec<ValidationError<'static>>],
    wrong_type: impl Fn(&[ValidationError<'static>]) -> Option<String>,
) -> usize {
    branches.iter().filter(|branch| wrong_type(branch).is_none()).count()
}

/// `/todos/0/status` as `todos[0].status`, telling indices from keys by the arguments.
fn readable_path(args: &Value, pointer: &str, member: Option<&str>) -> String {
    let mut path = String::new();
    let mut at = Some(args);
    let segments = pointer.split('/').skip(1).map(unescaped);
    for segment in segments.chain(member.map(str::to_owned)) {
        let index = match at {
            Some(Value::Array(_)) => segment.parse::<usize>().ok(),
            _ => None,
        };
        if let Some(index) = index {
            let _ = write!(path, "[{index}]");
            at = at.and_then(|value| value.get(index));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&cut(&segment));
            at = at.and_then(|value| value.get(&segment));
        }
    }
    path
}

fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn types(kind: &TypeKind) -> String {
    let name = |kind: JsonType| match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    };
    match kind {
        TypeKind::Single(kind) => name(*kind).to_owned(),
        TypeKind::Multiple(kinds) => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
}

fn choices(options: &Value) -> String {
    let options = options.as_array().map_or(&[][..], Vec::as_slice);
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
