//! Options and operands of a program.

use crate::value::Arg;

/// Which options of a program take a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spec {
    /// Letters that take the rest of the word, or the next.
    pub(crate) short: &'static str,
    /// Long names that take the next word unless they have `=`.
    pub(crate) long: &'static [&'static str],
    /// Whether the first operand ends the options.
    pub(crate) stops: bool,
    /// Whether `-name` is one long option.
    pub(crate) single: bool,
}

impl Spec {
    pub(crate) const fn new(short: &'static str, long: &'static [&'static str]) -> Self {
        Self { short, long, stops: false, single: false }
    }

    /// Options end at the first operand.
    pub(crate) const fn stopping(short: &'static str, long: &'static [&'static str]) -> Self {
        Self { short, long, stops: true, single: false }
    }
}

/// One option as it was given.
#[derive(Clone, Debug)]
pub(crate) struct Flag {
    /// A letter, or a long name.
    pub(crate) name: String,
    pub(crate) value: Option<Arg>,
    is_long: bool,
}

/// The arguments of a program, taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) flags: Vec<Flag>,
    pub(crate) operands: Vec<Arg>,
    /// How many words were options, with their values.
    pub(crate) taken: usize,
}

impl Options {
    pub(crate) fn parse(args: &[Arg], spec: Spec) -> Self {
        let mut options = Self::default();
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            let text = arg.marked.as_str();
            if text == "--" {
                options.operands.extend(args.get(at..).unwrap_or_default().iter().cloned());
                options.taken = if spec.stops { at } else { args.len() };
                return options;
            }
            if !arg.is_option() {
                if spec.stops {
                    options.taken = at - 1;
                    options.operands = args.get(at - 1..).unwrap_or_default().to_vec();
                    return options;
                }
                options.operands.push(arg.clone());
                continue;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(arg.with(value))),
                    None if spec.long.contains(&long) => {
                        at += 1;
                        (long, args.get(at - 1).cloned())
                    }
                    None => (long, None),
                };
                options.flags.push(Flag { name: name.to_owned(), value, is_long: true });
            } else if spec.single {
                let name = text.get(1..).unwrap_or_default();
                let (name, value) = match name.split_once('=') {
                    Some((name, value)) => (name, Some(arg.with(value))),
                    None if spec.long.contains(&name) => {
                        at += 1;
                        (name, args.get(at - 1).cloned())
                    }
                    None => (name, None),
                };
                options.flags.push(Flag { name: name.to_owned(), value, is_long: true });
            } else {
                let mut letters = text.char_indices().skip(1);
                while let Some((index, letter)) = letters.next() {
                    let mut value = None;
                    if spec.short.contains(letter) {
                        let rest = text.get(index + letter.len_utf8()..).unwrap_or_default();
                        if rest.is_empty() {
                            value = args.get(at).cloned();
                            at += 1;
                        } else {
                            value = Some(arg.with(rest));
                        }
                        options.flags.push(Flag { name: letter.to_string(), value, is_long: false });
                        break;
                    }
                    options.flags.push(Flag { name: letter.to_string(), value, is_long: false });
                }
            }
        }
        options.taken = args.len();
        options
    }

    /// Whether one of the letters was given.
    pub(crate) fn has(&self, letters: &str) -> bool {
        self.flags.iter().any(|it| !it.is_long && letters.contains(it.name.as_str()))
    }

    /// Whether a long option was given, perhaps shortened to no fewer than `least` letters.
    pub(crate) fn long(&self, name: &str, least: usize) -> bool {
        self.flag(name, least).is_some()
    }

    fn flag(&self, name: &str, least: usize) -> Option<&Flag> {
        let is = |it: &&Flag| it.is_long && it.name.len() >= least.min(name.len()) && name.starts_with(it.name.as_str());
        self.flags.iter().rev().find(is)
    }

    /// The last value of a letter or of a long option.
    pub(crate) fn value(&self, letter: &str, name: &str) -> Option<&Arg> {
        self.values(letter, name).pop()
    }

    /// All values of a letter or of a long option.
    pub(crate) fn values(&self, letters: &str, name: &str) -> Vec<&Arg> {
        let is = |it: &&Flag| if it.is_long { it.name == name } else { letters.contains(it.name.as_str()) };
        self.flags.iter().filter(is).filter_map(|it| it.value.as_ref()).collect()
    }

    /// The texts of the operands.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.operands.iter().map(|it| it.marked.as_str()).collect()
    }

    /// Whether only help or the version is wanted.
    pub(crate) fn wants_help(&self) -> bool {
        self.flags.iter().any(|it| it.is_long && matches!(it.name.as_str(), "help" | "version" | "usage"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Vec<Arg> {
        text.split(' ').map(Arg::new).collect()
    }

    #[test]
    fn options() {
        let options = Options::parse(&args("-rf a --force -n 3 -- -x"), Spec::new("n", &[]));
        assert!(options.has("r") && options.has("f") && options.long("force", 3));
        assert_eq!(options.value("n", "").map(|it| it.marked.as_str()), Some("3"));
        assert_eq!(options.texts(), ["a", "-x"]);
        let options = Options::parse(&args("-k 5 10 rm -rf"), Spec::stopping("ks", &["signal"]));
        assert_eq!(options.texts(), ["10", "rm", "-rf"]);
        assert_eq!(options.taken, 2);
        let options = Options::parse(&args("--rec x"), Spec::default());
        assert!(options.long("recursive", 1));
    }
}
