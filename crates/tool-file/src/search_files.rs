//! `search_files`: lines by a regular expression, or files by their names.

use std::io::Read;
use std::time::{Duration, Instant};

use hermes_fs::search::{
    BadPattern, ContentQuery, FileQuery, Files, Glob, Limit, Pattern, Scan, Unit,
};
use hermes_guard::paths::Places;
use hermes_registry::{
    Concurrency, Exposure, ResultLimit, ToolContext, ToolError, ToolResult, register,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args::{self, Paging, normalize_pagination};
use crate::fault::Fault;
use crate::guard;
use crate::path::resolve;
use crate::read_file;
use crate::search::excerpt::excerpt;
use crate::search::names::{NamePattern, newest_first};
use crate::search::page::page;
use crate::search::render;
use crate::search::root::Root;
use crate::state;
use crate::work::Work;

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
/// How many results a search counts before it stops.
const SCAN_CAP: u64 = 10_000;
/// How much of a file is looked at to say that it is binary.
const BINARY_SAMPLE: u64 = 8 * 1024 * 1024;
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
    work: &'a Work<'a>,
    root: Root,
    is_folder: bool,
    places: &'a Places,
    offset: usize,
    limit: usize,
    deadline: Instant,
}

#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
fn search_files(args: Args, cx: ToolContext) -> ToolResult {
    let wanted = args::text("search_files", "pattern", &args.pattern)?;
    let spelling = args.path.as_str().map(str::trim).filter(|path| !path.is_empty()).unwrap_or(".");
    let (offset, limit) = normalize_pagination(Paging::Search, &args.offset, &args.limit);
    let work = Work::of(&cx);
    let path = resolve(&work, spelling)?;
    guard::refuse_device(&path)?;
    guard::refuse_secret(&path)?;
    let stat = read_file::stat(&work, &path, spelling)?;
    guard::refuse_special(&path, &stat)?;
    let searching = state::Searching::of(&work, &path.real, wanted, &args.what(offset, limit))?;
    let search = Search {
        work: &work,
        root: Root::new(path.real, spelling),
        is_folder: stat.is_folder(),
        places: &path.places,
        offset,
        limit,
        deadline: Instant::now() + MAX_TIME,
    };
    let found = match args.target() {
        "content" => search.content(wanted, &args),
        "files" => search.names(wanted),
        target => Err(Fault::BadMode
            .error(format!("unknown target {target:?}; use \"content\" or \"files\""))),
    };
    let told = found.map(|mut output| {
        work.tell(&mut output);
        output
    });
    searching.done(told)
}

