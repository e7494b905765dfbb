//! Sandboxes through a gateway that holds the account with the provider.

mod exec;
mod gateway;
mod options;

use std::sync::Arc;
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Close, Environment, Running, Start, StartFailure};
use hermes_net::Client;
use hermes_task::Tracked;
use serde_json::json;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::api::new_uuid;
use crate::command::TEMP_DIR;
use gateway::Gateway;
pub use options::{ManagedOptions, Tokens};

/// How long a sandbox may live.
const LIFETIME: Duration = Duration::from_secs(3600);
/// How long it may have nothing to do at least.
const IDLE: Duration = Duration::from_secs(300);
/// How long making one and giving one up may take.
const LONGEST: Duration = Duration::from_secs(60);

/// A sandbox of Modal's, by the gateway.
///
/// The gateway tells what a command wrote as text, and takes input only when a command starts:
/// what is written to the stdin of one that runs is refused.
pub struct ManagedModal {
    options: ManagedOptions,
    sandbox: Arc<exec::Sandbox>,
    dropped: mpsc::UnboundedSender<String>,
    is_closed: Mutex<bool>,
    _canceller: Tracked<()>,
}

impl std::fmt::Debug for ManagedModal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ManagedModal").field("sandbox", &self.sandbox.id).finish_non_exhaustive()
    }
}

impl ManagedModal {
    /// Makes a sandbox. The gateway finds the files of the task's last one by itself.
    ///
    /// # Errors
    /// Files with credentials were asked for, which can't be brought there; or the gateway isn't
    /// reached or refuses; as a sentence that says what can be done.
    pub async fn open(net: &Client, options: ManagedOptions) -> Result<Self, StartFailure> {
        if options.has_credential_files {
            return Err(StartFailure::new(
                "credential files can't be brought into a managed sandbox: use your own account \
                 (terminal.modal_mode: direct), or take them out of terminal.credential_files and \
                 the skills that ask for them",
            ));
        }
        let gateway = Gateway::new(net, &options)?;
        let idle = IDLE.max(options.command_limit);
        let mut body = json!({
            "image": options.image,
            "cwd": options.cwd,
            "cpu": options.cpu,
            "memoryMiB": options.memory_mb,
            "timeoutMs": millis(LIFETIME),
            "idleTimeoutMs": millis(idle),
            "persistentFilesystem": options.is_persistent,
            "logicalKey": options.task,
        });
        if let (Some(disk), Some(body)) = (options.disk_mb, body.as_object_mut()) {
            body.insert("diskMiB".to_owned(), disk.into());
        }
        let made = gateway.create(&body, &new_uuid(), LONGEST).await;
        let id = made.map_err(|fault| fault.to("making a sandbox"))?;
        let limit = options.command_limit;
        let sandbox = Arc::new(exec::Sandbox { gateway, id, cwd: options.cwd.clone(), limit });
        let (dropped, ids) = mpsc::unbounded_channel();
        let canceller = hermes_task::spawn(cancel_dropped(Arc::clone(&sandbox), ids));
        let is_closed = Mutex::default();
        Ok(Self { options, sandbox, dropped, is_closed, _canceller: canceller })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Ends the commands that nobody wants any more.
async fn cancel_dropped(sandbox: Arc<exec::Sandbox>, mut ids: mpsc::UnboundedReceiver<String>) {
    let mut cancels = JoinSet::new();
    while let Some(id) = ids.recv().await {
        while cancels.try_join_next().is_some() {}
        let sandbox = Arc::clone(&sandbox);
        cancels.spawn(async move { sandbox.cancel(&id).await });
    }
    cancels.join_all().await;
}

impl Environment for ManagedModal {
    fn kind(&self) -> &'static str {
        "modal"
    }

    fn identity(&self) -> String {
        format!("modal-managed:{}", self.sandbox.id)
    }

    fn temp_dir(&self) -> &str {
        TEMP_DIR
    }

    fn home(&self) -> Option<&str> {
        None
    }

    fn initial_cwd(&self) -> &str {
        &self.options.cwd
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(exec::start(&self.sandbox, start, self.dropped.clone()))
    }

    fn close(&self, how: Close) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut is_closed = self.is_closed.lock().await;
            if std::mem::replace(&mut *is_closed, true) {
                return;
            }
            let keep = self.options.is_persistent && how == Close::AsConfigured;
            let body = json!({ "snapshotBeforeTerminate": keep });
            let path = format!("v1/sandboxes/{}/terminate", self.sandbox.id);
            if let Err(fault) = self.sandbox.gateway.post(&path, &body, LONGEST).await
                && fault.status != Some(404)
            {
                tracing::warn!(%fault, sandbox = %self.sandbox.id, "a sandbox isn't ended");
            }
        })
    }
}
