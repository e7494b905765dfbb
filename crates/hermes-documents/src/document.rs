//! Which files are documents, and the one way to their text.

use std::fmt;

use crate::notebook;

/// The largest document that is read, in bytes.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A kind of document, by the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A Jupyter notebook, `.ipynb`.
    Notebook,
    /// A text of Word, `.docx`.
    Docx,
    /// A workbook of Excel, `.xlsx`.
    Xlsx,
    /// A presentation of PowerPoint, `.pptx`.
    Pptx,
    /// A text of OpenDocument, `.odt`.
    Odt,
    /// A Portable Document Format file, `.pdf`.
    Pdf,
}

impl Kind {
    /// Every kind there is.
    pub const ALL: [Self; 6] =
        [Self::Notebook, Self::Docx, Self::Xlsx, Self::Pptx, Self::Odt, Self::Pdf];

    /// The kind that the end of a file's name or path tells, in upper or lower case.
    pub fn of_name(name: &str) -> Option<Self> {
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let (stem, extension) = base.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        Self::ALL.into_iter().find(|kind| extension.eq_ignore_ascii_case(kind.extension()))
    }

    /// The extension of such files, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Notebook => "ipynb",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
            Self::Pptx => "pptx",
            Self::Odt => "odt",
            Self::Pdf => "pdf",
        }
    }

    /// Whether the file is text itself, so that it can be read and changed as such.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Notebook)
    }

    /// The feature of this crate that reads such files; none for what is always read.
    pub const fn feature(self) -> Option<&'static str> {
        match self {
            Self::Notebook => None,
            Self::Docx | Self::Xlsx | Self::Pptx | Self::Odt => Some("office"),
            Self::Pdf => Some("pdf"),
        }
    }

    /// Whether such files are read in this build.
    pub const fn is_supported(self) -> bool {
        match self {
            Self::Notebook => true,
            Self::Docx | Self::Xlsx | Self::Pptx | Self::Odt => cfg!(feature = "office"),
            Self::Pdf => cfg!(feature = "pdf"),
        }
    }
}

/// What of a document is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The outputs of a notebook's cells too, each cut to 20 lines.
    pub outputs: bool,
}

/// The text of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The text, in lines that end with LF; the last has no line ending.
    pub text: String,
    /// How many cells of a notebook have outputs that aren't in the text.
    pub hidden_outputs: usize,
    /// What else isn't in the text, each as a phrase such as `rows after 5000 of sheet "x"`.
    pub omitted: Vec<String>,
}

/// Why a file isn't read as a document. The message says it for people, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtractError {
    /// The build can't read this kind of document; the feature that could.
    Unsupported(&'static str),
    /// It is broken, or no document of its kind.
    Malformed(&'static str),
    /// A limit was hit: it is too large, or made to be.
    TooLarge(&'static str),
    /// It needs a password.
    Encrypted,
    /// There is no text in it.
    Blank,
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(feature) => {
                write!(f, "this build can't read it: it was made without the feature `{feature}`")
            }
            Self::Malformed(reason) | Self::TooLarge(reason) => f.write_str(reason),
            Self::Encrypted => f.write_str("it is encrypted"),
            Self::Blank => f.write_str("there is no text in it"),
        }
    }
}

impl std::error::Error for ExtractError {}

/// The text of a document; none when the name isn't one of a document.
///
/// It never panics, and takes time and memory in proportion to the file and to the limits that
/// the crate's documentation names, whatever the bytes are.
///
/// ```
/// use hermes_documents::{Options, extract};
///
/// let notebook = br##"{"cells": [{"cell_type": "code", "source": ["print(1)\n"]}]}"##;
/// let document = extract("n.ipynb", notebook, Options::default()).expect("a notebook")?;
/// assert_eq!(document.text, "# ── Code cell 1 ──\nprint(1)");
/// assert!(extract("n.txt", notebook, Options::default()).is_none());
/// # Ok::<(), hermes_documents::ExtractError>(())
/// ```
///
/// # Errors
/// The result is an error when the bytes aren't such a document, when a limit is hit, or when
/// the build can't read its kind.
pub fn extract(
    name: &str,
    bytes: &[u8],
    options: Options,
) -> Option<Result<Document, ExtractError>> {
    let kind = Kind::of_name(name)?;
    if bytes.len() > MAX_BYTES {
        return Some(Err(ExtractError::TooLarge("it is above 64 MiB")));
    }
    Some(match kind {
        Kind::Notebook => notebook::extract(bytes, options),
        #[cfg(feature = "office")]
        Kind::Docx => crate::office::docx::extract(bytes),
        #[cfg(feature = "office")]
        Kind::Xlsx => crate::office::xlsx::extract(bytes),
        #[cfg(feature = "office")]
        Kind::Pptx => crate::office::pptx::extract(bytes),
        #[cfg(feature = "office")]
        Kind::Odt => crate::office::odt::extract(bytes),
        #[cfg(feature = "pdf")]
        Kind::Pdf => crate::pdf::extract(bytes),
        #[cfg(not(all(feature = "office", feature = "pdf")))]
        kind => Err(ExtractError::Unsupported(kind.feature().unwrap_or_default())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn kinds_go_by_the_last_extension() {
        for (name, expected) in [
            ("a.ipynb", Some(Kind::Notebook)),
            ("/x.y/A.DOCX", Some(Kind::Docx)),
            ("b.tar.xlsx", Some(Kind::Xlsx)),
            ("c.pdf", Some(Kind::Pdf)),
            ("docx", None),
            (".docx", None),
            ("d.docx.bak", None),
            ("x.pptx/y", None),
        ] {
            assert_eq!(Kind::of_name(name), expected, "{name}");
        }
    }

    #[test]
    fn a_kind_that_is_not_built_in_names_its_feature() {
        for kind in Kind::ALL.into_iter().filter(|kind| !kind.is_supported()) {
            let result = extract(&format!("f.{}", kind.extension()), b"", Options::default());
            let feature = kind.feature().unwrap();
            assert_eq!(result, Some(Err(ExtractError::Unsupported(feature))));
        }
    }
}
