//! The machines and background processes that the program lends to the tools of the terminal.

#[cfg(not(feature = "terminal"))]
pub(crate) use left_out::{Terminals, machine};
#[cfg(feature = "terminal")]
pub(crate) use lent::{Terminals, machine};

/// The machine that commands run on.
pub(crate) struct Machine {
    /// Its kind, as in `terminal.backend`.
    pub(crate) backend: String,
    /// Whether it was asked.
    pub(crate) is_asked: bool,
    /// What a system prompt is told of it.
    pub(crate) facts: Option<String>,
}

#[cfg(feature = "terminal")]
mod lent {
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    use hermes_exec::environment::Close;
    use hermes_registry::{CallIds, Services, Settings};
    use hermes_tools::credentials::Credentials;
    use hermes_tools::tool_terminal::environments::{Environments, Setup};
    use hermes_tools::tool_terminal::policy::child_env::Blocklist;
    use hermes_tools::tool_terminal::processes::{Options, Processes};
    use hermes_tools::{task, tool_terminal};

    use super::Machine;
    use crate::exit::Failure;
    use crate::host::{Host, working_directory};
    use crate::interrupt::Interrupt;
    use crate::output::Ui;

    /// The machines and processes of one run of the program.
    pub(crate) struct Terminals {
        lent: Arc<tool_terminal::Terminals>,
        sweeping: Mutex<Option<task::Tracked<usize>>>,
    }

    impl Terminals {
        /// By the settings. Nothing is started yet.
        pub(crate) fn of(host: &Host, cwd: Option<&Path>) -> Result<Self, Failure> {
            let settings = host.settings();
            let environments = environments(host, cwd)?;
            let grace = environments.config().map(|config| config.term_grace);
            let home = settings.home();
            let processes = Processes::new(Options {
                home: Some(home.to_owned()).filter(|it| !it.as_os_str().is_empty()),
                grace: grace.unwrap_or(Duration::from_secs(2)),
                mask: Arc::new(|command, text| tool_terminal::mask(command, text).into_owned()),
            });
            processes.recover();
            let lent = tool_terminal::Terminals::new(environments, processes);
            Ok(Self { lent, sweeping: Mutex::default() })
        }

        /// Lends them to tools, and the person at the terminal who may know a password.
        pub(crate) fn lend(&self, services: Services, ui: &Ui) -> Services {
            let services = self.lent.lend(services);
            #[cfg(unix)]
            if let Some(prompt) = crate::password::TerminalPassword::open(&ui.status) {
                return services.with::<dyn tool_terminal::PasswordPrompt>(Arc::new(prompt));
            }
            let _ = ui;
            services
        }

        /// Begins to clean up after runs that were killed. Must be called within a runtime.
        pub(crate) fn begin(&self) {
            let lent = Arc::clone(&self.lent);
            let sweeping = task::spawn(async move { lent.sweep().await });
            *self.sweeping.lock().unwrap_or_else(PoisonError::into_inner) = Some(sweeping);
        }

        /// Ends what still runs, and says so: nobody would look after it.
        pub(crate) async fn close(&self, ui: &Ui) {
            let sweeping = self.sweeping.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(sweeping) = sweeping
                && let Ok(count @ 1..) = sweeping.await
            {
                let noun = if count == 1 { "command was" } else { "commands were" };
                ui.warn(format!("{count} {noun} ended that a killed run of this program had left"));
            }
            let running = |it: &Arc<_>| !is_done(it);
            let count = self.lent.processes().all().iter().filter(|it| running(it)).count();
            if count > 0 {
                let noun = if count == 1 { "process was" } else { "processes were" };
                ui.warn(format!("{count} background {noun} ended with this program"));
            }
            self.lent.close().await;
        }
    }

    /// The machines by the settings.
    fn environments(host: &Host, cwd: Option<&Path>) -> Result<Arc<Environments>, Failure> {
        let settings = host.settings();
        let mut setup = Setup::new(settings.clone(), working_directory(cwd)?);
        setup.blocklist = Arc::new(blocklist(host));
        setup.program_dir = std::env::current_exe().ok().and_then(|it| Some(it.parent()?.into()));
        setup.factories = tool_terminal::backends::all(settings);
        setup.bubblewrap = program("bwrap", settings);
        Ok(Environments::new(setup))
    }

    /// What a system prompt is told of the machine that commands run on. Another machine than this
    /// one is asked only if `elsewhere`, since it is started for that.
    pub(crate) fn machine(host: &Host, elsewhere: bool) -> Result<Option<Machine>, Failure> {
        let environments = environments(host, None)?;
        // What is wrong with the settings is told elsewhere.
        let Ok(config) = environments.config() else { return Ok(None) };
        let backend = config.backend.name().to_owned();
        let is_asked = elsewhere || backend == "local";
        let facts = match is_asked {
            false => None,
            true => Interrupt::new().run_or_drop(async {
                let facts = environments.facts(&CallIds::default()).await;
                environments.close(Close::AsConfigured).await;
                facts
            })?,
        };
        Ok(Some(Machine { backend, is_asked, facts }))
    }

    fn is_done(process: &tool_terminal::processes::Process) -> bool {
        process.is_detached() || process.ended().is_some()
    }

    /// Names of variables that commands don't get: secrets of the program and its tools.
    fn blocklist(host: &Host) -> Blocklist {
        let tools: Vec<_> = host.runtime.registry().snapshot().tools().cloned().collect();
        Blocklist::of_tools(&tools).with_credentials(&Credentials::builtin())
    }

    /// A program on the path of the settings.
    fn program(name: &str, settings: &Settings) -> Option<PathBuf> {
        let path = settings.env("PATH")?;
        hermes_exec::program::find(name.as_ref(), Path::new("/"), Some(path.as_ref())).ok()
    }
}

#[cfg(not(feature = "terminal"))]
mod left_out {
    use std::path::Path;

    use hermes_registry::Services;

    use crate::exit::Failure;
    use crate::host::Host;
    use crate::output::Ui;

    use super::Machine;

    /// None.
    pub(crate) struct Terminals;

    /// There is none.
    pub(crate) fn machine(_: &Host, _: bool) -> Result<Option<Machine>, Failure> {
        Ok(None)
    }

    impl Terminals {
        pub(crate) fn of(_: &Host, _: Option<&Path>) -> Result<Self, Failure> {
            Ok(Self)
        }

        pub(crate) fn lend(&self, services: Services, _: &Ui) -> Services {
            services
        }

        pub(crate) fn begin(&self) {}

        pub(crate) async fn close(&self, _: &Ui) {}
    }
}
