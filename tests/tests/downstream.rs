//! Programs outside the workspace that use the registry as a stranger would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, io};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Gives a fixture the lock file of the workspace, of which cargo keeps what it needs: the same
/// versions as everywhere, without a question to the network.
fn lock(fixture: &Path) -> io::Result<()> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let own = fixture.join("Cargo.lock");
    if own.exists() {
        return Ok(());
    }
    // Tests run side by side: none may see half a file.
    let draft = fixture.join(format!("Cargo.lock.{}", std::process::id()));
    fs::copy(workspace, &draft)?;
    fs::rename(draft, own)
}

/// Runs cargo on a fixture, with a target folder that outlives the test but not `cargo clean`.
fn cargo(command: &str, name: &str, profile: &str) -> io::Result<Output> {
    lock(&fixture(name))?;
    #[expect(clippy::disallowed_methods, reason = "tests drive cargo itself")]
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .arg(command)
        .args(["--quiet", "--profile", profile, "--manifest-path"])
        .arg(fixture(name).join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
        .output()
}

fn check_runs(profile: &str) -> io::Result<()> {
    let output = cargo("run", "downstream", profile)?;
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "count_chars {\"chars\":5}\nshout GRÜSSE\n", "{err}");
    Ok(())
}

#[test]
fn a_stranger_registers_and_calls_tools() -> io::Result<()> {
    check_runs("dev")
}

#[test]
fn the_tools_survive_the_shipping_profile() -> io::Result<()> {
    check_runs("dist")
}

#[test]
fn two_crates_with_one_tool_name_do_not_link() {
    let output = cargo("build", "duplicate", "dev").unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "two tools of one name were linked");
    for part in ["__hermes_tool", "contested", "first_owner", "second_owner"] {
        assert!(err.contains(part), "no {part} in:\n{err}");
    }
}
