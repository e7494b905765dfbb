//! The way into one container.

use std::sync::{Arc, OnceLock};

use hermes_exec::environment::{BoxFuture, Running, StartFailure};
use hermes_exec_container::{Exec, Fate, Transport};
use hyper::StatusCode;
use serde_json::Value;

use crate::api::ApiError;
use crate::engine::Engine;

/// The way into one container: over the engine's socket, or by its client.
pub(crate) struct Way {
    engine: Arc<Engine>,
    id: String,
    /// How the container was lost, once that was seen.
    gone: OnceLock<String>,
}

impl Way {
    pub(crate) fn new(engine: Arc<Engine>, id: String) -> Self {
        Self { engine, id, gone: OnceLock::new() }
    }

    /// How the container was lost, if that was seen.
    pub(crate) fn gone(&self) -> Option<&str> {
        self.gone.get().map(String::as_str)
    }

    async fn run(&self, exec: Exec) -> Result<Running, StartFailure> {
        let run = match self.engine.api() {
            Some(api) => api.exec(&self.id, exec).await,
            None => self.engine.cli().exec(&self.id, &exec),
        };
        let Err(failure) = run else { return run };
        // What became of the container is for it to say, not for the words of an error.
        match self.look().await {
            Fate::Gone(how) => Err(StartFailure::gone(how)),
            Fate::Running | Fate::Unknown(_) => Err(StartFailure { is_gone: false, ..failure }),
        }
    }

    async fn look(&self) -> Fate {
        let fate = match self.engine.api() {
            Some(api) => match api.container(&self.id).await {
                Ok(container) => {
                    let is_running = container.pointer("/State/Running").and_then(Value::as_bool);
                    if is_running == Some(true) { Fate::Running } else { stopped() }
                }
                Err(ApiError::Refused(StatusCode::NOT_FOUND, _)) => removed(),
                Err(error) => Fate::Unknown(error.to_string()),
            },
            None => self.ask().await,
        };
        if let Fate::Gone(how) = &fate {
            self.gone.get_or_init(|| how.clone());
        }
        fate
    }

    /// Asks the client. A list in which it isn't is a better answer than an error.
    async fn ask(&self) -> Fate {
        let filter = format!("id={}", self.id);
        let list = ["ps", "-a", "--no-trunc", "--filter", &filter, "--format", "{{.State}}"];
        match self.engine.cli().ask(&list).await {
            Err(why) => Fate::Unknown(why),
            Ok(state) => {
                let state = state.trim().to_ascii_lowercase();
                let runs = ["running", "up", "paused"];
                if state.is_empty() {
                    removed()
                } else if runs.iter().any(|prefix| state.starts_with(prefix)) {
                    Fate::Running
                } else {
                    stopped()
                }
            }
        }
    }
}

fn removed() -> Fate {
    Fate::Gone("the container was removed".to_owned())
}

fn stopped() -> Fate {
    Fate::Gone("the container has stopped".to_owned())
}

impl Transport for Way {
    fn exec(&self, exec: Exec) -> BoxFuture<'_, Result<Running, StartFailure>> {
        Box::pin(self.run(exec))
    }

    fn fate(&self) -> BoxFuture<'_, Fate> {
        Box::pin(self.look())
    }
}
