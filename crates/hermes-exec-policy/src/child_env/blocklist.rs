//! Which names are secrets, or settings, of this program and no business of a command.

use std::collections::HashSet;

use hermes_registry::Tool;
use hermes_toolsets::credentials::{Category, Credentials};

use super::names;

/// Names that commands don't get. Case doesn't count.
#[derive(Clone, Debug)]
pub struct Blocklist {
    /// In capitals.
    names: HashSet<String>,
}

/// What commands get although a tool uses it too.
const KEPT: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "GATEWAY_RELAY_URL",
    "HOME",
    "PATH",
    "SSH_AUTH_SOCK",
];

impl Default for Blocklist {
    /// The names known beforehand.
    fn default() -> Self {
        Self::new([""; 0])
    }
}

impl Blocklist {
    /// The names known beforehand and others besides.
    pub fn new<S: AsRef<str>>(extra_names: impl IntoIterator<Item = S>) -> Self {
        let known = [names::PROVIDERS, names::TOOLS, names::MESSAGING, names::OWN, names::NEVER];
        let known = known.into_iter().flatten().map(|name| (*name).to_owned());
        let mut made = Self { names: known.collect() };
        made.extend(extra_names);
        made
    }

    /// The same with what providers, tools and platforms declare in the catalogue of credentials,
    /// plugins among them. What skills use isn't this program's.
    #[must_use]
    pub fn with_credentials(mut self, credentials: &Credentials) -> Self {
        let is_ours = |category| {
            matches!(category, Category::Provider | Category::Tool | Category::Messaging)
        };
        let ours = credentials.iter().filter(|meta| is_ours(meta.category));
        self.extend(ours.map(|meta| &meta.name));
        self
    }

    fn extend<S: AsRef<str>>(&mut self, names: impl IntoIterator<Item = S>) {
        let names = names.into_iter().map(|name| name.as_ref().trim().to_ascii_uppercase());
        self.names.extend(names.filter(|name| !name.is_empty() && !KEPT.contains(&name.as_str())));
    }

    /// The names known beforehand and every variable that one of these tools declares.
    pub fn of_tools<'a, T: AsRef<Tool> + 'a>(tools: impl IntoIterator<Item = &'a T>) -> Self {
        let vars = tools.into_iter().flat_map(|tool| tool.as_ref().requires_env());
        Self::new(vars.map(|var| var.name.as_ref()))
    }

    /// Whether commands don't get this variable.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        let name = name.to_ascii_uppercase();
        self.names.contains(&name) || names::PREFIXES.iter().any(|it| name.starts_with(it))
    }

    /// How many names it holds, besides those known by their beginning.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether it holds no name: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Whether a name has the form of those secrets whose names the configuration makes up. Nothing
/// lifts them.
#[must_use]
pub fn is_dynamic_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let has = |prefix: &str, ends: &[&str]| {
        name.starts_with(prefix) && ends.iter().any(|end| name.ends_with(end))
    };
    has("AUXILIARY_", &["_API_KEY", "_BASE_URL"])
        || has("GATEWAY_RELAY_", &["_SECRET", "_KEY", "_TOKEN"])
}

/// Whether not even a program that inherits credentials gets this variable.
#[must_use]
pub fn is_never_inherited(name: &str) -> bool {
    names::NEVER.iter().any(|it| it.eq_ignore_ascii_case(name))
        || name.get(.."GITHUB_APP_".len()).is_some_and(|it| it.eq_ignore_ascii_case("GITHUB_APP_"))
}
