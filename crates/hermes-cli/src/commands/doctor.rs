//! `hermes doctor`: what keeps tools from working.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;

use hermes_config::Loaded;
use serde_json::{Value, json};

use super::problems::{self, Problem};
use super::tools_list::{self, Listed, count};
use crate::cli::{Globals, Json};
use crate::exit::{Ended, Exit, Failure};
use crate::host::{self, Host};
use crate::output::Ui;
use crate::preview;
use crate::style::{BAD, BOLD, DIM, GOOD, WARN};
use crate::terminals::{self, Machine};

/// Prints what it finds. Fails if something is wrong; a tool that lacks a key is nothing wrong.
pub(crate) fn run(globals: &Globals, elsewhere: bool, json: Json, ui: &mut Ui) -> Ended {
    let (loaded, broken) = match host::load(globals, false) {
        Ok(loaded) => (loaded, Vec::new()),
        Err(Failure::Told { lines, .. }) => (host::load(globals, true)?, lines),
        Err(closed) => return Err(closed),
    };
    let host = Host::over(loaded);
    let mut problems: Vec<Problem> = broken.iter().map(Problem::error).collect();
    problems.extend(problems::find(&host));
    // A denial that means nothing keeps every session from being opened; it is among the problems.
    let listed = tools_list::all(&host, "cli").unwrap_or_default();
    let toolsets = by_toolset(&host, &listed);
    let machine = terminals::machine(&host, elsewhere)?;
    if json.json {
        let mut report = report(&host.loaded, &problems, &toolsets);
        if let (Some(machine), Some(report)) = (&machine, report.as_object_mut()) {
            let machine = json!({
                "backend": machine.backend,
                "asked": machine.is_asked,
                "facts": machine.facts,
            });
            report.insert("machine".to_owned(), machine);
        }
        ui.out.json(&report)?;
    } else {
        write(&host.loaded, &problems, &toolsets, ui)?;
        if let Some(machine) = &machine {
            write_machine(machine, ui)?;
        }
    }
    let is_bad = problems.iter().any(|problem| problem.is_error);
    Ok(if is_bad { Exit::Failed } else { Exit::Success })
}

/// How the tools of a toolset are.
#[derive(Default)]
struct Health<'a> {
    /// Tools that can be used.
    usable: Vec<&'a str>,
    /// Tools that were switched off.
    off: Vec<&'a str>,
    /// Tools that are on and can't be used, with the reason.
    failing: Vec<(&'a str, &'a str)>,
    /// Variables that failing tools use and that are not set.
    missing_env: Vec<&'a str>,
}

impl Health<'_> {
    /// One usable tool makes a toolset usable.
    fn state(&self) -> &'static str {
        if !self.usable.is_empty() {
            "available"
        } else if self.failing.is_empty() {
            "off"
        } else {
            "unavailable"
        }
    }
}

fn by_toolset<'a>(host: &Host, listed: &'a [Listed]) -> BTreeMap<&'a str, Health<'a>> {
    let mut toolsets: BTreeMap<&str, Health<'_>> = BTreeMap::new();
    for listed in listed {
        let health = toolsets.entry(listed.tool.toolset()).or_default();
        let name = listed.tool.name();
        match (&listed.unavailable, listed.is_on) {
            // What somebody switched off is no news, whether or not it would work.
            (_, false) => health.off.push(name),
            (None, true) => health.usable.push(name),
            (Some(why), true) => {
                health.failing.push((name, why));
                for var in listed.tool.requires_env() {
                    if host.settings().env_filled(&var.name).is_none()
                        && !health.missing_env.contains(&&*var.name)
                    {
                        health.missing_env.push(&var.name);
                    }
                }
            }
        }
    }
    toolsets
}

fn report(loaded: &Loaded, problems: &[Problem], toolsets: &BTreeMap<&str, Health<'_>>) -> Value {
    let toolsets: Vec<Value> = toolsets
        .iter()
        .map(|(name, health)| {
            let failing: Vec<Value> = health
                .failing
                .iter()
                .map(|(tool, why)| json!({"tool": tool, "reason": why}))
                .collect();
            json!({
                "toolset": name,
                "state": health.state(),
                "usable": health.usable,
                "off": health.off,
                "unavailable": failing,
                "missing_env": health.missing_env,
            })
        })
        .collect();
    let problems: Vec<Value> = problems.iter().map(Problem::to_value).collect();
    json!({
        "home": loaded.home.path(),
        "home_exists": loaded.home.path().is_dir(),
        "profile": loaded.home.profile(),
        "config": loaded.config_path,
        "config_exists": loaded.config_path.is_file(),
        "problems": problems,
        "toolsets": toolsets,
    })
}

/// What a conversation is told of the machine from the start.
fn write_machine(machine: &Machine, ui: &mut Ui) -> io::Result<()> {
    let out = &mut ui.out;
    writeln!(out, "\n{BOLD}Machine{BOLD:#}")?;
    match (&machine.facts, machine.is_asked) {
        (Some(facts), _) => writeln!(out, "{}: {}", machine.backend, preview::one_line(facts)),
        (None, true) => writeln!(out, "{}: {DIM}nothing to tell{DIM:#}", machine.backend),
        (None, false) => {
            let why = "not asked; `hermes doctor --machine` starts it";
            writeln!(out, "{}: {DIM}{why}{DIM:#}", machine.backend)
        }
    }
}

fn write(
    loaded: &Loaded,
    problems: &[Problem],
    toolsets: &BTreeMap<&str, Health<'_>>,
    ui: &mut Ui,
) -> io::Result<()> {
    let out = &mut ui.out;
    let place = |path: &Path, exists: bool| {
        let note = if exists { "" } else { " (not there yet)" };
        format!("{}{DIM}{note}{DIM:#}", path.display())
    };
    let home = loaded.home.path();
    let config = &loaded.config_path;
    writeln!(out, "{BOLD}home{BOLD:#}    {}", place(home, home.is_dir()))?;
    writeln!(out, "{BOLD}config{BOLD:#}  {}", place(config, config.is_file()))?;
    if let Some(profile) = loaded.home.profile() {
        writeln!(out, "{BOLD}profile{BOLD:#} {profile}")?;
    }
    writeln!(out, "\n{BOLD}Configuration{BOLD:#}")?;
    if problems.is_empty() {
        writeln!(out, "{GOOD}ok{GOOD:#}")?;
    }
    for problem in problems {
        problem.write(out)?;
    }
    writeln!(out, "\n{BOLD}Toolsets{BOLD:#}")?;
    for (name, health) in toolsets {
        let style = match health.state() {
            "available" if health.failing.is_empty() => GOOD,
            "available" => WARN,
            "off" => DIM,
            _ => BAD,
        };
        let usable = count(health.usable.len(), "tool");
        writeln!(out, "{style}{:<11}{style:#} {name} {DIM}({usable}){DIM:#}", health.state())?;
        for (tool, why) in &health.failing {
            writeln!(out, "            {tool}: {why}")?;
        }
        if !health.missing_env.is_empty() {
            writeln!(out, "            not set: {}", health.missing_env.join(", "))?;
        }
    }
    Ok(())
}