fn bad_pattern(bad: BadPattern) -> ToolError {
    let err = Fault::BadRegex.error(bad.message).with_extra("hint", bad.hint);
    match bad.position {
        Some(position) => err.with_extra("position", position),
        None => err,
    }
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
        let pattern = Pattern::new(wanted).map_err(bad_pattern)?;
        let glob = args
            .file_glob
            .as_str()
            .filter(|glob| !glob.is_empty())
            .map(|glob| Glob::new(&self.root.real, glob))
            .transpose()
            .map_err(|err| {
                Fault::BadRegex.error(format!("`file_glob` isn't a valid glob: {err}"))
            })?;
        let query = ContentQuery {
            root: &self.root.real,
            pattern: &pattern,
            glob: glob.as_ref(),
            context,
            unit: if matches!(output, Output::FilesOnly) { Unit::Files } else { Unit::Lines },
            cap: SCAN_CAP,
            places: self.places,
            show: excerpt,
            deadline: self.deadline,
        };
        let scan = self.work.backend.scan(&query, self.work.go());
        let mut scan = scan.map_err(|err| self.work.error(&err))?;

        let mut result = Map::new();
        let (lines, hits) = (scan.lines(), scan.hits.len());
        let (total, entries, shown) = match output {
            Output::Lines => {
                let page = page(self.work, &query, &mut scan, self.offset, self.limit)?;
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
        self.put_paging(&mut result, entries, shown, scan.limit);
        self.put_warnings(&mut result, &scan);
        if total == 0 && scan.limit.is_none() {
            result.insert("hint".to_owned(), self.nothing_hint(wanted, scan.searched).into());
        }
        Ok(Value::Object(result).into())
    }

    fn names(&self, wanted: &str) -> ToolResult {
        let pattern = NamePattern::parse(wanted)?;
        let query = FileQuery { root: &self.root.real, glob: None, deadline: self.deadline };
        let files = self.work.backend.files(&query, self.work.go());
        let Files { entries, unreadable, limit, warning } =
            files.map_err(|err| self.work.error(&err))?;
        let mut found = pattern.select(&self.root.real, entries);
        let dated = self.work.backend.date(&mut found, self.work.go());
        dated.map_err(|err| self.work.io_error("search", &self.root.real, &err))?;
        newest_first(&mut found);
        let all = found.len();
        let paths: Vec<_> = found.iter().map(|file| file.path.as_path()).collect();
        let mut hidden = self.work.hidden(self.places, &paths).into_iter();
        found.retain(|_| !hidden.next().unwrap_or(true));
        let omitted = (all - found.len()) as u64;
        let page: Vec<Value> =
            self.page(&found).map(|file| self.root.show(&file.path).into()).collect();
        let shown = page.len();

        let mut result = Map::new();
        result.insert("total_count".to_owned(), found.len().into());
        result.insert("files".to_owned(), page.into());
        self.put_paging(&mut result, found.len(), shown, limit);
        self.put_warnings(&mut result, &Scan { unreadable, omitted, warning, ..Scan::default() });
        if found.is_empty() && limit.is_none() {
            let hint = self.kernel_hint().unwrap_or_else(|| {
                "no file fits; hidden and ignored files aren't looked at".to_owned()
            });
            result.insert("hint".to_owned(), hint.into());
        }
        Ok(Value::Object(result).into())
    }

    /// Said where no line matches.
    fn nothing_hint(&self, wanted: &str, searched: Option<usize>) -> String {
        if wanted.contains('\0') {
            return "files with a NUL are binary and never searched".to_owned();
        }
        self.kernel_hint().or_else(|| self.binary_hint()).unwrap_or_else(|| {
            let files = searched.map(|count| format!(" in {count} files")).unwrap_or_default();
            format!("no line matches{files}; hidden, ignored and binary files aren't searched")
        })
    }

    /// Said where the lines of the path itself can't be searched.
    fn binary_hint(&self) -> Option<String> {
        if self.is_folder {
            return None;
        }
        let opened = self.work.backend.open(&self.root.real, self.work.go()).ok()?;
        let mut sample = Vec::new();
        opened.content?.take(BINARY_SAMPLE).read_to_end(&mut sample).ok()?;
        memchr::memchr(0, &sample)
            .map(|_| "the file is binary: it holds NULs, so its lines aren't searched".to_owned())
    }

    /// Said where nothing below the path is looked at.
    fn kernel_hint(&self) -> Option<String> {
        let root = &self.root.real;
        (self.is_folder && self.work.backend.is_kernel_state(&root.join("x"))).then(|| {
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
        limit: Option<Limit>,
    ) {
        let next = self.offset.saturating_add(shown);
        let remains = shown > 0 && next < entries;
        result.insert("truncated".to_owned(), (remains || limit.is_some()).into());
        let mut hints = Vec::new();
        if remains {
            result.insert("next_offset".to_owned(), next.into());
            hints.push(format!("{shown} of {entries} results; go on with offset={next}"));
        } else if shown == 0 && entries > 0 {
            hints.push(format!("offset {} is past the last of {entries} results", self.offset));
        }
        if let Some(limit) = limit {
            result.insert("limit_reason".to_owned(), limit.name().into());
            hints.push("not everything was searched: narrow the path or the pattern".to_owned());
        }
        if !hints.is_empty() {
            result.insert("hint".to_owned(), hints.join("; ").into());
        }
    }

    fn put_warnings(&self, result: &mut Map<String, Value>, scan: &Scan) {
        let mut warnings: Vec<String> = scan.warning.iter().cloned().collect();
        if scan.unreadable > 0 {
            let mut warning = match scan.unreadable {
                1 => "1 file or folder couldn't be read".to_owned(),
                count => format!("{count} files or folders couldn't be read"),
            };
            let named = scan.skipped.iter();
            let named: Vec<String> = named
                .map(|(path, reason)| format!("{} ({reason})", self.root.show(path)))
                .collect();
            if !named.is_empty() {
                warning.push_str(&format!(": {}", named.join("; ")));
            }
            warnings.push(warning);
        }
        if !warnings.is_empty() {
            result.insert("warning".to_owned(), warnings.join("; ").into());
        }
        if scan.omitted > 0 {
            result.insert("_omitted".to_owned(), scan.omitted.into());
        }
    }
}
