//! Programs that look at a file after it was written: `node --check` and `go vet`, where the
//! configuration asks for them.
//!
//! Nothing that they do reaches the network: what isn't there isn't fetched.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use hermes_exec::program::{Ended, Finished, Program, find};
use hermes_lint::{Before, Lint};
use hermes_registry::{Settings, ToolContext};
use serde_json::Value;

/// How long one may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How often it is asked whether the call was given up meanwhile.
const POLL: Duration = Duration::from_millis(50);
/// The most lines that are told.
const MAX_LINES: usize = 10;
/// The most characters of a line.
const MAX_LINE: usize = 200;
/// The variables that the programs get.
const VARIABLES: [&str; 9] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "XDG_CACHE_HOME",
];

/// A program that can look at a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checker {
    Node,
    Go,
}

impl Checker {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "js" | "mjs" | "cjs" => Some(Self::Node),
            "go" => Some(Self::Go),
            _ => None,
        }
    }

    /// The name in the configuration, and of the program.
    fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Go => "go",
        }
    }

    /// Whether `lint.programs` has it.
    fn is_wanted(self, settings: &Settings) -> bool {
        let programs = settings.get("lint.programs").and_then(Value::as_array);
        programs.is_some_and(|programs| programs.iter().any(|name| name == self.name()))
    }

    fn arguments(self, path: &Path) -> Vec<OsString> {
        match self {
            Self::Node => vec!["--check".into(), path.into()],
            // A single file lacks what the others of its package define.
            Self::Go => vec!["vet".into(), ".".into()],
        }
    }
}

/// What the program for such files says; none when there is none, or it isn't asked for.
pub(crate) fn check(cx: &ToolContext, path: &Path) -> Option<Lint> {
    let checker = Checker::of(path)?;
    if !checker.is_wanted(cx.settings()) {
        return None;
    }
    let skipped = |why: &str| Lint::Skipped { message: format!("{} {why}", checker.name()) };
    Some(match run(cx, checker, path) {
        Err(why) => skipped(&why),
        Ok(Finished { ended: Ended::Exited(0), .. }) => Lint::Ok,
        Ok(Finished { ended: Ended::Exited(_), stderr, .. }) => {
            let text = stderr.text();
            let lines = match checker {
                Checker::Node => node_problem(&text, path).into_iter().collect(),
                Checker::Go => go_problems(&text, path),
            };
            // A failure without a place in this file is the program's own, or of another file.
            if lines.is_empty() {
                skipped("found nothing in this file, or could not run")
            } else {
                Lint::Broken { output: lines.join("\n"), before: Before::Sound }
            }
        }
        Ok(Finished { ended, .. }) => skipped(&ended.to_string()),
    })
}

fn run(cx: &ToolContext, checker: Checker, path: &Path) -> Result<Finished, String> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let settings = cx.settings();
    // Looked for from the root, so that a relative `PATH` finds nothing in the project.
    let file = find(checker.name().as_ref(), Path::new("/"), settings.env("PATH").map(OsStr::new));
    let file = file.map_err(|err| format!("isn't there: {err}"))?;
    let mut argv = vec![file.into_os_string()];
    argv.extend(checker.arguments(path));
    let own = VARIABLES.iter().filter_map(|name| Some((*name, settings.env(name)?)));
    let offline = [("GOPROXY", "off"), ("GOTOOLCHAIN", "local"), ("GOFLAGS", "-mod=readonly")];
    let program = Program::new(argv).cwd(folder).env(own.chain(offline)).timeout(LIMIT);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|err| format!("couldn't be run: {err}"))?;
    runtime.block_on(async {
        let given_up = async {
            while cx.check_interrupt().is_ok() {
                tokio::time::sleep(POLL).await;
            }
        };
        program.run_until(given_up).await.map_err(|err| format!("couldn't be run: {err}"))
    })
}

/// What `node --check` says: the place in its first line, then the line with a mark below, and
/// further down what is wrong.
fn node_problem(text: &str, path: &Path) -> Option<String> {
    let mut lines = text.lines();
    let place = lines.find_map(|line| {
        let line = line.strip_prefix("file://").unwrap_or(line);
        line.strip_prefix(path.to_str()?)?.strip_prefix(':')
    })?;
    let number: usize = place.parse().ok()?;
    lines.next()?;
    let mark = lines.next().unwrap_or_default();
    let column = mark.chars().position(|sign| sign == '^').map_or(1, |blanks| blanks + 1);
    let message = lines.find(|line| line.contains("Error: "))?;
    Some(short(&format!("{number}:{column}: {message}")))
}

/// The lines of `go vet` that are about this file.
fn go_problems(text: &str, path: &Path) -> Vec<String> {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return Vec::new() };
    let about = |line: &str| {
        let line = line.strip_prefix("vet: ").unwrap_or(line);
        let line = line.strip_prefix("./").unwrap_or(line);
        Some(short(line.strip_prefix(name)?.strip_prefix(':')?))
    };
    text.lines().filter_map(about).take(MAX_LINES).collect()
}

fn short(line: &str) -> String {
    line.chars().filter(|sign| !sign.is_control()).take(MAX_LINE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_node_says() {
        let text = "/w/a.js:2\n  x = ;\n      ^\n\nSyntaxError: Unexpected token ';'\n    at x\n";
        let path = Path::new("/w/a.js");
        let expected = "2:7: SyntaxError: Unexpected token ';'";
        assert_eq!(node_problem(text, path).as_deref(), Some(expected));
        let module = format!("file://{text}");
        assert_eq!(node_problem(&module, path).as_deref(), Some(expected));
        for other in ["", "node: bad option", "/w/b.js:2\nx\n^\nSyntaxError: y", "/w/a.js:2\n"] {
            assert_eq!(node_problem(other, path), None, "{other:?}");
        }
    }

    #[test]
    fn what_go_says() {
        let text = "# a\nvet: ./a.go:3:2: undefined: x\n./b.go:1:1: y\na.go:4:1: z\n";
        let path = Path::new("/w/a.go");
        assert_eq!(go_problems(text, path), ["3:2: undefined: x", "4:1: z"]);
        let text = "go: go.mod file not found in current directory or any parent directory\n";
        assert_eq!(go_problems(text, path), [] as [&str; 0]);
    }
}
