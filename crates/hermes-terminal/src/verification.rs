//! What the exit code of a command proves about the work: that tests passed, that a build failed.

mod makers;
mod programs;
mod runners;
mod scope;
mod scripts;

use std::fmt::Write as _;

use hermes_command::outline::{Command, Part, Word, outline};

use crate::program::program;
use crate::sources::{Loops, sources};

/// Longest command that is looked into, in bytes.
const MOST: usize = 64 * 1024;

/// Most characters of a canonical command.
const MOST_SHOWN: usize = 300;

/// What was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VerificationKind {
    /// Style and likely mistakes.
    Lint,
    /// That it can be built.
    Build,
    /// That its types fit.
    Typecheck,
    /// That it does what its tests want.
    Test,
}

impl VerificationKind {
    /// The name in results: `test`, `lint`, ..
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lint => "lint",
            Self::Build => "build",
            Self::Typecheck => "typecheck",
            Self::Test => "test",
        }
    }
}

/// How much was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Only what was named: paths, packages, filters.
    Targeted,
    /// Everything that the program finds by itself.
    Full,
}

impl Scope {
    /// The name in results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Targeted => "targeted",
            Self::Full => "full",
        }
    }
}

/// What a finished command proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Whether it went well.
    pub has_passed: bool,
    /// What was verified.
    pub kind: VerificationKind,
    /// How much of it.
    pub scope: Scope,
    /// The command that verified it, in one form however it was written: without folders,
    /// variables and wrappers before it.
    pub command: String,
}

/// What a finished command proves by its exit code: test runners, type checkers, linters and
/// builds. None where the code comes from another command, as in `cargo test | tail` and
/// `make || true`, or where it isn't sure what it says.
///
/// ```
/// use hermes_terminal::{Scope, VerificationKind, verification};
///
/// let proof = verification("cd api && RUST_LOG=debug cargo test 'parse::' 2>&1", 101).unwrap();
/// assert_eq!((proof.kind, proof.scope), (VerificationKind::Test, Scope::Targeted));
/// assert_eq!((proof.has_passed, proof.command.as_str()), (false, "cargo test parse::"));
/// assert_eq!(verification("cargo test | tail -3", 0), None);
/// ```
#[must_use]
pub fn verification(text: &str, exit_code: i32) -> Option<Verification> {
    if text.len() > MOST || is_no_verdict(exit_code) {
        return None;
    }
    let outline = outline(text);
    let parts = outline.scripts.first().filter(|_| outline.is_complete)?.parts.as_slice();
    if parts.iter().any(|part| may_leave(part, exit_code)) {
        return None;
    }
    let mut found: Vec<(Found, &Command)> = Vec::new();
    // The last command comes first.
    for command in sources(parts, Loops::Unknown)?.into_iter().rev() {
        match look(command, exit_code) {
            Look::Verifies(check) => found.push((check, command)),
            Look::Prepares => {}
            // Whatever it is, it may be what failed.
            Look::Other if exit_code == 0 => {}
            Look::Other | Look::Unclear => return None,
        }
    }
    if options(parts).any(|at| at.is_none_or(|at| found.iter().any(|(_, it)| it.span.start < at))) {
        return None;
    }
    let kind = found.iter().map(|(check, _)| check.kind).max()?;
    if exit_code != 0 && found.iter().any(|(check, _)| check.kind != kind) {
        return None;
    }
    found.retain(|(check, _)| check.kind == kind);
    let scope = found.iter().map(|(check, _)| check.scope).max()?;
    let shown: Vec<String> =
        found.iter().map(|(check, command)| canonical(text, command, check)).collect();
    let mut command = shown.join(" && ");
    if let Some((at, _)) = command.char_indices().nth(MOST_SHOWN) {
        command.truncate(at);
        command.push('…');
    }
    Some(Verification { has_passed: exit_code == 0, kind, scope, command })
}

