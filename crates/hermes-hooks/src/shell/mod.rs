//! Hooks that people write into `config.yaml`: programs of theirs.
