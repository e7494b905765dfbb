//! Dependencies point down only, and the leaves stay pure.

use anyhow::Result;
use serde_json::Value;

use crate::cargo::{cargo, stdout_of};
use crate::finding::Finding;
use crate::project::Project;

/// The workspace's packages from the bottom up. A package depends on packages of lower layers
/// only, for its tests too: a tool crate whose tests linked the facade would be linked twice.
const LAYERS: &[&[&str]] = &[
    &["hermes-registry", "hermes-command"],
    &[
        "hermes-schema",
        "hermes-search",
        "hermes-toolsets",
        "hermes-turn",
        "hermes-guard",
        "hermes-terminal",
        "hermes-edit",
        "hermes-documents",
        "hermes-lint",
    ],
    &["hermes-config", "hermes-task", "hermes-skill-guard"],
    &["hermes-audit", "hermes-exec-policy"],
    &["hermes-net"],
    &["hermes-store"],
    &["hermes-llm"],
    &["hermes-confine"],
    &["hermes-exec"],
    &["hermes-exec-container"],
    &[
        "hermes-exec-daytona",
        "hermes-exec-docker",
        "hermes-exec-modal",
        "hermes-exec-singularity",
        "hermes-exec-ssh",
    ],
    &["hermes-fs"],
    &["hermes-environments"],
    &["hermes-processes", "hermes-backends"],
    &["hermes-file-state"],
    &["hermes-lsp"],
    &["hermes-hooks"],
    &["hermes-approval"],
    &["hermes-tool-*"],
    &["hermes-tools"],
    &["hermes-checkpoint"],
    &["hermes-acp"],
    &["hermes-mcp"],
    &["hermes-agent"],
    &["hermes-otel"],
    &["hermes-cli"],
    &["hermes-tests"],
];

/// How many of the lowest layers are pure: no runtime and no network.
const PURE: usize = 2;

/// What a pure package must not reach, however indirectly.
const IMPURE: [&str; 2] = ["tokio", "reqwest"];

/// A package of the workspace and the names it depends on, of whatever kind.
#[derive(Debug, PartialEq)]
pub(super) struct Package {
    name: String,
    dependencies: Vec<String>,
}

/// The packages in `cargo metadata --no-deps`.
pub(super) fn packages(metadata: &Value) -> Vec<Package> {
    let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
    let list = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let package = |value: &Value| {
        let dependencies = list(value, "dependencies").iter().filter_map(name).collect();
        Some(Package { name: name(value)?, dependencies })
    };
    list(metadata, "packages").iter().filter_map(package).collect()
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|names| {
        names.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => *pattern == name,
        })
    })
}

/// Dependencies that don't point down, and packages without a layer.
pub(super) fn findings(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let mut fault = |message| findings.push(Finding::new(&*package.name, 0, message));
        let Some(own) = layer(&package.name) else {
            fault("has no layer: give it one in xtask/src/tidy/layers.rs".to_owned());
            continue;
        };
        for name in &package.dependencies {
            let is_ours = packages.iter().any(|other| other.name == *name);
            if is_ours && layer(name).is_some_and(|other| other >= own) {
                fault(format!(
                    "must not depend on {name}: dependencies point to lower layers only"
                ));
            }
        }
    }
    findings
}

/// Pure packages that reach what is impure.
pub(super) fn reach(project: &Project, packages: &[Package]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for name in packages.iter().map(|package| package.name.as_str()) {
        if layer(name).is_none_or(|layer| layer >= PURE) {
            continue;
        }
        let tree = ["tree", "--edges", "normal", "--prefix", "none", "--all-features"];
        let tree = stdout_of(cargo(&project.root).args(tree).args(["--package", name]))?;
        findings.extend(impure(name, &tree));
    }
    Ok(findings)
}

/// What is impure in the output of `cargo tree --prefix none`.
fn impure(package: &str, tree: &str) -> Vec<Finding> {
    let reached = |name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    let names = IMPURE.iter().filter(|name| reached(name));
    names
        .map(|name| {
            let message = format!(
                "is a pure leaf and must not reach {name}: see `cargo tree -p {package} -i {name}`"
            );
            Finding::new(package, 0, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(packages: &[(&str, &[&str])]) -> Vec<String> {
        let packages: Vec<Package> = packages
            .iter()
            .map(|(name, dependencies)| Package {
                name: (*name).into(),
                dependencies: dependencies.iter().map(|it| (*it).to_owned()).collect(),
            })
            .collect();
        findings(&packages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn dependencies_point_down() {
        let registry: (&str, &[&str]) = ("hermes-registry", &["serde"]);
        let facade: (&str, &[&str]) = ("hermes-tools", &["hermes-registry", "hermes-tool-a"]);
        for (package, fault) in [
            (("hermes-tool-a", &["hermes-registry", "serde"] as &[&str]), None),
            (("hermes-tool-a", &["hermes-tools"]), Some("must not depend on hermes-tools")),
            (("hermes-schema", &["hermes-tool-b"]), Some("must not depend on hermes-tool-b")),
            (("hermes-new", &[]), Some("has no layer")),
        ] {
            let found = faults(&[registry, facade, ("hermes-tool-b", &[]), package]);
            assert_eq!(found.len(), usize::from(fault.is_some()), "{found:?}");
            assert!(found.iter().all(|it| it.contains(fault.unwrap())), "{found:?}");
        }
        assert_eq!(
            faults(&[("hermes-tool-a", &["hermes-tool-b"]), ("hermes-tool-b", &[])]).len(),
            1
        );
        assert_eq!(
            faults(&[("hermes-registry", &["hermes-schema"]), ("hermes-schema", &[])]).len(),
            1
        );
    }

    #[test]
    fn metadata_is_read() {
        let metadata = json!({"packages": [{
            "name": "a",
            "dependencies": [{"name": "b", "kind": null}, {"name": "c", "kind": "dev"}],
        }]});
        let expected = Package { name: "a".into(), dependencies: vec!["b".into(), "c".into()] };
        assert_eq!(packages(&metadata), [expected]);
    }

    #[test]
    fn pure_leaves_stay_pure() {
        let tree = "hermes-schema v0.1.0 (/x)\nserde v1.0.0\ntokio-util v1.0.0\ntokio v1.0.0 (*)\n";
        let found = impure("hermes-schema", tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("must not reach tokio:"), "{found:?}");
    }
}
