//! The sandbox of the operating system around commands of this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hermes_confine::{Confinement, Mode, Probe, Report, Rules};
use hermes_exec::environment::StartFailure;
use hermes_exec::local::Confine;
use hermes_exec_policy::config::{SandboxConfig, SandboxMode};

/// Confines commands as the configuration says: `terminal.sandbox`.
#[derive(Debug)]
pub struct Confined {
    config: SandboxConfig,
    temp_dir: PathBuf,
    /// Files and folders that are hidden from commands, where the mechanism can.
    hidden: Vec<PathBuf>,
    bubblewrap: Option<PathBuf>,
    probe: OnceLock<Probe>,
}

impl Confined {
    /// By a configuration. `bubblewrap` is the program `bwrap`, where it is installed.
    #[must_use]
    pub fn new(
        config: SandboxConfig,
        temp_dir: impl Into<PathBuf>,
        bubblewrap: Option<PathBuf>,
    ) -> Self {
        let probe = OnceLock::new();
        Self { config, temp_dir: temp_dir.into(), hidden: Vec::new(), bubblewrap, probe }
    }

    /// The same, with these files and folders out of sight of commands.
    #[must_use]
    pub fn hiding(mut self, hidden: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(hidden);
        self
    }

    /// What holds for a command in a folder.
    ///
    /// # Errors
    /// Confinement is required and can't be had; the text says what is missing.
    pub fn report(&self, cwd: &Path) -> Result<Report, StartFailure> {
        Ok(self.choose(cwd)?.report().clone())
    }

    /// Says that it was the sandbox that refused something to a command, if that can be told from
    /// its output.
    #[must_use]
    pub fn explains(&self, output: &str, exit_code: i32, cwd: &Path) -> Option<String> {
        self.choose(cwd).ok()?.explains(output, exit_code, cwd)
    }

    fn choose(&self, cwd: &Path) -> Result<Confinement, StartFailure> {
        let mode = match self.config.mode {
            SandboxMode::Off => Mode::Off,
            SandboxMode::Auto => Mode::Auto,
            SandboxMode::Required => Mode::Required,
        };
        let mut rules = Rules::of_folder(cwd, Some(&self.temp_dir));
        rules.network = self.config.network;
        rules.writable.extend(self.config.writable.iter().cloned());
        rules.hidden.extend(self.hidden.iter().cloned());
        let probe = self.probe.get_or_init(|| Probe::new(self.bubblewrap.as_deref()));
        Confinement::choose(mode, &rules, probe).map_err(|error| {
            StartFailure::new(format!(
                "terminal.sandbox.mode is `required`, and this machine can't hold it: {error}"
            ))
        })
    }
}

impl Confine for Confined {
    fn confined(
        &self,
        cwd: &Path,
        argv: Vec<OsString>,
        start: &mut (dyn FnMut(Vec<OsString>) -> Result<(), StartFailure> + Send),
    ) -> Result<(), StartFailure> {
        let mut failure = None;
        let started = self.choose(cwd)?.start(argv, |argv| {
            start(argv).map_err(|error| {
                let message = std::io::Error::other(error.message.clone());
                failure = Some(error);
                message
            })
        });
        match (started, failure) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(failure)) => Err(failure),
            (Err(error), None) => {
                Err(StartFailure::new(format!("the sandbox can't be put in force: {error}")))
            }
        }
    }
}
