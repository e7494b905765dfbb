//! The service that tools ask: all servers, and what was wrong with files before they changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_lint::{Change, Diagnostics};

use crate::config::LspConfig;
use crate::file::{self, Content, MAX_TEXT};
use crate::place::{Candidate, Finder};
use crate::problem::Problem;
use crate::server::Server;
use crate::{delta, report};

/// How many servers run at once. The one that was idle longest makes room.
const MAX_RUNNING: usize = 8;

/// How many changes may be under way.
const MAX_BASELINES: usize = 256;

/// How long all servers together may take to end before they are killed. Whoever waits for it is
/// ending too.
const FAREWELL: Duration = Duration::from_millis(800);

/// Language servers, which start when a file they look after is first changed.
///
/// One process serves all tasks of a project. It ends when it has been idle for some minutes, when
/// the service is [closed](Self::close) or dropped, and when this process ends.
#[derive(Debug)]
pub struct LanguageServers {
    config: Arc<LspConfig>,
    finder: Finder,
    slots: Mutex<Slots>,
    baselines: Mutex<HashMap<PathBuf, Baseline>>,
}

#[derive(Debug, Default)]
struct Slots {
    by_project: HashMap<Project, Slot>,
    /// Nothing is started any more.
    is_closed: bool,
}

/// The id of a server and the folder it works on.
type Project = (&'static str, PathBuf);

#[derive(Debug)]
enum Slot {
    Running(Arc<Server>),
    /// It failed; it is never started again.
    Broken,
}

/// How a file was before a change.
#[derive(Debug)]
struct Baseline {
    /// What was in it; none if that can't be shown to a server.
    text: Option<String>,
    /// What was wrong with it; none if the server didn't say in time.
    problems: Option<Vec<Problem>>,
    /// How much of the wait is used up.
    spent: Duration,
}

impl LanguageServers {
    /// The servers that `config` allows. Nothing is started yet.
    #[must_use]
    pub fn new(config: LspConfig) -> Self {
        let config = Arc::new(config);
        Self {
            finder: Finder::new(Arc::clone(&config)),
            config,
            slots: Mutex::default(),
            baselines: Mutex::default(),
        }
    }

    /// Ends all servers and waits for that, about a second at most: those that take longer are
    /// killed. From now on there are none.
    pub fn close(&self) {
        let mut slots = self.slots();
        slots.is_closed = true;
        let slots = std::mem::take(&mut slots.by_project);
        let running: Vec<_> = slots.into_values().filter_map(Slot::server).collect();
        running.iter().for_each(|server| server.close());
        let end = Instant::now() + FAREWELL;
        running.iter().for_each(|server| server.see_off(end));
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn baselines(&self) -> MutexGuard<'_, HashMap<PathBuf, Baseline>> {
        self.baselines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server for a file and the name of the file's language. Starts it if need be.
    fn server(&self, path: &Path) -> Option<(Arc<Server>, &'static str)> {
        let candidates = self.finder.candidates(path);
        let server = |candidate: &Candidate| {
            Some((self.slots().running(candidate, &self.config)?, candidate.language))
        };
        candidates.iter().find_map(server)
    }

    /// Tells a server what else changed, then shows it a file.
    fn show(&self, server: &Server, path: &Path, language: &str, text: &str, is_saved: bool) {
        server.catch_up(path, |other| {
            let candidates = self.finder.candidates(other);
            let mut of_root = candidates.iter().filter(|it| it.root == server.root());
            of_root.next().map(|candidate| candidate.language)
        });
        server.show(path, language, text, is_saved);
    }
}

impl Diagnostics for LanguageServers {
    fn covers(&self, path: &Path) -> bool {
        let candidates = self.finder.candidates(path);
        if candidates.is_empty() {
            return false;
        }
        let slots = self.slots();
        !slots.is_closed && candidates.iter().any(|candidate| !slots.is_broken(candidate))
    }

    fn before(&self, path: &Path) {
        let started = Instant::now();
        let Some((server, language)) = self.server(path) else { return };
        let end = started + self.config.wait_timeout;
        let (text, problems) = match file::read(path) {
            Content::Missing => {
                server.expect(path);
                (Some(String::new()), Some(Vec::new()))
            }
            Content::Other => (None, None),
            Content::Text(text) => {
                self.show(&server, path, language, &text, false);
                let problems = server.problems(path, self.config.wait_mode, end);
                (Some(text), problems)
            }
        };
        let mut baselines = self.baselines();
        // Changes that came to nothing leave theirs behind.
        if baselines.len() >= MAX_BASELINES {
            baselines.clear();
        }
        baselines.insert(path.to_owned(), Baseline { text, problems, spent: started.elapsed() });
    }

    fn after(&self, change: &Change<'_>) -> Option<String> {
        let started = Instant::now();
        let baseline = self.baselines().remove(change.path);
        let new = file::without_mark(change.new);
        if new.len() as u64 > MAX_TEXT {
            return None;
        }
        let (server, language) = self.server(change.path)?;
        let spent = baseline.as_ref().map(|baseline| baseline.spent).unwrap_or_default();
        let end = started + self.config.wait_timeout.saturating_sub(spent);
        self.show(&server, change.path, language, new, true);
        let problems = server.problems(change.path, self.config.wait_mode, end)?;
        let brought = match baseline {
            Some(Baseline { text: Some(old), problems: Some(before), .. }) => {
                delta::brought(&before, &old, problems, new)
            }
            Some(Baseline { text: Some(old), .. }) => delta::in_changed_lines(&old, problems, new),
            _ => match change.old {
                Some(old) => delta::in_changed_lines(file::without_mark(old), problems, new),
                None => problems,
            },
        };
        report::block(change.path, new, brought)
    }
}

impl Drop for LanguageServers {
    fn drop(&mut self) {
        self.close();
    }
}

impl Slots {
    fn is_broken(&self, candidate: &Candidate) -> bool {
        matches!(self.by_project.get(&candidate.project()), Some(Slot::Broken))
    }

    /// The running server of a candidate, started if need be; none if it is broken.
    fn running(&mut self, candidate: &Candidate, config: &LspConfig) -> Option<Arc<Server>> {
        if self.is_closed {
            return None;
        }
        let project = candidate.project();
        match self.by_project.get(&project) {
            Some(Slot::Broken) => return None,
            Some(Slot::Running(server)) if server.claim() => return Some(Arc::clone(server)),
            Some(Slot::Running(server)) if server.fault().is_some() => {
                self.by_project.insert(project, Slot::Broken);
                return None;
            }
            // One that was idle for too long has ended.
            _ => {}
        }
        self.make_room();
        match Server::start(candidate, config) {
            Ok(server) => {
                let server = Arc::new(server);
                self.by_project.insert(project, Slot::Running(Arc::clone(&server)));
                Some(server)
            }
            Err(error) => {
                tracing::info!("{} can't be started: {error}", candidate.known.id);
                self.by_project.insert(project, Slot::Broken);
                None
            }
        }
    }

    fn make_room(&mut self) {
        let running = || {
            self.by_project.iter().filter_map(|(project, slot)| match slot {
                Slot::Running(server) => Some((server.used(), project)),
                Slot::Broken => None,
            })
        };
        if running().count() < MAX_RUNNING {
            return;
        }
        let oldest = running().min().map(|(_, project)| project.clone());
        if let Some(Slot::Running(server)) = oldest.and_then(|it| self.by_project.remove(&it)) {
            server.close();
        }
    }
}

impl Slot {
    fn server(self) -> Option<Arc<Server>> {
        match self {
            Self::Running(server) => Some(server),
            Self::Broken => None,
        }
    }
}

impl Candidate {
    fn project(&self) -> Project {
        (self.known.id, self.root.clone())
    }
}
