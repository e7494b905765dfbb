//! Hooks that people write into `config.yaml`: programs of theirs.
//!
//! ```yaml
//! hooks:
//!   pre_tool_call:
//!     - command: ~/.hermes/hooks/no-deploys.sh
//!       matcher: terminal|write_file
//!       timeout: 10
//!       on_error: block
//! ```
//!
//! A program gets the event as one JSON object on stdin and may answer with one on stdout, or with
//! exit code 2 and a reason on stderr, which blocks the call. It is started directly, not by a
//! shell, and only after its owner has agreed to it: see [`Allowlist`].
//!
//! A hook that may not run, fails or can't be understood is as good as none, unless it says
//! `on_error: block`: then it blocks the calls it is about.

mod config;
mod consent;
mod date;
mod hook;
mod matcher;
mod register;
mod response;
mod script;
mod slips;
mod spill;
mod stdout;
mod words;

pub use config::{HooksConfig, ShellHookSpec, parse_hooks_config};
pub use consent::{Allowlist, Consent};
pub use hook::{Answer, ShellHook};
pub use matcher::Matcher;
pub use register::{Configured, ShellHooks};
pub use script::Script;
pub use spill::{SpillSettings, Spilled, spill};
pub use stdout::{parse_stdout, understand};
