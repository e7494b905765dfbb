//! Hosts to connect to.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec::environment::{Close, Environment as _, Exit, Running, Start};
use hermes_exec::program::{Ended, Program};
use hermes_exec_ssh::{Options, Ssh};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::time::sleep;

use crate::server::Server;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A host of one of the kinds, and what it must not leave behind.
pub(crate) struct Host {
    pub(crate) options: Options,
    pub(crate) folder: TempDir,
    pub(crate) server: Option<Server>,
}

/// Makes tests of functions that take a host: one on a stand-in, one on a server.
macro_rules! on_hosts {
    ($($name:ident),* $(,)?) => {
        mod stand_in {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(&crate::host::Host::stand_in("sh")).await;
            })*
        }
        mod stand_in_without_perl {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let host = crate::host::Host::stand_in("sh").without_perl();
                if host.has_python().await {
                    super::$name(&host).await;
                }
            })*
        }
        mod real {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(host) = crate::host::Host::real("/bin/sh").await {
                    super::$name(&host).await;
                }
            })*
        }
    };
}
pub(crate) use on_hosts;

impl Host {
    /// A script in the place of `ssh`: it has a login shell run what comes last, in a session that
    /// isn't the client's.
    pub(crate) fn stand_in(login_shell: &str) -> Self {
        let folder = folder();
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\ncase \" $* \" in *' -O '*) exit 0;; esac\n\
             cd '{home}' && exec env -i HOME='{home}' TMPDIR='{temp}' PATH=\"$HOST_PATH\" \
             setsid -w {login_shell} -c \"$last\"\n",
            home = folder.path().join("home").display(),
            temp = folder.path().join("temp").display(),
        );
        let program = folder.path().join("ssh");
        write_program(&program, &script);
        let env = [("PATH", PATH), ("HOST_PATH", PATH)];
        let env = env.map(|(name, value)| (name.into(), value.into()));
        let options = Options {
            program: program.into(),
            temp_dir: folder.path().to_owned(),
            ..Options::new("tester", "stand-in", env)
        };
        Self { options, folder, server: None }
    }

    /// The same, where `perl` doesn't work.
    pub(crate) fn without_perl(mut self) -> Self {
        let programs = self.folder.path().join("programs");
        fs::create_dir(&programs).unwrap();
        write_program(&programs.join("perl"), "#!/bin/sh\nexit 2\n");
        for (name, value) in &mut self.options.env {
            if name == "HOST_PATH" {
                let path = format!("{}:{}", programs.display(), value.display());
                *value = path.into();
            }
        }
        self
    }

    /// Whether there is an interpreter for such a host.
    pub(crate) async fn has_python(&self) -> bool {
        let env = [("PATH", PATH)];
        let found = Program::new(["python3", "-IS", "-c", "import fcntl"]).env(env).run().await;
        let has = found.is_ok_and(|finished| finished.ended == Ended::Exited(0));
        if !has {
            println!("skipped: there is no python3");
        }
        has
    }

    /// A real server, with a user of the given login shell. None, with a line that says so, where
    /// there is no server.
    pub(crate) async fn real(login_shell: &str) -> Option<Self> {
        let folder = folder();
        let (server, options) = match Server::start(folder.path(), login_shell).await {
            Ok(started) => started,
            Err(reason) => {
                println!("skipped: {reason}");
                return None;
            }
        };
        Some(Self { options, folder, server: Some(server) })
    }

    pub(crate) async fn connect(&self) -> Ssh {
        Ssh::connect(self.options.clone()).await.unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// What is left of the relay's files.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.folder.path().join("temp")).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }

    /// Gives the host up and looks for what is left.
    pub(crate) async fn close(&self, ssh: &Ssh) {
        ssh.close(Close::AsConfigured).await;
        assert_eq!(self.files(), [] as [PathBuf; 0]);
        let sockets = self.folder.path().join("hermes-ssh");
        assert_eq!(fs::read_dir(sockets).unwrap().count(), 0);
    }
}

fn folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("ssh-").tempdir_in("/tmp").unwrap();
    // A server of another user looks for keys in it.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["home", "temp"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    folder
}

pub(crate) fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A variable of the test run.
pub(crate) fn variable(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "what is installed for tests")]
    let value = env::var_os(name)?;
    (!value.is_empty()).then(|| value.into())
}

/// Starts a script and returns what it writes and how it ends.
pub(crate) async fn run(ssh: &Ssh, start: Start) -> (String, Exit) {
    let running = ssh.start(start).await.unwrap();
    finish(running).await
}

pub(crate) async fn finish(mut running: Running) -> (String, Exit) {
    let mut bytes = Vec::new();
    running.output.read_to_end(&mut bytes).await.unwrap();
    (String::from_utf8_lossy(&bytes).into_owned(), running.handle.wait().await)
}

/// The output of a script that must succeed.
pub(crate) async fn output(ssh: &Ssh, script: &str) -> String {
    let (output, exit) = run(ssh, Start::new(script)).await;
    assert_eq!(exit, Exit::Code(0), "{output}");
    output
}

/// A number of seconds to sleep that nobody else sleeps.
pub(crate) fn unique_sleep() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("7{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// How many processes sleep for that long.
pub(crate) fn sleepers(seconds: &str) -> usize {
    let pids = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let wanted = format!("sleep\0{seconds}\0");
    pids.filter(|pid| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == wanted.as_bytes())
    })
    .count()
}

/// Waits until so many processes sleep for that long.
pub(crate) async fn await_sleepers(seconds: &str, count: usize) {
    for _ in 0..1000 {
        if sleepers(seconds) == count {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("{} sleep {seconds}, {count} should", sleepers(seconds));
}
