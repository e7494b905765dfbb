//! Tests of the path rules.

mod inside;
mod names;

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::soft::{SoftGuard, guard};
use super::table::{Base, READ, Row, WRITE, WRITE_SYSTEM};
use super::write::Writer;
use super::*;

fn places(profile: &str) -> Places {
    let home = match profile {
        DEFAULT_PROFILE => PathBuf::from("/home/u/.hermes"),
        name => Path::new("/home/u/.hermes/profiles").join(name),
    };
    Places::new(Some(Path::new("/home/u")), &home)
}

fn at(path: &str) -> Target {
    Target::unresolved(Path::new(path))
}

fn read(path: &str) -> Option<Class> {
    read::denied(&places("work"), &at(path))
}

fn write(path: &str) -> Option<Class> {
    write::denied(&places("work"), &at(path), Writer::FileTool)
}

/// A path of each place that a row is about.
fn spelt(row: &Row) -> Vec<String> {
    let bases: &[&str] = match row.base {
        Base::Home => &["/home/u"],
        Base::Hermes => &[
            "/home/u/.hermes",
            "/home/u/.hermes/profiles/work",
            "/home/u/.hermes/profiles/other",
            "/proc/self/root/home/u/.hermes",
            "/proc/7/task/8/root/home/u/x/../.hermes",
        ],
        Base::Active => &["/home/u/.hermes/profiles/work"],
        Base::Root => &[""],
    };
    bases.iter().map(|base| format!("{base}/{}", row.path)).collect()
}

#[test]
fn every_row_protects_its_file_and_no_sibling() {
    let by_read: fn(&str) -> Option<Class> = read;
    for (rows, denied) in [(READ, by_read), (WRITE, write), (WRITE_SYSTEM, write)] {
        for row in rows {
            for path in spelt(row) {
                assert!(denied(&path).is_some(), "{path}");
                // Below a file, no more is protected than below its sibling.
                let sibling = denied(&format!("{path}x/below"));
                let below = denied(&format!("{path}/below"));
                assert_eq!(below.is_some(), row.tree || sibling.is_some(), "{path}");
            }
        }
    }
    for sibling in
        ["/home/u/.sshx/file", "/home/u/.awsx", "/etcetera/x", "/bootx", "/runx/docker.sock"]
    {
        assert_eq!(write(sibling), None, "{sibling}");
    }
}

#[test]
fn read_classes() {
    use Class::{Credential, Process, Untrusted};
    for (path, expected) in [
        ("/w/.env", Some(Credential)),
        ("/w/.ENV.Local", Some(Credential)),
        ("/w/.env.anything", Some(Credential)),
        ("/w/.env.example.local", Some(Credential)),
        ("/w/.env.local.example", None),
        ("/w/.env.EXAMPLE", None),
        ("/w/.env.sample", None),
        ("/w/.env.template", None),
        ("/w/.env.dist", None),
        ("/w/.envrc", Some(Credential)),
        ("/w/.envoy", None),
        ("/w/env", None),
        ("/w/.env/pyvenv.cfg", None),
        ("/w/auth.json", None),
        ("/home/u/.hermes/mcp-tokens2", None),
        ("/home/u/.hermes/skills/.hub/a", Some(Untrusted)),
        ("/home/u/.hermes/skills/.hubx/a", None),
        ("/home/u/.hermes/skills/foo/SKILL.md", None),
        ("/home/u/.hermes/config.yaml", None),
        ("/home/u/.hermes/auth/other.json", None),
        ("/home/u/.hermes/profiles/x/auth.json", Some(Credential)),
        ("/home/u/.hermes/profiles/auth.json", None),
        ("/home/u/.ssh/id_rsa", Some(Credential)),
        ("/root/.ssh/id_ed25519", Some(Credential)),
        ("/home/u/.ssh/id_rsa.pub", None),
        ("/home/u/.ssh/config", None),
        ("/home/u/.ssh/known_hosts", None),
        ("/home/u/src/id_map.rs", None),
        ("/etc/ssh/ssh_host_rsa_key", Some(Credential)),
        ("/etc/ssh/ssh_host_rsa_key.pub", None),
        ("/etc/ssh/sshd_config", None),
        ("/etc/passwd", None),
        ("/home/u/.aws/config", None),
        ("/w/.npmrc", None),
        ("/proc/self/environ", Some(Process)),
        ("/proc/self/root/proc/1/environ", Some(Process)),
        ("/proc/self/root/../proc/1/task/2/environ", Some(Process)),
        ("/proc/self/status", None),
        ("/proc/cmdline", None),
    ] {
        assert_eq!(read(path), expected, "{path}");
    }
}

