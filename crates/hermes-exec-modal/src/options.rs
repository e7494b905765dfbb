//! What a sandbox is made from.

use std::path::PathBuf;
use std::time::Duration;

use crate::profile::Credentials;

/// What a sandbox is made from, and for whom. Nothing is read from the environment of the process.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who asks.
    pub credentials: Credentials,
    /// The server in place of the provider's own (`MODAL_SERVER_URL`). It may be at a private
    /// address, and then workers may be, too.
    pub server_url: Option<String>,
    /// The provider's environment that the app belongs to (`MODAL_ENVIRONMENT`); the default one if
    /// it isn't said.
    pub environment: Option<String>,
    /// A name of an image in a registry, or the id of one of the provider's (`im-..`).
    pub image: String,
    /// Commands of a Dockerfile after its `FROM`, one each.
    pub build: Vec<String>,
    /// Processors, also parts of them.
    pub cpu: f64,
    /// Memory in MiB.
    pub memory_mb: u32,
    /// Whether the sandbox reaches the network.
    pub network: bool,
    /// How long the sandbox may live.
    pub lifetime: Duration,
    /// How long it may have nothing to do.
    pub idle: Option<Duration>,
    /// Whether the files are kept when it is given up, for the next one of the same task.
    pub is_persistent: bool,
    /// Whose sandbox it is.
    pub task: String,
    /// The folder that sessions start in, absolute.
    pub cwd: String,
    /// The home folder in which snapshots are noted (`modal_snapshots.json`).
    pub hermes_home: PathBuf,
}

impl Options {
    /// A sandbox with one processor and 5 GiB, for an hour, that is kept.
    #[must_use]
    pub fn new(
        credentials: Credentials,
        image: impl Into<String>,
        task: impl Into<String>,
        hermes_home: impl Into<PathBuf>,
    ) -> Self {
        Self {
            credentials,
            server_url: None,
            environment: None,
            image: image.into(),
            build: Vec::new(),
            cpu: 1.0,
            memory_mb: 5120,
            network: true,
            lifetime: Duration::from_secs(3600),
            idle: None,
            is_persistent: true,
            task: task.into(),
            cwd: "/root".to_owned(),
            hermes_home: hermes_home.into(),
        }
    }
}
