//! The files of environments, for the tools that work with files.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use hermes_exec::environment::{Dialect, Exit, Running, Start, Stdin};
use hermes_exec_policy::config::Backend;
use hermes_fs::{FileBackend, LocalFs, Ran, RemoteFs, Run, Shell, Workplace, Workplaces};
use hermes_registry::CallIds;
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Handle;

use crate::environments::Environments;

/// How often it is asked whether a script is to go on.
const LOOK: Duration = Duration::from_millis(50);

/// How long a script that is to end may take to do so.
const GRACE: Duration = Duration::from_millis(200);

/// The service for file tools.
struct Files {
    environments: Arc<Environments>,
}

impl Environments {
    /// The files of the environments, as a service. File tools wait for scripts on threads of the
    /// runtime on which they may block.
    #[must_use]
    pub fn workplaces(self: &Arc<Self>) -> Arc<dyn Workplaces> {
        Arc::new(Files { environments: Arc::clone(self) })
    }

    fn local_files(&self) -> Arc<dyn FileBackend> {
        let settings = self.settings();
        let local = LocalFs::new(settings.env_filled("HOME").map(PathBuf::from));
        let home = settings.home();
        Arc::new(match home.as_os_str().is_empty() {
            true => local,
            false => local.with_staging(home.join("staging")),
        })
    }
}

impl Workplaces for Files {
    fn workplace(&self, ids: &CallIds) -> Workplace {
        let environments = &self.environments;
        let config = environments.config_of(ids);
        let is_local = config.as_ref().map_or(true, |it| matches!(it.backend, Backend::Local(_)));
        let recorded = environments.recorded(ids).map(PathBuf::from);
        if is_local {
            let cwd = match (recorded, config) {
                // Not one that a command removed after it was there.
                (Some(_), Ok(config)) => Some(environments.folder(ids, None, &config).0.into()),
                (recorded, _) => recorded,
            };
            return Workplace { backend: environments.local_files(), cwd };
        }
        let cwd = recorded.or_else(|| Some(PathBuf::from(config.ok()?.cwd)));
        let key = environments.key(ids);
        let mut known = environments.files.lock().unwrap_or_else(PoisonError::into_inner);
        let backend = known.entry(key.clone()).or_insert_with(|| {
            Arc::new(RemoteFs::new(Arc::new(Scripts {
                identity: format!("environment:{key}"),
                ids: ids.clone(),
                environments: Arc::downgrade(environments),
            })))
        });
        Workplace { backend: Arc::clone(backend), cwd: cwd.filter(|it| it.has_root()) }
    }
}

/// Runs the scripts of the file tools on an environment, which is made with the first of them.
struct Scripts {
    identity: String,
    ids: CallIds,
    environments: Weak<Environments>,
}

impl Shell for Scripts {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn run(&self, run: &Run<'_>) -> io::Result<Ran> {
        let environments = self.environments.upgrade();
        let environments = environments.ok_or_else(|| io::Error::other("the program is ending"))?;
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        runtime.block_on(async {
            let lease = environments.lease(&self.ids).await.map_err(io::Error::other)?;
            let environment = lease.session().environment();
            environment.prepare().await.map_err(io::Error::other)?;
            let start = Start {
                dialect: Dialect::Posix,
                stdin: match run.stdin {
                    [] => Stdin::Null,
                    bytes => Stdin::Bytes(bytes.to_vec()),
                },
                errors_apart: true,
                ..Start::new(run.script)
            };
            let running = match environment.start(start).await {
                Ok(running) => running,
                Err(failure) => {
                    if failure.is_gone {
                        environments.lost(&lease).await;
                    }
                    return Err(io::Error::other(failure));
                }
            };
            listen(running, run).await
        })
    }
}

async fn listen(mut running: Running, run: &Run<'_>) -> io::Result<Ran> {
    let mut ran = Ran::default();
    let errors = running.errors.take();
    let work = async {
        let read_errors = async {
            if let Some(mut errors) = errors {
                // An error is the end of what can be had.
                let _ = errors.read_to_end(&mut ran.stderr).await;
            }
        };
        let (_, ()) = tokio::join!(running.output.read_to_end(&mut ran.stdout), read_errors);
        running.handle.wait().await
    };
    let ask = async {
        while (run.goes_on)() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let ended = tokio::select! {
        exit = work => Ok(exit),
        () = ask => Err(io::ErrorKind::Interrupted),
        () = tokio::time::sleep(run.timeout) => Err(io::ErrorKind::TimedOut),
    };
    match ended {
        Ok(Exit::Code(code)) => {
            // There is nothing to end any more.
            running.handle.release();
            ran.code = Some(code);
            Ok(ran)
        }
        Ok(Exit::Lost(why)) => Err(io::Error::other(why)),
        Err(kind) => {
            running.handle.terminate(GRACE).await;
            Err(kind.into())
        }
    }
}
