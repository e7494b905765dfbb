//! Sandboxes by the provider's own protocol.

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Close, Environment, Running, Start, StartFailure};
use hermes_net::Client;
use hermes_task::Tracked;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::api::Api;
use crate::command::{self, TEMP_DIR};
use crate::image::image;
use crate::options::Options;
use crate::proto::CommandRouterAccess;
use crate::router::Router;
use crate::rpc::failure;
use crate::sandbox::{self, Sandbox};
use crate::snapshots::Snapshots;

/// What a command that nobody wants any more gets to tidy up.
const GRACE: Duration = Duration::from_secs(1);

/// A sandbox of Modal's.
pub struct Modal {
    options: Options,
    router: Arc<Router>,
    snapshots: Snapshots,
    home: Option<String>,
    dropped: mpsc::UnboundedSender<String>,
    is_closed: Mutex<bool>,
    _ender: Tracked<()>,
}

impl std::fmt::Debug for Modal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Modal").field("sandbox", &self.router.sandbox.id).finish_non_exhaustive()
    }
}

impl Modal {
    /// Makes a sandbox: from the task's snapshot where there is one and files are kept, else from
    /// the image.
    ///
    /// # Errors
    /// The service isn't reached or refuses, the image can't be built, or the sandbox doesn't start;
    /// as a sentence that says what can be done.
    pub async fn open(net: &Client, options: Options) -> Result<Self, StartFailure> {
        let api = Arc::new(Api::new(net, &options)?);
        let builder = api.hello().await?;
        let app = api.app(options.environment.as_deref()).await?;
        let snapshots = Snapshots::of(&options.hermes_home);
        let restored = restored(&api, &options, &app, &snapshots).await?;
        let (sandbox, access) = match restored {
            Some(made) => made,
            None => {
                let image = image(&api, &options, &app, &builder).await?;
                sandbox::create(&api, &options, &app, &image).await?
            }
        };
        let reaching = Router::new(api, sandbox, access);
        let router = Arc::new(reaching.map_err(|err| failure("reaching the sandbox", &err))?);
        let home = command::output_of(&router, r#"printf %s "$HOME""#).await;
        let home = home
            .inspect_err(|err| tracing::debug!(%err, "the home folder isn't known"))
            .ok()
            .filter(|home| home.starts_with('/'));
        let (dropped, ids) = mpsc::unbounded_channel();
        let ender = hermes_task::spawn(end_dropped(Arc::clone(&router), ids));
        let is_closed = Mutex::default();
        Ok(Self { options, router, snapshots, home, dropped, is_closed, _ender: ender })
    }

    /// Keeps the files: the next sandbox of the same task has them.
    async fn keep(&self) {
        let kept = match self.router.snapshot().await {
            Ok(image) => self.snapshots.set(&self.options.task, &image).await,
            Err(err) => Err(std::io::Error::other(err)),
        };
        if let Err(err) = kept {
            tracing::error!(%err, sandbox = %self.router.sandbox.id, "the files aren't kept");
        }
    }
}

/// A sandbox from the task's snapshot, if it has one. One that can't be used is forgotten.
async fn restored(
    api: &Api,
    options: &Options,
    app: &str,
    snapshots: &Snapshots,
) -> Result<Option<(Sandbox, CommandRouterAccess)>, StartFailure> {
    if !options.is_persistent {
        return Ok(None);
    }
    let noted = snapshots.get(&options.task).await.unwrap_or_else(|err| {
        tracing::warn!(%err, "the record of snapshots can't be read");
        None
    });
    let Some(image) = noted else { return Ok(None) };
    match sandbox::create(api, options, app, &image).await {
        Ok(made) => Ok(Some(made)),
        // The service isn't there: that says nothing about the snapshot.
        Err(failure) if failure.is_safe_to_retry => Err(failure),
        Err(failure) => {
            tracing::warn!(%failure, image, "the files of before are lost");
            if let Err(err) = snapshots.forget(&options.task, Some(&image)).await {
                tracing::warn!(%err, "the record of snapshots can't be written");
            }
            Ok(None)
        }
    }
}

/// Ends the commands that nobody wants any more.
async fn end_dropped(router: Arc<Router>, mut ids: mpsc::UnboundedReceiver<String>) {
    let mut endings = JoinSet::new();
    while let Some(id) = ids.recv().await {
        while endings.try_join_next().is_some() {}
        let router = Arc::clone(&router);
        endings.spawn(async move { command::end(&router, &id, GRACE).await });
    }
    endings.join_all().await;
}

impl Environment for Modal {
    fn kind(&self) -> &'static str {
        "modal"
    }

    fn identity(&self) -> String {
        format!("modal:{}", self.router.sandbox.id)
    }

    fn temp_dir(&self) -> &str {
        TEMP_DIR
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    fn initial_cwd(&self) -> &str {
        &self.options.cwd
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(command::start(&self.router, start, self.dropped.clone()))
    }

    fn close(&self, how: Close) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut is_closed = self.is_closed.lock().await;
            if std::mem::replace(&mut *is_closed, true) {
                return;
            }
            match how {
                Close::AsConfigured if self.options.is_persistent => self.keep().await,
                Close::AsConfigured => {}
                Close::Remove => {
                    if let Err(err) = self.snapshots.forget(&self.options.task, None).await {
                        tracing::warn!(%err, "the record of snapshots can't be written");
                    }
                }
            }
            self.router.terminate().await;
        })
    }
}
