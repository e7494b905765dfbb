//! A call in a program, and what it is given.

use super::Language;
use super::code::{arguments, split_marks, whole_arguments};
use super::constant::Reader;
use super::expression::{Scan, expand_home};
use super::values::Value;
use crate::env::Env;
use crate::value::HOLE;

/// A call: its name, the code of its arguments with texts replaced, and where its texts are.
pub(super) struct Call {
    pub(super) name: String,
    /// Where it starts.
    pub(super) at: usize,
    /// Whether it is called on something that isn't just a name.
    pub(super) is_method: bool,
    /// The code in the parentheses with the marks that the program has.
    pub(super) flat: String,
    /// The code in the parentheses; a mark without a number stands for each text.
    pub(super) code: String,
    /// The texts in it, by their place among all.
    pub(super) texts: Vec<usize>,
    /// The place of the text in front of it, for `Path("x").unlink()`.
    pub(super) previous: Option<usize>,
    pub(super) before: String,
}

/// The value of an argument that names the program to run, or its arguments.
fn program_argument(code: &str) -> Option<&str> {
    let code = code.trim_start().trim_start_matches('{').trim_start();
    ["args", "command", "cmd"]
        .iter()
        .find_map(|it| code.strip_prefix(it)?.trim_start().strip_prefix(['=', ':']))
}

impl Call {
    /// The name without what is in front of it.
    pub(super) fn last(&self) -> &str {
        self.name.rsplit(['.', ':']).next().unwrap_or(&self.name)
    }

    /// Whether its first argument names what is called.
    pub(super) fn names_another(&self) -> bool {
        matches!(
            self.last(),
            "send" | "public_send" | "__send__" | "call_user_func" | "call_user_func_array"
        )
    }

    /// Leaves the first argument out.
    pub(super) fn drop_first(&mut self) {
        let first = whole_arguments(&self.code).first().map_or(0, |it| it.len());
        let texts = self.code.get(..first).unwrap_or_default().matches('\u{1}').count();
        self.texts.drain(..texts.min(self.texts.len()));
        self.code = self.code.get(first + 1..).unwrap_or_default().to_owned();
        let first = whole_arguments(&self.flat).first().map_or(0, |it| it.len());
        self.flat = self.flat.get(first + 1..).unwrap_or_default().to_owned();
    }

    /// Whether it is a method that has its name in common with one that does harm: of a pattern,
    /// a list or a map.
    pub(super) fn is_of_another(&self, scan: &Scan<'_>) -> bool {
        let (receiver, last) = self.name.rsplit_once('.').unwrap_or(("", &self.name));
        let module = self.previous.map(|index| scan.pieces.get(index).map(|it| it.text.as_str()));
        let is_of_module = self.before.trim_end().ends_with(')')
            && module.flatten().is_some_and(|it| {
                ["child_process", "fs", "os", "shutil", "del", "rimraf"]
                    .iter()
                    .any(|name| it.contains(name))
            });
        match (scan.language, last) {
            (Language::JavaScript, "exec") => self.is_method && !is_of_module,
            (Language::JavaScript, "delete" | "remove") => {
                (self.is_method && !is_of_module)
                    || !(receiver.is_empty()
                        || ["fs", "fse", "Deno"].iter().any(|it| receiver.contains(it)))
            }
            (Language::Python, "remove" | "delete") => {
                !(receiver.is_empty() || receiver.ends_with("os")) || self.is_method
            }
            _ => false,
        }
    }

    /// Whether the first argument is a list.
    pub(super) fn has_list(&self, scan: &Scan<'_>, env: &Env) -> bool {
        let first = whole_arguments(&self.flat).first().copied().unwrap_or_default();
        let first = program_argument(first).unwrap_or(first);
        matches!(Reader::new(scan, env, first, 0).expression(), Some(Value::List(_)))
    }

    /// The value of each argument, lists taken apart.
    pub(super) fn values(&self, scan: &Scan<'_>, env: &Env) -> Vec<String> {
        let mut texts = self.texts.iter();
        let mut values = Vec::new();
        let parts = whole_arguments(&self.code).into_iter().zip(whole_arguments(&self.flat));
        for (part, flat) in parts {
            let known = match Reader::new(scan, env, flat, 0).whole() {
                Some(known @ (Value::Text(_) | Value::List(_))) => known.texts(),
                _ => Vec::new(),
            };
            let mut rest = texts.clone();
            let mut read = Vec::new();
            for part in arguments(part) {
                self.value(part, flat, scan, &mut rest, env, &mut read);
            }
            texts = rest;
            let is_better = known.iter().any(|it| it.contains(HOLE))
                && !read.iter().any(|it| it.contains(HOLE));
            if known.is_empty() || is_better {
                values.extend(read);
            } else {
                values.extend(known.iter().map(|it| expand_home(it, env)));
            }
        }
        values.retain(|it| !it.is_empty());
        values
    }

    /// One argument, by its letters.
    fn value(
        &self,
        part: &str,
        flat: &str,
        scan: &Scan<'_>,
        texts: &mut std::slice::Iter<'_, usize>,
        env: &Env,
        values: &mut Vec<String>,
    ) {
        // Keyword arguments and options.
        let trimmed = part.trim().trim_start_matches(['[', '(']);
        let is_keyword = trimmed.split_once(['=', ':']).is_some_and(|(name, value)| {
            !name.trim().is_empty()
                && name
                    .trim()
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '_' || c == ' ' || c == '{')
                && !name.starts_with('\u{1}')
                && !value.starts_with([':', '='])
        });
        let is_options = trimmed.starts_with('{');
        if !(is_keyword || is_options) {
            values.push(scan.evaluate(part, texts, env));
            return;
        }
        for _ in 0..part.matches('\u{1}').count() {
            texts.next();
        }
        let program = program_argument(flat);
        let value = program.and_then(|it| Reader::new(scan, env, it, 0).expression());
        values.extend(value.iter().flat_map(Value::texts));
    }

    /// The paths that the call is given.
    pub(super) fn targets(&self, scan: &Scan<'_>, env: &Env) -> Vec<String> {
        let mut values = self.values(scan, env);
        if values.is_empty()
            && let Some(subject) = self.subject(scan, env)
        {
            values.push(subject);
        }
        values
    }

    /// `x` in `Path("x").unlink()`.
    pub(super) fn subject(&self, scan: &Scan<'_>, env: &Env) -> Option<String> {
        let chained = self.before.trim_end().ends_with([')', '.'])
            || self.name.starts_with('.')
            || self.before.ends_with('\u{2}');
        if !chained {
            let variable = self.name.rsplit_once('.').map(|(variable, _)| variable)?;
            return scan.constant(variable);
        }
        let expression = self.before.rsplit([';', '\n', '=', ',']).next().unwrap_or_default();
        if expression.contains(".home()") && !expression.contains('\u{1}') {
            return env.home().map(str::to_owned);
        }
        let (code, texts) = split_marks(expression);
        if texts.is_empty() {
            return self.previous.map(|index| expand_home(&scan.text(index, env), env));
        }
        Some(scan.evaluate(&code, &mut texts.iter(), env))
    }
}
