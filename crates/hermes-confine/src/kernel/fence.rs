//! Landlock: files may be changed below some places only.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use crate::rules::Rules;

/// All that the library knows; what the kernel doesn't is left out.
const NEWEST: ABI = ABI::V10;

/// Devices that ordinary programs write to.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// A set of rules that the kernel has taken.
#[derive(Debug)]
pub(crate) struct Fence {
    ruleset: RulesetCreated,
}

impl Fence {
    /// A fence by resolved rules.
    pub(crate) fn new(rules: &Rules) -> io::Result<Self> {
        let ruleset = ruleset(rules).map_err(io::Error::other)?;
        Ok(Self { ruleset })
    }

    /// Puts the calling thread behind it.
    pub(super) fn apply(&self) -> io::Result<()> {
        // Nothing new may be gained by a program's owner from then on: the library sees to that.
        self.ruleset.try_clone()?.restrict_self().map_err(io::Error::other)?;
        Ok(())
    }
}

fn ruleset(rules: &Rules) -> Result<RulesetCreated, RulesetError> {
    let mut handled = AccessFs::from_write(NEWEST);
    if rules.network {
        // Sockets of other programs are a part of the network.
        handled.remove(AccessFs::ResolveUnix);
    }
    let mut ruleset = Ruleset::default().handle_access(handled)?;
    if !rules.network {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(NEWEST))?
            // Only this: were signals bound too, no command could end what another one left running.
            .scope(Scope::AbstractUnixSocket)?;
    }
    let mut ruleset = ruleset.create()?;
    // A device made in a writable folder would open the disk itself to the superuser.
    let allowed = handled & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    for path in DEVICES.iter().map(Path::new).chain(rules.writable.iter().map(AsRef::as_ref)) {
        // What is gone by now can't be written to.
        if let (Ok(place), Ok(metadata)) = (PathFd::new(path), path.metadata()) {
            let allowed = if metadata.is_dir() { allowed } else { of_file(allowed) };
            ruleset = ruleset.add_rule(PathBeneath::new(place, allowed))?;
        }
    }
    Ok(ruleset)
}

/// What can be done to a file, as opposed to a folder.
fn of_file(access: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    access & AccessFs::from_file(NEWEST)
}

/// The version of Landlock that this kernel has, as far as the library knows it. It is really
/// used, on a thread of its own: being known isn't being allowed.
///
/// # Errors
///
/// Why it can't be used, in words.
pub(crate) fn abi() -> Result<u32, String> {
    let tried = std::thread::Builder::new().name("confined".to_owned()).spawn(|| {
        Ruleset::default()
            .handle_access(AccessFs::from_write(ABI::V1))?
            .create()?
            .restrict_self()
            .map(|status| status.landlock)
    });
    let tried = tried.map_err(|error| error.to_string())?.join();
    match tried.map_err(|_| "the try came to nothing")? {
        Ok(LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi as u32),
        Ok(LandlockStatus::NotEnabled) => Err("it is switched off in this kernel".to_owned()),
        Ok(LandlockStatus::NotImplemented) => Err("this kernel doesn't have it".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
