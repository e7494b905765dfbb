//! `patch`: a change to a part of a file.

use std::io::Read;

use hermes_command::FileChange;
use hermes_edit::{Refusal, Replaced, Strategy, diff, replace};
use hermes_fs::{Old, Plan, Write};
use hermes_registry::{
    CheckpointScope, Concurrency, EditProposal, Exposure, ResultLimit, ToolContext, ToolError,
    ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::checks::Checks;
use crate::fault::{Fault, check_interrupt};
use crate::patch_files::Request;
use crate::path::{Resolved, resolve};
use crate::text::{Format, decode, encode};
use crate::work::Work;
use crate::{args, consent, display_text, document, guard, miss, read_file, state};

register! {
    pub static PATCH;
    name: "patch",
    toolset: "file",
    description: "Changes parts of files. In mode `replace`, `old_string` is replaced by \
        `new_string` in one file. It must be there only once: add the lines around it until it is, \
        or set `replace_all`. Slips in blanks, indentation, escapes and typographic quotes are \
        mended; letters, numbers and names must be right. An empty `new_string` deletes. In mode \
        `patch`, `patch` changes, adds, deletes and moves several files, all or none. All other \
        bytes stay as they are. The answer holds the change as a diff; when a place isn't found, \
        the lines that come closest to it are shown.[[read_file| Leave out the line numbers that \
        read_file shows.]]",
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
    /// The patch, for `patch`: `*** Begin Patch`, then for each file `*** Update File: PATH` with
    /// hunks, `*** Add File: PATH` with lines after `+`, `*** Delete File: PATH` or
    /// `*** Move File: FROM -> TO`, and `*** End Patch`. A hunk begins with `@@`, behind it perhaps
    /// a line that stands before the place; its lines begin with a blank (stays), `-` or `+`.
    #[serde(default)]
    #[schemars(with = "String")]
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
        Value::String(mode) if mode == "patch" => {
            let text = args::text("patch", "patch", &args.patch)?;
            Request::of(text, &Work::of(&cx), args.cross_profile)?.run()
        }
        mode => {
            Err(Fault::BadMode.error(format!("unknown mode {mode}; use \"replace\" or \"patch\"")))
        }
    }
}

/// What a call would change, for somebody to look at.
fn propose(args: &Value, cx: &ToolContext) -> Result<Vec<EditProposal>, ToolError> {
    let args = Args::deserialize(args)
        .map_err(|err| ToolError::invalid_arguments(format!("the arguments don't fit: {err}")))?;
    let work = Work::of(cx);
    if args.mode == "patch" {
        let text = args::text("patch", "patch", &args.patch)?;
        return Request::of(text, &work, args.cross_profile)?.propose();
    }
    let target = Target::of(&args, &work)?;
    let Replacement { text, edited, .. } = target.replacement(&work)?;
    let path = target.path.real;
    Ok(vec![EditProposal { path, old: Some(text), new: Some(edited.content) }])
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
    old: Old,
    text: String,
    format: Format,
    edited: Replaced,
}

impl<'a> Target<'a> {
    fn of(args: &'a Args, work: &Work<'_>) -> Result<Self, ToolError> {
        let spelling = args::path("patch", &args.path)?;
        let old = args::text("patch", "old_string", &args.old_string)?;
        let new = args::text("patch", "new_string", &args.new_string)?;
        let path = resolve(work, spelling)?;
        guard::refuse_device(&path)?;
        guard::refuse_secret(&path)?;
        guard::refuse_write(&path, args.cross_profile)?;
        Ok(Self { spelling, path, old, new, all: args.replace_all })
    }

    /// The passage and what takes its place, for somebody to look at.
    fn as_patch(&self) -> String {
        let lines = |sign: char, text: &str| -> String {
            text.lines().map(|line| format!("{sign}{line}\n")).collect()
        };
        lines('-', self.old) + &lines('+', self.new)
    }

