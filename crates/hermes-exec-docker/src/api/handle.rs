//! What is known of a program in a container through the engine.

use std::io;
use std::time::Duration;

use hermes_exec::environment::{BoxFuture, Exit, Handle, Pid, Size};
use hermes_task::Tracked;
use serde_json::Value;
use tokio::net::unix::OwnedWriteHalf;
use tokio::runtime::Handle as Runtime;
use tokio::sync::{Mutex, Notify};
use tokio::time::sleep;

use super::{Api, ApiError};

/// How often the engine is asked whether the program has ended, at first and in the end. Whoever
/// waits hears of it from the program itself, as a rule.
const LOOKS: [Duration; 2] = [Duration::from_millis(30), Duration::from_secs(3)];

/// How often an engine that can't be reached is asked again.
const TRIES: u32 = 4;

/// A program in a container. Dropping this gives the connection up, and nothing else.
pub(super) struct ExecHandle {
    api: Api,
    id: String,
    has_terminal: bool,
    /// The last change of the terminal's size; those before it don't matter.
    resize: std::sync::Mutex<Option<Tracked<()>>>,
    /// How it ended, once that is known.
    exit: Mutex<Option<Exit>>,
    /// It was killed: whoever asks need not wait for the next time.
    killed: Notify,
    /// Writes what was given as stdin.
    pub(super) feed: Option<Tracked<()>>,
    /// Parts the two streams.
    pub(super) parted: Option<Tracked<()>>,
    /// The way in of a program that reads nothing.
    pub(super) idle: Option<OwnedWriteHalf>,
}

impl ExecHandle {
    pub(super) fn new(api: Api, id: String, has_terminal: bool) -> Self {
        Self {
            api,
            id,
            has_terminal,
            resize: std::sync::Mutex::new(None),
            exit: Mutex::new(None),
            killed: Notify::new(),
            feed: None,
            parted: None,
            idle: None,
        }
    }

    async fn ended(&self) -> Exit {
        let mut known = self.exit.lock().await;
        if let Some(exit) = known.as_ref() {
            return exit.clone();
        }
        let exit = self.looked().await;
        *known = Some(exit.clone());
        exit
    }

    /// Asks until it has ended.
    async fn looked(&self) -> Exit {
        let [mut pause, longest] = LOOKS;
        let mut tries = 0;
        loop {
            tokio::select! {
                () = sleep(pause) => pause = (pause * 2).min(longest),
                () = self.killed.notified() => [pause, _] = LOOKS,
            }
            match self.api.inspect_exec(&self.id).await {
                Ok(state) => {
                    tries = 0;
                    if state.get("Running").and_then(Value::as_bool) == Some(false) {
                        let code = state.get("ExitCode").and_then(Value::as_i64);
                        let code = code.and_then(|code| i32::try_from(code).ok());
                        return code.map_or_else(
                            || Exit::Lost("the container engine doesn't know how".to_owned()),
                            Exit::Code,
                        );
                    }
                }
                Err(ApiError::Refused(_, why)) => return Exit::Lost(why),
                Err(error) if tries >= TRIES => return Exit::Lost(error.to_string()),
                Err(_) => tries += 1,
            }
        }
    }
}

impl Handle for ExecHandle {
    fn pid(&self) -> Option<Pid> {
        None
    }

    fn wait(&self) -> BoxFuture<'_, Exit> {
        Box::pin(self.ended())
    }

    fn terminate(&self, _grace: Duration) -> BoxFuture<'_, ()> {
        self.killed.notify_one();
        Box::pin(std::future::ready(()))
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        if !self.has_terminal {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "it runs without a terminal"));
        }
        if Runtime::try_current().is_err() {
            return Err(io::Error::other("there is no runtime to do it in"));
        }
        let (api, id) = (self.api.clone(), self.id.clone());
        let change = hermes_task::spawn(async move {
            if let Err(error) = api.resize(&id, size).await {
                tracing::debug!(%error, "a terminal keeps its size");
            }
        });
        *self.resize.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(change);
        Ok(())
    }

    fn release(&self) {}
}
