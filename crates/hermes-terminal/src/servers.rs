//! Programs that don't end by themselves.

use hermes_command::outline::Word;

use crate::program::{after_options, base_name, is_assignment};

/// Most runners around one program: `poetry run npx ..`.
const MOST_RUNNERS: usize = 8;

/// Whether a program with these arguments goes on until it is stopped.
pub(crate) fn is_server(name: &str, args: &[Word]) -> bool {
    let (mut name, mut args) = (name, args);
    for _ in 0..MOST_RUNNERS {
        let Some(inner) = runs(name, args) else { break };
        let Some((first, rest)) = inner.split_first() else { return false };
        (name, args) = (base_name(&first.text), rest);
    }
    is_endless(unversioned(name), args)
}

/// What a program runs that runs another one in an environment of its own.
fn runs<'a>(name: &str, args: &'a [Word]) -> Option<&'a [Word]> {
    let after = |words: &'a [Word]| match words.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => words,
    };
    match unversioned(name) {
        "npx" | "bunx" | "pnpx" | "uvx" => {
            Some(after_options(args, "p", &["package", "from", "with", "python"]))
        }
        "npm" | "pnpm" | "yarn" | "bun" => {
            let (first, rest) =
                after_options(args, "C", &["prefix", "filter", "cwd", "dir"]).split_first()?;
            matches!(first.text.as_str(), "exec" | "dlx" | "x")
                .then(|| after(after_options(rest, "p", &["package"])))
        }
        "bundle" | "mise" | "rbenv" => {
            let (first, rest) = args.split_first()?;
            (first.text == "exec").then(|| after(rest))
        }
        "poetry" | "pipenv" | "pdm" | "rye" | "uv" | "hatch" | "conda" | "mamba" => {
            let (first, rest) = args.split_first()?;
            let names =
                ["with", "python", "name", "prefix", "extra", "group", "project", "env-file"];
            (first.text == "run").then(|| after_options(rest, "np", &names))
        }
        "cross-env" => {
            let own = args.iter().take_while(|it| is_assignment(&it.text)).count();
            args.get(own..)
        }
        "python" | "pypy" => {
            let at = args.iter().position(|it| !it.text.starts_with('-') || it.text == "-m")?;
            let module = args.get(at + 1..)?;
            (args.get(at)?.text == "-m").then_some(module)
        }
        _ => None,
    }
}

/// `python3.11` is `python`.
fn unversioned(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if bare.is_empty() { name } else { bare }
}

fn is_endless(name: &str, args: &[Word]) -> bool {
    let has = |names: &[&str]| args.iter().any(|it| names.contains(&it.text.as_str()));
    let command = |names: &[&str]| {
        let operand = after_options(args, "fpCHcnA", &VALUES).first();
        operand.is_some_and(|it| names.contains(&it.text.as_str()))
    };
    match name {
        "uvicorn" | "gunicorn" | "hypercorn" | "daphne" | "waitress-serve" | "nodemon"
        | "http.server" | "http-server" | "live-server" | "json-server" | "webpack-dev-server"
        | "ts-node-dev" => true,
        "serve" => !has(&["build"]),
        "npm" | "pnpm" | "yarn" | "bun" => script(args),
        "docker" | "podman" | "nerdctl" => container(args),
        "docker-compose" | "podman-compose" => compose(args),
        "vite" => {
            let operand = args.iter().find(|it| !it.text.starts_with('-'));
            operand.is_none_or(|it| matches!(it.text.as_str(), "dev" | "serve" | "preview"))
                || !command(&["build", "optimize", "preview"]) && command(&["dev", "serve"])
        }
        "next" => command(&["dev", "start"]),
        "nuxt" | "nuxi" | "astro" | "remix" | "svelte-kit" | "vinxi" | "wrangler" | "fastapi" => {
            command(&["dev"])
        }
        "gatsby" => command(&["develop", "serve"]),
        "ng" | "mkdocs" | "jekyll" | "vue-cli-service" => command(&["serve", "server", "s"]),
        "hugo" => command(&["server", "serve"]),
        "react-scripts" | "expo" => command(&["start"]),
        "webpack" => command(&["serve"]) || has(&["--watch", "-w"]),
        "tsc" | "rollup" | "sass" | "tailwindcss" => has(&["--watch", "-w"]),
        "jest" => has(&["--watch", "--watchAll"]),
        "node" | "deno" | "esbuild" | "tsx" => has(&["--watch"]),
        "flask" | "streamlit" => command(&["run"]),
        "rails" => command(&["s", "server"]),
        "django-admin" => command(&["runserver"]),
        "python" | "pypy" => {
            let mut words = args.iter().skip_while(|it| it.text.starts_with('-'));
            words.next().is_some_and(|it| base_name(&it.text) == "manage.py")
                && words.next().is_some_and(|it| it.text == "runserver")
        }
        "php" => {
            args.first().is_some_and(|it| it.text == "-S")
                || args.first().is_some_and(|it| it.text == "artisan")
                    && args.get(1).is_some_and(|it| it.text == "serve")
        }
        "jupyter" => command(&["lab", "notebook", "server"]),
        "cargo" | "dotnet" => command(&["watch"]),
        "caddy" => command(&["run"]),
        "tail" => follows(args) && !args.iter().any(|it| it.text.starts_with("--pid")),
        "journalctl" => has(&["-f", "--follow"]),
        "kubectl" => {
            command(&["port-forward", "proxy"]) || command(&["logs"]) && has(&["-f", "--follow"])
        }
        "watch" => !args.is_empty(),
        "sleep" => has(&["infinity", "inf"]),
        _ => false,
    }
}

