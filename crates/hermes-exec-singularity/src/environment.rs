//! An instance as a machine that runs commands.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Close, Environment, Running, Start, StartFailure};
use hermes_exec_container::{Commands, Exec, Transport as _, path_segment};
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::client::Client;
use crate::image;
use crate::instance::Instance;
use crate::options::Options;
use crate::overlays::Overlays;
use crate::scratch;

/// A folder for short-lived files.
const TEMP: &str = "/tmp";

/// How long commands that were dropped may take to end before their instance is given up.
const SETTLE: Duration = Duration::from_secs(15);

/// How long the first program may take.
const FIRST: Duration = Duration::from_secs(30);

/// Starts an instance for a task. May build its image first.
///
/// # Errors
/// There is no client, or the instance doesn't start.
pub async fn open(options: Options) -> Result<SingularityEnvironment, StartFailure> {
    let client = Client::find(&options.env).await?;
    let refused = |error: std::io::Error| {
        StartFailure::new(format!("the folder for images and overlays can't be used: {error}"))
    };
    let scratch = scratch::scratch(&options, &client).map_err(refused)?;
    let image = image::resolved(&options.image, &client, &scratch).await;
    let overlay = overlay(&options, &scratch).map_err(refused)?;
    let warning = warning(&options, &scratch).await;
    let instance = Instance::start(&client, &options, &image, overlay.as_deref()).await?;
    let instance = Arc::new(instance);
    let commands = Commands::new(Arc::clone(&instance) as Arc<_>, TEMP);
    let is_closed = AtomicBool::new(false);
    // From here on it is stopped if anything fails.
    let mut environment = SingularityEnvironment {
        options,
        overlay,
        home: None,
        warning,
        instance,
        commands,
        is_closed,
    };
    environment.home = first(&environment.instance).await?;
    Ok(environment)
}

/// The overlay that the task's files are kept in.
fn overlay(options: &Options, scratch: &Path) -> std::io::Result<Option<PathBuf>> {
    if !options.persistent {
        return Ok(None);
    }
    let overlays = Overlays::at(&options.overlays_file);
    let known = overlays.of(&options.task_id).filter(|path| path.is_dir());
    let usual = || {
        let name = format!("overlay-{}", path_segment(&options.task_id));
        scratch.join("hermes-overlays").join(name)
    };
    let overlay = known.unwrap_or_else(usual);
    std::fs::create_dir_all(&overlay)?;
    overlays.note(&options.task_id, &overlay)?;
    Ok(Some(overlay))
}

/// What is to be said about the amount in the scratch folder.
async fn warning(options: &Options, scratch: &Path) -> Option<String> {
    let folder = scratch.to_owned();
    let used = hermes_task::spawn_blocking(move || scratch::used(&folder)).await.ok()?;
    let gigabytes = used as f64 / 1e9;
    (gigabytes > options.disk_warning_gb)
        .then(|| format!("sandboxes take {gigabytes:.0} GB in {}", scratch.display()))
}

/// Runs a first program in an instance, which tells its home folder.
async fn first(instance: &Arc<Instance>) -> Result<Option<String>, StartFailure> {
    const ASK: &str = r#"printf 'home=%s\n' "$HOME""#;
    let run = async {
        let mut running = instance.exec(Exec::new(["sh", "-c", ASK])).await?;
        let mut said = Vec::new();
        // What can't be read isn't there.
        let _ = (&mut running.output).take(8 * 1024).read_to_end(&mut said).await;
        Ok(String::from_utf8_lossy(&said).into_owned())
    };
    let said = timeout(FIRST, run)
        .await
        .map_err(|_| StartFailure::new("the instance is too slow to run anything"))??;
    let line = said.lines().find_map(|line| line.trim_end().strip_prefix("home="));
    let Some(home) = line else {
        return Err(StartFailure::new(format!(
            "nothing can be run in the instance, which needs a shell named sh: {}",
            said.trim()
        )));
    };
    Ok(home.starts_with('/').then(|| home.to_owned()))
}

/// An instance as a machine that runs commands. When the instance is gone, so is this: every start
/// says so, and [`open`] gives another one.
pub struct SingularityEnvironment {
    options: Options,
    overlay: Option<PathBuf>,
    home: Option<String>,
    warning: Option<String>,
    instance: Arc<Instance>,
    commands: Commands,
    is_closed: AtomicBool,
}

impl fmt::Debug for SingularityEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingularityEnvironment").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl SingularityEnvironment {
    /// The name of the instance.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.instance.name
    }

    /// Where what is written in the instance is kept, if it is.
    #[must_use]
    pub fn overlay(&self) -> Option<&Path> {
        self.overlay.as_deref()
    }

    /// What the user should hear about the disk, as a sentence.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    async fn started(&self, mut start: Start) -> Result<Running, StartFailure> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(StartFailure::new("the instance was given up"));
        }
        if let Some(how) = self.instance.gone() {
            return Err(StartFailure::gone(how));
        }
        if !start.bare {
            let own = std::mem::take(&mut start.env);
            start.env = self.options.forward.iter().cloned().chain(own).collect();
        }
        self.commands.start(start).await
    }

    async fn closed(&self) {
        self.is_closed.store(true, Ordering::Release);
        if timeout(SETTLE, self.commands.settle()).await.is_err() {
            tracing::debug!("commands are left to the end of their instance");
        }
        if let Err(why) = self.instance.stop().await {
            tracing::warn!(name = self.instance.name, why, "an instance doesn't stop");
        }
    }
}

impl Environment for SingularityEnvironment {
    fn kind(&self) -> &'static str {
        "singularity"
    }

    fn identity(&self) -> String {
        format!("singularity:{}", self.name())
    }

    fn temp_dir(&self) -> &str {
        TEMP
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    fn initial_cwd(&self) -> &str {
        self.options.cwd.trim()
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(self.started(start))
    }

    fn close(&self, _how: Close) -> BoxFuture<'_, ()> {
        Box::pin(self.closed())
    }
}

impl Drop for SingularityEnvironment {
    fn drop(&mut self) {
        if self.is_closed.load(Ordering::Acquire) {
            return;
        }
        // Nobody gave it up properly, and nobody would find it again.
        let instance = Arc::clone(&self.instance);
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                // There is nobody to tell.
                let _ = runtime.block_on(instance.stop());
            }
        };
        let _ = std::thread::Builder::new().name("stop-instance".to_owned()).spawn(work);
    }
}
