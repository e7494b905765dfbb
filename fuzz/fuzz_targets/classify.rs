//! Any text as a command.

#![no_main]

use hermes_command::{Ctx, classify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|command: &str| {
    let ctx = Ctx {
        cwd: "/home/alice/project".into(),
        home: "/home/alice".into(),
        hermes_home: "/home/alice/.hermes".into(),
        env: Vec::new(),
    };
    let report = classify(command, &ctx);
    for finding in &report.findings {
        assert!(finding.span.start <= finding.span.end && finding.span.end <= command.len());
        assert!(!finding.why.is_empty());
    }
    assert!(report.is_dangerous() || !report.is_hardline());
    // What is printed isn't run.
    let quoted = format!("echo '{}'", command.replace('\'', "'\\''").replace('\0', ""));
    if quoted.len() < 100_000 && quoted.matches([';', '&', '|', '\n']).count() < 20_000 {
        assert!(!classify(&quoted, &ctx).is_dangerous(), "{quoted}");
    }
});
