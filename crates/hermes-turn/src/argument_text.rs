//! Mending the JSON text of arguments, and deciding whether it may be run.
