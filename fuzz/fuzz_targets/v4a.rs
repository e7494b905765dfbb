//! Any text as a patch of two files, and the way from one text to another as a patch.

#![no_main]

use hermes_edit::diff;
use hermes_edit::v4a::{self, Cause, Memory, ProblemKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str)| {
    let (patch, f, g) = input;
    let before = Memory::from([("f".to_owned(), f.to_owned()), ("g".to_owned(), g.to_owned())]);
    if let Ok(read) = v4a::parse(patch) {
        for section in &read.sections {
            for path in [Some(section.path()), section.destination()].into_iter().flatten() {
                assert!(!path.is_empty() && path.split('/').all(|part| part != ".."));
            }
        }
        match v4a::apply(&read, &before) {
            Ok(changes) => {
                assert!(!changes.is_empty());
                let mut after = before.clone();
                after.commit(&changes);
            }
            Err(failures) => assert!(!failures.is_empty()),
        }
    }

    // A diff, read as a patch, leads to the other text unless it fits several places.
    let text = |text: &str| {
        // A CR at the end would make an ending of another kind.
        let short = |line: &str| line.chars().take(100).collect::<String>();
        let line = |line| short(line).trim_end_matches('\r').to_owned() + "\n";
        text.lines().take(60).map(line).collect::<String>()
    };
    let (from, to) = (text(f), text(g));
    let diff = diff::unified("f", &from, &to);
    let Some(start) = diff.find("@@") else {
        assert_eq!(from, to);
        return;
    };
    let patch = format!("*** Update File: f\n{}", &diff[start..]);
    let mut memory = Memory::from([("f".to_owned(), from)]);
    match v4a::apply(&v4a::parse(&patch).expect("a diff is a patch"), &memory) {
        Ok(changes) => {
            memory.commit(&changes);
            assert_eq!(memory.files["f"].as_deref(), Some(to.as_str()));
        }
        Err(failures) => {
            for failure in failures {
                let Cause::Patch(problem) = failure.cause;
                assert_eq!(problem.kind, ProblemKind::Ambiguous, "{}", problem.message);
            }
        }
    }
});
