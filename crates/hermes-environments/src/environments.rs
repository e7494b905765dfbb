//! The environments of a program, by sandbox key.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hermes_exec::environment::{Close, StartFailure};
use hermes_exec::local::Confine;
use hermes_exec::session::{Initial, Session};
use hermes_exec_policy::child_env::{
    Blocklist, ChildEnv, HomeRule, Passthrough, Request as EnvRequest, SESSION_VARIABLES,
    SessionVars,
};
use hermes_exec_policy::config::cwd::Wanted;
use hermes_exec_policy::config::{Backend, SandboxMode, TerminalConfig, TerminalConfigError};
use hermes_exec_policy::files::CredentialRefusal;
use hermes_registry::{CallIds, Settings};
use hermes_task::Tracked;

use crate::carried::{self, Declared};
use crate::confine::Confined;
use crate::factory::{self, Factory, Request};
use crate::facts::Probes;
use crate::folders::{self, Folders};
use crate::lease::{Entry, Lease};
use crate::memory;
use crate::overrides::Overrides;
use crate::reaper;

/// The key of the environment that tasks share.
const SHARED: &str = "default";

/// How long the end of one environment may take when the program ends.
pub(crate) const CLOSING: Duration = Duration::from_secs(15);

/// An environment, or the place for one that is being made.
pub(crate) type Slot = tokio::sync::Mutex<Option<Arc<Entry>>>;

/// What environments start from.
pub struct Setup {
    /// The settings.
    pub settings: Settings,
    /// The folder that the program was started in.
    pub process_dir: PathBuf,
    /// Names of variables that commands don't get.
    pub blocklist: Arc<Blocklist>,
    /// The folder of the program itself, so that commands find it.
    pub program_dir: Option<PathBuf>,
    /// Whether several people's sessions live in the program.
    pub is_multi_session: bool,
    /// The program `bwrap`, for the sandbox of this machine, if it is installed and wanted.
    pub bubblewrap: Option<PathBuf>,
    /// Makers of environments on other machines.
    pub factories: Vec<Arc<dyn Factory>>,
}

impl Setup {
    /// Environments by these settings, with nothing but this machine.
    #[must_use]
    pub fn new(settings: Settings, process_dir: impl Into<PathBuf>) -> Self {
        Self {
            settings,
            process_dir: process_dir.into(),
            blocklist: Arc::default(),
            program_dir: None,
            is_multi_session: false,
            bubblewrap: None,
            factories: Vec::new(),
        }
    }
}

/// The environments of a program.
pub struct Environments {
    setup: Setup,
    folders: Folders,
    overrides: Mutex<HashMap<String, Overrides>>,
    passthrough: Passthrough,
    declared: Arc<Declared>,
    /// The sandbox of this machine, once the configuration is known to want one.
    confine: OnceLock<Option<Arc<Confined>>>,
    temp_dir: OnceLock<PathBuf>,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    reaper: OnceLock<Tracked<()>>,
    pub(crate) probes: Probes,
    pub(crate) files: Mutex<HashMap<String, Arc<dyn hermes_fs::FileBackend>>>,
}

impl Environments {
    /// Environments that are made when they are needed.
    #[must_use]
    pub fn new(setup: Setup) -> Arc<Self> {
        let configured = TerminalConfig::of(&setup.settings, &setup.process_dir);
        let passthrough = configured.map(|it| it.env_passthrough).unwrap_or_default();
        Arc::new(Self {
            confine: OnceLock::new(),
            temp_dir: OnceLock::new(),
            passthrough: Passthrough::new(Arc::clone(&setup.blocklist), passthrough),
            setup,
            folders: Folders::default(),
            overrides: Mutex::default(),
            declared: Arc::default(),
            slots: Mutex::default(),
            reaper: OnceLock::new(),
            probes: Probes::default(),
            files: Mutex::default(),
        })
    }

    /// What is configured, for tasks without overrides.
    ///
    /// # Errors
    /// A setting that the chosen kind needs makes no sense.
    pub fn config(&self) -> Result<TerminalConfig, TerminalConfigError> {
        TerminalConfig::of(&self.setup.settings, &self.setup.process_dir)
    }

