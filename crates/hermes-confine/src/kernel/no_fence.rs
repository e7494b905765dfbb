//! Systems without Landlock.

use std::io;

use crate::rules::Rules;

/// None.
#[derive(Debug)]
pub(crate) enum Fence {}

impl Fence {
    pub(crate) fn new(_rules: &Rules) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn apply(&self) -> io::Result<()> {
        match *self {}
    }
}

/// Landlock isn't there.
pub(crate) fn abi() -> Result<u32, String> {
    Err("only Linux has it".to_owned())
}
