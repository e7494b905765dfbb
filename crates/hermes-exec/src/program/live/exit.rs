//! Learning that a child has ended, without collecting it: until it is collected, its number and
//! that of its group are its own.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};
#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};

use crate::environment::Exit;

/// Becomes ready when a child has ended.
#[derive(Debug)]
pub(super) struct ExitWatch {
    pid: Pid,
    #[cfg(target_os = "linux")]
    fd: AsyncFd<OwnedFd>,
}

impl ExitWatch {
    #[cfg(target_os = "linux")]
    #[expect(unsafe_code, reason = "tokio has no safe way to wait for a descriptor")]
    pub(super) fn of(pid: Pid) -> io::Result<Self> {
        let fd = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        // SAFETY: an `OwnedFd` is open and the same descriptor for as long as it lives.
        let fd = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?;
        Ok(Self { pid, fd })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(pid: Pid) -> io::Result<Self> {
        Ok(Self { pid })
    }

    /// How it ended, once it has.
    #[cfg(target_os = "linux")]
    pub(super) async fn ended(&self) -> Exit {
        loop {
            if let Some(exit) = look(self.pid) {
                return exit;
            }
            match self.fd.readable().await {
                // It stays readable: there is nothing to clear.
                Ok(mut guard) => guard.retain_ready(),
                Err(error) => return Exit::Lost(format!("the process can't be watched: {error}")),
            }
        }
    }

    /// How it ended, once it has. Other systems have to be asked again and again.
    #[cfg(not(target_os = "linux"))]
    pub(super) async fn ended(&self) -> Exit {
        let mut pause = std::time::Duration::from_millis(1);
        loop {
            if let Some(exit) = look(self.pid) {
                return exit;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(std::time::Duration::from_millis(20));
        }
    }
}

/// Waits until a process has ended, a child or another one; or for a moment, where that can't be
/// watched.
pub(super) async fn gone(pid: Pid, moment: Duration) {
    #[cfg(target_os = "linux")]
    match pidfd_open(pid, PidfdFlags::NONBLOCK) {
        Ok(fd) => {
            #[expect(unsafe_code, reason = "tokio has no safe way to wait for a descriptor")]
            // SAFETY: an `OwnedFd` is open and the same descriptor for as long as it lives.
            let fd = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
            if let Ok(fd) = fd
                && fd.readable().await.is_ok()
            {
                return;
            }
        }
        Err(rustix::io::Errno::SRCH) => return,
        // Out of descriptors.
        Err(_) => {}
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pid;
    tokio::time::sleep(moment).await;
}

/// How a child has ended, if it has; it is left to be collected.
pub(super) fn look(pid: Pid) -> Option<Exit> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    loop {
        return match waitid(WaitId::Pid(pid), options) {
            Ok(None) => None,
            Ok(Some(status)) => Some(exit_of(&status)),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => Some(Exit::Lost(format!("the process is not a child any more: {error}"))),
        };
    }
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    let by_signal = status.terminating_signal().map(|signal| 128 + signal);
    by_signal.or(status.exit_status()).map_or_else(
        || Exit::Lost("the process ended in a way that the system doesn't tell".to_owned()),
        Exit::Code,
    )
}
