//! What isn't written: secrets, the program's own state, the machine's configuration, and what is
//! outside of the folders that writes are restricted to.

use super::table::{WRITE, WRITE_EXEMPT, WRITE_SYSTEM};
use super::{Class, Places, SEAT_BELT, Target};

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Any tool that is told where to write.
    Any,
    /// A tool that writes files for a model, which leaves the machine's configuration alone too.
    FileTool,
}

/// Why a file isn't written; none if it may be. Secrets come first, then the program's state, the
/// machine's configuration and at last the restriction to folders.
#[must_use]
pub fn denied(places: &Places, target: &Target, writer: Writer) -> Option<Class> {
    let names = target.names(places);
    let found = names.iter().filter_map(|name| places.find(WRITE, name)).map(|row| row.class);
    // `Credential` before `Session`, whichever name each was found by.
    if let Some(class) = found.min_by_key(|class| *class != Class::Credential) {
        return Some(class);
    }
    let of_system = |name| {
        places.find(WRITE_SYSTEM, name).filter(|_| places.find(WRITE_EXEMPT, name).is_none())
    };
    if writer == Writer::FileTool
        && let Some(row) = names.iter().find_map(|name| of_system(name))
    {
        return Some(row.class);
    }
    let roots = places.safe_roots()?;
    let real = places.key(target.real());
    (!roots.iter().any(|root| real.starts_with(root))).then_some(Class::SafeRoot)
}

/// What to tell a model about a file that isn't written; `shown` is its path.
#[must_use]
pub fn message(class: Class, shown: &str) -> String {
    let (what, instead) = match class {
        Class::Session => (
            "belongs to the conversations that this program keeps",
            "state like this changes through the program itself",
        ),
        Class::System => (
            "belongs to the configuration of the machine or of this program",
            "tell the user what to change there, and let them do it",
        ),
        Class::SafeRoot => (
            "is outside of the folders that writes are restricted to (HERMES_WRITE_SAFE_ROOT)",
            "write below one of these folders, or ask the user to widen the restriction",
        ),
        _ => (
            "holds keys, tokens or passwords, or decides who may log in",
            "tell the user what to change there, and let them do it",
        ),
    };
    format!("nothing was written: {shown} {what}. {SEAT_BELT}; {instead}")
}
