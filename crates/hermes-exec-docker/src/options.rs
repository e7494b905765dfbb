//! What a container is to be like.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hermes_exec_container::Mount;
use hermes_exec_policy::isolation::Container;

/// What a container is to be like, and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The image, as the engine names it.
    pub image: String,
    /// The folder in the container that commands start in. It is made if it isn't there.
    pub cwd: String,
    /// The task it belongs to: one container for each.
    pub task_id: String,
    /// The profile it belongs to.
    pub profile: String,
    /// The folder of this machine below which persistent containers have their files.
    pub sandbox_root: PathBuf,
    /// Whether the home folder and `/workspace` are kept on this machine. Else they are gone with
    /// the container.
    pub persistent: bool,
    /// Whether the container stays when it is given up, for the next who asks for the same.
    pub persist_across_processes: bool,
    /// Whether it has a network.
    pub network: bool,
    /// Processors; 0 for no limit.
    pub cpu: f64,
    /// Megabytes of memory; 0 for no limit.
    pub memory_mb: u64,
    /// Megabytes of disk, where the engine can limit that; 0 for no limit.
    pub disk_mb: u64,
    /// The user's volumes, as in [`volumes`](crate::values::volumes).
    pub volumes: Vec<String>,
    /// Variables of the container, as in [`environment`](crate::values::environment).
    pub env: BTreeMap<String, String>,
    /// Further arguments of `docker run`, verbatim.
    pub extra_args: Vec<String>,
    /// A folder of this machine that is to be `/workspace`, if the user has no volume for that. It
    /// must be there.
    pub host_cwd: Option<PathBuf>,
    /// The user and group that the container runs as; None for the image's.
    pub user: Option<(u32, u32)>,
    /// Skills, credentials and caches.
    pub mounts: Vec<Mount>,
    /// Variables of commands that bring none of their own ([`bare`] is false).
    ///
    /// [`bare`]: hermes_exec::environment::Start::bare
    pub forward: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            image: String::new(),
            cwd: "/root".to_owned(),
            task_id: "default".to_owned(),
            profile: "default".to_owned(),
            sandbox_root: PathBuf::from("/nonexistent"),
            persistent: false,
            persist_across_processes: false,
            network: true,
            cpu: 0.0,
            memory_mb: 0,
            disk_mb: 0,
            volumes: Vec::new(),
            env: BTreeMap::new(),
            extra_args: Vec::new(),
            host_cwd: None,
            user: None,
            mounts: Vec::new(),
            forward: Vec::new(),
        }
    }
}

impl Options {
    /// Whether commands can change files of this machine that aren't the container's own: then
    /// nobody may take it for isolated.
    #[must_use]
    pub fn has_host_access(&self) -> bool {
        let container = Container {
            image: &self.image,
            has_host_cwd: self.host_cwd.is_some(),
            volumes: &self.volumes,
            extra_args: &self.extra_args,
        };
        let forwarded = self.forward.iter().map(|(name, _)| name);
        container.has_host_access(self.env.keys().chain(forwarded).map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_access() {
        let access = |volumes: &[&str], extra: &[&str], host_cwd: Option<PathBuf>| {
            let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
            let options = Options {
                volumes: texts(volumes),
                extra_args: texts(extra),
                host_cwd,
                ..Options::default()
            };
            options.has_host_access()
        };
        assert!(!access(&[], &[], None));
        assert!(!access(&["v:/data"], &["--gpus", "all"], None));
        assert!(access(&["v:/data", "~/x:/y"], &[], None));
        assert!(access(&[], &[], Some("/p".into())));
        assert!(access(&[], &["--privileged"], None));
        let forward = vec![("DOCKER_HOST".to_owned(), "tcp://h".to_owned())];
        assert!(Options { forward, ..Options::default() }.has_host_access());
    }
}
