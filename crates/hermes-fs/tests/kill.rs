//! Processes that are killed while they write, and disks that are full.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests aren't seen as tests")]
#![expect(clippy::indexing_slicing, reason = "helpers of tests aren't seen as tests")]
#![expect(clippy::print_stdout, reason = "tells what was found and what was left out")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_fs::{FileBackend, LocalFs, Move, Old, Plan, Removal, Stat, Write};
use pretty_assertions::assert_eq;

/// How many processes are killed; more with the variable `HERMES_KILLS`.
const KILLS: u64 = 200;
/// In which folder a child works.
const CHILD: &str = "HERMES_FS_TEST_CHILD";

#[expect(clippy::disallowed_methods, reason = "how a test tells its children what to do")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[expect(clippy::disallowed_methods, reason = "this needs processes of its own to kill")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

fn child(test: &str, root: &Path) -> Child {
    let mut command = command(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, root);
    command.stdout(Stdio::null()).spawn().unwrap()
}

fn local(root: &Path) -> LocalFs {
    LocalFs::default().with_staging(root.join("staging"))
}

fn stat(path: &Path) -> Option<Stat> {
    LocalFs::default().stat(path, &|| true).ok()
}

fn commit(local: &LocalFs, plan: &Plan) {
    let moves = plan.moves.iter().flat_map(|it| [&it.from, &it.to]);
    let paths = plan.removals.iter().map(|it| &it.path).chain(moves);
    let paths = paths.chain(plan.writes.iter().map(|it| &it.path)).cloned().collect();
    local.hold(paths, &|| true).unwrap().commit(plan).unwrap();
}

fn write(path: PathBuf, bytes: Vec<u8>) -> Write {
    let stat = stat(&path);
    let old = stat.clone().map(|stat| Old { stat, bytes: None });
    Write { like: stat.map(|stat| (path.clone(), stat)), old, path, bytes }
}

/// What a file holds in a round: one line again and again.
fn text(round: u64) -> Vec<u8> {
    format!("{round:07}\n").repeat(500 + usize::try_from(round % 7).unwrap() * 2000).into_bytes()
}

/// The round of a file, which is whole.
fn round(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap();
    let round = std::str::from_utf8(&bytes[..7]).unwrap().parse().unwrap();
    assert!(bytes == text(round), "{} is a mixture", path.display());
    round
}

/// The plan that leads from one round to the next. Two files are always there, one of them in a
/// folder; one has two names; one changes its name, and one is there in every second round.
fn plan(user: &Path, next: u64) -> Plan {
    let at = |name: &str| user.join(name);
    let (from, to) = if next.is_multiple_of(2) { ("odd", "even") } else { ("even", "odd") };
    let mut plan = Plan {
        moves: vec![Move { old: stat(&at(from)), from: at(from), to: at(to) }],
        ..Plan::default()
    };
    plan.writes = ["a", "d/b", "linked"].map(|name| write(at(name), text(next))).into();
    if next.is_multiple_of(2) {
        plan.removals.push(Removal { old: stat(&at("new/c")), path: at("new/c") });
    } else {
        plan.writes.push(write(at("new/c"), text(next)));
    }
    plan
}

fn set_up(user: &Path) {
    for folder in ["d", "new"] {
        fs::create_dir_all(user.join(folder)).unwrap();
    }
    for name in ["single", "a", "d/b", "linked", "even"] {
        fs::write(user.join(name), text(0)).unwrap();
    }
    fs::hard_link(user.join("linked"), user.join("second")).unwrap();
}

