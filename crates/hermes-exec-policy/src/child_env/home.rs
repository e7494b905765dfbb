//! Which folder is a command's home.

use std::collections::BTreeMap;
use std::path::Path;

/// What `HOME` is for commands: `terminal.home_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HomeMode {
    /// The user's on a host, the profile's in a container.
    #[default]
    Auto,
    /// The user's.
    Real,
    /// The profile's, if there is one.
    Profile,
}

impl HomeMode {
    /// The mode by its name; one that nobody knows is `auto`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "real" => Self::Real,
            "profile" => Self::Profile,
            _ => Self::Auto,
        }
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Real => "real",
            Self::Profile => "profile",
        }
    }
}

/// What decides about homes.
#[derive(Clone, Copy, Debug, Default)]
pub struct HomeRule<'a> {
    /// The configured mode.
    pub mode: HomeMode,
    /// Whether this program runs in a container.
    pub in_container: bool,
    /// The home of the session's profile (`HERMES_HOME`).
    pub hermes_home: Option<&'a Path>,
    /// The home that the system has for the user, for when the variables don't tell.
    pub user_home: Option<&'a str>,
}

/// The homes that a command is told of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    /// `HOME`.
    pub home: Option<String>,
    /// `HERMES_REAL_HOME`: the user's, whatever `HOME` is.
    pub real: Option<String>,
}

impl Homes {
    /// The homes by a rule. Looks whether the profile's is a folder.
    #[must_use]
    pub fn of(process: &BTreeMap<String, String>, rule: &HomeRule<'_>) -> Self {
        let filled = |name: &str| process.get(name).filter(|it| !it.trim().is_empty()).cloned();
        let profile = rule.hermes_home.map(|home| home.join("home"));
        let is_profile = |home: &String| profile.as_deref() == Some(Path::new(home));
        let real = filled("HERMES_REAL_HOME")
            .or_else(|| filled("HOME").filter(|home| !is_profile(home)))
            .or_else(|| rule.user_home.map(str::to_owned));
        let wants_profile = match rule.mode {
            HomeMode::Real => false,
            HomeMode::Profile => true,
            HomeMode::Auto => rule.in_container,
        };
        let kept = match rule.mode {
            // What the user set is kept, unless it came from a session of ours further up.
            HomeMode::Auto | HomeMode::Profile => filled("HOME").filter(|home| !is_profile(home)),
            HomeMode::Real => None,
        };
        let profile = profile.filter(|home| wants_profile && home.is_dir());
        let profile = profile.and_then(|home| home.to_str().map(str::to_owned));
        Self { home: profile.or(kept).or_else(|| real.clone()), real }
    }
}
