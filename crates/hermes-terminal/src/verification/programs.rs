//! Programs that verify.

use hermes_command::outline::Word;

use super::scope::{NONE, Options};
use super::{Checked, Scope, VerificationKind as Kind, makers, scripts};
use crate::program::after_options;

/// What a program with its arguments verifies. None too where it only tells, watches, mends or
/// hides what it found.
pub(super) fn checked(name: &str, args: &[Word]) -> Checked {
    const IDLE: [&str; 24] = [
        "--help",
        "-h",
        "--version",
        "--collect-only",
        "--co",
        "--list",
        "--listTests",
        "--list-tests",
        "--fixtures",
        "--markers",
        "--watch",
        "--watchAll",
        "--watch-all",
        "--exit-zero",
        "--init",
        "--showConfig",
        "--print-config",
        "--dry-run",
        "--just-print",
        "--env-info",
        "--show-settings",
        "--show-files",
        "--ignore-errors",
        "--setup-only",
    ];
    let own = args.iter().take_while(|it| it.text != "--");
    if own.clone().any(|it| IDLE.contains(&it.text.as_str())) {
        return None;
    }
    let has = |options: &[&str]| own.clone().any(|it| options.contains(&it.text.as_str()));
    let plain = |kind: Kind, options: Options| Some((kind, options.scope(args)));
    match name {
        "pytest" | "py.test" => plain(Kind::Test, PYTEST),
        "unittest" => {
            let args = args.strip_prefix_word("discover").unwrap_or(args);
            let options = Options {
                letters: "stp",
                narrow: &["-k", "-p", "--pattern"],
                names: &["start-directory", "top-level-directory"],
                ..NONE
            };
            Some((Kind::Test, options.scope(args)))
        }
        "nose2" | "nosetests" | "stestr" | "trial" => plain(Kind::Test, NONE),
        "tox" | "nox" => {
            let narrow = &["-e", "-s", "-k", "--session", "--sessions", "-f", "-m", "-t", "--tags"];
            plain(Kind::Test, Options { letters: "cj", narrow, ..NONE })
        }
        "manage.py" | "django-admin" => {
            let rest = args.strip_prefix_word("test")?;
            let narrow = &["-k", "--tag", "--exclude-tag", "-p"];
            let options = Options {
                letters: "v",
                names: &["settings", "parallel", "verbosity"],
                narrow,
                ..NONE
            };
            Some((Kind::Test, options.scope(rest)))
        }
        "mypy" | "pyright" | "basedpyright" | "pyre" | "pytype" | "ty" | "dmypy" => {
            let args = args.strip_prefix_word("check").unwrap_or(args);
            let letters = if name == "pyright" { "pv" } else { "" };
            let options = Options {
                letters,
                narrow: &["-p", "-m", "-c", "--package", "--module"],
                names: &["config-file", "python-version", "python", "project", "level"],
                ..NONE
            };
            let options =
                if letters.is_empty() { options } else { Options { narrow: &[], ..options } };
            Some((Kind::Typecheck, options.scope(args)))
        }
        "ruff" => match args.split_first() {
            Some((first, rest)) if first.text == "check" => Some((Kind::Lint, LINT.scope(rest))),
            Some((first, rest)) if first.text == "format" && has(&["--check", "--diff"]) => {
                Some((Kind::Lint, LINT.scope(rest)))
            }
            _ => None,
        },
        "flake8" | "pylint" | "pydocstyle" | "bandit" | "vulture" | "shellcheck" | "hadolint"
        | "yamllint" | "markdownlint" | "stylelint" | "oxlint" | "eslint" | "rubocop"
        | "standard" | "xo" | "tslint" | "ktlint" | "phpcs" | "actionlint" | "sqlfluff"
        | "credo" => {
            let args = args.strip_prefix_word("lint").unwrap_or(args);
            Some((Kind::Lint, LINT.scope(args)))
        }
        "golangci-lint" | "biome" | "swiftlint" => {
            let (first, rest) = args.split_first()?;
            let is_lint = ["run", "lint", "check", "ci"].contains(&first.text.as_str());
            is_lint.then(|| (Kind::Lint, LINT.scope(rest)))
        }
        "black" | "isort" | "prettier" | "autopep8" | "yapf" | "clang-format" => {
            let is_check = has(&[
                "--check",
                "-c",
                "--check-only",
                "-l",
                "--list-different",
                "--diff",
                "--dry-run",
                "-n",
                "--Werror",
            ]) && !has(&["-w", "--write", "-i"]);
            let says = name != "yapf" && name != "autopep8" || has(&["--exit-code"]);
            (is_check && says).then(|| (Kind::Lint, LINT.scope(args)))
        }
        "pre-commit" | "prek" => {
            let rest = args.strip_prefix_word("run")?;
            let is_all =
                has(&["--all-files", "-a"]) && !rest.iter().any(|it| !it.text.starts_with('-'));
            Some((Kind::Lint, if is_all { Scope::Full } else { Scope::Targeted }))
        }
        "tsc" | "vue-tsc" | "svelte-check" if !has(&["-w", "-v", "--clean"]) => {
            let options = Options {
                letters: "p",
                names: &["project", "outDir", "target", "module", "tsconfig", "build"],
                ..NONE
            };
            let is_check = name != "tsc" || has(&["--noEmit", "-noEmit"]);
            let kind = if is_check { Kind::Typecheck } else { Kind::Build };
            // The folder after `-b` is a project as with `-p`.
            let args = args.strip_prefix_word("-b").unwrap_or(args);
            Some((kind, options.scope(args)))
        }
        "jest" | "vitest" | "mocha" | "ava" | "karma" | "jasmine" | "tap" | "bats" | "phpunit"
        | "pest" | "rspec" | "minitest" | "ctest" | "busted" | "prove" => test_runner(name, args),
        "playwright" | "cypress" => {
            let rest = args.strip_prefix_word("test").or_else(|| args.strip_prefix_word("run"))?;
            Some((Kind::Test, TESTS.scope(rest)))
        }
        "node" if has(&["--test"]) => plain(Kind::Test, TESTS),
        "cargo" => cargo(args),
        "go" => {
            let options = Options {
                names: &[
                    "timeout",
                    "count",
                    "tags",
                    "parallel",
                    "coverprofile",
                    "p",
                    "cpu",
                    "o",
                    "mod",
                    "covermode",
                    "ldflags",
                    "gcflags",
                    "vet",
                ],
                narrow: &["-run", "-bench", "-skip", "-short", "-fuzz"],
                ..NONE
            };
            let (first, rest) = args.split_first()?;
            let kind = match first.text.as_str() {
                "test" if rest.iter().any(|it| it.text == "-c" || it.text == "-list") => {
                    return None;
                }
                "test" => Kind::Test,
                "vet" => Kind::Lint,
                "build" => Kind::Build,
                _ => return None,
            };
            Some((kind, options.scope(rest)))
        }
        "staticcheck" | "revive" | "errcheck" => plain(Kind::Lint, NONE),
        "dotnet" | "swift" | "mix" | "sbt" | "zig" | "deno" | "flutter" | "dart" | "stack"
        | "cabal" | "dune" | "meson" | "bazel" | "buck2" | "gleam" | "elm-test" => sub(args),
        "npm" | "pnpm" | "yarn" | "bun" => scripts::checked(name, args),
        "make" | "gmake" | "just" | "task" | "ninja" | "rake" | "gradle" | "gradlew" | "mvn"
        | "mvnw" | "cmake" | "turbo" | "nx" | "invoke" | "doit" => makers::checked(name, args),
        "webpack" | "rollup" | "esbuild" | "vite" | "next" | "nuxt" | "astro" | "tsup" => {
            (args.first().is_some_and(|it| it.text == "build"))
                .then_some((Kind::Build, Scope::Full))
        }
        "py_compile" | "compileall" => plain(Kind::Build, NONE),
        _ => scripts::of_project(name, args),
    }
}