/// All files below a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        let name = name.into_string().unwrap();
        if path.is_dir() {
            names.extend(self::names(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

#[test]
fn writing() {
    let Some(root) = variable(CHILD).map(PathBuf::from) else { return };
    let (local, user) = (local(&root), root.join("user"));
    drop(local.hold([].into(), &|| true).unwrap());
    for next in round(&user.join("a")) + 1.. {
        let single = write(user.join("single"), text(next));
        commit(&local, &Plan { writes: vec![single], ..Plan::default() });
        commit(&local, &plan(&user, next));
    }
}

/// Kills a child again and again, each after at most so many microseconds.
fn kill(root: &Path, kills: u64, longest: u64) {
    let (user, staging) = (root.join("user"), root.join("staging"));
    fs::create_dir_all(&user).unwrap();
    set_up(&user);
    // The content of a single file has a name for a moment beside it, where it must.
    let apart = staging.is_symlink();
    let all = ["a", "d/b", "even", "linked", "new/c", "odd", "second", "single"];
    let user_names = || {
        let mut names = names(&user);
        names.retain(|name| !apart || name.len() != ".hermes-.tmp".len() + 16);
        names
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut random = u64::from(now.subsec_nanos()) | 1;
    let mut cut = BTreeMap::new();
    let (mut rounds, mut last) = (0, 0);
    for kill in 0..kills {
        let mut child = child("writing", root);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(8_000 + random % longest));
        child.kill().unwrap();
        child.wait().unwrap();

        round(&user.join("single"));
        for name in user_names() {
            let known = all.contains(&name.as_str()) || apart;
            assert!(known, "{name} is left after kill {kill}");
        }
        if staging.exists() {
            for name in names(&staging) {
                if let Some((_, kind)) = name.rsplit_once('.') {
                    *cut.entry(kind.to_owned()).or_insert(0) += 1;
                }
            }
        }
        drop(local(root).hold([].into(), &|| true).unwrap());
        if staging.exists() {
            assert_eq!(names(&staging), [""; 0], "after kill {kill}");
        }
        let now = round(&user.join("a"));
        for name in ["d/b", "linked", "second"] {
            assert_eq!(round(&user.join(name)), now, "{name} after kill {kill}");
        }
        let mut expected = vec!["a", "d/b", "linked", "second", "single"];
        expected.extend(if now.is_multiple_of(2) { &["even"][..] } else { &["new/c", "odd"] });
        expected.sort_unstable();
        assert_eq!(user_names(), expected, "after kill {kill}, in round {now}");
        rounds += u64::from(now > last);
        last = now;
    }
    println!("{kills} kills, {rounds} with a new round of {last}; cut off in between: {cut:?}");
}

#[test]
fn a_killed_process_leaves_the_old_or_the_new_and_no_litter() {
    let kills = variable("HERMES_KILLS").and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    // In memory there is no waiting for the disk: more kills fall between two steps.
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        println!("there is no file system in memory: all on the disk");
        return kill(&root, kills, 80_000);
    };
    let [near, apart] = ["near", "apart"].map(|name| memory.path().join(name));
    kill(&root.join("disk"), kills / 4, 80_000);
    kill(&near, kills / 2, 20_000);
    fs::create_dir_all(&apart).unwrap();
    fs::create_dir(root.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(root.join("elsewhere"), apart.join("staging")).unwrap();
    kill(&apart, kills / 4, 40_000);
}

#[test]
fn filling_the_disk() {
    let Some(root) = variable(CHILD).map(PathBuf::from) else { return };
    let other = tempfile::tempdir().unwrap();
    let elsewhere = LocalFs::default().with_staging(other.path().join("staging"));
    for local in [LocalFs::default(), local(&root), elsewhere] {
        let user = root.join("user");
        fs::create_dir(&user).unwrap();
        for name in ["a", "b", "c"] {
            fs::write(user.join(name), name.repeat(1000)).unwrap();
        }
        let contents = || ["a", "b", "c"].map(|name| fs::read(user.join(name)).unwrap());
        let before = contents();
        let mut plan = Plan::default();
        for (name, len) in [("a", 10_000), ("new/d", 10_000), ("b", 900_000), ("c", 900_000)] {
            plan.writes.push(write(user.join(name), vec![b'x'; len]));
        }
        let paths = || plan.writes.iter().map(|write| write.path.clone()).collect();
        let err = local.hold(paths(), &|| true).unwrap().commit(&plan).unwrap_err();
        assert!(err.cause.to_string().contains("space"), "{err:?}");
        assert_eq!((err.left, contents()), (Vec::new(), before));
        assert_eq!(names(&user), ["a", "b", "c"]);
        assert!(!user.join("new").exists());
        for staging in [root.join("staging"), other.path().join("staging")] {
            assert!(!staging.exists() || names(&staging).is_empty());
        }
        plan.writes.truncate(3);
        commit(&local, &plan);
        assert_eq!(names(&user), ["a", "b", "c", "new/d"]);
        fs::remove_dir_all(&user).unwrap();
    }
    println!("filled");
}

#[test]
fn a_full_disk_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=1500k none \"$1\" || exit 9; shift; exec \"$@\"";
    let mut command = command("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(dir.path());
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "filling_the_disk", "--nocapture"]).env(CHILD, dir.path());
    match command.output() {
        Ok(out) if out.status.success() => {
            assert!(String::from_utf8_lossy(&out.stdout).contains("filled"));
        }
        Ok(out) if matches!(out.status.code(), Some(1 | 9)) => {
            println!("skipped: no file system can be mounted here");
        }
        Ok(out) => panic!("{out:?}"),
        Err(err) => println!("skipped: {err}"),
    }
}
