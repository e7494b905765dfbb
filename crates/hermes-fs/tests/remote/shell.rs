//! Shells of this machine that stand in for those of other environments.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hermes_fs::{Ran, Run, Shell};

/// A shell that runs scripts as processes, with an environment of its own.
pub(crate) struct ProcessShell {
    program: PathBuf,
    env: BTreeMap<String, String>,
    user: Option<u32>,
    /// How many scripts it ran.
    runs: AtomicUsize,
}

impl ProcessShell {
    /// `program` is called with `-c` and the script.
    pub(crate) fn new(program: impl Into<PathBuf>, path: &str, home: &Path) -> Self {
        let env = [("PATH", path.to_owned()), ("HOME", home.display().to_string())];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { program: program.into(), env, user: None, runs: AtomicUsize::new(0) }
    }

    /// The same as another user, which only root may be.
    #[allow(dead_code, reason = "test programs use a part of this file each")]
    pub(crate) fn by_user(mut self, user: u32) -> Self {
        self.user = Some(user);
        self
    }

    /// How many scripts it ran.
    #[allow(dead_code, reason = "test programs use a part of this file each")]
    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }
}

impl Shell for ProcessShell {
    fn identity(&self) -> &str {
        "process-shell"
    }

    fn run(&self, run: &Run<'_>) -> io::Result<Ran> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        assert!(run.script.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)));
        #[expect(clippy::disallowed_methods, reason = "a stand-in for an environment")]
        let mut command = Command::new(&self.program);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let mut child = command
            .args(["-c", run.script])
            .env_clear()
            .envs(&self.env)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let until = Instant::now() + run.timeout;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // It need not read it.
                let _ = stdin.map(|mut stdin| stdin.write_all(run.stdin));
            });
            let stdout = scope.spawn(|| drain(out));
            let stderr = scope.spawn(|| drain(err));
            let status = loop {
                if let Some(status) = child.try_wait()? {
                    break Ok(status);
                }
                if Instant::now() >= until {
                    break Err(io::ErrorKind::TimedOut.into());
                }
                if !(run.goes_on)() {
                    break Err(io::Error::other("stopped"));
                }
                std::thread::sleep(Duration::from_millis(2));
            };
            if status.is_err() {
                child.kill()?;
                child.wait()?;
            }
            let (stdout, stderr) = (stdout.join(), stderr.join());
            let code = status?.code();
            Ok(Ran { stdout: stdout.unwrap_or_default(), stderr: stderr.unwrap_or_default(), code })
        })
    }
}

fn drain(pipe: Option<impl Read>) -> Vec<u8> {
    let mut all = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut all);
    }
    all
}

/// The search path without `rg`, so that `grep` and `find` are used. The programs are linked in a
/// folder below `dir`.
#[allow(dead_code, reason = "test programs use a part of this file each")]
pub(crate) fn without_rg(dir: &Path) -> String {
    let bin = dir.join("plain-bin");
    if std::fs::create_dir(&bin).is_ok() {
        for name in [
            "stat",
            "base64",
            "mktemp",
            "mv",
            "ls",
            "head",
            "tail",
            "dd",
            "readlink",
            "sha256sum",
            "grep",
            "find",
            "xargs",
            "rm",
            "ln",
            "cp",
            "cat",
            "chmod",
            "chown",
            "chgrp",
            "mkdir",
            "rmdir",
            "wc",
            "tr",
            "sh",
        ] {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
            if let Some(found) = found.iter().find(|path| path.exists()) {
                std::os::unix::fs::symlink(found, bin.join(name)).unwrap_or_default();
            }
        }
    }
    bin.display().to_string()
}

/// A busybox and a search path with nothing but its applets, below `dir`; none where there is no
/// busybox. `HERMES_TEST_BUSYBOX` names one that isn't installed.
#[allow(dead_code, reason = "test programs use a part of this file each")]
pub(crate) fn busybox(dir: &Path) -> Option<(PathBuf, String)> {
    let found = tool("HERMES_TEST_BUSYBOX", "busybox")?;
    let bin = dir.join("busybox-bin");
    std::fs::create_dir_all(&bin).ok()?;
    #[expect(clippy::disallowed_methods, reason = "asks for its applets")]
    let list = Command::new(&found).arg("--list").output().ok()?;
    for applet in String::from_utf8_lossy(&list.stdout).lines() {
        let _ = std::os::unix::fs::symlink(&found, bin.join(applet));
    }
    let shell = bin.join("sh");
    shell.exists().then(|| (shell, bin.display().to_string()))
}

/// A search path with `rg` in front; none where there is no `rg`. `HERMES_TEST_RG` names one that
/// isn't installed.
#[allow(dead_code, reason = "test programs use a part of this file each")]
pub(crate) fn with_rg(dir: &Path) -> Option<String> {
    let found = tool("HERMES_TEST_RG", "rg")?;
    let bin = dir.join("rg-bin");
    std::fs::create_dir_all(&bin).ok()?;
    let _ = std::os::unix::fs::symlink(found, bin.join("rg"));
    Some(format!("{}:/usr/bin:/bin", bin.display()))
}

#[allow(dead_code, reason = "test programs use a part of this file each")]
fn tool(variable: &str, name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a setting of the tests alone")]
    let named = std::env::var_os(variable).map(PathBuf::from);
    let usual = ["/usr/bin", "/bin", "/usr/local/bin"].map(|folder| Path::new(folder).join(name));
    named.into_iter().chain(usual).find(|path| path.is_file())
}