/// The first word is what is to be done.
fn sub(args: &[Word]) -> Checked {
    let (first, rest) = args.split_first()?;
    let kind = match first.text.as_str() {
        "test" | "tests" | "runtest" => Kind::Test,
        "build" | "compile" => Kind::Build,
        "check" | "analyze" => Kind::Typecheck,
        "lint" | "vet" | "credo" => Kind::Lint,
        _ => return None,
    };
    let options = Options {
        letters: "c",
        narrow: &["--filter", "-k", "--only", "--name", "--plain-name", "--test_filter"],
        names: &["configuration", "config", "framework", "logger", "output"],
        all: &[".", "./...", "//...", "..."],
    };
    Some((kind, options.scope(rest)))
}

const PYTEST: Options = Options {
    letters: "ncoprW",
    names: &[
        "maxfail",
        "cov",
        "cov-report",
        "junitxml",
        "tb",
        "durations",
        "rootdir",
        "timeout",
        "color",
        "numprocesses",
        "dist",
        "config-file",
        "import-mode",
        "log-level",
        "capture",
        "cov-config",
        "show-capture",
        "override-ini",
        "pythonwarnings",
    ],
    narrow: &[
        "-k",
        "-m",
        "--lf",
        "--last-failed",
        "--ff",
        "--deselect",
        "--ignore",
        "--ignore-glob",
        "--sw",
        "--stepwise",
        "--pyargs",
        "--nf",
    ],
    all: &[".", "./"],
};

