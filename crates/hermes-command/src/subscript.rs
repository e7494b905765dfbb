//! Arithmetic: an index in it is read once more as shell, wherever bash takes a variable's name.

use crate::env::Env;
use crate::judge::Judge;
use crate::syntax::name_length;
use crate::value::{Arg, Flow, plain};

/// Most variables that one expression is followed through.
const MOST_NAMES: usize = 16;

/// Whether an index in the text has a substitution.
fn has_substitution(text: &str) -> bool {
    let Some((_, index)) = text.split_once('[') else { return false };
    index.contains("$(") || index.contains('`')
}

impl Judge {
    /// An expression or the name of a variable: its indexes run, and those of the values of the
    /// variables that it names.
    pub(crate) fn expression_text(&mut self, text: &str, env: &mut Env) {
        let mut waiting = vec![plain(text)];
        let mut seen = 0;
        while let Some(text) = waiting.pop() {
            if has_substitution(&text) {
                self.expanded_text(&text, env);
            }
            let bytes = text.as_bytes();
            let mut at = 0;
            while at < bytes.len() && seen < MOST_NAMES {
                let rest = bytes.get(at..).unwrap_or_default();
                let length = name_length(rest);
                if length > 0
                    && let Some(value) = text.get(at..at + length).and_then(|it| env.text(it))
                    && has_substitution(&plain(value))
                {
                    waiting.push(plain(value));
                    seen += 1;
                }
                at += length.max(1);
            }
        }
    }

    /// The substitutions of a text run, as in double quotes.
    pub(crate) fn expanded_text(&mut self, text: &str, env: &mut Env) {
        if !(text.contains("$(") || text.contains('`')) {
            return;
        }
        let quoted = text.replace('"', "\\\"");
        let mut inner = env.clone();
        self.payload(&format!(": \"{quoted}\""), &mut inner, Flow::unknown());
    }

    /// The operands of a builtin that are names of variables.
    pub(crate) fn names_of_variables(&mut self, args: &[Arg], env: &mut Env) {
        for arg in args.iter().filter(|it| !it.is_option()) {
            let text = arg.text();
            let name = text.split_once("]=").map_or(text.as_str(), |(name, _)| name);
            if has_substitution(name) {
                self.expanded_text(name, env);
            }
        }
    }

    /// `test`, `[` and `[[`.
    pub(crate) fn test_words(&mut self, words: &[Arg], env: &mut Env) {
        let counts = |it: &Arg| {
            matches!(it.marked.as_str(), "-v" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
        };
        if words.iter().any(counts) {
            for word in words {
                self.expression_text(&word.marked, env);
            }
        }
    }
}
