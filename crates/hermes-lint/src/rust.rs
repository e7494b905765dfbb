//! Rust, by the parser of rust-analyzer.

use ra_ap_parser::{Edition, LexedStr, StrStep, TopEntryPoint};

use crate::deep;
use crate::problem::{MAX_FOUND, Parsed, Problem};

/// Stack that a token may take, in bytes. A `{` was seen to take the most, less than 2048, or 4096
/// when nothing is optimised.
const STACK_PER_TOKEN: usize = if cfg!(debug_assertions) { 8192 } else { 4096 };

/// The edition isn't in the file. What parses in any is all right.
const EDITIONS: [Edition; 3] = [Edition::Edition2024, Edition::Edition2018, Edition::Edition2015];

pub(crate) fn parse(text: &str) -> Parsed {
    deep::run(text, STACK_PER_TOKEN, || {
        let mut fewest: Option<Vec<Problem>> = None;
        for edition in EDITIONS {
            let problems = problems(text, edition);
            if problems.is_empty() {
                return Parsed::Sound;
            }
            if fewest.as_ref().is_none_or(|fewest| problems.len() < fewest.len()) {
                fewest = Some(problems);
            }
        }
        fewest.unwrap_or_default().into()
    })
}

fn problems(text: &str, edition: Edition) -> Vec<Problem> {
    let tokens = LexedStr::new(edition, text);
    let output = TopEntryPoint::SourceFile.parse(&tokens.to_input(edition));
    let mut found: Vec<(usize, String)> = tokens
        .errors()
        .map(|(token, message)| (tokens.text_start(token), message.into()))
        .collect();
    tokens.intersperse_trivia(&output, &mut |step| {
        if let StrStep::Error { msg, pos } = step {
            found.push((pos, msg.into()));
        }
    });
    found.sort_by_key(|(offset, _)| *offset);
    found.truncate(MAX_FOUND);
    found.iter().map(|(offset, message)| Problem::at(text, *offset, message)).collect()
}
