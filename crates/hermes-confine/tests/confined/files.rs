//! What may be changed and what may not.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use hermes_confine::{Filesystem, Mechanism, Rules};

use crate::world::{World, choose, each, refused, run, works};

/// Nothing was changed in the closed folder.
fn is_as_it_was(world: &World) {
    let names: Vec<_> = fs::read_dir(world.root.join("other")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(fs::read(world.root.join("other/old")).unwrap(), b"old");
}

#[test]
fn inside_everything_is_as_ever() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        assert_eq!(confinement.report().filesystem, Filesystem::Enforced);
        works(
            &confinement,
            world,
            "set -e; echo a > a; mkdir -p d/e; mv a d/e/b; ln d/e/b c; ln -s d/e/b l; cat l; \
             mkfifo p; truncate -s 0 c; chmod 600 c; touch -d 2001-01-01 c; rm -r d c l p",
        );
        let text = works(
            &confinement,
            world,
            "cat ../other/old; ls /etc >/dev/null; head -1 /proc/self/stat >/dev/null",
        );
        assert_eq!(text, "old");
        is_as_it_was(world);
    });
}

#[test]
fn outside_nothing_is_changed() {
    each(|_, probe, world| {
        symlink(world.root.join("other"), world.root.join("w/link")).unwrap();
        let confinement = choose(&world.rules(), probe);
        for script in [
            "touch ../other/new",
            "echo x > ../other/new",
            "echo x > link/new",
            "echo x > ../other/old",
            "echo x >> ../other/old",
            "truncate -s 0 ../other/old",
            "rm ../other/old",
            "mkdir ../other/new",
            "mv ../other/old ../other/new",
            "mv ../other/old .",
            "echo x > x; mv x ../other/old",
            "echo x > x; cp x ../other/x",
            "ln -s x ../other/new",
            "ln ../other/old mine",
            "mkfifo ../other/new",
            // Those that were started by it, and those that left its session.
            "(bash -c 'bash -c \"echo x > ../other/new\"')",
            "setsid -w bash -c 'echo x > ../other/new'",
            "env -i /bin/bash -c 'echo x > ../other/new'",
            "bash -c 'echo x > ../other/new' & wait $!",
        ] {
            let said = refused(&confinement, world, script);
            assert!(said.contains("The sandbox refused to change"), "{script}: {said}");
            assert!(said.contains(world.w().to_str().unwrap()), "{said}");
            is_as_it_was(world);
        }
    });
}

#[test]
fn failures_of_other_kinds_are_not_explained() {
    each(|_, probe, world| {
        fs::write(world.root.join("other/plain"), "").unwrap();
        fs::write(world.root.join("w/plain"), "").unwrap();
        let confinement = choose(&world.rules(), probe);
        for script in
            ["false", "cat /nowhere", "./plain", "../other/plain", "ls ../nothing", "exit 30"]
        {
            let ended = run(&confinement, world, script);
            let said = confinement.explains(&ended.output, ended.code, &world.w());
            assert_eq!(said, None, "{script}: {ended:?}");
        }
    });
}

#[test]
fn modes_elsewhere_are_safe_from_bubbles_only() {
    each(|mechanism, probe, world| {
        let confinement = choose(&world.rules(), probe);
        run(&confinement, world, "chmod 600 ../other");
        let mode = fs::metadata(world.root.join("other")).unwrap().permissions().mode();
        // Landlock doesn't know modes, owners and times; the README says so.
        assert_eq!(mode & 0o777 == 0o600, mechanism == Mechanism::Landlock);
    });
}

#[test]
fn what_is_protected_stays_where_a_mechanism_can() {
    each(|mechanism, probe, world| {
        let git = world.root.join("w/.git");
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("config"), "[core]\n").unwrap();
        fs::write(git.join("HEAD"), "").unwrap();
        let rules = Rules::of_folder(&world.w(), None);
        assert!(rules.protected.contains(&git.join("hooks")), "{rules:?}");
        let confinement = choose(&rules, probe);
        let report = confinement.report();
        if mechanism == Mechanism::Landlock {
            assert_eq!(report.filesystem, Filesystem::Partial);
            assert!(report.reasons.iter().any(|it| it.contains(".git/config")), "{report:?}");
            return;
        }
        assert_eq!(report.filesystem, Filesystem::Enforced, "{report:?}");
        works(&confinement, world, "echo x > .git/HEAD; mkdir .git/objects");
        for script in [
            "echo x > .git/hooks/pre-commit",
            "echo x >> .git/config",
            "rm .git/config",
            "mv .git/hooks .git/old",
            "echo x > c; mv c .git/config",
        ] {
            let said = refused(&confinement, world, script);
            assert!(said.contains("protects"), "{script}: {said}");
        }
        // Nor by moving away what it is in.
        assert_ne!(run(&confinement, world, "mv .git away").code, 0);
        assert_eq!(fs::read(git.join("config")).unwrap(), b"[core]\n");
        assert_eq!(fs::read_dir(git.join("hooks")).unwrap().count(), 0);
    });
}

#[test]
fn what_is_hidden_cannot_be_read_where_a_mechanism_can() {
    each(|mechanism, probe, world| {
        fs::create_dir(world.root.join("w/keys")).unwrap();
        fs::write(world.root.join("w/keys/id"), "secret").unwrap();
        let hidden = vec![world.root.join("w/keys"), world.root.join("other/old")];
        let confinement = choose(&Rules { hidden, ..world.rules() }, probe);
        if mechanism == Mechanism::Landlock {
            assert_eq!(confinement.report().filesystem, Filesystem::Partial);
            assert!(confinement.report().reasons.iter().any(|it| it.contains("hide")));
            return;
        }
        for script in ["cat ../other/old", "echo x > keys/id", "cat keys/id"] {
            let ended = run(&confinement, world, script);
            assert!(ended.code != 0 && !ended.output.contains("secret"), "{script}: {ended:?}");
        }
        assert!(refused(&confinement, world, "cat ../other/old").contains("hides"));
        assert_eq!(works(&confinement, world, "ls -A keys"), "");
        assert_eq!(fs::read(world.root.join("w/keys/id")).unwrap(), b"secret");
        is_as_it_was(world);
    });
}

#[test]
fn the_superuser_has_no_way_around() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        for script in [
            "mount -o remount,rw / && echo x > ../other/new",
            "mount -o remount,rw,bind / && echo x > ../other/new",
            "mount -t tmpfs none ../other",
            "umount ..",
            "unshare -m bash -c 'mount -o remount,rw,bind / && echo x > ../other/new'",
            "unshare -Urm bash -c 'mount -o remount,rw,bind / && echo x > ../other/new'",
            "mknod disk b 8 0",
            "mknod kernel c 1 2",
            "echo core > /proc/sys/kernel/core_pattern",
            "echo x > /proc/1/root$PWD/../other/new",
            "nsenter -t 1 -m bash -c true",
            "chroot /proc/1/root /bin/true",
        ] {
            let ended = run(&confinement, world, script);
            assert_ne!(ended.code, 0, "{script}: {ended:?}");
            is_as_it_was(world);
        }
    });
}
