//! A program that is started and listened to while it runs, with everything that it starts.

mod exit;
mod handle;
mod stranger;
mod streams;
mod terminal;
mod tree;

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use self::exit::ExitWatch;
use self::handle::LiveHandle;
pub use self::stranger::Stranger;
use self::streams::Prepared;
pub use self::streams::Streams;
pub use self::tree::tag_of;
use super::{BUSY_PAUSE, Program, StartError, is_busy};
use crate::environment::Running;
pub use crate::remote::TAG;

impl Program {
    /// Starts the program in a session of its own and leaves it running. Its time limit, capture
    /// and given stdin are those of a [`run`](Self::run) and mean nothing here.
    ///
    /// Where the variable [`TAG`] is among its variables, what it starts is found by that too when
    /// it is to be ended. Must be called within a runtime; blocks for as long as a fork and an exec
    /// take.
    ///
    /// # Errors
    ///
    /// The program could not be started.
    pub fn launch(&self, streams: Streams) -> Result<Running, StartError> {
        let file = self.file()?;
        let refused = |source| StartError::refused(file.clone(), source);
        let mut tries = 0;
        loop {
            let mut command = self.command(&file);
            let prepared = Prepared::on(&mut command, &streams).map_err(refused)?;
            own_session(&mut command, streams.terminal.is_some());
            match command.spawn() {
                Ok(child) => {
                    // The ends that are the program's are closed here with it.
                    drop(command);
                    return self.live(child, prepared, streams).map_err(refused);
                }
                Err(error) if is_busy(&error, &mut tries) => std::thread::sleep(BUSY_PAUSE),
                Err(source) => return Err(refused(source)),
            }
        }
    }

    fn live(&self, child: Child, prepared: Prepared, streams: Streams) -> io::Result<Running> {
        let tag = self.env.iter().rev().find(|(key, _)| key == TAG);
        let tag = tag.map(|(_, value)| value.as_encoded_bytes().to_vec());
        // From here on the child is ended if anything fails.
        let mut handle = LiveHandle::of(child, tag);
        handle.watch = Some(ExitWatch::of(handle.id())?);
        let ends = prepared.ends(streams.stdin, &mut handle)?;
        Ok(Running {
            output: ends.output,
            errors: ends.errors,
            stdin: ends.stdin,
            handle: Box::new(handle),
        })
    }
}

/// Makes the program the leader of a session, with the terminal on its stdin as the one that
/// controls it, or without any. So nothing that it starts can ask questions on our terminal, and no
/// signal meant for us reaches it.
#[expect(unsafe_code, reason = "there is no other way to have a child call setsid")]
fn own_session(command: &mut Command, has_terminal: bool) {
    // The group comes with the session: its leader can't be made one again.
    let lead = move || {
        let leader = rustix::process::setsid()?;
        // What leaves its parents becomes the leader's child for as long as the leader lives, and
        // is found with it. Without the call it may be found by its variables.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(leader));
        #[cfg(not(target_os = "linux"))]
        let _ = leader;
        if has_terminal {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe calls are made: system calls, and
    // no allocation, lock or formatting; an error is a number.
    unsafe { command.pre_exec(lead) };
}
