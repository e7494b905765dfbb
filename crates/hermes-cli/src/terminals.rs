//! The machines and background processes that the program lends to the tools of the terminal.

#[cfg(not(feature = "terminal"))]
pub(crate) use left_out::Terminals;
#[cfg(feature = "terminal")]
pub(crate) use lent::Terminals;

#[cfg(feature = "terminal")]
mod lent {
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    use hermes_registry::{Services, Settings};
    use hermes_tools::credentials::Credentials;
    use hermes_tools::tool_terminal::environments::{Environments, Setup};
    use hermes_tools::tool_terminal::policy::child_env::Blocklist;
    use hermes_tools::tool_terminal::processes::{Options, Processes};
    use hermes_tools::{task, tool_terminal};

    use crate::exit::Failure;
    use crate::host::{Host, working_directory};
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
            let mut setup = Setup::new(settings.clone(), working_directory(cwd)?);
            setup.blocklist = Arc::new(blocklist(host));
            setup.program_dir =
                std::env::current_exe().ok().and_then(|it| Some(it.parent()?.into()));
            setup.factories = tool_terminal::backends::all(settings);
            setup.bubblewrap = program("bwrap", settings);
            let environments = Environments::new(setup);
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

    /// None.
    pub(crate) struct Terminals;

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
