//! One container: taken or made.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::StartFailure;
use hermes_exec_container::{Commands, Exec, Transport as _, unique};
use tokio::io::AsyncReadExt as _;
use tokio::time::{sleep, timeout};

use crate::engine::Engine;
use crate::options::Options;
use crate::reuse::{Pick, SPEC, Spec, pick, rows};
use crate::run_args::{Facts, OURS, PROFILE, TASK, own_folders, run_args};
use crate::transport::Way;
use crate::values::label;

/// How long a container may take to start, when its image is there.
const RUN: Duration = Duration::from_secs(120);

/// How long the first program in it may take.
const FIRST: Duration = Duration::from_secs(30);

/// A folder for short-lived files: all containers have one.
pub(crate) const TEMP: &str = "/tmp";

/// How often a container that was just started is looked at before it counts as one that stays.
const LOOKS: u32 = 3;

/// What is asked about a container. Its label [`SPEC`] is among that: Podman's list can't give it.
const COLUMNS: &str = "{{.Id}}\t{{.State.Running}}\t{{.HostConfig.NetworkMode}}\t\
                       {{.State.StartedAt}}\t{{index .Config.Labels \"hermes-spec\"}}";

/// A container that runs.
pub(crate) struct Container {
    pub(crate) id: String,
    /// When it was started: its temporary files are as old.
    pub(crate) started_at: String,
    /// The home folder in it.
    pub(crate) home: Option<String>,
    pub(crate) way: Arc<Way>,
    pub(crate) commands: Commands,
}

impl Container {
    /// The container of a task: one that is there and fits, or a new one.
    pub(crate) async fn open(
        engine: &Arc<Engine>,
        options: &Options,
    ) -> Result<Self, StartFailure> {
        let mut facts = engine.facts(options).await?;
        if options.persistent {
            for (folder, _) in own_folders(options) {
                make_folder(&folder, options.user)?;
            }
        }
        let maker = Maker { engine, options };
        if options.persist_across_processes {
            let spec = Spec::of(options, &facts);
            if let Some(seen) = maker.reused(&spec).await? {
                return Self::of(engine, seen).await;
            }
        }
        let mut made = maker.make(&facts).await;
        if made.is_err() && !facts.entrypoint.is_empty() {
            // The image may start something of its own whatever it is told to run.
            facts.skip_entrypoint = true;
            made = match maker.make(&facts).await {
                Ok(seen) => Ok(seen),
                Err(_) => made,
            };
        }
        Self::of(engine, made?).await
    }

    async fn of(engine: &Arc<Engine>, seen: Seen) -> Result<Self, StartFailure> {
        let way = Arc::new(Way::new(Arc::clone(engine), seen.id.clone()));
        let home = first(&way).await?;
        let commands = Commands::new(Arc::clone(&way) as Arc<_>, TEMP);
        Ok(Self { id: seen.id, started_at: seen.started_at, home, way, commands })
    }

    /// Names what its files are.
    pub(crate) fn identity(&self) -> String {
        format!("docker:{}@{}", self.id, self.started_at)
    }
}

/// What the engine says of a container.
struct Seen {
    id: String,
    is_running: bool,
    network: String,
    started_at: String,
    /// The label [`SPEC`].
    spec: String,
}

struct Maker<'m> {
    engine: &'m Arc<Engine>,
    options: &'m Options,
}

