//! Who is at the other end, as the environment of a program says.

use hermes_registry::{Settings, Surface};

/// The surface that the variables of a fresh process describe. A scheduled job is one whatever
/// else is set: it inherits the variables of the gateway that starts it.
#[must_use]
pub fn surface_of(settings: &Settings) -> Surface {
    if settings.env_truthy("HERMES_CRON_SESSION") {
        Surface::Cron
    } else if settings.env_truthy("HERMES_GATEWAY_SESSION")
        || settings.env_filled("HERMES_SESSION_PLATFORM").is_some()
    {
        Surface::Gateway
    } else if settings.env_truthy("HERMES_INTERACTIVE") {
        Surface::Cli
    } else {
        Surface::None
    }
}

/// Put into the services of a context by a host that runs a command on its own account, for
/// instance because a person agreed to it elsewhere. Arguments of a call can't bring it about.
/// What is never run, and what rules of the user forbid, stays so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forced;

/// Put into the services of a context that belongs to a sub-agent, which asks nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubAgent;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduled_job_wins_over_its_gateway() {
        let check = |env: &[(&str, &str)], expected: Surface| {
            let settings = Settings::default().with_env(env.iter().copied());
            assert_eq!(surface_of(&settings), expected, "{env:?}");
        };
        check(&[], Surface::None);
        check(&[("HERMES_INTERACTIVE", "1")], Surface::Cli);
        check(&[("HERMES_INTERACTIVE", "1"), ("HERMES_GATEWAY_SESSION", "yes")], Surface::Gateway);
        check(&[("HERMES_SESSION_PLATFORM", "telegram")], Surface::Gateway);
        check(&[("HERMES_SESSION_PLATFORM", " ")], Surface::None);
        let both = [("HERMES_SESSION_PLATFORM", "telegram"), ("HERMES_CRON_SESSION", "true")];
        check(&both, Surface::Cron);
    }
}
