//! The first and the last characters of a text that comes in pieces.

use std::collections::VecDeque;

/// Keeps the head and the tail of a text in bounded memory, and counts all of it.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    head: String,
    /// Characters that still fit into the head.
    head_room: usize,
    tail: VecDeque<u8>,
    /// Characters in the tail, and the most that it keeps.
    tail_chars: usize,
    tail_most: usize,
    /// Characters received.
    total: u64,
    /// Characters kept.
    held: usize,
}

impl Store {
    /// For so many characters of the head and of the tail.
    pub(crate) const fn new(head: usize, tail: usize) -> Self {
        Self {
            head: String::new(),
            head_room: head,
            tail: VecDeque::new(),
            tail_chars: 0,
            tail_most: tail,
            total: 0,
            held: 0,
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        let mut text = text;
        let mut chars = text.chars().count();
        self.total += chars as u64;
        if self.head_room > 0 {
            let taken = chars.min(self.head_room);
            let (head, rest) = split_chars(text, chars, taken);
            self.head.push_str(head);
            self.head_room -= taken;
            self.held += taken;
            (text, chars) = (rest, chars - taken);
        }
        if chars >= self.tail_most {
            let (_, kept) = split_chars(text, chars, chars - self.tail_most);
            self.tail.clear();
            self.tail.extend(kept.as_bytes());
            self.held += self.tail_most - self.tail_chars;
            self.tail_chars = self.tail_most;
        } else {
            let surplus = (self.tail_chars + chars).saturating_sub(self.tail_most);
            self.drop_front(surplus);
            self.tail.extend(text.as_bytes());
            self.tail_chars += chars;
            self.held += chars - surplus;
        }
    }

    /// Drops characters from the front of the tail.
    fn drop_front(&mut self, chars: usize) {
        let bytes = if self.tail.len() == self.tail_chars {
            chars
        } else {
            let is_start = |byte: &u8| (*byte & 0xC0) != 0x80;
            let mut starts = self.tail.iter().enumerate().filter(|(_, byte)| is_start(byte));
            starts.nth(chars).map_or(self.tail.len(), |(at, _)| at)
        };
        self.tail.drain(..bytes.min(self.tail.len()));
        self.tail_chars -= chars;
    }

    /// How many characters were received.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// How many characters are kept.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }

    /// Whether nothing was dropped.
    pub(crate) const fn is_whole(&self) -> bool {
        self.total == self.held as u64
    }

    /// The head and the tail.
    pub(crate) fn into_parts(self) -> (String, String) {
        let tail = String::from_utf8(self.tail.into()).unwrap_or_default();
        (self.head, tail)
    }
}

/// Splits a text of so many characters after the first of them.
pub(crate) fn split_chars(text: &str, chars: usize, first: usize) -> (&str, &str) {
    let at = if chars == text.len() {
        first
    } else if first <= chars / 2 {
        text.char_indices().nth(first).map_or(text.len(), |(at, _)| at)
    } else {
        match (chars - first.min(chars)).checked_sub(1) {
            Some(from_end) => text.char_indices().rev().nth(from_end).map_or(0, |(at, _)| at),
            None => text.len(),
        }
    };
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn head_and_tail(
            pieces in prop::collection::vec("[aé日\n]{0,9}", 0..12),
            head in 0usize..12,
            tail in 0usize..12,
        ) {
            let mut store = Store::new(head, tail);
            for piece in &pieces {
                store.push(piece);
                prop_assert!(store.held() <= head + tail);
            }
            let all: Vec<char> = pieces.concat().chars().collect();
            prop_assert_eq!(store.total(), all.len() as u64);
            prop_assert_eq!(store.is_whole(), all.len() <= head + tail);
            prop_assert_eq!(store.held(), all.len().min(head + tail));
            let parts = store.into_parts();
            let first = head.min(all.len());
            let last = tail.min(all.len() - first);
            prop_assert_eq!(parts.0, all[..first].iter().collect::<String>());
            prop_assert_eq!(parts.1, all[all.len() - last..].iter().collect::<String>());
        }

        #[test]
        fn splitting(text in "[aé日]{0,9}", first in 0usize..12) {
            let chars = text.chars().count();
            let (head, rest) = split_chars(&text, chars, first.min(chars));
            prop_assert_eq!(head.chars().count(), first.min(chars));
            prop_assert_eq!(head.to_owned() + rest, text);
        }
    }
}
