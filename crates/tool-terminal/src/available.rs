//! Whether commands can be run at all.

use std::path::Path;

use hermes_exec_policy::config::{Backend, TerminalConfig};
use hermes_registry::{Settings, Unavailable};

/// What is missing for the chosen kind of machine. Programs and daemons that it needs are asked
/// when it is made, where a failure can be told in full.
pub(crate) fn check(settings: &Settings) -> Result<(), Unavailable> {
    let config = TerminalConfig::of(settings, Path::new("/")).map_err(|it| it.to_string())?;
    let has = |name: &str| settings.env_filled(name).is_some();
    match &config.backend {
        Backend::Local(_) => Ok(()),
        Backend::Docker(_) => found(
            settings,
            &["HERMES_DOCKER_BINARY"],
            &["docker", "podman"],
            "terminal.backend is `docker`, and neither docker nor podman is installed",
        ),
        Backend::Singularity(_) => found(
            settings,
            &[],
            &["apptainer", "singularity"],
            "terminal.backend is `singularity`, and neither apptainer nor singularity is installed",
        ),
        Backend::Ssh(ssh) if ssh.host.is_empty() || ssh.user.is_empty() => {
            Err("terminal.backend is `ssh`: set terminal.ssh_host and terminal.ssh_user".to_owned())
        }
        Backend::Ssh(_) => found(
            settings,
            &[],
            &["ssh"],
            "terminal.backend is `ssh`, and no OpenSSH client is installed",
        ),
        // Which of the two ways to Modal is taken, and what it lacks, is told when it is taken.
        Backend::Modal(_) => Ok(()),
        Backend::Daytona(_) if !has("DAYTONA_API_KEY") && !has("DAYTONA_JWT_TOKEN") => {
            Err("terminal.backend is `daytona`: set DAYTONA_API_KEY".to_owned())
        }
        Backend::Daytona(_) => Ok(()),
        Backend::Unknown(name) => Err(format!("terminal.backend is `{name}`, which doesn't exist")),
    }
}

fn found(
    settings: &Settings,
    named: &[&str],
    programs: &[&str],
    otherwise: &str,
) -> Result<(), Unavailable> {
    let is_named = named.iter().any(|name| settings.env_filled(name).is_some());
    let path = settings.env("PATH").unwrap_or_default();
    let mut folders = path.split(':').filter(|folder| !folder.is_empty());
    let is_there = folders
        .any(|folder| programs.iter().any(|program| Path::new(folder).join(program).is_file()));
    if is_named || is_there { Ok(()) } else { Err(otherwise.to_owned()) }
}
