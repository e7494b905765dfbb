//! The language servers that are known.

use std::path::Path;

use serde_json::{Value, json};

/// A language server.
#[derive(Debug)]
pub(crate) struct Known {
    /// Its name in the settings.
    pub(crate) id: &'static str,
    /// The extensions of the files it looks after, and the protocol's names of their languages.
    pub(crate) languages: &'static [(&'static [&'static str], &'static str)],
    /// Programs with their arguments; the first that is there is taken.
    pub(crate) commands: &'static [&'static [&'static str]],
    /// What marks the folder of a project. The nearest folder with a file of the first group
    /// counts, else of the second, and so on; else the root of the worktree.
    pub(crate) markers: &'static [&'static [&'static str]],
    /// Whether it runs only where a marker is.
    pub(crate) needs_marker: bool,
    /// Files whose presence in or above a folder gives it to another server.
    pub(crate) unless: &'static [&'static str],
    /// What it is told at its start.
    pub(crate) options: fn(&Path) -> Value,
    /// Whether it says by `experimental/serverStatus` when it has read its project. Before, it
    /// finds nothing wrong with anything.
    pub(crate) reports_status: bool,
}

impl Known {
    /// The protocol's name of the language of a file, if the server looks after such files.
    pub(crate) fn language(&self, path: &Path) -> Option<&'static str> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        let has = |ends: &[&str]| ends.contains(&end.as_str());
        self.languages.iter().find(|(ends, _)| has(ends)).map(|(_, language)| *language)
    }
}

/// The server with an id.
pub(crate) fn by_id(id: &str) -> Option<&'static Known> {
    SERVERS.iter().find(|server| server.id == id)
}

/// The servers that look after a file, the preferred one first, with the file's language.
pub(crate) fn of_file(path: &Path) -> impl Iterator<Item = (&'static Known, &'static str)> {
    SERVERS.iter().filter_map(move |server| Some((server, server.language(path)?)))
}

fn none(_root: &Path) -> Value {
    json!({})
}

/// The project's own interpreter, without which its packages can't be found.
fn python(root: &Path) -> Value {
    let places = [".venv/bin/python", "venv/bin/python", ".venv/Scripts/python.exe"];
    match places.iter().map(|place| root.join(place)).find(|path| path.is_file()) {
        Some(path) => json!({"python": {"pythonPath": path.to_string_lossy()}}),
        None => json!({}),
    }
}

/// It would build the project for its diagnostics, and run the build scripts and macros in it, each
/// time that a file is saved: that takes the build folder's lock from whoever builds, and writing a
/// file would run programs.
fn rust(_root: &Path) -> Value {
    json!({
        "checkOnSave": false,
        "cachePriming": {"enable": false},
        "cargo": {"buildScripts": {"enable": false}},
        "procMacro": {"enable": false},
    })
}

fn typescript(_root: &Path) -> Value {
    // It would download type packages.
    json!({"disableAutomaticTypingAcquisition": true})
}

fn without_telemetry(_root: &Path) -> Value {
    json!({"telemetry": {"enabled": false}})
}

fn vue(root: &Path) -> Value {
    let sdk = root.join("node_modules/typescript/lib");
    json!({"typescript": {"tsdk": sdk.to_string_lossy()}, "vue": {"hybridMode": false}})
}

const NODE: &[&[&str]] = &[
    &["package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"],
    &["tsconfig.json", "jsconfig.json", "package.json"],
];

const DENO: &[&str] = &["deno.json", "deno.jsonc"];

const TYPESCRIPT: &[(&[&str], &str)] = &[
    (&["ts", "mts", "cts"], "typescript"),
    (&["tsx"], "typescriptreact"),
    (&["js", "mjs", "cjs"], "javascript"),
    (&["jsx"], "javascriptreact"),
];

/// What most servers are.
const PLAIN: Known = Known {
    id: "",
    languages: &[],
    commands: &[],
    markers: &[],
    needs_marker: false,
    unless: &[],
    options: none,
    reports_status: false,
};

