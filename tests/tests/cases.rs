//! The conformance cases of `cases/`, or of the folder that `HERMES_CASES_DIR` names. A relative
//! path starts at the workspace.

use std::path::{Path, PathBuf};

use hermes_tests::pending::Pending;
use hermes_tests::runner::{Report, read_cases};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

fn own_cases() -> PathBuf {
    Path::new(PACKAGE).join("cases")
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
    let named = std::env::var_os("HERMES_CASES_DIR").filter(|named| !named.is_empty());
    let folder = named.map_or_else(own_cases, |named| Path::new(PACKAGE).join("..").join(named));
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
