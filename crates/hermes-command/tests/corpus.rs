//! Commands by what they would do, in ways that the shell has of writing them.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests fail by panicking, their helpers too"
)]

mod rewrite;

use std::fmt::Write as _;

use hermes_command::{Ctx, Report, classify};

/// A command and what is to be said of it: `never`, `ask` or `fine`, and the categories that are
/// right.
pub(crate) struct Case {
    pub(crate) place: String,
    pub(crate) command: String,
    pub(crate) categories: Vec<String>,
    pub(crate) hardline: bool,
}

pub(crate) fn cases() -> Vec<Case> {
    let files = [
        ("agent", include_str!("corpus/agent.jsonl")),
        ("delete", include_str!("corpus/delete.jsonl")),
        ("disguise", include_str!("corpus/disguise.jsonl")),
        ("escape", include_str!("corpus/escape.jsonl")),
        ("later", include_str!("corpus/later.jsonl")),
        ("more", include_str!("corpus/more.jsonl")),
        ("ordinary", include_str!("corpus/ordinary.jsonl")),
        ("other", include_str!("corpus/other.jsonl")),
        ("program", include_str!("corpus/program.jsonl")),
        ("spread", include_str!("corpus/spread.jsonl")),
        ("system", include_str!("corpus/system.jsonl")),
    ];
    let lines = files.into_iter().flat_map(|(file, text)| {
        text.lines().enumerate().map(move |(number, line)| (file, number + 1, line))
    });
    lines
        .map(|(file, number, line)| {
            let (verdict, categories, command): (String, String, String) =
                serde_json::from_str(line).unwrap();
            Case {
                place: format!("{file}:{number}"),
                command,
                categories: categories.split('|').map(str::to_owned).collect(),
                hardline: verdict == "never",
            }
        })
        .collect()
}

pub(crate) fn judged(command: &str) -> Report {
    let ctx = Ctx {
        cwd: "/home/alice/project".into(),
        home: "/home/alice".into(),
        hermes_home: "/home/alice/.hermes".into(),
        env: Vec::new(),
    };
    classify(command, &ctx)
}

pub(crate) fn verdict(report: &Report) -> (&'static str, bool) {
    (report.category().map_or("none", |it| it.name()), report.is_hardline())
}

/// Fails with all faults at once.
pub(crate) fn report_faults(faults: &[String], of: usize) {
    let mut text = String::new();
    for fault in faults.iter().take(60) {
        writeln!(text, "{fault}").unwrap();
    }
    assert!(faults.is_empty(), "{} of {of}:\n{text}", faults.len());
}

#[test]
fn verdicts() {
    let cases = cases();
    let mut faults = Vec::new();
    for case in &cases {
        let report = judged(&case.command);
        let (category, hardline) = verdict(&report);
        if !case.categories.iter().any(|it| it == category) || hardline != case.hardline {
            let rules: Vec<_> = report.findings.iter().map(|it| it.rule_id).collect();
            faults.push(format!(
                "{}: {category} {hardline} {rules:?}: {:?}",
                case.place, case.command
            ));
        }
    }
    report_faults(&faults, cases.len());
}

#[test]
fn what_is_printed_is_harmless() {
    let mut faults = Vec::new();
    let cases = cases();
    for case in &cases {
        let quoted = format!("echo '{}'", case.command.replace('\'', r"'\''"));
        let report = judged(&quoted);
        if report.is_dangerous() {
            faults.push(format!("{}: {:?}", case.place, report.findings));
        }
    }
    report_faults(&faults, cases.len());
}

#[test]
fn spans_lie_in_the_text() {
    for case in cases() {
        for finding in judged(&case.command).findings {
            assert!(
                case.command.get(finding.span.clone()).is_some(),
                "{}: {finding:?}",
                case.place
            );
            assert!(finding.why.ends_with('.'), "{finding:?}");
        }
    }
    let report = judged("ls; cat <<E\nx\nE\nsudo rm -rf / && echo");
    let finding = report.findings.first().unwrap();
    assert_eq!(&"ls; cat <<E\nx\nE\nsudo rm -rf / && echo"[finding.span.clone()], "sudo rm -rf /");
    assert_eq!(finding.argv, ["rm", "-rf", "/"]);
}

#[test]
fn commands_are_told_of() {
    let argvs = |command: &str| -> Vec<String> {
        judged(command).commands.iter().map(|it| it.argv.join(" ")).collect()
    };
    for command in
        ["/usr/bin/sudo ls", "sud\\o ls", "command sudo ls", "bash -c 'sudo ls'", "X=sudo; $X ls"]
    {
        let found = argvs(command);
        assert!(found.iter().any(|it| it.ends_with("sudo ls")), "{command}: {found:?}");
    }
    for command in ["git -C . push", "git --no-pager push", "git -c a=b push"] {
        let report = judged(command);
        assert_eq!(report.commands[1].argv, ["git", "push"], "{command}");
        assert_eq!(report.commands.iter().filter(|it| it.depth == 0).count(), 1, "{command}");
    }
    assert_eq!(judged("git push -f").commands.len(), 1);
    assert_eq!(judged("rm -f -r b a").commands[0].head(), "rm -f -r b a");
}

