//! One setting at a time, from its variable or its key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hermes_registry::Settings;
use serde_json::Value;

use super::TerminalConfigError;
use crate::child_env::is_identifier;

/// Reads `terminal.KEY` and `TERMINAL_KEY`; the variable wins.
pub(super) struct Reader<'s> {
    pub(super) settings: &'s Settings,
    warnings: Vec<String>,
}

fn variable(key: &str) -> String {
    format!("TERMINAL_{}", key.to_ascii_uppercase())
}

impl<'s> Reader<'s> {
    pub(super) fn new(settings: &'s Settings) -> Self {
        Self { settings, warnings: Vec::new() }
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// The text of the variable, even if it is blank.
    fn env(&self, key: &str) -> Option<&'s str> {
        self.settings.env(&variable(key))
    }

    /// What `config.yaml` has under a key of the section.
    pub(super) fn config(&self, key: &str) -> Option<&'s Value> {
        self.settings.get(&format!("terminal.{key}"))
    }

    pub(super) fn bad(&self, key: &str, expected: &'static str) -> TerminalConfigError {
        let in_config = self.env(key).is_none();
        TerminalConfigError {
            variable: variable(key),
            key: in_config.then(|| format!("terminal.{key}")),
            expected,
        }
    }

    /// A text that isn't blank, without blanks around it.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let text = match (self.env(key), self.config(key)) {
            (Some(text), _) => text.to_owned(),
            (None, Some(Value::String(text))) => text.clone(),
            (None, Some(value @ (Value::Number(_) | Value::Bool(_)))) => value.to_string(),
            (None, _) => return None,
        };
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Whether it is on: `true`, `1`, `yes`.
    pub(super) fn flag(&self, key: &str, default: bool) -> bool {
        match (self.env(key), self.config(key)) {
            (Some(word), _) => is_yes(word),
            (None, Some(value)) => truth(value),
            (None, None) => default,
        }
    }

    /// Whether it is on, by `config.yaml` alone.
    pub(super) fn config_flag(&self, key: &str, default: bool) -> bool {
        self.config(key).map_or(default, truth)
    }

    /// A whole number that isn't below `least`.
    pub(super) fn number(
        &self,
        key: &str,
        default: u64,
        least: u64,
    ) -> Result<u64, TerminalConfigError> {
        let number = match (self.env(key), self.config(key)) {
            (Some(text), _) => text.trim().parse().ok(),
            (None, Some(Value::String(text))) => text.trim().parse().ok(),
            (None, Some(value)) => value.as_u64().or_else(|| whole(value.as_f64()?)),
            (None, None) => Some(default),
        };
        let expected = if least == 0 { "a whole number" } else { "a whole number above 0" };
        number.filter(|number| *number >= least).ok_or_else(|| self.bad(key, expected))
    }

    /// A number that isn't negative.
    pub(super) fn amount(&self, key: &str, default: f64) -> Result<f64, TerminalConfigError> {
        let number = match (self.env(key), self.config(key)) {
            (Some(text), _) => text.trim().parse().ok(),
            (None, Some(Value::String(text))) => text.trim().parse().ok(),
            (None, Some(value)) => value.as_f64(),
            (None, None) => Some(default),
        };
        let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.bad(key, "a number that isn't negative"))
    }

    /// A number above 0 that only a variable gives and nothing depends on: a bad one is ignored
    /// with a warning.
    pub(super) fn lenient(&mut self, variable: &str, default: f64) -> f64 {
        let Some(text) = self.settings.env_filled(variable) else { return default };
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => number,
            _ => {
                self.warn(format!("{variable} is no number above 0: taken as {default}"));
                default
            }
        }
    }

    /// A list of texts, in a variable as JSON. What is no text is left out.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, TerminalConfigError> {
        match self.json(key)? {
            Some(value @ (Value::Array(_) | Value::String(_))) => Ok(texts(&value)),
            None => Ok(Vec::new()),
            Some(_) => Err(self.bad(key, "a list of texts, as JSON in the variable")),
        }
    }

    /// A list of texts of `config.yaml`.
    pub(super) fn config_texts(&self, key: &str) -> Vec<String> {
        self.config(key).map(texts).unwrap_or_default()
    }

    /// Variables and their values, in a variable as JSON. Numbers and truth values become text; what
    /// is neither, and what isn't the name of a variable, is left out.
    pub(super) fn pairs(&self, key: &str) -> Result<BTreeMap<String, String>, TerminalConfigError> {
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            _ => None,
        };
        match self.json(key)? {
            Some(Value::Object(map)) => {
                let pair = |(name, value): (&String, &Value)| {
                    let name = name.trim();
                    is_identifier(name).then(|| Some((name.to_owned(), text(value)?)))?
                };
                Ok(map.iter().filter_map(pair).collect())
            }
            None => Ok(BTreeMap::new()),
            Some(_) => Err(self.bad(key, "a map of texts, as JSON in the variable")),
        }
    }

    fn json(&self, key: &str) -> Result<Option<Value>, TerminalConfigError> {
        let value = match self.env(key) {
            Some(text) => serde_json::from_str(text).map_err(|_| self.bad(key, "valid JSON"))?,
            None => self.config(key).cloned().unwrap_or_default(),
        };
        Ok(Some(value).filter(|value| !value.is_null()))
    }

    /// A folder of the host; `~` is the user's home.
    pub(super) fn folder(&self, key: &str) -> Option<PathBuf> {
        self.text(key).map(|path| PathBuf::from(self.expanded(&path)))
    }

    /// A path whose leading `~` is replaced by the user's home, if that is known.
    pub(super) fn expanded(&self, path: &str) -> String {
        expand_home(path, self.settings.env_filled("HOME"))
    }
}

/// A path whose leading `~` is replaced by `home`.
pub(super) fn expand_home(path: &str, home: Option<&str>) -> String {
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.trim_end_matches('/'))
        }
        _ => path.to_owned(),
    }
}

fn is_yes(word: &str) -> bool {
    matches!(word.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes")
}

fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::String(word) => is_yes(word),
        Value::Number(number) => number.as_f64() == Some(1.0),
        _ => false,
    }
}

fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}

/// The texts of a list without blanks around them; a single text is a list of one.
fn texts(value: &Value) -> Vec<String> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = items.iter().filter_map(Value::as_str).map(str::trim);
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}
