//! Where things are, and what each tool crate says about itself.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Item};

/// Feature groups that a crate may name in `groups`.
pub(crate) const GROUPS: [&str; 4] = ["coding", "research", "messaging", "media"];

/// Feature names that no tool crate can have.
const OTHER_FEATURES: [&str; 2] = ["default", "full"];

/// A checkout.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
}

/// A crate of tools, as its manifest describes it.
#[derive(Debug, PartialEq)]
pub(crate) struct ToolCrate {
    /// Folder under `crates/`, e.g. `tool-web-search`.
    pub(crate) folder: String,
    /// Feature that links it, e.g. `web_search`.
    pub(crate) feature: String,
    /// Package, e.g. `hermes-tool-web-search`.
    pub(crate) package: String,
    /// Toolset its tools belong to.
    pub(crate) toolset: String,
    /// Whether it is linked by default.
    pub(crate) default: bool,
    /// Feature groups it belongs to, besides `full`.
    pub(crate) groups: Vec<String>,
    /// Features of its own that are offered to users, for what is too heavy to be always there.
    pub(crate) extras: Vec<String>,
}

impl ToolCrate {
    /// The extras as features of the facade and the command line, each with its name in the crate.
    pub(crate) fn extra_features(&self) -> impl Iterator<Item = (String, &str)> {
        self.extras.iter().map(|extra| (format!("{}-{extra}", self.feature), extra.as_str()))
    }

    /// The crate's name in Rust code.
    pub(crate) fn ident(&self) -> String {
        self.package.replace('-', "_")
    }
}

impl Project {
    /// The checkout that xtask was built in, or the one named by `XTASK_ROOT`.
    pub(crate) fn here() -> Result<Self> {
        let root = match std::env::var_os("XTASK_ROOT") {
            Some(root) => PathBuf::from(root),
            None => Path::new(env!("CARGO_MANIFEST_DIR"))
                .parent()
                .context("xtask isn't in a checkout")?
                .to_path_buf(),
        };
        Ok(Self { root })
    }

    /// Folder of the facade.
    pub(crate) fn facade(&self) -> PathBuf {
        self.root.join("crates/hermes-tools")
    }

    /// Manifest of the command line.
    pub(crate) fn cli_manifest(&self) -> PathBuf {
        self.root.join("crates/hermes-cli/Cargo.toml")
    }

    /// All crates of tools, by folder name.
    ///
    /// # Errors
    /// Every manifest that can't be read and every broken naming rule, in one message.
    pub(crate) fn tool_crates(&self) -> Result<Vec<ToolCrate>> {
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for folder in self.crate_folders()?.into_iter().filter(|name| name.starts_with("tool-")) {
            let shown = format!("crates/{folder}/Cargo.toml");
            let text = match fs::read_to_string(self.root.join(&shown)) {
                Ok(text) => text,
                Err(err) => {
                    faults.push(format!("  {shown}: can't be read: {err}"));
                    continue;
                }
            };
            match tool_crate(&folder, &text) {
                Ok(it) => found.push(it),
                Err(err) => faults.push(format!("  {shown}: {err}")),
            }
        }
        if !faults.is_empty() {
            bail!("tool crates need mending by hand:\n{}", faults.join("\n"));
        }
        Ok(found)
    }

