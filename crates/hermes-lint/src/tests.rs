//! Whole checks, of every kind of file.

use std::path::Path;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

#[cfg(feature = "python")]
use crate::Before;
use crate::{Kind, Lint, check};

fn lint(path: &str, old: Option<&str>, new: &str) -> Value {
    check(Path::new(path), old, new).map_or(Value::Null, |lint| lint.to_value())
}

/// Path, a content that parses, one that doesn't, and where its first problem is.
const FORMATS: &[(&str, &str, &str, &str)] = &[
    ("a.json", "{\"a\": [1, null], \"a\": 2}\n", "{\"a\": 1,\n  \"b\" 2}\n", "2:7"),
    ("a.JSON", "\u{feff}[]", "{\"a\":", "1:5"),
    ("a.json", "", "[1,]", "1:4"),
    ("a.json", " \n", "{'a': 1}", "1:2"),
    ("package.json", "{}", "{} // no", "1:4"),
    ("a.json", "\"\\ud800\"", "[1] [2]", "1:5"),
    ("a.yaml", "a: !Sub x\n---\nb: 1\nb: 2\n", "a: b: c\n", "1:5"),
    ("a.yml", "\u{feff}- 1\n- !t {x: y}\n", "a: [1, 2\nb: c\n", "2:2"),
    ("a.yml", "a: &x 1\nb: *x\n", "a: 1\n\tb: 2\n", "1:4"),
    ("a.yml", "%YAML 1.2\n---\n? k\n: v\n...\n", "é: 'ä\n", "1:4"),
    ("a.toml", "[a]\nb = 1\n", "[a]\nb = \n", "2:5"),
    ("Cargo.toml", "a = 1979-05-27\n", "a = 1\na = 2\n", "2:1"),
];

#[cfg(feature = "full")]
const LANGUAGES: &[(&str, &str, &str, &str)] = &[
    ("a.py", "def f(x: int) -> str:\n    return f'{x!r:>{3}}'\n", "def f(:\n", "1:7"),
    ("a.py", "match x:\n    case [1, *_]: pass\n", "if x:\npass\n", "2:1"),
    ("a.py", "type A[T] = list[T]\n", "def f():\n    x = 1\n   y = 2\n", "3:1"),
    ("a.py", "try: pass\nexcept* E: pass\n", "x = 'é' +\n", "1:10"),
    ("a.py", "\u{feff}x = 1\r\ny = 2\r\n", "print 'x'\n", "1:7"),
    ("a.pyi", "def f() -> int: ...\n", "class A\n", "1:8"),
    ("a.rs", "fn main() { let x = |a: u8| a + 1; }\n", "fn main() { let x = ; }\n", "1:21"),
    ("a.rs", "#!/usr/bin/env run\nfn gen() {}\n", "fn f() {\n", "1:9"),
    ("a.rs", "trait A { fn a(&self, b: u8); }\n", "struct A { x y }\n", "1:13"),
    ("a.rs", "async fn f() { g().await }\n", "let x = 1;\n", "1:1"),
    ("a.js", "const {a, ...b} = c ?? await import('x');\n", "const a = {b: 1;\n", "1:16"),
    ("a.jsx", "const a = <A b={1}>x</A>;\n", "function f() {\n  return (1;\n}\n", "2:12"),
    ("a.mjs", "export default class { #a = 1; static {} }\n", "x = [1, 2\ny = 3\n", "1:5"),
    ("a.cjs", "#!/usr/bin/env node\nmodule.exports = 1\n", "if (x {\n}\n", "1:6"),
    ("a.go", "package a\n\nfunc f[T any](x T) {}\n", "package a\n\nfunc f( {\n}\n", "3:8"),
    ("a.html", "<!doctype html><p>x<br>y</p>\n", "<a <b>\n", "1:4"),
    ("a.java", "record A(int x) {}\n", "class A { int f( { } }\n", "1:17"),
];

/// Languages in which only what parsed before counts.
#[cfg(feature = "full")]
const DIALECTS: &[(&str, &str, &str, &str)] = &[
    ("a.ts", "const a: A<B> = b as C;\n", "const a: = 1;\n", "1:8"),
    ("a.tsx", "const a = <A<B> b={1}/>;\n", "const a = (1;\n", "1:13"),
    ("a.mts", "export type A = B;\n", "interface A { b: ;\n", "1:13"),
    ("a.css", "a { b: c; }\n", "a { b: c;\n", "1:10"),
    ("a.sh", "if x; then y; fi\n", "if x; then y\n", "2:1"),
    ("a.bash", "a=(1 2)\n", "echo \"x\n", "1:6"),
    ("a.c", "int f(void) { return 1; }\n", "int f(void) { return 1;\n", "1:24"),
    ("a.h", "struct a { int b; };\n", "int f(;\n", "1:7"),
    ("a.cpp", "template<class T> T f(T a) { return a; }\n", "int f() { return (1; }\n", "1:20"),
    ("a.hpp", "namespace a { class B; }\n", "class A { int b }\n", "1:1"),
];

