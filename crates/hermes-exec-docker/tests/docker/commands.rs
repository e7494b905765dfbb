//! What runs in a container: scripts of every kind, with what they read, write and say in the end.

use std::time::Duration;

use hermes_exec::environment::{Dialect, Environment as _, Exit, Pid, Size, Start, Stdin};
use hermes_exec_docker::Options;
use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::world::{By, World, finish, on_docker, on_podman};

on_docker!(
    scripts,
    input,
    terminals,
    errors_apart,
    long_scripts,
    variables,
    much_output,
    a_child_that_holds_the_output_holds_nobody_up,
    an_image_without_bash
);
on_podman!(scripts, input, terminals);

async fn scripts(world: World) {
    let machine = world.open().await;
    assert_eq!(machine.0.home(), Some("/root"));
    let cases: [(&str, &str, i32); 14] = [
        ("echo a; echo b >&2; echo c", "a\nb\nc\n", 0),
        ("exit 3", "", 3),
        ("echo $0 $# \"$*\"", "bash 0 \n", 0),
        ("kill -9 $$", "", 137),
        ("kill -TERM $$", "", 143),
        ("no-such-program-at-all 2>/dev/null", "", 127),
        (
            "echo a\n)",
            "a\nbash: -c: line 2: syntax error near unexpected token `)'\nbash: -c: line 2: `)'\n",
            2,
        ),
        ("pwd; cat", "/root\n", 0),
        ("printf 'no end'", "no end", 0),
        ("printf '\\036x exit 9\\n'", "\u{1e}x exit 9\n", 0),
        ("shopt -q login_shell; echo $?", "1\n", 0),
        ("compgen -v _hermes; env | grep -c _hermes", "0\n", 1),
        ("trap 'echo int' INT; kill -INT $$; echo on", "int\non\n", 0),
        ("exec 2>/dev/null; echo hidden >&2; exec echo shown", "shown\n", 0),
    ];
    for (script, output, code) in cases {
        let ended = machine.run(script).await;
        assert_eq!(ended, (output.to_owned(), Exit::Code(code)), "{script}");
    }
    let posix = Start { dialect: Dialect::Posix, ..Start::new("echo $0 $#; exit 4") };
    assert_eq!(machine.run_as(posix).await, ("sh 0\n".to_owned(), Exit::Code(4)));
    let login =
        Start { dialect: Dialect::BashLogin, ..Start::new("shopt -q login_shell; echo $0 $?") };
    assert_eq!(machine.run_as(login).await, ("bash 0\n".to_owned(), Exit::Code(0)));
    machine.remove().await;
}

async fn input(world: World) {
    let machine = world.open().await;
    // More than any pipe takes.
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let count = Start { stdin: Stdin::Bytes(bytes), ..Start::new("wc -c; cat | wc -c") };
    assert_eq!(machine.run_as(count).await, ("3000000\n0\n".to_owned(), Exit::Code(0)));
    let unread = Start { stdin: Stdin::Bytes(vec![b'x'; 1_000_000]), ..Start::new("exit 5") };
    assert_eq!(machine.run_as(unread).await.1, Exit::Code(5));
    let open = Start { stdin: Stdin::Open, ..Start::new("read x; echo got $x; cat") };
    let mut running = machine.start(open).await;
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"one\n").await.unwrap();
    let mut first = [0; 8];
    running.output.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"got one\n");
    stdin.write_all(b"two").await.unwrap();
    stdin.shutdown().await.unwrap();
    drop(stdin);
    assert_eq!(finish(running).await, ("two".to_owned(), Exit::Code(0)));
    machine.remove().await;
}

async fn errors_apart(world: World) {
    let machine = world.open().await;
    let start = Start { errors_apart: true, ..Start::new("echo a; echo b >&2; echo c; exit 6") };
    let mut running = machine.start(start).await;
    let mut errors = String::new();
    running.errors.take().unwrap().read_to_string(&mut errors).await.unwrap();
    assert_eq!(errors, "b\n");
    assert_eq!(finish(running).await, ("a\nc\n".to_owned(), Exit::Code(6)));
    machine.remove().await;
}

async fn long_scripts(world: World) {
    let machine = world.open().await;
    for size in [60_000, 70_000, 2_000_000] {
        let script = format!(": '{}'\necho $0 $# $LINENO; cat; exit 7", "x".repeat(size));
        let start = Start { stdin: Stdin::Bytes(b"in".to_vec()), ..Start::new(script) };
        let (output, exit) = machine.run_as(start).await;
        assert_eq!((output.as_str(), exit), ("bash 0 2\nin", Exit::Code(7)), "{size}");
    }
    let (left, _) = machine.run("ls -A /tmp").await;
    assert_eq!(left, "", "nothing is left of the scripts");
    machine.remove().await;
}

