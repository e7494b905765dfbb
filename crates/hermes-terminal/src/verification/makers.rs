//! Programs that make targets, which say by their names what they verify.

use hermes_command::outline::Word;

use super::scope::{NONE, Options};
use super::scripts::by_name;
use super::{Checked, Scope, VerificationKind as Kind};
use crate::program::is_assignment;

/// What the targets verify.
pub(super) fn checked(name: &str, args: &[Word]) -> Checked {
    match name {
        "make" | "gmake" => make(args),
        "ninja" => {
            let flags = ["-n", "-t", "-v", "-h"];
            let is_idle =
                args.iter().any(|it| flags.contains(&it.text.as_str()) && it.text != "-v");
            let options = Options { letters: "Cfjkld", ..NONE };
            (!is_idle).then(|| targets(&options.operands(args), true)).flatten()
        }
        "cmake" => {
            let is_build = args.iter().any(|it| it.text == "--build");
            let target =
                args.iter().skip_while(|it| it.text != "--target" && it.text != "-t").nth(1);
            match target {
                _ if !is_build => None,
                Some(target) => targets(&[target.text.as_str()], true),
                None => Some((Kind::Build, Scope::Full)),
            }
        }
        "gradle" | "gradlew" => {
            let options = Options {
                letters: "pbxIPDc",
                names: &["tests", "exclude-task", "project-dir", "console"],
                ..NONE
            };
            let is_narrow = args.iter().any(|it| it.text == "--tests" || it.text.starts_with("-x"));
            let names = options.operands(args);
            let names: Vec<&str> =
                names.iter().map(|it| it.strip_prefix(':').unwrap_or(it)).collect();
            narrowed(targets(&names, false), is_narrow)
        }
        "mvn" | "mvnw" => maven(args),
        "turbo" | "nx" => {
            let names = NONE.operands(args);
            let names = match names.split_first() {
                Some((&("run" | "run-many" | "affected"), rest)) if !rest.is_empty() => {
                    rest.to_vec()
                }
                _ => names,
            };
            let is_narrow =
                args.iter().any(|it| it.text.starts_with("--filter") || it.text == "affected");
            narrowed(targets(&names, false), is_narrow)
        }
        "just" => {
            let options =
                Options { letters: "fd", names: &["justfile", "working-directory", "set"], ..NONE };
            let names = options.operands(args);
            // What follows a recipe may be its arguments.
            let (first, rest) = names.split_first()?;
            let more = !rest.is_empty() && rest.iter().any(|it| by_name(it).is_none());
            match more {
                true => narrowed(by_name(first), true),
                false => targets(&names, false),
            }
        }
        _ => targets(&NONE.operands(args), false),
    }
}

fn make(args: &[Word]) -> Checked {
    const OPTIONS: Options = Options {
        letters: "CfIjloW",
        names: &["directory", "file", "makefile", "include-dir", "jobs", "load-average"],
        ..NONE
    };
    /// Letters of options with which nothing is made, or failures are hidden.
    const IDLE: &str = "nqti";
    let is_idle = |it: &&Word| {
        let long = matches!(it.text.as_str(), "--question" | "--touch" | "--recon");
        let cluster = it.text.strip_prefix('-').filter(|it| !it.starts_with('-'));
        let own = |c: &char| !OPTIONS.letters.contains(*c);
        long || cluster.is_some_and(|it| it.chars().take_while(own).any(|c| IDLE.contains(c)))
    };
    if args.iter().any(|it| is_idle(&it)) {
        return None;
    }
    let operands = OPTIONS.operands(args);
    let (variables, names): (Vec<&str>, Vec<&str>) =
        operands.into_iter().partition(|it| is_assignment(it));
    let narrows = |it: &&str| {
        let name = it.split(['=', ':', '+', '?']).next().unwrap_or_default();
        ["TEST", "ARGS", "FILTER", "PKG", "PACKAGE", "ONLY", "FILES", "RUN", "PATTERN"]
            .iter()
            .any(|part| name.contains(part))
    };
    // `-j 4`: where the number is a word of its own it is no target.
    let names: Vec<&str> = names.into_iter().filter(|it| it.parse::<u32>().is_err()).collect();
    narrowed(targets(&names, true), variables.iter().any(narrows))
}

fn maven(args: &[Word]) -> Checked {
    let options = Options { letters: "fplsPTt", names: &["file", "projects", "threads"], ..NONE };
    let names = options.operands(args);
    let skips = args
        .iter()
        .any(|it| it.text.starts_with("-DskipTests") || it.text.starts_with("-Dmaven.test.skip"));
    let is_narrow = args.iter().any(|it| {
        it.text.starts_with("-Dtest=") || it.text.starts_with("-Dit.test=") || it.text == "-pl"
    });
    let kind = |name: &&str| match *name {
        "test" | "verify" | "integration-test" | "package" | "install" if !skips => {
            Some(Kind::Test)
        }
        "compile" | "test-compile" | "package" | "verify" | "install" => Some(Kind::Build),
        _ => None,
    };
    let kind = names.iter().filter_map(kind).max()?;
    narrowed(Some((kind, Scope::Full)), is_narrow)
}

/// What several targets verify together. Other targets than those that say what they verify are
/// only in the way.
fn targets(names: &[&str], builds: bool) -> Checked {
    if names.is_empty() {
        return builds.then_some((Kind::Build, Scope::Full));
    }
    let found = names.iter().filter_map(|name| match *name {
        "all" if builds => Some((Kind::Build, Scope::Full)),
        name => by_name(name),
    });
    let found: Vec<_> = found.collect();
    let kind = found.iter().map(|(kind, _)| *kind).max()?;
    let scopes = found.iter().filter(|(other, _)| *other == kind).map(|(_, scope)| *scope);
    Some((kind, scopes.max()?))
}

fn narrowed(checked: Checked, is_narrow: bool) -> Checked {
    checked.map(|(kind, scope)| (kind, if is_narrow { Scope::Targeted } else { scope }))
}
