//! Files that go to another machine and come back: this one, with another home.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_environments::Synced;
use hermes_exec::environment::{BoxFuture, Close, Environment, Running, Start, StartFailure};
use hermes_exec::local::Local;
use hermes_exec::session::{Foreground, Initial, Session};
use hermes_exec_policy::files::Sources;
use pretty_assertions::assert_eq;

/// This machine with another home, programs that may be replaced, and a record.
struct Other {
    inner: Local,
    starts: Arc<AtomicUsize>,
    scripts: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicUsize>,
}

impl Environment for Other {
    fn kind(&self) -> &'static str {
        "other"
    }

    fn identity(&self) -> String {
        "other machine".to_owned()
    }

    fn temp_dir(&self) -> &str {
        self.inner.temp_dir()
    }

    fn home(&self) -> Option<&str> {
        self.inner.home()
    }

    fn initial_cwd(&self) -> &str {
        self.inner.initial_cwd()
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        self.scripts.lock().unwrap().push(start.script.clone());
        self.inner.start(start)
    }

    fn close(&self, _how: Close) -> BoxFuture<'_, ()> {
        self.closed.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }
}

struct Place {
    dir: tempfile::TempDir,
    synced: Arc<Synced>,
    starts: Arc<AtomicUsize>,
    scripts: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicUsize>,
}

impl Place {
    fn new() -> Self {
        Self::with_sources(|_| {})
    }

    fn with_sources(more: impl Fn(&mut Sources) + Send + Sync + 'static) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = fs::canonicalize(dir.path()).unwrap();
        for folder in ["home/skills/a", "home/cache/web", "there", "bin", "tmp"] {
            fs::create_dir_all(at.join(folder)).unwrap();
        }
        fs::write(at.join("home/skills/a/SKILL.md"), "how to").unwrap();
        fs::write(at.join("home/token.json"), "secret").unwrap();
        fs::write(at.join("home/auth.json"), "never").unwrap();
        let path = format!("{}:/usr/bin:/bin", at.join("bin").display());
        let inner = Local::new(hermes_exec::local::Options {
            env: vec![
                ("PATH".to_owned(), path),
                ("HOME".to_owned(), at.join("there").display().to_string()),
            ],
            cwd: PathBuf::from("/"),
            temp_dir: at.join("tmp"),
            memory_dir: None,
            home: None,
            ..Default::default()
        });
        let other = Other {
            inner,
            starts: Arc::default(),
            scripts: Arc::default(),
            closed: Arc::default(),
        };
        let (starts, scripts, closed) =
            (other.starts.clone(), other.scripts.clone(), other.closed.clone());
        let home = at.join("home");
        let sources = move || {
            let mut sources = Sources {
                home: home.clone(),
                credentials: vec!["token.json".to_owned(), "auth.json".to_owned()],
                external_skills: Vec::new(),
            };
            more(&mut sources);
            sources
        };
        let pauses = [Duration::from_millis(1), Duration::from_millis(1)];
        let synced = Synced::new(Arc::new(other), sources).with_pauses(pauses);
        Self { dir, synced: Arc::new(synced), starts, scripts, closed }
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(path)
    }

