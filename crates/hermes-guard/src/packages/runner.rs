//! The command lines of the runners.

use super::spec::{npm, pypi};
use super::{Ecosystem, Fetched, Package};

/// How a runner reads its arguments.
struct Grammar {
    ecosystem: Ecosystem,
    /// Words that come first: each is one of several of the same meaning.
    words: &'static [&'static [&'static str]],
    /// Options whose value is the package.
    names: &'static [&'static str],
    /// Options whose value is a package that is installed as well.
    beside: &'static [&'static str],
    /// Other options with a value of their own.
    valued: &'static [&'static str],
    /// Whether the first argument that is no option is the package.
    positional: bool,
}

const NPM_VALUED: &[&str] = &[
    "--cache",
    "--call",
    "--loglevel",
    "--node-arg",
    "--node-options",
    "--prefix",
    "--registry",
    "--script-shell",
    "--shell",
    "--userconfig",
    "--workspace",
    "-c",
    "-n",
    "-w",
];
const NPM: Grammar = Grammar {
    ecosystem: Ecosystem::Npm,
    words: &[],
    names: &["--package", "-p"],
    beside: &[],
    valued: NPM_VALUED,
    positional: true,
};
const UV_VALUED: &[&str] = &[
    "--allow-insecure-host",
    "--build-constraints",
    "--cache-dir",
    "--color",
    "--config-file",
    "--config-setting",
    "--constraints",
    "--default-index",
    "--directory",
    "--env-file",
    "--exclude-newer",
    "--extra-index-url",
    "--find-links",
    "--fork-strategy",
    "--index",
    "--index-strategy",
    "--index-url",
    "--keyring-provider",
    "--link-mode",
    "--no-binary-package",
    "--no-build-isolation-package",
    "--no-build-package",
    "--overrides",
    "--prerelease",
    "--project",
    "--python",
    "--python-platform",
    "--refresh-package",
    "--reinstall-package",
    "--resolution",
    "--torch-backend",
    "--upgrade-package",
    "--with-editable",
    "--with-requirements",
    "-b",
    "-c",
    "-C",
    "-f",
    "-i",
    "-P",
];
const UVX: Grammar = Grammar {
    ecosystem: Ecosystem::PyPi,
    words: &[],
    names: &["--from", "--package", "-p"],
    beside: &["--with", "-w"],
    valued: UV_VALUED,
    positional: true,
};
const PIPX: Grammar = Grammar {
    ecosystem: Ecosystem::PyPi,
    words: &[],
    names: &["--spec", "--package", "-p"],
    beside: &["--with"],
    valued: &["--backend", "--index-url", "--pip-args", "--python", "-i"],
    positional: true,
};

/// The runners by name; one program may have several forms.
const RUNNERS: [(&str, Grammar); 11] = [
    ("npx", NPM),
    ("pnpx", NPM),
    ("bunx", NPM),
    ("npm", Grammar { words: &[&["exec", "x"]], ..NPM }),
    ("pnpm", Grammar { words: &[&["dlx"]], ..NPM }),
    ("yarn", Grammar { words: &[&["dlx"]], ..NPM }),
    ("bun", Grammar { words: &[&["x"]], ..NPM }),
    ("uvx", UVX),
    ("uv", Grammar { words: &[&["tool"], &["run"]], ..UVX }),
    // Runs what is in the project, beside packages that it names.
    ("uv", Grammar { words: &[&["run"]], names: &[], positional: false, ..UVX }),
    ("pipx", Grammar { words: &[&["run"]], ..PIPX }),
];

/// What else `pipx` does than run.
const PIPX_OTHER: [&str; 19] = [
    "completions",
    "ensurepath",
    "environment",
    "help",
    "inject",
    "install",
    "install-all",
    "interpreter",
    "list",
    "pin",
    "reinstall",
    "reinstall-all",
    "runpip",
    "uninject",
    "uninstall",
    "uninstall-all",
    "unpin",
    "upgrade",
    "upgrade-all",
];

