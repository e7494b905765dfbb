//! `hermes tools enable` and `hermes tools disable`.

use std::io::{self, Write as _};

use hermes_config::{ConfigFile, Edit, keys};
use hermes_tools::toolset::{
    Blocker, Toggle, ToggleAction, ToggleRequest, UnknownPlatform, toggle,
};
use serde_json::{Value, json};

use crate::cli::{self, Globals};
use crate::exit::{Ended, Exit, Failure};
use crate::host::Host;
use crate::output::Ui;
use crate::style::{BAD, DIM, GOOD, WARN};

/// Switches what can be switched, says what that changes, and rejects the rest.
pub(crate) fn run(
    globals: &Globals,
    action: ToggleAction,
    asked: &cli::Toggle,
    ui: &mut Ui,
) -> Ended {
    let host = Host::new(globals, ui)?;
    let platform = asked.platform.platform.as_str();
    let compute = |config: &Value| {
        let request = ToggleRequest {
            platform: host.platform_request(config, platform),
            action,
            names: &asked.names,
            single_tools: true,
        };
        toggle(&host.world, &request)
    };
    let mut toggle = compute(host.settings().config())
        .map_err(|unknown: UnknownPlatform| Failure::usage(unknown))?;
    let file = ConfigFile::new(&host.loaded.config_path);
    let mut is_written = false;
    if !asked.dry_run && !toggle.applied.is_empty() {
        is_written = file.update(|config| {
            // Somebody else may have changed the file since it was loaded.
            if let Ok(now) = compute(config) {
                toggle = now;
            }
            Ok(edits(&toggle))
        })?;
    }
    if asked.json.json {
        ui.out.json(&report(&toggle, asked, action, is_written))?;
    } else {
        write(&toggle, asked, ui)?;
        if !ui.quiet {
            let place = file.path().display();
            match (asked.dry_run, is_written) {
                (true, _) => writeln!(ui.out, "{DIM}nothing was written{DIM:#}")?,
                (false, true) => writeln!(ui.out, "{DIM}written to {place}{DIM:#}")?,
                (false, false) => writeln!(ui.out, "{DIM}nothing to write{DIM:#}")?,
            }
        }
    }
    for rejection in &toggle.rejected {
        ui.status.error(rejection);
    }
    Ok(match (toggle.rejected.is_empty(), toggle.applied.is_empty()) {
        (true, _) => Exit::Success,
        (false, false) => Exit::Failed,
        (false, true) => Exit::Usage,
    })
}

fn edits(toggle: &Toggle) -> Vec<Edit> {
    let edits = toggle.edits.iter();
    edits.map(|edit| Edit::Set { path: edit.path.clone(), value: edit.value.clone() }).collect()
}

fn write(toggle: &Toggle, asked: &cli::Toggle, ui: &mut Ui) -> io::Result<()> {
    let out = &mut ui.out;
    let changes = &toggle.changes;
    let platform = &asked.platform.platform;
    for tool in &changes.removed {
        writeln!(out, "{BAD}-{BAD:#} {tool}")?;
    }
    for tool in &changes.added {
        writeln!(out, "{GOOD}+{GOOD:#} {tool}")?;
    }
    for kept in &changes.kept {
        let granted_by = kept.granted_by.join(", ");
        writeln!(
            out,
            "{WARN}={WARN:#} {} of {} stays, through {granted_by}",
            kept.tool, kept.toolset
        )?;
    }
    for blocked in &changes.blocked {
        let by = match &blocked.by {
            Blocker::DisabledTools => "agent.disabled_tools denies it".to_owned(),
            Blocker::DisabledToolset(name) => format!("agent.disabled_toolsets denies {name}"),
            _ => "no toolset that has it is on".to_owned(),
        };
        writeln!(out, "{WARN}!{WARN:#} {} is still off: {by}", blocked.tool)?;
    }
    for foreign in &changes.foreign {
        writeln!(
            out,
            "{DIM}  {} is listed by {} but belongs to {}{DIM:#}",
            foreign.tool, foreign.toolset, foreign.owner
        )?;
    }
    for name in &changes.ineffective {
        writeln!(out, "{WARN}!{WARN:#} {name}: no effect, another setting decides")?;
    }
    if !toggle.applied.is_empty() && changes.removed.is_empty() && changes.added.is_empty() {
        writeln!(out, "{DIM}no tool of this program changes on {platform}{DIM:#}")?;
    }
    Ok(())
}

fn report(toggle: &Toggle, asked: &cli::Toggle, action: ToggleAction, is_written: bool) -> Value {
    let changes = &toggle.changes;
    let rejected: Vec<Value> = toggle
        .rejected
        .iter()
        .map(|it| json!({"name": it.name, "reason": it.to_string(), "nearest": it.nearest()}))
        .collect();
    let kept: Vec<Value> = changes
        .kept
        .iter()
        .map(|it| json!({"tool": it.tool, "toolset": it.toolset, "granted_by": it.granted_by}))
        .collect();
    let foreign: Vec<Value> = changes
        .foreign
        .iter()
        .map(|it| json!({"tool": it.tool, "toolset": it.toolset, "owner": it.owner}))
        .collect();
    let blocked: Vec<Value> = changes
        .blocked
        .iter()
        .map(|it| {
            let by = match &it.by {
                Blocker::DisabledTools => json!({"setting": "agent.disabled_tools"}),
                Blocker::DisabledToolset(name) => {
                    json!({"setting": "agent.disabled_toolsets", "name": name})
                }
                _ => Value::Null,
            };
            json!({"tool": it.tool, "by": by})
        })
        .collect();
    let edits: Vec<Value> = toggle
        .edits
        .iter()
        .map(|it| json!({"key": keys::join(&it.path), "value": it.value}))
        .collect();
    json!({
        "platform": asked.platform.platform,
        "action": match action {
            ToggleAction::Enable => "enable",
            ToggleAction::Disable => "disable",
        },
        "applied": toggle.applied,
        "rejected": rejected,
        "added": changes.added,
        "removed": changes.removed,
        "kept": kept,
        "foreign": foreign,
        "blocked": blocked,
        "ineffective": changes.ineffective,
        "edits": edits,
        "dry_run": asked.dry_run,
        "written": is_written,
    })
}
