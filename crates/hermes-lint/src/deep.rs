//! Parsers of code, each run on a thread of its own: with a stack that is large enough, and not
//! waited for longer than is worth it.
//!
//! A parser that uses recursion goes at most one level deeper with each token, so the number of
//! tokens bounds the stack, whatever the text. The stack is only reserved: a text that isn't nested
//! deeply touches a few pages of it.
//!
//! Such parsers take quadratic time for some texts, and can't be stopped on their way. They go on by
//! themselves then, a few at most.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::problem::Parsed;

/// What a parser may need besides what its tokens take, in bytes.
const BASE: usize = 1024 * 1024;
/// The largest stack, in bytes. Texts that could need more aren't looked at.
const MAX_STACK: usize = 256 * 1024 * 1024;
/// How long a parser is waited for. Ordinary files take milliseconds.
const PATIENCE: Duration = Duration::from_secs(4);
/// The most parsers that may run at once, those included that nobody waits for any more.
const MAX_RUNNING: usize = 16;

/// How many run now, in the whole process: what they use up is the process's too.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// One that runs.
struct Running;

impl Running {
    fn start() -> Option<Self> {
        // Made before it is known whether there is room, so that it counts down either way.
        let before = RUNNING.fetch_add(1, Ordering::Relaxed);
        let running = Self;
        (before < MAX_RUNNING).then_some(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs a parser that takes at most so many bytes of stack for the text. One that panics has no
/// opinion.
pub(crate) fn run(
    text: &str,
    stack: usize,
    parse: impl FnOnce(&str) -> Parsed + Send + 'static,
) -> Parsed {
    let stack = stack.saturating_add(BASE);
    if stack > MAX_STACK {
        return Parsed::Unknown("the file is too large to be checked");
    }
    let Some(running) = Running::start() else {
        return Parsed::Unknown("too many checks are still busy");
    };
    let (sender, receiver) = mpsc::sync_channel(1);
    let text = text.to_owned();
    let work = move || {
        let parsed = parse(&text);
        drop(running);
        // Nobody listens when it took too long.
        let _ = sender.send(parsed);
    };
    if thread::Builder::new().name("lint".to_owned()).stack_size(stack).spawn(work).is_err() {
        return Parsed::Unknown("the check couldn't be started");
    }
    match receiver.recv_timeout(PATIENCE) {
        Ok(parsed) => parsed,
        Err(RecvTimeoutError::Timeout) => Parsed::Unknown("the check took too long"),
        Err(RecvTimeoutError::Disconnected) => Parsed::Unknown("the check failed"),
    }
}

/// About how many tokens there are, rather too many: the starts of words, and all other signs.
#[cfg_attr(
    not(feature = "full"),
    allow(dead_code, reason = "a parser may count its tokens itself")
)]
pub(crate) fn tokens(text: &str) -> usize {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let mut in_word = false;
    let mut count = 0;
    for byte in text.bytes() {
        let word = is_word(byte);
        let goes_on = word && in_word;
        if !(goes_on || byte.is_ascii_whitespace()) {
            count += 1;
        }
        in_word = word;
    }
    count
}
