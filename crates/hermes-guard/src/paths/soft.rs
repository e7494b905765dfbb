//! Soft guards: writes that are most likely a mistake, and go through when the model says that
//! they are meant.

use std::path::{Component, Path};

use super::table::AREAS;
use super::{Places, SEAT_BELT, Target};

/// Which mistake it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SoftGuard {
    /// The path belongs to another profile.
    CrossProfile {
        /// The profile of the session.
        active: String,
        /// The profile that the path belongs to.
        target: String,
        /// The folder of that profile, such as `skills`.
        area: &'static str,
    },
    /// The path is a sandbox's copy of this program's home: a change there is lost, or isn't seen
    /// by the program itself.
    SandboxMirror {
        /// The profile of the session.
        active: String,
    },
}

impl SoftGuard {
    /// The name in results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CrossProfile { .. } => "cross_profile",
            Self::SandboxMirror { .. } => "sandbox_mirror",
        }
    }

    /// The profile of the session.
    #[must_use]
    pub fn active(&self) -> &str {
        match self {
            Self::CrossProfile { active, .. } | Self::SandboxMirror { active } => active,
        }
    }

    /// What to tell a model; `shown` is the path, and `lift` the argument that lets it through.
    #[must_use]
    pub fn message(&self, shown: &str, lift: &str) -> String {
        let (what, instead) = match self {
            Self::CrossProfile { active, target, area } => (
                format!(
                    "belongs to the {area} of profile {target:?}, and this session has {active:?}"
                ),
                "write to the same place of the session's own profile".to_owned(),
            ),
            Self::SandboxMirror { .. } => (
                "is a sandbox's copy of this program's home, which the program itself doesn't read"
                    .to_owned(),
                "write to the home itself".to_owned(),
            ),
        };
        format!(
            "nothing was written: {shown} {what}. {SEAT_BELT}; {instead}, or, when the user asked \
             for this very place, send the call again with `{lift}: true`"
        )
    }
}

/// The guard that a write runs into, if any.
#[must_use]
pub fn guard(places: &Places, target: &Target) -> Option<SoftGuard> {
    let names = target.names(places);
    let active = || places.profile().to_owned();
    let other = names.iter().find_map(|name| other_profile(places, name));
    if let Some((target, area)) = other {
        return Some(SoftGuard::CrossProfile { active: active(), target, area });
    }
    names
        .iter()
        .any(|name| is_mirror(name) || (places.is_container() && is_container_home(name)))
        .then(|| SoftGuard::SandboxMirror { active: active() })
}

/// The profile and the area that a path belongs to, if they are another profile's.
fn other_profile(places: &Places, name: &Path) -> Option<(String, &'static str)> {
    places.profiles(name).find_map(|(profile, rest)| {
        let first = rest.components().next()?.as_os_str();
        let area = AREAS.iter().find(|area| first == **area)?;
        (profile != places.profile()).then_some((profile, *area))
    })
}

/// Whether a path has the shape `.../sandboxes/BACKEND/TASK/home/.hermes/SOMETHING`.
fn is_mirror(path: &Path) -> bool {
    let mut window = [None; 6];
    path.components().any(|part| {
        window.rotate_left(1);
        let [.., last] = &mut window;
        *last = if let Component::Normal(name) = part { Some(name) } else { None };
        matches!(window, [Some(a), Some(_), Some(_), Some(b), Some(c), Some(_)]
            if a == "sandboxes" && b == "home" && c == ".hermes")
    })
}

fn is_container_home(path: &Path) -> bool {
    path.strip_prefix("/root/.hermes").is_ok_and(|rest| !rest.as_os_str().is_empty())
}
