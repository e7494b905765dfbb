//! Scripts of a project, which say by their names what they verify.

use hermes_command::outline::Word;

use super::scope::{NONE, Options};
use super::{Checked, Scope, VerificationKind as Kind};
use crate::program::after_options;

/// What a name says: `test`, `lint:js`, `type-check`. Targeted where the name says that it is only
/// part of it.
pub(super) fn by_name(name: &str) -> Checked {
    const WHOLE: [&str; 8] = ["all", "ci", "coverage", "cov", "run", "once", "full", "prod"];
    let (first, rest) = name.split_once([':', '.']).unwrap_or((name, ""));
    if rest
        .split([':', '.'])
        .any(|part| matches!(part, "watch" | "fix" | "debug" | "ui" | "update"))
    {
        return None;
    }
    let (kind, is_whole) = match first {
        "test" | "tests" | "check" | "verify" | "ci" | "validate" | "run-tests" | "run_tests"
        | "runtests" | "test-all" | "test_all" | "check-all" | "testall" => (Kind::Test, true),
        "lint" | "linting" | "eslint" | "lint-check" | "format-check" | "fmt-check" | "clippy"
        | "lint-all" => (Kind::Lint, true),
        "typecheck" | "type-check" | "types" | "tsc" | "mypy" | "check-types" | "typing"
        | "type_check" | "pyright" => (Kind::Typecheck, true),
        "build" | "compile" | "build-all" => (Kind::Build, true),
        _ => match first.split(['-', '_']).next() {
            Some("test") => (Kind::Test, false),
            Some("lint") => (Kind::Lint, false),
            _ => return None,
        },
    };
    // `check:types` and the like: the second word is the work.
    if matches!(first, "check" | "ci" | "verify") && !rest.is_empty() {
        return by_name_of_part(rest).or(Some((kind, Scope::Targeted)));
    }
    let is_whole = is_whole && (rest.is_empty() || WHOLE.contains(&rest));
    Some((kind, if is_whole { Scope::Full } else { Scope::Targeted }))
}

fn by_name_of_part(part: &str) -> Checked {
    let kind = match part {
        "types" | "type" | "ts" | "tsc" | "typescript" => Kind::Typecheck,
        "lint" | "format" | "fmt" | "style" | "eslint" | "prettier" => Kind::Lint,
        "build" => Kind::Build,
        "test" | "tests" => Kind::Test,
        _ => return None,
    };
    Some((kind, Scope::Full))
}

/// Scripts of a package: `npm test`, `yarn lint`, `pnpm run build`.
pub(super) fn checked(manager: &str, args: &[Word]) -> Checked {
    const NAMES: [&str; 6] = ["filter", "prefix", "dir", "cwd", "workspace", "silent"];
    // Everywhere before the script's own arguments.
    let own = args.iter().take_while(|it| it.text != "--");
    let is_part = own.clone().any(|it| {
        let name = it.text.split('=').next().unwrap_or_default();
        matches!(name, "-w" | "--workspace" | "--filter" | "-F" | "--scope")
    });
    if own.clone().any(|it| it.text == "--if-present") {
        // A script that isn't there passes.
        return None;
    }
    let rest = after_options(args, "wCF", NAMES.get(..5).unwrap_or_default());
    let (first, rest) = rest.split_first()?;
    let (name, rest) = match first.text.as_str() {
        "run" | "run-script" => {
            let (name, rest) =
                after_options(rest, "wCF", NAMES.get(..5).unwrap_or_default()).split_first()?;
            (name.text.as_str(), rest)
        }
        "t" | "tst" if matches!(manager, "npm" | "pnpm") => ("test", rest),
        "test" => ("test", rest),
        // npm runs no other scripts without `run`; of `bun`, `build` is a bundler of its own.
        name if matches!(manager, "yarn" | "pnpm") => (name, rest),
        _ => return None,
    };
    let (kind, scope) = by_name(name)?;
    let options = Options {
        letters: "wCF",
        narrow: &["-t", "-g", "--grep", "--testNamePattern", "--testPathPattern"],
        names: NAMES.get(..5).unwrap_or_default(),
        ..NONE
    };
    // The script's own options come after `--`, or, with yarn and pnpm, at once.
    let named = options.scope(rest);
    let behind = rest.iter().skip_while(|it| it.text != "--").skip(1);
    let watches = rest.iter().any(|it| matches!(it.text.as_str(), "--watch" | "--watchAll"))
        || behind.clone().any(|it| matches!(it.text.as_str(), "--help" | "--list"));
    let narrows = behind.clone().any(|it| options.narrow.contains(&it.text.as_str()));
    let scope = if is_part || narrows { Scope::Targeted } else { scope.min(named) };
    (!watches).then_some((kind, scope))
}

/// A script of the project itself: `scripts/run_tests.sh`.
pub(super) fn of_project(name: &str, args: &[Word]) -> Checked {
    let stem = name.strip_suffix(".sh")?;
    let (kind, scope) = by_name(stem)?;
    Some((kind, scope.min(NONE.scope(args))))
}