#[test]
fn too_much_is_asked_about() {
    for command in ["a;".repeat(25_000), "echo ".to_owned() + &"a".repeat(128_001)] {
        let report = judged(&command);
        assert_eq!(report.findings[0].rule_id, "parser_limit");
        assert!(!report.is_hardline());
    }
    assert!(!judged(&format!("echo {}", "a".repeat(100_000))).is_dangerous());
    assert!(judged(&"$(".repeat(20_000)).is_dangerous());
    assert!(judged(&"`".repeat(20_001)).is_dangerous());
}

/// Programs in other languages that take as much work as can be made for them.
#[test]
fn hostile_programs() {
    let parts = [
        "os.system(",
        "a=b;",
        "a=['x'];a+=a;",
        "a=[[",
        "a='x'+a;",
        "def f(a):f(f);",
        "x=",
        "eval('",
        "for a in ['x','y']: os.system(a);",
        "[1].each{|a|system a};",
        "f'{a}'+",
        "%s%",
        "('",
        "'.join(",
    ];
    let run = move || {
        for part in parts {
            for interpreter in ["python3 -c", "node -e", "perl -e", "ruby -e", "php -r"] {
                let program = part.repeat(6_000 / part.len());
                let _ = judged(&format!("{interpreter} \"{program}system(a)\""));
            }
        }
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap();
}

/// Hostile texts on a small stack: they end, and nothing panics.
#[test]
fn hostile_texts() {
    let long = |part: &str, count: usize| part.repeat(count);
    let texts = [
        long("{ ", 20_000),
        long("(", 60_000),
        long("((", 30_000),
        long("\"$(", 10_000),
        long("${x:-", 20_000),
        long("`", 60_001),
        long("case x in ", 8_000),
        long("<<a ", 20_000) + "\n",
        "sudo ".repeat(10_000) + "rm",
        "eval ".repeat(10_000),
        "echo ".to_owned() + &"{a,b}".repeat(200),
        long("{", 5_000) + "," + &long("}", 5_000),
        "a=xxxxxxxxxx;".to_owned() + &"a=$a$a;".repeat(100),
        "f(){ f;f;};f;".repeat(500),
        long("/*", 20_000) + " -rf",
        format!("x={}; echo ${{x//?(a)*b/c}}", "a".repeat(2_000)),
        long("a=(", 10_000),
        long("[[ ", 10_000),
        long("\\\n", 30_000),
        long("$", 60_000),
        long("\u{F8FF}rm ", 1_000),
        "x='a[$(echo $((x)) $((x)))]';((x));".repeat(200),
        "ln -s a b;".repeat(2_000) + &"b/".repeat(5_000),
        long("${a[", 10_000),
        long("[[ -v a ", 5_000),
        "declare -n a=b b=a;".repeat(2_000) + "$a",
        format!("python3 -c \"{}\"", "import a as b;b.c();".repeat(4_000)),
        long("$((a[", 10_000),
        long("\0", 100_000),
        "r m $(L \"/".to_owned() + &long("\u{7f}", 16_000),
        long("ls -la dir; ", 10_600),
        "x=aaaaaaaa;".to_owned() + &long("rm a; x=$x$x; ", 9_000),
        "ssh h \"".to_owned() + &(long("{a,b}", 10) + ";").repeat(2_000),
        long(";", 24_999),
        long("a\n", 24_999),
        "*".to_owned() + &long("/", 200) + "\"; rm",
    ];
    let run = move || {
        for text in &texts {
            let _ = judged(text);
        }
    };
    std::thread::Builder::new().stack_size(512 * 1024).spawn(run).unwrap().join().unwrap();
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_have_an_answer(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let report = judged(&text);
        for finding in &report.findings {
            proptest::prop_assert!(text.get(finding.span.clone()).is_some());
        }
    }

    #[test]
    fn any_program_has_an_answer(
        language in 0_usize..5,
        text in r#"(os\.system\(|system |exec\(|eval\(|'|"|\[|\]|\(|\)|\{|\}|=|\+|\.|,|%s|f'|\.join\(|\.format\(|rm -rf /|for a in |a|b|;|\n|\[::-1\]|=>|def a\(b\):|\$a|`|#\{|é){0,40}"#,
    ) {
        let interpreter = ["python3 -", "node", "perl", "ruby", "php"][language];
        let report = judged(&format!("{interpreter} <<'END'\n{text}\nEND"));
        proptest::prop_assert!(report.is_dangerous() || !report.is_hardline());
    }

    #[test]
    fn any_text_has_an_answer(text in r#"[\x00-\x7f]{0,60}|([a-z$(){}<>|&;'"`\\ \n*~/=!#\[\]-]|rm|-rf|EOF|<<|case|esac|é){0,40}"#) {
        let report = judged(&text);
        for finding in &report.findings {
            proptest::prop_assert!(finding.span.end <= text.len());
        }
        proptest::prop_assert!(report.is_dangerous() || !report.is_hardline());
    }
}
