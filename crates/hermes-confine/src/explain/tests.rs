//! Outputs of commands that failed, and what is said about them.

use std::fs;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn report(mechanism: Mechanism) -> Report {
    Report {
        mechanism,
        abi: None,
        filesystem: Filesystem::Enforced,
        network: Network::Blocked,
        reasons: Vec::new(),
    }
}

struct World {
    _dir: tempfile::TempDir,
    root: PathBuf,
    rules: Rules,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in ["w/.git/hooks", "w/.ssh", "other"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let rules = Rules {
        writable: vec![root.join("w")],
        protected: vec![root.join("w/.git/hooks")],
        hidden: vec![root.join("w/.ssh")],
        network: false,
    };
    World { _dir: dir, root, rules }
}

/// The first words of what is said about an output.
fn said(world: &World, mechanism: Mechanism, output: &str, exit_code: i32) -> Option<String> {
    let cwd = world.root.join("w");
    let text = explain(&world.rules, &report(mechanism), output, exit_code, &cwd)?;
    Some(text.split(' ').take(4).collect::<Vec<_>>().join(" "))
}

#[test]
fn only_what_the_rules_close_is_explained() {
    let world = world();
    let other = world.root.join("other/x").display().to_string();
    let inside = world.root.join("w/x").display().to_string();
    let read_only = |path: &str| format!("touch: cannot touch '{path}': Read-only file system\n");
    let denied = |path: &str| format!("bash: line 1: {path}: Permission denied\n");
    let (bubble, landlock) = (Mechanism::Bubblewrap, Mechanism::Landlock);
    let refused = Some("The sandbox refused to".to_owned());
    for (mechanism, output, expected) in [
        (bubble, read_only(&other), refused.clone()),
        (bubble, read_only("../other/x"), refused.clone()),
        (bubble, read_only(&inside), None),
        (bubble, denied(&other), None),
        (landlock, denied(&other), refused.clone()),
        (landlock, denied("../other/x"), refused),
        (landlock, denied(&inside), None),
        (landlock, denied("./x"), None),
        (landlock, read_only(&other), None),
        (landlock, denied("/proc/sys/kernel/core_pattern"), None),
        (landlock, "Permission denied (publickey).".into(), None),
        (bubble, read_only(".git/hooks/x"), Some("The sandbox protects .git/hooks/x".into())),
        (landlock, denied(".git/hooks/x"), None),
        (bubble, denied(".ssh/id"), Some("The sandbox hides .ssh/id:".into())),
        (landlock, denied(".ssh/id"), None),
    ] {
        assert_eq!(said(&world, mechanism, &output, 1), expected, "{mechanism:?}: {output}");
        assert_eq!(said(&world, mechanism, &output, 0), None);
        assert_eq!(said(&world, Mechanism::None, &output, 1), None);
    }
    // Without an execute bit nobody could have run it.
    assert_eq!(said(&world, landlock, &denied(&other), 126), None);
    let text = explain(&world.rules, &report(landlock), &denied(&other), 1, &world.root).unwrap();
    let expected = format!("only below {}.", world.root.join("w").display());
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_network_that_is_open_is_not_to_blame() {
    let world = world();
    let resolve = "curl: (6) Could not resolve host: example.com";
    let refused = "connect to 127.0.0.1 port 80: Connection refused";
    for mechanism in [Mechanism::Landlock, Mechanism::Seccomp, Mechanism::Bubblewrap] {
        assert_eq!(said(&world, mechanism, resolve, 6), Some("The sandbox refused the".into()));
        let open = Report { network: Network::Open, ..report(mechanism) };
        assert_eq!(explain(&world.rules, &open, resolve, 6, &world.root), None);
        assert_eq!(explain(&world.rules, &open, refused, 6, &world.root), None);
        assert_eq!(explain(&world.rules, &open, "", 159, &world.root), None);
        assert_eq!(said(&world, mechanism, "", 159), Some("The sandbox ended a".into()));
    }
    assert_eq!(
        said(&world, Mechanism::Bubblewrap, refused, 1),
        Some("Inside of the sandbox".into())
    );
}

#[test]
fn a_bubble_that_bursts_is_told() {
    let world = world();
    let output = "bwrap: Can't create file at /run/x: Read-only file system\n";
    assert_eq!(
        said(&world, Mechanism::Bubblewrap, output, 1),
        Some("The sandbox could not".into())
    );
    assert_eq!(said(&world, Mechanism::Landlock, output, 1), None);
}

#[test]
fn only_the_end_of_a_long_output_counts() {
    let world = world();
    let line = "curl: (6) Could not resolve host: example.com\n";
    let long = format!("{line}{}", "é\n".repeat(LOOKED_AT));
    assert_eq!(said(&world, Mechanism::Landlock, &long, 1), None);
    let long = format!("{}{line}", "é\n".repeat(LOOKED_AT));
    assert!(said(&world, Mechanism::Landlock, &long, 1).is_some());
}

proptest! {
    #[test]
    fn nothing_upsets_it(output in any::<String>(), code in any::<i32>(), tail in "[/.a'\"é ]{0,30}") {
        let world = world();
        for mechanism in [Mechanism::Landlock, Mechanism::Bubblewrap] {
            let output = format!("{output}\n{tail}: Permission denied {tail}");
            let _ = explain(&world.rules, &report(mechanism), &output, code, &world.root);
        }
    }
}
