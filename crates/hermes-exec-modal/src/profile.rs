//! Credentials, and the file that the provider's own programs keep them in.

use std::fmt;

use serde::Deserialize;

/// Who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The token's name: `ak-..`.
    pub token_id: String,
    /// The token's secret: `as-..`.
    pub token_secret: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("token_id", &self.token_id).finish_non_exhaustive()
    }
}

/// One section of the file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Section {
    token_id: Option<String>,
    token_secret: Option<String>,
    environment: Option<String>,
    server_url: Option<String>,
    active: bool,
}

/// What a profile says.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Profile {
    /// Who asks, where both parts are there.
    pub credentials: Option<Credentials>,
    /// The environment that apps belong to.
    pub environment: Option<String>,
    /// Another server.
    pub server_url: Option<String>,
}

impl Profile {
    /// The profile `name` of a file's text (`~/.modal.toml`, or what `MODAL_CONFIG_PATH` names).
    /// Without a name it is the one that is marked as active, or else `default`. One that isn't
    /// there is empty, unless it was named.
    ///
    /// # Errors
    /// The text is not such a file, or doesn't have the profile that was named (by
    /// `MODAL_PROFILE`). The sentence holds no secret.
    pub fn parse(text: &str, name: Option<&str>) -> Result<Self, String> {
        let table: toml::Table = toml::from_str(text).map_err(|err| {
            // Its own text shows the line, which may be that of a secret.
            let place = err.span().and_then(|span| text.get(..span.start));
            let line = place.map_or(1, |before| before.matches('\n').count() + 1);
            format!("the file of Modal's profiles is no TOML: see its line {line}")
        })?;
        let mut sections = table
            .into_iter()
            .filter_map(|(name, value)| Some((name, Section::deserialize(value).ok()?)));
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let section = match name {
            Some(wanted) => {
                let found = sections.find(|(name, _)| name == wanted);
                let missing = || format!("MODAL_PROFILE: there is no profile {wanted:?}");
                found.ok_or_else(missing)?.1
            }
            None => {
                let sections: Vec<_> = sections.collect();
                let active = sections.iter().find(|(_, section)| section.active);
                let chosen = active.or_else(|| sections.iter().find(|(name, _)| name == "default"));
                chosen.map(|(_, section)| section.clone()).unwrap_or_default()
            }
        };
        let given = |value: Option<String>| value.filter(|value| !value.trim().is_empty());
        let credentials = match (given(section.token_id), given(section.token_secret)) {
            (Some(token_id), Some(token_secret)) => Some(Credentials { token_id, token_secret }),
            _ => None,
        };
        Ok(Self {
            credentials,
            environment: given(section.environment),
            server_url: given(section.server_url),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    const FILE: &str = r#"
        [default]
        token_id = "ak-1"
        token_secret = "as-1"

        [work]
        token_id = "ak-2"
        token_secret = "as-2"
        environment = "dev"
        active = true

        [half]
        token_id = "ak-3"
    "#;

    #[test]
    fn profiles_are_chosen() {
        let id = |text: &str, name: Option<&str>| {
            Profile::parse(text, name).map(|it| it.credentials.map(|it| it.token_id))
        };
        assert_eq!(id(FILE, None), Ok(Some("ak-2".to_owned())));
        assert_eq!(id(FILE, Some("default")), Ok(Some("ak-1".to_owned())));
        assert_eq!(id(FILE, Some(" ")), Ok(Some("ak-2".to_owned())));
        assert_eq!(id(FILE, Some("half")), Ok(None));
        assert!(id(FILE, Some("none")).unwrap_err().contains("\"none\""));
        let none_active = FILE.replace("active = true", "");
        assert_eq!(id(&none_active, None), Ok(Some("ak-1".to_owned())));
        assert_eq!(id("", None), Ok(None));
        assert_eq!(Profile::parse(FILE, None).unwrap().environment.as_deref(), Some("dev"));
        let fault = id("[a]\ntoken_secret = as-secret", None).unwrap_err();
        assert!(fault.ends_with("line 2") && !fault.contains("secret ="), "{fault}");
    }

    #[test]
    fn secrets_are_not_shown() {
        let profile = Profile::parse(FILE, None).unwrap();
        assert!(!format!("{profile:?}").contains("as-2"));
    }
}
