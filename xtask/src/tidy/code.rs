//! Rules on Rust code that clippy has no lint for.

use proc_macro2::Delimiter;

use crate::finding::Finding;
use crate::sources::RustFile;
use crate::tokens::{Kind, Source, Token};

/// The only crate that may print to standard output; tasks talk there too.
const PRINTING: [&str; 2] = ["crates/hermes-cli/", "xtask/"];

fn finding(file: &RustFile, line: usize, message: &str) -> Finding {
    Finding::new(&*file.path, line, message)
}

/// Every module begins by saying what is in it.
pub(super) fn module_header(file: &RustFile) -> Vec<Finding> {
    if has_header(&file.source) {
        return Vec::new();
    }
    vec![finding(file, 1, "must begin with `//!` and say what is in the module")]
}

/// Whether a doc attribute is among the inner attributes at the top.
fn has_header(source: &Source) -> bool {
    let mut rest = source.tokens.as_slice();
    while let [hash, bang, open, name, ..] = rest {
        if !(hash.is_punct('#') && bang.is_punct('!') && open.is_open()) {
            return false;
        }
        if name.is_ident("doc") {
            return true;
        }
        let length = source.group(source.tokens.len() - rest.len() + 2).len();
        rest = rest.get(length + 4..).unwrap_or_default();
    }
    false
}

/// Silencing a lint takes a reason.
pub(super) fn lint_reasons(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for attribute in file.source.attributes() {
        for (at, pair) in attribute.windows(2).enumerate() {
            let [word, open] = pair else { continue };
            let silences = word.is_ident("allow") || word.is_ident("expect");
            if !silences || open.kind != Kind::Open(Delimiter::Parenthesis) {
                continue;
            }
            let rest = attribute.get(at + 2..).unwrap_or_default();
            if !rest.iter().any(|token| token.is_ident("reason")) {
                findings.push(finding(file, word.line, "silencing a lint needs `reason = \"..\"`"));
            }
        }
    }
    findings
}

/// A test says what must panic and why it is off.
pub(super) fn test_attributes(file: &RustFile) -> Vec<Finding> {
    let fault = |attribute: &[Token]| match attribute {
        [word, ..] if word.is_ident("should_panic") => {
            Some((word.line, "assert on the error in place of #[should_panic]"))
        }
        [word] if word.is_ident("ignore") => Some((word.line, "#[ignore] needs a reason")),
        _ => None,
    };
    let faults = file.source.attributes().filter_map(fault);
    faults.map(|(line, message)| finding(file, line, message)).collect()
}

/// Only the command line prints to standard output.
pub(super) fn standard_output(file: &RustFile) -> Vec<Finding> {
    let is_exempt = file.is_test || PRINTING.iter().any(|prefix| file.path.starts_with(prefix));
    if is_exempt {
        return Vec::new();
    }
    let tokens = file.source.tokens.as_slice();
    let prints = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let (word, next) = (tokens.get(at)?, tokens.get(at + 1)?);
        let is_print =
            ["print", "println"].iter().any(|name| word.is_ident(name)) && next.is_punct('!');
        // `command.stdout(..)` sets up a child, `fn stdout(..)` only has the name.
        let is_stdout = word.is_ident("stdout")
            && next.kind == Kind::Open(Delimiter::Parenthesis)
            && !before.is_some_and(|it| it.is_punct('.') || it.is_ident("fn"));
        (!word.in_test && (is_print || is_stdout)).then_some(word.line)
    };
    let lines = (0..tokens.len()).filter_map(prints);
    lines.map(|line| finding(file, line, "only hermes-cli prints to standard output")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rule: fn(&RustFile) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        let file = RustFile {
            path: path.into(),
            text: text.into(),
            source: Source::parse(text).unwrap(),
            is_test: crate::sources::is_test_path(path),
        };
        rule(&file).into_iter().map(|finding| finding.line).collect()
    }

    fn in_lib(rule: fn(&RustFile) -> Vec<Finding>, text: &str) -> Vec<usize> {
        lines(rule, "crates/a/src/lib.rs", text)
    }

    #[test]
    fn headers() {
        for (text, has) in [
            ("//! What is here.\n", true),
            ("#![doc = include_str!(\"../docs.md\")]\n", true),
            ("#![no_std]\n//! What is here.\nfn f() {}", true),
            ("// Note.\n//! What is here.\n", true),
            ("/// On an item.\nfn f() {}", false),
            ("#![no_std]\nfn f() {}", false),
            ("", false),
        ] {
            assert_eq!(in_lib(module_header, text).is_empty(), has, "{text}");
        }
    }

    #[test]
    fn reasons() {
        for (text, expected) in [
            ("#[allow(dead_code)]\nfn f() {}", vec![1]),
            ("\n#![allow(dead_code, clippy::all)]", vec![2]),
            ("#[expect(dead_code, reason = \"later\")]\nfn f() {}", vec![]),
            ("#[cfg_attr(unix, allow(dead_code))]\nfn f() {}", vec![1]),
            ("#[cfg_attr(unix, allow(dead_code, reason = \"x\"))]\nfn f() {}", vec![]),
            ("/// `#[allow(x)]` in words\nfn f() { x.expect(\"y\"); }", vec![]),
        ] {
            assert_eq!(in_lib(lint_reasons, text), expected, "{text}");
        }
    }

    #[test]
    fn tests_that_panic_or_sleep() {
        for (text, expected) in [
            ("#[test]\n#[should_panic]\nfn f() {}", vec![2]),
            ("#[should_panic(expected = \"x\")]\nfn f() {}", vec![1]),
            ("#[ignore]\nfn f() {}", vec![1]),
            ("#[ignore = \"needs a network\"]\nfn f() {}", vec![]),
            ("#[test]\nfn should_panic() {}", vec![]),
        ] {
            assert_eq!(in_lib(test_attributes, text), expected, "{text}");
        }
    }

    #[test]
    fn printing() {
        for (text, expected) in [
            ("fn f() { println!(\"x\"); }", vec![1]),
            ("fn f() {\n print!(\"x\"); }", vec![2]),
            ("fn f() { std::io::stdout().lock(); }", vec![1]),
            ("fn f() { command.stdout(Stdio::piped()); eprintln!(\"x\"); }", vec![]),
            ("fn stdout() {}", vec![]),
            ("/// println!(\"x\")\nfn f() { \"println!()\"; } // println!()", vec![]),
            ("#[cfg(test)] mod t { fn f() { println!(\"x\"); } }", vec![]),
        ] {
            assert_eq!(in_lib(standard_output, text), expected, "{text}");
        }
        for path in ["crates/hermes-cli/src/main.rs", "crates/a/examples/x.rs", "tests/src/lib.rs"]
        {
            assert!(lines(standard_output, path, "fn f() { println!(); }").is_empty(), "{path}");
        }
    }
}
