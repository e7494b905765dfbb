//! Sessions that have time between their commands, so that a shell waits for each of them.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "session.rs"]
mod session;

use hermes_exec::session::Foreground;
use pretty_assertions::assert_eq;
use session::{Machine, pause, said};

impl Machine {
    /// What a command says that is run without a pause before it.
    async fn run_at_once(&self, command: &str) -> String {
        self.finish_at_once(Foreground::new(command, self.home())).await.0
    }
}

/// The processes that this one has started and that run still.
fn children() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let lists =
        threads.filter_map(|it| std::fs::read_to_string(it.unwrap().path().join("children")).ok());
    lists.flat_map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[tokio::test]
async fn a_shell_waits_and_is_used_once() {
    let machine = Machine::new();
    let mut last = String::new();
    for _ in 0..3 {
        machine.run("true").await;
        tokio::time::sleep(pause()).await;
        let [waiting] = &*children() else { panic!("{:?}", children()) };
        assert_ne!(*waiting, last);
        last.clone_from(waiting);
        // Without a pause, so that it is the one that was seen.
        let text = machine.run_at_once("echo $$ $SECONDS $PPID").await;
        assert_eq!(text, format!("{waiting} 0 {}\n", std::process::id()));
    }
    drop(machine);
    for _ in 0..500 {
        if children().is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{:?} is left", children());
}

#[tokio::test]
async fn one_that_was_killed_costs_nothing() {
    let machine = Machine::new();
    machine.run("export A=1").await;
    tokio::time::sleep(pause()).await;
    // By itself: it is the one that runs this.
    assert_eq!(machine.run_at_once("kill -9 $$; echo no").await, "");
    tokio::time::sleep(pause()).await;
    let [waiting] = &*children() else { panic!("{:?}", children()) };
    let pid = rustix::process::Pid::from_raw(waiting.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    tokio::time::sleep(pause()).await;
    assert_eq!(machine.run_at_once("echo $A").await, "1\n");
}

#[tokio::test]
async fn a_state_that_changed_meanwhile_is_the_one_that_counts() {
    let machine = Machine::new();
    machine.run("export A=0").await;
    let slow = machine.run_at_once("sleep 0.3; export A=2");
    let quick = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        machine.run_at_once("export A=1").await;
        tokio::time::sleep(pause()).await;
        // Meanwhile a shell waits that has this state.
        machine.run_at_once("echo $A").await
    };
    let (_, quick) = tokio::join!(slow, quick);
    assert_eq!(quick, "1\n");
    assert_eq!(machine.run_at_once("echo $A").await, "2\n");
    assert_eq!(machine.run("echo $A").await, said("2\n"));
}

#[tokio::test]
async fn one_that_was_stopped_runs_nothing() {
    let machine = Machine::new();
    machine.run("true").await;
    // The second is more than its pipe takes.
    for long in [String::new(), "x".repeat(1 << 20)] {
        tokio::time::sleep(pause()).await;
        let [waiting] = &*children() else { panic!("{:?}", children()) };
        let pid = rustix::process::Pid::from_raw(waiting.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        tokio::time::sleep(pause()).await;
        assert_eq!(machine.run_at_once(&format!("echo ran >>~/ran; : {long}")).await, "");
    }
    assert_eq!(machine.run("cat ~/ran").await, said("ran\nran\n"));
}

#[tokio::test]
async fn one_waits_already_when_commands_follow_at_once() {
    let machine = Machine::new();
    machine.run("export A=0; f() { echo $A; }").await;
    tokio::time::sleep(pause()).await;
    for n in 0..20 {
        let text = machine.run_at_once("f; export A=$((A + 1)); echo $PPID").await;
        assert_eq!(text, format!("{n}\n{}\n", std::process::id()));
        // That of the command before has ended, and at most one is there for the next one.
        assert!(children().len() <= 1, "{:?}", children());
    }
}
