//! What can be typed.

mod approval;
mod checkpoints;
mod hooks;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, ValueHint};
use hermes_tools::ToolFormat;

pub(crate) use approval::{Approval, ApprovalCheck, Choice, Waiting};
pub(crate) use checkpoints::{Checkpoints, ProjectFolder};
pub(crate) use hooks::{Hooks, HooksTest};

/// See, switch and call the tools of an agent.
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 a tool or an operation failed, 2 bad input, 3 blocked, \
                  130, 143 and 129 ended by Ctrl-C, SIGTERM and SIGHUP.\nWith --json, results are JSON on stdout; everything else is \
                  for people. Errors go to stderr."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args, Debug)]
pub(crate) struct Globals {
    /// The home folder [default: $HERMES_HOME, else ~/.hermes]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) home: Option<PathBuf>,
    /// The profile in it
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Print results and errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print what happens: -v calls, -vv more, -vvv everything
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Run the hooks of config.yaml without asking; calls remember that
    #[arg(long, global = true)]
    pub(crate) accept_hooks: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On terminals, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl Color {
    pub(crate) fn choice(self) -> anstream::ColorChoice {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See the tools and switch them on and off
    Tools(Tools),
    /// See the toolsets and what they stand for
    #[command(subcommand)]
    Toolsets(Toolsets),
    /// Print the tool definitions as a model gets them
    Definitions(Definitions),
    /// Call one tool
    Call(Call),
    /// Run the tool calls of assistant messages
    Exec(Exec),
    /// See what commands would be asked about, what was agreed to, and answer what waits
    #[command(subcommand)]
    Approval(Approval),
    /// See the programs that run at events, agree to them and try them out
    #[command(subcommand)]
    Hooks(Hooks),
    /// See the snapshots that calls took of projects, and go back to them
    #[command(subcommand)]
    Checkpoints(Checkpoints),
    /// See and change settings
    #[command(subcommand)]
    Config(Config),
    /// See what is compiled in and what the configuration would need
    Features {
        #[command(flatten)]
        json: Json,
    },
    /// Find out what keeps tools from working
    Doctor {
        /// Start the machine that commands run on, if it isn't this one, and tell of it
        #[arg(long)]
        machine: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Print a completion script
    Completions {
        /// The shell it is for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Write one page per command into this folder instead
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        dir: Option<PathBuf>,
    },
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Json {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Platform {
    /// Whose tools: cli, telegram, discord, ..
    #[arg(long, value_name = "NAME", default_value = "cli")]
    pub(crate) platform: String,
}

#[derive(Args, Debug)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true)]
pub(crate) struct Tools {
    /// Print what each platform in use gets
    #[arg(long, required = true)]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) json: Json,
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools that can be used now
    List(ToolsList),
    /// Show everything about one tool
    Show {
        /// The tool
        name: String,
        #[command(flatten)]
        platform: Platform,
        #[command(flatten)]
        json: Json,
    },
    /// Switch toolsets or single tools on
    Enable(Toggle),
    /// Switch toolsets or single tools off
    Disable(Toggle),
}

#[derive(Args, Debug)]
pub(crate) struct ToolsList {
    /// Only the tools of this toolset
    #[arg(long, value_name = "NAME")]
    pub(crate) toolset: Option<String>,
    /// Also the tools that are off or can't be used now, with the reason
    #[arg(long)]
    pub(crate) all: bool,
    /// Also how many tokens each definition costs, about
    #[arg(long)]
    pub(crate) tokens: bool,
    #[command(flatten)]
    pub(crate) platform: Platform,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Args, Debug)]
pub(crate) struct Toggle {
    /// Toolsets, single tools, or SERVER:TOOL of an MCP server
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) platform: Platform,
    #[command(flatten)]
    pub(crate) json: Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Toolsets {
    /// List the toolsets
    List {
        #[command(flatten)]
        platform: Platform,
        #[command(flatten)]
        json: Json,
    },
    /// Print the tools that toolsets stand for
    Resolve {
        /// The toolsets
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Toolsets to take away again
        #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
        disable: Vec<String>,
        #[command(flatten)]
        json: Json,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Definitions {
    /// The toolsets to take, instead of the platform's
    #[arg(long, value_name = "A,B", value_delimiter = ',', conflicts_with = "platform")]
    pub(crate) toolsets: Option<Vec<String>>,
    /// Toolsets to take away
    #[arg(long, value_name = "C,D", value_delimiter = ',')]
    pub(crate) disable: Vec<String>,
    /// Whose dialect
    #[arg(long, value_name = "FORMAT", default_value = "openai")]
    pub(crate) format: Format,
    /// Also tools that can't be used now, and none behind tool search
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) platform: Platform,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Chat Completions
    #[value(name = "openai")]
    OpenAi,
    /// Messages
    Anthropic,
    /// Function declarations
    Gemini,
    /// Model Context Protocol
    Mcp,
}

impl Format {
    pub(crate) fn tool_format(self) -> ToolFormat {
        match self {
            Self::OpenAi => ToolFormat::OpenAi,
            Self::Anthropic => ToolFormat::Anthropic,
            Self::Gemini => ToolFormat::Gemini,
            Self::Mcp => ToolFormat::Mcp,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct Call {
    /// The tool
    pub(crate) name: String,
    /// Its arguments: JSON, @FILE, or - for stdin [default: none]
    #[arg(value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub(crate) arguments: Option<String>,
    /// Print the arguments as the tool would get them and what each gate decides; run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask language servers about changed files; starting one for a single call takes seconds
    #[cfg(feature = "lsp")]
    #[arg(long)]
    pub(crate) lsp: bool,
    #[command(flatten)]
    pub(crate) calling: Calling,
}

#[derive(Args, Debug)]
pub(crate) struct Exec {
    /// JSON Lines, each an assistant message with tool_calls or {"name", "arguments"}; - is stdin
    #[arg(default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) calling: Calling,
}

#[derive(Args, Debug)]
pub(crate) struct Calling {
    /// The task that the calls belong to
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) task: String,
    /// Where relative paths start [default: the present folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// The answer to tools that ask for permission, in place of asking at the terminal
    #[arg(long, value_name = "ANSWER")]
    pub(crate) approve: Option<Approve>,
    /// Take a snapshot of the project before files are changed
    #[arg(long)]
    pub(crate) checkpoints: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Approve {
    /// Never
    Deny,
    /// This time
    Once,
    /// For the rest of the session
    Session,
    /// From now on
    Always,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print the value of a setting, or its default
    Get {
        /// Its dotted name, e.g. tools.tool_search.enabled
        key: String,
        /// Also secrets
        #[arg(long)]
        reveal: bool,
        #[command(flatten)]
        json: Json,
    },
    /// Change a setting in config.yaml; comments stay
    Set {
        /// Its dotted name
        key: String,
        /// A YAML value; null goes back to the default
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Print where config.yaml is
    Path,
    /// Look for mistakes in the configuration
    Check {
        #[command(flatten)]
        json: Json,
    },
    /// List the settings with their values
    List {
        #[command(flatten)]
        json: Json,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_tree_is_sound() {
        super::Cli::command().debug_assert();
    }
}
