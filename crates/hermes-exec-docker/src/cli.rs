//! The engine's client program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_exec::environment::{Running, StartFailure, Stdin};
use hermes_exec::program::{Ended, Program, StartError, Streams, TAG, find};
use hermes_exec_container::Exec;

/// How long a question may take.
const QUESTION: Duration = Duration::from_secs(30);

/// How long a container may take to stop and to be removed.
const REMOVAL: Duration = Duration::from_secs(60);

/// Keys that nobody types, in place of the two that would leave a program on a terminal: those are
/// the program's own.
pub(crate) const DETACH_KEYS: &str = "ctrl-^,ctrl-@,ctrl-^,ctrl-_,ctrl-^";

/// Where clients are that aren't found by name.
const USUAL: [&str; 4] = [
    "/usr/local/bin/docker",
    "/opt/homebrew/bin/docker",
    "/Applications/Docker.app/Contents/Resources/bin/docker",
    "/opt/podman/bin/podman",
];

/// The client of an engine, and the variables that it is run with.
#[derive(Clone, Debug)]
pub(crate) struct Cli {
    file: PathBuf,
    env: Vec<(String, String)>,
    is_podman: bool,
}

impl Cli {
    /// The client that `HERMES_DOCKER_BINARY` in `env` names, or `docker`, or `podman`.
    pub(crate) fn find(env: &[(String, String)]) -> Option<Self> {
        let value = |key: &str| {
            let found = env.iter().rev().find(|(name, _)| name == key);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.trim().is_empty())
        };
        let root = Path::new("/");
        let path = value("PATH").map(OsStr::new);
        let named = value("HERMES_DOCKER_BINARY").map(str::trim);
        let names = named.into_iter().chain(["docker", "podman"]).chain(USUAL);
        let file = names.map(OsStr::new).find_map(|name| find(name, root, path).ok())?;
        Some(Self { file, env: env.to_vec(), is_podman: false })
    }

    /// Looks whether the engine answers, and whether this is Podman's client, whatever its name is.
    ///
    /// # Errors
    /// It doesn't answer; the text is what the client says about that.
    pub(crate) async fn greet(&mut self, limit: Duration) -> Result<(), String> {
        let said = self.ask_for(limit, &["version"]).await?;
        self.is_podman = is_podman(&said);
        Ok(())
    }

    /// Whether it is Podman's.
    pub(crate) fn is_podman(&self) -> bool {
        self.is_podman
    }

    /// One of the variables that it is run with.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().rev().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Runs it and gives what it says.
    ///
    /// # Errors
    /// It failed; the text is what it says about that.
    pub(crate) async fn ask<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, String> {
        self.ask_for(QUESTION, arguments).await
    }

    /// As [`ask`](Self::ask), with a time limit.
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
        let verb = arguments.first().map(|it| it.as_ref().to_string_lossy().into_owned());
        let verb = verb.unwrap_or_default();
        Err(match finished.ended {
            Ended::TimedOut => format!("{name} {verb} took more than {} s", limit.as_secs()),
            ended if said.is_empty() => format!("{name} {verb}: {ended}"),
            _ => format!("{name} {verb}: {said}"),
        })
    }

    /// Removes a container, whether it runs or not.
    pub(crate) async fn remove(&self, id: &str) -> Result<(), String> {
        self.ask_for(REMOVAL, &["rm", "-f", "-v", id]).await.map(drop)
    }

    /// Stops a container, giving it ten seconds.
    pub(crate) async fn stop(&self, id: &str) -> Result<(), String> {
        self.ask_for(REMOVAL, &["stop", "-t", "10", id]).await.map(drop)
    }

    /// Runs a program in a container.
    pub(crate) fn exec(&self, id: &str, exec: &Exec) -> Result<Running, StartFailure> {
        let mut arguments = vec!["exec".to_owned()];
        let mut add = |words: [&str; 2]| arguments.extend(words.map(str::to_owned));
        if let Some(user) = exec.user {
            add(["-u", &user.to_string()]);
        }
        let mut passed = Vec::new();
        for (name, value) in &exec.env {
            if self.is_own(name) {
                add(["-e", &format!("{name}={value}")]);
            } else {
                // Everybody on this machine sees the arguments, but not the variables.
                add(["-e", name]);
                passed.push((name.clone(), value.clone()));
            }
        }
        if exec.terminal.is_some() {
            add(["-it", "--detach-keys"]);
            arguments.push(DETACH_KEYS.to_owned());
        } else if exec.stdin != Stdin::Null {
            arguments.push("-i".to_owned());
        }
        arguments.push(id.to_owned());
        arguments.extend(exec.argv.iter().cloned());
        let streams = Streams {
            stdin: exec.stdin.clone(),
            errors_apart: exec.errors_apart,
            terminal: exec.terminal,
        };
        let env = self.env.iter().cloned().chain(passed);
        let program = self.program(&arguments).env(env);
        program.launch(streams).map_err(|error| not_started(&error))
    }

    /// Whether a variable means something to the client itself.
    fn is_own(&self, name: &str) -> bool {
        // With the tag among its variables the client would be taken for a part of the command, and
        // the command, where it can be seen from here, for a part of the client.
        self.variable(name).is_some()
            || name == TAG
            || ["DOCKER_", "CONTAINER", "PODMAN", "XDG_", "LD_"]
                .iter()
                .any(|it| name.starts_with(it))
            || matches!(name, "HOME" | "PATH" | "TERM" | "TMPDIR" | "GODEBUG")
            || name.to_ascii_lowercase().ends_with("_proxy")
    }

    fn program<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Program {
        let words = arguments.iter().map(|word| word.as_ref().to_owned());
        let file = self.file.clone().into_os_string();
        Program::new(std::iter::once(file).chain(words)).env(self.env.iter().cloned())
    }
}

/// Whether Podman's client says this about its version. Docker's begins with its own part and then
/// tells about the engine, which may be Podman's; early ones of Podman have but one part.
fn is_podman(version: &str) -> bool {
    let client = version.lines().find_map(|line| line.trim().strip_prefix("Client:"));
    client.is_none_or(|name| name.contains("Podman"))
}

fn not_started(error: &StartError) -> StartFailure {
    StartFailure::passing(format!("the client of the container engine can't be run: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn clients() {
        for (version, expected) in [
            (
                "Client:       Podman Engine\nVersion:      4.3.1\n\nServer:       Podman Engine",
                true,
            ),
            ("Version:      3.0.1\nAPI Version:  3.0.0\n", true),
            ("Client:\n Version:           20.10.24\n\nServer:\n Podman Engine:\n", false),
            ("Client: Docker Engine - Community\n Version: 28.0.1\n", false),
        ] {
            assert_eq!(is_podman(version), expected, "{version}");
        }
    }
}
