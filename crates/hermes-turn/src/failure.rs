//! Whether a result is a failure.
