//! A container engine, and what it can do.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::StartFailure;
use tokio::sync::Mutex;

use crate::api::Api;
use crate::cli::Cli;
use crate::container::Container;
use crate::environment::DockerEnvironment;
use crate::options::Options;
use crate::orphans;
use crate::run_args::Facts;

/// How long an engine may take to say that it is there.
const PREFLIGHT: Duration = Duration::from_secs(5);

/// How long an image may take to come.
const PULL: Duration = Duration::from_secs(600);

/// How long a probe may take.
const PROBE: Duration = Duration::from_secs(60);

/// A container engine: Docker's, or Podman's. What it can do is found out once.
#[derive(Debug)]
pub struct Engine {
    cli: Cli,
    api: Option<Api>,
    limits: Mutex<Option<bool>>,
    disk_limit: Mutex<Option<bool>>,
}

impl Engine {
    /// The engine of this machine: that of the client that `HERMES_DOCKER_BINARY` names, of
    /// `docker` or of `podman`. `env` has the variables of this process, which the client is run
    /// with.
    ///
    /// # Errors
    /// There is no client, or its engine doesn't answer.
    pub async fn find(env: &[(String, String)]) -> Result<Arc<Self>, StartFailure> {
        let cli = client(env).await.map_err(failure)?;
        let api = api(&cli).await;
        Ok(Arc::new(Self { cli, api, limits: Mutex::new(None), disk_limit: Mutex::new(None) }))
    }

    /// As [`find`](Self::find), with everything done by the client, also where there is a socket.
    ///
    /// # Errors
    /// There is no client, or its engine doesn't answer.
    pub async fn find_client(env: &[(String, String)]) -> Result<Arc<Self>, StartFailure> {
        let cli = client(env).await.map_err(failure)?;
        let (limits, disk_limit) = (Mutex::new(None), Mutex::new(None));
        Ok(Arc::new(Self { cli, api: None, limits, disk_limit }))
    }

    /// Whether there is an engine that answers.
    pub async fn is_available(env: &[(String, String)]) -> bool {
        client(env).await.is_ok()
    }

    /// Whether commands go over the engine's socket.
    #[must_use]
    pub fn has_socket(&self) -> bool {
        self.api.is_some()
    }

    /// The container of a task: one that is there and fits, or a new one. May bring the image
    /// first.
    ///
    /// # Errors
    /// The image can't be had, or the container doesn't run.
    pub async fn open(
        self: &Arc<Self>,
        options: Options,
    ) -> Result<DockerEnvironment, StartFailure> {
        let container = Container::open(self, &options).await?;
        Ok(DockerEnvironment::new(Arc::clone(self), options, container))
    }

    /// Removes the containers of a profile that nobody came back for: those that ended more than
    /// twice `lifetime` ago, and those that were made as long ago and never started. How many
    /// those were. To be called once by each process.
    pub async fn reap_orphans(&self, profile: &str, lifetime: Duration) -> usize {
        orphans::reap(&self.cli, profile, lifetime).await
    }

    pub(crate) fn cli(&self) -> &Cli {
        &self.cli
    }

    pub(crate) fn api(&self) -> Option<&Api> {
        self.api.as_ref()
    }

    /// What matters of the engine and the image for a container. Brings the image.
    pub(crate) async fn facts(&self, options: &Options) -> Result<Facts, StartFailure> {
        let image = options.image.trim();
        let entrypoint = self.entrypoint(image).await?;
        let limits = self.can_limit(image).await;
        let disk_limit = options.disk_mb > 0 && self.can_limit_disk(image).await;
        Ok(Facts { limits, disk_limit, entrypoint, skip_entrypoint: false })
    }

    async fn entrypoint(&self, image: &str) -> Result<Vec<String>, StartFailure> {
        if image.is_empty() || image.starts_with('-') {
            return Err(StartFailure::new(format!("{image:?} is no name of an image")));
        }
        let ask = ["image", "inspect", "--format", "{{json .Config.Entrypoint}}", image];
        let said = match self.cli.ask(&ask).await {
            Ok(said) => said,
            Err(_) => {
                let pulled = self.pull(image).await;
                pulled.map_err(|why| failure(format!("the image {image} can't be had: {why}")))?;
                self.cli.ask(&ask).await.map_err(StartFailure::passing)?
            }
        };
        Ok(serde_json::from_str::<Option<Vec<String>>>(said.trim())
            .ok()
            .flatten()
            .unwrap_or_default())
    }

