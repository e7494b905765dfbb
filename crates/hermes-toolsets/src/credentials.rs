//! What is known about each credential and setting that tools read from the environment: what it
//! is for, where to get it, and whether it has to be hidden.

mod manifest;
mod table;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use hermes_registry::Settings;

pub use manifest::{manifest_env, provider_env};
use table::HAND_WRITTEN;

/// Where a variable is shown and asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Category {
    /// Used by tools.
    Tool,
    /// Used by model providers.
    Provider,
    /// Used by messaging platforms.
    Messaging,
    /// Used by skills.
    Skill,
    /// A setting rather than an account.
    Setting,
}

impl Category {
    /// The name configuration and manifests use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Provider => "provider",
            Self::Messaging => "messaging",
            Self::Skill => "skill",
            Self::Setting => "setting",
        }
    }

    /// The category of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Tool, Self::Provider, Self::Messaging, Self::Skill, Self::Setting]
            .into_iter()
            .find(|category| category.as_str() == name)
    }
}

/// What is known about one environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialMeta {
    /// The variable's name.
    pub name: Cow<'static, str>,
    /// What it is for, in one line.
    pub description: Cow<'static, str>,
    /// The label to ask for it with.
    pub prompt: Cow<'static, str>,
    /// The page where it is to be had.
    pub url: Option<Cow<'static, str>>,
    /// What uses it. Mostly tools; `voice_transcription` and the like are features.
    pub tools: Cow<'static, [&'static str]>,
    /// Whether the value is a secret: read without echo, shown masked.
    pub password: bool,
    /// Where it is shown.
    pub category: Category,
    /// Whether checklists leave it out.
    pub advanced: bool,
}

/// All variables that are known, by name.
#[derive(Clone, Debug)]
pub struct Credentials {
    entries: BTreeMap<Cow<'static, str>, CredentialMeta>,
}

impl Credentials {
    /// The hand-written entries.
    #[must_use]
    pub fn builtin() -> Self {
        let entries = HAND_WRITTEN.iter().map(CredentialMeta::from);
        let entries = entries.map(|meta| (meta.name.clone(), meta)).collect();
        Self { entries }
    }

    /// Adds what a provider profile or a plugin manifest declares. An entry that is there already
    /// wins; the answer says whether the new one was taken.
    pub fn add(&mut self, meta: CredentialMeta) -> bool {
        match self.entries.entry(meta.name.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(meta);
                true
            }
        }
    }

    /// What is known about a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CredentialMeta> {
        self.entries.get(name)
    }

    /// All entries, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &CredentialMeta> {
        self.entries.values()
    }

    /// The variables that a tool uses, sorted by name.
    pub fn for_tool(&self, tool: &str) -> impl Iterator<Item = &CredentialMeta> {
        self.iter().filter(move |meta| meta.tools.contains(&tool))
    }
}

/// The value of a variable: the process environment's, else that of the home folder's `.env`.
///
/// A variable that the process environment sets to nothing is present, and so hides `.env`.
#[must_use]
pub fn credential_value<'s>(settings: &'s Settings, name: &str) -> Option<&'s str> {
    settings.env(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_written_entries_win_over_declared_ones() {
        let mut credentials = Credentials::builtin();
        let before = credentials.iter().count();
        assert!(!credentials.add(provider_env("XAI_API_KEY", None)));
        assert!(credentials.add(provider_env("NEW_BASE_URL", None)));
        assert_eq!(credentials.iter().count(), before + 1);
        assert_eq!(
            credentials.get("XAI_API_KEY").unwrap().url.as_deref(),
            Some("https://console.x.ai")
        );
        assert!(!credentials.get("NEW_BASE_URL").unwrap().password);
    }

    #[test]
    fn variables_are_found_by_tool_and_read_from_settings() {
        let credentials = Credentials::builtin();
        let names: Vec<_> = credentials.for_tool("image_generate").map(|m| &*m.name).collect();
        assert_eq!(names, ["FAL_KEY", "KREA_API_KEY"]);
        let settings = Settings::default().with_env([("FAL_KEY", "")]);
        assert_eq!(credential_value(&settings, "FAL_KEY"), Some(""));
        assert_eq!(credential_value(&settings, "KREA_API_KEY"), None);
    }
}
