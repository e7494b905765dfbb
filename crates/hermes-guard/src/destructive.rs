//! Commands that lose what was there, worth a snapshot before they run.
