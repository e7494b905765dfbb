//! What `search_files` is made of.

pub(crate) mod excerpt;
pub(crate) mod names;
pub(crate) mod page;
pub(crate) mod render;
pub(crate) mod root;
