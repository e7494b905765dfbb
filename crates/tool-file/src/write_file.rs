//! `write_file`: a whole new content for a file.

use std::borrow::Cow;
use std::io::{self, Read};

use hermes_command::FileChange;
use hermes_file_state::Edit;
use hermes_fs::{Old, Opened, Plan, Write};
use hermes_registry::{
    Concurrency, EditProposal, Exposure, ResultLimit, ToolContext, ToolError, ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::checks::Checks;
use crate::display_text;
use crate::fault::{Fault, check_interrupt};
use crate::path::{Resolved, resolve};
use crate::text::{Encoding, Format, NotText, decode, encode, to_crlf};
use crate::work::Work;
use crate::{args, consent, document, guard, read_file, state};

register! {
    pub static WRITE_FILE;
    name: "write_file",
    toolset: "file",
    description: "Writes a file: creates it, with the folders above it, or replaces all that was \
        in it. The change is atomic. An existing file keeps its permissions, its encoding with or \
        without byte order mark, and its CR LF line endings; a symbolic link is followed and \
        stays. JSON, YAML and TOML files whose new content doesn't parse are refused; of code that \
        doesn't parse it is told in `lint`. Send the content as it shall be on disk, without line \
        numbers. `resolved_path` tells where it went.[[patch| To change parts of a file use patch \
        instead: it is shorter and can't lose the rest.]]",
    handler: write_file,
    emoji: "✍️",
    verb: "Writing",
    concurrency: Concurrency::writes("path"),
    max_result_size: ResultLimit::Chars(100_000),
    exposure: Exposure::Core,
    propose: propose,
}

/// Up to this size an old file is read to keep its encoding and line endings.
const MAX_OLD_SIZE: u64 = 256 * 1024 * 1024;
/// How much of an old file tells its line endings.
const LINE_ENDING_SAMPLE: usize = 4096;

#[derive(Deserialize, JsonSchema)]
#[schemars(transform = require_path_and_content)]
struct Args {
    /// The file: absolute, relative to the working directory, or starting with `~`.
    #[serde(default)]
    #[schemars(with = "String")]
    path: Value,
    /// The whole content.
    #[serde(default)]
    #[schemars(with = "String")]
    content: Value,
    /// Allows a write to what belongs to another profile. Set it only when the user asked for
    /// that.
    #[serde(default)]
    cross_profile: bool,
}

fn require_path_and_content(schema: &mut schemars::Schema) {
    args::require(schema, &["path", "content"]);
}

#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
fn write_file(args: Args, cx: ToolContext) -> ToolResult {
    let spelling = args::path("write_file", &args.path)?;
    let content = args::text("write_file", "content", &args.content)?;
    let work = Work::of(&cx);
    let path = resolve(&work, spelling)?;
    guard::refuse_device(&path)?;
    guard::refuse_write(&path, args.cross_profile)?;
    document::refuse_edit(&path.real)?;
    display_text::refuse_display_text(content)?;
    check_interrupt(&cx)?;
    let consent = consent::ask(&work, "write_file", &[(&path, FileChange::Written)], content)?;

    let held = work.backend.hold([path.real.clone()].into(), work.go());
    let mut held = held.map_err(|err| work.error(&err))?;
    let (old, before) = existing(&work, &path, spelling)?;
    if let Some(old) = &old {
        guard::refuse_unwritable(&path.real, &old.stat)?;
    }
    display_text::refuse_redaction_marks(before.text.as_deref(), content)?;
    let text = before.ended(content);
    let checks = Checks::before(&work, &path.real, before.text.as_deref(), &text);
    let checks = checks.map_err(|problem| {
        Fault::InvalidContent.error(format!(
            "nothing was written: the content of {} would not parse: {problem}",
            path.real.display()
        ))
    })?;
    let (bytes, encoding_warning) = before.encode(&text);
    let length = bytes.len();
    let stale = state::stale(&work, &path.real, Edit::Whole);
    let like = old.as_ref().map(|old| (path.real.clone(), old.stat.clone()));
    let write = Write { path: path.real.clone(), old, like, bytes };
    let plan = Plan { writes: vec![write], ..Plan::default() };
    checks.show_old();
    let committed = held.commit(&plan).map_err(|err| work.not_committed(&err))?;
    state::committed(&work, &plan);
    drop(held);

    let resolved = path.real.display().to_string();
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
    put("bytes_written", length.into());
    put("dirs_created", committed.created_folders.into());
    put("resolved_path", resolved.clone().into());
    put("files_modified", vec![resolved].into());
    let warnings = encoding_warning.as_deref().into_iter().chain(committed.warnings);
    let warnings: Vec<&str> = warnings.chain(work.backend.notice()).collect();
    if !warnings.is_empty() {
        put("warning", warnings.join("; ").into());
    }
    if let Some(warning) = state::joined([stale, path.outside_warning()]) {
        put("_warning", warning.into());
    }
    consent.put(&mut result);
    checks.after(before.text.as_deref(), &text).put(&mut result);
    Ok(Value::Object(result).into())
}

/// What a call would change, for somebody to look at.
fn propose(args: &Value, cx: &ToolContext) -> Result<Vec<EditProposal>, ToolError> {
    let none = Value::Null;
    let work = Work::of(cx);
    let path = resolve(&work, args::path("write_file", args.get("path").unwrap_or(&none))?)?;
    let content = args::text("write_file", "content", args.get("content").unwrap_or(&none))?;
    guard::refuse_device(&path)?;
    let cross_profile = args.get("cross_profile").and_then(Value::as_bool).unwrap_or_default();
    guard::refuse_write(&path, cross_profile)?;
    let (_, before) = existing(&work, &path, "")?;
    let new = Some(content.to_owned());
    Ok(vec![EditProposal { path: path.real, old: before.text, new }])
}

/// What is at the path now, if anything; an error when a file can't take its place.
fn existing(
    work: &Work<'_>,
    path: &Resolved,
    spelling: &str,
) -> Result<(Option<Old>, Before), ToolError> {
    let nothing = || Ok((None, Before::default()));
    let (stat, content) = match work.backend.open(&path.real, work.go()) {
        Ok(Opened { stat, content }) => (stat, content),
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            if spelling.ends_with(['/', std::path::MAIN_SEPARATOR]) {
                return Err(Fault::IsDirectory
                    .error(format!("{spelling} ends like a folder; give the path of a file")));
            }
            return nothing();
        }
        // A file may be replaced without being read.
        Err(err) if err.kind() == io::ErrorKind::PermissionDenied => match work.stat(&path.real) {
            Ok(stat) => (stat, None),
            Err(_) => return Err(work.io_error("write", &path.real, &err)),
        },
        Err(err) => return Err(work.io_error("write", &path.real, &err)),
    };
    guard::refuse_special(path, &stat)?;
    if stat.is_folder() {
        return Err(read_file::directory_error(work, path));
    }
    let bytes = match content.filter(|_| stat.len <= MAX_OLD_SIZE) {
        Some(content) => {
            let mut bytes = Vec::with_capacity(usize::try_from(stat.len).unwrap_or_default());
            let read = content.take(MAX_OLD_SIZE).read_to_end(&mut bytes);
            read.map_err(|err| work.io_error("read", &path.real, &err))?;
            Some(bytes)
        }
        None => None,
    };
    let before = bytes.as_deref().map(Before::of).unwrap_or_default();
    Ok((Some(Old { stat, bytes }), before))
}

