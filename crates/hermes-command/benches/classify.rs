//! How long commands take.

use divan::{Bencher, black_box};
use hermes_command::{Ctx, classify};

fn main() {
    divan::main();
}

fn ctx() -> Ctx {
    Ctx {
        cwd: "/home/alice/project".into(),
        home: "/home/alice".into(),
        hermes_home: "/home/alice/.hermes".into(),
        env: Vec::new(),
    }
}

/// Commands as agents write them.
#[divan::bench(args = [
    "ls -la",
    "git status && git diff --stat | head -20",
    "cd crates && cargo test -p a 2>&1 | tail -50",
    "find . -name '*.rs' -exec grep -l foo {} + | sort | uniq -c",
    "for f in a b c; do echo \"$f\" >> out.txt; done",
    "cat <<'EOF' > notes.md\nrun rm -rf / to wipe\nEOF",
    "python3 -c \"import json,sys; print(json.load(sys.stdin)['a'])\" < a.json",
    "sudo -u root -- bash -c \"$(printf 'rm -rf %s' /)\"",
    "echo \"unbalanced; rm -rf build",
])]
fn ordinary(bencher: Bencher<'_, '_>, command: &str) {
    let ctx = ctx();
    bencher.bench_local(|| classify(black_box(command), &ctx));
}

/// About 100 KB of each.
#[divan::bench(args = ["ls -la dir; ", "echo ", "$(", "rm a; x=$x$x; "], sample_count = 20)]
fn large(bencher: Bencher<'_, '_>, part: &str) {
    let ctx = ctx();
    let mut command = part.repeat(100_000 / part.len());
    if part.contains(';') {
        command = part.repeat(20_000);
        command.truncate(100_000);
    }
    bencher.bench_local(|| classify(black_box(&command), &ctx));
}
