//! The same command, written in other ways, is judged the same.

use std::process::Command;

use crate::{cases, judged, report_faults, verdict};

/// A word within single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Words without anything that the shell would change.
fn plain_words(command: &str) -> Option<Vec<&str>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+@% ".contains(c);
    let words: Vec<&str> = command.split(' ').collect();
    let first = *words.first()?;
    let is_builtin = matches!(
        first,
        "cd" | "if"
            | "for"
            | "while"
            | "case"
            | "{"
            | "}"
            | "!"
            | "[["
            | "function"
            | "time"
            | "coproc"
            | "select"
            | "until"
            | "export"
            | "history"
            | "set"
            | "trap"
            | "alias"
            | "kill"
            | "echo"
            | "exec"
            | "eval"
            | "source"
            | "."
            | "type"
            | "read"
            | "unset"
            | "builtin"
            | "command"
            | "hash"
            | "umask"
            | "env"
            | "sudo"
            | "test"
            | "["
            | "then"
            | "do"
            | "pushd"
            | "shift"
    );
    let fits =
        command.chars().all(is_plain) && !first.is_empty() && !first.contains('/') && !is_builtin;
    (fits && words.iter().all(|it| !it.is_empty())).then_some(words)
}

/// Ways to write a whole text.
fn of_text(command: &str) -> Vec<String> {
    vec![
        format!("bash -c {}", quoted(command)),
        format!("sh -ec {}", quoted(command)),
        format!("eval {}", quoted(command)),
        format!("{{ {command}\n}}"),
        format!("( {command}\n)"),
        format!("if true; then {command}\nfi"),
        format!("timeout 5 sh -c {}", quoted(command)),
        format!("bash <<'END_OF_IT'\n{command}\nEND_OF_IT"),
        format!("echo {} | bash", quoted(command)),
        format!("true && {{ {command}\n}}"),
        format!("WHOLE={}; bash -c \"$WHOLE\"", quoted(command)),
    ]
}

/// Ways to write plain words.
fn of_words(words: &[&str]) -> Vec<String> {
    let each = |change: &dyn Fn(&str) -> String| {
        words.iter().map(|it| change(it)).collect::<Vec<_>>().join(" ")
    };
    let rest = words[1..].join(" ");
    let first = words[0];
    let hex = |it: &str| {
        format!("$'{}'", it.bytes().map(|it| format!("\\x{it:02x}")).collect::<String>())
    };
    let octal =
        |it: &str| format!("$'{}'", it.bytes().map(|it| format!("\\{it:03o}")).collect::<String>());
    let middle = first.len() / 2;
    let (left, right) = first.split_at(middle);
    vec![
        each(&quoted),
        each(&|it| format!("\"{it}\"")),
        each(&hex),
        each(&octal),
        each(&|it| format!("{}\"\"{}", &it[..it.len() / 2], &it[it.len() / 2..])),
        each(&|it| {
            it.chars()
                .map(|c| if c.is_ascii_alphabetic() { format!("\\{c}") } else { c.to_string() })
                .collect()
        }),
        format!("P={first}; $P {rest}"),
        format!("P={left}; Q={right}; $P$Q {rest}"),
        format!("a=({}); \"${{a[@]}}\"", words.join(" ")),
        format!("set -- {}; \"$@\"", words.join(" ")),
        format!("$(echo {first}) {rest}"),
        format!("`printf %s {first}` {rest}"),
        format!(
            "$(printf '{}') {rest}",
            first.bytes().map(|it| format!("\\{it:03o}")).collect::<String>()
        ),
        format!("{left}\\\n{right} {rest}"),
        words.join(" \\\n  "),
        format!("env -S {}", quoted(&words.join(" "))),
        format!("env {}", words.join(" ")),
        format!("command {}", words.join(" ")),
        format!("nohup nice -n 5 {}", words.join(" ")),
        format!("timeout 10 {}", words.join(" ")),
        format!("busybox {}", words.join(" ")),
        format!("/usr/bin/{}", words.join(" ")),
        format!("FOO=1 {}", words.join(" ")),
        words.join("${IFS}"),
        format!("${{unset:-{first}}} {rest}"),
        format!("{left}${{nothing}}{right} {rest}"),
        format!("f() {{ \"$@\"; }}; f {}", words.join(" ")),
    ]
}

#[test]
fn rewrites_of_texts() {
    let mut faults = Vec::new();
    let mut count = 0;
    for case in cases() {
        let expected = verdict(&judged(&case.command));
        // A here-document that ends the text needs its own last line, and a comment ends there.
        let depends =
            ["$0", "$1", "END_OF", "exit", "\\c"].iter().any(|it| case.command.contains(it))
                || case.command.matches('"').count() % 2 == 1
                || case.command.ends_with('\\')
                || case.command.contains("alias ")
                || case.command.contains("\\0");
        if depends {
            continue;
        }
        for rewritten in of_text(&case.command) {
            count += 1;
            let actual = verdict(&judged(&rewritten));
            if actual != expected {
                faults.push(format!("{}: {expected:?} is {actual:?} in {rewritten:?}", case.place));
            }
        }
    }
    report_faults(&faults, count);
}

#[test]
fn rewrites_of_words() {
    let mut faults = Vec::new();
    let mut count = 0;
    for case in cases() {
        let Some(words) = plain_words(&case.command) else { continue };
        let expected = verdict(&judged(&case.command));
        for rewritten in of_words(&words) {
            count += 1;
            let actual = verdict(&judged(&rewritten));
            if actual != expected {
                faults.push(format!("{}: {expected:?} is {actual:?} in {rewritten:?}", case.place));
            }
        }
    }
    report_faults(&faults, count);
}

/// Words as bash reads them, without substitutions.
#[test]
#[expect(clippy::disallowed_methods, reason = "the shell itself says what is right")]
fn words_are_those_of_bash() {
    let texts = [
        "a 'b c' \"d e\" f\\ g",
        "$'a\\x62\\143\\td' $'\\u00e9' $'\\cA' $'it\\'s'",
        "a\"b\"'c'd\\e",
        "{a,b}{1..3} x{y,z}w {a} {a,b {1..2..1} {c..a}",
        "\"a\\$b\\\\c\\\"d\\e\" '\\n' \\n",
        "a=b c",
        "\"a'b\" 'c\"d'",
        "''  \"\" x",
        "a#b #c",
        "\\{a,b\\} '{a,b}' \"{a,b}\"",
        "x=1,2 --y={1,2}",
    ];
    for text in texts {
        let output = Command::new("bash").args(["-c", &format!("printf '%s\\0' {text}")]).output();
        let Ok(output) = output else { return };
        let printed = String::from_utf8(output.stdout).unwrap();
        let expected: Vec<&str> = printed.split_terminator('\0').collect();
        let report = judged(&format!("some-program {text}"));
        assert_eq!(report.commands[0].argv[1..], expected, "{text}");
    }
}
