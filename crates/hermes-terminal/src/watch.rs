//! Patterns in the output of background processes, as it comes.

use std::time::Duration;

use memchr::memmem::Finder;

use crate::{Decoder, Stripper};

/// How long after an event matches are only counted.
pub const COOL_DOWN: Duration = Duration::from_secs(15);
/// After so many cool-downs in a row with matches in them, watching ends.
pub const MOST_STRIKES: u32 = 3;
/// How long a line that isn't ended may be silent before it is looked at.
pub const SILENCE: Duration = Duration::from_millis(200);
/// Most lines in an event.
const MOST_LINES: u64 = 20;
/// Most characters in an event.
const MOST_CHARS: usize = 2000;
/// What stands for the rest of an event that is too long.
const MORE: &str = "\n[…]";
/// Longest line that isn't ended, in bytes. Of a longer one the end is kept.
const MOST_LINE: usize = 64 * 1024;

/// What there is to tell of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// Lines with a pattern in them.
    Match {
        /// The pattern that was found first.
        pattern: String,
        /// The lines: at most 20, and at most 2000 characters.
        output: String,
        /// How many lines had a pattern in them.
        lines: u64,
        /// How many more were not told of since the last event.
        suppressed: u64,
    },
    /// There were too many matches for too long: there will be no more events. The end of the
    /// process is to be told instead.
    Disabled {
        /// How many lines were not told of since the last event.
        suppressed: u64,
    },
}

/// Watches the output of one process.
///
/// Time is whatever the caller counts in; it must not go back. Each line counts once, whichever
/// pieces it comes in and whatever colours are in it. A line that isn't ended is looked at when it
/// was silent for [`SILENCE`]: [`Watch::due`] says when, for [`Watch::tick`].
///
/// ```
/// use std::time::Duration;
/// use hermes_terminal::{Watch, WatchEvent};
///
/// let mut watch = Watch::new(["READY"]);
/// assert_eq!(watch.push(Duration::ZERO, b"boot\nREA"), None);
/// let event = watch.push(Duration::from_secs(1), b"\x1b[32mDY\x1b[0m on 80\n");
/// let Some(WatchEvent::Match { pattern, output, .. }) = event else { panic!() };
/// assert_eq!((pattern.as_str(), output.as_str()), ("READY", "READY on 80"));
/// ```
#[derive(Clone, Debug)]
pub struct Watch {
    decoder: Decoder,
    stripper: Stripper,
    lines: Lines,
    /// When output came last.
    grown: Duration,
    cools_until: Option<Duration>,
    /// Whether something was dropped in the current cool-down.
    is_struck: bool,
    strikes: u32,
    suppressed: u64,
    hits: u64,
    is_disabled: bool,
}

impl Watch {
    /// For these patterns: texts that a line holds, upper and lower case told apart. Empty ones are
    /// dropped.
    #[must_use]
    pub fn new<T: AsRef<str>>(patterns: impl IntoIterator<Item = T>) -> Self {
        Self {
            decoder: Decoder::default(),
            stripper: Stripper::default(),
            lines: Lines::new(patterns),
            grown: Duration::ZERO,
            cools_until: None,
            is_struck: false,
            strikes: 0,
            suppressed: 0,
            hits: 0,
            is_disabled: false,
        }
    }

