//! Finding the tool a model meant when it got the name slightly wrong.
//!
//! Only the shape of a name is repaired, and typing errors. A name that is merely similar to a
//! tool's belongs to a tool that doesn't exist, and running another one in its place can do harm.

use std::cmp::Reverse;

use strsim::{damerau_levenshtein, normalized_damerau_levenshtein};

use crate::tokens::camel_parts;

/// Shortest name, in characters, that one typing error is accepted in.
const ONE_ERROR_CHARS: usize = 5;
/// Shortest name, in characters, that two typing errors are accepted in, if the tool only reads.
const TWO_ERRORS_CHARS: usize = 10;
/// Longest name, in characters, that is compared with others.
const LONGEST_NAME: usize = 128;
/// Most names that are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// Similarity (0 to 1) from which a name without a common word is suggested.
const SUGGESTED_SIMILARITY: f64 = 0.6;

const NAMESPACES: [&str; 4] = ["functions.", "default_api.", "default_api:", "tools."];
const WRAPPERS: [(char, char); 9] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('<', '>'),
    ('“', '”'),
    ('‘', '’'),
];
/// A word with one of these before it means the opposite.
const NEGATIONS: [&str; 3] = ["un", "de", "dis"];
/// Words as close as typing errors that nobody mistypes for each other.
const OPPOSITES: [(&str, &str); 9] = [
    ("get", "set"),
    ("push", "pull"),
    ("import", "export"),
    ("attach", "detach"),
    ("encode", "decode"),
    ("encrypt", "decrypt"),
    ("include", "exclude"),
    ("increase", "decrease"),
    ("undo", "redo"),
];

/// What became of a tool name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameRepair {
    /// The name is a tool's.
    Exact,
    /// This tool was meant.
    Repaired(String),
    /// No tool can safely be said to be meant.
    NoRepair {
        /// Up to three tools that the model may have had in mind, the likeliest first.
        suggestions: Vec<String>,
    },
    /// There is no name.
    Blank,
}

/// Finds the tool among `valid` that `name` stands for.
///
/// In this order: the name itself; the name without what surrounds it (blanks, quotes, brackets,
/// a namespace such as `functions.`, call parentheses, leaked markup); the same in lower case,
/// with `_` for `-` and blanks, from camel case, without a trailing `tool`; and at last with one
/// typing error, or two if the name is long and `is_read_only` says that the tool changes nothing.
/// What fits several tools equally well fits none.
#[must_use]
pub fn repair_tool_name<V: AsRef<str>>(
    name: &str,
    valid: &[V],
    is_read_only: impl Fn(&str) -> bool,
) -> NameRepair {
    if valid.iter().any(|tool| tool.as_ref() == name) {
        return NameRepair::Exact;
    }
    let bare = unwrap_name(name);
    if bare.is_empty() {
        return NameRepair::Blank;
    }
    let tools: Vec<Tool<'_>> = valid.iter().map(|tool| Tool::new(tool.as_ref())).collect();
    if let Some(tool) = tools.iter().find(|tool| tool.name == bare) {
        return NameRepair::Repaired(tool.name.to_owned());
    }
    let forms = normal_forms(bare);
    let same_form = forms.iter().find_map(|form| only_tool_of_form(form, &tools));
    if let Some(tool) = same_form.or_else(|| typing_error(&forms, &tools, is_read_only)) {
        return NameRepair::Repaired(tool.to_owned());
    }
    NameRepair::NoRepair { suggestions: suggest(&forms, &tools) }
}

struct Tool<'a> {
    name: &'a str,
    form: String,
}

impl<'a> Tool<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, form: normalize(name) }
    }
}

/// Takes off what surrounds a name.
fn unwrap_name(name: &str) -> &str {
    let name = strip_call(strip_wrappers(name));
    let name = strip_call(strip_wrappers(strip_namespace(name)));
    strip_markup(name)
}

fn strip_wrappers(name: &str) -> &str {
    let mut name = name.trim();
    while let Some(inner) =
        WRAPPERS.iter().find_map(|(open, close)| name.strip_prefix(*open)?.strip_suffix(*close))
    {
        name = inner.trim();
    }
    // A quote that is only closed further on, or never.
    name.trim_start_matches(['"', '\'', '`']).trim_end_matches('`').trim()
}

fn strip_namespace(name: &str) -> &str {
    NAMESPACES
        .iter()
        .find_map(|space| {
            let (head, rest) = name.split_at_checked(space.len())?;
            head.eq_ignore_ascii_case(space).then_some(rest)
        })
        .unwrap_or(name)
        .trim()
}

fn strip_call(name: &str) -> &str {
    let inner = name.strip_suffix(')').map(str::trim_end).and_then(|name| name.strip_suffix('('));
    inner.unwrap_or(name).trim_end()
}

/// Cuts off attributes of markup that leaked into the name: `terminal" mode="fast`.
fn strip_markup(name: &str) -> &str {
    let cut = name.find(['"', '\'', '<', '>']).filter(|at| *at > 0);
    let Some(name) = cut.and_then(|at| name.get(..at)).map(str::trim_end) else { return name };
    // What was cut off was the value of an attribute whose name remains.
    match name.strip_suffix('=') {
        Some(rest) => {
            rest.rsplit_once(char::is_whitespace).map_or(rest, |(name, _)| name.trim_end())
        }
        None => name,
    }
}

