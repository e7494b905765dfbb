//! What a command gets, and what it gives.

use std::fs;

use hermes_exec::environment::{Dialect, Environment as _, Exit, Size, Start, Stdin};
use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::host::{Host, finish, on_hosts, output, run};

on_hosts!(
    a_script_is_run_as_asked,
    the_environment_is_as_asked,
    errors_have_a_stream,
    scripts_are_of_any_length,
    input_is_given_or_not,
    a_terminal_has_a_size,
    facts_are_known,
);

async fn facts_are_known(host: &Host) {
    let ssh = host.connect().await;
    assert_eq!(ssh.kind(), "ssh");
    assert_eq!(ssh.home(), host.home().to_str());
    assert_eq!(ssh.temp_dir(), host.folder.path().join("temp").to_str().unwrap());
    assert_eq!(ssh.initial_cwd(), "~");
    assert!(ssh.identity().starts_with("ssh:tester@"));
    assert_eq!(output(&ssh, "pwd").await.trim_end(), host.home().to_str().unwrap());
    host.close(&ssh).await;
}

async fn a_script_is_run_as_asked(host: &Host) {
    fs::write(host.home().join(".bashrc"), "echo rc\n").unwrap();
    fs::write(host.home().join(".bash_profile"), "echo profile\n").unwrap();
    let ssh = host.connect().await;
    let script = "echo out; echo err >&2; echo $0 $# ${-//[!i]/}; exit 3";
    assert_eq!(run(&ssh, Start::new(script)).await, ("out\nerr\nbash 0\n".into(), Exit::Code(3)));
    let posix = Start { dialect: Dialect::Posix, ..Start::new("echo $0 $#; exit 4") };
    assert_eq!(run(&ssh, posix).await, ("sh 0\n".into(), Exit::Code(4)));
    let login =
        Start { dialect: Dialect::BashLogin, ..Start::new("echo $0; shopt -q login_shell") };
    assert_eq!(run(&ssh, login).await, ("profile\nbash\n".into(), Exit::Code(0)));
    for (script, code) in [("kill -9 $$", 137), ("kill $$", 143), ("nosuchcommand", 127)] {
        assert_eq!(run(&ssh, Start::new(script)).await.1, Exit::Code(code), "{script}");
    }
    // It leads a session, and its text is in no argument.
    let script =
        "ps -o sid= -p $$; echo $$; tr '\\0' '\\n' < /proc/$$/cmdline | grep -c secret-word";
    let (said, exit) = run(&ssh, Start::new(script)).await;
    let mut words = said.split_whitespace();
    assert_eq!(words.next(), words.next());
    assert_eq!((words.next(), exit), (Some("0"), Exit::Code(1)));
    host.close(&ssh).await;
}

async fn the_environment_is_as_asked(host: &Host) {
    let ssh = host.connect().await;
    let env =
        vec![("A".to_owned(), "1\n'=\u{e9}".to_owned()), ("HOME".to_owned(), "/x".to_owned())];
    let start = Start { env, ..Start::new("printf '%s|%s|%s' \"$A\" \"$HOME\" \"${TMPDIR:+y}\"") };
    assert_eq!(run(&ssh, start.clone()).await.0, "1\n'=\u{e9}|/x|y");
    assert_eq!(run(&ssh, Start { bare: true, ..start }).await.0, "1\n'=\u{e9}|/x|");
    let bad = Start { env: vec![("A=B".to_owned(), String::new())], ..Start::new("true") };
    assert!(!ssh.start(bad).await.unwrap_err().is_safe_to_retry);
    let long = vec![("LONG".to_owned(), "x".repeat(200_000))];
    let failure = ssh.start(Start { env: long, ..Start::new("true") }).await.unwrap_err();
    assert!(failure.message.contains("can't be started"), "{failure}");
    assert!(!failure.is_safe_to_retry);
    let startup = host.home().join("startup");
    fs::write(&startup, "echo startup\n").unwrap();
    let path = startup.display();
    // A start-up file of the host isn't read.
    let nested = format!("BASH_ENV='{path}' bash -c 'echo nested'");
    assert_eq!(output(&ssh, &nested).await, "startup\nnested\n");
    host.close(&ssh).await;
}

async fn errors_have_a_stream(host: &Host) {
    let ssh = host.connect().await;
    let script = "echo out; echo err >&2; head -c 200000 /dev/zero >&2";
    let start = Start { errors_apart: true, ..Start::new(script) };
    let mut running = ssh.start(start).await.unwrap();
    let mut errors = Vec::new();
    running.errors.take().unwrap().read_to_end(&mut errors).await.unwrap();
    assert_eq!((&errors[..4], errors.len()), (&b"err\n"[..], 200_004));
    assert_eq!(finish(running).await, ("out\n".into(), Exit::Code(0)));
    host.close(&ssh).await;
}

