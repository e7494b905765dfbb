//! `search_files`: lines by a regular expression, or files by their names.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, Instant};

use hermes_registry::{
    Concurrency, Exposure, ResultLimit, ToolContext, ToolError, ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args::{self, Paging, normalize_pagination};
use crate::fault::{Fault, io_error};
use crate::guard;
use crate::open::open;
use crate::path::resolve;
use crate::read_file;
use crate::search::names::NamePattern;
use crate::search::page::{Unit, scan};
use crate::search::walk::{self, Files, Root};
use crate::search::{content, pattern, render};
use crate::state;

register! {
    pub static SEARCH_FILES;
    name: "search_files",
    toolset: "file",
    description: "Searches below a folder, or in one file. Target `content` finds lines by a \
        regular expression (Rust's syntax; case counts unless the pattern begins with `(?i)`; a \
        pattern with `\\n` goes over lines). Target `files` finds files by name, newest first: a \
        glob such as `*.rs`, a glob with folders such as `src/**/*.rs`, a whole name, or a part \
        of one. Hidden files and what .gitignore or .ignore leaves out are passed over, unless \
        `path` itself names them. The lines of binary files are never searched, nor is anything \
        below /proc and /sys but a single file that `path` names. `total_count` is the true \
        number of results, up to 10,000; when `truncated` is true, `next_offset` is where to go \
        on. Faster and safer than grep, find or ls in a shell.",
    handler: search_files,
    emoji: "🔎",
    verb: "Searching",
    concurrency: Concurrency::reads_or("path", "."),
    max_result_size: ResultLimit::Chars(100_000),
    exposure: Exposure::Core,
    idempotent: true,
}

/// How long a search may take.
const MAX_TIME: Duration = Duration::from_secs(60);
/// The most lines shown around a match, on each side.
const MAX_CONTEXT: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[schemars(transform = require_pattern)]
struct Args {
    /// A regular expression for `content`, a glob or a name for `files`.
    #[serde(default)]
    #[schemars(with = "String")]
    pattern: Value,
    /// What to look at: the lines of files, or their names.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["content", "files"], "default" = "content"))]
    target: Value,
    /// The folder or file to search: absolute, relative to the working directory, or starting
    /// with `~`.
    #[serde(default)]
    #[schemars(with = "String", extend("default" = "."))]
    path: Value,
    /// Only for `content`: searches only in files that fit the glob, such as `*.py` or
    /// `*.{ts,tsx}`; with `!` in front, in all others.
    #[serde(default)]
    #[schemars(with = "String")]
    file_glob: Value,
    /// The most results.
    #[serde(default)]
    #[schemars(with = "i64", extend("default" = 50))]
    limit: Value,
    /// How many results to skip.
    #[serde(default)]
    #[schemars(with = "i64", extend("default" = 0))]
    offset: Value,
    /// Only for `content`: the matching lines, only the files they are in, or how many there are
    /// in each file.
    #[serde(default)]
    #[schemars(
        with = "String",
        extend("enum" = ["content", "files_only", "count"], "default" = "content")
    )]
    output_mode: Value,
    /// Only for `content`: how many lines to show before and after each match.
    #[serde(default)]
    #[schemars(with = "i64", extend("default" = 0))]
    context: Value,
}

fn require_pattern(schema: &mut schemars::Schema) {
    args::require(schema, &["pattern"]);
}

impl Args {
    fn target(&self) -> &str {
        match self.target.as_str().unwrap_or("content") {
            "grep" => "content",
            "find" => "files",
            target => target,
        }
    }

    fn context(&self) -> usize {
        args::integer(&self.context)
            .and_then(|n| usize::try_from(n).ok())
            .map_or(0, |n| n.min(MAX_CONTEXT))
    }

    /// All beside pattern and path that makes a difference for what is found.
    fn what(&self, offset: usize, limit: usize) -> Value {
        let mode = self.output_mode.as_str().unwrap_or("content");
        let glob = self.file_glob.as_str().unwrap_or_default();
        json!([self.target(), glob, mode, self.context(), offset, limit])
    }
}

#[derive(Clone, Copy)]
enum Output {
    Lines,
    FilesOnly,
    Count,
}

/// What both targets share.
struct Search<'a> {
    cx: &'a ToolContext,
    root: Root,
    offset: usize,
    limit: usize,
    deadline: Instant,
}

