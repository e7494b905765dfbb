//! The cases of the file tools in environments: what comes out is the same as on the host.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#![expect(clippy::print_stdout, reason = "tells what was left out")]

use std::path::Path;

use hermes_tests::environment::{Kind, within};
use hermes_tests::pending::Pending;
use hermes_tests::runner::{Outcome, read_cases};

/// What runs on the files of an environment.
const FUNCTIONS: [&str; 5] = ["read_file", "write_file", "patch", "v4a_apply", "search_files"];

#[track_caller]
fn check(kind: Kind) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let pending = Pending::read(&folder.join("pending.toml")).unwrap();
    let cases = read_cases(&folder).unwrap();
    let wanted = cases.iter().filter(|(area, case)| {
        FUNCTIONS.contains(&&*case.function) && pending.crate_of(area, case).is_none()
    });
    let ran = within(kind, || {
        wanted
            .map(|(_, case)| match case.run() {
                Outcome::Failed(reason) => Some(format!("{}: {reason}", case.id)),
                _ => None,
            })
            .collect::<Vec<_>>()
    });
    let Some(ran) = ran else {
        println!("there is no {kind:?} here: its part is left out");
        return;
    };
    let failed: Vec<&str> = ran.iter().flatten().map(String::as_str).collect();
    println!("{kind:?}: {}/{}", ran.len() - failed.len(), ran.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(ran.len() > 90, "only {} cases were found", ran.len());
}

#[test]
fn the_usual_programs_and_rg() {
    check(Kind::WithRg);
}

#[test]
fn the_usual_programs() {
    check(Kind::WithoutRg);
}

#[test]
fn busybox() {
    check(Kind::Busybox);
}
