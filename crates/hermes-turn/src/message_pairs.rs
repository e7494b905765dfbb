//! Giving every call of a conversation exactly one result.