#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
fn search_files(args: Args, cx: ToolContext) -> ToolResult {
    let wanted = args::text("search_files", "pattern", &args.pattern)?;
    let spelling = args.path.as_str().map(str::trim).filter(|path| !path.is_empty()).unwrap_or(".");
    let (offset, limit) = normalize_pagination(Paging::Search, &args.offset, &args.limit);
    let path = resolve(&cx, spelling)?;
    guard::refuse_device(&path)?;
    guard::refuse_secret(&cx, &path)?;
    let metadata = read_file::stat(&path, spelling)?;
    guard::refuse_special(&path, &metadata)?;
    refuse_unreadable(&path.real, &metadata)?;
    let searching = state::Searching::of(&cx, &path.real, wanted, &args.what(offset, limit))?;
    let search = Search {
        cx: &cx,
        root: Root::new(path.real, spelling),
        offset,
        limit,
        deadline: Instant::now() + MAX_TIME,
    };
    searching.done(match args.target() {
        "content" => search.content(wanted, &args),
        "files" => search.names(wanted),
        target => Err(Fault::BadMode
            .error(format!("unknown target {target:?}; use \"content\" or \"files\""))),
    })
}

/// Where there is nothing that may be looked at, "no results" would be a wrong answer.
fn refuse_unreadable(path: &Path, metadata: &Metadata) -> Result<(), ToolError> {
    let tried =
        if metadata.is_dir() { std::fs::read_dir(path).map(drop) } else { open(path).map(drop) };
    tried.map_err(|err| io_error("search", path, &err))
}

