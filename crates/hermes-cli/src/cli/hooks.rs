//! What can be typed behind `hermes hooks`.

use clap::{Args, Subcommand};

use super::Json;

#[derive(Debug, Subcommand)]
pub(crate) enum Hooks {
    /// List the programs that config.yaml wants to run at events
    List {
        #[command(flatten)]
        json: Json,
    },
    /// Run the hooks of an event with made-up data and print what they answer
    Test(HooksTest),
    /// Agree to commands, as their files are now
    Approve {
        /// The command, as it is written in config.yaml
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        command: Option<String>,
        /// At this event only
        #[arg(long, value_name = "EVENT")]
        event: Option<String>,
        /// Agree to everything in config.yaml
        #[arg(long)]
        all: bool,
    },
    /// Take the agreement to a command back
    Revoke {
        /// The command, as it is written in config.yaml
        command: String,
        /// At this event only
        #[arg(long, value_name = "EVENT")]
        event: Option<String>,
    },
    /// Find out what keeps hooks from working; runs those that are approved
    Doctor {
        #[command(flatten)]
        json: Json,
    },
}

#[derive(Args, Debug)]
pub(crate) struct HooksTest {
    /// The event, e.g. pre_tool_call
    pub(crate) event: String,
    /// The tool it is about
    #[arg(long, value_name = "NAME", default_value = "terminal")]
    pub(crate) tool: String,
    /// The arguments of the call: a JSON object
    #[arg(long, value_name = "JSON", default_value = r#"{"command": "echo hello"}"#)]
    pub(crate) args: String,
    /// Only the hook with this command
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    #[command(flatten)]
    pub(crate) json: Json,
}
