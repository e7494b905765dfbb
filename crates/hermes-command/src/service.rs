//! Keys of services, by the names of the variables that hold them.

use crate::judge::Judge;
use crate::value::{Arg, HOLE, Taint};

/// How the names of a service's variables start, and what is in the names of its hosts.
const SERVICES: [(&str, &[&str]); 16] = [
    ("ANTHROPIC_", &["anthropic", "claude"]),
    ("AWS_", &["amazonaws", "aws"]),
    ("CLOUDFLARE_", &["cloudflare"]),
    ("DEEPSEEK_", &["deepseek"]),
    ("DISCORD_", &["discord"]),
    ("GEMINI_", &["google"]),
    ("GH_", &["github"]),
    ("GITHUB_", &["github"]),
    ("GROQ_", &["groq"]),
    ("HF_", &["huggingface", "hf.co"]),
    ("MISTRAL_", &["mistral"]),
    ("NPM_", &["npmjs"]),
    ("OPENAI_", &["openai"]),
    ("OPENROUTER_", &["openrouter"]),
    ("SLACK_", &["slack"]),
    ("STRIPE_", &["stripe"]),
];

/// Services, a bit for each.
pub(crate) type Services = u16;

/// Which service a variable holds a key of.
fn service(variable: &str) -> Option<Services> {
    let at = SERVICES.iter().position(|(prefix, _)| variable.starts_with(prefix))?;
    crate::print::is_secret_name(variable).then(|| 1 << at)
}

impl Judge {
    /// A variable stands in the text; whether it holds a key.
    pub(crate) fn names_key(&mut self, variable: &str) -> Taint {
        let service = service(variable);
        self.services |= service.unwrap_or_default();
        if service.is_some() { Taint::KEY } else { Taint::NONE }
    }

    /// Whether one of the addresses is that of a host which none of the keys in the text is for.
    /// Keys go to their own service all the time.
    pub(crate) fn is_foreign(&self, addresses: &[Arg]) -> bool {
        addresses.iter().any(|address| {
            let text = address.text();
            let text = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
            let host = text.split(['/', '?', '#']).next().unwrap_or_default();
            let host = host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
            let is_local = ["localhost", "127.", "[::1]", "10.", "192.168."]
                .iter()
                .any(|it| host.starts_with(it));
            let is_known = host.contains('.') && !host.contains(HOLE);
            is_known && !is_local && !self.is_at_home(&host)
        })
    }

    fn is_at_home(&self, host: &str) -> bool {
        SERVICES.iter().enumerate().any(|(at, (_, names))| {
            self.services & (1 << at) != 0 && names.iter().any(|it| host.contains(it))
        })
    }
}
