//! `cargo xtask wire`: what the facade and the command line must know of each tool crate.
//!
//! A feature alone links nothing: rustc loads a crate only when some source names it. So each tool
//! crate gets a feature, an optional dependency and a line in `linked.rs`, all from its manifest.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml_edit::DocumentMut;

use crate::generated::{Block, Generated, Mode, ensure_file_contents};
use crate::project::{GROUPS, Project, ToolCrate};

/// The command, as the generated files and the failures spell it.
const COMMAND: &str = "cargo xtask wire";

/// Features of the command line that are no tools, and light enough to be on by default. What they
/// turn on is written by hand below the generated lines.
const SERVICES: &[&str] = &["lsp"];

/// Writes or checks everything that depends on the list of tool crates.
pub(crate) fn run(project: &Project, mode: Mode) -> Result<()> {
    let crates = project.tool_crates()?;
    let files = files(project, &crates)?;
    ensure_file_contents(&project.root, &files, mode, COMMAND)?;
    files.iter().try_for_each(|file| match &file.contents {
        Some(text) if file.path.ends_with("Cargo.toml") => parses(&file.path, text),
        _ => Ok(()),
    })
}

fn files(project: &Project, crates: &[ToolCrate]) -> Result<Vec<Generated>> {
    let facade = project.facade().join("Cargo.toml");
    let facade_text = block("features", &facade_features(crates), &read(&facade)?)?;
    let facade_text = block("dependencies", &dependencies(crates), &facade_text)?;
    let cli = project.cli_manifest();
    let cli_text = block("features", &cli_features(crates), &read(&cli)?)?;
    Ok(vec![
        Generated::text(facade, facade_text),
        Generated::text(cli, cli_text),
        Generated::text(project.facade().join("src/linked.rs"), linked(crates)),
    ])
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))
}

fn block(section: &str, body: &str, text: &str) -> Result<String> {
    Block { command: COMMAND, section, body }.apply(text)
}

/// The rest of a manifest is people's: say so when it is what doesn't parse.
fn parses(path: &Path, text: &str) -> Result<()> {
    if let Err(err) = text.parse::<DocumentMut>() {
        bail!("{} is broken outside of its generated blocks:\n{err}", path.display());
    }
    Ok(())
}

fn facade_features(crates: &[ToolCrate]) -> String {
    let own = |it: &ToolCrate| format!("dep:{}", it.package);
    let extra = |it: &ToolCrate, name: &str| format!("{}/{name}", it.package);
    features(crates, &[], own, extra)
}

fn cli_features(crates: &[ToolCrate]) -> String {
    let own = |it: &ToolCrate| format!("hermes-tools/{}", it.feature);
    let extra = |it: &ToolCrate, name: &str| format!("hermes-tools/{}-{name}", it.feature);
    features(crates, SERVICES, own, extra)
}

/// `default`, the groups and one feature per crate, which turns `own` on; then its extras, each of
/// which turns the crate and `extra` on. `default` and `full` have the services too.
fn features(
    crates: &[ToolCrate],
    services: &[&str],
    own: impl Fn(&ToolCrate) -> String,
    extra: impl Fn(&ToolCrate, &str) -> String,
) -> String {
    let mut out = String::new();
    let mut set = |name: &str, services: &[&str], wants: &dyn Fn(&ToolCrate) -> bool| {
        let members = crates.iter().filter(|it| wants(it)).map(|it| it.feature.as_str());
        list(&mut out, name, &members.chain(services.iter().copied()).collect::<Vec<_>>());
    };
    set("default", services, &|it| it.default);
    for group in GROUPS {
        set(group, &[], &|it| it.groups.iter().any(|name| name == group));
    }
    let mut full: Vec<String> = Vec::new();
    for it in crates {
        full.push(it.feature.clone());
        full.extend(it.extra_features().map(|(name, _)| name));
    }
    full.extend(services.iter().map(|name| (*name).to_owned()));
    list(&mut out, "full", &full.iter().map(String::as_str).collect::<Vec<_>>());
    for it in crates {
        list(&mut out, &it.feature, &[&own(it)]);
        for (name, in_crate) in it.extra_features() {
            list(&mut out, &name, &[&it.feature, &extra(it, in_crate)]);
        }
    }
    out
}

fn list(out: &mut String, name: &str, values: &[&str]) {
    let quoted: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
    let line = format!("{name} = [{}]\n", quoted.join(", "));
    if line.len() <= 100 {
        out.push_str(&line);
    } else {
        let _ = writeln!(out, "{name} = [");
        quoted.iter().for_each(|value| {
            let _ = writeln!(out, "  {value},");
        });
        out.push_str("]\n");
    }
}

fn dependencies(crates: &[ToolCrate]) -> String {
    let line = |it: &ToolCrate| {
        format!("{} = {{ path = \"../{}\", optional = true }}\n", it.package, it.folder)
    };
    crates.iter().map(line).collect()
}

/// The facade's `linked.rs`.
///
/// Crates are sorted by folder, and so by crate name, which is how rustfmt wants the imports.
fn linked(crates: &[ToolCrate]) -> String {
    let per_crate =
        |line: &dyn Fn(&ToolCrate) -> String| -> String { crates.iter().map(line).collect() };
    let uses = per_crate(&|it| {
        format!("#[cfg(feature = \"{}\")]\nuse {} as _;\n", it.feature, it.ident())
    });
    let rows = per_crate(&|it| format!("    #[cfg(feature = \"{}\")]\n{}", it.feature, row(it)));
    let tools = per_crate(&|it| {
        format!("        #[cfg(feature = \"{}\")]\n        {}::tools(),\n", it.feature, it.ident())
    });
    let array = |indent: &str, rows: &str| match rows {
        "" => "[]".to_owned(),
        rows => format!("[\n{rows}{indent}]"),
    };
    format!(
        "//! Generated by `{COMMAND}`; do not edit.
//!
//! Which tool crates are linked. Without the `use` of a crate its tools would silently be absent:
//! rustc loads a crate only when a source names it.

use hermes_registry::ToolSpec;

{uses}{gap}/// The features that are compiled in, each with its package and toolset, sorted.
pub const FEATURES: &[(&str, &str, &str)] = &{rows};

/// The tools of every linked crate, by an explicit path.
///
/// For embedders whose linker drops what only a linker section refers to, such as a static library
/// without fat LTO.
pub fn linked() -> Vec<&'static [&'static ToolSpec]> {{
    let linked: &[&'static [&'static ToolSpec]] = &{tools};
    linked.to_vec()
}}
",
        gap = if uses.is_empty() { "" } else { "\n" },
        rows = array("", &rows),
        tools = array("    ", &tools),
    )
}

/// A crate's element of `FEATURES`, broken over lines where rustfmt would.
fn row(it: &ToolCrate) -> String {
    let cells = [&it.feature, &it.package, &it.toolset].map(|text| format!("\"{text}\""));
    let line = format!("    ({}),\n", cells.join(", "));
    if line.trim_end().len() <= 100 {
        return line;
    }
    let cells: String = cells.iter().map(|cell| format!("        {cell},\n")).collect();
    format!("    (\n{cells}    ),\n")
}

#[cfg(test)]
mod tests;
