//! `hermes tools --summary`.

use hermes_registry::Settings;
use hermes_tools::toolset::platform_toolsets;
use serde_json::{Value, json};

use super::tools_list::count;
use crate::cli::{Globals, Json};
use crate::exit::{Ended, Exit};
use crate::host::Host;
use crate::output::Ui;
use crate::style::DIM;
use crate::table::{Cell, Table};

/// Prints what each platform in use gets.
pub(crate) fn run(globals: &Globals, json: Json, ui: &mut Ui) -> Ended {
    let host = Host::checked(globals, ui)?;
    let mut rows = Vec::new();
    let mut table = Table::new(["PLATFORM", "TOOLS", "TOOLSETS"]);
    for platform in platforms_in_use(host.settings()) {
        let session = host.open_for_listing(host.platform_tools(platform)?)?;
        let definitions = host.runtime.definitions(&session);
        let request = host.platform_request(host.settings().config(), platform);
        let toolsets = platform_toolsets(&host.world, &request).toolsets;
        let (usable, unavailable) = (definitions.visible.len(), definitions.unavailable.len());
        rows.push(json!({
            "platform": platform,
            "toolsets": toolsets,
            "tools": definitions.names(),
            "unavailable": unavailable,
        }));
        let tools = match unavailable {
            0 => count(usable, "tool"),
            more => format!("{}, {more} unavailable", count(usable, "tool")),
        };
        let toolsets: Vec<String> = toolsets.into_iter().collect();
        let toolsets = Cell::from(toolsets.join(", ")).styled(DIM);
        table.row([Cell::from(platform), Cell::from(tools), toolsets]);
    }
    if json.json {
        ui.out.json(&Value::Array(rows))?;
    } else {
        table.write(&mut ui.out)?;
    }
    Ok(Exit::Success)
}

/// The command line, and the messaging platforms that have credentials.
fn platforms_in_use(settings: &Settings) -> Vec<&'static str> {
    let messaging = [
        ("telegram", "TELEGRAM_BOT_TOKEN"),
        ("discord", "DISCORD_BOT_TOKEN"),
        ("slack", "SLACK_BOT_TOKEN"),
        ("whatsapp", "WHATSAPP_ENABLED"),
        ("qqbot", "QQ_APP_ID"),
    ];
    let in_use = messaging.into_iter().filter(|(platform, var)| match *platform {
        "whatsapp" => settings.env_truthy(var),
        _ => settings.env_filled(var).is_some(),
    });
    std::iter::once("cli").chain(in_use.map(|(platform, _)| platform)).collect()
}
