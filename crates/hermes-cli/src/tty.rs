//! The terminal that controls the process: asking a line of the person at it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it is looked whether the question still stands.
const LOOK: Duration = Duration::from_millis(50);

#[cfg(unix)]
const TERMINAL: &str = "/dev/tty";

#[cfg(not(unix))]
const TERMINAL: &str = "CONIN$";

/// The terminal, for reading and writing.
///
/// # Errors
/// The process has none.
pub(crate) fn open() -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A read must not outlast the question, and nobody can interrupt one that waits.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(TERMINAL)
}

/// Whoever waits for an answer. When that is dropped, the thread that reads stops.
#[derive(Default)]
pub(crate) struct GivenUp(Arc<AtomicBool>);

/// Whether nobody waits for the answer any more.
pub(crate) struct Stop(Arc<AtomicBool>);

impl GivenUp {
    /// For the thread that reads.
    pub(crate) fn stop(&self) -> Stop {
        Stop(Arc::clone(&self.0))
    }

    /// Nobody waits any more.
    pub(crate) fn give_up(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Stop {
    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Reads a line of at most so many bytes, with its end. None at the end of the input, for a line
/// that is longer, and when nobody waits for it any more.
///
/// # Errors
/// The terminal can't be read.
pub(crate) fn read_line(
    terminal: &mut File,
    most: usize,
    stop: &Stop,
) -> io::Result<Option<Vec<u8>>> {
    let mut typed = Vec::new();
    let mut chunk = [0; 256];
    while !stop.is_stopped() {
        match terminal.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                typed.extend_from_slice(chunk.get(..count).unwrap_or_default());
                if typed.len() > most {
                    // Whatever this is, it is no answer.
                    break;
                }
                if typed.ends_with(b"\n") {
                    return Ok(Some(typed));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(LOOK),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Writes all of a text to a terminal that may be slow.
///
/// # Errors
/// It can't be written to.
pub(crate) fn write(terminal: &mut File, text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match terminal.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(LOOK),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
