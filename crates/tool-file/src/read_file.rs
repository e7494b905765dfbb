//! `read_file`: lines of a text file, numbered.

use std::io::{self, Read};
use std::path::Path;

use hermes_fs::{Content, Name, Opened, Stat};
use hermes_guard::paths::binary;
use hermes_registry::{
    Concurrency, Exposure, ResultLimit, ToolContext, ToolError, ToolOutput, ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::args::{self, Limits, Paging, normalize_pagination};
use crate::fault::{Fault, check_interrupt};
use crate::path::Resolved;
use crate::shown::Shown;
use crate::suggest::similar_paths;
use crate::text::Encoding;
use crate::window::{Request, Window, read_window};
use crate::work::Work;
use crate::{document, guard, state};

register! {
    pub static READ_FILE;
    name: "read_file",
    toolset: "file",
    description: "Reads a text file and returns its lines as `number|text`, 500 from line 1 on \
        unless told otherwise. When `truncated` is true, `next_offset` is where to go on. An \
        answer holds at most 2000 lines and 100,000 characters, and a line at most 2000 \
        characters; read only the range you need from a long file. The number and the bar are \
        not part of the file. Any encoding is decoded. Notebooks are shown as their cells, and \
        Word, Excel, PowerPoint, OpenDocument and PDF files as text where the build can. Images, \
        archives and other binary files are refused, as are devices and files that hold secrets. \
        A folder's entries are listed; for a path that doesn't exist, similar names are suggested.\
        [[search_files| To find where something is, use search_files first.]]",
    handler: read_file,
    emoji: "📖",
    verb: "Reading",
    concurrency: Concurrency::reads("path"),
    max_result_size: ResultLimit::Chars(100_000),
    exposure: Exposure::Core,
    idempotent: true,
}

/// How many bytes are looked at to tell text from binary data.
const SAMPLE: usize = 1000;
/// How many entries of a folder are named.
const MAX_ENTRIES: usize = 50;
/// How many are looked at for that.
const MAX_LISTED: usize = 200_000;
/// From this size on, wide reads are answered with advice.
const LARGE_FILE: u64 = 512_000;

#[derive(Deserialize, JsonSchema)]
#[schemars(transform = require_path)]
struct Args {
    /// The file: absolute, relative to the working directory, or starting with `~`.
    #[serde(default)]
    #[schemars(with = "String")]
    path: Value,
    /// The first line to read, counted from 1.
    #[serde(default)]
    #[schemars(with = "i64", extend("default" = 1), range(min = 1))]
    offset: Value,
    /// The most lines to read.
    #[serde(default)]
    #[schemars(with = "i64", extend("default" = 500), range(max = 2000))]
    limit: Value,
}

fn require_path(schema: &mut schemars::Schema) {
    args::require(schema, &["path"]);
}

#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
fn read_file(args: Args, cx: ToolContext) -> ToolResult {
    let spelling = args::path("read_file", &args.path)?;
    let limits = Limits::of(cx.settings());
    let (offset, limit) = normalize_pagination(
        Paging::Read { max_lines: limits.max_lines },
        &args.offset,
        &args.limit,
    );
    let request = Request {
        offset,
        limit,
        max_chars: limits.max_chars,
        max_line_length: limits.max_line_length,
    };
    let work = Work::of(&cx);
    let (path, wanted) = document::wanted(&work, spelling)?;
    let mut reading = state::Reading::of(&work, &path.real, offset, limit);
    guard::refuse_device(&path)?;
    guard::refuse_secret(&path)?;
    if let Some(document) = document::read(&work, &path, spelling, wanted)? {
        // With outputs, it is another page of the same file.
        if wanted.outputs {
            return document.answer(&cx, request);
        }
        if let Some(known) = reading.known()? {
            return Ok(known);
        }
        return Ok(reading.extracted(document.answer(&cx, request)?));
    }
    let (mut content, stat) = open_text(&work, &path, spelling)?;
    let head = sample(&mut *content).map_err(|err| work.io_error("read", &path.real, &err))?;
    refuse_binary(&path, &head)?;
    if let Some(known) = reading.known()? {
        return Ok(known);
    }
    let check = || check_interrupt(&cx).map_err(Failure::Tool);
    let mut window =
        read_window(&head, content, request, check).map_err(|failure| match failure {
            Failure::Tool(err) => err,
            Failure::Io(err) => work.io_error("read", &path.real, &err),
        })?;
    Shown::of(cx.settings()).numbered(&mut window.content);
    let mut output = answer(window, request, stat.len);
    work.tell(&mut output);
    Ok(reading.shown(output))
}

/// Why a stream wasn't read to its end.
pub(crate) enum Failure {
    Tool(ToolError),
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Self {
        Self::Io(err)
    }
}

/// Opens a regular file that isn't binary by its name; anything else is an error that says what
/// the path is.
pub(crate) fn open_text<'w>(
    work: &'w Work<'_>,
    path: &Resolved,
    spelling: &str,
) -> Result<(Box<dyn Content + 'w>, Stat), ToolError> {
    let name = path.real.to_string_lossy();
    let is_image = binary::has_image_extension(&name);
    let (stat, content) = if is_image || binary::has_binary_extension(&name) {
        (stat(work, path, spelling)?, None)
    } else {
        let opened = work.backend.open(&path.real, work.go());
        let Opened { stat, content } =
            opened.map_err(|err| access_error(work, path, spelling, &err))?;
        (stat, content)
    };
    guard::refuse_special(path, &stat)?;
    if stat.is_folder() {
        return Err(directory_error(work, path));
    }
    if is_image {
        return Err(Fault::Binary.error(format!(
            "{} is an image; it can be looked at by a tool that sees images, not read as text",
            path.given.display()
        )));
    }
    let mut content = content.ok_or_else(|| binary_error(path))?;
    guard::refuse_private_key(path, &mut *content)?;
    Ok((content, stat))
}

