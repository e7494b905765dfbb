//! Documents that are shown as text: notebooks, and office and PDF files where they are built in.

use std::io::{self, Read};
use std::path::Path;

use hermes_documents::{Document, ExtractError, Kind, MAX_BYTES, Options, extract};
use hermes_fs::Opened;
use hermes_registry::{ToolContext, ToolError, ToolOutput, ToolResult};
use serde_json::Value;

use crate::fault::{Fault, check_interrupt, io_error};
use crate::path::{Resolved, resolve};
use crate::read_file::{Failure, answer};
use crate::shown::Shown;
use crate::window::{Request, read_window};
use crate::work::{Work, warn};

/// Behind the path of a notebook it asks for the outputs of its cells.
const OUTPUTS: &str = "#outputs";
/// How far into a file the mark of a PDF may be.
const PDF_HEAD: usize = 1024;

/// A path to read, and what of a document is wanted from it.
pub(crate) fn wanted(work: &Work<'_>, spelling: &str) -> Result<(Resolved, Options), ToolError> {
    let path = resolve(work, spelling)?;
    let notebook = spelling.strip_suffix(OUTPUTS);
    match notebook.filter(|it| Kind::of_name(it) == Some(Kind::Notebook)) {
        // A file may be called so.
        Some(notebook) if work.stat(&path.real).is_err() => {
            Ok((resolve(work, notebook)?, Options { outputs: true }))
        }
        _ => Ok((path, Options::default())),
    }
}

/// A document that was read.
pub(crate) struct Extracted<'a> {
    spelling: &'a str,
    document: Document,
    file_size: u64,
}

/// Reads the document at a path; none when there is no file, or one to be read as it is. An error
/// when it is a document that can't be shown.
pub(crate) fn read<'a>(
    work: &Work<'_>,
    path: &Resolved,
    spelling: &'a str,
    options: Options,
) -> Result<Option<Extracted<'a>>, ToolError> {
    let name = path.real.to_string_lossy();
    let Some(kind) = Kind::of_name(&name) else { return Ok(None) };
    // What else may be there gets its answer from those who read text.
    let Opened { stat, content } = match work.backend.open(&path.real, work.go()) {
        Ok(opened) => opened,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(work.io_error("open", &path.real, &err)),
    };
    let Some(content) = content else { return Ok(None) };
    let mut bytes = Vec::new();
    // One more than is allowed tells that there is more.
    let limit = if kind.is_supported() { MAX_BYTES + 1 } else { PDF_HEAD };
    content
        .take(limit as u64)
        .read_to_end(&mut bytes)
        .map_err(|err| work.io_error("read", &path.real, &err))?;
    let head = bytes.get(..bytes.len().min(PDF_HEAD)).unwrap_or_default();
    if kind == Kind::Pdf && !head.windows(5).any(|it| it == b"%PDF-") {
        return Ok(None);
    }
    match extract(&name, &bytes, options) {
        Some(Ok(document)) => Ok(Some(Extracted { spelling, document, file_size: stat.len })),
        Some(Err(err)) if !kind.is_text() => Err(cannot_be_shown(path, &err)),
        Some(Err(_)) | None => Ok(None),
    }
}

fn cannot_be_shown(path: &Resolved, err: &ExtractError) -> ToolError {
    let shown = path.given.display();
    Fault::Binary.error(match err {
        ExtractError::Unsupported(feature) => format!(
            "{shown} is no text file; builds with the feature `file-{feature}` show its text, and \
             this one was built without it"
        ),
        err => format!("the text of {shown} can't be shown: {err}"),
    })
}

/// Refuses to write text to what isn't a text file, whatever it would hold.
pub(crate) fn refuse_edit(path: &Path) -> Result<(), ToolError> {
    match Kind::of_name(&path.to_string_lossy()) {
        Some(kind) if !kind.is_text() => Err(Fault::Binary.error(format!(
            "nothing was written: {} would be no valid .{} file; make it with a program for such \
             files",
            path.display(),
            kind.extension()
        ))),
        _ => Ok(()),
    }
}

impl Extracted<'_> {
    /// The lines asked for, as of a text file.
    pub(crate) fn answer(self, cx: &ToolContext, request: Request) -> ToolResult {
        let Self { spelling, document, file_size } = self;
        let text = document.text.as_bytes();
        let mut window =
            read_window(&[], text, request, || check_interrupt(cx).map_err(Failure::Tool))
                .map_err(|failure| match failure {
                    Failure::Tool(err) => err,
                    Failure::Io(err) => io_error("read", Path::new(spelling), &err),
                })?;
        Shown::of(cx.settings()).numbered(&mut window.content);
        let mut output = answer(window, request, file_size);
        if let ToolOutput::Json(Value::Object(result)) = &mut output {
            result.insert("extracted_document".to_owned(), true.into());
            if document.hidden_outputs > 0 {
                let advice = format!(
                    "outputs of {} cells aren't shown; read \"{spelling}{OUTPUTS}\" for the first 20 \
                     lines of each",
                    document.hidden_outputs
                );
                result.insert("_hint".to_owned(), advice.into());
            }
            if !document.omitted.is_empty() {
                let warning = format!("not shown: {}", document.omitted.join("; "));
                warn(result, &warning);
            }
        }
        Ok(output)
    }
}
