//! The packages of office programs: XML in a zip archive.

pub(crate) mod docx;
pub(crate) mod odt;
mod package;
pub(crate) mod pptx;
mod relations;
mod story;
pub(crate) mod xlsx;
mod xml;

#[cfg(test)]
pub(crate) mod zip;