/// What is at the path, or an error that names similar paths.
pub(crate) fn stat(work: &Work<'_>, path: &Resolved, spelling: &str) -> Result<Stat, ToolError> {
    work.stat(&path.real).map_err(|err| access_error(work, path, spelling, &err))
}

fn access_error(work: &Work<'_>, path: &Resolved, spelling: &str, err: &io::Error) -> ToolError {
    match err.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => not_found(work, path, spelling),
        _ => work.io_error("open", &path.real, err),
    }
}

fn not_found(work: &Work<'_>, path: &Resolved, spelling: &str) -> ToolError {
    if path.is_link {
        return Fault::NotFound.error(format!(
            "{} is a broken link to {}, which doesn't exist",
            path.given.display(),
            path.real.display()
        ));
    }
    let similar = similar_paths(work, &path.given, spelling);
    let mut message = format!("there is no {}", path.given.display());
    if let Some(first) = similar.first() {
        message.push_str(&format!("; did you mean {first}?"));
    }
    let err = Fault::NotFound.error(message);
    if similar.is_empty() { err } else { err.with_extra("similar_files", similar) }
}

pub(crate) fn directory_error(work: &Work<'_>, path: &Resolved) -> ToolError {
    let (entries, more) = list(work, &path.real);
    let mut message = format!("{} is a folder, not a file", path.given.display());
    if more > 0 {
        message.push_str(&format!("; {more} of its entries aren't shown"));
    }
    Fault::IsDirectory.error(message).with_extra("entries", entries)
}

/// The first entries of a folder by name, folders with a slash, and how many more there are.
fn list(work: &Work<'_>, folder: &Path) -> (Vec<String>, usize) {
    let listed = work.backend.list(&[folder], MAX_LISTED, work.go()).unwrap_or_default();
    let entries = listed.into_iter().flatten().flatten();
    let show = |Name { name, is_folder }: Name| {
        format!("{}{}", name.to_string_lossy(), if is_folder { "/" } else { "" })
    };
    let mut entries: Vec<String> = entries.map(show).collect();
    entries.sort();
    let more = entries.len().saturating_sub(MAX_ENTRIES);
    entries.truncate(MAX_ENTRIES);
    (entries, more)
}

fn binary_error(path: &Resolved) -> ToolError {
    Fault::Binary
        .error(format!("{} holds binary data and can't be shown as text", path.given.display()))
}

fn sample(content: &mut dyn Content) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(SAMPLE);
    content.take(SAMPLE as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn refuse_binary(path: &Resolved, head: &[u8]) -> Result<(), ToolError> {
    let is_utf16 =
        matches!(Encoding::of_bom(head), Some((Encoding::Utf16Le | Encoding::Utf16Be, _)));
    // A PDF may begin without a NUL, and is none the less no text.
    if (!is_utf16 && memchr::memchr(0, head).is_some()) || head.starts_with(b"%PDF-") {
        return Err(binary_error(path));
    }
    Ok(())
}

pub(crate) fn answer(window: Window, request: Request, file_size: u64) -> ToolOutput {
    let total = window.total_lines;
    let first = request.offset;
    let next = first.saturating_add(window.shown);
    let remains = window.shown > 0 && next <= total;
    let truncated = remains || window.over_budget;

    let hint = if window.shown == 0 && first > 1 {
        Some(format!("offset {first} is past the end: the file has {total} lines"))
    } else if window.first_line_cut {
        Some(format!(
            "line {first} of {total} is longer than an answer may be and was cut; its rest can't \
             be reached by offset{}",
            if remains { format!(". Go on with offset={next}") } else { String::new() }
        ))
    } else if remains {
        Some(format!("lines {first}-{} of {total}; go on with offset={next}", next - 1))
    } else {
        None
    };

    let mut result = Map::new();
    let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
    put("content", window.content.into());
    put("total_lines", total.into());
    put("file_size", file_size.into());
    put("truncated", truncated.into());
    if window.over_budget {
        put("truncated_by", "bytes".into());
    }
    if remains {
        put("next_offset", next.into());
    }
    if window.encoding != Encoding::Utf8 {
        put("encoding", window.encoding.name().into());
    }
    if let Some(hint) = hint {
        put("hint", hint.into());
    }
    if truncated && file_size > LARGE_FILE && request.limit > 200 {
        let advice = "this is a large file: search it, or read only the lines you need";
        put("_hint", advice.into());
    }
    ToolOutput::Json(result.into())
}
