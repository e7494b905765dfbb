//! A host as an environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hermes_exec::environment::{BoxFuture, Close, Environment, Running, Start, StartFailure};
use hermes_exec_policy::choice::ssh_socket_name;
use tokio::sync::Mutex;

use crate::connect::{connect, control};
use crate::connection::{Condition, Connection};
use crate::options::{Control, Options};
use crate::socket::socket;

/// A host behind ssh. Commands of all sessions run over one connection; if it is lost, the next
/// command makes a new one.
pub struct Ssh {
    options: Options,
    socket: Option<PathBuf>,
    home: String,
    temp_dir: String,
    connection: Mutex<Option<Arc<Connection>>>,
    is_closed: AtomicBool,
}

impl Ssh {
    /// Connects to a host and finds out what is there.
    ///
    /// # Errors
    /// There is no connection, in the words of ssh and with what can be done about it. Nothing ran.
    pub async fn connect(options: Options) -> Result<Self, StartFailure> {
        options.check()?;
        let name = ssh_socket_name(&options.user, &options.host, options.port);
        let socket = socket(&options.temp_dir, &name)?;
        let connection = connect_through(&options, socket.as_deref()).await?;
        let hello = &connection.hello;
        Ok(Self {
            socket,
            home: hello.home.clone(),
            temp_dir: hello.temp_dir.clone(),
            connection: Mutex::new(Some(Arc::new(connection))),
            is_closed: AtomicBool::new(false),
            options,
        })
    }

    /// The connection, a new one if the last was lost. Parallel commands wait for the same one.
    async fn connection(&self) -> Result<Arc<Connection>, StartFailure> {
        let mut connection = self.connection.lock().await;
        if self.is_closed.load(Ordering::Acquire) {
            return Err(StartFailure::gone(format!("{} was given up", self.identity())));
        }
        if let Some(last) = &*connection {
            match last.condition().await {
                Condition::Usable => return Ok(last.clone()),
                Condition::Ended => {}
                // What is shared with others doesn't work for them either.
                Condition::Silent => reset(&self.options, self.socket.as_deref()).await,
            }
        }
        *connection = None;
        let new = Arc::new(connect_through(&self.options, self.socket.as_deref()).await?);
        *connection = Some(new.clone());
        Ok(new)
    }
}

/// Connects, through the shared connection where there is one. One that doesn't answer any more is
/// ended and left aside.
async fn connect_through(
    options: &Options,
    socket: Option<&Path>,
) -> Result<Connection, StartFailure> {
    let Some(socket) = socket else { return connect(options, Control::None).await };
    let was_shared = socket.exists();
    let failure = match connect(options, Control::Shared(socket)).await {
        Err(failure) if was_shared && failure.is_safe_to_retry => failure,
        connected => return connected,
    };
    reset(options, Some(socket)).await;
    tracing::debug!(%failure, "the shared connection didn't answer");
    connect(options, Control::Shared(socket)).await
}

/// Ends the shared connection at once.
async fn reset(options: &Options, socket: Option<&Path>) {
    if let Some(socket) = socket {
        control(options, socket, "exit").await;
        // Where nobody answered it is still there.
        let _ = std::fs::remove_file(socket);
    }
}

impl Environment for Ssh {
    fn kind(&self) -> &'static str {
        "ssh"
    }

    fn identity(&self) -> String {
        format!("ssh:{}", self.options.name())
    }

    fn temp_dir(&self) -> &str {
        &self.temp_dir
    }

    fn home(&self) -> Option<&str> {
        Some(&self.home)
    }

    fn initial_cwd(&self) -> &str {
        &self.options.initial_cwd
    }

    fn start(&self, start: Start) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(async move { self.connection().await?.start(start).await })
    }

    fn prepare(&self) -> BoxFuture<'_, Result<(), StartFailure>> {
        Box::pin(async move { self.connection().await.map(drop) })
    }

    fn close(&self, how: Close) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.is_closed.store(true, Ordering::Release);
            let connection = self.connection.lock().await.take();
            if let Some(connection) = connection {
                connection.quit().await;
            }
            let Some(socket) = &self.socket else { return };
            // Others may use the same one: it ends with the last of them, unless nothing may be
            // left.
            let what = if how == Close::Remove { "exit" } else { "stop" };
            control(&self.options, socket, what).await;
            let _ = std::fs::remove_file(socket);
        })
    }
}
