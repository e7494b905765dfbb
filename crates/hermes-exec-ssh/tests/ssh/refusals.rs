//! Login shells of all kinds, and connections that don't come about.

use std::fs;

use hermes_exec::environment::StartFailure;
use hermes_exec_ssh::Ssh;
use pretty_assertions::assert_eq;

use crate::host::{Host, output, write_program};

async fn failure(host: &Host) -> StartFailure {
    match Ssh::connect(host.options.clone()).await {
        Ok(_) => panic!("it connects"),
        Err(failure) => failure,
    }
}

/// A shell that talks, and takes nothing but a plain word in single quotes: no sign that one of
/// fish, csh or a restricted shell would read in its own way.
fn odd_shell(host: &Host) {
    let shell = host.folder.path().join("odd-shell");
    write_program(
        &shell,
        r#"#!/bin/bash
echo "welcome; a greeting without an end of line"; printf 'hermes- none perl'
[ "$1" = -c ] && [ $# = 2 ] || exit 99
pattern="^exec sh -c '[-A-Za-z0-9 <>/&;()\"]*'\$"
[[ $2 =~ $pattern ]] || { echo "odd-shell: can't read this: $2" >&2; exit 98; }
text=${2#*\'}
exec sh -c "${text%\'}"
"#,
    );
}

#[tokio::test]
async fn odd_login_shells_do() {
    let host = Host::stand_in("../odd-shell");
    odd_shell(&host);
    let ssh = host.connect().await;
    assert_eq!(output(&ssh, "echo \"it's\" $((1+1))").await, "it's 2\n");
    host.close(&ssh).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_login_shells_do_on_a_server() {
    let folder = std::path::Path::new("/usr/bin");
    for shell in ["bash", "dash", "zsh", "fish", "tcsh", "ksh"] {
        let shell = folder.join(shell);
        if !shell.exists() {
            continue;
        }
        let Some(host) = Host::real(shell.to_str().unwrap()).await else { return };
        let ssh = host.connect().await;
        assert_eq!(output(&ssh, "echo \"it's\" $((1+1))").await, "it's 2\n");
        host.close(&ssh).await;
    }
}

#[tokio::test]
async fn a_login_shell_may_refuse() {
    let host = Host::stand_in("../shell");
    let shell = host.folder.path().join("shell");
    write_program(&shell, "#!/bin/sh\necho 'not available.'\nexit 1\n");
    let failure = failure(&host).await;
    assert!(failure.message.contains("ended with code 1 before it ran anything"), "{failure}");
    assert!(failure.message.contains("not available."), "{failure}");
    assert!(!failure.is_safe_to_retry);
}

#[tokio::test]
async fn a_host_needs_an_interpreter() {
    let mut host = Host::stand_in("sh");
    let bin = host.folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["sh", "env", "setsid"] {
        std::os::unix::fs::symlink(format!("/bin/{program}"), bin.join(program)).unwrap();
    }
    for (name, value) in &mut host.options.env {
        if name == "HOST_PATH" {
            *value = bin.clone().into();
        }
    }
    let failure = failure(&host).await;
    assert!(failure.message.contains("has neither perl"), "{failure}");
}

#[tokio::test]
async fn a_client_is_needed() {
    let mut host = Host::stand_in("sh");
    host.options.program = "no-such-ssh".into();
    let failure = failure(&host).await;
    assert!(failure.message.contains("no-such-ssh"), "{failure}");
    assert!(!failure.is_safe_to_retry);
}

#[tokio::test]
async fn the_words_of_ssh_are_told() {
    let host = Host::stand_in("sh");
    let program = host.folder.path().join("ssh");
    write_program(
        &program,
        "#!/bin/sh\necho 'kex_exchange_identification: read: Connection reset by peer' >&2\nexit 255\n",
    );
    let failure = failure(&host).await;
    assert!(failure.is_safe_to_retry);
    assert!(failure.message.contains("kex_exchange_identification"), "{failure}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_may_refuse() {
    let Some(mut host) = Host::real("/bin/sh").await else { return };
    let right = host.options.clone();
    host.options.key = Some(host.folder.path().join("other_key"));
    let refused = failure(&host).await;
    assert!(refused.message.contains("Permission denied"), "{refused}");
    assert!(refused.message.contains("terminal.ssh_key"), "{refused}");
    assert!(!refused.is_safe_to_retry);

    host.options = right.clone();
    let known = host.folder.path().join("known_hosts");
    let other = fs::read_to_string(host.folder.path().join("other_key.pub")).unwrap();
    fs::write(&known, format!("[127.0.0.1]:{} {other}", right.port)).unwrap();
    let changed = failure(&host).await;
    assert!(changed.message.contains("ssh-keygen -R '[127.0.0.1]:"), "{changed}");
    assert!(!changed.is_safe_to_retry);

    fs::remove_file(&known).unwrap();
    drop(host.server.take());
    let closed = failure(&host).await;
    assert!(closed.message.contains("Connection refused"), "{closed}");
    assert!(!closed.is_safe_to_retry);
    assert_eq!(host.files(), [] as [std::path::PathBuf; 0]);
}
