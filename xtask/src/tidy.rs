//! `cargo xtask tidy`: rules of the project that no compiler checks.
//!
//! Each rule is a function from text or tokens to findings. Rules on dependencies are in
//! [`layers`], on manifests in [`manifests`], on Rust in [`code`], on any text in [`text`], on the
//! size of modules in [`size`].

mod code;
mod layers;
mod manifests;
mod size;
mod text;

use anyhow::Result;

use crate::cargo;
use crate::finding::{Finding, none_of};
use crate::project::Project;
use crate::sources::{self, RustFile, SourceFile};

/// Rules on one text file.
const TEXT_RULES: [fn(&SourceFile) -> Vec<Finding>; 3] =
    [text::trailing_blanks, text::registry_hosts, text::machine_paths];

/// Rules on one Rust file.
const CODE_RULES: [fn(&RustFile) -> Vec<Finding>; 4] =
    [code::module_header, code::lint_reasons, code::test_attributes, code::standard_output];

/// Applies every rule.
pub(crate) fn run(project: &Project) -> Result<()> {
    let files = sources::text_files(&project.root)?;
    let mut findings: Vec<Finding> =
        files.iter().flat_map(|file| TEXT_RULES.iter().flat_map(|rule| rule(file))).collect();
    for file in &files {
        findings.extend(manifests::findings(file)?);
    }
    let reasons = size::reasons(&project.root)?;
    let rust = sources::rust_files(files)?;
    findings.extend(rust.iter().flat_map(|file| CODE_RULES.iter().flat_map(|rule| rule(file))));
    findings.extend(size::findings(&rust, &reasons));
    let packages = layers::packages(&cargo::metadata(&project.root)?);
    findings.extend(layers::findings(&packages));
    findings.extend(layers::reach(project, &packages)?);
    none_of(findings, "each says what to change")
}
