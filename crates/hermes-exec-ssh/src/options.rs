//! Which host, and how it is reached.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use hermes_exec::environment::StartFailure;
use hermes_exec::program::Program;

/// Which host, and how it is reached.
#[derive(Clone)]
pub struct Options {
    /// A name of the host, its address, or an alias in the configuration of ssh.
    pub host: String,
    /// Who logs in.
    pub user: String,
    /// The port of the server, 22 as a rule.
    pub port: u16,
    /// A file with a private key. Without it ssh looks where it always does.
    pub key: Option<PathBuf>,
    /// The folder that sessions start in, for the host's shell to expand: `~`, `~/work`, `/srv`.
    pub initial_cwd: String,
    /// A folder of this machine, in which a folder for sockets is made.
    pub temp_dir: PathBuf,
    /// The program, looked for in the `PATH` of [`env`](Self::env) if it is a bare name.
    pub program: OsString,
    /// The whole environment of the program: `PATH`, `HOME`, `SSH_AUTH_SOCK`. None of it is sent
    /// to the host, unless the configuration of ssh says so.
    pub env: Vec<(OsString, OsString)>,
    /// A configuration of ssh in place of the user's.
    pub config: Option<PathBuf>,
}

// Without the environment: secrets are among it.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("user", &self.user)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("key", &self.key)
            .field("initial_cwd", &self.initial_cwd)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// A host by name, with `ssh` from the given environment and everything else as usual.
    pub fn new(
        user: impl Into<String>,
        host: impl Into<String>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            host: host.into(),
            user: user.into(),
            port: 22,
            key: None,
            initial_cwd: "~".to_owned(),
            temp_dir: PathBuf::from("/tmp"),
            program: "ssh".into(),
            env: env.into_iter().collect(),
            config: None,
        }
    }

    /// `user@host`.
    pub(crate) fn destination(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }

    /// `user@host:port`.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.destination(), self.port)
    }

    /// Refuses what ssh would take for something else than a user and a host.
    pub(crate) fn check(&self) -> Result<(), StartFailure> {
        for (what, text) in [("user", &self.user), ("host", &self.host)] {
            let message = if text.is_empty() {
                format!("the {what} for ssh isn't set (terminal.ssh_{what})")
            } else if text.starts_with('-')
                || text.chars().any(|c| c.is_whitespace() || c.is_control())
            {
                format!("{text:?} can't be a {what} for ssh (terminal.ssh_{what})")
            } else {
                continue;
            };
            return Err(StartFailure::new(message));
        }
        Ok(())
    }

    /// The client with the options of every call, the given ones, the host, and what it runs there.
    pub(crate) fn program(&self, control: Control<'_>, more: &[&str], command: &[&str]) -> Program {
        let mut argv = vec![self.program.clone()];
        let mut arg = |arg: &dyn AsRef<std::ffi::OsStr>| argv.push(arg.as_ref().to_owned());
        if let Some(config) = &self.config {
            arg(&"-F");
            arg(config);
        }
        let control: Vec<OsString> = match control {
            Control::None => vec!["ControlMaster=no".into(), "ControlPath=none".into()],
            Control::Shared(socket) => {
                vec![path_option(socket), "ControlMaster=auto".into(), "ControlPersist=300".into()]
            }
        };
        for option in control {
            arg(&"-o");
            arg(&option);
        }
        for option in OPTIONS {
            arg(&"-o");
            arg(&option);
        }
        if self.port != 22 {
            arg(&"-p");
            arg(&self.port.to_string());
        }
        if let Some(key) = &self.key {
            arg(&"-i");
            arg(key);
        }
        for word in more {
            arg(word);
        }
        arg(&"--");
        arg(&self.destination());
        for word in command {
            arg(word);
        }
        Program::new(argv).env(self.env.iter().cloned())
    }
}

/// Options of every call.
const OPTIONS: [&str; 9] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=accept-new",
    "ConnectTimeout=10",
    // A host that is gone without a word is noticed within a minute.
    "ServerAliveInterval=15",
    "ServerAliveCountMax=4",
    // What a configuration may say that would change what runs there or what is said about it.
    "RequestTTY=no",
    "RemoteCommand=none",
    "ClearAllForwardings=yes",
    "LogLevel=ERROR",
];

/// How connections are shared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Control<'a> {
    /// Not at all.
    None,
    /// Through this socket.
    Shared(&'a Path),
}

/// The option with the path of the socket. ssh replaces what follows a `%`, and splits at blanks.
fn path_option(socket: &Path) -> OsString {
    let path = socket.to_string_lossy().replace('%', "%%");
    if path.contains(char::is_whitespace) {
        format!("ControlPath=\"{path}\"").into()
    } else {
        format!("ControlPath={path}").into()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn whoever_is_no_user_or_host_is_refused() {
        for (user, host) in
            [("", "h"), ("u", ""), ("-oProxyCommand=x", "h"), ("u", "-h"), ("u", "a b")]
        {
            assert!(Options::new(user, host, []).check().is_err(), "{user} {host}");
        }
        for (user, host) in [("u", "h"), ("a@b", "::1"), ("dom\\u", "h-1.example")] {
            assert_eq!(Options::new(user, host, []).check(), Ok(()));
        }
    }

    #[test]
    fn the_environment_is_not_shown() {
        let options = Options::new("u", "h", [("TOKEN".into(), "secret".into())]);
        assert!(!format!("{options:?}").contains("secret"));
    }

    #[test]
    fn paths_mean_themselves() {
        assert_eq!(path_option(Path::new("/a/%h b")), "ControlPath=\"/a/%%h b\"");
        assert_eq!(path_option(Path::new("/a/b")), "ControlPath=/a/b");
    }
}
