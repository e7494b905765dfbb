//! Running tirith.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hermes_exec::program::{Ended, Program, find};
use hermes_registry::Settings;
use serde_json::Value;

use super::breaker::Breaker;
use super::{ScanAction, ScanFuture, ScanVerdict, Scanner, report};
use crate::policy::{is_on, seconds};

/// The name that is looked for when no path is configured.
const NAME: &str = "tirith";

/// How long it may take when nothing else is configured.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of its report that are read.
const CAPTURE: usize = 256 * 1024;

/// How the scanner is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScannerConfig {
    /// Whether it is run at all.
    pub enabled: bool,
    /// Its path, or its bare name to have it looked for.
    pub path: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether commands run when it fails.
    pub fail_open: bool,
    /// Its environment: `PATH`, `HOME` and the like.
    env: Vec<(String, String)>,
    /// The home folder, which may hold the program.
    home: PathBuf,
}

impl ScannerConfig {
    /// What the section `security` says; variables of the environment win over it.
    pub(crate) fn of(security: Option<&Value>, settings: &Settings) -> Self {
        let get = |key: &str| security.and_then(|it| it.get(key)).filter(|it| !it.is_null());
        let variable = |name: &str| settings.env_filled(name).map(|it| Value::from(it.trim()));
        let flag = |name: &str, key: &str| {
            let configured = get(key).is_none_or(|value| is_on(value, true));
            variable(name).map_or(configured, |value| is_on(&value, configured))
        };
        let path = settings.env_filled("TIRITH_BIN").or_else(|| get("tirith_path")?.as_str());
        let path = path.map(str::trim).filter(|path| !path.is_empty()).unwrap_or(NAME);
        let timeout = seconds(variable("TIRITH_TIMEOUT").as_ref())
            .or_else(|| seconds(get("tirith_timeout")))
            .filter(|limit| !limit.is_zero());
        let passed = |name: &str| {
            matches!(name, "PATH" | "HOME" | "USER" | "LANG" | "LC_ALL" | "TMPDIR" | "HERMES_HOME")
                || name.starts_with("TIRITH_")
                || name.starts_with("XDG_")
        };
        let env = settings.envs().filter(|(name, _)| passed(name));
        Self {
            enabled: flag("TIRITH_ENABLED", "tirith_enabled"),
            path: path.to_owned(),
            timeout: timeout.unwrap_or(TIMEOUT),
            fail_open: flag("TIRITH_FAIL_OPEN", "tirith_fail_open"),
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            home: settings.home().to_owned(),
        }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The program. A path is taken as it is, and never replaced by another program.
    fn program(&self) -> Option<PathBuf> {
        if let Some(below) = self.path.strip_prefix("~/") {
            return Some(Path::new(self.variable("HOME")?).join(below));
        }
        if self.path.contains('/') {
            return Some(PathBuf::from(&self.path));
        }
        let name = OsStr::new(&self.path);
        let own = || self.home.join("bin").join(NAME);
        match find(name, Path::new("/"), self.variable("PATH").map(OsStr::new)) {
            Ok(path) => Some(path),
            Err(_) if self.path == NAME && own().is_file() => Some(own()),
            Err(_) if self.path == NAME => None,
            // Named on purpose, and missing: that is a failure, and not its absence.
            Err(_) => Some(PathBuf::from(&self.path)),
        }
    }
}

/// The scanner as a program of its own, with the memory of how it fared.
#[derive(Debug, Default)]
pub struct Tirith {
    breaker: Mutex<Breaker>,
}

impl Tirith {
    fn breaker<T>(&self, with: impl FnOnce(&mut Breaker) -> T) -> T {
        with(&mut self.breaker.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn run(&self, command: &str, config: &ScannerConfig) -> ScanVerdict {
        if !config.enabled {
            return ScanVerdict::default();
        }
        let Some(path) = config.program() else {
            return unusable(config, "the security scanner is not installed");
        };
        if !self.breaker(|breaker| breaker.lets_through(Instant::now())) {
            return unusable(config, "the security scanner failed several times");
        }
        let words = ["check", "--json", "--non-interactive", "--shell", "posix", "--", command];
        let argv = [path.into_os_string()].into_iter().chain(words.map(Into::into));
        let finished = Program::new(argv)
            .env(config.env.iter().map(|(name, value)| (name, value)))
            .timeout(config.timeout)
            .capture(CAPTURE)
            .run()
            .await;
        let failure = match finished {
            Ok(finished) => match finished.ended {
                Ended::Exited(code @ 0..=2) => {
                    self.breaker(Breaker::worked);
                    return verdict(code, &finished.stdout.bytes);
                }
                ended => ended.to_string(),
            },
            Err(error) => error.to_string(),
        };
        let is_paused = self.breaker(|breaker| breaker.failed(Instant::now()));
        tracing::warn!(failure, is_paused, fail_open = config.fail_open, "the scanner failed");
        unusable(config, &format!("the security scanner failed ({failure})"))
    }
}

impl Scanner for Tirith {
    fn scan<'a>(&'a self, command: &'a str, config: &'a ScannerConfig) -> ScanFuture<'a> {
        Box::pin(self.run(command, config))
    }
}

/// What a scanner that can't be used says.
fn unusable(config: &ScannerConfig, why: &str) -> ScanVerdict {
    let action = if config.fail_open { ScanAction::Allow } else { ScanAction::Block };
    let summary = if config.fail_open { String::new() } else { crate::shown::line(why, 300) };
    ScanVerdict { action, findings: Vec::new(), summary }
}

fn verdict(code: i32, stdout: &[u8]) -> ScanVerdict {
    let action = match code {
        0 => ScanAction::Allow,
        1 => ScanAction::Block,
        _ => ScanAction::Warn,
    };
    if action == ScanAction::Allow {
        return ScanVerdict::default();
    }
    let (findings, summary) = report::parse(stdout);
    if action == ScanAction::Warn && report::is_about_app_domains(&findings) {
        return ScanVerdict::default();
    }
    ScanVerdict { action, findings, summary }
}