    /// What is configured for the task of a call.
    ///
    /// # Errors
    /// As [`config`](Self::config).
    pub fn config_of(&self, ids: &CallIds) -> Result<TerminalConfig, TerminalConfigError> {
        let settings = self.settings_of(ids);
        let mut config = TerminalConfig::of(&settings, &self.setup.process_dir)?;
        if let Some(cwd) = self.overrides_of(ids).and_then(|it| it.cwd) {
            config.cwd = cwd;
        }
        Ok(config)
    }

    /// Gives a task settings of its own. A folder becomes the task's at once.
    pub fn register(&self, task: &str, overrides: Overrides) {
        if let Some(cwd) = &overrides.cwd {
            self.folders.set(&folder_key(task), cwd.as_str());
        }
        self.lock_overrides().insert(task.to_owned(), overrides);
    }

    /// Takes a task's own settings back.
    pub fn unregister(&self, task: &str) {
        self.lock_overrides().remove(task);
    }

    /// Variables that may be passed into containers, by session.
    #[must_use]
    pub fn passthrough(&self) -> &Passthrough {
        &self.passthrough
    }

    /// Brings the credential files that a loaded skill asks for into the environments of a
    /// session, from its next command on; containers that see files of this machine must be made
    /// anew. Returns those that stay out as things are, and why.
    pub fn declare_credentials(
        &self,
        session: &str,
        paths: impl IntoIterator<Item = String>,
    ) -> Vec<(String, CredentialRefusal)> {
        self.declared.add(session, paths, self.setup.settings.home())
    }

    /// The sandbox key of a call.
    #[must_use]
    pub fn key(&self, ids: &CallIds) -> String {
        match self.lock_overrides().get(&*ids.task) {
            Some(overrides) if overrides.isolates() => ids.task.to_string(),
            _ => SHARED.to_owned(),
        }
    }

    /// The folder that a command of a call starts in, and a note if it isn't the one that was
    /// wanted: the one that the call names, else the session's, else the configured one.
    #[must_use]
    pub fn folder(
        &self,
        ids: &CallIds,
        workdir: Option<&str>,
        config: &TerminalConfig,
    ) -> (String, Option<String>) {
        let recorded = self.recorded(ids);
        let task = self.overrides_of(ids).and_then(|it| it.cwd);
        let wanted = Wanted::of(workdir, recorded.as_deref(), task.as_deref(), &config.cwd);
        if matches!(config.backend, Backend::Local(_)) {
            let home = self.setup.settings.env_filled("HOME").map(Path::new);
            return folders::local(&wanted, &self.setup.process_dir, home, &self.temp_dir());
        }
        (wanted.dir, None)
    }

    /// Where the last command of a call's session ended.
    #[must_use]
    pub fn recorded(&self, ids: &CallIds) -> Option<String> {
        self.folders.get(&folder_key(&ids.task))
    }

    /// A command of a call ended in a folder.
    pub fn record(&self, ids: &CallIds, cwd: &str) {
        self.folders.set(&folder_key(&ids.task), cwd);
    }

    /// A task has ended: its folder and its settings are forgotten, and an environment of its own
    /// is given up.
    pub async fn ended(&self, task: &str) {
        self.folders.forget(&folder_key(task));
        self.passthrough.forget(task);
        self.declared.forget(task);
        let own = self.lock_overrides().remove(task).is_some_and(|it| it.isolates());
        let slot = if own { self.lock_slots().remove(task) } else { None };
        if let Some(slot) = slot {
            reaper::close(slot, Close::AsConfigured, CLOSING).await;
        }
    }

    /// The environment of a call, made if there is none.
    ///
    /// # Errors
    /// It can't be made.
    pub async fn lease(self: &Arc<Self>, ids: &CallIds) -> Result<Lease, StartFailure> {
        let key = self.key(ids);
        self.reaper.get_or_init(|| reaper::start(Arc::downgrade(self)));
        let slot = Arc::clone(self.lock_slots().entry(key.clone()).or_default());
        // Calls at the same time wait here for the first of them.
        let mut entry = slot.lock().await;
        let config = self.config_of(ids).map_err(|error| StartFailure::new(error.to_string()))?;
        match entry.take_if(|it| !it.is_by(&config)) {
            Some(former) => reaper::give_up(former),
            None => {
                if let Some(entry) = &*entry {
                    return Ok(Lease::of(Arc::clone(entry), key));
                }
            }
        }
        let made = self.make(ids, &key, &config).await?;
        let made = Entry::new(made, &config, self.setup.settings.home());
        let made = entry.insert(Arc::new(made));
        Ok(Lease::of(Arc::clone(made), key))
    }