    /// Names of the folders under `crates/`, sorted.
    pub(crate) fn crate_folders(&self) -> Result<Vec<String>> {
        let crates = self.root.join("crates");
        let entries =
            fs::read_dir(&crates).with_context(|| format!("can't list {}", crates.display()))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Reads a tool crate's manifest; the folder is given by name, e.g. `tool-web`.
fn tool_crate(folder: &str, manifest: &str) -> Result<ToolCrate> {
    let doc: DocumentMut = manifest.parse().map_err(|err: toml_edit::TomlError| {
        anyhow::anyhow!("isn't TOML: {}", err.to_string().trim_end().replace('\n', " "))
    })?;
    let name = folder.strip_prefix("tool-").unwrap_or(folder);
    if !is_kebab(name) {
        bail!("the folder must be called tool-NAME, with NAME in lower case and single hyphens");
    }
    let package = doc.get("package").context("there is no [package]")?;
    let expected = format!("hermes-tool-{name}");
    let actual = package.get("name").and_then(Item::as_str).unwrap_or_default();
    if actual != expected {
        bail!("one name: the package must be called {expected}, not {actual:?}");
    }
    let feature = name.replace('-', "_");
    if is_reserved_feature(&feature) {
        bail!("{feature} is the name of a feature group");
    }
    let meta =
        package.get("metadata").and_then(|metadata| metadata.get("hermes")).with_context(|| {
            format!(
                "add [package.metadata.hermes] with `toolset = \"{feature}\"` and `default = false`"
            )
        })?;
    let toolset = meta.get("toolset").and_then(Item::as_str).unwrap_or_default().to_owned();
    if !is_toolset_name(&toolset) {
        bail!("metadata.hermes.toolset must be a name like \"{feature}\", not {toolset:?}");
    }
    let default = match meta.get("default") {
        None => false,
        Some(item) => item.as_bool().context("metadata.hermes.default must be true or false")?,
    };
    let groups = match meta.get("groups") {
        None => Vec::new(),
        Some(item) => groups(item)?,
    };
    let extras = match meta.get("extras") {
        None => Vec::new(),
        Some(item) => extras(item, doc.get("features"))?,
    };
    Ok(ToolCrate {
        folder: folder.to_owned(),
        feature,
        package: expected,
        toolset,
        default,
        groups,
        extras,
    })
}

/// Extras must be features of the crate, so that the wiring can turn them on.
fn extras(item: &Item, features: Option<&Item>) -> Result<Vec<String>> {
    let list = item.as_array().context("metadata.hermes.extras must be a list")?;
    let mut extras = Vec::new();
    for extra in list {
        match extra.as_str() {
            Some(extra) if features.is_some_and(|it| it.get(extra).is_some()) => {
                extras.push(extra.to_owned());
            }
            _ => bail!("metadata.hermes.extras may hold features of the crate, not {extra:?}"),
        }
    }
    Ok(extras)
}

fn groups(item: &Item) -> Result<Vec<String>> {
    let list = item.as_array().context("metadata.hermes.groups must be a list")?;
    let mut groups = Vec::new();
    for group in list {
        match group.as_str() {
            Some(group) if GROUPS.contains(&group) => groups.push(group.to_owned()),
            _ => bail!("metadata.hermes.groups may hold {}, not {group:?}", GROUPS.join(", ")),
        }
    }
    Ok(groups)
}

/// Whether a feature of that name is made for groups.
pub(crate) fn is_reserved_feature(name: &str) -> bool {
    GROUPS.contains(&name) || OTHER_FEATURES.contains(&name)
}

/// Whether `name` is lower case words of letters and digits, joined by single hyphens.
pub(crate) fn is_kebab(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// Whether a toolset may have that name.
pub(crate) fn is_toolset_name(name: &str) -> bool {
    name.len() <= 64 && is_kebab(&name.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(package: &str, hermes: &str) -> String {
        format!("[package]\nname = \"{package}\"\n[package.metadata.hermes]\n{hermes}\n")
    }

    #[test]
    fn a_manifest_is_read() {
        let text = manifest(
            "hermes-tool-web-search",
            "toolset = \"web\"\ndefault = true\ngroups = [\"coding\"]",
        );
        assert_eq!(
            tool_crate("tool-web-search", &text).unwrap(),
            ToolCrate {
                folder: "tool-web-search".into(),
                feature: "web_search".into(),
                package: "hermes-tool-web-search".into(),
                toolset: "web".into(),
                default: true,
                groups: vec!["coding".into()],
                extras: vec![],
            }
        );
    }

    #[test]
    fn extras_are_features_of_the_crate() {
        let text = |features: &str| {
            manifest("hermes-tool-web", "toolset = \"web\"\nextras = [\"pdf\"]") + features
        };
        let it = tool_crate("tool-web", &text("[features]\npdf = []\n")).unwrap();
        assert_eq!(it.extra_features().collect::<Vec<_>>(), [("web-pdf".to_owned(), "pdf")]);
        let err = tool_crate("tool-web", &text("[features]\n")).unwrap_err().to_string();
        assert!(err.contains("features of the crate"), "{err}");
    }

    #[test]
    fn one_name_in_every_place() {
        let ok = "toolset = \"web\"";
        for (folder, text, expected) in [
            ("tool-web", manifest("hermes-tool-wob", ok), "must be called hermes-tool-web"),
            ("tool-Web", manifest("hermes-tool-Web", ok), "lower case"),
            ("tool-web_search", manifest("hermes-tool-web_search", ok), "single hyphens"),
            ("tool-full", manifest("hermes-tool-full", ok), "feature group"),
            ("tool-web", manifest("hermes-tool-web", ""), "metadata.hermes.toolset"),
            ("tool-web", manifest("hermes-tool-web", "toolset = \"We b\""), "not \"We b\""),
            (
                "tool-web",
                manifest("hermes-tool-web", "toolset = \"web\"\ngroups = [\"coding\", \"all\"]"),
                "may hold coding",
            ),
            (
                "tool-web",
                "[package]\nname = \"hermes-tool-web\"\n".into(),
                "[package.metadata.hermes]",
            ),
            ("tool-web", "[package\n".into(), "isn't TOML"),
        ] {
            let err = tool_crate(folder, &text).unwrap_err().to_string();
            assert!(err.contains(expected), "{err}");
        }
    }
}
