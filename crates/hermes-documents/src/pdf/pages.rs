//! The pages of a document in order.

use std::collections::HashSet;
use std::rc::Rc;

use super::file::File;
use super::object::{Dict, Object};
use crate::document::ExtractError;

/// How many pages are read.
const MAX_PAGES: usize = 20_000;

/// How many nodes of the tree may wait for their turn.
const MAX_WAITING: usize = 200_000;

/// A page: where its content is, and what that refers to.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) contents: Rc<[Object]>,
    pub(super) resources: Rc<Dict>,
}

pub(super) fn pages(file: &File<'_>) -> Result<Vec<Page>, ExtractError> {
    let mut pages = Vec::new();
    if let Some(root) = file.catalog().as_ref().and_then(|catalog| catalog.get("Pages")) {
        walk(file, root, &mut pages);
    }
    if pages.is_empty() {
        // The tree is broken: pages in the order of their numbers are better than none.
        for number in file.numbers() {
            if let Some(dict) = file.item(number).as_deref().and_then(|item| item.dict())
                && dict.is("Type", "Page")
                && pages.len() < MAX_PAGES
            {
                pages.push(page(file, dict, &Rc::default()));
            }
        }
    }
    if pages.is_empty() { Err(ExtractError::Malformed("it has no pages")) } else { Ok(pages) }
}

fn walk(file: &File<'_>, root: &Object, pages: &mut Vec<Page>) {
    let mut seen = HashSet::new();
    let mut rest = vec![(root.clone(), Rc::default())];
    while let Some((node, inherited)) = rest.pop() {
        let Object::Reference(number) = node else { continue };
        if !seen.insert(number) || pages.len() == MAX_PAGES {
            continue;
        }
        let Some(item) = file.item(number) else { continue };
        let Some(dict) = item.dict() else { continue };
        let resources = file.get_dict(dict, "Resources").unwrap_or(inherited);
        match file.get(dict, "Kids") {
            Some(Object::Array(kids)) => {
                let room = MAX_WAITING.saturating_sub(rest.len()).min(MAX_PAGES);
                let kids = kids.iter().take(room).rev();
                rest.extend(kids.map(|kid| (kid.clone(), Rc::clone(&resources))));
            }
            _ => pages.push(page(file, dict, &resources)),
        }
    }
}

fn page(file: &File<'_>, dict: &Dict, inherited: &Rc<Dict>) -> Page {
    let contents = match dict.get("Contents") {
        Some(Object::Array(parts)) => parts.clone(),
        Some(Object::Reference(number)) => {
            match file.item(*number).map(|item| item.value.clone()) {
                Some(Object::Array(parts)) => parts,
                _ => [Object::Reference(*number)].into(),
            }
        }
        _ => Rc::default(),
    };
    let resources = file.get_dict(dict, "Resources").unwrap_or_else(|| Rc::clone(inherited));
    Page { contents, resources }
}
