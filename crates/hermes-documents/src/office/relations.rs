//! What a part refers to: ids that stand for other parts.

use std::collections::HashMap;

use super::package::Package;
use super::xml::{Event, Xml};
use crate::document::ExtractError;

/// The relationships of a part.
#[derive(Debug, Default)]
pub(super) struct Relations(HashMap<String, Relation>);

#[derive(Debug)]
struct Relation {
    kind: String,
    part: String,
}

impl Relations {
    /// Those of a part; none when it has no list of them.
    pub(super) fn of(package: &mut Package<'_>, part: &str) -> Result<Self, ExtractError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let list = format!("{folder}/_rels/{name}.rels");
        let mut relations = HashMap::new();
        let Some(text) = package.part(&list)? else { return Ok(Self(relations)) };
        let mut xml = Xml::new(&text);
        while let Some(event) = xml.next()? {
            let Event::Start(tag) = event else { continue };
            let external = tag.attr("TargetMode").is_some_and(|mode| mode == "External");
            if tag.name() != "Relationship" || external {
                continue;
            }
            if let (Some(id), Some(target)) = (tag.plain_attr("Id"), tag.attr("Target")) {
                let kind = tag.attr("Type").unwrap_or_default();
                relations.insert(id, Relation { kind, part: resolve(folder, &target) });
            }
        }
        Ok(Self(relations))
    }

    /// The part that an id stands for.
    pub(super) fn part(&self, id: &str) -> Option<&str> {
        Some(&self.0.get(id)?.part)
    }

    /// Whether the type of what an id stands for ends with `/` and `kind`.
    pub(super) fn is(&self, id: &str, kind: &str) -> bool {
        self.0.get(id).is_some_and(|it| it.kind.rsplit('/').next() == Some(kind))
    }

    /// The first part whose type ends with `/` and `kind`.
    pub(super) fn of_kind(&self, kind: &str) -> Option<&str> {
        let mut of_kind: Vec<&str> = self
            .0
            .values()
            .filter(|it| it.kind.rsplit('/').next() == Some(kind))
            .map(|it| it.part.as_str())
            .collect();
        of_kind.sort_unstable();
        of_kind.first().copied()
    }
}

/// A target as a name of a part.
fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}

/// The part that a package is about.
pub(super) fn main_part(
    package: &mut Package<'_>,
    usual: &'static str,
) -> Result<String, ExtractError> {
    let relations = Relations::of(package, "")?;
    let told = relations.of_kind("officeDocument").filter(|part| package.has(part));
    Ok(told.unwrap_or(usual).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::office::zip::Zip;
    use pretty_assertions::assert_eq;

    #[test]
    fn targets_are_relative_to_the_part() {
        for (target, expected) in [
            ("worksheets/s.xml", "xl/worksheets/s.xml"),
            ("/xl/s.xml", "xl/s.xml"),
            ("../s.xml", "s.xml"),
            ("../../../s.xml", "s.xml"),
            ("./s.xml", "xl/s.xml"),
        ] {
            assert_eq!(resolve("xl", target), expected);
        }
    }

    #[test]
    fn relationships_are_read() {
        let archive = Zip::new()
            .part(
                "a/_rels/b.xml.rels",
                "<Relationships><Relationship Id='r1' Type='http://x/notes' Target='../n.xml'/>\
                 <Relationship Id='r2' Type='t' Target='http://y' TargetMode='External'/>\
                 </Relationships>",
            )
            .part("w.xml", "")
            .part(
                "_rels/.rels",
                "<R><Relationship Id='m' Type='x/officeDocument' Target='w.xml'/></R>",
            )
            .finish();
        let mut package = Package::open(&archive).unwrap();
        let relations = Relations::of(&mut package, "a/b.xml").unwrap();
        assert_eq!(relations.part("r1"), Some("n.xml"));
        assert_eq!(relations.of_kind("notes"), Some("n.xml"));
        assert!(relations.is("r1", "notes") && relations.part("r2").is_none());
        assert_eq!(main_part(&mut package, "usual").unwrap(), "w.xml");
        assert!(Relations::of(&mut package, "none").unwrap().part("r1").is_none());
    }
}