impl Search<'_> {
    fn content(&self, wanted: &str, args: &Args) -> ToolResult {
        let output = match args.output_mode.as_str().unwrap_or("content") {
            "content" => Output::Lines,
            "files_only" => Output::FilesOnly,
            "count" => Output::Count,
            mode => {
                return Err(Fault::BadMode.error(format!(
                    "unknown output_mode {mode:?}; use \"content\", \"files_only\" or \"count\""
                )));
            }
        };
        let context = args.context();
        let pattern = pattern::compile(wanted)?;
        let glob = args
            .file_glob
            .as_str()
            .filter(|glob| !glob.is_empty())
            .map(|glob| walk::file_glob(&self.root.real, glob))
            .transpose()?;
        let files = walk::files(self.cx, &self.root.real, glob, self.deadline)?;
        let unit = if matches!(output, Output::FilesOnly) { Unit::Files } else { Unit::Lines };
        let mut scan = scan(self.cx, &pattern, files, unit, self.deadline)?;

        let mut result = Map::new();
        let (lines, hits) = (scan.lines(), scan.hits.len());
        let (total, entries, shown) = match output {
            Output::Lines => {
                let page = scan.rows(self.cx, &pattern, self.offset, self.limit, context)?;
                let shown = page.iter().map(|(_, rows)| rows.len()).sum();
                result.insert("total_count".to_owned(), lines.into());
                let page: Vec<_> =
                    page.into_iter().map(|(path, rows)| (self.root.show(&path), rows)).collect();
                render::put_rows(&mut result, &page);
                (lines, usize::try_from(lines).unwrap_or(usize::MAX), shown)
            }
            Output::FilesOnly => {
                let page: Vec<Value> =
                    self.page(&scan.hits).map(|hit| self.root.show(&hit.path).into()).collect();
                let shown = page.len();
                result.insert("total_count".to_owned(), hits.into());
                result.insert("files".to_owned(), page.into());
                (hits as u64, hits, shown)
            }
            Output::Count => {
                let page: Map<String, Value> = self
                    .page(&scan.hits)
                    .map(|hit| (self.root.show(&hit.path), hit.count.into()))
                    .collect();
                let shown = self.page(&scan.hits).count();
                result.insert("total_count".to_owned(), lines.into());
                result.insert("counts".to_owned(), page.into());
                (lines, hits, shown)
            }
        };
        self.put_paging(&mut result, entries, shown, scan.limit_reason);
        let skipped: Vec<String> = scan
            .skipped
            .iter()
            .map(|(path, reason)| format!("{} ({reason})", self.root.show(path)))
            .collect();
        put_warnings(&mut result, scan.unreadable, &skipped, scan.omitted);
        if total == 0 && scan.limit_reason.is_none() {
            let hint = if wanted.contains('\0') {
                "files with a NUL are binary and never searched".to_owned()
            } else {
                self.kernel_hint().or_else(|| self.binary_hint()).unwrap_or_else(|| format!(
                    "no line matches in {} files; hidden, ignored and binary files aren't searched",
                    scan.searched
                ))
            };
            result.insert("hint".to_owned(), hint.into());
        }
        Ok(Value::Object(result).into())
    }

    fn names(&self, wanted: &str) -> ToolResult {
        let pattern = NamePattern::parse(wanted)?;
        let Files { entries, unreadable, capped, timed_out } =
            walk::files(self.cx, &self.root.real, None, self.deadline)?;
        let mut found = pattern.select(&self.root.real, entries);
        let all = found.len();
        let secrets = guard::Secrets::of(self.cx);
        found.retain(|entry| !secrets.hide(entry.path()));
        let omitted = all - found.len();
        let page: Vec<Value> =
            self.page(&found).map(|entry| self.root.show(entry.path()).into()).collect();
        let shown = page.len();

        let mut result = Map::new();
        result.insert("total_count".to_owned(), found.len().into());
        result.insert("files".to_owned(), page.into());
        let reason = if timed_out { Some("search_timeout") } else { capped.then_some("scan_cap") };
        self.put_paging(&mut result, found.len(), shown, reason);
        put_warnings(&mut result, unreadable, &[], omitted as u64);
        if found.is_empty() && reason.is_none() {
            let hint = self.kernel_hint().unwrap_or_else(|| {
                "no file fits; hidden and ignored files aren't looked at".to_owned()
            });
            result.insert("hint".to_owned(), hint.into());
        }
        Ok(Value::Object(result).into())
    }

    /// Said where the lines of the path itself can't be searched.
    fn binary_hint(&self) -> Option<String> {
        let root = &self.root.real;
        (root.is_file() && content::is_binary(root).is_ok_and(|binary| binary))
            .then(|| "the file is binary: it holds NULs, so its lines aren't searched".to_owned())
    }

    /// Said where nothing below the path is looked at.
    fn kernel_hint(&self) -> Option<String> {
        let root = &self.root.real;
        (root.is_dir() && guard::is_kernel_state(&root.join("x"))).then(|| {
            "folders below /proc and /sys aren't searched; name a single file in them as `path`"
                .to_owned()
        })
    }

    fn page<'t, T>(&self, all: &'t [T]) -> impl Iterator<Item = &'t T> {
        all.iter().skip(self.offset).take(self.limit)
    }

    /// Says whether there is more than what is shown, and where to go on.
    fn put_paging(
        &self,
        result: &mut Map<String, Value>,
        entries: usize,
        shown: usize,
        limit_reason: Option<&str>,
    ) {
        let next = self.offset.saturating_add(shown);
        let remains = shown > 0 && next < entries;
        result.insert("truncated".to_owned(), (remains || limit_reason.is_some()).into());
        let mut hints = Vec::new();
        if remains {
            result.insert("next_offset".to_owned(), next.into());
            hints.push(format!("{shown} of {entries} results; go on with offset={next}"));
        } else if shown == 0 && entries > 0 {
            hints.push(format!("offset {} is past the last of {entries} results", self.offset));
        }
        if let Some(reason) = limit_reason {
            result.insert("limit_reason".to_owned(), reason.into());
            hints.push("not everything was searched: narrow the path or the pattern".to_owned());
        }
        if !hints.is_empty() {
            result.insert("hint".to_owned(), hints.join("; ").into());
        }
    }
}

fn put_warnings(
    result: &mut Map<String, Value>,
    unreadable: usize,
    skipped: &[String],
    omitted: u64,
) {
    if unreadable > 0 {
        let mut warning = match unreadable {
            1 => "1 file or folder couldn't be read".to_owned(),
            count => format!("{count} files or folders couldn't be read"),
        };
        if !skipped.is_empty() {
            warning.push_str(&format!(": {}", skipped.join("; ")));
        }
        result.insert("warning".to_owned(), warning.into());
    }
    if omitted > 0 {
        result.insert("_omitted".to_owned(), omitted.into());
    }
}
