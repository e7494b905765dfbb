//! A terminal that shows nothing of what is typed, for as long as a password is asked for.
//!
//! What it was before is kept in one place of the program, so that whoever ends the program can
//! bring it back.

#[cfg(all(unix, feature = "terminal"))]
pub(crate) use unix::{Silence, end};

#[cfg(all(unix, feature = "terminal"))]
mod unix {
    use std::fs::File;
    use std::io;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rustix::process::getpgrp;
    use rustix::termios::{
        LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
        tcgetpgrp, tcsetattr,
    };

    use crate::tty::Stop;

    /// The terminal and what it was like.
    static BEFORE: Mutex<Option<(File, Termios)>> = Mutex::new(None);

    /// A key that doesn't exist, in place of one that does something.
    const NO_KEY: u8 = 0;

    /// Brings the terminal back when it is dropped.
    pub(crate) struct Silence;

    impl Silence {
        /// Takes the echo away, unless nobody waits for an answer any more, somebody asks already,
        /// or the terminal is somebody else's at the moment.
        pub(crate) fn begin(terminal: &File, stop: &Stop) -> io::Result<Option<Self>> {
            let mut before = lock();
            // A program in the background would be stopped by changing its terminal.
            let is_in_front = tcgetpgrp(terminal)? == getpgrp();
            if stop.is_stopped() || before.is_some() || !is_in_front {
                return Ok(None);
            }
            let was = tcgetattr(terminal)?;
            let mut silent = was.clone();
            silent.local_modes &= !LocalModes::ECHO;
            // Keys that stop or end the program would leave the terminal as it is then.
            silent.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
            silent.special_codes[SpecialCodeIndex::VQUIT] = NO_KEY;
            let terminal = terminal.try_clone()?;
            // What was typed before the question is no answer to it.
            tcsetattr(&terminal, OptionalActions::Flush, &silent)?;
            *before = Some((terminal, was));
            Ok(Some(Self))
        }
    }

    impl Drop for Silence {
        fn drop(&mut self) {
            end();
        }
    }

    /// Brings the terminal back, if its echo was taken away.
    pub(crate) fn end() {
        if let Some((terminal, was)) = lock().take() {
            // Half a password must not become somebody's command.
            let _ = tcflush(&terminal, QueueSelector::IFlush);
            let _ = tcsetattr(&terminal, OptionalActions::Now, &was);
        }
    }

    fn lock() -> MutexGuard<'static, Option<(File, Termios)>> {
        BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// There is nothing to be brought back.
#[cfg(not(all(unix, feature = "terminal")))]
pub(crate) fn end() {}