    /// Replaces the passage in the present text of the file, in memory.
    fn replacement(&self, work: &Work<'_>) -> Result<Replacement, ToolError> {
        check_interrupt(work.cx)?;
        let path = &self.path;
        let (content, stat) = read_file::open_text(work, path, self.spelling)?;
        document::refuse_edit(&path.real)?;
        guard::refuse_unwritable(&path.real, &stat)?;
        if stat.len > MAX_SIZE {
            return Err(Fault::Io.error(format!(
                "{} has {} bytes; files above {MAX_SIZE} bytes aren't patched",
                path.real.display(),
                stat.len
            )));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stat.len).unwrap_or_default());
        content
            .take(MAX_SIZE)
            .read_to_end(&mut bytes)
            .map_err(|err| work.io_error("read", &path.real, &err))?;
        let (text, format) = decode(&bytes).map_err(|_| {
            Fault::Binary.error(format!(
                "{} holds binary data and can't be changed as text",
                path.real.display()
            ))
        })?;
        display_text::refuse_redaction_marks(Some(&text), self.new)?;
        let edited = replace(&text, self.old, self.new, self.all)
            .map_err(|refusal| refused(&refusal, path, self.old, &text))?;
        let text = text.into_owned();
        Ok(Replacement { old: Old { stat, bytes: Some(bytes) }, text, format, edited })
    }
}

fn replace_in_file(args: &Args, cx: &ToolContext) -> ToolResult {
    let work = Work::of(cx);
    let target = Target::of(args, &work)?;
    let consent =
        consent::ask(&work, "patch", &[(&target.path, FileChange::Written)], &target.as_patch())?;
    let held = work.backend.hold([target.path.real.clone()].into(), work.go());
    let mut held = held.map_err(|err| work.error(&err))?;
    let Replacement { old, text, format, edited } =
        target.replacement(&work).map_err(|err| state::missed(&work, &target.path.real, err))?;
    let path = target.path;
    let checks = Checks::before(&work, &path.real, Some(&text), &edited.content);
    let checks = checks.map_err(|problem| {
        Fault::InvalidContent.error(format!(
            "nothing was changed: {} would not parse afterwards: {problem}",
            path.real.display()
        ))
    })?;
    let changed = encode(&edited.content, format).ok_or_else(|| {
        Fault::InvalidContent.error(format!(
            "nothing was changed: {} isn't UTF-8 but {}, which has no sign for a character of \
             `new_string`",
            path.real.display(),
            format.encoding.name()
        ))
    })?;
    let stale = state::stale_at(&work, &path.real, &text, &edited.spans);
    let like = Some((path.real.clone(), old.stat.clone()));
    let write = Write { path: path.real.clone(), old: Some(old), like, bytes: changed };
    let plan = Plan { writes: vec![write], ..Plan::default() };
    checks.show_old();
    let committed = held.commit(&plan).map_err(|err| work.not_committed(&err))?;
    state::committed(&work, &plan);
    drop(held);

    let resolved = path.real.display().to_string();
    let mut result = Map::new();
    let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
    put("success", true.into());
    put("replacements", edited.count.into());
    if edited.strategy != Strategy::Exact {
        put("strategy", edited.strategy.name().into());
    }
    put("diff", diff::unified(&path.label(), &text, &edited.content).into());
    put("resolved_path", resolved.clone().into());
    put("files_modified", vec![resolved].into());
    let warnings: Vec<&str> = committed.warnings.into_iter().chain(work.backend.notice()).collect();
    if !warnings.is_empty() {
        put("warning", warnings.join("; ").into());
    }
    if let Some(warning) = state::joined([stale, path.outside_warning()]) {
        put("_warning", warning.into());
    }
    consent.put(&mut result);
    checks.after(Some(&text), &edited.content).put(&mut result);
    Ok(Value::Object(result).into())
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
        Refusal::Ambiguous { lines } => {
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
        Refusal::EscapeDrift { line } => Fault::EscapeDrift
            .error(format!(
                "`old_string` and `new_string` have backslashes before quotes that aren't in {shown} \
                 at line {line}, where the rest of it is: send both without them"
            ))
            .with_extra("line", *line),
        Refusal::NotFound if old.trim().is_empty() => Fault::NotFound.error(format!(
            "`old_string` has nothing but blanks, and {shown} doesn't have just these: give lines \
             with text in them"
        )),
        Refusal::NotFound => miss::not_found(&path.given, old, text),
    }
}
