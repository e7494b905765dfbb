//! Snapshots of real folders.
