//! `cargo xtask shadow`: no tool hides another, and nothing speaks of tools that don't exist.
//!
//! Names are read from the sources of all crates, so that two crates which no feature set links
//! together are caught too. What is only known when linked comes from the dump.

mod mentions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;
use serde_json::Value;

use crate::dump::Dump;
use crate::finding::{Finding, none_of};
use crate::project::{Project, ToolCrate};
use crate::registrations::{self, Registration};

/// Names of the tool-search bridge.
pub(crate) const RESERVED: [&str; 3] = ["tool_call", "tool_describe", "tool_search"];

/// Tools that a toolset may list before a crate registers them.
pub(crate) const PLANNED: &str = "xtask/planned-tools.txt";

/// Where the planned names are.
pub(crate) fn planned_path(project: &Project) -> PathBuf {
    project.root.join(PLANNED)
}

/// Checks the names in the sources, and when those are sound, what the linked tools say.
pub(crate) fn run(project: &Project) -> Result<()> {
    let (registrations, mut findings) = registrations::of_project(project)?;
    let planned = registrations::planned(&planned_path(project))?;
    findings.extend(names(&registrations));
    findings.extend(toolsets(&registrations, &project.tool_crates()?));
    findings.extend(planned_by_now(&registrations, &planned));
    let mend = "rename or remove what is at fault";
    // Two tools with one name don't link, so there would be no dump to look at.
    none_of(findings, mend)?;
    let dump = Dump::of_all(project)?;
    let mut findings = unlinked(&registrations, &dump);
    findings.extend(rows(&registrations, &planned, &dump)?);
    let known: BTreeSet<&str> = registrations
        .iter()
        .map(|it| it.name.as_str())
        .chain(planned.iter().map(|(_, name)| name.as_str()))
        .collect();
    findings.extend(mentions::findings(&dump, &known));
    none_of(findings, mend)
}

/// Whether `name` matches `^[a-z][a-z0-9_]{0,63}$`.
pub(crate) fn is_tool_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Names that can't be used, or are used twice.
fn names(registrations: &[Registration]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: BTreeMap<&str, &Registration> = BTreeMap::new();
    for it in registrations {
        let mut fault = |message: String| findings.push(Finding::new(&*it.file, it.line, message));
        if RESERVED.contains(&it.name.as_str()) {
            fault(format!("{} is reserved for the tool-search bridge", it.name));
        } else if !is_tool_name(&it.name) {
            fault(format!("{:?} doesn't match ^[a-z][a-z0-9_]{{0,63}}$", it.name));
        }
        match first.get(it.name.as_str()) {
            Some(earlier) => fault(format!(
                "{} is registered already, at {}:{}",
                it.name, earlier.file, earlier.line
            )),
            None => {
                first.insert(&it.name, it);
            }
        }
    }
    findings
}

/// Tools outside of a tool crate, or under another toolset than their crate's.
fn toolsets(registrations: &[Registration], crates: &[ToolCrate]) -> Vec<Finding> {
    let fault = |it: &Registration| match crates.iter().find(|krate| krate.folder == it.folder) {
        None => Some(format!("{} is registered outside of a tool crate", it.name)),
        Some(krate) if krate.toolset != it.toolset => Some(format!(
            "{} is in toolset {:?}, but the crate's manifest says {:?}",
            it.name, it.toolset, krate.toolset
        )),
        Some(_) => None,
    };
    registrations
        .iter()
        .filter_map(|it| fault(it).map(|message| Finding::new(&*it.file, it.line, message)))
        .collect()
}

/// Planned names that exist by now: the list only shrinks.
fn planned_by_now(registrations: &[Registration], planned: &[(usize, String)]) -> Vec<Finding> {
    let made = |name: &str| registrations.iter().find(|it| it.name == name);
    planned
        .iter()
        .filter_map(|(line, name)| {
            let it = made(name)?;
            let message =
                format!("{name} is no longer planned, {} registers it: remove the line", it.file);
            Some(Finding::new(PLANNED, *line, message))
        })
        .collect()
}

/// Tools that are in the sources but not linked, or the other way round.
fn unlinked(registrations: &[Registration], dump: &Dump) -> Vec<Finding> {
    let absent = registrations.iter().filter(|it| !dump.tools.contains_key(&it.name)).map(|it| {
        Finding::new(&*it.file, it.line, format!("{} isn't linked with all features on", it.name))
    });
    let declared: BTreeSet<&str> = registrations.iter().map(|it| it.name.as_str()).collect();
    let unknown = dump.tools.keys().filter(|name| !declared.contains(name.as_str())).map(|name| {
        Finding::new(&**name, 0, "is linked, but no `register!` in the sources has its name")
    });
    absent.chain(unknown).collect()
}

/// Tools that a toolset lists and nobody makes or plans.
fn rows(
    registrations: &[Registration],
    planned: &[(usize, String)],
    dump: &Dump,
) -> Result<Vec<Finding>> {
    let known = |name: &str| {
        registrations.iter().any(|it| it.name == name) || planned.iter().any(|(_, it)| it == name)
    };
    let mut findings = Vec::new();
    for (toolset, tools) in dump.toolsets()? {
        let names = tools.as_array().into_iter().flatten().filter_map(Value::as_str);
        for name in names.filter(|name| !known(name)) {
            let message =
                format!("lists {name}, which no crate registers and {PLANNED} doesn't plan");
            findings.push(Finding::new(format!("toolset {toolset}"), 0, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests;
