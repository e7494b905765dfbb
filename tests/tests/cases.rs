//! The conformance cases of `cases/`, or of the folder that `HERMES_CASES_DIR` names.

use std::path::{Path, PathBuf};

use hermes_tests::pending::Pending;
use hermes_tests::runner::{Report, read_cases};

fn own_cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

fn pending() -> Result<Pending, String> {
    Pending::read(&own_cases().join("pending.toml"))
}

#[test]
fn all_cases_pass() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one setting of the runner; no crate reads it"
    )]
    let folder = std::env::var_os("HERMES_CASES_DIR").map_or_else(own_cases, PathBuf::from);
    let cases = read_cases(&folder).unwrap();
    let report = Report::new(&cases, &pending().unwrap());
    print!("{report}");
    assert!(report.failures() == 0, "{} cases failed", report.failures());
}

#[test]
fn nothing_is_pending_that_could_run() {
    let stale = pending().unwrap().stale(&read_cases(&own_cases()).unwrap());
    assert!(stale.is_empty(), "remove from cases/pending.toml:\n{}", stale.join("\n"));
}
