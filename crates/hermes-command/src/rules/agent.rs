//! The agent's own programs.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::Arg;
use crate::wrap::Io;

impl Judge {
    pub(super) fn hermes(&mut self, args: &[Arg], env: &Env, io: &Io) {
        let is_on = |value: &str| {
            !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
        };
        let by_variable =
            io.set.iter().any(|(name, value)| name == "HERMES_YOLO_MODE" && is_on(&value.marked))
                || env.text("HERMES_YOLO_MODE").is_some_and(is_on);
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        if by_variable || texts.contains(&"--yolo") {
            self.find(
                "agent_yolo",
                Category::SelfHarm,
                false,
                "Starts the agent without asking anyone about dangerous commands.",
            );
        }
        if texts.iter().any(|it| matches!(*it, "-h")) {
            return;
        }
        let options = Options::parse(
            args,
            Spec::new(
                "pmtqs",
                &[
                    "profile", "home", "model", "provider", "toolsets", "resume", "approve",
                    "task", "cwd", "color",
                ],
            ),
        );
        let words = options.texts();
        let (first, second, third) = (
            words.first().copied().unwrap_or_default(),
            words.get(1).copied().unwrap_or_default(),
            words.get(2).copied().unwrap_or_default(),
        );
        let has_home = options.value("", "home").is_some()
            || io.set.iter().any(|(name, _)| name == "HERMES_HOME")
            || env
                .latest("HERMES_HOME")
                .and_then(|it| it.items.first())
                .is_some_and(|it| !self.homes.is_agents(it));
        let answers = options.value("", "approve").is_some_and(|it| !it.is("deny"));
        match (first, second) {
            ("call" | "exec" | "mcp", _) if has_home || answers => self.find(
                "agent_settings",
                Category::SelfHarm,
                false,
                "Runs the agent's tools by settings or answers that the person didn't give.",
            ),
            ("gateway", "stop" | "restart" | "uninstall" | "kill") | ("stop" | "restart", _)
                if first == "gateway"
                    || self.argv.first().is_some_and(|it| it.ends_with("gateway")) =>
            {
                self.find(
                    "agent_gateway",
                    Category::SelfHarm,
                    false,
                    "Stops or restarts the agent's gateway, and every agent in it.",
                );
            }
            ("update" | "uninstall" | "upgrade", _) if !texts.contains(&"--check") => {
                self.find(
                    "agent_update",
                    Category::SelfHarm,
                    false,
                    "Replaces or removes the agent's own program, and restarts it.",
                );
            }
            ("config", "set" | "unset" | "edit") => {
                let key = third.trim().to_ascii_lowercase();
                let key = key.split('=').next().unwrap_or_default();
                let guarded = [
                    "approvals",
                    "security",
                    "command_allowlist",
                    "hooks_auto_accept",
                    "delegation.subagent_auto_approve",
                    "memory.write_approval",
                    "skills.write_approval",
                    "skills.guard_agent_created",
                ];
                if guarded.iter().any(|it| key == *it || key.starts_with(&format!("{it}.")))
                    || words.get(2).is_some_and(|it| it.contains('\u{F8FF}'))
                {
                    self.find(
                        "agent_settings",
                        Category::SelfHarm,
                        false,
                        "Changes what the agent may do without asking.",
                    );
                }
            }
            ("approval", "revoke") => {}
            ("approval", "answer") => self.find(
                "agent_settings",
                Category::SelfHarm,
                false,
                "Answers a question that is meant for a person.",
            ),
            ("profile" | "profiles", "delete" | "remove")
            | ("sessions", "delete" | "prune" | "clear" | "purge")
            | ("memory", "clear" | "reset")
            | ("reset" | "logout" | "factory-reset", _) => {
                self.find(
                    "agent_state",
                    Category::SelfHarm,
                    false,
                    "Removes the agent's own state.",
                );
            }
            _ => {}
        }
    }
}
