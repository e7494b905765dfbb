//! Where a command would run.

use serde_json::Value;

/// An execution environment, as far as approval cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its kind: `local`, `ssh`, `docker`, `modal`, ..
    pub env_type: String,
    /// Whether a folder of the host is in it.
    pub has_host_access: bool,
}

impl Default for Place {
    /// The host itself.
    fn default() -> Self {
        Self::new("local")
    }
}

impl Place {
    /// An environment of some kind, without a folder of the host.
    #[must_use]
    pub fn new(env_type: impl Into<String>) -> Self {
        Self { env_type: env_type.into(), has_host_access: false }
    }

    /// The same environment with a folder of the host in it, or without.
    #[must_use]
    pub fn with_host_access(mut self, has_host_access: bool) -> Self {
        self.has_host_access = has_host_access;
        self
    }

    /// A docker container with these volumes (`SOURCE:TARGET[:MODE]`), and perhaps the working
    /// directory of the host.
    #[must_use]
    pub fn docker<S: AsRef<str>>(volumes: &[S], mounts_cwd: bool) -> Self {
        let has_host_access = mounts_cwd || volumes.iter().any(|it| is_host_folder(it.as_ref()));
        Self::new("docker").with_host_access(has_host_access)
    }

    /// The container that the terminal settings describe: `docker_volumes`,
    /// `docker_mount_cwd_to_workspace` and `host_cwd` of `section`.
    #[must_use]
    pub fn docker_of(section: &Value) -> Self {
        let volumes = crate::policy::texts(section.get("docker_volumes"));
        let is_mounted = section
            .get("docker_mount_cwd_to_workspace")
            .is_some_and(|flag| crate::policy::is_on(flag, false));
        let host_cwd = section.get("host_cwd").and_then(Value::as_str).unwrap_or_default();
        Self::docker(&volumes, is_mounted && !host_cwd.trim().is_empty())
    }

    /// Whether nothing that runs there can harm the host, so that nobody need be asked.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        match self.env_type.trim().to_ascii_lowercase().as_str() {
            "singularity" | "apptainer" | "modal" | "daytona" | "vercel_sandbox" => true,
            "docker" => !self.has_host_access,
            _ => false,
        }
    }
}

/// Whether the source of a volume is a path and no volume's name.
fn is_host_folder(volume: &str) -> bool {
    let volume = volume.trim();
    let mut chars = volume.chars();
    let is_drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('\\' | '/'));
    is_drive || ["/", "./", "../", "~", ".:", "..:"].iter().any(|it| volume.starts_with(it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn containers_are_isolated_unless_the_host_is_in_them() {
        for (kind, isolated) in [
            ("local", false),
            ("ssh", false),
            ("docker", true),
            ("Modal", true),
            ("daytona", true),
            ("singularity", true),
            ("vercel_sandbox", true),
            ("podman", false),
            ("", false),
        ] {
            assert_eq!(Place::new(kind).is_isolated(), isolated, "{kind}");
        }
        for (volume, isolated) in [
            ("data:/data", true),
            ("/srv:/srv:ro", false),
            ("./a:/a", false),
            ("../a:/a", false),
            ("~/a:/a", false),
            ("~:/a", false),
            (r"C:\x:/x", false),
            ("c:/x:/x", false),
            ("/srv", false),
        ] {
            assert_eq!(Place::docker(&[volume], false).is_isolated(), isolated, "{volume}");
        }
        let section = |cwd: &str| json!({"docker_mount_cwd_to_workspace": true, "host_cwd": cwd});
        assert!(!Place::docker_of(&section("/w")).is_isolated());
        assert!(Place::docker_of(&section("")).is_isolated());
    }
}
