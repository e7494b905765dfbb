//! The steps of `cargo xtask ci`, as data.

use crate::ci::install::{DENY, NEXTEST, Tool};

/// One line of the run.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    /// What it looks at, for `--list`.
    pub(super) what: &'static str,
    pub(super) calls: &'static [Call],
    /// Programs to install when they are missing.
    pub(super) needs: &'static [Tool],
    pub(super) output: Output,
}

/// Something to run.
#[derive(Debug)]
pub(super) enum Call {
    /// Cargo with arguments and further variables.
    Cargo { args: &'static [&'static str], env: &'static [(&'static str, &'static str)] },
    /// Another command of xtask.
    Task(&'static [&'static str]),
}

/// When the output of a step is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Output {
    /// As it comes.
    Live,
    /// Afterwards, if the step failed.
    OnFailure,
}

const XTASK: &str = "xtask/Cargo.toml";
const FUZZ: &str = "fuzz/Cargo.toml";

const fn cargo(args: &'static [&'static str]) -> Call {
    Call::Cargo { args, env: &[] }
}

const fn quiet(name: &'static str, what: &'static str, calls: &'static [Call]) -> Step {
    Step { name, what, calls, needs: &[], output: Output::OnFailure }
}

const fn live(
    name: &'static str,
    what: &'static str,
    calls: &'static [Call],
    needs: &'static [Tool],
) -> Step {
    Step { name, what, calls, needs, output: Output::Live }
}

/// All steps, cheap ones first.
pub(super) const STEPS: [Step; 15] = [
    quiet(
        "fmt",
        "formatting of the workspace, of xtask and of the fuzz targets",
        &[
            cargo(&["fmt", "--all", "--check"]),
            cargo(&["fmt", "--manifest-path", XTASK, "--check"]),
            cargo(&["fmt", "--manifest-path", FUZZ, "--check"]),
        ],
    ),
    quiet("wire", "every tool crate is wired in", &[Call::Task(&["wire", "--check"])]),
    quiet("tidy", "layering, headers, sizes, reasons, licences", &[Call::Task(&["tidy"])]),
    quiet(
        "clippy",
        "lints, with warnings as errors",
        &[
            cargo(&[
                "clippy",
                "--quiet",
                "--workspace",
                "--all-targets",
                "--all-features",
                "--",
                "-D",
                "warnings",
            ]),
            cargo(&[
                "clippy",
                "--quiet",
                "--manifest-path",
                XTASK,
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ]),
        ],
    ),
    live(
        "xtask",
        "xtask's own tests",
        &[cargo(&["nextest", "run", "--manifest-path", XTASK])],
        &[NEXTEST],
    ),
    quiet(
        "fuzz",
        "the fuzz targets compile",
        &[cargo(&["check", "--quiet", "--manifest-path", FUZZ])],
    ),
    live(
        "test",
        "unit, integration and conformance tests, with all features",
        &[cargo(&["nextest", "run", "--workspace", "--all-features"])],
        &[NEXTEST],
    ),
    quiet(
        "doctest",
        "examples in the documentation",
        &[cargo(&["test", "--quiet", "--doc", "--workspace", "--all-features"])],
    ),
    quiet(
        "doc",
        "documentation builds without warnings",
        &[Call::Cargo {
            args: &["doc", "--quiet", "--no-deps", "--workspace", "--all-features"],
            env: &[("RUSTDOCFLAGS", "-D warnings")],
        }],
    ),
    quiet("schema", "snapshots under schemas/", &[Call::Task(&["schema", "--check"])]),
    quiet("shadow", "tool names", &[Call::Task(&["shadow"])]),
    quiet("docs", "the tool table in README.md", &[Call::Task(&["docs", "--check"])]),
    live(
        "features",
        "every feature set links its tools",
        &[Call::Task(&["features", "--no-sizes"])],
        &[],
    ),
    live("sizes", "small feature sets as shipped", &[Call::Task(&["features", "--sizes"])], &[]),
    Step {
        name: "deny",
        what: "licences, bans and sources of dependencies",
        // No advisories: their database comes from the network, which not every place has.
        calls: &[
            cargo(&["deny", "--all-features", "check", "bans", "licenses", "sources"]),
            cargo(&["deny", "--manifest-path", XTASK, "check", "bans", "licenses", "sources"]),
        ],
        needs: &[DENY],
        output: Output::OnFailure,
    },
];
