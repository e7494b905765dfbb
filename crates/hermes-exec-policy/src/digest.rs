//! SHA-256 and its hexadecimal form.

use sha2::{Digest as _, Sha256};

/// A digest of 32 bytes.
pub(crate) type Digest = [u8; 32];

/// The first `bytes` bytes of a digest of `data`, as hexadecimal digits.
pub(crate) fn short_hex(data: &[u8], bytes: usize) -> String {
    hex(&Sha256::digest(data)[..], bytes)
}

/// The first `bytes` bytes as hexadecimal digits.
pub(crate) fn hex(digest: &[u8], bytes: usize) -> String {
    digest.iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}
