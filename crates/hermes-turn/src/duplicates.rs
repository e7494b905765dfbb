//! Calls that say the same twice.
