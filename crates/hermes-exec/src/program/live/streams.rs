//! What a live program reads and writes: pipes, or a terminal.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::{Receiver, Sender};

use super::handle::LiveHandle;
use super::terminal::{self, Terminal};
use crate::environment::{Reader, Size, Stdin, Writer};

/// Bytes asked for as the size of the pipe of the output: the usual 64 KiB cost a noisy program
/// four times as many waits. The system may refuse.
#[cfg(target_os = "linux")]
const PIPE: usize = 256 * 1024;

/// What a live program reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    /// What it reads.
    pub stdin: Stdin,
    /// Whether stderr has a stream of its own; else it is the one of stdout.
    pub errors_apart: bool,
    /// A terminal of this size in place of pipes. What is given as stdin is typed then.
    pub terminal: Option<Size>,
}

impl Default for Streams {
    fn default() -> Self {
        Self { stdin: Stdin::Null, errors_apart: false, terminal: None }
    }
}

/// Our ends of what a program was given.
pub(super) enum Prepared {
    Pipes { output: PipeReader, errors: Option<PipeReader>, stdin: Option<PipeWriter> },
    Terminal(File),
}

/// Our ends, ready to be used.
pub(super) struct Ends {
    pub(super) output: Reader,
    pub(super) errors: Option<Reader>,
    pub(super) stdin: Option<Writer>,
}

impl Prepared {
    /// Gives a command its ends.
    pub(super) fn on(command: &mut Command, streams: &Streams) -> io::Result<Self> {
        if let Some(size) = streams.terminal {
            let (ours, theirs) = terminal::open(size)?;
            command
                .stdin(Stdio::from(theirs.try_clone()?))
                .stdout(Stdio::from(theirs.try_clone()?))
                .stderr(Stdio::from(theirs));
            return Ok(Self::Terminal(ours));
        }
        let (output, writer) = io::pipe()?;
        #[cfg(target_os = "linux")]
        {
            // A wish only.
            let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE);
        }
        let mut errors = None;
        if streams.errors_apart {
            let (reader, writer) = io::pipe()?;
            errors = Some(reader);
            command.stderr(writer);
        } else {
            command.stderr(writer.try_clone()?);
        }
        command.stdout(writer);
        let stdin = match &streams.stdin {
            Stdin::Null => {
                command.stdin(Stdio::null());
                None
            }
            Stdin::Bytes(_) | Stdin::Open => {
                let (reader, writer) = io::pipe()?;
                command.stdin(reader);
                Some(writer)
            }
        };
        Ok(Self::Pipes { output, errors, stdin })
    }

    /// The ends for use, with given bytes on their way in.
    pub(super) fn ends(self, stdin: Stdin, handle: &mut LiveHandle) -> io::Result<Ends> {
        let ends = match self {
            Self::Pipes { output, errors, stdin } => Ends {
                output: reader(output)?,
                errors: errors.map(reader).transpose()?,
                stdin: stdin.map(writer).transpose()?,
            },
            Self::Terminal(ours) => {
                let terminal = Terminal::of(ours)?;
                handle.terminal = Some(terminal.clone());
                Ends {
                    output: Box::pin(terminal.clone()),
                    errors: None,
                    stdin: Some(Box::pin(terminal)),
                }
            }
        };
        let Stdin::Bytes(bytes) = stdin else { return Ok(ends) };
        let Some(mut writer) = ends.stdin else { return Ok(ends) };
        let is_terminal = handle.terminal.is_some();
        handle.feed = Some(hermes_task::spawn(async move {
            // A program may close its stdin whenever it likes.
            let _ = writer.write_all(&bytes).await;
            if is_terminal {
                let _ = writer.write_all(&[terminal::END]).await;
            }
        }));
        Ok(Ends { stdin: None, ..ends })
    }
}

fn reader(pipe: PipeReader) -> io::Result<Reader> {
    Ok(Box::pin(Receiver::from_owned_fd(OwnedFd::from(pipe))?))
}

fn writer(pipe: PipeWriter) -> io::Result<Writer> {
    Ok(Box::pin(Sender::from_owned_fd(OwnedFd::from(pipe))?))
}