const LINT: Options = Options {
    letters: "cfoj",
    names: &[
        "config",
        "format",
        "ext",
        "rcfile",
        "max-warnings",
        "output-format",
        "jobs",
        "ignore-path",
        "config-path",
        "rulesdir",
        "parser",
        "resolve-plugins-relative-to",
    ],
    narrow: &[
        "--select",
        "--rule",
        "--only",
        "--new-from-rev",
        "--changed",
        "--staged",
        "--enable",
    ],
    all: &[".", "./", "./...", "**"],
};

const TESTS: Options = Options {
    letters: "cjRrw",
    names: &[
        "config",
        "reporter",
        "reporters",
        "coverage",
        "maxWorkers",
        "project",
        "workers",
        "timeout",
        "require",
        "import",
        "bail",
        "environment",
        "pool",
        "root",
        "colors",
        "format",
        "configuration",
        "bootstrap",
        "log-junit",
        "test-dir",
        "build-config",
        "parallel",
    ],
    narrow: &[
        "-t",
        "-g",
        "--grep",
        "--testNamePattern",
        "--testPathPattern",
        "--testPathPatterns",
        "--onlyChanged",
        "-o",
        "--onlyFailures",
        "--findRelatedTests",
        "--filter",
        "--group",
        "--exclude-group",
        "--testsuite",
        "-e",
        "--example",
        "--tag",
        "--spec",
        "-L",
        "-E",
        "-I",
        "--match",
        "-m",
        "--changed",
        "--changedSince",
        "--last-failed",
        "--only-failures",
        "--test-name-pattern",
        "--shard",
        "-f",
    ],
    all: &[".", "./"],
};

fn test_runner(name: &str, args: &[Word]) -> Checked {
    let has = |option: &str| args.iter().any(|it| it.text == option);
    let args = match name {
        // By itself it watches where somebody reads along; nobody does here.
        "vitest" => match args.split_first() {
            Some((first, rest)) if first.text == "run" => rest,
            Some((first, _)) if ["watch", "dev", "bench", "init"].contains(&&*first.text) => {
                return None;
            }
            _ => args,
        },
        "karma" => args.strip_prefix_word("start")?,
        "ctest" if has("-N") => return None,
        _ => args,
    };
    let options = match name {
        "ctest" => Options { narrow: &["-R", "-L", "-E", "-I", "-LE"], letters: "jCT", ..TESTS },
        "prove" => Options { letters: "jIe", narrow: &[], ..TESTS },
        _ => TESTS,
    };
    Some((Kind::Test, options.scope(args)))
}

