//! Output of any length costs no memory.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;
use std::sync::Arc;

use hermes_exec::local::{Local, Options};
use hermes_exec::session::{Foreground, Initial, Session};
use hermes_terminal::Collector;

/// A figure of this process, in kB.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn endless_output() {
    let dir = tempfile::tempdir().unwrap();
    let local = Local::new(Options {
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        cwd: PathBuf::from("/"),
        temp_dir: dir.path().to_owned(),
        memory_dir: None,
        ..Options::default()
    });
    let session = Session::new(Arc::new(local), Initial::default());
    let run = async |command: &str| {
        let mut collector = Collector::new(50_000);
        let mut take = |bytes: &[u8]| collector.push(bytes);
        let command = Foreground::new(command, "/");
        session.run(command, &mut take, std::future::pending()).await.unwrap();
        collector.finish("", &|text| text.into())
    };
    run("true").await;
    let idle = status("VmRSS:");
    for (command, total) in [
        ("yes | head -c 30000000", 30_000_000),
        ("head -c 4000000 /dev/zero | tr '\\0' x", 4_000_000),
    ] {
        let output = run(command).await;
        assert_eq!(output.total, total, "{command}");
        assert!(output.is_truncated && output.text.chars().count() <= 50_000);
    }
    // Nothing but escapes, carriage returns and bytes that are no text.
    for command in [
        "head -c 4000000 /dev/zero | tr '\\0' '\\r'",
        "head -c 4000000 /dev/zero | tr '\\0' '\\033'",
        "head -c 4000000 /dev/zero | tr '\\0' '\\377'",
        "head -c 4000000 /dev/zero",
        "printf '\\033]0;'; head -c 4000000 /dev/zero | tr '\\0' x",
    ] {
        run(command).await;
    }
    let above = status("VmHWM:").saturating_sub(idle);
    assert!(above < 16 * 1024, "{above} kB");
}
