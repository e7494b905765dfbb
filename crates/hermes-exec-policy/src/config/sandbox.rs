//! The sandbox around commands on this host: `terminal.sandbox`.

use std::path::PathBuf;

use serde_json::Value;

use super::TerminalConfigError;
use super::reader::Reader;

/// Whether local commands run in a sandbox of the operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// No. The default, so that nothing that works today stops working unasked.
    #[default]
    Off,
    /// Where the system has one.
    Auto,
    /// Always: where the system has none, nothing is run.
    Required,
}

impl SandboxMode {
    /// Its name in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Auto => "auto",
            Self::Required => "required",
        }
    }
}

/// What a command in the sandbox may do besides reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxConfig {
    /// Whether there is a sandbox.
    pub mode: SandboxMode,
    /// Whether it has a network.
    pub network: bool,
    /// Folders that can be written besides the working folder and the one for temporary files, with
    /// `~` replaced.
    pub writable: Vec<PathBuf>,
}

impl SandboxConfig {
    /// Only from `config.yaml`: a variable is too easily inherited to loosen a boundary.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, TerminalConfigError> {
        let section = reader.config("sandbox");
        if section.is_some_and(|section| !section.is_object()) {
            return Err(bad("sandbox", "a map with `mode`, `network` and `writable`"));
        }
        let mode = match reader.config("sandbox.mode") {
            // YAML reads a bare `off` so in some of its versions.
            None | Some(Value::Bool(false)) => SandboxMode::Off,
            Some(Value::String(word)) => match word.trim().to_ascii_lowercase().as_str() {
                "off" => SandboxMode::Off,
                "auto" => SandboxMode::Auto,
                "required" => SandboxMode::Required,
                _ => return Err(bad("sandbox.mode", "`off`, `auto` or `required`")),
            },
            Some(_) => return Err(bad("sandbox.mode", "`off`, `auto` or `required`")),
        };
        let mut writable = Vec::new();
        for path in reader.config_texts("sandbox.writable") {
            let path = PathBuf::from(reader.expanded(&path));
            if path.is_absolute() {
                writable.push(path);
            } else {
                reader.warn("some of `terminal.sandbox.writable` isn't absolute and is ignored");
            }
        }
        Ok(Self { mode, network: reader.config_flag("sandbox.network", false), writable })
    }
}

/// A protection that somebody counts on must not be absent because of a slip.
fn bad(key: &str, expected: &'static str) -> TerminalConfigError {
    let variable = format!("terminal.{key}");
    TerminalConfigError { key: Some(variable.clone()), variable, expected }
}