    fn there(&self, path: &str) -> PathBuf {
        self.at("there/.hermes").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Puts a script before a program of the same name.
    fn program(&self, name: &str, script: &str) {
        let path = self.at("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    async fn close(&self) {
        self.synced.close(Close::AsConfigured).await;
        assert_eq!(self.closed.load(Ordering::Relaxed), 1);
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| format!("{error:?}"))
}

/// All files below a folder, by their paths.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn commands_find_their_files() {
    let place = Place::new();
    let session = Session::new(place.synced.clone(), Initial::default());
    let command = Foreground::new("cat ~/.hermes/skills/a/SKILL.md ~/.hermes/token.json", "/");
    let mut said = Vec::new();
    let mut take = |bytes: &[u8]| said.extend_from_slice(bytes);
    session.run(command, &mut take, std::future::pending()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&said), "how tosecret");
    assert_eq!(files(&place.there("")), ["skills/a/SKILL.md", "token.json"]);
    let mode = |path: &str| fs::metadata(place.there(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("token.json"), mode("skills/a/SKILL.md")), (0o600, 0o644));
    // Nothing of it is looked at again for a while.
    let starts = place.starts.load(Ordering::Relaxed);
    place.write("home/skills/b.md", "new");
    place.synced.prepare().await.unwrap();
    assert_eq!(place.starts.load(Ordering::Relaxed), starts);
    place.synced.sync(true).await.unwrap();
    assert_eq!(text(&place.there("skills/b.md")), "new");
    // And when nothing changed nothing is sent.
    let starts = place.starts.load(Ordering::Relaxed);
    place.synced.sync(true).await.unwrap();
    assert_eq!(place.starts.load(Ordering::Relaxed), starts);
}

