//! A filter of system calls: the ways to a network.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

/// System calls by 32-bit pointers on 64-bit x86 are the same ones with this bit.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// A compiled filter.
#[derive(Debug)]
pub(crate) struct Filter {
    program: BpfProgram,
}

/// Which sockets may be made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sockets {
    /// Those to programs of this machine.
    Unix,
    /// None but connected pairs, which lead nowhere else.
    None,
    /// Those that end in the network of one's own; there are others, to the host of a virtual
    /// machine for one.
    Enclosed,
}

impl Filter {
    /// A filter that lets only such sockets be made.
    ///
    /// Programs of another architecture (32-bit ones) are killed by it, since their system calls
    /// have other numbers.
    pub(crate) fn new(allowed: Sockets) -> io::Result<Self> {
        let program = program(allowed).map_err(io::Error::other)?;
        Ok(Self { program })
    }

    /// Filters the system calls of the calling thread.
    pub(super) fn apply(&self) -> io::Result<()> {
        apply_filter(&self.program).map_err(io::Error::other)
    }

    /// Whether this kernel takes filters.
    ///
    /// # Errors
    ///
    /// Why not, in words.
    pub(crate) fn check() -> Result<(), String> {
        let tried = Self::new(Sockets::Unix).and_then(|filter| {
            super::Restrictions { filter: Some(filter), ..Default::default() }.around(|| Ok(()))
        });
        tried.map_err(|error| error.to_string())
    }
}

fn program(allowed: Sockets) -> Result<BpfProgram, BackendError> {
    let unix = [libc::AF_UNIX];
    let enclosed = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let socket = match allowed {
        Sockets::Unix => vec![none_of(&unix)?],
        Sockets::Enclosed => vec![none_of(&enclosed)?],
        Sockets::None => Vec::new(),
    };
    // Denied: what a socket is needed for has its own words for that, unlike for what is unknown.
    let sockets = [(libc::SYS_socket, socket), (libc::SYS_socketpair, vec![none_of(&unix)?])];
    let others = [
        // It makes sockets without the call for that. Those who would use it do without.
        (libc::SYS_io_uring_setup, Vec::new()),
        // Typing into the terminal from which we were started.
        (libc::SYS_ioctl, vec![first_is(1, libc::TIOCSTI)?, first_is(1, libc::TIOCLINUX)?]),
    ];
    let rules: BTreeMap<_, _> = sockets.into_iter().chain(others).collect();
    #[cfg(target_arch = "x86_64")]
    let rules = rules
        .iter()
        .flat_map(|(call, rules)| [(*call, rules.clone()), (*call | X32, rules.clone())]);
    #[cfg(target_arch = "x86_64")]
    let rules: BTreeMap<_, _> = rules.collect();
    let denied = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let processor: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, denied, processor)?.try_into()
}

/// The first argument is none of these.
fn none_of(families: &[i32]) -> Result<SeccompRule, BackendError> {
    let differs = |family: &i32| condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()));
    SeccompRule::new(families.iter().map(differs).collect::<Result<_, _>>()?)
}

/// An argument is this.
fn first_is(index: u8, value: libc::Ioctl) -> Result<SeccompRule, BackendError> {
    // The kernel looks at the lower half alone.
    let value = u64::from(u32::try_from(value).unwrap_or(u32::MAX));
    SeccompRule::new(vec![condition(index, SeccompCmpOp::Eq, value)?])
}

fn condition(
    index: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)
}
