//! The places commands can run in, with the settings of each.

use std::collections::BTreeMap;

use super::TerminalConfigError;
use super::reader::Reader;

/// The image of containers when none is configured.
pub const DEFAULT_IMAGE: &str = "nikolaik/python-nodejs:python3.11-nodejs20";

/// Where commands run.
#[derive(Clone, Debug, PartialEq)]
pub enum Backend {
    /// On this host.
    Local(LocalConfig),
    /// In a container of docker or podman.
    Docker(DockerConfig),
    /// On another machine.
    Ssh(SshConfig),
    /// In an instance of singularity or apptainer.
    Singularity(ContainerConfig),
    /// In a sandbox of Modal.
    Modal(ModalConfig),
    /// In a sandbox of Daytona.
    Daytona(ContainerConfig),
    /// A name nobody knows: nothing can be run.
    Unknown(String),
}

/// Settings of the local backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalConfig {
    /// Whether `TERMINAL_LOCAL_PERSISTENT` is on.
    pub persistent: bool,
}

/// What all containers have.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerConfig {
    /// The image.
    pub image: String,
    /// Processors; parts are possible.
    pub cpu: f64,
    /// Memory in MB.
    pub memory_mb: u64,
    /// Disk in MB.
    pub disk_mb: u64,
    /// Whether files are kept when the container goes.
    pub persistent: bool,
}

/// Settings of docker.
#[derive(Clone, Debug, PartialEq)]
pub struct DockerConfig {
    /// What all containers have.
    pub container: ContainerConfig,
    /// Names of variables that are passed in with the values of the host.
    pub forward_env: Vec<String>,
    /// Variables of the container.
    pub env: BTreeMap<String, String>,
    /// Mounts: `SOURCE:TARGET[:MODE]`.
    pub volumes: Vec<String>,
    /// Further words for `docker run`.
    pub extra_args: Vec<String>,
    /// Whether it has a network.
    pub network: bool,
    /// Whether the folder of the host that commands would start in is mounted.
    pub mount_cwd_to_workspace: bool,
    /// Whether it runs under the user's own number.
    pub run_as_host_user: bool,
    /// Whether the container outlives this program and is found again.
    pub persist_across_processes: bool,
    /// Whether containers that nobody needs any more are removed.
    pub orphan_reaper: bool,
}

/// Settings of ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshConfig {
    /// The host; empty if not configured.
    pub host: String,
    /// The user; empty if not configured.
    pub user: String,
    /// The port.
    pub port: u16,
    /// The file of the private key, with `~` replaced.
    pub key: Option<String>,
    /// Whether `TERMINAL_SSH_PERSISTENT` is on.
    pub persistent: bool,
}

/// Settings of Modal.
#[derive(Clone, Debug, PartialEq)]
pub struct ModalConfig {
    /// What all containers have.
    pub container: ContainerConfig,
    /// With whose account.
    pub mode: ModalMode,
}

/// With whose account sandboxes of Modal are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModalMode {
    /// Through the gateway if possible, else with the user's own.
    #[default]
    Auto,
    /// Through the gateway.
    Managed,
    /// With the user's own.
    Direct,
}

impl ModalMode {
    /// The mode by its name; one that nobody knows is `auto`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "managed" => Self::Managed,
            "direct" => Self::Direct,
            _ => Self::Auto,
        }
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Managed => "managed",
            Self::Direct => "direct",
        }
    }
}

impl Backend {
    pub(super) fn read(reader: &Reader<'_>) -> Result<Self, TerminalConfigError> {
        // The variable doesn't have the name of its key; a blank one chooses nothing.
        let name = reader.settings.env_filled("TERMINAL_ENV").map(str::to_owned);
        let name = name.or_else(|| reader.config("backend")?.as_str().map(str::to_owned));
        let name = name.unwrap_or_default().trim().to_ascii_lowercase();
        Ok(match name.as_str() {
            "" | "local" => Self::Local(LocalConfig { persistent: persistent(reader, "local") }),
            "docker" => Self::Docker(DockerConfig {
                container: ContainerConfig::read(reader, "docker_image", "")?,
                forward_env: reader.texts("docker_forward_env")?,
                env: reader.pairs("docker_env")?,
                volumes: reader.texts("docker_volumes")?,
                extra_args: reader.texts("docker_extra_args")?,
                network: reader.flag("docker_network", true),
                mount_cwd_to_workspace: reader.flag("docker_mount_cwd_to_workspace", false),
                run_as_host_user: reader.flag("docker_run_as_host_user", false),
                persist_across_processes: reader.flag("docker_persist_across_processes", true),
                orphan_reaper: reader.flag("docker_orphan_reaper", true),
            }),
            "ssh" => Self::Ssh(SshConfig {
                host: reader.text("ssh_host").unwrap_or_default(),
                user: reader.text("ssh_user").unwrap_or_default(),
                port: u16::try_from(reader.number("ssh_port", 22, 1)?)
                    .map_err(|_| reader.bad("ssh_port", "a port"))?,
                key: reader.text("ssh_key").map(|key| reader.expanded(&key)),
                persistent: persistent(reader, "ssh"),
            }),
            "singularity" | "apptainer" => {
                let container = ContainerConfig::read(reader, "singularity_image", "docker://")?;
                Self::Singularity(container)
            }
            "modal" => Self::Modal(ModalConfig {
                container: ContainerConfig::read(reader, "modal_image", "")?,
                mode: ModalMode::of(&reader.text("modal_mode").unwrap_or_default()),
            }),
            "daytona" => Self::Daytona(ContainerConfig::read(reader, "daytona_image", "")?),
            _ => Self::Unknown(name),
        })
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Local(_) => "local",
            Self::Docker(_) => "docker",
            Self::Ssh(_) => "ssh",
            Self::Singularity(_) => "singularity",
            Self::Modal(_) => "modal",
            Self::Daytona(_) => "daytona",
            Self::Unknown(name) => name,
        }
    }

    /// What it has as a container, if it is one.
    #[must_use]
    pub fn container(&self) -> Option<&ContainerConfig> {
        match self {
            Self::Docker(docker) => Some(&docker.container),
            Self::Modal(modal) => Some(&modal.container),
            Self::Singularity(container) | Self::Daytona(container) => Some(container),
            Self::Local(_) | Self::Ssh(_) | Self::Unknown(_) => None,
        }
    }
}

impl ContainerConfig {
    /// With the image under a key, or the usual one behind a scheme.
    fn read(reader: &Reader<'_>, image: &str, scheme: &str) -> Result<Self, TerminalConfigError> {
        Ok(Self {
            image: reader.text(image).unwrap_or_else(|| format!("{scheme}{DEFAULT_IMAGE}")),
            cpu: reader.amount("container_cpu", 1.0)?,
            memory_mb: reader.number("container_memory", 5120, 0)?,
            disk_mb: reader.number("container_disk", 51200, 0)?,
            persistent: reader.flag("container_persistent", true),
        })
    }
}

/// `TERMINAL_LOCAL_PERSISTENT` and its like: by default what `persistent_shell` says for ssh, and
/// off for the host.
fn persistent(reader: &Reader<'_>, place: &str) -> bool {
    let default = place == "ssh" && reader.flag("persistent_shell", true);
    reader.flag(&format!("{place}_persistent"), default)
}
