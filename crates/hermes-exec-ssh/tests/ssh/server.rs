//! A real server.

use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec::environment::Running;
use hermes_exec::program::{Ended, Program, Streams};
use hermes_exec_ssh::Options;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::sleep;

use crate::host::variable;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A server that ends with everything it started when it is dropped.
pub(crate) struct Server {
    running: Running,
    log: PathBuf,
}

impl Server {
    /// Starts one in a folder, for one user with a key of its own. Returns how to get in as well.
    pub(crate) async fn start(folder: &Path, login_shell: &str) -> Result<(Self, Options), String> {
        let sshd = variable("HERMES_TEST_SSHD")
            .ok_or("there is no ssh server: HERMES_TEST_SSHD names none")?;
        let is_root = rustix::process::geteuid().is_root();
        if is_root && !Path::new("/run/sshd").is_dir() {
            return Err("a server of root needs the folder /run/sshd".to_owned());
        }
        let root = sshd.ancestors().nth(3).ok_or("HERMES_TEST_SSHD is no path to a program")?;
        let libraries = libraries(&root.join("usr/lib"))
            .ok_or("there is no libnss_wrapper.so beside the server")?;
        let at = |name: &str| folder.join(name);
        let key_of = |name: &str| generate(at(name));
        for name in ["host_key", "key", "other_key"] {
            key_of(name).await?;
        }
        let home = at("home");
        let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
        let (uid, gid) = (uid.as_raw(), gid.as_raw());
        let users = format!(
            "tester:x:{uid}:{gid}::{}:{login_shell}\nsshd:x:74:74::/nonexistent:/bin/false\n",
            home.display()
        );
        write(&at("users"), &users)?;
        write(&at("groups"), &format!("tester:x:{gid}:\nsshd:x:74:\n"))?;
        let port = free_port();
        let (dir, temp) = (folder.display(), at("temp"));
        let mut config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {dir}/host_key\n\
             AuthorizedKeysFile {dir}/key.pub\nPidFile none\nStrictModes no\nUsePAM no\n\
             PermitRootLogin prohibit-password\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nSetEnv TMPDIR={}\n",
            temp.display()
        );
        // Newer servers are several programs, which are looked for where they would be installed.
        for (option, name) in [("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth")] {
            let program = root.join("usr/lib/openssh").join(name);
            if program.exists() {
                config.push_str(&format!("{option} {}\n", program.display()));
            }
        }
        write(&at("sshd_config"), &config)?;
        let variables: [(OsString, OsString); 5] = [
            ("PATH".into(), PATH.into()),
            ("LD_LIBRARY_PATH".into(), libraries.clone().into()),
            ("LD_PRELOAD".into(), libraries.join("libnss_wrapper.so").into()),
            ("NSS_WRAPPER_PASSWD".into(), at("users").into()),
            ("NSS_WRAPPER_GROUP".into(), at("groups").into()),
        ];
        let (config, log) = (at("sshd_config"), at("sshd.log"));
        let argv: [&std::ffi::OsStr; 6] = [
            sshd.as_os_str(),
            "-D".as_ref(),
            "-f".as_ref(),
            config.as_os_str(),
            "-E".as_ref(),
            log.as_os_str(),
        ];
        let running = Program::new(argv)
            .env(variables)
            .launch(Streams::default())
            .map_err(|error| error.to_string())?;
        let server = Self { running, log };
        server.await_word("Server listening").await?;
        Ok((server, options(folder, port)?))
    }

    async fn await_word(&self, word: &str) -> Result<(), String> {
        for _ in 0..1000 {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            if log.contains(word) {
                return Ok(());
            }
            sleep(Duration::from_millis(10)).await;
        }
        Err(format!("the server doesn't start: {:?}", fs::read_to_string(&self.log)))
    }

    /// Waits until nobody is connected.
    pub(crate) async fn is_idle(&self) {
        let own = self.pid();
        for _ in 0..1000 {
            if below(own).is_empty() {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("somebody is connected: {:?}", below(own));
    }

    /// Kills the processes that serve connections, as if the line had been cut there.
    pub(crate) fn kill_sessions(&self) {
        kill_sessions(self.pid());
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.running.handle.pid().unwrap().number()
    }
}

/// Kills the processes that serve connections of the server with that number.
pub(crate) fn kill_sessions(server: u32) {
    let children = below(server);
    // Not the commands: those must be found by others.
    for (pid, _) in children.iter().filter(|(_, name)| name == "sshd") {
        // One may end with another.
        let _ = kill_process(Pid::from_raw(*pid).unwrap(), Signal::KILL);
    }
    assert!(!children.is_empty());
}

/// The processes below one, with their names.
fn below(root: u32) -> Vec<(i32, String)> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let name = entry.unwrap().file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let (name, rest) = stat.split_once('(').unwrap().1.rsplit_once(')').unwrap();
        let parent: i32 = rest.split_whitespace().nth(1).unwrap().parse().unwrap();
        parents.push((pid, parent, name.to_owned()));
    }
    let mut found = vec![(i32::try_from(root).unwrap(), String::new())];
    let mut at = 0;
    while at < found.len() {
        let (parent, _) = found[at];
        found.extend(
            parents.iter().filter(|(_, of, _)| *of == parent).map(|(pid, _, n)| (*pid, n.clone())),
        );
        at += 1;
    }
    found.remove(0);
    found
}

