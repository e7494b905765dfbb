//! The section `terminal` of the configuration and the variables `TERMINAL_*`.

mod backend;
pub mod cwd;
mod error;
mod init_files;
mod reader;
mod sandbox;

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_registry::Settings;
use serde_json::Value;

pub use backend::{
    Backend, ContainerConfig, DEFAULT_IMAGE, DockerConfig, LocalConfig, ModalConfig, ModalMode,
    SshConfig,
};
pub use error::TerminalConfigError;
pub use init_files::InitFiles;
use reader::Reader;
pub use sandbox::{SandboxConfig, SandboxMode};

use crate::child_env::HomeMode;
use crate::isolation::Container;

/// How long a command may take when nothing is said, in seconds.
const TIMEOUT: u64 = 180;

/// How long a command that is waited for may ask for at most, in seconds.
const MAX_FOREGROUND_TIMEOUT: u64 = 600;

/// How long an unused environment lives, in seconds.
const LIFETIME: u64 = 300;

/// How many characters of output a command may give.
const OUTPUT_LIMIT: u64 = 50_000;

/// Seconds between asking a background process to end and ending it.
const TERM_GRACE: f64 = 2.0;

/// Gigabytes of scratch folders that are worth a warning.
const DISK_WARNING: f64 = 500.0;

/// No configured time is longer, in seconds: a year. Sums with points in time stay in range.
const MAX_SECONDS: u64 = 365 * 24 * 60 * 60;

/// How commands are run, as configured. A variable wins over its key in `config.yaml`.
///
/// Only what the chosen backend needs is read: a broken value for another one does no harm.
#[derive(Clone, Debug, PartialEq)]
pub struct TerminalConfig {
    /// Where commands run, with the settings of that place.
    pub backend: Backend,
    /// The folder they start in, as written. A local one may be relative: see
    /// [`cwd::anchored`]. For ssh, `~` is the remote home.
    pub cwd: String,
    /// The folder of the host that is mounted as `cwd`: docker only.
    pub host_cwd: Option<String>,
    /// How long a command may take when a call says nothing.
    pub timeout: Duration,
    /// How long a call that waits may ask for at most.
    pub max_foreground_timeout: Duration,
    /// How long an unused environment lives.
    pub lifetime: Duration,
    /// How many characters of output a call answers with at most.
    pub output_limit: usize,
    /// Which folder is a command's home.
    pub home_mode: HomeMode,
    /// Variables that go into sandboxes, as written: see
    /// [`Passthrough`](crate::child_env::Passthrough).
    pub env_passthrough: Vec<String>,
    /// Files below the home folder that go into sandboxes, as written.
    pub credential_files: Vec<String>,
    /// What a local session reads at its start.
    pub init_files: InitFiles,
    /// How long a background process that is told to end has before it is killed; nothing: it is
    /// never killed.
    pub term_grace: Duration,
    /// The sandbox around local commands.
    pub sandbox: SandboxConfig,
    /// The folder that holds what sandboxes keep on the host.
    pub sandbox_root: PathBuf,
    /// Where singularity keeps images and overlays, if configured.
    pub scratch_dir: Option<PathBuf>,
    /// Bytes of scratch folders that are worth a warning.
    pub disk_warning_bytes: u64,
    /// What is odd and was ignored, a sentence each.
    pub warnings: Vec<String>,
}

impl TerminalConfig {
    /// What the settings say. `process_dir` is the folder this program was started in.
    ///
    /// For docker with `docker_mount_cwd_to_workspace` it looks whether a folder exists.
    ///
    /// # Errors
    ///
    /// A value that the chosen backend needs can't be understood.
    pub fn of(settings: &Settings, process_dir: &Path) -> Result<Self, TerminalConfigError> {
        let mut reader = Reader::new(settings);
        let backend = Backend::read(&reader)?;
        let start = cwd::Start::of(&reader, &backend, process_dir);
        let seconds = |count: u64| Duration::from_secs(count.min(MAX_SECONDS));
        let timeout = reader.number("timeout", TIMEOUT, 1)?;
        let lifetime = reader.number("lifetime_seconds", LIFETIME, 0)?;
        let max_foreground =
            reader.lenient("TERMINAL_MAX_FOREGROUND_TIMEOUT", MAX_FOREGROUND_TIMEOUT as f64);
        let disk_warning = reader.lenient("TERMINAL_DISK_WARNING_GB", DISK_WARNING);
        let grace = reader.amount("daemon_term_grace_seconds", TERM_GRACE)?;
        Ok(Self {
            cwd: start.cwd,
            host_cwd: start.host_cwd,
            timeout: seconds(timeout),
            max_foreground_timeout: seconds(max_foreground as u64),
            lifetime: seconds(lifetime),
            output_limit: output_limit(settings),
            home_mode: HomeMode::of(&reader.text("home_mode").unwrap_or_default()),
            env_passthrough: reader.config_texts("env_passthrough"),
            credential_files: reader.config_texts("credential_files"),
            init_files: InitFiles::read(&reader),
            term_grace: Duration::from_secs_f64(grace.min(MAX_SECONDS as f64)),
            sandbox: SandboxConfig::read(&mut reader)?,
            sandbox_root: reader
                .folder("sandbox_dir")
                .unwrap_or_else(|| settings.home().join("sandboxes")),
            scratch_dir: reader.folder("scratch_dir"),
            disk_warning_bytes: (disk_warning * 1e9) as u64,
            backend,
            warnings: reader.into_warnings(),
        })
    }

    /// Whether what runs there can change folders of this host, so that people are asked first.
    #[must_use]
    pub fn has_host_access(&self) -> bool {
        match &self.backend {
            Backend::Docker(docker) => {
                let container = Container {
                    image: &docker.container.image,
                    has_host_cwd: self.host_cwd.is_some(),
                    volumes: &docker.volumes,
                    extra_args: &docker.extra_args,
                };
                let named = docker.forward_env.iter().chain(&self.env_passthrough);
                container.has_host_access(docker.env.keys().chain(named).map(String::as_str))
            }
            Backend::Local(_) | Backend::Unknown(_) => true,
            Backend::Ssh(_) | Backend::Singularity(_) | Backend::Modal(_) | Backend::Daytona(_) => {
                false
            }
        }
    }
}

/// `tool_output.max_bytes`, counted in characters; what makes no sense is the default.
fn output_limit(settings: &Settings) -> usize {
    let number = match settings.get("tool_output.max_bytes") {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_u64(),
        None => None,
    };
    let number = number.filter(|number| *number > 0).unwrap_or(OUTPUT_LIMIT);
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
