//! Files of the host that go into sandboxes, and what comes back.
//!
//! [`Sources`] says what goes in: as mounts for containers on this host, as a list of files for
//! other machines. For those, [`SyncState`] finds what changed, [`pack`] writes it as an archive, and
//! [`unpack`] takes an archive of the other side apart.

mod back;
mod changes;
mod clean;
mod credential;
mod lock;
mod pack;
mod sources;
mod unpack;
mod walk;

pub use back::SyncMap;
pub use changes::{Stamp, SyncPlan, SyncState, Upload, delete_script};
pub use clean::clean_tree;
pub use credential::{CredentialFile, CredentialRefusal, credential_file};
pub use lock::SyncLock;
pub use pack::{PackError, pack};
pub use sources::{
    FileKind, Listing, Mount, Sources, SyncFile, cache_path_in_sandbox, cache_path_on_host,
};
pub use unpack::{Conflict, MAX_ARCHIVE, SYNC_BACK_PAUSES, SyncBack, UnpackError, unpack};

/// Where this program's files are in a container whose user is root.
pub const CONTAINER_BASE: &str = "/root/.hermes";
