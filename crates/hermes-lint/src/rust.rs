//! Rust, by the parser of rust-analyzer.

use memchr::memmem;
use ra_ap_parser::{Edition, LexedStr, StrStep, SyntaxKind, TopEntryPoint};

use crate::deep;
use crate::problem::{MAX_FOUND, Parsed, Problem};

/// The longest text that is looked at, in bytes.
const MAX_SIZE: usize = 1024 * 1024;

/// Stack that a level may take, in bytes. A `{` was seen to take the most, less than 2048, or 4096
/// when nothing is optimised.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 8192 } else { 4096 };

/// The edition isn't in the file: what parses in any is all right. An older one is tried for a file
/// with one of the words that it doesn't reserve.
const EDITIONS: [(Edition, &[&str]); 3] = [
    (Edition::Edition2024, &[]),
    (Edition::Edition2018, &["gen"]),
    (Edition::Edition2015, &["async", "await", "dyn", "try"]),
];

/// What the parser calls by its own names.
const SIGNS: [(&str, &str); 12] = [
    ("SEMICOLON", "`;`"),
    ("COMMA", "`,`"),
    ("COLON2", "`::`"),
    ("COLON", "`:`"),
    ("THIN_ARROW", "`->`"),
    ("FAT_ARROW", "`=>`"),
    ("L_PAREN", "`(`"),
    ("R_PAREN", "`)`"),
    ("L_BRACK", "`[`"),
    ("R_BRACK", "`]`"),
    ("L_CURLY", "`{`"),
    ("R_CURLY", "`}`"),
];

pub(crate) fn parse(text: &str) -> Parsed {
    if text.len() > MAX_SIZE {
        return Parsed::Unknown("the file is too large to be checked");
    }
    let mut fewest = Parsed::Sound;
    for (edition, words) in EDITIONS {
        let differs =
            words.iter().any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some());
        if !differs && !words.is_empty() {
            continue;
        }
        match parse_as(text, edition) {
            Parsed::Broken(problems) => match &fewest {
                Parsed::Broken(known) if known.len() <= problems.len() => {}
                _ => fewest = Parsed::Broken(problems),
            },
            other => return other,
        }
    }
    fewest
}

fn parse_as(text: &str, edition: Edition) -> Parsed {
    let tokens = LexedStr::new(edition, text);
    let levels = (0..tokens.len()).filter(|&token| may_nest(&tokens, token, edition)).count();
    deep::run(text, levels.saturating_mul(STACK_PER_LEVEL), move |text| {
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
        let problem =
            |(offset, message): &(usize, String)| Problem::at(text, *offset, &with_signs(message));
        found.iter().map(problem).collect::<Vec<_>>().into()
    })
}

/// A message with signs in place of the parser's names for them.
fn with_signs(message: &str) -> String {
    let sign = |word: &&str| SIGNS.iter().find(|(name, _)| name == word).map(|(_, sign)| *sign);
    let words = message.split(' ').map(|word| sign(&word).unwrap_or(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Whether the parser may go a level deeper at this token.
fn may_nest(tokens: &LexedStr<'_>, token: usize, edition: Edition) -> bool {
    match tokens.kind(token) {
        SyntaxKind::IDENT => {
            SyntaxKind::from_contextual_keyword(tokens.text(token), edition).is_some()
        }
        SyntaxKind::COMMA
        | SyntaxKind::SEMICOLON
        | SyntaxKind::COLON
        | SyntaxKind::R_PAREN
        | SyntaxKind::R_BRACK
        | SyntaxKind::R_CURLY
        | SyntaxKind::R_ANGLE
        | SyntaxKind::LIFETIME_IDENT => false,
        kind => !kind.is_trivia() && !kind.is_literal(),
    }
}
