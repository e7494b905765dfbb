//! Making environments.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_exec::environment::{BoxFuture, Environment, StartFailure};
use hermes_exec::local::{Confine, Options};
use hermes_exec_policy::config::{Backend, TerminalConfig};
use hermes_exec_policy::files::Sources;
use hermes_registry::Settings;

use crate::memory;

/// What an environment is made of.
#[derive(Clone, Debug)]
pub struct Request {
    /// The settings, with those of the task in place of the configured ones.
    pub settings: Settings,
    /// What they say about the terminal.
    pub config: TerminalConfig,
    /// The sandbox key: names the environment among those of this program.
    pub key: String,
    /// The variables of commands on this machine, already without what they must not get.
    pub env: Vec<(String, String)>,
    /// The variables that may be passed into a container: those that somebody registered.
    pub passed: Vec<(String, String)>,
    /// The folder for short-lived files of this machine.
    pub temp_dir: PathBuf,
    /// The files of this machine that its commands need. Containers of this machine see them by
    /// [`binds`](Self::binds); to other machines they are sent without the factory's doing.
    pub sources: Sources,
}

/// Makes environments of one kind.
pub trait Factory: Send + Sync {
    /// Whether it makes environments of this kind.
    fn makes(&self, backend: &Backend) -> bool;

    /// Makes one. Nothing is kept of a failure.
    ///
    /// # Errors
    /// What is missing or refused, and what can be done.
    fn make(&self, request: Request) -> BoxFuture<'_, Result<Arc<dyn Environment>, StartFailure>>;
}

/// This machine.
pub(crate) fn local(request: Request, confine: Option<Arc<dyn Confine>>) -> Arc<dyn Environment> {
    let home = request.env.iter().find(|(name, _)| name == "HOME");
    Arc::new(hermes_exec::local::Local::new(Options {
        cwd: PathBuf::from(&request.config.cwd),
        temp_dir: request.temp_dir,
        memory_dir: memory::folder(|name| request.settings.env_filled(name)),
        home: home.map(|(_, value)| value.clone()),
        env: request.env,
        confine,
    }))
}
