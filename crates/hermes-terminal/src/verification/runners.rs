//! Programs that only run others.

use hermes_command::outline::Word;

use crate::program::{after_options, base_name, is_assignment};

/// Most runners around one program.
const MOST_RUNNERS: usize = 8;

/// The program that is run by others which only look for it: `uv run pytest`, `npx tsc`.
pub(super) fn behind_runners<'a>(name: &'a str, args: &'a [Word]) -> (&'a str, &'a [Word]) {
    let (mut name, mut args) = (name, args);
    for _ in 0..MOST_RUNNERS {
        let Some((first, rest)) = run_by(name, args).and_then(<[Word]>::split_first) else { break };
        (name, args) = (base_name(&first.text), rest);
    }
    (name, args)
}

/// The words of the program that `name` runs.
fn run_by<'a>(name: &str, args: &'a [Word]) -> Option<&'a [Word]> {
    let after = |command: &[&str], letters: &str, names: &[&str]| {
        let (first, rest) = after_options(args, letters, names).split_first()?;
        command.contains(&first.text.as_str()).then(|| after_options(rest, letters, names))
    };
    match name {
        "npx" | "bunx" | "pnpx" | "xvfb-run" => Some(after_options(args, "pns", &["package"])),
        "uv" => after(
            &["run"],
            "ppCP",
            &["with", "extra", "group", "python", "package", "project", "directory", "env-file"],
        ),
        "poetry" | "pipenv" | "pdm" | "rye" | "hatch" | "micromamba" | "conda" => {
            after(&["run"], "npCe", &["name", "prefix", "directory", "project"])
        }
        "bundle" | "mise" | "rtx" | "composer" => after(&["exec", "x"], "", &[]),
        "npm" | "pnpm" | "yarn" | "bun" => {
            after(&["exec", "dlx", "x"], "wCF", &["filter", "prefix", "dir", "cwd"])
                .or_else(|| known_bin(name, args))
        }
        "python" | "python2" | "python3" | "py" | "coverage" => module(name, args),
        "bash" | "sh" | "zsh" | "php" | "ruby" | "node" => {
            let (first, _) = args.split_first()?;
            let is_file = !first.text.starts_with('-')
                && (first.text.ends_with(".sh") || first.text.contains("/bin/"));
            is_file.then_some(args)
        }
        "cross-env" | "dotenv" => {
            let count = args.iter().take_while(|it| is_assignment(&it.text)).count();
            args.get(count..)
        }
        name if is_python(name) => module(name, args),
        _ => None,
    }
}

/// A program that yarn and its like run by its name alone.
fn known_bin<'a>(name: &str, args: &'a [Word]) -> Option<&'a [Word]> {
    const BINS: [&str; 15] = [
        "eslint",
        "tsc",
        "vue-tsc",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "playwright",
        "cypress",
        "prettier",
        "biome",
        "stylelint",
        "svelte-check",
        "oxlint",
        "turbo",
    ];
    let args = after_options(args, "", &[]);
    let first = args.first()?;
    (name != "npm" && BINS.contains(&first.text.as_str())).then_some(args)
}

/// `python3.12`, not `python3-config`.
fn is_python(name: &str) -> bool {
    name.strip_prefix("python")
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// The words from the module on: `python -m pytest`, `coverage run -m pytest`.
fn module<'a>(name: &str, args: &'a [Word]) -> Option<&'a [Word]> {
    let args = match name {
        "coverage" => args.split_first().filter(|(first, _)| first.text == "run")?.1,
        _ => args,
    };
    let at = args.iter().position(|it| it.text == "-m" || !it.text.starts_with('-'))?;
    let is_module = args.get(at).is_some_and(|it| it.text == "-m");
    is_module.then(|| args.get(at + 1..).unwrap_or_default())
}
