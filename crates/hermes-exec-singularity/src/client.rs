//! The client program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec::environment::{Running, StartFailure};
use hermes_exec::program::{Ended, Program, Streams, find};
use hermes_exec_container::Exec;

/// How long the client may take to say which it is.
const VERSION: Duration = Duration::from_secs(10);

/// How long a look for one may take.
const AVAILABLE: Duration = Duration::from_secs(5);

/// How long a question may take.
const QUESTION: Duration = Duration::from_secs(30);

/// Apptainer's or Singularity's client, and the variables that it is run with.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    file: PathBuf,
    env: Vec<(String, String)>,
}

/// Whether there is a client that runs. `env` has the variables of this process.
pub async fn is_available(env: &[(String, String)]) -> bool {
    match Client::look(env) {
        Some(client) => client.ask_for(AVAILABLE, &["--version"]).await.is_ok(),
        None => false,
    }
}

impl Client {
    /// The client of this machine, if it runs.
    pub(crate) async fn find(env: &[(String, String)]) -> Result<Self, StartFailure> {
        let client = Self::look(env)
            .ok_or_else(|| StartFailure::new("neither apptainer nor singularity is installed"))?;
        client.ask_for(VERSION, &["version"]).await.map_err(StartFailure::passing)?;
        Ok(client)
    }

    fn look(env: &[(String, String)]) -> Option<Self> {
        let path = env.iter().rev().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, value)| OsStr::new(value));
        let names = ["apptainer", "singularity"].map(OsStr::new);
        let file = names.into_iter().find_map(|name| find(name, Path::new("/"), path).ok())?;
        let env = env.iter().filter(|(name, _)| is_clients(name)).cloned().collect();
        Some(Self { file, env })
    }

    /// One of the variables that it is run with.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Runs it with further variables.
    pub(crate) fn with(&self, env: &[(&str, &Path)]) -> Self {
        let more = env.iter().map(|(name, path)| ((*name).to_owned(), path.display().to_string()));
        Self { file: self.file.clone(), env: self.env.iter().cloned().chain(more).collect() }
    }

    pub(crate) async fn ask<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, String> {
        self.ask_for(QUESTION, arguments).await
    }

    /// Runs it and gives what it says. The error is what it says about its failure.
    pub(crate) async fn ask_for<S: AsRef<OsStr>>(
        &self,
        limit: Duration,
        arguments: &[S],
    ) -> Result<String, String> {
        let finished = self.program(arguments).timeout(limit).run().await;
        let finished = finished.map_err(|error| error.to_string())?;
        if finished.ended == Ended::Exited(0) {
            return Ok(finished.stdout.text().into_owned());
        }
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let said = finished.stderr.text().trim().to_owned();
        Err(match finished.ended {
            Ended::TimedOut => format!("{name} took more than {} s", limit.as_secs()),
            ended if said.is_empty() => format!("{name}: {ended}"),
            _ => format!("{name}: {said}"),
        })
    }

    /// Runs a program in an instance.
    pub(crate) fn exec(&self, instance: &str, exec: &Exec) -> Result<Running, StartFailure> {
        let url = format!("instance://{instance}");
        // Without the first option what this process has of variables would come along.
        let words = ["exec", "--cleanenv", &url].map(str::to_owned);
        let words: Vec<String> = words.into_iter().chain(exec.argv.iter().cloned()).collect();
        let prefix = self.prefix();
        let passed =
            exec.env.iter().map(|(name, value)| (format!("{prefix}{name}"), value.clone()));
        let env: Vec<(String, String)> = self.env.iter().cloned().chain(passed).collect();
        let streams = Streams {
            stdin: exec.stdin.clone(),
            errors_apart: exec.errors_apart,
            terminal: exec.terminal,
        };
        self.program(&words).env(env).launch(streams).map_err(|error| {
            StartFailure::passing(format!("the client of the instance can't be run: {error}"))
        })
    }

    /// What the name of a variable begins with that is for the instance.
    fn prefix(&self) -> &'static str {
        let is_apptainer = self.file.file_name() == Some(OsStr::new("apptainer"));
        if is_apptainer { "APPTAINERENV_" } else { "SINGULARITYENV_" }
    }

    fn program<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Program {
        let words = arguments.iter().map(|word| word.as_ref().to_owned());
        let file = self.file.clone().into_os_string();
        Program::new(std::iter::once(file).chain(words)).env(self.env.iter().cloned())
    }
}

/// What the client may be told by variables of its own. Others mount folders of this machine into
/// instances, or give them rights.
const OWN: [&str; 12] = [
    "AUTHFILE",
    "CACHEDIR",
    "CONFIGDIR",
    "DEBUG",
    "DISABLE_CACHE",
    "DOCKER_PASSWORD",
    "DOCKER_USERNAME",
    "LIBRARY",
    "MESSAGELEVEL",
    "NOHTTPS",
    "PULLDIR",
    "TMPDIR",
];

/// Whether a variable means something to the client. Those that it would hand on don't come along.
fn is_clients(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let own = ["APPTAINER_", "SINGULARITY_"].iter().find_map(|prefix| name.strip_prefix(prefix));
    matches!(name, "PATH" | "HOME" | "USER" | "LOGNAME" | "LANG" | "LC_ALL" | "TERM" | "TMPDIR")
        || name.starts_with("XDG_")
        || own.is_some_and(|own| OWN.contains(&own))
        || ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"].contains(&upper.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_here() {
        for (name, expected) in [
            ("PATH", true),
            ("APPTAINER_CACHEDIR", true),
            ("https_proxy", true),
            ("SINGULARITY_DOCKER_PASSWORD", true),
            ("APPTAINER_BIND", false),
            ("SINGULARITY_BINDPATH", false),
            ("APPTAINER_ADD_CAPS", false),
            ("APPTAINERENV_X", false),
            ("OPENAI_API_KEY", false),
            ("LD_PRELOAD", false),
        ] {
            assert_eq!(is_clients(name), expected, "{name}");
        }
    }
}
