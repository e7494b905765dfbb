//! Marking the words of third parties as data.
