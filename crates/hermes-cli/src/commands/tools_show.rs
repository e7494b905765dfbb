//! `hermes tools show`.

use std::io::{self, Write as _};

use hermes_registry::{Access, Concurrency, EnvVar, Exposure, Kind, ResultLimit, Trust};
use hermes_tools::{DEFAULT_TIMEOUT, suggest};
use serde_json::{Value, json};

use super::tools_list::{self, Listed};
use crate::cli::{Globals, Json};
use crate::exit::{Ended, Exit, Failure};
use crate::host::Host;
use crate::output::{Output, Ui};
use crate::style::{BAD, BOLD, DIM, GOOD};
use crate::table::{Cell, Table, grouped};

/// Prints everything about one tool.
pub(crate) fn run(globals: &Globals, name: &str, platform: &str, json: Json, ui: &mut Ui) -> Ended {
    let host = Host::checked(globals, ui)?;
    let all = tools_list::all(&host, platform)?;
    let Some(listed) = all.iter().find(|listed| listed.tool.name() == name) else {
        return Err(unknown(&host, &all, name));
    };
    if json.json {
        ui.out.json(&report(&host, listed))?;
    } else {
        write(&host, listed, &mut ui.out)?;
    }
    Ok(Exit::Success)
}

/// Says why there is no such tool here.
fn unknown(host: &Host, all: &[Listed], name: &str) -> Failure {
    if host.world.is_tool(name)
        && let Some(toolset) = host.world.toolsets_with(name).first()
    {
        return Failure::usage(format!(
            "`{name}` belongs to toolset `{toolset}`, which is not compiled in"
        ));
    }
    let known = all.iter().map(|listed| listed.tool.name());
    let hint = match suggest::nearest(name, known) {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => String::new(),
    };
    Failure::usage(format!("unknown tool `{name}`{hint}"))
}

fn report(host: &Host, listed: &Listed) -> Value {
    let tool = &listed.tool;
    let meta = tool.meta();
    let env: Vec<Value> = tool
        .requires_env()
        .iter()
        .map(|var| {
            json!({
                "name": var.name, "prompt": var.prompt, "url": var.url, "secret": var.secret,
                "set": is_set(host, var),
            })
        })
        .collect();
    json!({
        "name": tool.name(),
        "emoji": meta.emoji_or_default(),
        "toolset": tool.toolset(),
        "toolsets": host.world.toolsets_with(tool.name()),
        "owner": tool.owner().to_string(),
        "enabled": listed.is_on,
        "available": listed.unavailable.is_none(),
        "reason": listed.unavailable,
        "requires_env": env,
        "concurrency": concurrency(meta.concurrency),
        "timeout_seconds": meta.timeout.unwrap_or(DEFAULT_TIMEOUT).as_secs_f64(),
        "max_result_chars": limit(meta.max_result_size),
        "third_party_output": meta.trust == Trust::ThirdParty,
        "deferrable": meta.exposure == Exposure::Deferrable,
        "agent_level": meta.kind == Kind::AgentLevel,
        "secret_parameters": meta.secret_params,
        "tokens": listed.tokens(),
        "description": shown_description(listed),
        "parameters": shown_parameters(listed),
    })
}

fn write(host: &Host, listed: &Listed, out: &mut Output) -> io::Result<()> {
    let tool = &listed.tool;
    let meta = tool.meta();
    writeln!(out, "{} {BOLD}{}{BOLD:#}", meta.emoji_or_default(), tool.name())?;
    let mut table = Table::new([]);
    let mut fact =
        |name: &str, value: Cell| table.row([Cell::from(format!("  {name}")).styled(DIM), value]);
    fact("toolset", Cell::from(host.world.toolsets_with(tool.name()).join(", ")));
    fact("owner", Cell::from(tool.owner().to_string()));
    fact(
        "state",
        match (&listed.unavailable, listed.is_on) {
            (_, false) => Cell::from("off").styled(DIM),
            (None, true) => Cell::from("on").styled(GOOD),
            (Some(why), true) => Cell::from(format!("unavailable: {why}")).styled(BAD),
        },
    );
    for var in tool.requires_env() {
        let set = if is_set(host, var) { "set" } else { "not set" };
        let url = var.url.as_ref().map(|url| format!(", see {url}")).unwrap_or_default();
        fact("uses", Cell::from(format!("{} ({}; {set}{url})", var.name, var.prompt)));
    }
    fact("beside", Cell::from(concurrency(meta.concurrency)));
    let timeout = meta.timeout.unwrap_or(DEFAULT_TIMEOUT);
    fact("timeout", Cell::from(format!("{}s", timeout.as_secs_f64())));
    if let Some(tokens) = listed.tokens() {
        fact("costs", Cell::from(format!("about {} tokens", grouped(tokens))));
    }
    if meta.trust == Trust::ThirdParty {
        fact("output", Cell::from("a third party's: framed as data"));
    }
    if meta.kind == Kind::AgentLevel {
        fact("needs", Cell::from("an agent loop"));
    }
    table.write(out)?;
    writeln!(out, "\n{}\n\n{BOLD}Parameters{BOLD:#}", shown_description(listed))?;
    writeln!(out, "{:#}", shown_parameters(listed))
}

fn shown_description(listed: &Listed) -> &str {
    listed.definition.as_ref().map_or(listed.tool.description(), |shown| &shown.description)
}

fn shown_parameters(listed: &Listed) -> &Value {
    listed.definition.as_ref().map_or(listed.tool.parameters(), |shown| &shown.parameters)
}

fn is_set(host: &Host, var: &EnvVar) -> bool {
    host.settings().env_filled(&var.name).is_some()
}

fn concurrency(concurrency: Concurrency) -> String {
    match concurrency {
        Concurrency::ReadOnly => "other reads".to_owned(),
        Concurrency::PathScoped { access: Access::Read, arg, .. } => {
            format!("other reads and calls on other paths ({arg})")
        }
        Concurrency::PathScoped { access: Access::Write, arg, .. } => {
            format!("calls on other paths ({arg})")
        }
        Concurrency::Interactive => "nothing: it talks to a person".to_owned(),
        _ => "nothing".to_owned(),
    }
}

fn limit(limit: ResultLimit) -> Value {
    match limit {
        ResultLimit::Default => "default".into(),
        ResultLimit::Chars(chars) => chars.into(),
        ResultLimit::Unlimited => Value::Null,
    }
}