async fn scripts_are_of_any_length(host: &Host) {
    let ssh = host.connect().await;
    let script =
        format!("text='{}'\necho ${{#text}}\ncat <<X\n\\$a `echo b` \"'\nX", "é\n".repeat(400_000));
    let said = "800000\n$a b \"'\n".to_owned();
    let start = Start { env: vec![("LC_ALL".into(), "C.UTF-8".into())], ..Start::new(script) };
    assert_eq!(run(&ssh, start.clone()).await, (said.clone(), Exit::Code(0)));
    let posix = Start { dialect: Dialect::Posix, ..start };
    let (said, _) = run(&ssh, posix).await;
    assert!(said.ends_with("$a b \"'\n"), "{said}");
    assert_eq!(run(&ssh, Start::new("")).await, (String::new(), Exit::Code(0)));
    assert_eq!(run(&ssh, Start::new("# nothing")).await, (String::new(), Exit::Code(0)));
    host.close(&ssh).await;
}

async fn input_is_given_or_not(host: &Host) {
    let ssh = host.connect().await;
    assert_eq!(output(&ssh, "cat; echo end").await, "end\n");
    let megabytes = b"0123456789abcdef\0\n".repeat(500_000);
    let start = Start { stdin: Stdin::Bytes(megabytes.clone()), ..Start::new("cat") };
    let mut running = ssh.start(start).await.unwrap();
    assert!(running.stdin.is_none());
    let mut back = Vec::new();
    running.output.read_to_end(&mut back).await.unwrap();
    assert!(back == megabytes);
    // What nobody reads holds up nobody.
    let start = Start { stdin: Stdin::Bytes(megabytes), ..Start::new("exec <&-; echo deaf") };
    assert_eq!(run(&ssh, start).await, ("deaf\n".into(), Exit::Code(0)));

    let open = Start { stdin: Stdin::Open, ..Start::new("read a; echo got $a; cat; echo end") };
    let mut running = ssh.start(open.clone()).await.unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"one\n").await.unwrap();
    let mut answer = [0; 8];
    running.output.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"got one\n");
    stdin.write_all(b"two\n").await.unwrap();
    drop(stdin);
    assert_eq!(finish(running).await, ("two\nend\n".into(), Exit::Code(0)));

    let closed = Start { script: "exec <&-; echo closed; sleep 0.1".into(), ..open };
    let mut running = ssh.start(closed).await.unwrap();
    let mut stdin = running.stdin.take().unwrap();
    let mut refused = Ok(());
    for _ in 0..10_000 {
        refused = stdin.write_all(&[b'x'; 1000]).await;
        if refused.is_err() {
            break;
        }
    }
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(finish(running).await, ("closed\n".into(), Exit::Code(0)));
    host.close(&ssh).await;
}

async fn a_terminal_has_a_size(host: &Host) {
    let ssh = host.connect().await;
    let script = "tty -s && stty size; echo $TERM; read -r line; echo got $line; stty size; echo err >&2; exit 5";
    let start = Start { terminal: Some(Size { rows: 24, cols: 81 }), ..Start::new(script) };
    let mut running = ssh.start(start).await.unwrap();
    let mut first = [0; 7];
    running.output.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"24 81\r\n");
    let mut kind = [0; 16];
    running.output.read_exact(&mut kind).await.unwrap();
    assert_eq!(&kind, b"xterm-256color\r\n");
    running.handle.resize(Size { rows: 50, cols: 132 }).unwrap();
    running.stdin.as_mut().unwrap().write_all(b"a word\n").await.unwrap();
    let (said, exit) = finish(running).await;
    assert_eq!((&*said, exit), ("a word\r\ngot a word\r\n50 132\r\nerr\r\n", Exit::Code(5)));
    // What is given has an end; ^C reaches the group.
    let size = Some(Size::default());
    let given = Start { terminal: size, stdin: Stdin::Bytes(b"x\n".to_vec()), ..Start::new("cat") };
    assert_eq!(run(&ssh, given).await, ("x\r\nx\r\n".into(), Exit::Code(0)));
    let mut running =
        ssh.start(Start { terminal: size, ..Start::new("echo in; sleep 100") }).await.unwrap();
    running.output.read_exact(&mut first[..4]).await.unwrap();
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(b"\x03").await.unwrap();
    assert_eq!(finish(running).await, ("^C".into(), Exit::Code(130)));
    let plain = ssh.start(Start::new("true")).await.unwrap();
    assert!(plain.handle.resize(Size::default()).is_err());
    host.close(&ssh).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_relay_is_tried() {
    let parent = "ps -o comm= -p $(awk '/^PPid/ { print $2 }' /proc/$PPID/status)";
    let host = Host::stand_in("sh");
    let ssh = host.connect().await;
    assert_eq!(output(&ssh, parent).await, "perl\n");
    let host = Host::stand_in("sh").without_perl();
    if host.has_python().await {
        let ssh = host.connect().await;
        let name = output(&ssh, parent).await;
        assert!(name.starts_with("python"), "{name}");
    }
}
