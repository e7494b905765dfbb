//! `hermes config`.

use std::io::Write as _;

use hermes_config::keys::{self, KEYS, KeySpec, Severity};
use hermes_config::{ConfigFile, Edit, Loaded, yaml};
use hermes_tools::toolset::{ConfigEdit, validate_denials};
use serde_json::{Value, json};

use super::problems;
use crate::cli::{Config, Globals};
use crate::exit::{Ended, Exit, Failure};
use crate::host::{self, Host};
use crate::output::Ui;
use crate::style::{DIM, GOOD};
use crate::table::{Cell, Table};

/// Shows or changes settings.
pub(crate) fn run(globals: &Globals, asked: Config, ui: &mut Ui) -> Ended {
    match asked {
        Config::Get { key, reveal, json } => {
            get(&host::load(globals, false)?, &key, reveal, json.json, ui)
        }
        Config::Set { key, value } => {
            set(&Host::over(host::load(globals, false)?), &key, &value, ui)
        }
        // Also where the file is broken: whoever wants to mend it must find it.
        Config::Path => {
            let loaded = host::load(globals, true)?;
            writeln!(ui.out, "{}", loaded.config_path.display())?;
            Ok(Exit::Success)
        }
        Config::Check { json } => check(globals, json.json, ui),
        Config::List { json } => list(&host::load(globals, false)?, json.json, ui),
    }
}

fn get(loaded: &Loaded, key: &str, reveal: bool, json: bool, ui: &mut Ui) -> Ended {
    let path = keys::split(key)?;
    let set = keys::get(loaded.settings.config(), &path).filter(|value| !value.is_null()).cloned();
    let Some(value) = set.or_else(|| keys::spec(&path).and_then(default)) else {
        return Err(Failure::failed(format!("`{key}` is not set and has no default")));
    };
    let shown = if reveal { value } else { keys::masked(&path, &value) };
    match shown {
        Value::String(text) if !json => ui.out.text(&text)?,
        value => ui.out.json(&value)?,
    }
    Ok(Exit::Success)
}

fn default(spec: &KeySpec) -> Option<Value> {
    yaml::parse(spec.default).ok().filter(|value| !value.is_null())
}

fn set(host: &Host, key: &str, text: &str, ui: &mut Ui) -> Ended {
    let path = keys::split(key)?;
    let value = keys::parse_value(&path, text)?;
    // On its own, so that a mistake elsewhere in the file keeps nobody from mending this one.
    let alone = path.iter().rev().fold(value.clone(), |below, key| json!({key.as_str(): below}));
    for problem in keys::check(&alone) {
        match problem.severity {
            Severity::Error => return Err(Failure::usage(problem)),
            Severity::Warning => ui.warn(problem),
        }
    }
    refuse_empty_denials(host, &path, &value)?;
    let file = ConfigFile::new(&host.loaded.config_path);
    let is_written = file.update(|_| Ok(vec![Edit::Set { path, value }]))?;
    if !ui.quiet {
        let place = file.path().display();
        let what = if is_written { "written to" } else { "already so in" };
        ui.status.print(format_args!("{DIM}{what} {place}{DIM:#}"));
    }
    Ok(Exit::Success)
}

/// A denial of something that doesn't exist would stop every later command.
fn refuse_empty_denials(host: &Host, path: &[String], value: &Value) -> Result<(), Failure> {
    let denials = |config: &Value| validate_denials(&host.world, config, &[]).err();
    let present = host.settings().config();
    let mut changed = present.clone();
    ConfigEdit { path: path.to_vec(), value: value.clone() }.apply(&mut changed);
    let old = denials(present).unwrap_or_default();
    let mut new = denials(&changed).unwrap_or_default();
    new.retain(|error| !old.contains(error));
    if new.is_empty() { Ok(()) } else { Err(Failure::usage_lines(new)) }
}

fn check(globals: &Globals, json: bool, ui: &mut Ui) -> Ended {
    let host = Host::over(host::load(globals, false)?);
    let problems = problems::find(&host);
    if json {
        let rows: Vec<Value> = problems.iter().map(problems::Problem::to_value).collect();
        ui.out.json(&rows.into())?;
    } else {
        for problem in &problems {
            problem.write(&mut ui.out)?;
        }
        if problems.is_empty() && !ui.quiet {
            let place = host.loaded.config_path.display();
            writeln!(ui.out, "{GOOD}ok{GOOD:#}  {DIM}{place}{DIM:#}")?;
        }
    }
    let is_bad = problems.iter().any(|problem| problem.is_error);
    Ok(if is_bad { Exit::Failed } else { Exit::Success })
}

fn list(loaded: &Loaded, json: bool, ui: &mut Ui) -> Ended {
    let config = loaded.settings.config();
    let mut rows = Vec::new();
    let mut table = Table::new(["SETTING", "VALUE", "ABOUT"]);
    for spec in KEYS {
        let path: Vec<String> = spec.name.split('.').map(str::to_owned).collect();
        let set = keys::get(config, &path).filter(|value| !value.is_null());
        let set = set.map(|value| keys::masked(&path, value));
        let default = default(spec);
        let value = set.as_ref().or(default.as_ref());
        let text = match value {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        table.row([
            Cell::from(spec.name),
            Cell::from(text).styled(if set.is_some() { GOOD } else { DIM }),
            Cell::from(spec.about).styled(DIM),
        ]);
        rows.push(json!({
            "key": spec.name,
            "value": value,
            "set": set.is_some(),
            "default": default,
            "wanted": spec.kind.wanted(),
            "about": spec.about,
        }));
    }
    if json {
        ui.out.json(&rows.into())?;
    } else {
        table.write(&mut ui.out)?;
    }
    Ok(Exit::Success)
}