/// All of them. Where several look after a file, the first one that is there is asked.
pub(crate) const SERVERS: &[Known] = &[
    Known {
        id: "pyright",
        languages: &[(&["py", "pyi"], "python")],
        commands: &[&["pyright-langserver", "--stdio"], &["basedpyright-langserver", "--stdio"]],
        markers: &[
            &["pyrightconfig.json"],
            &["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"],
        ],
        options: python,
        ..PLAIN
    },
    Known {
        id: "deno",
        languages: TYPESCRIPT,
        commands: &[&["deno", "lsp"]],
        markers: &[DENO],
        needs_marker: true,
        ..PLAIN
    },
    Known {
        id: "typescript",
        languages: TYPESCRIPT,
        commands: &[&["typescript-language-server", "--stdio"]],
        markers: NODE,
        unless: DENO,
        options: typescript,
        ..PLAIN
    },
    // From version 7 on the compiler is a server itself; before, it ends at once.
    Known {
        id: "typescript-native",
        languages: TYPESCRIPT,
        commands: &[&["tsgo", "--lsp", "--stdio"], &["tsc", "--lsp", "--stdio"]],
        markers: NODE,
        unless: DENO,
        ..PLAIN
    },
    Known {
        id: "vue-language-server",
        languages: &[(&["vue"], "vue")],
        commands: &[&["vue-language-server", "--stdio"]],
        markers: NODE,
        options: vue,
        ..PLAIN
    },
    Known {
        id: "svelte-language-server",
        languages: &[(&["svelte"], "svelte")],
        commands: &[&["svelteserver", "--stdio"]],
        markers: NODE,
        ..PLAIN
    },
    Known {
        id: "astro-language-server",
        languages: &[(&["astro"], "astro")],
        commands: &[&["astro-ls", "--stdio"]],
        markers: NODE,
        options: vue,
        ..PLAIN
    },
    Known {
        id: "gopls",
        languages: &[(&["go"], "go")],
        commands: &[&["gopls"]],
        markers: &[&["go.work"], &["go.mod"]],
        ..PLAIN
    },
    Known {
        id: "rust-analyzer",
        languages: &[(&["rs"], "rust")],
        commands: &[&["rust-analyzer"]],
        markers: &[&["Cargo.lock"], &["Cargo.toml", "rust-project.json"]],
        options: rust,
        reports_status: true,
        ..PLAIN
    },
    Known {
        id: "clangd",
        languages: &[
            (&["c", "h"], "c"),
            (&["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++"], "cpp"),
            (&["m"], "objective-c"),
            (&["mm"], "objective-cpp"),
        ],
        commands: &[&["clangd"]],
        markers: &[&["compile_commands.json", "compile_flags.txt", ".clangd"]],
        ..PLAIN
    },
    Known {
        id: "bash-language-server",
        languages: &[(&["sh", "bash"], "shellscript")],
        commands: &[&["bash-language-server", "start"]],
        ..PLAIN
    },
    Known {
        id: "yaml-language-server",
        languages: &[(&["yaml", "yml"], "yaml")],
        commands: &[&["yaml-language-server", "--stdio"]],
        ..PLAIN
    },
    Known {
        id: "lua-language-server",
        languages: &[(&["lua"], "lua")],
        commands: &[&["lua-language-server"]],
        markers: &[&[".luarc.json", ".luarc.jsonc", ".luacheckrc", "stylua.toml"]],
        ..PLAIN
    },
    Known {
        id: "intelephense",
        languages: &[(&["php"], "php")],
        commands: &[&["intelephense", "--stdio"]],
        markers: &[&["composer.json"]],
        options: without_telemetry,
        ..PLAIN
    },
    Known {
        id: "ruby-lsp",
        languages: &[(&["rb", "rake", "gemspec"], "ruby")],
        commands: &[&["ruby-lsp"]],
        markers: &[&["Gemfile"]],
        ..PLAIN
    },
    Known {
        id: "zls",
        languages: &[(&["zig", "zon"], "zig")],
        commands: &[&["zls"]],
        markers: &[&["build.zig"]],
        ..PLAIN
    },
    Known {
        id: "elixir-ls",
        languages: &[(&["ex", "exs"], "elixir")],
        commands: &[&["elixir-ls"]],
        markers: &[&["mix.lock"], &["mix.exs"]],
        ..PLAIN
    },
    Known {
        id: "haskell-language-server",
        languages: &[(&["hs", "lhs"], "haskell")],
        commands: &[&["haskell-language-server-wrapper", "--lsp"]],
        markers: &[&["cabal.project", "stack.yaml", "hie.yaml"]],
        ..PLAIN
    },
    Known {
        id: "ocaml-lsp",
        languages: &[(&["ml"], "ocaml"), (&["mli"], "ocaml.interface")],
        commands: &[&["ocamllsp"]],
        markers: &[&["dune-workspace"], &["dune-project"]],
        ..PLAIN
    },
    Known {
        id: "gleam",
        languages: &[(&["gleam"], "gleam")],
        commands: &[&["gleam", "lsp"]],
        markers: &[&["gleam.toml"]],
        needs_marker: true,
        ..PLAIN
    },
    Known {
        id: "dart",
        languages: &[(&["dart"], "dart")],
        commands: &[&["dart", "language-server", "--protocol=lsp"]],
        markers: &[&["pubspec.yaml"]],
        ..PLAIN
    },
    Known {
        id: "sourcekit-lsp",
        languages: &[(&["swift"], "swift")],
        commands: &[&["sourcekit-lsp"]],
        markers: &[&["Package.swift"]],
        ..PLAIN
    },
    Known {
        id: "jdtls",
        languages: &[(&["java"], "java")],
        commands: &[&["jdtls"]],
        markers: &[&["settings.gradle", "settings.gradle.kts"], &["pom.xml", "build.gradle"]],
        ..PLAIN
    },
    Known {
        id: "kotlin-lsp",
        languages: &[(&["kt", "kts"], "kotlin")],
        commands: &[&["kotlin-lsp", "--stdio"], &["kotlin-language-server"]],
        markers: &[&["settings.gradle", "settings.gradle.kts"], &["pom.xml", "build.gradle.kts"]],
        ..PLAIN
    },
    Known {
        id: "terraform-ls",
        languages: &[(&["tf"], "terraform"), (&["tfvars"], "terraform-vars")],
        commands: &[&["terraform-ls", "serve"]],
        markers: &[&[".terraform.lock.hcl"]],
        ..PLAIN
    },
    Known {
        id: "nixd",
        languages: &[(&["nix"], "nix")],
        commands: &[&["nixd"], &["nil"]],
        markers: &[&["flake.nix"]],
        ..PLAIN
    },
    Known {
        id: "tinymist",
        languages: &[(&["typ"], "typst")],
        commands: &[&["tinymist", "lsp"]],
        ..PLAIN
    },
    Known {
        id: "texlab",
        languages: &[(&["tex"], "latex"), (&["bib"], "bibtex")],
        commands: &[&["texlab"]],
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::*;

    fn ids(file: &str) -> Vec<(&'static str, &'static str)> {
        of_file(Path::new(file)).map(|(server, language)| (server.id, language)).collect()
    }

    #[test]
    fn files_find_their_servers() {
        assert_eq!(ids("/a/b.py"), [("pyright", "python")]);
        assert_eq!(ids("/a/B.PYI"), [("pyright", "python")]);
        let native = ("typescript-native", "typescriptreact");
        let react = "typescriptreact";
        assert_eq!(ids("x.tsx"), [("deno", react), ("typescript", react), native]);
        assert_eq!(ids("a.h++"), [("clangd", "cpp")]);
        for file in ["/a/py", "/a/.py", "/a/b.py/c", "/", "/a/b.txt", "a.py~"] {
            assert_eq!(ids(file), [], "{file}");
        }
    }

    #[test]
    fn the_table_is_sound() {
        let mut seen = BTreeSet::new();
        for server in SERVERS {
            assert!(seen.insert(server.id), "{} is there twice", server.id);
            assert!(!server.commands.is_empty() && !server.languages.is_empty(), "{}", server.id);
            assert!(!server.needs_marker || !server.markers.is_empty(), "{}", server.id);
            let ends = server.languages.iter().flat_map(|(ends, _)| *ends);
            assert!(ends.clone().count() > 0);
            for end in ends {
                assert!(!end.contains('.') && *end == end.to_ascii_lowercase(), "{end}");
            }
            assert!((server.options)(Path::new("/nowhere")).is_object());
            assert_eq!(by_id(server.id).map(|found| found.id), Some(server.id));
        }
    }
}