async fn variables(world: World) {
    let options = Options {
        forward: vec![("GIVEN".into(), "1".into()), ("BOTH".into(), "env".into())],
        env: [("FIXED".to_owned(), "f f".to_owned())].into(),
        ..world.options()
    };
    let machine = world.open_with(options).await;
    let script = "echo $GIVEN-$BOTH-$FIXED-$OWN-${PATH:+path}";
    let env = vec![("BOTH".into(), "own".into()), ("OWN".into(), "a\nb='".into())];
    let start = Start { env, ..Start::new(script) };
    assert_eq!(machine.run_as(start.clone()).await.0, "1-own-f f-a b='-path\n");
    assert_eq!(machine.run_as(Start { bare: true, ..start }).await.0, "-own-f f-a b='-path\n");
    machine.remove().await;
}

async fn terminals(world: World) {
    let machine = world.open().await;
    let size = Size { rows: 33, cols: 99 };
    let script = "test -t 0 && test -t 1 && echo tty; read a; stty size; read b; stty size; \
                      echo $a $b; exit 8";
    let start = Start { terminal: Some(size), stdin: Stdin::Open, ..Start::new(script) };
    let mut running = machine.start(start).await;
    let mut stdin = running.stdin.take().unwrap();
    // The client tells the size a moment after the command began.
    tokio::time::sleep(Duration::from_millis(700)).await;
    // What a shell on a terminal would take for keys that leave it.
    stdin.write_all(b"\x10one\n").await.unwrap();
    let mut said = String::new();
    while !said.contains("33 99") {
        let mut chunk = [0; 512];
        let count = running.output.read(&mut chunk).await.unwrap();
        assert!(count > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    running.handle.resize(Size { rows: 11, cols: 55 }).unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    stdin.write_all(b"two\n").await.unwrap();
    let (rest, exit) = finish(running).await;
    said.push_str(&rest);
    assert!(said.contains("tty\r\n") && said.contains("11 55"), "{said}");
    assert!(said.contains("\x10one two\r\n"), "{said:?}");
    assert!(!said.contains('\x1e'), "{said:?}");
    assert_eq!(exit, Exit::Code(8));
    machine.remove().await;
}

async fn much_output(world: World) {
    let machine = world.open().await;
    let mut running = machine.start(Start::new("head -c 100000000 /dev/zero; exit 2")).await;
    let mut total = 0;
    let mut chunk = vec![0; 64 * 1024];
    while let count @ 1.. = running.output.read(&mut chunk).await.unwrap() {
        total += count;
    }
    assert_eq!((total, running.handle.wait().await), (100_000_000, Exit::Code(2)));
    running.handle.release();
    machine.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once() {
    let Some(world) = World::new(By::Socket).await else { return };
    let machine = std::sync::Arc::new(world.open().await);
    let tasks: Vec<_> = (0..50)
        .map(|n| {
            let machine = std::sync::Arc::clone(&machine);
            hermes_task::spawn(async move {
                let script = format!("echo {n}; sleep 0.2; exit {n}");
                assert_eq!(machine.run(&script).await, (format!("{n}\n"), Exit::Code(n)));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    machine.remove().await;
}

async fn a_child_that_holds_the_output_holds_nobody_up(world: World) {
    let machine = world.open().await;
    let mut running = machine.start(Start::new("sleep 1000 & echo $$; exit 9")).await;
    let mut said = [0; 1];
    running.output.read_exact(&mut said).await.unwrap();
    // Far below what the child takes, and what an engine waits for its output.
    let exit = tokio::time::timeout(Duration::from_millis(1500), running.handle.wait()).await;
    assert_eq!(exit.unwrap(), Exit::Code(9));
    assert!(matches!(running.handle.pid(), Some(Pid::Inside(2..))));
    running.handle.terminate(Duration::ZERO).await;
    assert_eq!(machine.count("^sleep 1000").await, 0);
    machine.remove().await;
}

async fn an_image_without_bash(world: World) {
    let image = world.image.replace(":latest", ":nobash");
    let machine = world.open_with(Options { image, ..world.options() }).await;
    let failure = machine.0.start(Start::new("true")).await.unwrap_err();
    assert!(failure.message.contains("no bash"), "{failure}");
    assert!(!failure.is_gone && !failure.is_safe_to_retry);
    let posix = Start { dialect: Dialect::Posix, ..Start::new("echo $0; exit 4") };
    assert_eq!(machine.run_as(posix).await, ("sh\n".to_owned(), Exit::Code(4)));
    machine.remove().await;
}