/// The forms of `name` that may be a tool's, in the order in which they are tried.
fn normal_forms(name: &str) -> Vec<String> {
    let mut forms = Vec::new();
    let mut name = name;
    // At most two suffixes are taken off.
    for _ in 0..3 {
        for form in [normalize(name), normalize(&camel_parts(name).join("_"))] {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        match strip_tool(name) {
            Some(rest) => name = rest,
            None => break,
        }
    }
    forms
}

/// Lower case, and `_` for `-` and blanks.
fn normalize(name: &str) -> String {
    let lower = name.to_lowercase();
    lower.chars().map(|c| if c == '-' || c.is_whitespace() { '_' } else { c }).collect()
}

/// Takes off a trailing `tool` and what joins it to the name.
fn strip_tool(name: &str) -> Option<&str> {
    let (head, tail) = name.split_at_checked(name.len().checked_sub("tool".len())?)?;
    let head = head.trim_end_matches(|c: char| c == '_' || c == '-' || c.is_whitespace());
    (tail.eq_ignore_ascii_case("tool") && !head.is_empty()).then_some(head)
}

fn only_tool_of_form<'a>(form: &str, tools: &[Tool<'a>]) -> Option<&'a str> {
    if let Some(tool) = tools.iter().find(|tool| tool.name == form) {
        return Some(tool.name);
    }
    let mut fitting = tools.iter().filter(|tool| tool.form == form).map(|tool| tool.name);
    let first = fitting.next()?;
    fitting.all(|other| other == first).then_some(first)
}

