//! Searches: the same as on the host.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hermes_fs::search::{ContentQuery, Excerpt, FileQuery, Glob, Limit, Pattern, Row, Unit};
use hermes_fs::{FileBackend, LocalFs};
use hermes_guard::paths::Places;
use pretty_assertions::assert_eq;

use crate::World;
use crate::looking::ODD_NAMES;

const GO: &(dyn Fn() -> bool + Sync) = &|| true;

fn show(line: &[u8], found: usize) -> Excerpt {
    let text = String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']).to_owned();
    Excerpt { text, column: (found > 0).then_some(found) }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

type Lines = Vec<(PathBuf, u64, Vec<Row>)>;

fn search(fs: &dyn FileBackend, root: &Path, pattern: &str, glob: Option<&str>) -> Lines {
    let places = Places::new(Some(Path::new("/home/u")), Path::new("/home/u/.hermes"));
    let glob = glob.map(|glob| Glob::new(root, glob).unwrap());
    let query = ContentQuery {
        root,
        pattern: &Pattern::new(pattern).unwrap(),
        glob: glob.as_ref(),
        context: 1,
        unit: Unit::Lines,
        cap: 1000,
        places: &places,
        show,
        deadline: soon(),
    };
    let scan = fs.scan(&query, GO).unwrap();
    assert_eq!((scan.limit, scan.unreadable), (None, 0));
    let hits = scan.hits.iter();
    hits.map(|hit| {
        let rows = fs.rows(&query, hit, 0, 1000, GO).unwrap();
        (hit.path.clone(), hit.count, rows)
    })
    .collect()
}

fn tree(root: &Path) {
    let write = |name: &[u8], content: &[u8]| {
        let path = root.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    for name in ODD_NAMES {
        write(&[b"odd/", name].concat(), b"needle\n");
    }
    fs::create_dir_all(root.join(".git/info")).unwrap();
    fs::write(root.join(".git/info/exclude"), "excluded\n").unwrap();
    write(b".gitignore", b"*.log\nbuild/\n!keep.log\n");
    write(b"src/.ignore", b"generated.rs\n");
    for name in [
        "a.log",
        "keep.log",
        "build/x",
        "excluded",
        "src/generated.rs",
        "src/main.rs",
        ".hidden/x",
        ".env",
        "src/deep/er/x.rs",
        "a:12:b.txt",
    ] {
        write(name.as_bytes(), b"first\nneedle one\n-v needle two\nlast\n");
    }
    write(b"crlf", b"a\r\nneedle\r\nb needle\r\n");
    write(b"nul", b"needle\n\0");
    let mut far = b"needle\n".repeat(15_000);
    far.push(0);
    write(b"far-nul", &far);
    write(b"latin", b"caf\xE9 needle\n");
    write(b"utf16", b"\xFF\xFEn\0e\0e\0d\0l\0e\0\n\0");
    write(b"key.pem", b"-----BEGIN PRIVATE KEY-----\nneedle\n");
    write(b"cert.pem", b"-----BEGIN CERTIFICATE-----\nneedle\n");
}

#[test]
fn lines_are_those_that_the_host_finds() {
    let world = World::new();
    world.each(|fs, root| {
        tree(root);
        for (pattern, path, glob) in [
            ("needle", ".", None),
            ("^needle$", ".", None),
            ("(?i)NEEDLE (one|two)", ".", None),
            ("-v", ".", None),
            ("--pre=id", ".", None),
            (r"\bneedle\b", "src", None),
            (r"é|\d", ".", None),
            ("needle one\\n-v", ".", None),
            ("", "src", None),
            (".", "odd", None),
            ("a'b|ne+dle", ".", None),
            ("-ä|-v|\u{fffd}", ".", None),
            ("needle", ".", Some("*.rs")),
            ("needle", ".", Some("!*.rs")),
            ("needle", ".", Some("*.log")),
            ("needle", ".", Some("src/**/*.rs")),
            ("needle", ".", Some(".env*")),
            ("needle", "build", None),
            ("needle", ".hidden", None),
            ("needle", "src/main.rs", None),
            ("needle", "nul", None),
            ("nee\0dle|needle", "src", None),
            ("(|needle)\\$HOME", ".", None),
        ] {
            let path = root.join(path);
            let path: PathBuf = path.components().collect();
            let there = search(fs, &path, pattern, glob);
            let here = search(&LocalFs::default(), &path, pattern, glob);
            assert_eq!(there, here, "{pattern} {path:?} {glob:?}");
        }
    });
}

#[test]
fn files_are_those_that_the_host_finds() {
    let world = World::new();
    world.each(|fs, root| {
        tree(root);
        for path in [".", "src", "build", ".hidden", "a.log", "odd"] {
            let path: PathBuf = root.join(path).components().collect();
            let find = |fs: &dyn FileBackend| {
                let query = FileQuery { root: &path, glob: None, deadline: soon() };
                let mut files = fs.files(&query, GO).unwrap();
                assert_eq!(files.limit, None);
                files.entries.sort_by(|a, b| a.path.cmp(&b.path));
                fs.date(&mut files.entries, GO).unwrap();
                files.entries
            };
            assert_eq!(find(fs), find(&LocalFs::default()), "{path:?}");
        }
    });
}

#[test]
fn secrets_are_counted_and_the_cap_is_kept() {
    let world = World::new();
    world.each(|fs, root| {
        tree(root);
        let places = Places::default();
        let pattern = Pattern::new("needle").unwrap();
        let mut query = ContentQuery {
            root,
            pattern: &pattern,
            glob: Some(&Glob::new(root, "*.pem").unwrap()),
            context: 0,
            unit: Unit::Lines,
            cap: 1000,
            places: &places,
            show,
            deadline: soon(),
        };
        let scan = fs.scan(&query, GO).unwrap();
        assert_eq!((scan.lines(), scan.omitted), (1, 1));
        (query.glob, query.cap) = (None, 5);
        let scan = fs.scan(&query, GO).unwrap();
        assert_eq!((scan.lines(), scan.limit), (5, Some(Limit::Cap)));
        query.unit = Unit::Files;
        assert_eq!(fs.scan(&query, GO).unwrap().hits.len(), 5);
        let missing = root.join("missing");
        query.root = &missing;
        assert!(fs.scan(&query, GO).is_err());
    });
}

#[test]
fn what_the_kernel_shows_is_searched_only_where_a_file_is_named() {
    let world = World::new();
    world.each(|fs, _| {
        assert_eq!(search(fs, Path::new("/proc/sys"), ".", None), []);
        assert_eq!(search(fs, Path::new("/proc/version"), "^Linux", None).len(), 1);
    });
}
