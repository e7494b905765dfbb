//! How much a host insists on confinement.

use std::fmt;
use std::str::FromStr;

/// How much a host insists on confinement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Commands run as they always did.
    #[default]
    Off,
    /// What this machine can hold is held; the report says what.
    Auto,
    /// Nothing runs unless writing elsewhere, and the network if it isn't allowed, are refused.
    ///
    /// Where the kernel can't tell one unix socket from another, commands without a network can't
    /// open any, since a daemon behind one could act for them.
    Required,
}

/// A word that names no [`Mode`].
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownMode {
    word: String,
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(word: &str) -> Result<Self, UnknownMode> {
        match word {
            "off" => Ok(Self::Off),
            "auto" => Ok(Self::Auto),
            "required" => Ok(Self::Required),
            _ => Err(UnknownMode { word: word.to_owned() }),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Auto => "auto",
            Self::Required => "required",
        })
    }
}

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no mode of the sandbox: use off, auto or required", self.word)
    }
}

impl std::error::Error for UnknownMode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for mode in [Mode::Off, Mode::Auto, Mode::Required] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        let refused = "on".parse::<Mode>().unwrap_err();
        assert!(refused.to_string().contains("\"on\""), "{refused}");
    }
}
