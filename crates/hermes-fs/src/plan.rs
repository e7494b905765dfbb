//! Changes of several files as one: all of them, or none.

use std::path::PathBuf;

use crate::error::CommitError;
use crate::stat::Stat;

/// A file that is to go.
#[derive(Clone, Debug)]
pub struct Removal {
    /// Where it is.
    pub path: PathBuf,
    /// What it was when it was looked at; something else isn't removed.
    pub old: Option<Stat>,
}

/// A file that is to go elsewhere, where nothing is by then.
#[derive(Clone, Debug)]
pub struct Move {
    /// Where it is.
    pub from: PathBuf,
    /// Where it is to be. The folders above are created.
    pub to: PathBuf,
    /// What it was when it was looked at; something else isn't moved.
    pub old: Option<Stat>,
}

/// What is at a place that is written to.
#[derive(Clone, Debug)]
pub struct Old {
    /// What it was when it was read; something else isn't written over.
    pub stat: Stat,
    /// What was in it, where it was read.
    pub bytes: Option<Vec<u8>>,
}

/// A whole new content for a file.
#[derive(Clone, Debug)]
pub struct Write {
    /// Where it is to be. The folders above are created.
    pub path: PathBuf,
    /// What is there now; none when nothing will be there by then.
    pub old: Option<Old>,
    /// The file whose mode, owner, group and extended attributes the new one gets, as far as that
    /// is permitted. Without one it gets what the umask leaves of 0666.
    pub like: Option<(PathBuf, Stat)>,
    /// The content.
    pub bytes: Vec<u8>,
}

/// What is to be done: removals first, then moves, then writes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Files that are to go.
    pub removals: Vec<Removal>,
    /// Files that are to go elsewhere. They may go around in circles.
    pub moves: Vec<Move>,
    /// New contents.
    pub writes: Vec<Write>,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Whether folders had to be created.
    pub created_folders: bool,
    /// What the user should know.
    pub warnings: Vec<&'static str>,
}

/// Files that no other call changes until this is dropped.
pub trait Held {
    /// Does all of the plan, or nothing. All files of the plan are held by this.
    ///
    /// Nothing is changed before all new contents are stored and all files were found unchanged. A
    /// content takes its place in one step where that can be; where it can't, a warning says so.
    ///
    /// # Errors
    /// Something couldn't be done; what was done was taken back.
    fn commit(&mut self, plan: &Plan) -> Result<Committed, CommitError>;
}

/// The folder can't take a new file.
pub(crate) const IN_PLACE_FOLDER: &str = "the folder can't be written to, so the file was \
    overwritten in place: an interruption could have left it incomplete";
/// The file belongs to somebody else.
pub(crate) const IN_PLACE_OWNER: &str = "the file belongs to another user and shall stay theirs, \
    so it was overwritten in place: an interruption could have left it incomplete";
