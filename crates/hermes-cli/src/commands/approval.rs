//! `hermes approval`.

use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hermes_registry::Settings;
use hermes_tools::approvals::{
    Allowlist, Answer, Approvals, EntryKind, Inspection, Mailbox, Posted,
};
use serde_json::{Value, json};

use crate::cli::{Approval, ApprovalCheck, Choice, Globals, Waiting};
use crate::exit::{Ended, Exit, Failure};
use crate::host;
use crate::marked;
use crate::output::Ui;
use crate::preview::{cut, one_line};
use crate::style::{BAD, DIM, GOOD, WARN};
use crate::table::{Cell, Table};

/// Columns of a command in the list of what waits.
const SHORT: usize = 60;

/// Does what was asked.
pub(crate) fn run(globals: &Globals, asked: Approval, ui: &mut Ui) -> Ended {
    let settings = host::load(globals, false)?.settings;
    match asked {
        Approval::Check(asked) => check(&settings, &asked, ui),
        Approval::List { json } => list(&Allowlist::of(&settings), json.json, ui),
        Approval::Revoke { entries, all } => revoke(&Allowlist::of(&settings), &entries, all, ui),
        Approval::Pending { json } => pending(&Mailbox::of(settings.home()), json.json, ui),
        Approval::Answer { which, choice, reason } => {
            answer(&Mailbox::of(settings.home()), &which, choice, reason, ui)
        }
    }
}

fn check(settings: &Settings, asked: &ApprovalCheck, ui: &mut Ui) -> Ended {
    let cwd = host::working_directory(asked.cwd.as_deref())?;
    let gate = Approvals::builder(settings).without_mailbox().build();
    if asked.command == "-" {
        return check_lines(&gate, &cwd, ui);
    }
    let found = gate.inspect(&asked.command, &cwd);
    if asked.json.json {
        ui.out.json(&found.to_value())?;
    } else {
        show(&found, ui)?;
    }
    Ok(exit(found.is_safe()))
}

fn exit(is_safe: bool) -> Exit {
    if is_safe { Exit::Success } else { Exit::Blocked }
}

/// A command per line, as a JSON string, since commands have line ends in them. A line that is none
/// has an error in its place, and the rest goes on.
fn check_lines(gate: &Arc<Approvals>, cwd: &Path, ui: &mut Ui) -> Ended {
    let (mut is_safe, mut is_read) = (true, true);
    for (number, line) in io::stdin().lock().split(b'\n').enumerate() {
        let line = line.map_err(|error| {
            Failure::failed(format!("line {}: cannot be read: {error}", number + 1))
        })?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Ok(Value::String(command)) = serde_json::from_slice(&line) {
            let found = gate.inspect(&command, cwd);
            is_safe &= found.is_safe();
            ui.out.text(&found.to_value().to_string())?;
        } else {
            is_read = false;
            let what = "is no JSON string";
            ui.out.text(&json!({"line": number + 1, "error": what}).to_string())?;
            ui.warn(format_args!("line {} {what}", number + 1));
        }
    }
    ui.out.flush()?;
    Ok(if is_read { exit(is_safe) } else { Exit::Usage })
}

fn show(found: &Inspection, ui: &mut Ui) -> io::Result<()> {
    let spans: Vec<_> = found.findings.iter().map(|it| it.span.clone()).collect();
    let (word, style) = match (found.is_hardline(), found.is_safe()) {
        (true, _) => ("never run", BAD),
        (false, true) => ("safe", GOOD),
        (false, false) if found.denied_by.is_some() => ("forbidden", BAD),
        (false, false) => ("dangerous", WARN),
    };
    writeln!(ui.out, "{style}{word}{style:#}")?;
    if ui.quiet || found.is_safe() {
        return Ok(());
    }
    for line in marked::lines(&found.shown, &spans) {
        writeln!(ui.out, "  {line}")?;
    }
    if let Some(rule) = &found.denied_by {
        writeln!(ui.out, "{BAD}!{BAD:#} A rule of approvals.deny forbids it: {}", one_line(rule))?;
    }
    for entry in &found.agreed_by {
        writeln!(ui.out, "{GOOD}agreed to{GOOD:#} by {}", one_line(entry))?;
    }
    for finding in &found.findings {
        let style = if finding.hardline { BAD } else { WARN };
        writeln!(ui.out, "{style}!{style:#} {}", one_line(&finding.why))?;
        if !found.is_hardline() && found.agreed_by.is_empty() {
            let key = one_line(&finding.key);
            writeln!(ui.out, "  {DIM}always would cover{DIM:#} {key}")?;
        }
    }
    Ok(())
}

