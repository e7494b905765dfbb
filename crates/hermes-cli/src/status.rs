//! Stderr: errors, warnings, the log, and a line that moves while calls run.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use tracing_subscriber::fmt::MakeWriter;

use crate::output::columns;
use crate::preview;
use crate::style::{BAD, DIM, WARN};

/// Calls that end sooner never show up on the moving line.
const PATIENCE: Duration = Duration::from_millis(200);

const TICK: Duration = Duration::from_millis(100);

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

const CLEAR_LINE: &str = "\r\x1b[2K";

/// Stderr, shared by everyone who writes to it, so that nothing lands on the moving line.
#[derive(Clone)]
pub(crate) struct Status {
    line: Arc<Mutex<Line>>,
    is_terminal: bool,
}

struct Line {
    colours: bool,
    running: Vec<Running>,
    /// Whether the moving line is on the screen.
    drawn: bool,
    /// Whether a thread redraws it.
    ticking: bool,
    /// How many questions are on the screen, which must not be written over.
    held: usize,
    frame: usize,
}

struct Running {
    call: String,
    label: String,
    since: Instant,
}

impl Status {
    /// Takes stderr.
    pub(crate) fn stderr() -> Self {
        let line = Line {
            colours: AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            running: Vec::new(),
            drawn: false,
            ticking: false,
            held: 0,
            frame: 0,
        };
        Self { line: Arc::new(Mutex::new(line)), is_terminal: io::stderr().is_terminal() }
    }

    /// Whether a person reads along.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Whether what is written may have colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.line().colours
    }

    /// Keeps the moving line away for as long as the result lives: somebody is being asked.
    pub(crate) fn hold(&self) -> Hold {
        let mut line = self.line();
        line.clear();
        line.held += 1;
        Hold { status: self.clone() }
    }

    /// Tells of an error.
    pub(crate) fn error(&self, message: impl Display) {
        self.print(format_args!("{BAD}error:{BAD:#} {message}"));
    }

    /// Tells of something that may be wrong.
    pub(crate) fn warning(&self, message: impl Display) {
        self.print(format_args!("{WARN}warning:{WARN:#} {message}"));
    }

    /// Writes a line.
    pub(crate) fn print(&self, text: impl Display) {
        let mut line = self.line();
        line.clear();
        line.write(&format!("{text}\n"));
    }

    /// Puts a running call on the moving line.
    pub(crate) fn call_started(&self, call: &str, label: String) {
        let mut line = self.line();
        line.running.push(Running { call: call.to_owned(), label, since: Instant::now() });
        if !line.ticking {
            line.ticking = true;
            let status = self.clone();
            let thread = std::thread::Builder::new().name("progress".to_owned());
            // Without the thread there is no progress line, and everything else goes on.
            let _ = thread.spawn(move || while status.tick() {});
        }
    }

    /// Takes a call off the moving line.
    pub(crate) fn call_ended(&self, call: &str) {
        let mut line = self.line();
        line.running.retain(|running| running.call != call);
        line.clear();
    }

    /// Waits and redraws; says whether there is more to draw.
    fn tick(&self) -> bool {
        std::thread::sleep(TICK);
        let mut line = self.line();
        line.ticking = !line.running.is_empty();
        line.draw();
        line.ticking
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the moving line away.
#[must_use = "the line comes back when this is dropped"]
pub(crate) struct Hold {
    status: Status,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut line = self.status.line();
        line.held = line.held.saturating_sub(1);
    }
}

impl Line {
    fn draw(&mut self) {
        if self.held > 0 {
            return;
        }
        let Some(oldest) = self.running.first().filter(|call| call.since.elapsed() >= PATIENCE)
        else {
            return;
        };
        self.frame = (self.frame + 1) % FRAMES.len();
        let frame = FRAMES.get(self.frame).copied().unwrap_or('·');
        let others = match self.running.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let time = format!("{others} {:.1}s", oldest.since.elapsed().as_secs_f64());
        let width = columns(terminal_size::terminal_size_of(io::stderr())).unwrap_or(80);
        let room = width.saturating_sub(time.chars().count() + 3);
        let label = preview::cut(&oldest.label, room);
        write_raw(CLEAR_LINE);
        self.write(&format!("{frame} {label}{DIM}{time}{DIM:#}"));
        self.drawn = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            write_raw(CLEAR_LINE);
        }
    }

    fn write(&self, text: &str) {
        if self.colours {
            write_raw(text);
        } else {
            write_raw(&strip_str(text).to_string());
        }
    }
}

/// There is nobody to tell if this fails.
fn write_raw(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// One entry of the log. Written as a whole when it is complete.
pub(crate) struct LogLine {
    status: Status,
    text: Vec<u8>,
}

impl<'w> MakeWriter<'w> for Status {
    type Writer = LogLine;

    fn make_writer(&'w self) -> Self::Writer {
        LogLine { status: self.clone(), text: Vec::new() }
    }
}

impl io::Write for LogLine {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        self.status.print(String::from_utf8_lossy(&self.text).trim_end());
    }
}