fn cargo(args: &[Word]) -> Checked {
    let args = match args.split_first() {
        Some((first, rest)) if first.text.starts_with('+') => rest,
        _ => args,
    };
    let names = &[
        "config",
        "color",
        "manifest-path",
        "target-dir",
        "features",
        "target",
        "profile",
        "jobs",
        "message-format",
        "exclude",
        "retries",
        "test-threads",
    ];
    let (first, rest) = after_options(args, "CZ", names).split_first()?;
    let has =
        |option: &str| rest.iter().take_while(|it| it.text != "--").any(|it| it.text == option);
    let options = Options {
        letters: "jFZ",
        names,
        narrow: &[
            "-p",
            "--package",
            "--lib",
            "--bin",
            "--bins",
            "--test",
            "--tests",
            "--doc",
            "--example",
            "--examples",
            "--bench",
            "--benches",
            "--exclude",
            "-E",
            "--filterset",
            "--filter-expr",
            "--partition",
            "--skip",
            "--ignored",
            "--exact",
        ],
        all: &[],
    };
    let (kind, rest) = match (first.text.as_str(), rest.split_first()) {
        ("test" | "t", _) if has("--no-run") => (Kind::Build, rest),
        ("test" | "t", _) => (Kind::Test, rest),
        ("nextest", Some((first, rest))) if first.text == "run" || first.text == "r" => {
            (if has("--no-run") { Kind::Build } else { Kind::Test }, rest)
        }
        ("miri" | "careful" | "llvm-cov" | "tarpaulin", Some((first, rest)))
            if first.text == "test" || first.text == "nextest" =>
        {
            (Kind::Test, rest)
        }
        ("llvm-cov" | "tarpaulin", _) => (Kind::Test, rest),
        ("build" | "b", _) => (Kind::Build, rest),
        ("check" | "c", _) => (Kind::Typecheck, rest),
        ("clippy" | "deny" | "machete", _) => (Kind::Lint, rest),
        ("fmt", _) if rest.iter().any(|it| it.text == "--check") => (Kind::Lint, rest),
        _ => return None,
    };
    // What clippy and rustfmt get after `--` names no parts.
    let end = match kind {
        Kind::Test => rest.len(),
        _ => rest.iter().position(|it| it.text == "--").unwrap_or(rest.len()),
    };
    let rest = rest.get(..end).unwrap_or_default();
    let rest = match first.text.as_str() {
        "deny" => rest.strip_prefix_word("check").unwrap_or(rest),
        _ => rest,
    };
    // `--tests` and its like beside `--all-targets` add nothing and leave nothing out.
    let scope = if has("--all-targets") && !has("-p") && !has("--package") {
        let narrow = &["--exclude"];
        Options { narrow, ..options }.scope(rest)
    } else {
        options.scope(rest)
    };
    Some((kind, scope))
}

/// Codes of programs by which they say that they did nothing, or that they were called wrongly.
pub(super) fn tells_nothing(name: &str, args: &[Word], exit_code: i32) -> bool {
    let first = args.iter().find(|it| !it.text.starts_with('+')).map(|it| it.text.as_str());
    match (name, exit_code) {
        ("pytest" | "py.test", 4 | 5) | ("eslint" | "ruff" | "stylelint" | "prettier", 2) => true,
        // No test was run.
        ("unittest", 5) => true,
        ("cargo", 1) => !matches!(first, Some("fmt" | "deny" | "machete")),
        ("cargo", 4) => first == Some("nextest"),
        _ => false,
    }
}

/// Programs that stand before others and hardly ever fail, or say nothing of the work if they do.
pub(super) fn prepares(name: &str) -> bool {
    const NAMES: [&str; 22] = [
        "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "echo", "printf", "true",
        ":", "mkdir", "pwd", "date", "sleep", "ls", "alias", "shopt", "umask", "ulimit", "clear",
    ];
    NAMES.contains(&name)
}

/// Taking a first word away.
trait StripWord {
    fn strip_prefix_word(&self, word: &str) -> Option<&[Word]>;
}

impl StripWord for [Word] {
    fn strip_prefix_word(&self, word: &str) -> Option<&[Word]> {
        self.split_first().filter(|(first, _)| first.text == word).map(|(_, rest)| rest)
    }
}
