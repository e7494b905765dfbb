//! How much of the work the arguments of a program name.

use hermes_command::outline::Word;

use super::Scope;

/// How the arguments of a program are read.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// Options with a value, by letter and by name.
    pub(super) letters: &'static str,
    pub(super) names: &'static [&'static str],
    /// Options that leave something out, as they are written.
    pub(super) narrow: &'static [&'static str],
    /// Operands that stand for everything.
    pub(super) all: &'static [&'static str],
}

pub(super) const NONE: Options =
    Options { letters: "", names: &[], narrow: &[], all: &[".", "./", "./...", "..."] };

impl Options {
    /// Whether the arguments name parts of the work.
    pub(super) fn scope(&self, args: &[Word]) -> Scope {
        let mut is_over = false;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.text.as_str();
            if is_over || !text.starts_with('-') || text == "-" {
                // What follows `--` may be for a program behind this one: its options say nothing.
                let says = !is_over || !text.starts_with('-');
                if says && !self.all.contains(&text) {
                    return Scope::Targeted;
                }
                continue;
            }
            if text == "--" {
                is_over = true;
                continue;
            }
            let name = text.split('=').next().unwrap_or(text);
            let is_long = text.starts_with("--");
            let is_narrow = |option: &&str| {
                name == *option || (!is_long && option.len() == 2 && text.starts_with(*option))
            };
            if self.narrow.iter().any(is_narrow) {
                return Scope::Targeted;
            }
            if self.takes_next(text) {
                args.next();
            }
        }
        Scope::Full
    }

    /// The operands: what is no option and no value of one.
    pub(super) fn operands<'a>(&self, args: &'a [Word]) -> Vec<&'a str> {
        let mut found = Vec::new();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.text.as_str();
            if text == "--" {
                break;
            } else if !text.starts_with('-') || text == "-" {
                found.push(text);
            } else if self.takes_next(text) {
                args.next();
            }
        }
        found
    }

    /// Whether the value of an option is the next word.
    fn takes_next(&self, text: &str) -> bool {
        if let Some(name) = text.strip_prefix("--") {
            return self.names.contains(&name);
        }
        let cluster = text.strip_prefix('-').unwrap_or(text);
        // Some programs have long options with one hyphen.
        self.names.contains(&cluster)
            || cluster.chars().last().is_some_and(|last| self.letters.contains(last))
                && cluster.chars().filter(|it| self.letters.contains(*it)).count() == 1
    }
}
