//! What a task has of its own in place of the configuration.

use std::collections::BTreeMap;

/// Settings of one task. A task with more than a folder of its own has an environment of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The folder that it starts in.
    pub cwd: Option<String>,
    /// The kind of its environment.
    pub env_type: Option<String>,
    /// Images by the name of their setting: `docker_image`, `modal_image`, `singularity_image`,
    /// `daytona_image`.
    pub images: BTreeMap<String, String>,
}

impl Overrides {
    /// Only another folder.
    #[must_use]
    pub fn cwd(cwd: impl Into<String>) -> Self {
        Self { cwd: Some(cwd.into()), ..Self::default() }
    }

    /// Whether the task can't share the environment of others.
    #[must_use]
    pub fn isolates(&self) -> bool {
        self.env_type.is_some() || !self.images.is_empty()
    }

    /// The variables that say the same to the configuration.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let kind = self.env_type.iter().map(|kind| ("TERMINAL_ENV".to_owned(), kind.clone()));
        let images = self.images.iter();
        let images = images.map(|(name, image)| {
            (format!("TERMINAL_{}", name.to_ascii_uppercase()), image.clone())
        });
        kind.chain(images)
    }
}