    /// The session of a call, if its environment has been made already and nobody is at it.
    #[must_use]
    pub fn known(&self, ids: &CallIds) -> Option<Arc<Session>> {
        let slot = self.lock_slots().get(&self.key(ids)).cloned()?;
        let entry = slot.try_lock().ok()?;
        entry.as_ref().map(|entry| Arc::clone(&entry.session))
    }

    /// Gives up the environment of a lease, whose machine is gone, so that the next call gets a
    /// new one.
    pub async fn lost(&self, lease: &Lease) {
        let slot = self.lock_slots().get(lease.key()).cloned();
        let Some(slot) = slot else { return };
        let mut entry = slot.lock().await;
        let is_same = |it: &Arc<Entry>| Arc::ptr_eq(&it.session, lease.session());
        if entry.as_ref().is_some_and(is_same) {
            entry.take();
        }
    }

    /// Gives all environments up; for the end of the program.
    pub async fn close(&self, how: Close) {
        self.probes.clear();
        let slots: Vec<_> = self.lock_slots().drain().map(|(_, slot)| slot).collect();
        let closing: Vec<_> = slots
            .into_iter()
            .map(|it| hermes_task::spawn(reaper::close(it, how, CLOSING)))
            .collect();
        for closing in closing {
            let _ = closing.await;
        }
    }

    /// The variables that say which session a command of this machine belongs to.
    #[must_use]
    pub fn session_variables(&self, session: &SessionVars) -> Vec<(String, String)> {
        let own = |name: &str| {
            let of_process =
                || self.setup.settings.env(name).filter(|_| !self.setup.is_multi_session);
            session.get(name).or_else(of_process).map(|value| (name.to_owned(), value.to_owned()))
        };
        SESSION_VARIABLES.iter().filter_map(|name| own(name)).collect()
    }

    async fn make(
        &self,
        ids: &CallIds,
        key: &str,
        config: &TerminalConfig,
    ) -> Result<Session, StartFailure> {
        let settings = self.settings_of(ids);
        let initial = self.initial(config);
        let passed =
            self.passthrough.names(&ids.session).into_iter().filter_map(|name| {
                settings.env(&name).map(str::to_owned).map(|value| (name, value))
            });
        // What sessions share has the files of all of them.
        let session = (key != SHARED).then(|| ids.session.to_string());
        let sources = carried::sources(&settings, config, &self.declared, session.as_deref());
        let request = Request {
            passed: passed.collect(),
            sources,
            env: self.variables(config),
            key: key.to_owned(),
            temp_dir: self.temp_dir(),
            config: config.clone(),
            settings,
        };
        if matches!(request.config.backend, Backend::Local(_)) {
            let confine = self.confined(&request.config).map(|it| it as Arc<dyn Confine>);
            return Ok(Session::new(factory::local(request, confine), initial));
        }
        let backend = &request.config.backend;
        let factory = self.setup.factories.iter().find(|it| it.makes(backend));
        let Some(factory) = factory else {
            let name = backend.name();
            return Err(StartFailure::new(format!(
                "terminal.backend is `{name}`, which this program can't use: it doesn't exist or \
                 isn't compiled in (`hermes features` tells)"
            )));
        };
        let (settings, config) = (request.settings.clone(), request.config.clone());
        let made = factory.make(request).await?;
        let declared = Arc::clone(&self.declared);
        let made = carried::synced(made, settings, config, declared, session);
        Ok(Session::new(made, initial))
    }

    /// The sandbox around commands of this machine, if one is configured.
    pub fn confined(&self, config: &TerminalConfig) -> Option<Arc<Confined>> {
        let make = || {
            let is_wanted = config.sandbox.mode != SandboxMode::Off;
            let home = self.setup.settings.home();
            is_wanted.then(|| {
                let sandbox = config.sandbox.clone();
                let confined =
                    Confined::new(sandbox, self.temp_dir(), self.setup.bubblewrap.clone());
                let secrets = [".env", "auth.json"].map(|name| home.join(name));
                Arc::new(confined.hiding(secrets))
            })
        };
        self.confine.get_or_init(make).clone()
    }

