//! `patch`: a change to a part of a file.

use std::fs::Metadata;
use std::io::Read;

use hermes_registry::{
    CheckpointScope, Concurrency, EditProposal, Exposure, ResultLimit, ToolContext, ToolError,
    ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::edit::{Edited, Refusal, replace};
use crate::fault::{Fault, check_interrupt, io_error};
use crate::format_gate::{self, Gate};
use crate::path::{Resolved, resolve};
use crate::text::{Format, decode, encode};
use crate::{args, diff, display_text, guard, lock, miss, read_file, store};

register! {
    pub static PATCH;
    name: "patch",
    toolset: "file",
    description: "Changes a part of a file. In mode `replace`, `old_string` is replaced by \
        `new_string`. The old text must be in the file letter by letter, blanks included (line \
        endings aside), and only once: add the lines around it until it is, or set `replace_all`. \
        An empty `new_string` deletes. All other bytes of the file stay as they are. The answer \
        holds the change as a diff; when the text isn't found, the lines that come closest to it \
        are shown.[[read_file| Leave out the line numbers that read_file shows.]] Mode `patch`, \
        for patches over several files, isn't supported yet.",
    handler: patch,
    emoji: "🔧",
    verb: "Editing",
    concurrency: Concurrency::writes("path"),
    checkpoint: CheckpointScope::Patch { path: "path", patch: "patch" },
    max_result_size: ResultLimit::Chars(100_000),
    exposure: Exposure::Core,
    propose: propose,
}

/// The largest file that is changed in parts.
const MAX_SIZE: u64 = 256 * 1024 * 1024;
/// How many line numbers an error names.
const MAX_LINE_NUMBERS: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[schemars(transform = require_mode)]
struct Args {
    /// What to do: `replace` changes a passage of one file, `patch` applies a patch.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["replace", "patch"], "default" = "replace"))]
    mode: Value,
    /// The file, for `replace`: absolute, relative to the working directory, or starting with
    /// `~`.
    #[serde(default)]
    #[schemars(with = "String")]
    path: Value,
    /// The text to replace, for `replace`.
    #[serde(default)]
    #[schemars(with = "String")]
    old_string: Value,
    /// What takes its place, for `replace`; empty to delete.
    #[serde(default)]
    #[schemars(with = "String")]
    new_string: Value,
    /// Replaces every occurrence instead of wanting only one.
    #[serde(default)]
    replace_all: bool,
    /// The patch, for `patch`.
    #[serde(default)]
    #[schemars(with = "String")]
    #[expect(dead_code, reason = "part of the schema; read once patches are supported")]
    patch: Value,
    /// Allows a change of what belongs to another profile. Set it only when the user asked for
    /// that.
    #[serde(default)]
    cross_profile: bool,
}

fn require_mode(schema: &mut schemars::Schema) {
    args::require(schema, &["mode"]);
}

#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
fn patch(args: Args, cx: ToolContext) -> ToolResult {
    match &args.mode {
        Value::Null => replace_in_file(&args, &cx),
        Value::String(mode) if mode == "replace" => replace_in_file(&args, &cx),
        Value::String(mode) if mode == "patch" => Err(Fault::BadMode.error(
            "mode `patch` isn't supported yet; make the same change with mode `replace`, one call \
             for each passage, with `path`, `old_string` and `new_string`",
        )),
        mode => Err(Fault::BadMode.error(format!("unknown mode {mode}; use \"replace\""))),
    }
}

/// What a call would change, for somebody to look at.
fn propose(args: &Value, cx: &ToolContext) -> Result<Vec<EditProposal>, ToolError> {
    let args = Args::deserialize(args)
        .map_err(|err| ToolError::invalid_arguments(format!("the arguments don't fit: {err}")))?;
    if !args.mode.is_null() && args.mode != "replace" {
        return Err(Fault::BadMode.error("only mode `replace` can be shown"));
    }
    let target = Target::of(&args, cx)?;
    let Replacement { text, edited, .. } = target.replacement(cx)?;
    let path = target.path.real;
    Ok(vec![EditProposal { path, old: Some(text), new: Some(edited.text) }])
}

/// The passage that a call is about.
struct Target<'a> {
    spelling: &'a str,
    path: Resolved,
    old: &'a str,
    new: &'a str,
    all: bool,
}

/// What replacing the passage comes to.
struct Replacement {
    metadata: Metadata,
    text: String,
    format: Format,
    edited: Edited,
}

impl<'a> Target<'a> {
    fn of(args: &'a Args, cx: &ToolContext) -> Result<Self, ToolError> {
        let spelling = args::path("patch", &args.path)?;
        let old = args::text("patch", "old_string", &args.old_string)?;
        let new = args::text("patch", "new_string", &args.new_string)?;
        let path = resolve(cx, spelling)?;
        guard::refuse_device(&path)?;
        guard::refuse_secret(cx, &path)?;
        guard::refuse_write(cx, &path, args.cross_profile)?;
        Ok(Self { spelling, path, old, new, all: args.replace_all })
    }

