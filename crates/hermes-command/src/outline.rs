//! The commands of a text as they are written, with what stands between them.
//!
//! Unlike [`classify`](crate::classify), which follows what a text would do, this says where its
//! commands stand: after separators and reserved words, in blocks and in substitutions, but not in
//! quotes, comments and here-documents. Variables, aliases and functions aren't followed.

use std::ops::Range;

use crate::source::{Nest, Source};
use crate::syntax::{Block, Simple, Step, parse};

/// A text, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The text itself, then what is in its substitutions.
    pub scripts: Vec<Script>,
    /// Whether all of the text was understood as shell.
    pub is_complete: bool,
}

/// The text itself, or what is in a substitution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its commands and what stands between them. Blocks are opened and closed in pairs.
    pub parts: Vec<Part>,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A command.
    Command(Command),
    /// A block begins.
    Open(Kind),
    /// The innermost open block ends.
    Close,
    /// `|` or `|&`.
    Pipe,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `&`.
    Background,
    /// `;` or a new line.
    End,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{ .. }`.
    Group,
    /// `( .. )`.
    Subshell,
    /// `for`, `select`, `while` or `until`.
    Loop,
    /// `if` or `case`.
    Choice,
    /// The body of a function.
    Function,
}

/// A command as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments, without assignments in front and without redirects.
    pub words: Vec<Word>,
    /// Where the command stands in the text, in bytes.
    pub span: Range<usize>,
    /// Whether `!` stands in front of it.
    pub is_negated: bool,
    /// Whether it is `[[ .. ]]`: its words are no program.
    pub is_test: bool,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The word without quotes and without substitutions. Variables stand as they are written.
    pub text: String,
    /// Where it stands in the text, in bytes.
    pub span: Range<usize>,
    /// Whether the shell would put in nothing.
    pub is_known: bool,
}

/// Takes a text apart. The time is linear in its length.
///
/// ```
/// use hermes_command::outline::{Part, outline};
///
/// let outline = outline("cd 'a b' && echo $(date) # now");
/// let [text, substitution] = outline.scripts.as_slice() else { panic!() };
/// let Some(Part::Command(cd)) = text.parts.first() else { panic!() };
/// assert_eq!(cd.words[1].text, "a b");
/// assert_eq!(substitution.parts.len(), 1);
/// ```
#[must_use]
pub fn outline(text: &str) -> Outline {
    let source = Source::new(text);
    let mut out = Outline { scripts: Vec::new(), is_complete: !source.is_unbalanced };
    out.add(&Reader { source: &source, outer: None });
    out
}

/// Reads a text, or what is between backticks in one.
struct Reader<'a> {
    source: &'a Source,
    /// The text around it, and where it starts there.
    outer: Option<(&'a Source, usize)>,
}

impl Outline {
    fn add(&mut self, reader: &Reader<'_>) {
        let source = reader.source;
        self.script(reader, 0..source.text.len());
        for (range, kind) in source.all_nested() {
            let inner = source.slice(range.clone());
            let closed = |close: char| range.end - usize::from(inner.ends_with(close));
            match kind {
                // What starts with a parenthesis is a subshell, and read as one.
                Nest::Command if !inner.starts_with('(') => {
                    self.script(reader, range.start + 2..closed(')').max(range.start + 2));
                }
                // No backtick is in there that isn't escaped: this goes no deeper.
                Nest::Backtick if reader.outer.is_none() => {
                    let start = range.start + 1;
                    let inner = Source::new(source.slice(start..closed('`').max(start)));
                    self.is_complete &= !inner.is_unbalanced;
                    self.add(&Reader { source: &inner, outer: Some((source, start)) });
                }
                _ => {}
            }
        }
    }

    fn script(&mut self, reader: &Reader<'_>, range: Range<usize>) {
        let script = parse(reader.source, range);
        self.is_complete &= script.is_complete;
        let parts = script.steps.iter().filter_map(|step| {
            Some(match step {
                Step::Simple(simple) => Part::Command(reader.command(simple)),
                Step::Open { block, .. } => Part::Open(match block {
                    Block::Group => Kind::Group,
                    Block::Subshell => Kind::Subshell,
                    Block::Loop | Block::For { .. } => Kind::Loop,
                    Block::Condition | Block::Case => Kind::Choice,
                    Block::Function(_) => Kind::Function,
                }),
                Step::Close => Part::Close,
                Step::Pipe => Part::Pipe,
                Step::And => Part::And,
                Step::Or => Part::Or,
                Step::Background => Part::Background,
                Step::End | Step::Line => Part::End,
                Step::Words(_) => return None,
            })
        });
        self.scripts.push(Script { parts: parts.collect() });
    }
}

