//! Programs that a step needs besides the toolchain.

use std::process::Stdio;

use anyhow::{Context, Result};

use crate::cargo::{cargo, succeed};
use crate::project::Project;

/// A subcommand of cargo that is its own package.
#[derive(Debug)]
pub(super) struct Tool {
    /// `cargo NAME`.
    name: &'static str,
    package: &'static str,
    /// What is installed when none is there; any version that is there will do.
    version: &'static str,
}

pub(super) const NEXTEST: Tool =
    Tool { name: "nextest", package: "cargo-nextest", version: "0.9.143" };

pub(super) const DENY: Tool = Tool { name: "deny", package: "cargo-deny", version: "0.20.2" };

/// Installs `tool` into cargo's home folder unless it runs already.
pub(super) fn ensure(project: &Project, tool: &Tool) -> Result<()> {
    let asked = cargo(&project.root)
        .args([tool.name, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if asked.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    println!("installing {} {}, once", tool.package, tool.version);
    let install = ["install", "--quiet", "--locked", tool.package, "--version", tool.version];
    // Its own temporary target folder, which cargo removes: nothing else needs what it compiles.
    succeed(cargo(&project.root).args(install).env_remove("CARGO_TARGET_DIR"))
        .with_context(|| format!("{} is missing and can't be installed", tool.package))
}
