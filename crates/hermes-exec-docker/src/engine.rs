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
        let api = match socket(&cli).await {
            Some(socket) => Api::connect(&socket).await.ok(),
            None => None,
        };
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
                let pulled = self.cli.ask_for(PULL, &["pull", "--quiet", image]).await;
                pulled.map_err(|why| failure(format!("the image {image} can't be had: {why}")))?;
                self.cli.ask(&ask).await.map_err(StartFailure::passing)?
            }
        };
        Ok(serde_json::from_str::<Option<Vec<String>>>(said.trim())
            .ok()
            .flatten()
            .unwrap_or_default())
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
        let driver = self.cli.ask(&["info", "--format", "{{.Driver}}"]).await;
        if !driver.is_ok_and(|driver| driver.trim() == "overlay2") {
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
    let cli = Cli::find(env).ok_or("neither docker nor podman is installed")?;
    cli.ask_for(PREFLIGHT, &["version"]).await?;
    Ok(cli)
}

/// The socket of the client's engine, if it is one of this machine.
async fn socket(cli: &Cli) -> Option<PathBuf> {
    const UNIX: &str = "unix://";
    if let Some(host) = cli.variable("DOCKER_HOST").filter(|host| !host.is_empty()) {
        return host.strip_prefix(UNIX).map(PathBuf::from);
    }
    if cli.is_podman() {
        return None;
    }
    let ask = ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"];
    let host = cli.ask(&ask).await.ok()?;
    host.trim().strip_prefix(UNIX).map(PathBuf::from)
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
