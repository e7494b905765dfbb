//! What the kernel refuses to a thread and to all that it starts.
//!
//! Landlock and system call filters bind the thread that asks for them, for good, and processes
//! inherit them from the thread that forks them. So a thread is made for each command.

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod fence;
#[cfg(not(target_os = "linux"))]
#[path = "kernel/no_fence.rs"]
mod fence;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod filter;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
)))]
#[path = "kernel/no_filter.rs"]
mod filter;

use std::io;
use std::path::Path;
use std::thread;

pub(crate) use self::fence::{Fence, abi};
pub(crate) use self::filter::{Filter, Sockets};

/// Whether we are the superuser, whose capabilities reach around what is mounted or fenced.
pub(crate) fn is_superuser() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::process::geteuid().is_root();
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Whether the modes of a file or folder let us write it.
pub(crate) fn may_write(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    #[cfg(not(target_os = "linux"))]
    return path.metadata().is_ok_and(|it| !it.permissions().readonly());
}

/// What a thread gives up.
#[derive(Debug, Default)]
pub(crate) struct Restrictions {
    /// Files, and what else Landlock knows.
    pub(crate) fence: Option<Fence>,
    /// System calls.
    pub(crate) filter: Option<Filter>,
    /// What makes the superuser more than others.
    pub(crate) capabilities: bool,
}

impl Restrictions {
    /// Runs something on a thread of its own that has given all of this up.
    ///
    /// # Errors
    ///
    /// There is no thread to be had, the kernel refuses a restriction, or `run` failed.
    pub(crate) fn around<T: Send>(
        &self,
        run: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        thread::scope(|scope| {
            let confined = move || {
                self.apply()?;
                run()
            };
            let thread = thread::Builder::new().name("confined".to_owned());
            match thread.spawn_scoped(scope, confined)?.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Gives everything up, for the calling thread.
    fn apply(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if self.capabilities {
            capabilities::give_up()?;
        }
        if let Some(fence) = &self.fence {
            fence.apply()?;
        }
        self.filter.as_ref().map_or(Ok(()), Filter::apply)
    }
}