    fn initial(&self, config: &TerminalConfig) -> Initial {
        let private = SESSION_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
        let is_local = matches!(config.backend, Backend::Local(_));
        let files = match is_local {
            true => config.init_files.resolve(&self.setup.settings, Path::is_file),
            false => Vec::new(),
        };
        let files = files.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        Initial { files, is_login: true, private }
    }

    /// The variables of commands on this machine.
    fn variables(&self, config: &TerminalConfig) -> Vec<(String, String)> {
        let settings = &self.setup.settings;
        let process: BTreeMap<String, String> =
            settings.envs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let request = EnvRequest {
            // Sessions share the environment: what tells whose they are comes with each command.
            session: SessionVars::default().multi_session(true),
            home: HomeRule {
                mode: config.home_mode,
                hermes_home: Some(settings.home()).filter(|it| !it.as_os_str().is_empty()),
                ..HomeRule::default()
            },
            program_dir: self.setup.program_dir.as_deref(),
            ..EnvRequest::default()
        };
        let env = ChildEnv::new(&process, &self.setup.blocklist, &request);
        env.vars.into_iter().collect()
    }

    /// The folders that sessions of this machine have files in: that for short-lived files, and one in
    /// memory where there is one.
    #[must_use]
    pub fn scratch_dirs(&self) -> Vec<PathBuf> {
        let temporary = self.temp_dir();
        let memory = memory::folder(|name| self.setup.settings.env_filled(name));
        let other = memory.filter(|it| *it != temporary);
        [temporary].into_iter().chain(other).collect()
    }

    /// The folder of this machine for short-lived files: the first absolute one of those that are
    /// named for it in which a file can be made.
    pub(crate) fn temp_dir(&self) -> PathBuf {
        let choose = || {
            let mut named =
                memory::TEMPORARY.iter().filter_map(|name| self.setup.settings.env_filled(name));
            // A file without a name says whether one can be written.
            let usable =
                named.find(|it| Path::new(it).is_absolute() && tempfile::tempfile_in(it).is_ok());
            PathBuf::from(usable.unwrap_or("/tmp"))
        };
        self.temp_dir.get_or_init(choose).clone()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.setup.settings
    }

    fn settings_of(&self, ids: &CallIds) -> Settings {
        let settings = &self.setup.settings;
        match self.overrides_of(ids) {
            Some(overrides) if overrides.isolates() => {
                let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                settings.clone().with_env(settings.envs().map(own).chain(overrides.variables()))
            }
            _ => settings.clone(),
        }
    }

    fn overrides_of(&self, ids: &CallIds) -> Option<Overrides> {
        let overrides = self.lock_overrides();
        overrides.get(&*ids.task).or_else(|| overrides.get(SHARED)).cloned()
    }

    /// All environments, and the places for them.
    pub(crate) fn slots(&self) -> Vec<(String, Arc<Slot>)> {
        self.lock_slots().iter().map(|(key, slot)| (key.clone(), Arc::clone(slot))).collect()
    }

    /// Forgets a place that is empty, unless somebody is about to fill it.
    pub(crate) fn drop_slot(&self, key: &str, slot: &Arc<Slot>) {
        let mut slots = self.lock_slots();
        let is_unused = slots.get(key).is_some_and(|it| {
            Arc::ptr_eq(it, slot)
                && Arc::strong_count(it) <= 2
                && it.try_lock().is_ok_and(|entry| entry.is_none())
        });
        if is_unused {
            slots.remove(key);
        }
    }

    fn lock_slots(&self) -> MutexGuard<'_, HashMap<String, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_overrides(&self) -> MutexGuard<'_, HashMap<String, Overrides>> {
        self.overrides.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose folder it is.
fn folder_key(task: &str) -> String {
    if task.is_empty() { SHARED.to_owned() } else { task.to_owned() }
}

impl std::fmt::Debug for Environments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<String> = self.lock_slots().keys().cloned().collect();
        f.debug_struct("Environments").field("keys", &keys).finish_non_exhaustive()
    }
}
