//! Where a command would run.

/// An execution environment, as far as approval cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its kind: `local`, `ssh`, `docker`, `modal`, ..
    pub env_type: String,
    /// Whether what runs in it can reach the host.
    pub has_host_access: bool,
}

impl Default for Place {
    /// The host itself.
    fn default() -> Self {
        Self::new("local")
    }
}

impl Place {
    /// An environment of some kind, without a way to the host.
    #[must_use]
    pub fn new(env_type: impl Into<String>) -> Self {
        Self { env_type: env_type.into(), has_host_access: false }
    }

    /// The same environment with a way to the host, or without.
    #[must_use]
    pub fn with_host_access(mut self, has_host_access: bool) -> Self {
        self.has_host_access = has_host_access;
        self
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

#[cfg(test)]
mod tests {
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
        assert!(!Place::new("docker").with_host_access(true).is_isolated());
    }
}
