//! Whether what runs in a container can reach this host.

mod arguments;
mod volume;

pub use volume::{is_host_folder, volume_parts};

/// What is known about a container, as far as it can lead out of it.
///
/// Only what is known to lead nowhere counts as closed: an argument that nobody thought of is a way
/// to the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Container<'a> {
    /// The image.
    pub image: &'a str,
    /// Whether a folder of the host is mounted as the working folder.
    pub has_host_cwd: bool,
    /// Volumes: `SOURCE:TARGET[:MODE]`.
    pub volumes: &'a [String],
    /// Further words for `docker run`.
    pub extra_args: &'a [String],
}

impl Container<'_> {
    /// Whether commands in it can change this host, so that people are asked first. `variables` are
    /// the names of those that the container or its commands get.
    #[must_use]
    pub fn has_host_access<'n>(&self, variables: impl IntoIterator<Item = &'n str>) -> bool {
        self.has_host_cwd
            // The engine would take it for one more argument.
            || self.image.trim_start().starts_with('-')
            || self.volumes.iter().any(|volume| is_host_folder(volume))
            || variables.into_iter().any(names_an_engine)
            || arguments::open_the_host(self.extra_args)
    }
}

/// Whether a variable tells the clients of container engines where an engine is: whoever reaches one
/// has its machine.
fn names_an_engine(variable: &str) -> bool {
    matches!(variable.trim(), "DOCKER_HOST" | "DOCKER_CONTEXT" | "CONTAINER_HOST" | "BUILDKIT_HOST")
}

#[cfg(test)]
mod tests;