/// Checks all rows of a table before it fails.
fn all_hold(table: &[(&str, &str, &str, &str)], compared_only: bool) {
    let mut slips = Vec::new();
    for &(path, good, bad, place) in table {
        if lint(path, None, good) != json!({"status": "ok"}) {
            slips.push(format!("{path} {good:?}: {}", lint(path, None, good)));
        }
        let olds: &[Option<&str>] =
            if compared_only { &[Some(good)] } else { &[None, Some(good), Some("")] };
        for &old in olds {
            let found = lint(path, old, bad);
            let output = found["output"].as_str().unwrap_or_default();
            if found["status"] != "error" || !output.starts_with(&format!("{place}: ")) {
                slips.push(format!("{path} {bad:?} {place}: {found}"));
            }
        }
        if compared_only {
            for old in [None, Some(bad)] {
                let found = lint(path, old, bad);
                if found["status"] != "skipped" || found["message"].is_null() {
                    slips.push(format!("{path} {bad:?}: {found}"));
                }
            }
        }
    }
    assert!(slips.is_empty(), "{}", slips.join("\n"));
}

#[test]
fn formats() {
    all_hold(FORMATS, false);
    assert!(FORMATS.iter().all(|row| Kind::of(Path::new(row.0)).unwrap().is_format()));
}

#[cfg(feature = "full")]
#[test]
fn languages() {
    all_hold(LANGUAGES, false);
    assert!(!LANGUAGES.iter().any(|row| Kind::of(Path::new(row.0)).unwrap().is_format()));
}

#[cfg(feature = "full")]
#[test]
fn languages_with_dialects() {
    all_hold(DIALECTS, true);
}

#[test]
fn names_that_are_not_looked_at() {
    for path in [
        "tsconfig.json",
        "tsconfig.build.json",
        "TSConfig.json",
        "jsconfig.json",
        ".eslintrc.json",
        ".eslintrc.base.json",
        "x/.vscode/settings.json",
        "/a/.vscode/x/y.json",
        ".devcontainer/devcontainer.json",
        "a.jsonc",
        "a.json5",
        "a.txt",
        "json",
        "Makefile",
        ".json5",
        "",
        "/",
    ] {
        assert_eq!(lint(path, None, "{ // a"), Value::Null, "{path}");
    }
    for path in ["mytsconfig.json", "vscode/a.json", "a.tsconfig.json"] {
        assert_eq!(lint(path, None, "{ // a")["status"], "error", "{path}");
    }
}

#[test]
fn what_was_broken_before() {
    let same = "the file didn't parse before this change either; the change brought no new problem";
    let other = "the file didn't parse before this change either; only what is new is listed";
    let message = |old: &str, new: &str| lint("a.json", Some(old), new)["message"].clone();
    // Moved down by a new line.
    assert_eq!(message("{\"a\": ,}", "\n\n{\"a\": ,}"), same);
    assert_eq!(message("{", "{\"a\": ,}"), other);
    assert_eq!(message("{}", "{"), Value::Null);
    assert_eq!(message("", "{"), Value::Null);
    // The answer tells what is wrong in any case.
    let lint = lint("a.json", Some("{\"a\": ,}"), "\n{\"a\": ,}");
    assert_eq!(lint["output"], "2:7: expected value");
    assert_eq!(lint["status"], "error");
}

#[cfg(feature = "python")]
#[test]
fn only_new_problems_are_told() {
    let old = "def f(:\n    pass\nx = = 1\n";
    let new = "import os\ndef f(:\n    pass\nx = = 1\ny = )\n";
    let Some(Lint::Broken { output, before }) = check(Path::new("a.py"), Some(old), new) else {
        panic!();
    };
    assert_eq!(before, Before::Broken);
    assert!(output.lines().all(|line| line.starts_with("5:")), "{output}");
    let new = format!("# a\n{old}");
    let Some(Lint::Broken { output, before }) = check(Path::new("a.py"), Some(old), &new) else {
        panic!();
    };
    assert_eq!(before, Before::Same);
    assert!(output.contains("2:7: "), "{output}");
    // The same problem once more is new.
    let new = format!("{old}{old}");
    let Some(Lint::Broken { output, before }) = check(Path::new("a.py"), Some(old), &new) else {
        panic!();
    };
    assert_eq!((before, output.starts_with("4:")), (Before::Broken, true), "{output}");
}

#[cfg(feature = "python")]
#[test]
fn the_answer_is_bounded() {
    let text = format!("x = = {}\n", "é".repeat(500)).repeat(200);
    let Some(Lint::Broken { output, .. }) = check(Path::new("a.py"), None, &text) else {
        panic!();
    };
    assert_eq!(output.lines().count(), 11);
    assert!(output.ends_with(" more"), "{output}");
    assert!(output.chars().count() < 4000);
}