pub(super) fn fetched(program: &str, arguments: &[&str]) -> Fetched {
    let (program, arguments) = unwrapped(program, arguments);
    let forms = RUNNERS.iter().filter(|(name, _)| *name == program);
    let found = forms.filter_map(|(_, grammar)| grammar.read(arguments)).next();
    // Without any word of its own `pipx` is taken for a short form, as `uvx` is one.
    let is_bare = program == "pipx" && !arguments.iter().any(|it| PIPX_OTHER.contains(it));
    found.or_else(|| is_bare.then(|| PIPX.read(arguments))?).unwrap_or_default()
}

/// The program that others only start: `env`, `cmd /c`.
fn unwrapped<'a, 'b>(program: &str, mut arguments: &'a [&'b str]) -> (String, &'a [&'b str]) {
    let mut program = base_name(program);
    loop {
        let is_wrapper = |argument: &str| match program.as_str() {
            "env" => argument.starts_with('-') || argument.contains('='),
            "cmd" => argument.starts_with('/'),
            _ => false,
        };
        if !matches!(program.as_str(), "env" | "cmd") {
            return (program, arguments);
        }
        let skipped = arguments.iter().take_while(|argument| is_wrapper(argument)).count();
        let Some((next, rest)) =
            arguments.split_at_checked(skipped).and_then(|(_, it)| it.split_first())
        else {
            return (program, arguments);
        };
        program = base_name(next);
        arguments = rest;
    }
}

/// The name of a program without its folder and what Windows appends.
fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let ends = [".exe", ".cmd", ".bat", ".ps1"];
    let bare = ends.iter().find_map(|end| name.strip_suffix(end).map(str::to_owned));
    bare.unwrap_or(name)
}

impl Grammar {
    /// Reads the arguments; none if the words aren't there.
    fn read(&self, arguments: &[&str]) -> Option<Fetched> {
        let mut words = self.words.iter();
        let mut named = Vec::new();
        let mut beside = Vec::new();
        let mut positional = None;
        let mut options = true;
        let mut rest = arguments.iter().copied();
        while let Some(argument) = rest.next() {
            if options && argument == "--" {
                options = false;
                continue;
            }
            if options && argument.len() > 1 && argument.starts_with('-') {
                let (name, value) = self.option(argument);
                if self.names.contains(&name) {
                    named.extend(value.or_else(|| rest.next()).filter(|it| !is_python(name, it)));
                } else if self.beside.contains(&name) {
                    let value = value.or_else(|| rest.next());
                    beside.extend(value.into_iter().flat_map(|list| list.split(',')));
                } else if self.valued.contains(&name) && value.is_none() {
                    rest.next();
                }
                continue;
            }
            match words.next() {
                Some(word) if word.contains(&argument) => {}
                Some(_) => return None,
                None => {
                    positional = Some(argument);
                    break;
                }
            }
        }
        if words.next().is_some() {
            return None;
        }
        let mut named = named.into_iter();
        let main = named.next().or(positional.filter(|_| self.positional));
        Some(Fetched {
            main: main.and_then(|text| self.package(text)),
            beside: named.chain(beside).filter_map(|text| self.package(text)).collect(),
        })
    }

    /// The name of an option, and its value if it is in the same argument.
    fn option<'a>(&self, argument: &'a str) -> (&'a str, Option<&'a str>) {
        if let Some((name, value)) = argument.split_once('=') {
            return (name, Some(value));
        }
        let glued = argument.split_at_checked(2).filter(|(name, value)| {
            !argument.starts_with("--")
                && !value.is_empty()
                && (self.names.contains(name) || self.beside.contains(name))
        });
        glued.map_or((argument, None), |(name, value)| (name, Some(value)))
    }

    fn package(&self, text: &str) -> Option<Package> {
        let (name, version) = match self.ecosystem {
            Ecosystem::Npm => npm(text)?,
            Ecosystem::PyPi => pypi(text)?,
        };
        Some(Package { ecosystem: self.ecosystem, name, version })
    }
}

/// Whether the value of `-p` is an interpreter, as `uvx` reads it, and no package.
fn is_python(option: &str, value: &str) -> bool {
    option == "-p"
        && (value.contains(['/', '\\'])
            || value.starts_with(|c: char| c.is_ascii_digit())
            || ["python", "cpython", "pypy", "graalpy"].iter().any(|it| {
                value.strip_prefix(it).is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || c == '@')
                })
            }))
}
