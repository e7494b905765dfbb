//! Reading everything a session starts with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hermes_registry::Settings;
use serde_json::{Map, Value};

use crate::{ConfigError, ConfigFile, Home, dotenv};

/// What [`load`] starts from.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The home folder asked for; none means `HERMES_HOME` of `env`, else `~/.hermes`.
    pub home: Option<PathBuf>,
    /// The profile asked for; none means the one the home belongs to.
    pub profile: Option<String>,
    /// The environment of the process, from [`process_env::read`](crate::process_env::read).
    pub env: BTreeMap<String, String>,
    /// Go on with an empty configuration and a warning when `config.yaml` cannot be read. Without
    /// it that is an error, since the file may hold restrictions.
    pub tolerate_broken: bool,
}

/// The settings of a session and where they came from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The snapshot for tools: home, profile, environment with `.env`, configuration.
    pub settings: Settings,
    /// The home folder. It may not exist yet.
    pub home: Home,
    /// Where `config.yaml` is, present or not.
    pub config_path: PathBuf,
    /// What a person should know, one line each, without secrets.
    pub warnings: Vec<String>,
}

/// Reads home, profile, `config.yaml` and `.env`. Creates nothing.
///
/// A variable of the process wins over `.env`, even when it is set to nothing.
///
/// # Errors
///
/// A home or profile that cannot be told, and a `config.yaml` that cannot be read or is no YAML
/// mapping (unless [`Options::tolerate_broken`]). A broken `.env` is only warned of.
pub fn load(options: Options) -> Result<Loaded, ConfigError> {
    let Options { home, profile, mut env, tolerate_broken } = options;
    let home = Home::resolve(home.as_deref(), profile.as_deref(), &env)?;
    let mut warnings = Vec::new();
    if let Some(name) = home.profile()
        && !home.path().is_dir()
    {
        let present = home.profiles();
        let present = if present.is_empty() { "none".to_owned() } else { present.join(", ") };
        warnings
            .push(format!("profile `{name}` is new: it has no folder yet (present: {present})"));
    }

    let file = ConfigFile::new(home.config_path());
    let config = match file.read() {
        Ok(config) => config,
        Err(error) if tolerate_broken => {
            warnings.push(format!("{error} (going on with the defaults)"));
            Value::Object(Map::new())
        }
        Err(error) => return Err(error),
    };
    merge_dotenv(&home, &mut env, &mut warnings);

    let settings = snapshot(&home, env).with_config(config);
    Ok(Loaded { settings, config_path: home.config_path(), home, warnings })
}

/// The part of [`load`] that takes no `config.yaml`: home, profile, environment with `.env`. For what
/// has to be known before anything else; what there is to warn of is told by [`load`].
///
/// # Errors
///
/// A home or profile that cannot be told.
pub fn environment(options: Options) -> Result<Settings, ConfigError> {
    let Options { home, profile, mut env, tolerate_broken: _ } = options;
    let home = Home::resolve(home.as_deref(), profile.as_deref(), &env)?;
    merge_dotenv(&home, &mut env, &mut Vec::new());
    Ok(snapshot(&home, env))
}

fn snapshot(home: &Home, env: BTreeMap<String, String>) -> Settings {
    let settings = Settings::new(home.path()).with_env(env);
    match home.profile() {
        Some(name) => settings.with_profile(name),
        None => settings,
    }
}

fn merge_dotenv(home: &Home, env: &mut BTreeMap<String, String>, warnings: &mut Vec<String>) {
    let path = home.dotenv_path();
    let file = match dotenv::read(&path) {
        Ok(file) => file,
        Err(error) => return warnings.push(error.to_string()),
    };
    for problem in file.problems {
        let place = format!("{}, line {}", path.display(), problem.line);
        warnings.push(format!("{place} {}: the line is ignored", problem.message));
    }
    for (name, value) in file.variables {
        if name == "HERMES_HOME" {
            // The file was found through the home, so it cannot move it.
            warnings.push(format!("{}: HERMES_HOME has no effect here", path.display()));
            continue;
        }
        env.entry(name).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn options(home: &std::path::Path) -> Options {
        Options { home: Some(home.to_owned()), ..Options::default() }
    }

    #[test]
    fn an_empty_home_is_the_defaults_and_stays_empty() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let loaded = load(options(&home)).unwrap();
        assert_eq!(loaded.settings.home(), home);
        assert_eq!(loaded.settings.config(), &json!({}));
        assert_eq!(loaded.warnings, [""; 0]);
        assert!(!home.exists());
    }

    #[test]
    fn the_process_wins_over_the_file_even_with_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".env"), "A=file\nB=file\nC=file\nbroken\nHERMES_HOME=/x\n")
            .unwrap();
        let env = BTreeMap::from([("A", "process"), ("B", "")].map(|(k, v)| (k.into(), v.into())));
        let loaded = load(Options { env, ..options(dir.path()) }).unwrap();
        let settings = &loaded.settings;
        let values = ["A", "B", "C", "HERMES_HOME"].map(|name| settings.env(name));
        assert_eq!(values, [Some("process"), Some(""), Some("file"), None]);
        assert_eq!(loaded.warnings.len(), 2);
        assert!(loaded.warnings[0].contains("line 4"), "{:?}", loaded.warnings);
    }

    #[test]
    fn the_environment_alone_is_the_same_and_needs_no_configuration() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("profiles/work");
        fs::create_dir_all(&work).unwrap();
        fs::write(work.join(".env"), "A=file\n").unwrap();
        fs::write(work.join("config.yaml"), "a: 1\na: 2\n").unwrap();
        let options = Options { profile: Some("work".into()), ..options(dir.path()) };
        let settings = environment(options.clone()).unwrap();
        let loaded = load(Options { tolerate_broken: true, ..options }).unwrap().settings;
        assert_eq!(settings.env("A"), Some("file"));
        assert!(settings.envs().eq(loaded.envs()));
        assert_eq!((settings.home(), settings.profile()), (loaded.home(), loaded.profile()));
    }

    #[test]
    fn a_profile_has_its_own_files() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("profiles/work");
        fs::create_dir_all(&work).unwrap();
        fs::write(dir.path().join("config.yaml"), "a: root\n").unwrap();
        fs::write(work.join("config.yaml"), "a: work\n").unwrap();
        for (profile, name, value) in [
            (None, None, "root"),
            (Some("default"), None, "root"),
            (Some("work"), Some("work"), "work"),
        ] {
            let profile = profile.map(str::to_owned);
            let settings = load(Options { profile, ..options(dir.path()) }).unwrap().settings;
            assert_eq!((settings.profile(), settings.get("a")), (name, Some(&json!(value))));
        }
        let loaded = load(Options { profile: Some("wrk".into()), ..options(dir.path()) }).unwrap();
        assert!(loaded.warnings[0].contains("`wrk`") && loaded.warnings[0].contains("work"));
    }

    #[test]
    fn a_broken_file_stops_unless_tolerated() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.yaml"), "a: 1\na: 2\n").unwrap();
        let error = load(options(dir.path())).unwrap_err().to_string();
        assert!(error.contains("config.yaml: line 2, column 1"), "{error}");
        let loaded = load(Options { tolerate_broken: true, ..options(dir.path()) }).unwrap();
        assert_eq!(loaded.settings.config(), &json!({}));
        assert!(loaded.warnings[0].contains("line 2"));

        fs::remove_file(dir.path().join("config.yaml")).unwrap();
        fs::create_dir(dir.path().join("config.yaml")).unwrap();
        assert!(matches!(load(options(dir.path())), Err(ConfigError::Unreadable { .. })));
    }
}
