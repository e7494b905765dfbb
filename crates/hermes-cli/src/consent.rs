//! Asking the person at the terminal about hooks that nobody agreed to yet.

use std::io::{self, IsTerminal as _};

use hermes_hooks::shell::{Configured, Consent, Matcher, ShellHooks};

use crate::cli::Globals;
use crate::output::Ui;
use crate::preview;
use crate::style::{BOLD, DIM, WARN};

/// Whether every hook counts as agreed to: by a flag, a variable or a setting.
pub(crate) fn accepts_all(globals: &Globals, settings: &hermes_registry::Settings) -> bool {
    globals.accept_hooks || ShellHooks::are_accepted_by(settings)
}

/// Settles which hooks may run: by what was agreed to, by what accepts all, else by asking. Where
/// nobody can be asked, the others are left out with a warning, or block calls if they guard them.
pub(crate) fn settle(hooks: &mut ShellHooks, accepts_all: bool, ui: &Ui) {
    for warning in &hooks.warnings {
        ui.warn(warning);
    }
    if hooks.is_safe_mode {
        if !hooks.configured.is_empty() {
            ui.warn("HERMES_SAFE_MODE is on: no hooks run");
        }
        return;
    }
    let can_ask = io::stdin().is_terminal() && ui.status.is_terminal();
    let remembered = if accepts_all {
        hooks.ask(|_| true)
    } else if can_ask {
        hooks.ask(|hook| ask(hook, "Run it at every such event, from now on?", ui))
    } else {
        Ok(())
    };
    if let Err(error) = remembered {
        ui.warn(format_args!("the agreement to hooks is not remembered: {error}"));
    }
    for hook in hooks.waiting() {
        let why = match hook.consent {
            Consent::Changed => "was changed since it was approved",
            _ => "is not approved",
        };
        let then = if hook.blocks_until_approved() {
            "blocks every call it is about"
        } else {
            "doesn't run"
        };
        ui.warn(format_args!(
            "the {} hook `{}` {why} and {then}; see `hermes hooks approve`",
            hook.spec.event,
            preview::one_line(&hook.spec.command),
        ));
    }
}

/// Shows what would run, and asks.
pub(crate) fn ask(hook: &Configured, question: &str, ui: &Ui) -> bool {
    let status = &ui.status;
    let about = hook.spec.matcher.as_ref().map(Matcher::as_str).map_or_else(String::new, |it| {
        format!(" {DIM}of tools like{DIM:#} {}", preview::one_line(it))
    });
    status.print(format_args!("{BOLD}A hook in config.yaml wants to run a program{BOLD:#}"));
    status.print(format_args!("  event    {}{about}", hook.spec.event));
    status.print(format_args!("  command  {}", preview::one_line(&hook.spec.command)));
    for file in hook.script.files() {
        status.print(format_args!("  file     {}", preview::one_line(&file.to_string_lossy())));
    }
    if hook.consent == Consent::Changed {
        status.print(format_args!("  {WARN}its files were changed since you agreed{WARN:#}"));
    }
    if let Some(problem) = hook.script.problem() {
        status.print(format_args!("  {WARN}{problem}{WARN:#}"));
    }
    if hook.script.depends_on_cwd() {
        let what = "another program runs in another folder; an absolute path is safer";
        status.print(format_args!("  {WARN}{what}{WARN:#}"));
    }
    status.print(format_args!("{question} [y/N]"));
    let mut answer = String::new();
    // Nobody answering is no agreement.
    let _ = io::stdin().read_line(&mut answer);
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
