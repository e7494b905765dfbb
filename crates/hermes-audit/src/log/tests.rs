//! Tests of appending.

use std::collections::HashSet;
use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;
use tempfile::TempDir;

use super::*;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs/tool-calls.jsonl");
    (folder, path)
}

/// The records of all files, the oldest first.
fn records(path: &Path) -> Vec<Value> {
    let aside = |number: u32| crate::file::with_suffix(path, &format!(".{number}"));
    let numbers = (1..).take_while(|number| aside(*number).exists()).count() as u32;
    let files = (1..=numbers).rev().map(aside).chain([path.to_owned()]);
    let texts = files.filter_map(|file| fs::read_to_string(file).ok());
    let lines = texts.flat_map(|text| {
        assert!(text.is_empty() || text.ends_with('\n'));
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

/// Several handles with several threads each, as processes would have them.
fn write_all(path: &Path, limits: Limits, handles: u64, each: u64) {
    thread::scope(|scope| {
        for handle in 0..handles {
            let log = AuditLog::new(path, limits);
            scope.spawn(move || {
                thread::scope(|scope| {
                    for half in 0..2 {
                        let log = &log;
                        scope.spawn(move || {
                            for at in 0..each / 2 {
                                let writer = handle * 2 + half;
                                log.append(&json!({"writer": writer, "at": at})).unwrap();
                            }
                        });
                    }
                });
            });
        }
    });
}

#[test]
fn nothing_is_lost_over_many_rotations() {
    let (_folder, path) = folder();
    let limits = Limits { max_bytes: 4096, keep: 1000 };
    write_all(&path, limits, 4, 5_000);
    let records = records(&path);
    assert_eq!(records.len(), 20_000);
    let distinct: HashSet<String> = records.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), 20_000);
    for entry in fs::read_dir(path.parent().unwrap()).unwrap() {
        assert!(entry.unwrap().metadata().unwrap().len() <= 4096);
    }
}

#[test]
fn only_the_oldest_go() {
    let (_folder, path) = folder();
    write_all(&path, Limits { max_bytes: 2048, keep: 3 }, 3, 1_000);
    assert!(!crate::file::with_suffix(&path, ".4").exists());
    let mut next = std::collections::HashMap::new();
    for record in records(&path) {
        let at = record["at"].as_u64().unwrap();
        let expected = next.entry(record["writer"].as_u64().unwrap()).or_insert(at);
        assert_eq!(*expected, at, "no gaps");
        *expected += 1;
    }
    assert!(next.values().all(|end| *end == 500));
}

#[test]
fn files_are_put_aside_in_order() {
    let (_folder, path) = folder();
    let line = json!("x").to_string().len() as u64 + 1;
    for (keep, expected) in [(0, vec![3]), (1, vec![2, 3]), (2, vec![1, 2, 3])] {
        let log = AuditLog::open(&path, Limits { max_bytes: line, keep }).unwrap();
        for at in 0..4 {
            log.append(&json!(at)).unwrap();
        }
        let found: Vec<_> = records(&path).iter().filter_map(Value::as_u64).collect();
        assert_eq!(
            found.iter().rev().take(expected.len()).rev().copied().collect::<Vec<_>>(),
            expected
        );
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}

#[test]
fn a_torn_line_is_ended() {
    let (_folder, path) = folder();
    let log = AuditLog::open(&path, Limits::default()).unwrap();
    fs::write(&path, "{\"whole\":1}\n{\"torn").unwrap();
    log.append(&json!({"next": 1})).unwrap();
    log.append(&json!({"text": "two\nlines"})).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\"whole\":1}\n{\"torn\n{\"next\":1}\n{\"text\":\"two\\nlines\"}\n"
    );
}

#[test]
fn a_file_that_goes_away_is_made_again() {
    let (_folder, path) = folder();
    let log = AuditLog::open(&path, Limits::default()).unwrap();
    log.append(&json!(1)).unwrap();
    fs::rename(&path, path.with_extension("old")).unwrap();
    log.append(&json!(2)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "2\n");
    fs::remove_file(&path).unwrap();
    log.append(&json!(3)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "3\n");
}

#[test]
fn failures_are_given_once_and_pass() {
    let (_folder, path) = folder();
    let log = AuditLog::open(&path, Limits::default()).unwrap();
    assert!(log.record(&json!(1)).is_none());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(log.record(&json!(2)).is_some());
    assert!(log.record(&json!(3)).is_none());
    assert!(log.append(&json!(4)).is_err(), "this one always tells");
    fs::remove_dir(&path).unwrap();
    assert!(log.record(&json!(5)).is_none());
    assert_eq!(fs::read_to_string(&path).unwrap(), "5\n");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(log.record(&json!(6)).is_some());
    assert!(AuditLog::open(&path, Limits::default()).is_err());
}

#[test]
fn long_records_are_refused() {
    let (_folder, path) = folder();
    let log = AuditLog::open(&path, Limits { max_bytes: 10, keep: 1 }).unwrap();
    let text = |length: usize| Value::from("x".repeat(length));
    assert!(log.append(&text(LONGEST_RECORD - 2)).is_err());
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    log.append(&text(LONGEST_RECORD - 3)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), LONGEST_RECORD as u64);
}

#[test]
fn waiting_for_one_who_sleeps_ends() {
    let (_folder, path) = folder();
    let log = AuditLog::open(&path, Limits { max_bytes: 1, keep: 1 }).unwrap();
    log.append(&json!(1)).unwrap();
    let other = open_lock(&path).unwrap();
    other.lock().unwrap();
    log.append(&json!(2)).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\n");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_folder, path) = folder();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let limits = Limits { max_bytes: 1, keep: 1 };
    let log = AuditLog::open(&path, limits).unwrap();
    log.append(&json!(1)).unwrap();
    log.append(&json!(2)).unwrap();
    for file in [path.clone(), crate::file::with_suffix(&path, ".1")] {
        assert_eq!(mode(&file), 0o600);
    }
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    AuditLog::open(&path, limits).unwrap();
    assert_eq!(mode(&path), 0o600);
    // A link is refused.
    let link = path.with_extension("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(AuditLog::open(&link, limits).is_err());
}