#[test]
fn write_classes() {
    use Class::{Credential, Session, System};
    for (path, expected) in [
        ("/home/u/.ssh/config", Some(Credential)),
        ("/home/u/project/../.ssh/config", Some(Credential)),
        ("/home/u/.ssh", Some(Credential)),
        ("/etc/passwd", Some(Credential)),
        ("/etc/sudoers.d/x", Some(Credential)),
        ("/etc/systemd/system/x.service", Some(Credential)),
        ("/etc/hosts", Some(System)),
        ("/private/var/db/x", Some(System)),
        ("/private/var/folders/ab/T/x", None),
        ("/private/var/foldersx", Some(System)),
        ("/var/run/docker.sock", Some(System)),
        ("/var/run/docker.sock2", None),
        ("/home/u/.hermes/state.db", Some(Session)),
        ("/home/u/.hermes/state.db-wal", Some(Session)),
        ("/home/u/.hermes/sessions/a/b.json", Some(Session)),
        ("/home/u/.hermes/profiles/work/config.yaml", Some(System)),
        ("/home/u/.hermes/shell-hooks-allowlist.json", Some(System)),
        ("/home/u/.hermes/logs/tool-calls.jsonl", Some(System)),
        ("/home/u/.hermes/config.yaml", None),
        ("/home/u/.hermes/memories/M.md", None),
        ("/w/.env", None),
        ("/w/.npmrc", None),
    ] {
        assert_eq!(write(path), expected, "{path}");
    }
    let any = |path| write::denied(&places("work"), &at(path), Writer::Any);
    assert_eq!(any("/etc/hosts"), None);
    assert_eq!(any("/etc/passwd"), Some(Credential));
}

#[test]
fn writes_stay_in_the_safe_roots() {
    let with = |list: &str| places(DEFAULT_PROFILE).with_safe_roots(list, Path::new("/w"));
    for (list, path, expected) in [
        ("/home/u/proj:/opt/data", "/opt/data/x", None),
        ("/home/u/proj:/opt/data", "/opt/data", None),
        ("/home/u/proj:/opt/data", "/opt/database", Some(Class::SafeRoot)),
        ("/home/u/proj/", "/home/u/proj/../other", Some(Class::SafeRoot)),
        ("~/proj", "/home/u/proj/x", None),
        ("~", "/home/u/.ssh/config", Some(Class::Credential)),
        ("sub", "/w/sub/x", None),
        ("sub", "/w/x", Some(Class::SafeRoot)),
        (" ", "/anywhere", None),
        ("", "/anywhere", None),
        (":", "/anywhere", Some(Class::SafeRoot)),
        ("/", "/anywhere", None),
    ] {
        let found = write::denied(&with(list), &at(path), Writer::FileTool);
        assert_eq!(found, expected, "{list:?} {path}");
    }
    // Where the links lead counts, and a root may be a link too.
    let links =
        |path: &Path| Ok((path == Path::new("/opt/data")).then(|| PathBuf::from("/mnt/data")));
    let places = with("/opt/data").resolved(links);
    let denied = |given: &str, real: &str| {
        write::denied(&places, &Target::new(Path::new(given), Path::new(real)), Writer::Any)
    };
    assert_eq!(denied("/opt/data/x", "/mnt/data/x"), None);
    assert_eq!(denied("/elsewhere/x", "/mnt/data/x"), None);
    assert_eq!(denied("/opt/data/link", "/var/x"), Some(Class::SafeRoot));
}

#[test]
fn links_to_and_of_protected_places_are_seen() {
    let links = |path: &Path| {
        let target = match path.to_str() {
            Some("/home/u/.ssh") => "/mnt/keys",
            Some("/home/u/.hermes") => "../../data/hermes",
            Some("/data/hermes/mcp-tokens") => "tokens",
            _ => return Ok(None),
        };
        Ok(Some(PathBuf::from(target)))
    };
    let places = places("work").resolved(links);
    let write = |path: &str| write::denied(&places, &at(path), Writer::FileTool);
    assert_eq!(write("/mnt/keys/config"), Some(Class::Credential));
    assert_eq!(write("/mnt/keysx/config"), None);
    assert_eq!(write("/data/hermes/tokens/x"), Some(Class::Credential));
    assert_eq!(write("/data/hermes/profiles/other/.env"), Some(Class::Credential));
    assert_eq!(write("/data/hermes/profiles/work/config.yaml"), Some(Class::System));
    assert_eq!(read::denied(&places, &at("/data/hermes/auth.json")), Some(Class::Credential));
    // Any name on the way counts.
    let target = at("/w/x").with_name(Path::new("/home/u/.hermes/.env"));
    assert_eq!(read::denied(&places, &target), Some(Class::Credential));
}