impl Reader<'_> {
    fn command(&self, simple: &Simple) -> Command {
        let before = self.source.slice(0..simple.span.start).trim_end_matches([' ', '\t']);
        let is_negated = before.strip_suffix('!').is_some_and(|before| {
            before.is_empty() || before.ends_with([' ', '\t', '\n', ';', '&', '|', '(', '{'])
        });
        Command {
            words: simple.words.iter().map(|range| self.word(range)).collect(),
            span: self.original(&simple.span),
            is_negated,
            is_test: simple.is_test,
        }
    }

    /// Where a part stands in the original text.
    fn original(&self, range: &Range<usize>) -> Range<usize> {
        let range = self.source.original(range);
        match self.outer {
            None => range,
            Some((outer, start)) => outer.original(&(start + range.start..start + range.end)),
        }
    }

    fn word(&self, range: &Range<usize>) -> Word {
        let (text, is_known) = self.unquoted(range);
        Word { text, span: self.original(range), is_known }
    }

    /// A word without its quotes, and whether nothing is put into it.
    fn unquoted(&self, range: &Range<usize>) -> (String, bool) {
        let mut out = String::new();
        let mut is_known = true;
        // Where the double quotes end that the place is in.
        let mut quotes = None;
        let mut at = range.start;
        while at < range.end {
            let rest = self.source.slice(at..range.end);
            let mut chars = rest.chars();
            let Some(first) = chars.next() else { break };
            let after = chars.as_str();
            if quotes == Some(at) {
                quotes = None;
                at += 1;
                continue;
            }
            at += match first {
                '\'' if quotes.is_none() => {
                    let length = after.find('\'').unwrap_or(after.len());
                    out.extend(after.get(..length));
                    length + 2
                }
                '"' if quotes.is_none() => {
                    let end = self.source.nested(at).map_or(range.end, |(end, _)| end);
                    quotes = Some(end.saturating_sub(1));
                    1
                }
                '\\' => {
                    let next = chars.next();
                    // At the end of the text it stands for itself.
                    let is_kept = match next {
                        Some(next) => quotes.is_some() && !"$`\"\\".contains(next),
                        None => true,
                    };
                    if is_kept {
                        out.push('\\');
                    }
                    out.extend(next);
                    1 + next.map_or(0, char::len_utf8)
                }
                '$' if quotes.is_none() && after.starts_with(['\'', '"']) => 1,
                '$' | '`' | '<' | '>' => {
                    let end = self.source.nested(at).map_or(at + 1, |(end, _)| end.min(range.end));
                    let is_name = |c: char| c.is_alphanumeric() || "_?!@*#$-".contains(c);
                    is_known &= end == at + 1 && !(first == '$' && after.starts_with(is_name));
                    // Copying substitutions would take their length for each level of nesting.
                    if end == at + 1 {
                        out.push(first);
                    }
                    end - at
                }
                _ => {
                    out.push(first);
                    first.len_utf8()
                }
            };
        }
        (out, is_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scripts, one a line, as words in brackets and signs.
    fn shown(text: &str) -> String {
        let part = |part: &Part| match part {
            Part::Command(command) => {
                let words = command.words.iter();
                let words: Vec<_> = words.map(|it| it.text.as_str()).collect();
                for word in &command.words {
                    assert!(text.get(word.span.clone()).is_some(), "{text:?}");
                }
                let sign = if command.is_negated { "!" } else { "" };
                format!("{sign}[{}]", words.join("|"))
            }
            Part::Open(Kind::Group) => "{".to_owned(),
            Part::Open(Kind::Subshell) => "(".to_owned(),
            Part::Open(Kind::Loop) => "loop{".to_owned(),
            Part::Open(Kind::Choice) => "if{".to_owned(),
            Part::Open(Kind::Function) => "fn{".to_owned(),
            Part::Close => "}".to_owned(),
            Part::Pipe => "|".to_owned(),
            Part::And => "&&".to_owned(),
            Part::Or => "||".to_owned(),
            Part::Background => "&".to_owned(),
            Part::End => ";".to_owned(),
        };
        let scripts = outline(text).scripts;
        let scripts = scripts.iter().map(|it| it.parts.iter().map(part).collect::<String>());
        scripts.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn scripts() {
        for (text, expected) in [
            ("a 'b c' \"d e\" f\\ g", "[a|b c|d e|f g]"),
            ("a && b || c | d & e; f\ng", "[a]&&[b]||[c]|[d]&[e];[f];[g]"),
            ("A=1 a >x 2>&1 # b & c", "[a]"),
            ("! a; !b", "![a];[!b]"),
            ("if a; then b; fi", "if{[a];[b];}"),
            ("for i in 1 2; do a; done", "loop{;[a];}"),
            ("f() { a; }; f", "fn{[a];};[f]"),
            ("(a &); { b; }", "([a]&};{[b];}"),
            ("cat <<E\nsudo x\nE\nb", "[cat];[b]"),
            ("a \"$(b; c)\"", "[a|]\n[b];[c]"),
            ("a $(b $(c))", "[a|]\n[b|]\n[c]"),
            ("a `b 'c d'` e", "[a||e]\n[b|c d]"),
            ("a <(b) $((1 + 2))", "[a||]\n[b]"),
            ("(( a & b )); [[ c && d ]]", ";[c|d]"),
            ("case x in a&b) c;; esac", "if{[c]}"),
            ("$(a", "[]\n[a]"),
            ("a \\\n b", "[a|b]"),
            ("a\\", "[a\\]"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn spans_are_those_of_the_text() {
        let text = "cat <<E\nx\nE\necho `A=1 su\\\ndo x` $(sudo y)";
        let outline = outline(text);
        let mut spans = Vec::new();
        for script in &outline.scripts {
            for part in &script.parts {
                if let Part::Command(command) = part {
                    spans
                        .extend(command.words.first().map(|it| text.get(it.span.clone()).unwrap()));
                }
            }
        }
        assert_eq!(spans, ["cat", "echo", "su\\\ndo", "sudo"]);
    }

    #[test]
    fn what_is_known() {
        for (text, is_known) in [
            ("abc", true),
            ("'$a'", true),
            ("\\$a", true),
            ("a$", true),
            ("$a", false),
            ("\"${a}\"", false),
            ("`a`", false),
            ("$(a)", false),
            ("$?", false),
        ] {
            let outline = outline(text);
            let Some(Part::Command(command)) = outline.scripts[0].parts.first() else { panic!() };
            assert_eq!(command.words[0].is_known, is_known, "{text}");
        }
    }

    #[test]
    fn deep_nesting_has_an_end() {
        for unit in
            ["$(", "(", "{ ", "\"$(", "`", "<(", "${a:-", "if ", "$((", "a <<E\n", "'", "\\"]
        {
            let _ = outline(&unit.repeat(5000));
        }
    }
}
