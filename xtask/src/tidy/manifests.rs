//! What every manifest of ours must say.

use anyhow::{Context, Result};
use toml_edit::{DocumentMut, Item};

use crate::finding::Finding;
use crate::sources::{self, SourceFile};

const LICENCE: &str = "MIT OR Apache-2.0";

/// Faults of a `Cargo.toml`; other files have none.
pub(super) fn findings(file: &SourceFile) -> Result<Vec<Finding>> {
    let is_manifest = file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml");
    if !is_manifest || sources::is_fixture(&file.path) {
        return Ok(Vec::new());
    }
    let doc: DocumentMut = file.text.parse().with_context(|| file.path.clone())?;
    let faults = if file.path == "Cargo.toml" { root(&doc) } else { member(&doc) };
    Ok(faults.into_iter().map(|message| Finding::new(&*file.path, 0, message)).collect())
}

fn root(doc: &DocumentMut) -> Vec<String> {
    let package = doc.get("workspace").and_then(|it| it.get("package"));
    licence(package.and_then(|it| it.get("license"))).into_iter().collect()
}

fn member(doc: &DocumentMut) -> Vec<String> {
    // A workspace of its own can't inherit.
    let alone = doc.contains_key("workspace");
    let mut faults = Vec::new();
    if !alone && !is_inherited(doc.get("lints")) {
        faults.push("needs [lints] with `workspace = true`".to_owned());
    }
    let field = doc.get("package").and_then(|it| it.get("license"));
    if alone || !is_inherited(field) {
        faults.extend(licence(field));
    }
    faults
}

fn is_inherited(item: Option<&Item>) -> bool {
    item.and_then(|it| it.get("workspace")).and_then(Item::as_bool) == Some(true)
}

fn licence(field: Option<&Item>) -> Option<String> {
    let ours = field.and_then(Item::as_str) == Some(LICENCE);
    (!ours).then(|| format!("needs `license = \"{LICENCE}\"`, its own or the workspace's"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_lints_and_licence() {
        let good = "[package]\nlicense.workspace = true\n[lints]\nworkspace = true\n";
        for (path, text, faults) in [
            ("crates/a/Cargo.toml", good, 0),
            ("crates/a/Cargo.toml", "[package]\nlicense = \"MIT OR Apache-2.0\"\nlints = 1\n", 1),
            ("crates/a/Cargo.toml", "[package]\nlicense = \"GPL\"\n[lints]\nworkspace = true\n", 1),
            ("crates/a/Cargo.toml", "[package]\n[lints.rust]\n", 2),
            ("xtask/Cargo.toml", "[workspace]\n[package]\nlicense = \"MIT OR Apache-2.0\"\n", 0),
            ("Cargo.toml", "[workspace.package]\nlicense = \"MIT OR Apache-2.0\"\n", 0),
            ("Cargo.toml", "[workspace]\n", 1),
            ("tests/fixtures/x/Cargo.toml", "[package]\n", 0),
            ("README.md", "", 0),
        ] {
            let file = SourceFile { path: path.into(), text: text.into() };
            assert_eq!(findings(&file).unwrap().len(), faults, "{path}\n{text}");
        }
    }
}
