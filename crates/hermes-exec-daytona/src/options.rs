//! What a sandbox is made from.

use std::fmt;
use std::time::Duration;

/// Who asks.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A key (`DAYTONA_API_KEY`).
    ApiKey(String),
    /// A token of a person's session, in one of their organisations (`DAYTONA_JWT_TOKEN`,
    /// `DAYTONA_ORGANIZATION_ID`).
    Jwt {
        /// The token.
        token: String,
        /// The organisation.
        organization: String,
    },
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApiKey(_) => f.write_str("ApiKey"),
            Self::Jwt { organization, .. } => {
                f.debug_struct("Jwt").field("organization", organization).finish_non_exhaustive()
            }
        }
    }
}

/// What a sandbox is made from, and for whom. Nothing is read from the environment of the process.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who asks.
    pub credentials: Credentials,
    /// The address of the service in place of the provider's own (`DAYTONA_API_URL`). It may be a
    /// private one, and then toolboxes may be at such, too.
    pub api_url: Option<String>,
    /// The region (`DAYTONA_TARGET`); the organisation's own if it isn't said.
    pub target: Option<String>,
    /// A name of an image in a registry.
    pub image: String,
    /// Processors.
    pub cpu: u32,
    /// Memory in GiB.
    pub memory: u32,
    /// Disk in GiB.
    pub disk: u32,
    /// Whether the sandbox is stopped when it is given up, and used again; else it is deleted.
    pub is_persistent: bool,
    /// Whose sandbox it is: its name and label.
    pub task: String,
    /// The folder that sessions start in, absolute.
    pub cwd: String,
    /// How long a sandbox may take to start.
    pub start_limit: Duration,
    /// How long it may take where its image is built or pulled first.
    pub build_limit: Duration,
}

impl Options {
    /// A sandbox with one processor, 5 GiB of memory and 10 GiB of disk, that is kept.
    #[must_use]
    pub fn new(
        credentials: Credentials,
        image: impl Into<String>,
        task: impl Into<String>,
    ) -> Self {
        Self {
            credentials,
            api_url: None,
            target: None,
            image: image.into(),
            cpu: 1,
            memory: 5,
            disk: 10,
            is_persistent: true,
            task: task.into(),
            cwd: "/root".to_owned(),
            start_limit: Duration::from_secs(60),
            build_limit: Duration::from_secs(600),
        }
    }
}