/// The processes of this test that are clients of the port.
pub(crate) fn kill_clients(port: u16) -> usize {
    let wanted = format!("\0-p\0{port}\0");
    let clients = below(std::process::id()).into_iter().filter(|(pid, name)| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        name == "ssh" && String::from_utf8_lossy(&line).contains(&wanted)
    });
    let mut count = 0;
    for (pid, _) in clients {
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        count += 1;
    }
    count
}

fn options(folder: &Path, port: u16) -> Result<Options, String> {
    let config = folder.join("ssh_config");
    let text = format!(
        "UserKnownHostsFile {dir}/known_hosts\nGlobalKnownHostsFile /dev/null\n\
         IdentityAgent none\nIdentitiesOnly yes\n",
        dir = folder.display()
    );
    write(&config, &text)?;
    let env = [("PATH", PATH), ("HOME", "/nonexistent")];
    let env = env.map(|(name, value)| (name.into(), value.into()));
    Ok(Options {
        port,
        key: Some(folder.join("key")),
        temp_dir: folder.to_owned(),
        program: variable("HERMES_TEST_SSH").map_or("ssh".into(), PathBuf::into_os_string),
        config: Some(config),
        ..Options::new("tester", "127.0.0.1", env)
    })
}

async fn generate(path: PathBuf) -> Result<(), String> {
    // Beside the client, where that isn't the one in `PATH`.
    let beside = variable("HERMES_TEST_SSH").map(|ssh| ssh.with_file_name("ssh-keygen"));
    let program = beside.unwrap_or_else(|| "ssh-keygen".into()).into_os_string();
    let words: [OsString; 8] = [
        program,
        "-q".into(),
        "-t".into(),
        "ed25519".into(),
        "-N".into(),
        "".into(),
        "-f".into(),
        path.into(),
    ];
    let made = Program::new(words).env([("PATH", PATH)]).run().await;
    match made {
        Ok(finished) if finished.ended == Ended::Exited(0) => Ok(()),
        Ok(finished) => Err(format!("ssh-keygen: {}", finished.stderr.text())),
        Err(error) => Err(format!("there is no ssh client: {error}")),
    }
}

/// The folder that has the library which makes up users.
fn libraries(root: &Path) -> Option<PathBuf> {
    let folders = fs::read_dir(root).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    folders.into_iter().find(|folder| folder.join("libnss_wrapper.so").exists())
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
