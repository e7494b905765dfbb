//! The variables of a command.

mod blocklist;
mod home;
mod names;
mod passthrough;
mod path;
mod session;

use std::collections::BTreeMap;
use std::path::Path;

pub use blocklist::{Blocklist, is_dynamic_secret, is_never_inherited};
pub use home::{HomeMode, HomeRule, Homes};
pub use passthrough::{Passthrough, Registered, is_identifier};
pub use path::repair_path;
pub use session::{SESSION_VARIABLES, SessionVars};

/// What a name begins with that the caller wants passed although it is on the blocklist.
pub const FORCE_PREFIX: &str = "_HERMES_FORCE_";

/// What belongs to an interpreter's surroundings of ours and would mislead the command's.
const ALWAYS_REMOVED: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

/// Who gets the variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// A command that is waited for.
    #[default]
    Foreground,
    /// A command that goes on beside the session. Its output isn't buffered by Python.
    Background,
    /// A program of ours beside the terminal, such as a browser.
    Helper {
        /// Whether it gets keys of providers and tools. Tokens of platforms and accounts it never
        /// gets.
        inherit_credentials: bool,
    },
}

/// What decides about a command's variables besides those of the process.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// Who gets them.
    pub purpose: Purpose,
    /// What the caller adds. It wins over the process; names on the blocklist need
    /// [`FORCE_PREFIX`].
    pub extra: BTreeMap<String, String>,
    /// The session that asks.
    pub session: SessionVars,
    /// Which folder is the command's home.
    pub home: HomeRule<'a>,
    /// The folder of this program's binary, so that a command finds it.
    pub program_dir: Option<&'a Path>,
}

/// Why a variable is not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// It is on the blocklist.
    Blocked,
    /// Its name has the form of a secret of this program, which nothing lifts.
    Secret,
    /// A name with [`FORCE_PREFIX`] that nobody but the surroundings asked for.
    Forced,
    /// It describes the surroundings of this program.
    Surroundings,
    /// It tells of a session, and not of this one.
    Session,
    /// No process can be given it.
    Malformed,
}

/// A variable that is not passed on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dropped {
    /// Its name; never its value.
    pub name: String,
    /// Why.
    pub reason: Reason,
}

/// A command's variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildEnv {
    /// All that it gets, by name.
    pub vars: BTreeMap<String, String>,
    /// What stayed behind, by name.
    pub dropped: Vec<Dropped>,
}

impl ChildEnv {
    /// The variables of a command, from those of the process.
    ///
    /// What [`Passthrough`] lets through needs nothing here: it never takes a name that is on the
    /// blocklist.
    ///
    /// ```
    /// use hermes_exec_policy::child_env::{Blocklist, ChildEnv, Request};
    ///
    /// let process = [("PATH", "/bin"), ("OPENAI_API_KEY", "k")];
    /// let process = process.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    /// let env = ChildEnv::new(&process, &Blocklist::default(), &Request::default());
    /// assert!(env.vars["PATH"].starts_with("/bin:"));
    /// assert_eq!(env.dropped[0].name, "OPENAI_API_KEY");
    /// ```
    #[must_use]
    pub fn new(
        process: &BTreeMap<String, String>,
        blocklist: &Blocklist,
        request: &Request<'_>,
    ) -> Self {
        let mut env = Self::default();
        let homes = Homes::of(process, &request.home);
        for (name, value) in process.iter().filter(|(name, _)| !request.extra.contains_key(*name)) {
            let reason = forced(name)
                .map(|_| Reason::Forced)
                .or_else(|| refusal(name, blocklist, request.purpose));
            env.add(name, value, reason);
        }
        for (name, value) in &request.extra {
            // The caller is trusted with what is blocked, and with nothing more.
            let (name, reason) = match name.strip_prefix(FORCE_PREFIX) {
                Some(bare) => (bare, always_refused(bare)),
                None if forced(name).is_some() => (name.as_str(), Some(Reason::Forced)),
                None => (name.as_str(), refusal(name, blocklist, request.purpose)),
            };
            env.add(name, value, reason);
        }
        env.take_session(&request.session);
        env.take_homes(homes, request.home.hermes_home);
        let path = repair_path(env.vars.get("PATH").map_or("", |it| it), request.program_dir);
        env.vars.insert("PATH".to_owned(), path);
        if request.purpose == Purpose::Background {
            env.vars.entry("PYTHONUNBUFFERED".to_owned()).or_insert_with(|| "1".to_owned());
        }
        env.dropped.retain(|it| !env.vars.contains_key(&it.name));
        env.dropped.sort();
        env.dropped.dedup();
        env
    }

    fn add(&mut self, name: &str, value: &str, reason: Option<Reason>) {
        let is_malformed = name.is_empty() || name.contains(['=', '\0']) || value.contains('\0');
        match if is_malformed { Some(Reason::Malformed) } else { reason } {
            Some(reason) => self.dropped.push(Dropped { name: name.to_owned(), reason }),
            None => {
                self.vars.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    fn take_session(&mut self, session: &SessionVars) {
        if session.is_multi_session() {
            let others = self.vars.keys().filter(|name| session::is_session_variable(name));
            for name in others.cloned().collect::<Vec<_>>() {
                self.vars.remove(&name);
                self.dropped.push(Dropped { name, reason: Reason::Session });
            }
        }
        for name in SESSION_VARIABLES {
            if let Some(value) = session.get(name) {
                self.add(name, value, None);
            }
        }
    }

    fn take_homes(&mut self, homes: Homes, hermes_home: Option<&Path>) {
        let hermes_home = hermes_home.and_then(Path::to_str).map(str::to_owned);
        for (name, value) in
            [("HOME", homes.home), ("HERMES_REAL_HOME", homes.real), ("HERMES_HOME", hermes_home)]
        {
            if let Some(value) = value {
                self.add(name, &value, None);
            }
        }
    }
}

/// What follows [`FORCE_PREFIX`], in whatever case that is written.
fn forced(name: &str) -> Option<&str> {
    let (head, rest) = name.split_at_checked(FORCE_PREFIX.len())?;
    head.eq_ignore_ascii_case(FORCE_PREFIX).then_some(rest)
}

/// Why a name is not passed on, whoever asks for it.
fn always_refused(name: &str) -> Option<Reason> {
    if is_dynamic_secret(name) {
        Some(Reason::Secret)
    } else if ALWAYS_REMOVED.iter().any(|it| it.eq_ignore_ascii_case(name)) {
        Some(Reason::Surroundings)
    } else {
        None
    }
}

fn refusal(name: &str, blocklist: &Blocklist, purpose: Purpose) -> Option<Reason> {
    let blocked = match purpose {
        Purpose::Helper { inherit_credentials: true } => is_never_inherited(name),
        _ => blocklist.contains(name),
    };
    always_refused(name).or_else(|| blocked.then_some(Reason::Blocked))
}

#[cfg(test)]
mod tests;