fn list(allowlist: &Allowlist, json: bool, ui: &mut Ui) -> Ended {
    let entries = allowlist.read()?;
    if json {
        let value = |entry: &String| json!({"entry": entry, "kind": EntryKind::of(entry).as_str()});
        ui.out.json(&entries.iter().map(value).collect())?;
        return Ok(Exit::Success);
    }
    if entries.is_empty() {
        if !ui.quiet {
            writeln!(ui.out, "{DIM}nothing was agreed to for ever{DIM:#}")?;
        }
        return Ok(Exit::Success);
    }
    let mut table = Table::new(["COVERS", "ENTRY"]);
    for entry in &entries {
        let covers = match EntryKind::of(entry) {
            EntryKind::Command => "a command",
            EntryKind::Rule => "a rule",
            EntryKind::Text => "a text",
        };
        table.row([Cell::from(covers), Cell::from(one_line(entry))]);
    }
    table.write(&mut ui.out)?;
    Ok(Exit::Success)
}

fn revoke(allowlist: &Allowlist, entries: &[String], all: bool, ui: &mut Ui) -> Ended {
    let removed = allowlist.remove(|entry| all || entries.iter().any(|it| it.trim() == entry))?;
    for entry in &removed {
        writeln!(ui.out, "{GOOD}revoked{GOOD:#} {}", one_line(entry))?;
    }
    let missing: Vec<String> = entries
        .iter()
        .filter(|entry| !removed.iter().any(|it| it == entry.trim()))
        .map(|entry| format!("`{}` was not agreed to; see `hermes approval list`", one_line(entry)))
        .collect();
    if missing.is_empty() {
        Ok(Exit::Success)
    } else {
        ui.out.flush()?;
        Err(Failure::Told { exit: Exit::Failed, lines: missing })
    }
}

fn pending(mailbox: &Mailbox, json: bool, ui: &mut Ui) -> Ended {
    let waiting = mailbox.waiting()?;
    if json {
        ui.out.json(&waiting.iter().map(to_value).collect())?;
        return Ok(Exit::Success);
    }
    if waiting.is_empty() {
        if !ui.quiet {
            writeln!(ui.out, "{DIM}nothing waits for an answer{DIM:#}")?;
        }
        return Ok(Exit::Success);
    }
    let mut table = Table::new(["ID", "SESSION", "TOOL", "WAITS", "COMMAND", "WHY"]);
    for Posted { ask, created_at, .. } in &waiting {
        table.row([
            Cell::from(ask.id.as_str()),
            Cell::from(cut(&one_line(&ask.session), 24)),
            Cell::from(cut(&one_line(&ask.tool), 24)),
            Cell::from(format!("{} s", age(*created_at).as_secs())),
            Cell::from(cut(&one_line(&ask.command), SHORT)),
            Cell::from(one_line(&ask.description)),
        ]);
    }
    table.write(&mut ui.out)?;
    Ok(Exit::Success)
}

fn age(created_at: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_millis(created_at))
}

fn to_value(posted: &Posted) -> Value {
    let Posted { ask, pid, created_at } = posted;
    json!({
        "id": ask.id,
        "session": ask.session,
        "tool": ask.tool,
        "command": ask.command,
        "description": ask.description,
        "pattern_keys": ask.keys(),
        "allow_permanent": ask.allow_permanent,
        "smart_denied": ask.smart_denied,
        "timeout": ask.timeout.as_secs(),
        "pid": pid,
        "created_at": created_at,
    })
}

fn answer(
    mailbox: &Mailbox,
    which: &Waiting,
    choice: Choice,
    reason: Option<String>,
    ui: &mut Ui,
) -> Ended {
    let answer = match choice {
        Choice::Deny => Answer::Deny { reason },
        _ if reason.is_some() => return Err(Failure::usage("--reason goes with deny only")),
        Choice::Once => Answer::Once,
        Choice::Session => Answer::Session,
        Choice::Always => Answer::Always,
    };
    let mut waiting = mailbox.waiting()?;
    match which {
        Waiting::All => {}
        Waiting::Oldest => waiting.truncate(1),
        Waiting::Id(id) => {
            waiting.retain(|posted| posted.ask.id.starts_with(id.as_str()));
            if waiting.len() > 1 {
                return Err(Failure::usage(format!("several questions have ids like {id}")));
            }
        }
    }
    let mut answered = 0;
    for Posted { ask, .. } in &waiting {
        if mailbox.answer(&ask.id, &answer)? {
            answered += 1;
            let command = cut(&one_line(&ask.command), SHORT);
            writeln!(ui.out, "{GOOD}{}{GOOD:#} {}: {command}", answer.as_str(), ask.id)?;
        }
    }
    if answered == 0 {
        return Err(Failure::failed("no such question waits"));
    }
    Ok(Exit::Success)
}