/// Texts made to break parsers.
fn hostile() -> Vec<String> {
    let mut texts = vec![
        "a".repeat(1 << 20),
        "a,".repeat(1 << 18),
        format!("\"{}", "é".repeat(1 << 18)),
        "\0".repeat(2_000),
        "\r".repeat(2_000),
        "é\u{202e}".repeat(2_000),
    ];
    for opener in [
        "(",
        "[",
        "{",
        "<",
        "<a>",
        "{\"a\":",
        "a: ",
        "- ",
        "? ",
        "[[",
        "a.",
        "-",
        "!",
        "&",
        "*",
        "not ",
        "lambda: ",
        "f'{",
        "{a:",
        "if ",
        "if(",
        "if a{",
        "else ",
        "else if a{",
        "return ",
        "a=",
        "1+",
        "a?",
        "a?b:",
        "=>",
        "()=>",
        "||",
        "..",
        "fn(",
        "fn f(){",
        "mod a{",
        "A<",
        "match a{a=>",
        "async ",
        "await ",
        "$(",
        "${",
        "`${",
        "\"$(",
        "<<a\n",
        "#if\n",
        "/*",
        "\"",
        "'",
        "`",
        "&a ",
        "@a\n",
        "func(",
        "[]",
        "*[]",
        "new ",
        "a::",
        "@media a{",
        ":not(",
        "template<",
        "\\",
    ] {
        texts.push(opener.repeat(2_000));
    }
    texts.push(format!("{}1{}", "(".repeat(2_000), ")".repeat(4_000)));
    texts.push(format!("fn f(){{{}1{}}}", "{".repeat(2_000), "}".repeat(4_000)));
    texts.push(format!("x = {}1{}", "[".repeat(2_000), "]".repeat(4_000)));
    texts.push((0..500).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect());
    texts.push((0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect());
    texts
}

fn all_kinds() -> Vec<&'static str> {
    let names = [
        "a.json", "a.yaml", "a.toml", "a.py", "a.rs", "a.js", "a.ts", "a.tsx", "a.go", "a.java",
        "a.html", "a.css", "a.sh", "a.c", "a.cpp",
    ];
    names.into_iter().filter(|name| Kind::of(Path::new(name)).is_some()).collect()
}

/// Each kind is a test of its own, so that they run side by side.
macro_rules! hostile_texts_end {
    ($($name:ident $path:literal,)*) => {
        mod hostile_texts_end {
            $(
                #[test]
                fn $name() {
                    for text in super::hostile() {
                        let lint = super::lint($path, None, &text);
                        assert!(lint.to_string().len() < 10_000, "{lint}");
                    }
                }
            )*
        }
    };
}

hostile_texts_end! {
    json "a.json",
    yaml "a.yaml",
    toml "a.toml",
    python "a.py",
    rust "a.rs",
    javascript "a.js",
    typescript "a.ts",
    tsx "a.tsx",
    go "a.go",
    java "a.java",
    html "a.html",
    css "a.css",
    shell "a.sh",
    c "a.c",
    cpp "a.cpp",
}

/// A parser of a grammar releases its stack by recursion.
#[cfg(feature = "javascript")]
/// What ended the whole program.
#[test]
fn characters_beyond_every_table() {
    let text = "echo {\u{1f600} {1..\u{10ffff} ${\u{b31f4}\n";
    for path in all_kinds() {
        assert!(check(Path::new(path), Some(text), text).is_some(), "{path}");
    }
}

#[test]
fn a_small_stack_is_enough() {
    let text = "{a:".repeat(50_000);
    let check = move || lint("a.js", None, &text);
    let worker = std::thread::Builder::new().stack_size(128 * 1024).spawn(check).unwrap();
    assert_ne!(worker.join().unwrap(), Value::Null);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let text = String::from_utf8_lossy(&bytes);
        for path in all_kinds() {
            prop_assert!(check(Path::new(path), Some(&text), &text).is_some());
        }
    }

    /// Pieces of code in any order.
    #[test]
    fn random_code(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "a", "1", " ", "\n", "\n  ", "(", ")", "{", "}", "[", "]", "<", ">", "\"", "'", "`",
                "${", "$(", ";", ":", ",", ".", "=", "=>", "->", "-", "*", "&", "|", "!", "?", "@",
                "#", "/", "\\", "//", "/*", "*/", "<!--", "</a>", "<a b=", "fn ", "def ", "class ",
                "if ", "else", "match ", "case ", "return ", "async ", "lambda ", "f'", "r#", "b\"",
                "func ", "package ", "import ", "import(", "let ", "do", "done", "<<EOF\n", "fi",
                "é", "\t", "\r\n", "\u{feff}", "---\n", "- ", "&a ", "*a", "!t ", "|\n", "%Y",
            ]),
            0..200,
        ),
        cut in 0usize..200,
    ) {
        let new = words.concat();
        let old = words.get(..cut).unwrap_or(&words).concat();
        for path in all_kinds() {
            let lint = check(Path::new(path), Some(&old), &new).unwrap();
            if let Lint::Broken { output, .. } = lint {
                prop_assert!(!output.is_empty() && output.lines().count() <= 11);
            }
        }
    }
}