    /// Replaces the passage in the present text of the file, in memory.
    fn replacement(&self, cx: &ToolContext) -> Result<Replacement, ToolError> {
        check_interrupt(cx)?;
        let path = &self.path;
        let (file, metadata) = read_file::open_text(path, self.spelling)?;
        guard::refuse_unwritable(&path.real)?;
        if metadata.len() > MAX_SIZE {
            return Err(Fault::Io.error(format!(
                "{} has {} bytes; files above {MAX_SIZE} bytes aren't patched",
                path.real.display(),
                metadata.len()
            )));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
        file.take(MAX_SIZE)
            .read_to_end(&mut bytes)
            .map_err(|err| io_error("read", &path.real, &err))?;
        let (text, format) = decode(&bytes).map_err(|_| {
            Fault::Binary.error(format!(
                "{} holds binary data and can't be changed as text",
                path.real.display()
            ))
        })?;
        display_text::refuse_redaction_marks(Some(&text), self.new)?;
        let edited = replace(&text, self.old, self.new, self.all)
            .map_err(|refusal| refused(&refusal, path, self.old, &text))?;
        Ok(Replacement { metadata, text: text.into_owned(), format, edited })
    }
}

fn replace_in_file(args: &Args, cx: &ToolContext) -> ToolResult {
    let target = Target::of(args, cx)?;
    let mut held = lock::hold(cx, &target.path.real)?;
    let Replacement { metadata, text, format, edited } = target.replacement(cx)?;
    let path = target.path;
    let gate = format_gate::check(&path.real, Some(&text), &edited.text);
    if let Gate::Refused(problem) = &gate {
        return Err(Fault::InvalidContent.error(format!(
            "nothing was changed: {} would not parse afterwards: {problem}",
            path.real.display()
        )));
    }
    let changed = encode(&edited.text, format).ok_or_else(|| {
        Fault::InvalidContent.error(format!(
            "nothing was changed: {} isn't UTF-8 but {}, which has no sign for a character of \
             `new_string`",
            path.real.display(),
            format.encoding.name()
        ))
    })?;
    let written = store::write(&mut held, &path.real, Some(&metadata), &changed)?;
    verify(&path, &changed)?;

    let resolved = path.real.display().to_string();
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
    put("success", true.into());
    put("replacements", edited.count.into());
    put("diff", diff::unified(&path.label(cx), &text, &edited.text).into());
    put("resolved_path", resolved.clone().into());
    put("files_modified", vec![resolved].into());
    if let Some(lint) = gate.lint() {
        put("lint", lint);
    }
    if let Some(warning) = written.warning() {
        put("warning", warning.into());
    }
    if let Some(warning) = path.outside_warning(cx) {
        put("_warning", warning.into());
    }
    Ok(Value::Object(result).into())
}

fn verify(path: &Resolved, expected: &[u8]) -> Result<(), ToolError> {
    match std::fs::read(&path.real) {
        Ok(found) if found == expected => Ok(()),
        Ok(_) => Err(Fault::Io.error(format!(
            "{} doesn't hold what was just written to it: something else changes it at the same \
             time; read it again before going on",
            path.real.display()
        ))),
        Err(err) => Err(io_error("read back", &path.real, &err)),
    }
}

fn refused(refusal: &Refusal, path: &Resolved, old: &str, text: &str) -> ToolError {
    let shown = path.given.display();
    match refusal {
        Refusal::EmptyOld => Fault::EmptyOld.error(
            "`old_string` is empty: give the text to replace, or, to insert, a line beside the \
             place and that line with the new text",
        ),
        Refusal::Identical => {
            Fault::Identical.error("`old_string` and `new_string` are the same: nothing to change")
        }
        Refusal::Ambiguous(lines) => {
            // A line may hold the passage several times.
            let mut numbers = lines.clone();
            numbers.dedup();
            let more = if numbers.len() > MAX_LINE_NUMBERS { ", ..." } else { "" };
            numbers.truncate(MAX_LINE_NUMBERS);
            let list: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let noun = if list.len() == 1 { "line" } else { "lines" };
            Fault::Ambiguous
                .error(format!(
                    "`old_string` is in {shown} {} times, at {noun} {}{more}; add lines around it until \
                     it is unique, or set `replace_all`",
                    lines.len(),
                    list.join(", ")
                ))
                .with_extra("count", lines.len())
                .with_extra("lines", numbers)
        }
        Refusal::NotFound => miss::not_found(&path.given, old, text),
    }
}
