//! `cargo xtask new-tool`: a crate with one tool that works, wired in.

use std::fs;

use anyhow::{Context, Result};

use crate::cli::UsageError;
use crate::generated::Mode;
use crate::project::{self, Project};
use crate::registrations;
use crate::shadow::{self, RESERVED};
use crate::{docs, schema, wire};

/// The files of a new crate, with `{{..}}` where its names go.
///
/// What `register!` and `tools!` look like is written nowhere else in xtask.
const TEMPLATE: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("../templates/tool/Cargo.toml.in")),
    ("docs.md", include_str!("../templates/tool/docs.md.in")),
    ("src/lib.rs", include_str!("../templates/tool/lib.rs.in")),
];

/// The names of a new crate.
#[derive(Debug, PartialEq)]
struct Names {
    /// The tool and the feature, e.g. `word_count`.
    tool: String,
    /// The folder after `tool-` and the package after `hermes-tool-`, e.g. `word-count`.
    kebab: String,
    /// The toolset, the tool's own unless one was asked for.
    toolset: String,
}

/// Makes the crate, then brings everything that is generated up to date.
pub(crate) fn run(project: &Project, name: &str, toolset: Option<&str>) -> Result<()> {
    create(project, name, toolset)?;
    wire::run(project, Mode::Write)?;
    schema::run(project, Mode::Write)?;
    docs::run(project, Mode::Write)
}

fn create(project: &Project, name: &str, toolset: Option<&str>) -> Result<()> {
    let names = names(name, toolset).map_err(UsageError)?;
    if let Some(taken) = taken(project, &names)? {
        return Err(UsageError(taken).into());
    }
    let folder = project.root.join(format!("crates/tool-{}", names.kebab));
    for (path, template) in TEMPLATE {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .with_context(|| format!("can't make {}", parent.display()))?;
        }
        fs::write(&path, fill(template, &names))
            .with_context(|| format!("can't write {}", path.display()))?;
        println!("wrote {}", path.strip_prefix(&project.root).unwrap_or(&path).display());
    }
    no_longer_planned(project, &names.tool)
}

/// The names that follow from what was typed, or what is wrong with it.
fn names(name: &str, toolset: Option<&str>) -> Result<Names, String> {
    let tool = name.replace('-', "_");
    let kebab = tool.replace('_', "-");
    if !project::is_kebab(&kebab) || !shadow::is_tool_name(&tool) {
        return Err(format!(
            "{name:?} can't name a tool: use up to 64 lower-case letters, digits and single `_` or `-` between words, beginning with a letter"
        ));
    }
    if RESERVED.contains(&tool.as_str()) {
        return Err(format!("{tool} is reserved for the tool-search bridge"));
    }
    if project::is_reserved_feature(&tool) {
        return Err(format!("{tool} is the name of a feature group"));
    }
    let toolset = toolset.unwrap_or(&tool).to_owned();
    if !project::is_toolset_name(&toolset) {
        return Err(format!(
            "{toolset:?} can't name a toolset: use lower-case words joined by `_`"
        ));
    }
    Ok(Names { tool, kebab, toolset })
}

/// Who has one of the names already.
fn taken(project: &Project, names: &Names) -> Result<Option<String>> {
    let folder = format!("tool-{}", names.kebab);
    if project.crate_folders()?.contains(&folder) {
        return Ok(Some(format!("crates/{folder} exists already")));
    }
    let (registrations, _) = registrations::of_project(project)?;
    let holder = registrations.iter().find(|it| it.name == names.tool);
    Ok(holder.map(|it| format!("{} is registered already, at {}:{}", it.name, it.file, it.line)))
}

fn fill(template: &str, names: &Names) -> String {
    template
        .replace("{{tool}}", &names.tool)
        .replace("{{kebab}}", &names.kebab)
        .replace("{{toolset}}", &names.toolset)
}

/// Takes a tool off the list of planned ones, if it is there.
fn no_longer_planned(project: &Project, tool: &str) -> Result<()> {
    let path = shadow::planned_path(project);
    if !path.exists() {
        return Ok(());
    }
    let Some((line, _)) = registrations::planned(&path)?.into_iter().find(|(_, it)| it == tool)
    else {
        return Ok(());
    };
    let text = fs::read_to_string(&path)?;
    let rest = text.lines().enumerate().filter(|(at, _)| at + 1 != line);
    let rest: String = rest.map(|(_, line)| format!("{line}\n")).collect();
    fs::write(&path, rest).with_context(|| format!("can't write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        let project = Project { root: folder.path().to_path_buf() };
        for (path, text) in [
            ("crates/hermes-tools/Cargo.toml", "[package]\nname = \"hermes-tools\"\n"),
            ("crates/hermes-cli/Cargo.toml", "[package]\nname = \"hermes-cli\"\n"),
            ("crates/tool-file/src/lib.rs", "register! { name: \"read_file\", toolset: \"file\" }"),
            (
                "crates/tool-file/Cargo.toml",
                "[package]\nname = \"hermes-tool-file\"\n[package.metadata.hermes]\ntoolset = \"file\"\n",
            ),
            (shadow::PLANNED, "# later\nother\nword_count\n"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, project)
    }

    #[test]
    fn names_follow_from_one() {
        for typed in ["word-count", "word_count"] {
            let expected = Names {
                tool: "word_count".into(),
                kebab: "word-count".into(),
                toolset: "word_count".into(),
            };
            assert_eq!(names(typed, None).unwrap(), expected);
        }
        assert_eq!(names("greet", Some("social")).unwrap().toolset, "social");
    }

    #[test]
    fn bad_names_are_bad_usage() {
        let (_folder, project) = project();
        let long = "a".repeat(65);
        for (name, toolset, expected) in [
            ("Greet", None, "can't name a tool"),
            ("2greet", None, "can't name a tool"),
            ("a__b", None, "can't name a tool"),
            ("a-", None, "can't name a tool"),
            ("../x", None, "can't name a tool"),
            ("", None, "can't name a tool"),
            (long.as_str(), None, "can't name a tool"),
            ("tool-search", None, "reserved"),
            ("coding", None, "feature group"),
            ("full", None, "feature group"),
            ("greet", Some("Soc ial"), "can't name a toolset"),
            ("file", None, "crates/tool-file exists already"),
            ("read-file", None, "registered already, at crates/tool-file/src/lib.rs:1"),
        ] {
            let err = create(&project, name, toolset).unwrap_err();
            assert!(err.is::<UsageError>(), "{name}");
            assert!(err.to_string().contains(expected), "{err}");
        }
        assert_eq!(project.crate_folders().unwrap().len(), 3);
    }

    #[test]
    fn a_new_crate_fits_the_rules() {
        let (_folder, project) = project();
        create(&project, "word-count", Some("text")).unwrap();
        let crates = project.tool_crates().unwrap();
        let made = crates.iter().find(|it| it.folder == "tool-word-count").unwrap();
        assert_eq!((made.feature.as_str(), made.toolset.as_str()), ("word_count", "text"));
        wire::run(&project, Mode::Write).unwrap();
        wire::run(&project, Mode::Check).unwrap();

        let (found, faults) = registrations::of_project(&project).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        assert!(
            found.iter().any(|it| it.name == "word_count" && it.toolset == "text"),
            "{found:?}"
        );
        let planned = fs::read_to_string(shadow::planned_path(&project)).unwrap();
        assert_eq!(planned, "# later\nother\n");
        for (path, _) in TEMPLATE {
            let text = fs::read_to_string(project.root.join("crates/tool-word-count").join(path));
            assert!(!text.unwrap().contains("{{"), "{path}");
        }
    }
}