#[test]
fn letter_case_counts_where_the_file_system_says_so() {
    let folded = places(DEFAULT_PROFILE).case_folded();
    let denied = |places: &Places, path| write::denied(places, &at(path), Writer::FileTool);
    assert_eq!(denied(&folded, "/Home/U/.SSH/x"), Some(Class::Credential));
    assert_eq!(read::denied(&folded, &at("/home/u/.azure/accesstokens.JSON")), {
        Some(Class::Credential)
    });
    if cfg!(target_os = "linux") {
        assert_eq!(denied(&places(DEFAULT_PROFILE), "/home/u/.SSH/x"), None);
    }
}

#[test]
fn soft_guards() {
    let kind =
        |profile: &str, path: &str| guard(&places(profile), &at(path)).map(|guard| guard.name());
    let (cross, mirror) = (Some("cross_profile"), Some("sandbox_mirror"));
    for (profile, path, expected) in [
        ("default", "/home/u/.hermes/skills/a/SKILL.md", None),
        ("default", "/home/u/.hermes/profiles/work/skills/a/SKILL.md", cross),
        ("default", "/home/u/.hermes/profiles/work/plugins", cross),
        ("default", "/home/u/.hermes/profiles/work/cron/j.json", cross),
        ("default", "/home/u/.hermes/profiles/work/memories/M.md", cross),
        ("default", "/home/u/.hermes/profiles/work/notes.md", None),
        ("default", "/home/u/.hermes/profiles/work/skillsx/a", None),
        ("work", "/home/u/.hermes/profiles/work/skills/a", None),
        ("work", "/home/u/.hermes/skills/a", cross),
        ("work", "/home/u/.hermes/profiles/other/skills/a", cross),
        ("work", "/home/u/.hermes/profiles/work/../other/skills/a", cross),
        ("work", "/proc/self/root/home/u/.hermes/skills/a", cross),
        ("work", "/home/u/.hermes/sandboxes/docker/t1/home/.hermes/memories/M.md", mirror),
        ("work", "/x/sandboxes/docker/t1/home/.hermes/x", mirror),
        ("work", "/x/sandboxes/docker/t1/home/.hermes", None),
        ("work", "/x/sandboxes/docker/home/.hermes/x", None),
        ("work", "/x/sandboxes/docker/t1/home/x", None),
        ("work", "/root/.hermes/skills/a", None),
        ("work", "/w/x", None),
    ] {
        assert_eq!(kind(profile, path), expected, "{profile} {path}");
    }
    let container = places("work").in_container();
    let found = guard(&container, &at("/root/.hermes/skills/a")).unwrap();
    assert_eq!((found.name(), found.active()), ("sandbox_mirror", "work"));
    let found = guard(&places("work"), &at("/home/u/.hermes/skills/a")).unwrap();
    assert_eq!(
        found,
        SoftGuard::CrossProfile { active: "work".into(), target: "default".into(), area: "skills" }
    );
    let message = found.message("x", "cross_profile");
    for part in ["work", "default", "skills", "terminal", "cross_profile"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn messages_say_what_they_are_worth() {
    use Class::{Credential, Process, SafeRoot, Session, System, Untrusted};
    for class in [Credential, Untrusted, Process, Session, System, SafeRoot] {
        for message in [read::message(class, "/x"), write::message(class, "/x")] {
            assert!(message.contains("/x") && message.contains("no boundary"), "{message}");
        }
    }
}

proptest! {
    #[test]
    fn no_path_is_too_odd(path in "[/.a~\\\\\\PC]{0,40}|(/|\\.\\.|proc|self|root|dev|zero|\\.env|task|7){0,20}") {
        let target = at(&path);
        let places = places("work").with_safe_roots("/w", Path::new("/"));
        let _ = read::denied(&places, &target);
        let _ = write::denied(&places, &target, Writer::FileTool);
        let _ = guard(&places, &target);
        let _ = devices::is_blocked(Path::new(&path));
        let _ = binary::has_binary_extension(&path);
        let _ = within::has_traversal(&path);
        prop_assert_eq!(lexical(&lexical(Path::new(&path))), lexical(Path::new(&path)));
    }

    #[test]
    fn neither_dots_nor_links_lead_inside_what_is_protected(
        parts in proptest::collection::vec("\\.|\\.\\.|a|b|\\.ssh|etc", 0..8),
    ) {
        // Whatever the spelling, it is denied if the kernel would end up there.
        let path = format!("/home/u/{}/x", parts.join("/"));
        let mut stack = vec!["home", "u"];
        for part in &parts {
            match part.as_str() {
                "." => {}
                ".." => { stack.pop(); }
                name => stack.push(name),
            }
        }
        stack.push("x");
        let protected = stack.starts_with(&["home", "u", ".ssh"]) || stack.starts_with(&["etc"]);
        prop_assert_eq!(write(&path).is_some(), protected, "{}", path);
    }
}