/// What a file was like before it is written.
#[derive(Debug, Default)]
struct Before {
    format: Format,
    crlf: bool,
    /// The old text; none when there was no file, or no text in it.
    text: Option<String>,
}

impl Before {
    fn of(bytes: &[u8]) -> Self {
        match decode(bytes) {
            Ok((text, format)) => Self {
                format,
                crlf: text
                    .char_indices()
                    .nth(LINE_ENDING_SAMPLE)
                    .and_then(|(end, _)| text.get(..end))
                    .unwrap_or(&text)
                    .contains("\r\n"),
                text: Some(text.into_owned()),
            },
            Err(NotText::Nul | NotText::Malformed) => Self::default(),
        }
    }

    /// The new content with the line endings of the old one.
    fn ended<'c>(&self, content: &'c str) -> Cow<'c, str> {
        if self.crlf { Cow::Owned(to_crlf(content)) } else { Cow::Borrowed(content) }
    }

    /// A content in the manner of the old one.
    fn encode(&self, content: &str) -> (Vec<u8>, Option<String>) {
        // A mark in the content replaces the file's own.
        let body = match content.strip_prefix('\u{feff}') {
            Some(body) if self.format.bom => body,
            _ => content,
        };
        if let Some(bytes) = encode(body, self.format) {
            return (bytes, None);
        }
        let utf8 = Format { encoding: Encoding::Utf8, bom: false };
        let bytes = encode(body, utf8).unwrap_or_else(|| body.as_bytes().to_vec());
        (
            bytes,
            Some(format!(
                "the file's old encoding (read as {}) has no sign for some of the new characters, so \
                 the file is UTF-8 now",
                self.format.encoding.name()
            )),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn rewritten(old: &[u8], new: &str) -> (Vec<u8>, bool) {
        let before = Before::of(old);
        let (bytes, warning) = before.encode(&before.ended(new));
        (bytes, warning.is_some())
    }

    #[test]
    fn the_new_content_takes_the_manner_of_the_old() {
        for (old, new, expected, warned) in [
            (&b"a\n"[..], "x\r\ny\n", &b"x\r\ny\n"[..], false),
            (b"a\r\nb\n", "x\ny\r\n", b"x\r\ny\r\n", false),
            (b"\xEF\xBB\xBFa", "b", b"\xEF\xBB\xBFb", false),
            (b"\xEF\xBB\xBFa", "\u{feff}b", b"\xEF\xBB\xBFb", false),
            (b"a", "\u{feff}b", b"\xEF\xBB\xBFb", false),
            (b"caf\xE9", "th\u{e9}", b"th\xE9", false),
            (b"caf\xE9", "日", "日".as_bytes(), true),
            (b"\xFF\xFEa\0\r\0\n\0", "ä\n", b"\xFF\xFE\xE4\0\r\0\n\0", false),
            (b"\0\r\n", "a\n", b"a\n", false),
            (b"", "a\n", b"a\n", false),
        ] {
            assert_eq!(rewritten(old, new), (expected.to_vec(), warned), "{old:?} {new:?}");
        }
    }
}
