//! The environment.

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Close, Environment, Running, Start, StartFailure};
use hermes_net::Client;
use hermes_task::Tracked;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::api::Api;
use crate::command;
use crate::control::{self, Leftover, TEMP_DIR};
use crate::options::Options;
use crate::sandbox::{self, acquire, toolbox_url};
use crate::toolbox::Toolbox;

/// What a command that nobody holds any more gets to tidy up.
const GRACE: Duration = Duration::from_secs(1);
/// How long a sandbox that ran is taken to run still.
const FRESH: Duration = Duration::from_secs(5);
/// How long asking for the home folder may take.
const HOME: Duration = Duration::from_secs(10);

/// A sandbox of Daytona's.
pub struct Daytona {
    options: Options,
    toolbox: Arc<Toolbox>,
    home: Option<String>,
    leftovers: mpsc::UnboundedSender<Leftover>,
    /// When the sandbox was last known to run.
    ran_at: Mutex<Option<Instant>>,
    is_closed: Mutex<bool>,
    _tidier: Tracked<()>,
}

impl std::fmt::Debug for Daytona {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daytona").field("sandbox", &self.toolbox.sandbox).finish_non_exhaustive()
    }
}

impl Daytona {
    /// The sandbox of a task: found by its name or label and started, or made.
    ///
    /// # Errors
    /// The service isn't reached or refuses, or the sandbox doesn't start; as a sentence that says
    /// what can be done.
    pub async fn open(net: &Client, options: Options) -> Result<Self, StartFailure> {
        let api = Api::new(net, &options)?;
        let sandbox = acquire(&api, &options).await?;
        let reaching = async { api.toolbox(&toolbox_url(&api, &sandbox).await?) };
        let base = reaching.await.map_err(|fault| fault.to("reaching the sandbox"))?;
        let toolbox = Arc::new(Toolbox { api, base, sandbox: sandbox.id });
        let probe = ["sh", "-c", r#"printf %s "$HOME""#].map(str::to_owned);
        let home = match toolbox.execute(&probe, HOME).await {
            Ok((0, home)) => Some(home).filter(|home| home.starts_with('/')),
            other => {
                tracing::debug!(?other, "the home folder isn't known");
                None
            }
        };
        let (leftovers, received) = mpsc::unbounded_channel();
        let tidier = hermes_task::spawn(tidy(Arc::clone(&toolbox), received));
        Ok(Self {
            options,
            toolbox,
            home,
            leftovers,
            ran_at: Mutex::new(Some(Instant::now())),
            is_closed: Mutex::default(),
            _tidier: tidier,
        })
    }
}

/// Ends the commands that nobody holds any more, and closes their sessions and terminals.
async fn tidy(toolbox: Arc<Toolbox>, mut leftovers: mpsc::UnboundedReceiver<Leftover>) {
    let mut work = JoinSet::new();
    while let Some(leftover) = leftovers.recv().await {
        while work.try_join_next().is_some() {}
        let toolbox = Arc::clone(&toolbox);
        work.spawn(async move {
            match leftover {
                Leftover::Running(id) => {
                    control::end(&toolbox, &id, GRACE).await;
                    toolbox.close_session(&id).await;
                }
                Leftover::Ended(id) => toolbox.close_session(&id).await,
                Leftover::BusyTerminal(id) => {
                    control::end(&toolbox, &id, GRACE).await;
                    toolbox.close_terminal(&id).await;
                }
                Leftover::Terminal(id) => toolbox.close_terminal(&id).await,
            }
        });
    }
    work.join_all().await;
}

impl Environment for Daytona {
    fn kind(&self) -> &'static str {
        "daytona"
    }

    fn identity(&self) -> String {
        format!("daytona:{}", self.toolbox.sandbox)
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
        Box::pin(async move {
            let started = command::start(&self.toolbox, start, self.leftovers.clone()).await;
            if started.is_err() {
                // The sandbox may be why.
                *self.ran_at.lock().await = None;
            }
            started
        })
    }

    fn prepare(&self) -> BoxFuture<'_, Result<(), StartFailure>> {
        Box::pin(async move {
            let mut ran_at = self.ran_at.lock().await;
            if ran_at.is_none_or(|at| at.elapsed() > FRESH) {
                *ran_at = None;
                let api = &self.toolbox.api;
                if sandbox::wake(api, &self.options, &self.toolbox.sandbox).await? {
                    tracing::info!(sandbox = %self.toolbox.sandbox, "a sandbox was started again");
                }
                *ran_at = Some(Instant::now());
            }
            Ok(())
        })
    }

    fn close(&self, how: Close) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut is_closed = self.is_closed.lock().await;
            if std::mem::replace(&mut *is_closed, true) {
                return;
            }
            let (api, id) = (&self.toolbox.api, &self.toolbox.sandbox);
            match how {
                Close::AsConfigured if self.options.is_persistent => sandbox::stop(api, id).await,
                _ => sandbox::delete(api, id).await,
            }
        })
    }
}
