//! `write_file`: a whole new content for a file.

use std::borrow::Cow;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::Path;

use hermes_registry::{
    Concurrency, EditProposal, Exposure, ResultLimit, ToolContext, ToolError, ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::checks::Checks;
use crate::display_text;
use crate::fault::{Fault, check_interrupt, io_error};
use crate::format_gate::{self, Gate};
use crate::open::open;
use crate::path::{Resolved, resolve};
use crate::text::{Encoding, Format, NotText, decode, encode, to_crlf};
use crate::{args, guard, lock, read_file, store};

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
    let path = resolve(&cx, spelling)?;
    guard::refuse_device(&path)?;
    guard::refuse_write(&cx, &path, args.cross_profile)?;
    display_text::refuse_numbered_rows(content)?;
    check_interrupt(&cx)?;

    let mut held = lock::hold(&cx, &path.real)?;
    let old = existing(&path, spelling)?;
    if old.is_some() {
        guard::refuse_unwritable(&path.real)?;
    }
    let before = Before::of(&path.real, old.as_ref())?;
    display_text::refuse_redaction_marks(before.text.as_deref(), content)?;
    let gate = format_gate::check(&path.real, before.text.as_deref(), content);
    if let Gate::Refused(problem) = &gate {
        return Err(Fault::InvalidContent.error(format!(
            "nothing was written: the content of {} would not parse: {problem}",
            path.real.display()
        )));
    }
    let on_disk = before.in_its_endings(content);
    let checks = Checks::before(&cx, true, &path.real, (before.text.as_deref(), &on_disk), &gate);
    let (bytes, encoding_warning) = before.encode(&on_disk);
    let dirs_created = create_folders(&path.real)?;
    let written = store::write(&mut held, &path.real, old.as_ref(), &bytes)?;
    drop(held);

    let resolved = path.real.display().to_string();
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| _ = result.insert(key.to_owned(), value);
    put("bytes_written", bytes.len().into());
    put("dirs_created", dirs_created.into());
    put("resolved_path", resolved.clone().into());
    put("files_modified", vec![resolved].into());
    checks.after().put(&mut put);
    let warnings: Vec<&str> = [encoding_warning, written.warning()].into_iter().flatten().collect();
    if !warnings.is_empty() {
        put("warning", warnings.join("; ").into());
    }
    if let Some(warning) = path.outside_warning(&cx) {
        put("_warning", warning.into());
    }
    Ok(Value::Object(result).into())
}

/// What a call would change, for somebody to look at.
fn propose(args: &Value, cx: &ToolContext) -> Result<Vec<EditProposal>, ToolError> {
    let none = Value::Null;
    let path = resolve(cx, args::path("write_file", args.get("path").unwrap_or(&none))?)?;
    let content = args::text("write_file", "content", args.get("content").unwrap_or(&none))?;
    guard::refuse_device(&path)?;
    let cross_profile = args.get("cross_profile").and_then(Value::as_bool).unwrap_or_default();
    guard::refuse_write(cx, &path, cross_profile)?;
    let old = existing(&path, "")?;
    let old = match &old {
        Some(metadata) => Before::of(&path.real, Some(metadata))?.text,
        None => None,
    };
    Ok(vec![EditProposal { path: path.real, old, new: Some(content.to_owned()) }])
}

/// What is at the path now, if anything; an error when a file can't take its place.
fn existing(path: &Resolved, spelling: &str) -> Result<Option<Metadata>, ToolError> {
    match std::fs::metadata(&path.real) {
        Ok(metadata) => {
            guard::refuse_special(path, &metadata)?;
            if metadata.is_dir() {
                return Err(read_file::directory_error(path));
            }
            Ok(Some(metadata))
        }
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            if spelling.ends_with(['/', std::path::MAIN_SEPARATOR]) {
                return Err(Fault::IsDirectory
                    .error(format!("{spelling} ends like a folder; give the path of a file")));
            }
            Ok(None)
        }
        Err(err) => Err(io_error("write", &path.real, &err)),
    }
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
    fn of(path: &Path, old: Option<&Metadata>) -> Result<Self, ToolError> {
        let Some(old) = old.filter(|old| old.len() <= MAX_OLD_SIZE) else {
            return Ok(Self::default());
        };
        let mut bytes = Vec::with_capacity(usize::try_from(old.len()).unwrap_or_default());
        let read = open(path).and_then(|file| file.take(MAX_OLD_SIZE).read_to_end(&mut bytes));
        match read {
            Ok(_) => {}
            // A file may be replaced without being read.
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => return Ok(Self::default()),
            Err(err) => return Err(io_error("read", path, &err)),
        }
        Ok(match decode(&bytes) {
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
        })
    }

    /// The new content with the line endings of the old one.
    fn in_its_endings<'a>(&self, content: &'a str) -> Cow<'a, str> {
        if self.crlf { to_crlf(content).into() } else { content.into() }
    }

    /// The new content, with its line endings, in the encoding of the old one.
    fn encode(&self, content: &str) -> (Vec<u8>, Option<&'static str>) {
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
            Some(
                "the file's old encoding (read as windows-1252) has no sign for some of the new \
                 characters, so the file is UTF-8 now",
            ),
        )
    }
}

/// Creates the folders above a file. Tells whether there was anything to create.
fn create_folders(path: &Path) -> Result<bool, ToolError> {
    let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) else { return Ok(false) };
    std::fs::create_dir_all(folder).map_err(|err| io_error("create", folder, &err))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn rewritten(old: &[u8], new: &str) -> (Vec<u8>, bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, old).unwrap();
        let before = Before::of(&path, Some(&path.metadata().unwrap())).unwrap();
        let (bytes, warning) = before.encode(&before.in_its_endings(new));
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