impl Maker<'_> {
    /// The container of the task that is there, running. One that was started otherwise is removed.
    async fn reused(&self, spec: &Spec) -> Result<Option<Seen>, StartFailure> {
        let filters = [
            format!("label={OURS}"),
            format!("label={TASK}={}", label(&self.options.task_id)),
            format!("label={PROFILE}={}", label(&self.options.profile)),
        ];
        let mut arguments = vec!["ps", "-a", "--no-trunc", "--format", "{{.ID}}\t{{.State}}"];
        arguments.extend(filters.iter().flat_map(|filter| ["--filter", filter]));
        let listed = self.engine.cli().ask(&arguments).await.map_err(StartFailure::passing)?;
        let own = spec.label();
        let mut fitting = Vec::new();
        for row in rows(&listed) {
            // Without an answer it is just being removed.
            let Ok(seen) = self.see(row.id).await else { continue };
            if seen.spec == own {
                fitting.push(row);
            } else if !spec.is_others(&seen.spec) {
                tracing::info!(id = row.id, "a container that was started otherwise is replaced");
                self.remove(row.id).await;
            }
        }
        let Some(Pick { id, start_needed }) = pick(fitting.into_iter()) else { return Ok(None) };
        if start_needed && self.engine.cli().ask(&["start", &id]).await.is_err() {
            self.remove(&id).await;
            return Ok(None);
        }
        let seen = self.see(&id).await.ok().filter(|seen| seen.is_running);
        let fits = |seen: &Seen| self.options.network || seen.network == "none";
        let seen = seen.filter(fits);
        if seen.is_none() {
            self.remove(&id).await;
        }
        Ok(seen)
    }

    /// Starts a new one.
    async fn make(&self, facts: &Facts) -> Result<Seen, StartFailure> {
        let name: String = format!("hermes-{}", unique().chars().take(8).collect::<String>());
        let mut arguments = run_args(self.options, facts, &name);
        let spec = Spec::of(self.options, &Facts { skip_entrypoint: false, ..facts.clone() });
        let labels = ["--label".to_owned(), format!("{SPEC}={}", spec.label())];
        // Behind `run -d`.
        arguments.splice(2..2, labels);
        let run = self.engine.cli().ask_for(RUN, &arguments).await;
        let id = match run {
            // Warnings may stand before it.
            Ok(said) => said.split_ascii_whitespace().last().unwrap_or(&name).to_owned(),
            Err(why) => {
                self.remove(&name).await;
                return Err(StartFailure::passing(format!(
                    "the container can't be started: {why}"
                )));
            }
        };
        match self.stays(&id).await {
            Ok(seen) => Ok(seen),
            Err(why) => {
                self.remove(&id).await;
                Err(StartFailure::new(why))
            }
        }
    }

    /// Looks whether a container stays, some times: an image may end at once.
    async fn stays(&self, id: &str) -> Result<Seen, String> {
        let mut looks = 1;
        loop {
            let seen = self.see(id).await?;
            if !seen.is_running {
                let said = self.engine.cli().ask(&["logs", "--tail", "20", id]).await;
                let said = said.unwrap_or_default();
                return Err(format!("the container ends at once: {}", said.trim()));
            }
            // Only an entry point of the image's own can end: there is nothing else to wait for.
            if looks >= LOOKS || self.options.image.is_empty() {
                return Ok(seen);
            }
            looks += 1;
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn see(&self, id: &str) -> Result<Seen, String> {
        let said = self.engine.cli().ask(&["inspect", "--format", COLUMNS, id]).await?;
        let mut columns = said.trim().split('\t');
        let mut next = || columns.next().unwrap_or_default().trim().to_owned();
        let (id, is_running) = (next(), next() == "true");
        Ok(Seen { id, is_running, network: next(), started_at: next(), spec: next() })
    }

    async fn remove(&self, id: &str) {
        if let Err(why) = self.engine.cli().remove(id).await {
            tracing::debug!(id, why, "a container isn't removed");
        }
    }
}

/// Runs a first program in a container, which tells its home folder.
async fn first(way: &Arc<Way>) -> Result<Option<String>, StartFailure> {
    const ASK: &str = r#"printf 'home=%s\n' "$HOME""#;
    let run = async {
        let mut running = way.exec(Exec::new(["sh", "-c", ASK])).await?;
        let mut said = Vec::new();
        // What can't be read isn't there.
        let _ = (&mut running.output).take(8 * 1024).read_to_end(&mut said).await;
        Ok(String::from_utf8_lossy(&said).into_owned())
    };
    let said = timeout(FIRST, run)
        .await
        .map_err(|_| StartFailure::new("the container is too slow to run anything"))??;
    let line = said.lines().find_map(|line| line.trim_end().strip_prefix("home="));
    let Some(home) = line else {
        return Err(StartFailure::new(format!(
            "nothing can be run in the container, which needs a shell named sh: {}",
            said.trim()
        )));
    };
    Ok(home.starts_with('/').then(|| home.to_owned()))
}

/// Makes a folder that is a container's own, for its user.
fn make_folder(folder: &Path, user: Option<(u32, u32)>) -> Result<(), StartFailure> {
    let fail = |error: std::io::Error| {
        StartFailure::new(format!("the folder {} can't be made: {error}", folder.display()))
    };
    std::fs::create_dir_all(folder).map_err(fail)?;
    if let Some((user, group)) = user {
        // Where that isn't allowed we are that user ourselves.
        let _ = std::os::unix::fs::chown(folder, Some(user), Some(group));
    }
    Ok(())
}