/// The tool that `forms` differ from by a typing error or two, if no other is as close.
fn typing_error<'a>(
    forms: &[String],
    tools: &[Tool<'a>],
    is_read_only: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let mut close: Vec<(usize, &Tool<'a>, &str)> = Vec::new();
    for form in forms {
        let chars = form.chars().count();
        if !(ONE_ERROR_CHARS..=LONGEST_NAME).contains(&chars) {
            continue;
        }
        let allowed = if chars >= TWO_ERRORS_CHARS { 2 } else { 1 };
        for tool in tools {
            if tool.form.chars().count().abs_diff(chars) <= allowed {
                let distance = damerau_levenshtein(form, &tool.form);
                if distance <= allowed {
                    close.push((distance, tool, form));
                }
            }
        }
    }
    let (distance, best, form) = close.iter().min_by_key(|(distance, ..)| *distance)?;
    let rivals = close.iter().any(|(d, tool, _)| d == distance && tool.name != best.name);
    let permitted = *distance <= 1 || is_read_only(best.name);
    (permitted && !rivals && !means_the_opposite(form, &best.form, *distance)).then_some(best.name)
}

/// Whether `name` is as close to the negation of `tool` as to `tool` itself, or has an opposite
/// word in the same place.
fn means_the_opposite(name: &str, tool: &str, distance: usize) -> bool {
    let words: Vec<&str> = tool.split('_').collect();
    let opposite_words = name
        .split('_')
        .zip(&words)
        .any(|(a, b)| OPPOSITES.iter().any(|(x, y)| (a, *b) == (*x, *y) || (a, *b) == (*y, *x)));
    opposite_words
        || words.iter().enumerate().any(|(at, word)| {
            let with = |other: &str| {
                let mut words = words.clone();
                if let Some(word) = words.get_mut(at) {
                    *word = other;
                }
                damerau_levenshtein(name, &words.join("_")) <= distance
            };
            NEGATIONS.iter().any(|negation| {
                with(&format!("{negation}{word}"))
                    || word
                        .strip_prefix(negation)
                        .is_some_and(|bare| !bare.is_empty() && with(bare))
            })
        })
}

/// The tools most like `forms`, by common words and then by spelling.
fn suggest(forms: &[String], tools: &[Tool<'_>]) -> Vec<String> {
    // The last form is the barest one.
    let Some(form) = forms.last().filter(|form| form.chars().count() <= LONGEST_NAME) else {
        return Vec::new();
    };
    let mut likely: Vec<(usize, f64, &str)> = tools
        .iter()
        .map(|tool| {
            let common = form
                .split('_')
                .filter(|word| word.len() > 1 && tool.form.split('_').any(|other| other == *word))
                .count();
            (common, normalized_damerau_levenshtein(form, &tool.form), tool.name)
        })
        .filter(|(common, similarity, _)| *common > 0 || *similarity >= SUGGESTED_SIMILARITY)
        .collect();
    likely.sort_by(|a, b| {
        Reverse(a.0).cmp(&Reverse(b.0)).then(b.1.total_cmp(&a.1)).then(a.2.cmp(b.2))
    });
    likely.dedup_by_key(|(.., name)| *name);
    likely.into_iter().take(MAX_SUGGESTIONS).map(|(.., name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    const TOOLS: &[&str] = &[
        "clarify",
        "kanban_block",
        "memory",
        "patch",
        "read_file",
        "search_files",
        "terminal",
        "todo",
        "web_search",
        "write_file",
    ];

    fn repair(name: &str, tools: &[&str], read_only: bool) -> Option<String> {
        match repair_tool_name(name, tools, |_| read_only) {
            NameRepair::Exact => Some(name.to_owned()),
            NameRepair::Repaired(tool) => Some(tool),
            NameRepair::NoRepair { .. } | NameRepair::Blank => None,
        }
    }

    fn check(name: &str, tools: &[&str], read_only: bool, expected: Option<&str>) {
        assert_eq!(repair(name, tools, read_only).as_deref(), expected, "{name}");
    }

    #[test]
    fn shapes() {
        for (name, tool) in [
            ("read_file", "read_file"),
            (" read_file\n", "read_file"),
            ("Web Search", "web_search"),
            ("web-search", "web_search"),
            ("ReadFile", "read_file"),
            ("READ_FILE", "read_file"),
            ("TodoTool_tool", "todo"),
            ("terminal-tool", "terminal"),
            ("ReadFile Tool", "read_file"),
            ("functions.read_file", "read_file"),
            ("Functions.ReadFile()", "read_file"),
            ("default_api:read_file", "read_file"),
            ("default_api.read_file( )", "read_file"),
            ("tools.todo", "todo"),
            ("`functions.read_file()`", "read_file"),
            ("functions.\"read_file\"", "read_file"),
            ("<read_file>", "read_file"),
            ("[\"todo\"]", "todo"),
            ("“todo”", "todo"),
            ("terminal\" parameter=\"command\" string=\"true", "terminal"),
            ("\"terminal\" parameter=\"x", "terminal"),
            ("terminal parameter=\"x\"", "terminal"),
            ("todo>x", "todo"),
            ("todo'", "todo"),
        ] {
            check(name, TOOLS, false, Some(tool));
        }
    }

    #[test]
    fn typing_errors() {
        check("serach_files", TOOLS, false, Some("search_files"));
        check("terminl", TOOLS, false, Some("terminal"));
        check("ReadFlieTool", TOOLS, false, Some("read_file"));
        check("patc", TOOLS, false, None);
        check("tood", TOOLS, false, None);
        check("serch_filez", TOOLS, false, None);
        check("serch_filez", TOOLS, true, Some("search_files"));
        check("red_fle", TOOLS, true, None);
        check("edit_file", TOOLS, true, None);
        check("list_files", TOOLS, true, None);
        check("aa_tool_b", &["aa_tool_a", "aa_tool_c"], false, None);
        check("functions.tools.todo", TOOLS, false, None);
    }

    #[test]
    fn opposites_are_not_typing_errors() {
        for (name, tool) in [
            ("kanban_unblock", "kanban_block"),
            ("kanban_block", "kanban_unblock"),
            ("kanban_nblock", "kanban_block"),
            ("service_deactivate", "service_activate"),
            ("ha_set_state", "ha_get_state"),
            ("git_remote_push", "git_remote_pull"),
        ] {
            check(name, &[tool], true, None);
        }
        check("kanban_unblok", &["kanban_unblock"], false, Some("kanban_unblock"));
        check("delte_file", &["delete_file"], false, Some("delete_file"));
        check("delegate_tsk", &["delegate_task"], false, Some("delegate_task"));
    }

    #[test]
    fn ambiguity_is_not_resolved() {
        check("ALPHA", &["Alpha", "aLpha"], false, None);
        check("ALPHA", &["Alpha", "alpha"], false, Some("alpha"));
        check("MCP__GitHub__Get", &["mcp__GitHub__get"], false, Some("mcp__GitHub__get"));
    }

    #[test]
    fn blank_names() {
        for name in ["", "  ", "\"\"", "()", "functions."] {
            assert_eq!(repair_tool_name(name, TOOLS, |_| true), NameRepair::Blank, "{name:?}");
        }
    }

    #[test]
    fn suggestions() {
        let check = |name: &str, expected: &[&str]| {
            let NameRepair::NoRepair { suggestions } = repair_tool_name(name, TOOLS, |_| false)
            else {
                panic!("{name} was repaired");
            };
            assert_eq!(suggestions, expected, "{name}");
        };
        check("edit_file", &["write_file", "read_file"]);
        check("search", &["web_search", "search_files"]);
        check("zzz", &[]);
    }

    proptest! {
        #[test]
        fn only_given_names_come_out(
            name in "[a-cA-C_\\-\"<()` .]{0,14}|\\PC{0,20}",
            tools in prop::collection::vec("[a-cA-C_\\-]{0,12}", 0..6),
            read_only: bool,
        ) {
            match repair_tool_name(&name, &tools, |_| read_only) {
                NameRepair::Exact => prop_assert!(tools.contains(&name)),
                NameRepair::Repaired(tool) => prop_assert!(tools.contains(&tool)),
                NameRepair::NoRepair { suggestions } => {
                    prop_assert!(suggestions.len() <= 3);
                    prop_assert!(suggestions.iter().all(|tool| tools.contains(tool)));
                }
                NameRepair::Blank => {}
            }
        }
    }
}
