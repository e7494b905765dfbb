//! Tests of the packages of runners.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// A command line and what it fetches: `npm:name@version`, the main package first; `-` where it
/// has none.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        let words: Vec<&str> = line.split(' ').collect();
        let (program, arguments) = words.split_first().unwrap();
        let found = fetched(program, arguments);
        let shown = |package: &Package| {
            let version = package.version.as_ref().map(|it| format!("@{it}")).unwrap_or_default();
            format!("{}:{}{version}", package.ecosystem.name(), package.name)
        };
        let mut all = vec![found.main.as_ref().map_or("-".to_owned(), shown)];
        all.extend(found.beside.iter().map(shown));
        assert_eq!(all.join(" "), *expected, "{line}");
    }
}

#[test]
fn npm_runners() {
    check(&[
        ("npx -y @scope/pkg@1.2.3", "npm:@scope/pkg@1.2.3"),
        ("npx pkg", "npm:pkg"),
        ("npx --package=real bin", "npm:real"),
        ("npx -p real@2.0.0 bin -p other", "npm:real@2.0.0"),
        ("npx -p=real bin", "npm:real"),
        ("npx --package a --package b bin", "npm:a npm:b"),
        ("/usr/bin/npx -y a", "npm:a"),
        ("C:\\node\\NPX.CMD -y a", "npm:a"),
        ("cmd /c npx -y a", "npm:a"),
        ("env -i A=1 npx -y a", "npm:a"),
        ("npx --registry https://r.example a", "npm:a"),
        ("npx -y -- a --flag", "npm:a"),
        ("npx -c run --package a", "npm:a"),
        ("npx a@latest", "npm:a"),
        ("npx @a/b@latest", "npm:@a/b"),
        ("npx a@next", "npm:a"),
        ("npx a@^1.2.0", "npm:a"),
        ("npx a@1.x", "npm:a"),
        ("npx a@1", "npm:a@1"),
        ("npx a@v1.2.3", "npm:a@1.2.3"),
        ("npx a@1.2.3-next.1", "npm:a@1.2.3-next.1"),
        ("npx a@npm:@s/b@1.0.0", "npm:@s/b@1.0.0"),
        ("npx", "-"),
        ("npx -y", "-"),
        ("npx ./server", "-"),
        ("npx github:user/repo", "-"),
        ("npx user/repo", "-"),
        ("npx https://e.com/a.tgz", "-"),
        ("npx a@https://e.com/a.tgz", "-"),
        ("npx @scope", "-"),
        ("npx a@", "npm:a"),
        ("npm exec --yes -- a@1.0.0", "npm:a@1.0.0"),
        ("npm --yes exec a", "npm:a"),
        ("npm x --package=a -- b", "npm:a"),
        ("npm install a", "-"),
        ("npm", "-"),
        ("bunx --bun a@1.0.0", "npm:a@1.0.0"),
        ("bun x a", "npm:a"),
        ("bun run a", "-"),
        ("pnpm dlx a", "npm:a"),
        ("pnpm --package=a dlx b", "npm:a"),
        ("pnpm exec a", "-"),
        ("pnpx a", "npm:a"),
        ("yarn dlx -q @s/a", "npm:@s/a"),
        ("yarn dlx -p a b", "npm:a"),
        ("yarn add a", "-"),
        ("node server.js", "-"),
    ]);
}

#[test]
fn python_runners() {
    check(&[
        ("uvx tool[extra]==2.0", "PyPI:tool@2.0"),
        ("uvx --from real==1.0 cmd", "PyPI:real@1.0"),
        ("uvx --from=real[a,b] cmd", "PyPI:real"),
        ("uvx tool@1.2.3", "PyPI:tool@1.2.3"),
        ("uvx tool@latest", "PyPI:tool"),
        ("uvx tool>=1.0", "PyPI:tool"),
        ("uvx tool==1.*", "PyPI:tool"),
        ("uvx tool===1.0", "PyPI:tool@1.0"),
        ("uvx tool==1.0,!=1.1;python_version<'3'", "PyPI:tool@1.0"),
        ("uvx --python 3.12 mcp-x", "PyPI:mcp-x"),
        ("uvx -p 3.12 mcp-x", "PyPI:mcp-x"),
        ("uvx -p python3.12 mcp-x", "PyPI:mcp-x"),
        ("uvx -p pkg cmd", "PyPI:pkg"),
        ("uvx --with a,b==1.0 --with c tool", "PyPI:tool PyPI:a PyPI:b@1.0 PyPI:c"),
        ("uvx --from git+https://e.com/r cmd", "-"),
        ("uvx --from ./here cmd", "-"),
        ("uvx ./tool.whl", "-"),
        ("uv tool run --from a b", "PyPI:a"),
        ("uv tool install a", "-"),
        ("uv run server.py", "-"),
        ("uv run --with mcp[cli] mcp run server.py", "- PyPI:mcp"),
        ("uv pip install a", "-"),
        ("pipx run a==1.0", "PyPI:a@1.0"),
        ("pipx run --spec real==1.0 a", "PyPI:real@1.0"),
        ("pipx run --python 3.12 a", "PyPI:a"),
        ("pipx run https://e.com/a.py", "-"),
        ("pipx a", "PyPI:a"),
        ("pipx install a", "-"),
    ]);
}

proptest! {
    #[test]
    fn any_arguments_are_read(
        program in "(npx|npm|uvx|uv|pipx|env|cmd|bun)",
        arguments in prop::collection::vec("(-|--)?(p|package|with|from|exec|run|tool|x)?[=@:/\\[\\]a1. é]{0,4}", 0..6),
    ) {
        for package in fetched(&program, &arguments).iter() {
            prop_assert!(!package.name.is_empty());
            prop_assert!(!package.name.contains([' ', ':']));
        }
    }
}
