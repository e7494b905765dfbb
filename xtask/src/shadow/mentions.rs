//! Descriptions that name other tools: the model would call what it may not see.

use std::collections::BTreeSet;

use crate::dump::Dump;
use crate::finding::Finding;

/// Mentions of `known` tools in static descriptions, outside the templates that guard them.
pub(super) fn findings(dump: &Dump, known: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (own, tool) in &dump.tools {
        for other in mentioned(&Dump::text(tool, "static_description"), own, known) {
            let message = format!(
                "its description names {other} outside a template: write [[{other}|..]] around it"
            );
            findings.push(Finding::new(own.as_str(), 0, message));
        }
    }
    findings
}

/// The tools that `text` names without a guard, besides `own`.
fn mentioned<'a>(text: &str, own: &str, known: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let pieces = pieces(text);
    let names = |piece: &Piece<'_>, name: &str| {
        !piece.guards.contains(&name) && positions(piece.text, name).any(|it| is_mention(&it, name))
    };
    let others = known.iter().filter(|name| **name != own);
    others.filter(|name| pieces.iter().any(|piece| names(piece, name))).copied().collect()
}

/// A stretch of a description and the tools that must be there for it to be shown.
struct Piece<'a> {
    guards: Vec<&'a str>,
    text: &'a str,
}

/// Splits at templates, `[[NAME,..|text]]`, in the way hermes-registry renders them.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[[") {
        found.push(Piece { guards: Vec::new(), text: before });
        let template = after.split_once("]]").and_then(|(body, tail)| {
            body.split_once('|').map(|(guards, shown)| (guards, shown, tail))
        });
        rest = match template {
            Some((guards, text, tail)) => {
                let guards = guards.split(',').map(str::trim).collect();
                found.push(Piece { guards, text });
                tail
            }
            None => after,
        };
    }
    found.push(Piece { guards: Vec::new(), text: rest });
    found
}

/// Where a name stands: what is before it and what is after it.
struct Position<'a> {
    before: &'a str,
    after: &'a str,
}

/// Where `name` stands as a whole word.
fn positions<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = Position<'a>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .filter_map(move |(at, _)| {
            let (before, rest) = text.split_at_checked(at)?;
            Some(Position { before, after: rest.strip_prefix(name)? })
        })
        .filter(move |it| !it.before.ends_with(is_word) && !it.after.starts_with(is_word))
}

/// Whether a word that is a tool's name is meant as the tool.
///
/// `read_file` always is. `process` or `memory` are ordinary words, unless they are quoted, called
/// or said to be a tool.
fn is_mention(at: &Position<'_>, name: &str) -> bool {
    let quoted = at.before.ends_with(['`', '"', '\'']) && at.after.starts_with(['`', '"', '\'']);
    name.contains('_') || quoted || at.after.starts_with('(') || at.after.starts_with(" tool")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_outside_templates() {
        let known = BTreeSet::from(["read_file", "write_file", "process", "patch"]);
        for (text, expected) in [
            ("Reads a file.", vec![]),
            ("Use read_file first.", vec!["read_file"]),
            ("Reads read_files and unread_file, preread_file.", vec![]),
            ("Writes with write_file (itself).", vec![]),
            ("[[read_file|Use read_file first.]] Then write.", vec![]),
            ("[[!read_file|There is no read_file.]]", vec!["read_file"]),
            ("[[process|Use read_file and `process`.]]", vec!["read_file"]),
            ("[[process, read_file|Use read_file and `process`.]]", vec![]),
            ("Open [[read_file without an end", vec!["read_file"]),
            ("Process a patch in the process.", vec![]),
            ("See `process`, patch(x) or the process tool.", vec!["patch", "process"]),
        ] {
            assert_eq!(mentioned(text, "write_file", &known), expected, "{text}");
        }
    }
}
