//! What confinement adds to starting a program.
#![expect(clippy::unwrap_used, reason = "a bench that can't run should say so")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use divan::Bencher;
use hermes_confine::{Confinement, Mode, Probe, Rules};

fn main() {
    divan::main();
}

#[expect(clippy::disallowed_methods, reason = "the yardstick")]
fn run(argv: &[OsString]) -> std::io::Result<ExitStatus> {
    let (program, args) = argv.split_first().unwrap();
    std::process::Command::new(program).args(args).status()
}

fn argv() -> Vec<OsString> {
    ["/bin/bash", "-c", "true"].map(OsString::from).to_vec()
}

/// The usual rules, chosen for each command as a host does.
fn confined(bencher: Bencher<'_, '_>, mode: Mode, bubblewrap: Option<&Path>) {
    let probe = Probe::new(bubblewrap);
    let dir = tempfile::tempdir().unwrap();
    bencher.bench(|| {
        let rules = Rules::of_folder(dir.path(), None);
        Confinement::choose(mode, &rules, &probe).unwrap().start(argv(), |argv| run(&argv)).unwrap()
    });
}

#[divan::bench]
fn plain(bencher: Bencher<'_, '_>) {
    bencher.bench(|| run(&argv()).unwrap());
}

#[divan::bench]
fn off(bencher: Bencher<'_, '_>) {
    confined(bencher, Mode::Off, None);
}

#[divan::bench]
fn kernel(bencher: Bencher<'_, '_>) {
    confined(bencher, Mode::Auto, None);
}

/// All but the program itself.
#[divan::bench]
fn kernel_alone(bencher: Bencher<'_, '_>) {
    let probe = Probe::new(None);
    let dir = tempfile::tempdir().unwrap();
    bencher.bench(|| {
        let rules = Rules::of_folder(dir.path(), None);
        Confinement::choose(Mode::Auto, &rules, &probe).unwrap().start(argv(), Ok).unwrap()
    });
}

/// `HERMES_TEST_BWRAP` or an installed one.
#[divan::bench]
fn bubblewrap(bencher: Bencher<'_, '_>) {
    #[expect(clippy::disallowed_methods, reason = "where the program is, told by who benches")]
    let named = std::env::var_os("HERMES_TEST_BWRAP");
    let file = named.map_or_else(|| "/usr/bin/bwrap".into(), PathBuf::from);
    confined(bencher, Mode::Auto, Some(&file));
}