    /// Whether there may still be events.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        !self.is_disabled && !self.lines.patterns.is_empty()
    }

    /// Whether there were too many matches: the end of the process is to be told instead.
    #[must_use]
    pub const fn is_disabled(&self) -> bool {
        self.is_disabled
    }

    /// How many matches were told.
    #[must_use]
    pub const fn hits(&self) -> u64 {
        self.hits
    }

    /// Reads what the process wrote. Call [`Watch::tick`] before, if it is due.
    pub fn push(&mut self, now: Duration, bytes: &[u8]) -> Option<WatchEvent> {
        if !self.is_active() {
            return None;
        }
        let Self { decoder, stripper, lines, .. } = self;
        decoder.push(bytes, &mut |text| stripper.push(text, &mut |text| lines.read(text)));
        self.grown = now;
        self.tell(now)
    }

    /// When the line that isn't ended is to be looked at, if it is.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        let waits = self.is_active() && self.lines.is_waiting();
        waits.then(|| self.grown.saturating_add(SILENCE))
    }

    /// Looks at the line that isn't ended, if it was silent for long enough.
    pub fn tick(&mut self, now: Duration) -> Option<WatchEvent> {
        if self.due().is_none_or(|due| now < due) {
            return None;
        }
        self.lines.check();
        self.tell(now)
    }

    /// Looks at the line that isn't ended: the process has ended.
    pub fn finish(&mut self, now: Duration) -> Option<WatchEvent> {
        if !self.is_active() {
            return None;
        }
        let Self { decoder, stripper, lines, .. } = self;
        decoder.finish(&mut |text| stripper.push(text, &mut |text| lines.read(text)));
        stripper.finish(&mut |text| lines.read(text));
        lines.check();
        self.tell(now)
    }

    fn tell(&mut self, now: Duration) -> Option<WatchEvent> {
        let found = std::mem::take(&mut self.lines.found);
        let pattern = found.pattern?;
        if self.cools_until.is_some_and(|until| now < until) {
            self.suppressed += found.lines;
            if !std::mem::replace(&mut self.is_struck, true) {
                self.strikes += 1;
            }
            if self.strikes < MOST_STRIKES {
                return None;
            }
            self.is_disabled = true;
            self.lines.line = String::new();
            return Some(WatchEvent::Disabled { suppressed: self.suppressed });
        }
        if !std::mem::take(&mut self.is_struck) {
            self.strikes = 0;
        }
        self.cools_until = Some(now.saturating_add(COOL_DOWN));
        self.hits += 1;
        Some(WatchEvent::Match {
            pattern,
            output: shortened(found.output),
            lines: found.lines,
            suppressed: std::mem::take(&mut self.suppressed),
        })
    }
}

/// Looks for patterns line by line.
#[derive(Clone, Debug)]
struct Lines {
    patterns: Vec<Finder<'static>>,
    /// The length of the longest pattern, in bytes.
    longest: usize,
    /// The line that isn't ended.
    line: String,
    /// Whether it counted already.
    is_counted: bool,
    /// Whether it grew since it was looked at.
    has_news: bool,
    found: Found,
}

/// Lines with a pattern in them.
#[derive(Clone, Debug, Default)]
struct Found {
    /// What was found first.
    pattern: Option<String>,
    lines: u64,
    output: String,
}

impl Lines {
    fn new<T: AsRef<str>>(patterns: impl IntoIterator<Item = T>) -> Self {
        let patterns = patterns.into_iter().filter(|it| !it.as_ref().is_empty());
        let patterns: Vec<_> = patterns.map(|it| Finder::new(it.as_ref()).into_owned()).collect();
        let longest = patterns.iter().map(|it| it.needle().len()).max().unwrap_or_default();
        Self {
            patterns,
            longest,
            line: String::new(),
            is_counted: false,
            has_news: false,
            found: Found::default(),
        }
    }

    const fn is_waiting(&self) -> bool {
        self.has_news && !self.is_counted
    }

    /// Reads text without escape sequences. A carriage return ends a line too.
    fn read(&mut self, text: &str) {
        for piece in text.split_inclusive(['\n', '\r']) {
            let ended = piece.strip_suffix(['\n', '\r']);
            let part = ended.unwrap_or(piece);
            self.line.push_str(part);
            self.has_news |= !part.is_empty();
            if ended.is_some() {
                self.check();
                self.line.clear();
                self.is_counted = false;
                self.has_news = false;
            } else if self.line.len() > MOST_LINE {
                self.check();
                let at = self.line.len().saturating_sub(self.longest);
                self.line.drain(..self.line.floor_char_boundary(at));
            }
        }
    }

    /// Looks for the patterns in the line as it is.
    fn check(&mut self) {
        if self.is_counted || !std::mem::take(&mut self.has_news) {
            return;
        }
        let mut patterns = self.patterns.iter();
        let Some(pattern) = patterns.find(|it| it.find(self.line.as_bytes()).is_some()) else {
            return;
        };
        self.is_counted = true;
        let found = &mut self.found;
        found.pattern.get_or_insert_with(|| String::from_utf8_lossy(pattern.needle()).into_owned());
        if found.lines < MOST_LINES && found.output.len() <= MOST_CHARS * 4 {
            if found.lines > 0 {
                found.output.push('\n');
            }
            found.output.extend(self.line.trim_end().chars().take(MOST_CHARS + 1));
        }
        found.lines += 1;
    }
}

fn shortened(output: String) -> String {
    if output.chars().nth(MOST_CHARS).is_none() {
        return output;
    }
    let kept = output.chars().take(MOST_CHARS - MORE.chars().count());
    kept.chain(MORE.chars()).collect()
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
