//! Commands that would end the gateway which the agent is running in.

use std::sync::LazyLock;

use hermes_command::Report;
use regex::Regex;

/// Whether a command stops or restarts a gateway.
#[must_use]
pub fn controls_gateway(report: &Report) -> bool {
    report.commands.iter().any(|command| is_control(&command.argv))
}

/// Whether a text, such as the prompt of a scheduled job, has such a command in it.
#[must_use]
pub fn mentions_gateway_control(text: &str) -> bool {
    static COMMANDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let commands = [
            r"\bhermes\b[^\n;|&]*\bgateway\s+(?:stop|restart)\b",
            r"\b(?:systemctl|launchctl)\b[^\n;|&]*\b(?:stop|restart|try-restart|kill|disable|mask|kickstart|bootout|unload|remove)\b[^\n;|&]*\bhermes[-_.]?gateway\b",
            r"\b(?:pkill|killall|kill)\b[^\n;|&]*\bhermes\b[^\n;|&]*\bgateway\b",
            r"\b(?:pkill|killall|kill)\b[^\n;|&]*\bgateway\b[^\n;|&]*\bhermes\b",
        ];
        Regex::new(&format!("(?i){}", commands.join("|"))).ok()
    });
    COMMANDS.as_ref().is_some_and(|commands| commands.is_match(text))
}

fn is_control(argv: &[String]) -> bool {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let args = argv.get(1..).unwrap_or_default();
    let has = |words: &[&str]| args.iter().any(|arg| words.contains(&arg.as_str()));
    let names = |wanted: &str| args.iter().any(|arg| arg.to_ascii_lowercase().contains(wanted));
    match program {
        "hermes" => args.windows(2).any(|pair| {
            matches!(pair, [area, verb] if area == "gateway" && (verb == "stop" || verb == "restart"))
        }),
        "systemctl" | "service" | "rc-service" => {
            let verbs = ["stop", "restart", "try-restart", "reload-or-restart", "kill", "disable", "mask"];
            has(&verbs) && names("hermes") && names("gateway")
        }
        "launchctl" => {
            let verbs = ["stop", "kickstart", "bootout", "unload", "kill", "disable", "remove"];
            has(&verbs) && names("hermes") && names("gateway")
        }
        "pkill" | "killall" | "kill" => names("hermes") && names("gateway"),
        // `python -m hermes_cli.main gateway restart`
        _ => {
            names("hermes") && args.windows(2).any(|pair| {
                matches!(pair, [area, verb] if area == "gateway" && (verb == "stop" || verb == "restart"))
            }) && program.starts_with("python")
        }
    }
}

#[cfg(test)]
mod tests {
    use hermes_command::SimpleCommand;

    use super::*;

    #[test]
    fn only_the_own_gateway_is_meant() {
        for (command, expected) in [
            ("hermes gateway restart", true),
            ("/opt/bin/hermes -p work gateway stop", true),
            ("hermes gateway status", false),
            ("systemctl --user restart hermes-gateway", true),
            ("systemctl status hermes-gateway", false),
            ("systemctl restart nginx", false),
            ("launchctl kickstart -k gui/501/ai.hermes.gateway", true),
            ("pkill -f hermes.*gateway", true),
            ("pkill -f gateway", false),
            ("python3 -m hermes_cli.main gateway restart", true),
            ("grep gateway restart hermes", false),
        ] {
            let argv = command.split(' ').map(str::to_owned).collect();
            let simple =
                SimpleCommand { argv, span: 0..0, is_known: true, has_redirect: false, depth: 0 };
            let report = Report { commands: vec![simple], ..Report::default() };
            assert_eq!(controls_gateway(&report), expected, "{command}");
        }
        for (text, expected) in [
            ("Every morning run `hermes gateway restart` please", true),
            ("pkill -f \"gateway.*hermes\"", true),
            ("systemctl --user stop hermes-gateway.service", true),
            ("Tell me how the hermes gateway is doing; stop if it is late", false),
        ] {
            assert_eq!(mentions_gateway_control(text), expected, "{text}");
        }
    }
}
