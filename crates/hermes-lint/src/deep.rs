//! Parsers that use recursion, on a stack that is large enough.
//!
//! Such a parser goes at most one level deeper with each token, so the number of tokens bounds the
//! stack, whatever the text. The stack is only reserved: a text that isn't nested deeply touches a
//! few pages of it.

use std::thread;

use crate::problem::Parsed;

/// What a parser may need besides what its tokens take, in bytes.
const BASE: usize = 1024 * 1024;
/// The largest stack, in bytes. Texts that could need more aren't looked at.
const MAX_STACK: usize = 256 * 1024 * 1024;

/// Runs a parser that takes at most so many bytes of stack for all tokens together. One that panics
/// has no opinion.
pub(crate) fn run(stack: usize, parse: impl FnOnce() -> Parsed + Send) -> Parsed {
    let stack = stack.saturating_add(BASE);
    if stack > MAX_STACK {
        return Parsed::Unknown("the file is too large to be checked");
    }
    let parsed = thread::scope(|scope| {
        let worker = thread::Builder::new().name("lint".to_owned()).stack_size(stack);
        worker.spawn_scoped(scope, parse).ok().and_then(|worker| worker.join().ok())
    });
    parsed.unwrap_or(Parsed::Unknown("the check failed"))
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