/// Where options of the shell are set; none where one is taken back. They hold from there on only.
fn options(parts: &[Part]) -> impl Iterator<Item = Option<usize>> {
    parts.iter().filter_map(|part| {
        let Part::Command(command) = part else { return None };
        let (first, args) = command.words.split_first()?;
        let takes_back = args.iter().any(|it| it.text.starts_with('+') || !it.is_known);
        (first.text == "set").then(|| (!takes_back).then_some(command.span.start))
    })
}

/// Codes that say that nothing was found out: the program wasn't there, or was ended.
fn is_no_verdict(exit_code: i32) -> bool {
    /// Crashes: ILL, TRAP, ABRT, BUS, FPE and SEGV.
    const CRASHES: [i32; 6] = [132, 133, 134, 135, 136, 139];
    match exit_code {
        126 | 127 => true,
        code if code > 128 && code <= 192 => !CRASHES.contains(&code),
        code => code < 0,
    }
}

/// Whether a command may have ended the script with the code, which is none of a verification then.
fn may_leave(part: &Part, exit_code: i32) -> bool {
    let Part::Command(command) = part else { return false };
    let Some((first, args)) = command.words.split_first() else { return false };
    match first.text.as_str() {
        "exit" | "return" => {
            let code = args.first().filter(|it| it.is_known);
            code.and_then(|it| it.text.parse::<u8>().ok())
                .is_none_or(|it| i32::from(it) == exit_code)
        }
        "exec" | "trap" | "eval" => true,
        _ => false,
    }
}

/// What a command is to the one who wants to know.
enum Look {
    Verifies(Found),
    /// It fails so seldom that a failure isn't its own.
    Prepares,
    Other,
    /// It verifies, but its code doesn't say what it found.
    Unclear,
}

/// A command that verifies.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) kind: VerificationKind,
    pub(crate) scope: Scope,
    /// How many of its words stand before the program that is shown.
    skipped: usize,
}

/// What a program with its arguments verifies, and how much.
pub(crate) type Checked = Option<(VerificationKind, Scope)>;

fn look(command: &Command, exit_code: i32) -> Look {
    if command.is_negated {
        return Look::Unclear;
    }
    if command.is_test || command.words.is_empty() {
        return Look::Prepares;
    }
    let Some(program) = program(command) else { return Look::Other };
    let skipped = command.words.len() - program.args.len() - 1;
    let is_timed = program.wrappers.iter().any(|it| matches!(*it, "timeout" | "gtimeout"));
    let (name, args) = runners::behind_runners(program.name, program.args);
    let is_known = program.args.len() == args.len()
        || command.words.get(command.words.len() - args.len() - 1).is_some_and(|it| it.is_known);
    match programs::checked(name, args) {
        Some(_) if !is_known => Look::Unclear,
        Some(_) if is_timed && exit_code == 124 => Look::Unclear,
        Some(_) if programs::tells_nothing(name, args, exit_code) => Look::Unclear,
        Some((kind, scope)) => Look::Verifies(Found { kind, scope, skipped }),
        None if programs::prepares(program.name) => Look::Prepares,
        None => Look::Other,
    }
}

/// The words of a command in one form.
fn canonical(text: &str, command: &Command, found: &Found) -> String {
    let mut shown = String::new();
    for (at, word) in command.words.iter().skip(found.skipped).enumerate() {
        let word = match at {
            0 => first(word),
            _ => plain(text, word),
        };
        let space = if at == 0 { "" } else { " " };
        let _ = write!(shown, "{space}{word}");
    }
    shown
}

/// The program: without its folder, unless it is a script of the project.
fn first(word: &Word) -> &str {
    let is_own = word.text.ends_with(".sh") || !word.text.contains("bin/");
    if is_own { word.text.trim_start_matches("./") } else { crate::program::base_name(&word.text) }
}

/// A word without quotes if it needs none, else as it is written.
fn plain<'a>(text: &'a str, word: &'a Word) -> &'a str {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%^".contains(c);
    if word.is_known && !word.text.is_empty() && word.text.chars().all(is_plain) {
        return &word.text;
    }
    text.get(word.span.clone()).unwrap_or(&word.text)
}

#[cfg(test)]
#[path = "verification_tests.rs"]
mod tests;
