//! `cargo xtask features`: every feature set builds, links the tools it should and stays small.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Item, Value};

use crate::cargo::{cargo, succeed, target_dir};
use crate::dump::Dump;
use crate::project::{Project, ToolCrate};
use crate::registrations::{self, Registration};

/// Size limits of the shipped binary, by feature set.
const BUDGET: &str = "xtask/size-budget.toml";

const MB: f64 = 1_000_000.0;

/// What is asked about the feature sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Parts {
    /// Whether each set builds and links its tools.
    pub(crate) links: bool,
    /// What those with a budget weigh.
    pub(crate) sizes: bool,
}

/// Goes through all sets and fails with what is wrong with each.
pub(crate) fn run(project: &Project, parts: Parts) -> Result<()> {
    let mut faults = Vec::new();
    if parts.links {
        link_all(project, &mut faults)?;
    }
    if parts.sizes {
        weigh_all(project, &mut faults)?;
    }
    if !faults.is_empty() {
        bail!("feature sets with faults:\n{}", faults.join("\n"));
    }
    Ok(())
}

fn link_all(project: &Project, faults: &mut Vec<String>) -> Result<()> {
    let crates = project.tool_crates()?;
    let (registrations, _) = registrations::of_project(project)?;
    for set in sets(&crates) {
        match links(project, &set, &expected(&set, &registrations)) {
            Ok(count) => println!("{:<24} {count} tools", set.name),
            Err(err) => faults.push(format!("  {}: {err:#}", set.name)),
        }
    }
    Ok(())
}

fn weigh_all(project: &Project, faults: &mut Vec<String>) -> Result<()> {
    for (name, limit) in budget(project)? {
        match weigh(project, &name) {
            Ok(size) => {
                println!("{name:<24} {:.2} MB of {limit:.2} MB", mb(size));
                faults.extend(over(&name, size, limit));
            }
            Err(err) => faults.push(format!("  {name}: {err:#}")),
        }
    }
    Ok(())
}

/// A choice of features, and the crates it links.
#[derive(Debug, PartialEq)]
struct Set<'a> {
    name: String,
    flags: Vec<String>,
    folders: Vec<&'a str>,
}

/// None, each alone and with each of its extras, the default and everything.
fn sets(crates: &[ToolCrate]) -> Vec<Set<'_>> {
    let folders = |wants: &dyn Fn(&ToolCrate) -> bool| {
        crates.iter().filter(|it| wants(it)).map(|it| it.folder.as_str()).collect::<Vec<_>>()
    };
    let set = |name: &str, folders| Set { name: name.to_owned(), flags: flags(name), folders };
    let mut sets = vec![set("none", Vec::new())];
    for it in crates {
        sets.push(set(&it.feature, folders(&|other| other == it)));
        for (extra, _) in it.extra_features() {
            sets.push(set(&extra, folders(&|other| other == it)));
        }
    }
    sets.push(set("default", folders(&|it| it.default)));
    sets.push(set("full", folders(&|_| true)));
    sets
}

/// The flags of cargo for a named set: `none`, `default` or features joined by commas.
///
/// `default` is spelt as a feature, since the workspace turns the facade's defaults off.
fn flags(name: &str) -> Vec<String> {
    let mut flags = vec!["--no-default-features".to_owned()];
    if name != "none" {
        flags.extend(["--features".to_owned(), name.to_owned()]);
    }
    flags
}

/// The names that the sources of a set's crates register.
fn expected<'a>(set: &Set<'_>, registrations: &'a [Registration]) -> BTreeSet<&'a str> {
    let linked = registrations.iter().filter(|it| set.folders.contains(&it.folder.as_str()));
    linked.map(|it| it.name.as_str()).collect()
}

/// Checks the command line and runs the facade with a set; gives the number of tools.
fn links(project: &Project, set: &Set<'_>, expected: &BTreeSet<&str>) -> Result<usize> {
    let flags: Vec<&str> = set.flags.iter().map(String::as_str).collect();
    let dump = Dump::of(project, &flags)?;
    compare(&dump, expected)?;
    succeed(
        cargo(&project.root).args(["check", "--quiet", "--package", "hermes-cli"]).args(&flags),
    )?;
    Ok(dump.tools.len())
}