#[tokio::test]
async fn everything_else_is_the_environments_own() {
    let place = Place::new();
    let synced = &*place.synced;
    assert_eq!((synced.kind(), &*synced.identity()), ("other", "other machine"));
    assert_eq!(synced.temp_dir(), place.at("tmp").to_str().unwrap());
    assert_eq!((synced.home(), synced.initial_cwd()), (None, "/"));
    assert!(!synced.shares_files() && synced.shared_folder().is_none());
    // Nothing was sent, so nothing is asked for.
    place.close().await;
    assert_eq!(place.starts.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn what_is_gone_here_goes_there() {
    let place = Place::new();
    place.write("home/skills/it's/deep/er $x.md", "1");
    place.write("home/skills/file", "2");
    place.write("home/cache/web/ -rf", "3");
    place.synced.sync(true).await.unwrap();
    assert_eq!(text(&place.there("skills/it's/deep/er $x.md")), "1");
    fs::write(place.there("skills/it's/own"), "of the other side").unwrap();
    fs::remove_dir_all(place.at("home/skills/it's")).unwrap();
    fs::remove_file(place.at("home/skills/file")).unwrap();
    fs::remove_dir_all(place.at("home/skills/a")).unwrap();
    // A file becomes a folder, and a folder a file.
    place.write("home/skills/file/inner", "4");
    place.write("home/skills/a", "5");
    place.synced.sync(true).await.unwrap();
    assert_eq!(
        files(&place.there("")),
        ["cache/web/ -rf", "skills/a", "skills/file/inner", "skills/it's/own", "token.json"]
    );
}

#[tokio::test]
async fn an_archive_that_is_broken_off_changes_nothing() {
    let place = Place::new();
    place.synced.sync(true).await.unwrap();
    place.write("home/skills/a/SKILL.md", "other text");
    place.write("home/skills/z/big", &"x".repeat(3_000_000));
    fs::remove_file(place.at("home/token.json")).unwrap();
    for tar in [
        "head -c 100000 >/dev/null; kill -9 $$",
        "head -c 2048 | /usr/bin/tar \"$@\"; exit 2",
        // Broken off between two files, which no tar notices.
        "head -c 1024 | /usr/bin/tar \"$@\"",
        "exit 0",
        "cat >/dev/null; echo full >&2; exit 1",
    ] {
        place.program("tar", tar);
        let Err(error) = place.synced.sync(true).await else { panic!("{tar}") };
        assert!(!error.message.is_empty() && error.is_safe_to_retry, "{tar}");
        assert_eq!(text(&place.there("skills/a/SKILL.md")), "how to", "{tar}: {error}");
        assert!(place.there("token.json").exists());
        assert_eq!(files(&place.there("")), ["skills/a/SKILL.md", "token.json"], "{tar}");
    }
    assert!(place.synced.sync(true).await.unwrap_err().message.contains("full"));
    // Commands run all the same, and the next one tries again at once.
    let starts = place.starts.load(Ordering::Relaxed);
    place.synced.prepare().await.unwrap();
    assert_eq!(place.starts.load(Ordering::Relaxed), starts + 1);
    fs::remove_file(place.at("bin/tar")).unwrap();
    place.synced.prepare().await.unwrap();
    assert_eq!(files(&place.there("")), ["skills/a/SKILL.md", "skills/z/big"]);
    assert_eq!(text(&place.there("skills/a/SKILL.md")), "other text");
}

#[tokio::test]
async fn a_call_that_is_given_up_leaves_nothing_behind() {
    let place = Place::new();
    place.program("tar", "sleep 100");
    {
        let mut sync = std::pin::pin!(place.synced.sync(true));
        loop {
            tokio::select! {
                _ = &mut sync => unreachable!("it hangs"),
                () = tokio::time::sleep(Duration::from_millis(10)) => {}
            }
            // It is the second script: the first asks for the home.
            if place.starts.load(Ordering::Relaxed) == 2 {
                break;
            }
        }
    }
    fs::remove_file(place.at("bin/tar")).unwrap();
    place.synced.sync(true).await.unwrap();
    assert_eq!(files(&place.there("")), ["skills/a/SKILL.md", "token.json"]);
}

#[tokio::test]
async fn files_that_change_or_can_t_be_read_do_not_hold_up_the_others() {
    let place = Place::new();
    let path = place.at("home/cache/web/log");
    fs::write(&path, "x".repeat(1 << 20)).unwrap();
    let is_done = Arc::new(AtomicUsize::new(0));
    let writer = std::thread::spawn({
        let (path, is_done) = (path.clone(), is_done.clone());
        move || {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            let mut len = 0;
            while is_done.load(Ordering::Relaxed) == 0 {
                len = (len + 400_000) % 1_200_000;
                file.set_len(len).unwrap();
            }
        }
    });
    for _ in 0..8 {
        place.synced.sync(true).await.unwrap();
        assert_eq!(text(&place.there("skills/a/SKILL.md")), "how to");
    }
    is_done.store(1, Ordering::Relaxed);
    writer.join().unwrap();
    fs::write(&path, "at rest").unwrap();
    place.synced.sync(true).await.unwrap();
    assert_eq!(text(&place.there("cache/web/log")), "at rest");
    assert_eq!(files(&place.there("")).len(), 3);
}

#[tokio::test]
async fn many_commands_look_once() {
    let place = Place::new();
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let synced = place.synced.clone();
            hermes_task::spawn(async move { synced.prepare().await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    // The home, and the files.
    assert_eq!(place.starts.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn many_files_need_few_programs() {
    let place = Place::new();
    let name = "n".repeat(200);
    for n in 0..600 {
        fs::write(place.at("home/cache/web").join(format!("{name}{n}")), "x").unwrap();
    }
    place.synced.sync(true).await.unwrap();
    assert_eq!(files(&place.there("cache/web")).len(), 600);
    fs::remove_dir_all(place.at("home/cache/web")).unwrap();
    place.synced.sync(true).await.unwrap();
    assert_eq!(files(&place.there("")), ["skills/a/SKILL.md", "token.json"]);
    let scripts = place.scripts.lock().unwrap();
    assert!(scripts.iter().all(|script| script.lines().count() < 60));
}

#[tokio::test]
async fn what_changed_there_comes_back() {
    let place = Place::new();
    place.write("home/skills/both.md", "before");
    place.write("home/cache/web/page", "old");
    place.synced.sync(true).await.unwrap();
    fs::write(place.there("skills/a/NEW.md"), "made there").unwrap();
    fs::write(place.there("skills/both.md"), "there").unwrap();
    fs::write(place.there("cache/web/page"), "newer").unwrap();
    fs::write(place.there("token.json"), "stolen").unwrap();
    fs::write(place.there("other.txt"), "stays").unwrap();
    fs::write(place.there("auth.json"), "stays").unwrap();
    place.write("home/skills/both.md", "here, meanwhile");
    // Twice it fails.
    place.program(
        "tar",
        "[ -e ../tried ] 2>/dev/null; case \"$*\" in *-cf*) echo x >>\"$HOME/tries\"; \
         [ $(wc -l <\"$HOME/tries\") -gt 2 ] || { echo no >&2; exit 2; };; esac; \
         exec /usr/bin/tar \"$@\"",
    );
    place.close().await;
    assert_eq!(text(&place.at("there/tries")), "x\nx\nx\n");
    assert_eq!(text(&place.at("home/skills/a/NEW.md")), "made there");
    assert_eq!(text(&place.at("home/cache/web/page")), "newer");
    assert_eq!(text(&place.at("home/skills/both.md")), "there");
    assert_eq!(text(&place.at("home/token.json")), "secret");
    assert_eq!(text(&place.at("home/auth.json")), "never");
    assert!(!place.at("home/other.txt").exists());
    let kept = files(&place.at("home/skills"));
    let kept: Vec<_> = kept.iter().filter(|name| name.starts_with("both.md.host-")).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(text(&place.at("home/skills").join(kept[0])), "here, meanwhile");
    assert!(!files(&place.at("home")).iter().any(|name| name.contains(".sync-")));
}

#[tokio::test]
async fn hostile_archives_do_no_harm() {
    let place = Place::new();
    place.synced.sync(true).await.unwrap();
    let base = place.there("");
    let base = base.to_str().unwrap().trim_end_matches('/').trim_start_matches('/').to_owned();
    let before = files(&place.at("home"));
    // Links, paths that lead out, devices, secrets, and an archive without an end.
    let archive = place.at("evil.tar");
    let mut builder = tar::Builder::new(fs::File::create(&archive).unwrap());
    let mut add = |name: &str, kind: tar::EntryType, link: Option<&str>| {
        let mut header = tar::Header::new_gnu();
        // As bytes: the library refuses such paths.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o777);
        if let Some(link) = link {
            header.set_link_name(link).unwrap();
        }
        let body: &[u8] = if kind == Regular { b"evil" } else { b"" };
        header.set_size(body.len() as u64);
        header.set_cksum();
        builder.append(&header, body).unwrap();
    };
    use tar::EntryType::{Block, Char, Fifo, Link, Regular, Symlink};
    for name in ["skills/../../evil", "../evil", "auth.json", "skills/.hub/lock.json", ".env"] {
        add(&format!("{base}/{name}"), Regular, None);
    }
    add("/etc/evil-of-hermes-tests", Regular, None);
    add(&format!("{base}/token.json"), Regular, None);
    add(&format!("{base}/skills/a/link"), Symlink, Some("/etc"));
    add(&format!("{base}/skills/a/link/evil"), Regular, None);
    add(&format!("{base}/skills/a/SKILL.md"), Link, Some("/etc/passwd"));
    for kind in [Char, Block, Fifo] {
        add(&format!("{base}/skills/a/device"), kind, None);
    }
    builder.into_inner().unwrap();
    place.program("tar", &format!("cat '{}'", archive.display()));
    place.close().await;
    let after = files(&place.at("home"));
    let news: Vec<_> = after.iter().filter(|name| !before.contains(name)).collect();
    // An ordinary file in an ordinary folder, and the lock.
    assert_eq!(news, [".sync.lock", "skills/a/link/evil"]);
    assert!(!Path::new("/etc/evil-of-hermes-tests").exists());
    assert_eq!(text(&place.at("home/token.json")), "secret");
    assert_eq!(text(&place.at("home/skills/a/SKILL.md")), "how to");
}

#[tokio::test]
async fn archives_without_an_end_are_refused() {
    let place = Place::new();
    place.synced.sync(true).await.unwrap();
    fs::write(place.there("skills/a/new.md"), "new").unwrap();
    for tar in [
        // Broken off, and of no use.
        "/usr/bin/tar \"$@\" | head -c 700",
        "/usr/bin/tar \"$@\" | head -c 600; exit 1",
        "echo this is no archive at all, but it is long enough to be one in earnest",
        "/usr/bin/tar \"$@\"; kill -9 $$",
    ] {
        place.program("tar", tar);
        place.synced.close(Close::AsConfigured).await;
        assert!(!place.at("home/skills/a/new.md").exists(), "{tar}");
    }
    // A link in the place of a folder of ours leads nowhere.
    fs::remove_file(place.at("bin/tar")).unwrap();
    fs::create_dir(place.at("outside")).unwrap();
    symlink(place.at("outside"), place.at("home/skills/a/out")).unwrap();
    fs::create_dir_all(place.there("skills/a/out")).unwrap();
    fs::write(place.there("skills/a/out/x"), "x").unwrap();
    place.synced.close(Close::AsConfigured).await;
    assert_eq!(text(&place.at("home/skills/a/new.md")), "new");
    assert!(!place.at("outside/x").exists());
}

#[tokio::test]
async fn files_that_are_declared_later_come_too() {
    let declared = Arc::new(Mutex::new(Vec::new()));
    let later = declared.clone();
    let place = Place::with_sources(move |sources| {
        sources.credentials.extend(later.lock().unwrap().iter().cloned());
    });
    place.write("home/keys/k.json", "k");
    place.synced.sync(true).await.unwrap();
    assert!(!place.there("keys/k.json").exists());
    declared.lock().unwrap().push("keys/k.json".to_owned());
    place.synced.sync(true).await.unwrap();
    assert_eq!(text(&place.there("keys/k.json")), "k");
    declared.lock().unwrap().clear();
    place.synced.sync(true).await.unwrap();
    assert!(!place.there("keys").exists());
}

#[tokio::test]
async fn a_session_leaves_no_files_behind() {
    let place = Place::new();
    let session = Session::new(place.synced.clone(), Initial::default());
    // Nothing was begun, so there is nothing to remove.
    session.close(Close::AsConfigured).await;
    assert_eq!(place.starts.load(Ordering::Relaxed), 0);
    let session = Session::new(place.synced.clone(), Initial::default());
    let command = Foreground::new("export A=1", "/");
    session.run(command, &mut |_| {}, std::future::pending()).await.unwrap();
    assert!(Path::new(session.folder()).is_dir());
    session.close(Close::AsConfigured).await;
    assert!(!Path::new(session.folder()).exists());
    assert_eq!(place.closed.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_session_whose_files_are_gone_begins_anew() {
    let place = Place::new();
    let session = Session::new(place.synced.clone(), Initial::default());
    let run = async |command: &str| {
        let mut said = Vec::new();
        let mut take = |bytes: &[u8]| said.extend_from_slice(bytes);
        let stop = std::future::pending();
        let finished = session.run(Foreground::new(command, "/"), &mut take, stop).await.unwrap();
        (String::from_utf8(said).unwrap(), finished.is_kept, finished.is_new)
    };
    let said = |text: &str, is_kept, is_new| (text.to_owned(), is_kept, is_new);
    assert_eq!(run("export A=1").await, said("", true, false));
    fs::remove_dir_all(session.folder()).unwrap();
    assert_eq!(run("ls -d / $A; export B=2").await, said("/\n", true, true));
    let remove = format!("rm -r {}; echo $B", session.folder());
    assert_eq!(run(&remove).await, said("2\n", false, false));
    assert_eq!(run("ls -d / $B").await, said("/\n", true, true));
    fs::remove_dir_all(session.folder()).unwrap();
    let many: Vec<_> = (0..10).map(|_| run("export C=3; ls -d /")).collect();
    for (text, is_kept, _) in futures_util::future::join_all(many).await {
        assert_eq!((&*text, is_kept), ("/\n", true));
    }
    assert_eq!(run("echo $C").await, said("3\n", true, false));
}
