//! What an instance is to be like.

use std::path::PathBuf;

use hermes_exec_container::Mount;

/// What an instance is to be like, and whose it is.
#[derive(Clone, Debug)]
pub struct Options {
    /// A file that ends in `.sif`, an image of a registry such as `docker://debian:12`, or whatever
    /// else the client takes.
    pub image: String,
    /// The folder in the instance that commands start in.
    pub cwd: String,
    /// The task it belongs to.
    pub task_id: String,
    /// The folder of this machine below which sandboxes have their files.
    pub sandbox_root: PathBuf,
    /// A folder for what is large: images, overlays. None for the usual one.
    pub scratch: Option<PathBuf>,
    /// The file with the overlays that are kept.
    pub overlays_file: PathBuf,
    /// Whether what is written in the instance is kept for the task's next one.
    pub persistent: bool,
    /// Processors; 0 for no limit.
    pub cpu: f64,
    /// Megabytes of memory; 0 for no limit.
    pub memory_mb: u64,
    /// Skills, credentials and caches.
    pub mounts: Vec<Mount>,
    /// Variables of commands that bring none of their own.
    pub forward: Vec<(String, String)>,
    /// The variables of this process: where the client is found and what it is run with. Only
    /// those that mean something to it reach it.
    pub env: Vec<(String, String)>,
    /// Gigabytes in the scratch folder above which there is a warning.
    pub disk_warning_gb: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            image: String::new(),
            cwd: "/root".to_owned(),
            task_id: "default".to_owned(),
            sandbox_root: PathBuf::from("/nonexistent"),
            scratch: None,
            overlays_file: PathBuf::from("/nonexistent/singularity_snapshots.json"),
            persistent: false,
            cpu: 0.0,
            memory_mb: 0,
            mounts: Vec::new(),
            forward: Vec::new(),
            env: Vec::new(),
            disk_warning_gb: 500.0,
        }
    }
}
