//! How processes start, live and end.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::Duration;
use std::{fs, io};

use hermes_confine::{Confinement, Mechanism, Mode, Probe};

use crate::world::{World, bash, choose, command, each, run, works};

#[test]
fn a_command_outlives_the_thread_that_started_it() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        let cwd = world.w();
        let argv = bash("sleep 0.3; echo done > done; sleep 600");
        let spawn = |argv: Vec<OsString>| {
            let child = command(&argv, &cwd).process_group(0).spawn()?;
            Ok((child, std::thread::current().id()))
        };
        let (mut child, thread) = confinement.start(argv, spawn).unwrap();
        assert_ne!(thread, std::thread::current().id());
        // The thread is gone by now.
        while !cwd.join("done").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended with its thread");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(child.try_wait().unwrap().is_none());
        // The process alone may be bubblewrap, which doesn't take its command along.
        let group = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
    });
}

#[test]
fn only_the_command_is_confined() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        works(&confinement, world, "true");
        fs::write(world.root.join("other/old"), "old").unwrap();
        std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        assert!(status.contains("NoNewPrivs:\t0"), "{status}");
    });
}

#[test]
fn by_a_runtime() {
    each(|_, probe, world| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let confinement = choose(&world.rules(), probe);
        let cwd = world.w();
        runtime.block_on(async {
            let runtime = tokio::runtime::Handle::current();
            let started = confinement.start(bash("echo x > ../other/new || exit 7"), |argv| {
                let _entered = runtime.enter();
                let mut command = tokio::process::Command::from(command(&argv, &cwd));
                command.stderr(Stdio::piped()).kill_on_drop(true).spawn()
            });
            let output = started.unwrap().wait_with_output().await.unwrap();
            assert_eq!(output.status.code(), Some(7), "{output:?}");
        });
    });
}

#[test]
fn how_it_ends_is_handed_on() {
    each(|mechanism, probe, world| {
        let confinement = choose(&world.rules(), probe);
        assert_eq!(run(&confinement, world, "exit 3").code, 3);
        // A bubble tells of signals as shells do.
        let expected = if mechanism == Mechanism::Bubblewrap { 128 + 9 } else { -1 };
        assert_eq!(run(&confinement, world, "kill -9 $$").code, expected);
        let missing = confinement.start(vec!["/nowhere/program".into()], |argv| {
            command(&argv, &world.w()).stderr(Stdio::null()).status()
        });
        assert!(missing.map_or(true, |status| !status.success()));
        let failed = confinement
            .start(bash("true"), |_| -> io::Result<()> { Err(io::Error::other("mine")) });
        assert_eq!(failed.unwrap_err().to_string(), "mine");
    });
}

#[test]
fn those_left_behind_go_on_and_can_be_ended_by_a_later_command() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        let pid = works(&confinement, world, "sleep 600 &>/dev/null & echo $!");
        let pid = pid.trim();
        assert!(fs::exists(format!("/proc/{pid}")).unwrap());
        let again = choose(&world.rules(), probe);
        works(&again, world, &format!("kill {pid}"));
    });
}

#[test]
fn a_second_fence_within_the_first_one() {
    each(|_, probe, world| {
        let confinement = choose(&world.rules(), probe);
        // As when a confined command runs an agent of its own: it can't be confined further by all
        // means, but doesn't hang or panic either.
        let inner = confinement.start(bash("true"), |_| Ok(Probe::new(None))).unwrap();
        if probe.bubblewrap().is_err() {
            assert!(inner.landlock().is_ok(), "{inner:?}");
        }
    });
}

#[test]
fn off_leaves_everything_as_it_is() {
    let world = World::new();
    let probe = Probe::new(None);
    let off = Confinement::choose(Mode::Off, &world.rules(), &probe).unwrap();
    let status = "grep -E 'NoNewPrivs|Seccomp:|CapEff' /proc/self/status";
    let plain = command(&bash(status), &world.w()).output().unwrap();
    assert_eq!(works(&off, &world, status), String::from_utf8(plain.stdout).unwrap());
    works(&off, &world, "echo x > ../other/new");
}

#[test]
fn required_holds_or_fails() {
    each(|mechanism, probe, world| {
        let confinement = Confinement::choose(Mode::Required, &world.rules(), probe).unwrap();
        assert_eq!(confinement.report().mechanism, mechanism);
        assert!(confinement.report().reasons.is_empty(), "{:?}", confinement.report());
        assert_ne!(run(&confinement, world, "echo x > ../other/new").code, 0);
    });
}

#[test]
fn a_thousand_leave_nothing_behind() {
    each(|mechanism, probe, world| {
        let rounds = if mechanism == Mechanism::Bubblewrap { 50 } else { 300 };
        let confinement = choose(&world.rules(), probe);
        works(&confinement, world, "true");
        let count = |what: &str| fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
        let before = (count("fd"), count("task"));
        for _ in 0..rounds {
            let status =
                confinement.start(bash("exit 5"), |argv| command(&argv, &world.w()).status());
            assert_eq!(status.unwrap().code(), Some(5));
        }
        // Other tests of this process may be running threads of their own.
        assert!(count("fd") <= before.0 + 40 && count("task") <= before.1 + 40);
    });
}
