//! From the configuration to the hooks that may run.

use hermes_config::ConfigError;
use hermes_registry::Settings;
use serde_json::Value;

use super::config::{ShellHookSpec, parse_hooks_config};
use super::consent::{Allowlist, Approvals, Consent};
use super::hook::ShellHook;
use super::script::Script;
use crate::event::HookEvent;
use crate::hook::{Hook as _, OnError};
use crate::hooks::Hooks;

/// A hook of the configuration, and how it stands with it.
#[derive(Clone, Debug)]
pub struct Configured {
    /// What was written.
    pub spec: ShellHookSpec,
    /// What it runs.
    pub script: Script,
    /// Whether it may.
    pub consent: Consent,
}

impl Configured {
    /// Whether the calls it is about are blocked until somebody agrees to it: it was to block them
    /// if it fails, and not to run is to fail.
    pub fn blocks_until_approved(&self) -> bool {
        self.consent != Consent::Approved
            && self.spec.on_error == OnError::Block
            && self.spec.event == HookEvent::PreToolCall
    }

    /// Why it may not run.
    fn refusal(&self) -> Option<String> {
        let what = match self.consent {
            Consent::Approved => return None,
            Consent::Missing => "waits for consent",
            Consent::Changed => "was changed since it was approved and waits for consent again",
        };
        Some(format!("it {what}: `hermes hooks approve` gives it"))
    }
}

/// The hooks of a configuration.
#[derive(Clone, Debug)]
pub struct ShellHooks {
    /// Each of them once, in the order of the file.
    pub configured: Vec<Configured>,
    /// What is wrong, a line each.
    pub warnings: Vec<String>,
    /// `HERMES_SAFE_MODE` is on: none of them runs, whoever agreed.
    pub is_safe_mode: bool,
    allowlist: Allowlist,
    settings: Settings,
}

impl ShellHooks {
    /// Those of `config.yaml`. Nothing is run or written.
    pub fn of(settings: &Settings) -> Self {
        let mut config = parse_hooks_config(settings.get("hooks").unwrap_or(&Value::Null));
        let allowlist = Allowlist::of(settings);
        let approvals = match allowlist.read() {
            // Nobody reads what nobody needs.
            _ if config.hooks.is_empty() => Approvals::default(),
            Ok(approvals) => approvals,
            Err(error) => {
                config.warnings.push(error.to_string());
                Approvals::default()
            }
        };
        let mut configured: Vec<Configured> = Vec::new();
        for spec in config.hooks {
            if let Some(first) = configured.iter_mut().find(|it| it.spec.is_same(&spec)) {
                // Of two ways to fail the stricter one.
                if spec.on_error == OnError::Block {
                    first.spec.on_error = OnError::Block;
                }
                continue;
            }
            let script = Script::of(&spec.command, settings);
            let consent = approvals.consent(spec.event, &spec.command, &script);
            configured.push(Configured { spec, script, consent });
        }
        Self {
            configured,
            warnings: config.warnings,
            is_safe_mode: settings.env_truthy("HERMES_SAFE_MODE"),
            allowlist,
            settings: settings.clone(),
        }
    }

    /// Whether the settings agree to every hook, without anybody being asked.
    pub fn are_accepted_by(settings: &Settings) -> bool {
        let accepts = |value: &Value| match value {
            Value::Bool(value) => *value,
            Value::Number(number) => number.as_i64() == Some(1),
            Value::String(text) => {
                let text = text.trim().to_ascii_lowercase();
                matches!(text.as_str(), "1" | "true" | "yes" | "on" | "enabled")
            }
            _ => false,
        };
        settings.env_truthy("HERMES_ACCEPT_HOOKS")
            || settings.get("hooks_auto_accept").is_some_and(accepts)
    }

    /// The file that remembers consent.
    pub fn allowlist(&self) -> &Allowlist {
        &self.allowlist
    }

    /// Asks `agree` about each hook that waits for consent, and remembers who agreed. The same
    /// event and command are asked about once.
    ///
    /// # Errors
    ///
    /// Consent can't be remembered. The hooks agreed to may run nonetheless, this time.
    pub fn ask(&mut self, mut agree: impl FnMut(&Configured) -> bool) -> Result<(), ConfigError> {
        let mut remembered = Ok(());
        let mut answered: Vec<(ShellHookSpec, bool)> = Vec::new();
        for hook in &mut self.configured {
            if hook.consent == Consent::Approved {
                continue;
            }
            let is_same = |spec: &ShellHookSpec| {
                spec.event == hook.spec.event && spec.command == hook.spec.command
            };
            let agreed = match answered.iter().find(|(spec, _)| is_same(spec)) {
                Some((_, agreed)) => *agreed,
                None => {
                    let agreed = agree(hook);
                    if agreed {
                        let ShellHookSpec { event, command, .. } = &hook.spec;
                        let saved = self.allowlist.approve(*event, command, &hook.script);
                        remembered = remembered.and(saved);
                    }
                    answered.push((hook.spec.clone(), agreed));
                    agreed
                }
            };
            if agreed {
                hook.consent = Consent::Approved;
            }
        }
        remembered
    }

    /// The hooks that don't run because nobody agreed to them.
    pub fn waiting(&self) -> impl Iterator<Item = &Configured> {
        self.configured.iter().filter(|hook| hook.consent != Consent::Approved)
    }

    /// One of them as a hook that can be run, whoever agreed.
    pub fn hook(&self, configured: &Configured) -> ShellHook {
        ShellHook::new(configured.spec.clone(), configured.script.clone(), self.settings.clone())
    }

    /// Adds the hooks that may run behind `hooks`, which are those of plugins. One that is among
    /// them already is not added again.
    ///
    /// A hook that may not run is left out, unless its failure blocks calls: then it fails at each
    /// of them.
    #[must_use]
    pub fn register(&self, mut hooks: Hooks) -> Hooks {
        if self.is_safe_mode {
            return hooks;
        }
        for configured in &self.configured {
            let hook = match configured.refusal() {
                None => self.hook(configured),
                Some(why) if configured.blocks_until_approved() => {
                    self.hook(configured).refused(why)
                }
                Some(_) => continue,
            };
            if !hooks.names().any(|name| name == hook.name()) {
                hooks = hooks.with(hook);
            }
        }
        hooks
    }
}
