//! The command line of `cargo xtask`.

use std::fmt;

use anyhow::Result;
use lexopt::prelude::*;

use crate::ci::Choice;
use crate::features::Parts;
use crate::generated::Mode;

/// What `cargo xtask help` prints.
pub(crate) const HELP: &str = "\
Usage: cargo xtask COMMAND

  new-tool NAME [--toolset T]   make crates/tool-NAME and wire it in
  wire [--check]                features, dependencies and linked.rs from crates/tool-*
  schema [--check]              one snapshot of every tool's definitions under schemas/
  shadow                        tool names: unique, allowed, known to the toolsets
  tidy                          layering, module headers, sizes, reasons, licences
  features [--no-sizes|--sizes] every feature set builds, links the tools it should and fits
                                its budget; --sizes weighs only
  docs [--check]                the tool table in README.md
  ci [--only STEP].. [--skip STEP].. [--list]
                                everything above and the tests, as the README promises

Exit codes: 0 success, 1 something failed, 2 usage.
";

/// A command line, parsed.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    NewTool { name: String, toolset: Option<String> },
    Wire(Mode),
    Schema(Mode),
    Shadow,
    Tidy,
    Features(Parts),
    Docs(Mode),
    Ci(Choice),
}

/// The command line, or a name in it, can't be used: exit code 2.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Parses the arguments after `cargo xtask`.
///
/// # Errors
/// A [`UsageError`] that says what can't be used.
pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Command> {
    command(&mut parser).map_err(|err| {
        anyhow::Error::new(UsageError(format!("{err}\n\n{HELP}", err = err.to_string().trim_end())))
    })
}

fn command(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let name = match parser.next()? {
        Some(Value(name)) => name.string()?,
        Some(Short('h') | Long("help")) => return Ok(Command::Help),
        Some(other) => return Err(other.unexpected()),
        None => return Err("a command is missing".into()),
    };
    match name.as_str() {
        "help" => no_more(parser, Command::Help),
        "new-tool" => new_tool(parser),
        "wire" => mode(parser).map(Command::Wire),
        "schema" => mode(parser).map(Command::Schema),
        "docs" => mode(parser).map(Command::Docs),
        "shadow" => no_more(parser, Command::Shadow),
        "tidy" => no_more(parser, Command::Tidy),
        "features" => features(parser),
        "ci" => ci(parser),
        other => Err(format!("there is no command `{other}`").into()),
    }
}

fn no_more(parser: &mut lexopt::Parser, command: Command) -> Result<Command, lexopt::Error> {
    match parser.next()? {
        None => Ok(command),
        Some(Short('h') | Long("help")) => Ok(Command::Help),
        Some(other) => Err(other.unexpected()),
    }
}

fn mode(parser: &mut lexopt::Parser) -> Result<Mode, lexopt::Error> {
    let mut mode = Mode::Write;
    while let Some(arg) = parser.next()? {
        match arg {
            Long("check") => mode = Mode::Check,
            other => return Err(other.unexpected()),
        }
    }
    Ok(mode)
}

fn new_tool(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let (mut name, mut toolset) = (None, None);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("toolset") => toolset = Some(parser.value()?.string()?),
            Value(value) if name.is_none() => name = Some(value.string()?),
            other => return Err(other.unexpected()),
        }
    }
    let name = name.ok_or("new-tool needs a NAME")?;
    Ok(Command::NewTool { name, toolset })
}

fn features(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut parts = Parts { links: true, sizes: true };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("no-sizes") => parts.sizes = false,
            Long("sizes") => parts.links = false,
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Features(parts))
}

fn ci(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut choice = Choice::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("only") => choice.only.push(parser.value()?.string()?),
            Long("skip") => choice.skip.push(parser.value()?.string()?),
            Long("list") => choice.list = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Ci(choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command> {
        parse(lexopt::Parser::from_args(line.split_whitespace()))
    }

    #[test]
    fn command_lines() {
        let new_tool = |toolset: Option<&str>| Command::NewTool {
            name: "greet".into(),
            toolset: toolset.map(Into::into),
        };
        for (line, expected) in [
            ("--help", Command::Help),
            ("new-tool greet", new_tool(None)),
            ("new-tool greet --toolset social", new_tool(Some("social"))),
            ("new-tool --toolset=social greet", new_tool(Some("social"))),
            ("wire", Command::Wire(Mode::Write)),
            ("schema --check", Command::Schema(Mode::Check)),
            ("features --no-sizes", Command::Features(Parts { links: true, sizes: false })),
            (
                "ci --only fmt --skip deny",
                Command::Ci(Choice {
                    only: vec!["fmt".into()],
                    skip: vec!["deny".into()],
                    list: false,
                }),
            ),
        ] {
            assert_eq!(parsed(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn bad_usage_is_told_apart() {
        for line in
            ["", "nonsense", "new-tool", "new-tool a b", "wire --chekc", "tidy x", "--check"]
        {
            let err = parsed(line).unwrap_err();
            assert!(err.is::<UsageError>(), "{line}");
        }
    }
}
