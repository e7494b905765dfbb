//! `hermes tools list`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use hermes_registry::Tool;
use hermes_tools::search::{ToolDefinition, estimate_tokens};
use hermes_tools::{Definitions, ToolSelection, suggest};
use serde_json::{Value, json};

use crate::cli::{Globals, ToolsList};
use crate::exit::{Ended, Exit, Failure};
use crate::host::Host;
use crate::output::Ui;
use crate::style::{BAD, DIM, GOOD};
use crate::table::{Cell, Table, grouped};

/// A tool as one platform gets it.
pub(crate) struct Listed {
    /// The tool.
    pub(crate) tool: Arc<Tool>,
    /// Whether the platform was granted it.
    pub(crate) is_on: bool,
    /// Why it can't be used right now.
    pub(crate) unavailable: Option<String>,
    /// The definition a model would get; none if the tool can't be used.
    pub(crate) definition: Option<ToolDefinition>,
}

impl Listed {
    /// Whether a model sees the tool.
    pub(crate) fn is_usable(&self) -> bool {
        self.is_on && self.unavailable.is_none()
    }

    /// The first sentence of what the model is told.
    pub(crate) fn about(&self) -> &str {
        let whole = match &self.definition {
            Some(definition) => &definition.description,
            None => self.tool.description(),
        };
        let line = whole.lines().next().unwrap_or_default();
        line.split_once(". ").map_or(line, |(sentence, _)| sentence).trim_end_matches('.')
    }

    /// About how many tokens the definition costs.
    pub(crate) fn tokens(&self) -> Option<u64> {
        self.definition.as_ref().map(|definition| estimate_tokens([definition]))
    }
}

/// All tools by name, as `platform` gets them.
pub(crate) fn all(host: &Host, platform: &str) -> Result<Vec<Listed>, Failure> {
    let granted = host.open_for_listing(host.platform_tools(platform)?)?;
    let granted = host.runtime.definitions(&granted);
    let everything = host.open_for_listing(ToolSelection::all())?;
    let everything = host.runtime.definitions(&everything);
    let mut tools = by_name(&everything);
    let on = by_name(&granted);
    let is_on: Vec<String> = on.keys().cloned().collect();
    tools.extend(on);
    let snapshot = host.runtime.registry().snapshot();
    let scope = host.scope();
    Ok(tools
        .into_iter()
        .filter_map(|(name, (definition, unavailable))| {
            let tool = Arc::clone(snapshot.get_in(&scope, &name)?);
            Some(Listed { tool, is_on: is_on.contains(&name), unavailable, definition })
        })
        .collect())
}

/// The definition of each tool, or why there is none.
fn by_name(
    definitions: &Definitions,
) -> BTreeMap<String, (Option<ToolDefinition>, Option<String>)> {
    let visible = definitions
        .visible
        .iter()
        .map(|definition| (definition.name.clone(), (Some(definition.clone()), None)));
    let unavailable =
        definitions.unavailable.iter().map(|(name, why)| (name.to_string(), why.to_string()));
    let quarantined =
        definitions.quarantined.iter().map(|(name, why)| (name.to_string(), why.clone()));
    let missing = unavailable.chain(quarantined).map(|(name, why)| (name, (None, Some(why))));
    visible.chain(missing).collect()
}

/// Prints the tools.
pub(crate) fn run(globals: &Globals, asked: &ToolsList, ui: &mut Ui) -> Ended {
    let host = Host::checked(globals, ui)?;
    let all = all(&host, &asked.platform.platform)?;
    let of_toolset = match &asked.toolset {
        Some(name) if !host.world.is_valid(name) => {
            let nearest = suggest::nearest(name, host.world.names());
            let hint = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            return Err(Failure::usage(format!("unknown toolset `{name}`{hint}")));
        }
        Some(name) => Some(host.world.resolve(name)),
        None => None,
    };
    let (listed, rest): (Vec<&Listed>, Vec<&Listed>) = all
        .iter()
        .filter(|listed| of_toolset.as_ref().is_none_or(|set| set.contains(&listed.tool.name())))
        .partition(|listed| asked.all || listed.is_usable());
    if asked.json.json {
        let rows: Vec<Value> = listed.iter().map(|listed| row(listed, asked.tokens)).collect();
        ui.out.json(&rows.into())?;
        return Ok(Exit::Success);
    }
    table(&listed, asked).write(&mut ui.out)?;
    let mut footer = count(listed.len(), "tool");
    if asked.tokens {
        let tokens: u64 = listed.iter().filter_map(|listed| listed.tokens()).sum();
        footer.push_str(&format!(", about {} tokens", grouped(tokens)));
    }
    if !rest.is_empty() {
        footer.push_str(&format!("; --all shows {} more", rest.len()));
    }
    if !ui.quiet {
        writeln!(ui.out, "{DIM}{footer}{DIM:#}")?;
    }
    Ok(Exit::Success)
}

/// A number of things.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn row(listed: &Listed, tokens: bool) -> Value {
    let mut row = json!({
        "name": listed.tool.name(),
        "emoji": listed.tool.meta().emoji_or_default(),
        "toolset": listed.tool.toolset(),
        "description": listed.about(),
        "enabled": listed.is_on,
        "available": listed.unavailable.is_none(),
        "reason": listed.unavailable,
    });
    if tokens && let Some(row) = row.as_object_mut() {
        row.insert("tokens".to_owned(), listed.tokens().into());
    }
    row
}

fn table(listed: &[&Listed], asked: &ToolsList) -> Table {
    let mut headings = vec!["", "TOOL", "TOOLSET"];
    headings.extend(asked.all.then_some("STATE"));
    headings.extend(asked.tokens.then_some("TOKENS"));
    headings.push("ABOUT");
    let mut table = Table::new(headings);
    for listed in listed {
        let name = Cell::from(listed.tool.name());
        let mut cells = vec![
            Cell::from(listed.tool.meta().emoji_or_default()),
            if listed.is_usable() { name } else { name.styled(DIM) },
            Cell::from(listed.tool.toolset()).styled(DIM),
        ];
        if asked.all {
            cells.push(match (listed.is_on, &listed.unavailable) {
                (true, None) => Cell::from("on").styled(GOOD),
                (true, Some(_)) => Cell::from("unavailable").styled(BAD),
                (false, _) => Cell::from("off").styled(DIM),
            });
        }
        if asked.tokens {
            cells.push(listed.tokens().map_or_else(|| Cell::from(""), Cell::number));
        }
        cells.push(match &listed.unavailable {
            Some(why) => Cell::from(why.as_str()),
            None => Cell::from(listed.about()).styled(DIM),
        });
        table.row(cells);
    }
    table
}