fn compare(dump: &Dump, expected: &BTreeSet<&str>) -> Result<()> {
    let linked: BTreeSet<&str> = dump.tools.keys().map(String::as_str).collect();
    if linked == *expected {
        return Ok(());
    }
    let list = |names: Vec<&&str>| match names.as_slice() {
        [] => "none".to_owned(),
        _ => names.into_iter().copied().collect::<Vec<_>>().join(", "),
    };
    bail!(
        "{} tools are linked where the sources have {}; missing: {}; unexpected: {}",
        linked.len(),
        expected.len(),
        list(expected.difference(&linked).collect()),
        list(linked.difference(expected).collect()),
    );
}

/// Bytes of the binary that is shipped with a set.
fn weigh(project: &Project, name: &str) -> Result<u64> {
    let build = ["build", "--quiet", "--profile", "dist", "--package", "hermes-cli"];
    succeed(cargo(&project.root).args(build).args(flags(name)))?;
    let binary = format!("hermes{}", std::env::consts::EXE_SUFFIX);
    let path = target_dir(&project.root)?.join("dist").join(binary);
    let meta = fs::metadata(&path).with_context(|| format!("no binary at {}", path.display()))?;
    Ok(meta.len())
}

fn over(name: &str, size: u64, limit: f64) -> Option<String> {
    let size = mb(size);
    (size > limit).then(|| {
        format!("  {name}: {size:.2} MB is over its budget of {limit:.2} MB in {BUDGET}: make it smaller, or raise the budget and say why")
    })
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / MB
}

fn budget(project: &Project) -> Result<BTreeMap<String, f64>> {
    let path = project.root.join(BUDGET);
    let text =
        fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
    budget_in(&text).context(BUDGET)
}

fn budget_in(text: &str) -> Result<BTreeMap<String, f64>> {
    let doc: DocumentMut = text.parse()?;
    let sizes = doc.get("megabytes").and_then(Item::as_table).context("there is no [megabytes]")?;
    sizes
        .iter()
        .map(|(name, item)| {
            let limit = match item.as_value() {
                Some(Value::Float(limit)) => *limit.value(),
                _ => bail!("{name} must be a number of megabytes like 8.0"),
            };
            Ok((name.to_owned(), limit))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn krate(name: &str, default: bool) -> ToolCrate {
        ToolCrate {
            folder: format!("tool-{name}"),
            feature: name.into(),
            package: format!("hermes-tool-{name}"),
            toolset: name.into(),
            default,
            groups: vec![],
            extras: vec![],
        }
    }

    #[test]
    fn every_set_is_tried() {
        let mut crates = [krate("file", true), krate("web", false)];
        crates[0].extras.push("pdf".into());
        let sets = sets(&crates);
        let shown: Vec<_> = sets
            .iter()
            .map(|set| (set.name.as_str(), set.flags.join(" "), set.folders.join(" ")))
            .collect();
        let flag = |name: &str| format!("--no-default-features --features {name}");
        assert_eq!(
            shown,
            [
                ("none", "--no-default-features".into(), String::new()),
                ("file", flag("file"), "tool-file".into()),
                ("file-pdf", flag("file-pdf"), "tool-file".into()),
                ("web", flag("web"), "tool-web".into()),
                ("default", flag("default"), "tool-file".into()),
                ("full", flag("full"), "tool-file tool-web".into()),
            ]
        );
    }

    #[test]
    fn linked_tools_are_those_of_the_sources() {
        let dump = Dump::parse(r#"{"tools": {"a": {}, "c": {}}}"#).unwrap();
        compare(&dump, &BTreeSet::from(["a", "c"])).unwrap();
        let message = compare(&dump, &BTreeSet::from(["a", "b"])).unwrap_err().to_string();
        assert!(message.ends_with("missing: b; unexpected: c"), "{message}");
    }

    #[test]
    fn budgets() {
        let sizes = budget_in("[megabytes]\nfile = 8.0\n\"file,web\" = 9.5\n").unwrap();
        assert_eq!(sizes, BTreeMap::from([("file".into(), 8.0), ("file,web".into(), 9.5)]));
        assert!(budget_in("[megabytes]\nfile = \"8\"\n").is_err());
        assert!(over("file", 8_000_000, 8.0).is_none());
        assert!(over("file", 8_100_000, 8.0).unwrap().contains("8.10 MB is over"));
    }
}
