//! Masking secrets in text that people or logs see.