    async fn pull(&self, image: &str) -> Result<(), String> {
        let pull = async |image: &str| {
            let pulled = self.cli.ask_for(PULL, &["pull", "--quiet", image]).await;
            pulled.map(drop)
        };
        let pulled = pull(image).await;
        // Podman knows no registry for such names, unless it was told one; others mean this one.
        // What came from there it then finds by the short name.
        let Some(name) = on_hub(image).filter(|_| self.cli.is_podman()) else { return pulled };
        match pulled {
            Err(why) if why.contains("short-name") => pull(&name).await,
            pulled => pulled,
        }
    }

    /// Whether a container can be limited, tried once with one.
    async fn can_limit(&self, image: &str) -> bool {
        let mut known = self.limits.lock().await;
        if let Some(known) = *known {
            return known;
        }
        let mut arguments = vec!["run", "--rm", "--network=none", "--cpus", "0.5"];
        arguments.extend(["--memory", "64m", "--pids-limit", "32"]);
        arguments.extend(["--entrypoint", "sleep", image, "0"]);
        let tried = self.cli.ask_for(PROBE, &arguments).await;
        if let Err(why) = &tried {
            tracing::info!(why, "containers run without limits");
        }
        *known = Some(tried.is_ok());
        tried.is_ok()
    }

    /// Whether the size of a container's disk can be limited, tried once with one.
    async fn can_limit_disk(&self, image: &str) -> bool {
        let mut known = self.disk_limit.lock().await;
        if let Some(known) = *known {
            return known;
        }
        let can = self.tried_disk(image).await;
        *known = Some(can);
        can
    }

    async fn tried_disk(&self, image: &str) -> bool {
        let (format, able) = if self.cli.is_podman() {
            ("{{.Store.GraphDriverName}}", "overlay")
        } else {
            ("{{.Driver}}", "overlay2")
        };
        let driver = self.cli.ask(&["info", "--format", format]).await;
        if !driver.is_ok_and(|driver| driver.trim() == able) {
            return false;
        }
        let create = ["create", "--storage-opt", "size=64m", "--entrypoint", "sleep", image, "0"];
        let Ok(id) = self.cli.ask_for(PROBE, &create).await else { return false };
        if let Err(why) = self.cli.remove(id.trim()).await {
            tracing::warn!(why, "a container that was made to try something is left");
        }
        true
    }
}

/// The client, if its engine answers.
async fn client(env: &[(String, String)]) -> Result<Cli, String> {
    let mut cli = Cli::find(env).ok_or("neither docker nor podman is installed")?;
    cli.greet(PREFLIGHT).await?;
    Ok(cli)
}

/// The engine behind the client's socket, if that is one of this machine and answers. Podman's isn't
/// used, which is for programs that know Docker's: for each command it leaves a process on this
/// machine for five minutes.
async fn api(cli: &Cli) -> Option<Api> {
    let path = |host: &str| host.trim().strip_prefix("unix://").map(PathBuf::from);
    if cli.is_podman() {
        return None;
    }
    let host = match cli.variable("DOCKER_HOST").filter(|host| !host.is_empty()) {
        Some(host) => host.to_owned(),
        None => {
            let ask = ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"];
            cli.ask(&ask).await.ok()?
        }
    };
    Api::connect(&path(&host)?).await.ok()
}

/// The full name of an image on Docker's registry, if its name says no other.
fn on_hub(image: &str) -> Option<String> {
    let first = image.split_once('/').map(|(first, _)| first);
    let is_host = |first: &str| first == "localhost" || first.contains(['.', ':']);
    (!first.is_some_and(is_host)).then(|| format!("docker.io/{image}"))
}

/// What the client says of an engine that isn't there, and of an image that doesn't exist: trying
/// again is of no use.
const LASTING: [&str; 10] = [
    "Cannot connect to",
    "daemon running",
    "connection refused",
    "permission denied",
    "neither",
    "not found",
    "manifest unknown",
    "access denied",
    "invalid reference",
    "no such host",
];

fn failure(message: String) -> StartFailure {
    match LASTING.iter().any(|it| message.contains(it)) {
        true => StartFailure::new(message),
        false => StartFailure::passing(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn images_without_a_registry() {
        for (image, expected) in [
            ("nikolaik/python:3", Some("docker.io/nikolaik/python:3")),
            ("debian", Some("docker.io/debian")),
            ("debian:12", Some("docker.io/debian:12")),
            ("ghcr.io/a/b", None),
            ("localhost/a", None),
            ("127.0.0.1:9/none:1", None),
            ("host:5000/a", None),
        ] {
            assert_eq!(on_hub(image).as_deref(), expected, "{image}");
        }
    }
}