/// Long options with a value in front of a command.
const VALUES: [&str; 8] =
    ["app", "env-file", "config", "namespace", "context", "project-name", "profile", "file"];

/// Whether a script of a package goes on, by its name.
fn script(args: &[Word]) -> bool {
    let values = ["prefix", "filter", "cwd", "dir", "workspace"];
    let mut rest = args;
    let mut is_run = false;
    while let Some((first, after)) = after_options(rest, "CFw", &values).split_first() {
        match first.text.as_str() {
            "run" | "run-script" if !is_run => is_run = true,
            "workspace" if !is_run => {
                rest = after.get(1..).unwrap_or_default();
                continue;
            }
            name => {
                let mut parts = name.split(':');
                let first = parts.next().unwrap_or_default();
                return matches!(first, "dev" | "start" | "serve" | "watch")
                    || is_run && parts.next_back() == Some("watch");
            }
        }
        rest = after;
    }
    false
}

fn container(args: &[Word]) -> bool {
    let names = [
        "context",
        "host",
        "log-level",
        "config",
        "tlscacert",
        "tlscert",
        "tlskey",
        "connection",
        "url",
    ];
    let Some((first, rest)) = after_options(args, "cHl", &names).split_first() else {
        return false;
    };
    match first.text.as_str() {
        "compose" => compose(rest),
        "logs" => rest.iter().any(|it| matches!(it.text.as_str(), "-f" | "--follow")),
        _ => false,
    }
}

fn compose(args: &[Word]) -> bool {
    let names = [
        "file",
        "project-name",
        "profile",
        "env-file",
        "project-directory",
        "ansi",
        "progress",
        "parallel",
    ];
    let Some((first, rest)) = after_options(args, "fp", &names).split_first() else { return false };
    let has = |names: &[&str]| rest.iter().any(|it| names.contains(&it.text.as_str()));
    match first.text.as_str() {
        "up" => {
            let ends = ["--detach", "--wait", "--no-start", "--abort-on-container-exit"];
            let is_detached = |it: &Word| {
                !it.text.starts_with("--") && it.text.starts_with('-') && it.text.contains('d')
            };
            !has(&ends)
                && !rest.iter().any(|it| is_detached(it) || it.text.starts_with("--exit-code-from"))
        }
        "logs" => has(&["-f", "--follow"]),
        "watch" => true,
        _ => false,
    }
}

/// `-f`, also among other letters, but not in a value.
fn follows(args: &[Word]) -> bool {
    let mut words = args.iter().map(|it| it.text.as_str());
    while let Some(word) = words.next() {
        if word == "--" {
            return false;
        }
        if word == "--follow" || word.starts_with("--follow=") {
            return true;
        }
        if word.starts_with("--") {
            continue;
        }
        let Some(letters) = word.strip_prefix(['-', '+']) else { continue };
        let own = letters.find(['n', 'c', 's']).map_or(letters, |at| letters.split_at(at).0);
        if own.contains(['f', 'F']) {
            return true;
        }
        if letters.ends_with(['n', 'c', 's']) {
            words.next();
        }
    }
    false
}
