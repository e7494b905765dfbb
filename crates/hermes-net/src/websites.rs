//! The user's website policy, read again as files change.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hermes_config::ConfigFile;
use hermes_guard::urls::website::{Blocked, WebsitePolicy, WebsiteSettings};
use hermes_registry::Settings;
use serde_json::Value;

/// How long a policy counts before it is read again.
const FRESH: Duration = Duration::from_secs(30);

/// How many bytes a shared file may have.
const MAX_SHARED: u64 = 64 * 1024 * 1024;

/// Websites that aren't to be visited.
pub trait Websites: Send + Sync {
    /// The rule that is against `url`, if there is one.
    fn blocked(&self, url: &str) -> Option<Blocked>;
}

impl Websites for WebsitePolicy {
    fn blocked(&self, url: &str) -> Option<Blocked> {
        self.blocked(url)
    }
}

impl<T: Websites + ?Sized> Websites for Arc<T> {
    fn blocked(&self, url: &str) -> Option<Blocked> {
        (**self).blocked(url)
    }
}

/// Gives the configuration; an error if it can't be read.
type Config = dyn Fn() -> Result<Value, String> + Send + Sync;
/// Gives the text of a shared file by its name in the configuration.
type Shared = dyn Fn(&str) -> Result<String, String> + Send + Sync;

/// The policy in the configuration, at most 30 seconds old. While the configuration can't be read,
/// the last policy that could be read counts; if there was none, nothing is blocked, with a warning
/// in the log.
pub struct LivePolicy {
    config: Box<Config>,
    shared: Box<Shared>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    policy: Arc<WebsitePolicy>,
    read: Option<Instant>,
    /// What was warned of already.
    warned: HashSet<String>,
}

impl fmt::Debug for LivePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LivePolicy").finish_non_exhaustive()
    }
}

impl LivePolicy {
    /// A policy that is read by these functions: the whole configuration, and shared files by the
    /// names it has for them, of which relative ones are meant from the home folder of Hermes.
    #[must_use]
    pub fn new(
        config: impl Fn() -> Result<Value, String> + Send + Sync + 'static,
        shared: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        Self { config: Box::new(config), shared: Box::new(shared), state: Mutex::default() }
    }

    /// The policy of a user: that of the settings, and from then on that of config.yaml and of
    /// shared files beside it. A file that is gone changes nothing.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let home = settings.home().to_owned();
        let file = ConfigFile::new(home.join("config.yaml"));
        let last = Mutex::new(settings.config().clone());
        let config = move || {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if file.path().exists() {
                *last = file.read().map_err(|err| err.to_string())?;
            }
            Ok(last.clone())
        };
        let shared = move |name: &str| read_shared(&home.join(name)).map_err(|err| err.to_string());
        Self::new(config, shared)
    }

    fn at(&self, now: Instant) -> Arc<WebsitePolicy> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = state.read.is_some_and(|read| now.saturating_duration_since(read) < FRESH);
        if !is_fresh {
            state.read = Some(now);
            let settings = (self.config)().and_then(|config| {
                WebsiteSettings::from_config(&config).map_err(|err| err.to_string())
            });
            let warnings = match settings {
                Ok(settings) => {
                    let (policy, warnings) = WebsitePolicy::load(&settings, &*self.shared);
                    state.policy = Arc::new(policy);
                    warnings
                }
                Err(err) => vec![format!("{err}; the last website policy stays in force")],
            };
            for warning in warnings {
                if state.warned.insert(warning.clone()) {
                    tracing::warn!("{warning}");
                }
            }
        }
        Arc::clone(&state.policy)
    }
}

/// The text of a file with a rule a line.
fn read_shared(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = Vec::new();
    file.take(MAX_SHARED + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_SHARED {
        return Err(io::Error::other(format!("it has more than {MAX_SHARED} bytes")));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Websites for LivePolicy {
    fn blocked(&self, url: &str) -> Option<Blocked> {
        self.at(Instant::now()).blocked(url)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_good_policy_counts() {
        let step = Arc::new(AtomicUsize::new(0));
        let steps = Arc::clone(&step);
        let blocklist = |list: Value| Ok(json!({"security": {"website_blocklist": list}}));
        let policy = LivePolicy::new(
            move || match steps.load(Ordering::SeqCst) {
                0 => Err("no configuration".to_owned()),
                1 => blocklist(json!({"enabled": true, "domains": ["a.com"]})),
                2 => blocklist(json!("broken")),
                _ => blocklist(json!({"enabled": true, "shared_files": ["list", "gone"]})),
            },
            |name| if name == "list" { Ok("b.com".into()) } else { Err("not there".into()) },
        );
        let begin = Instant::now();
        let blocked = |at: u64, url| policy.at(begin + Duration::from_secs(at)).blocked(url);
        assert_eq!(blocked(0, "http://a.com"), None);
        step.store(1, Ordering::SeqCst);
        assert_eq!(blocked(29, "http://a.com"), None);
        assert!(blocked(30, "http://a.com").is_some());
        step.store(2, Ordering::SeqCst);
        assert!(blocked(70, "http://a.com").is_some());
        step.store(3, Ordering::SeqCst);
        assert_eq!(blocked(101, "http://a.com"), None);
        assert_eq!(blocked(101, "http://b.com").unwrap().source, "list");
        assert_eq!(policy.state.lock().unwrap().warned.len(), 3);
    }
    #[test]
    fn the_file_counts_as_soon_as_it_is_there_and_while_it_is_good() {
        let home = tempfile::tempdir().unwrap();
        let begin = Instant::now();
        let config =
            json!({"security": {"website_blocklist": {"enabled": true, "domains": ["a.com"]}}});
        let policy = LivePolicy::of(&Settings::new(home.path()).with_config(config));
        let blocked = |at: u64, url| {
            policy.at(begin + Duration::from_secs(at)).blocked(url).map(|it| it.source)
        };
        assert_eq!(blocked(0, "http://a.com"), Some("config".to_owned()));
        let file = home.path().join("config.yaml");
        let text = "security:\n  website_blocklist: {enabled: true, shared_files: [lists/x]}\n";
        std::fs::write(&file, text).unwrap();
        std::fs::create_dir(home.path().join("lists")).unwrap();
        std::fs::write(home.path().join("lists/x"), "# mine\nb.com\n").unwrap();
        assert_eq!(blocked(40, "http://a.com"), None);
        assert_eq!(blocked(40, "http://x.b.com"), Some("lists/x".to_owned()));
        for (at, broken) in
            [(80, "security: ["), (120, "security: {website_blocklist: {enabled: x}}")]
        {
            std::fs::write(&file, broken).unwrap();
            assert_eq!(blocked(at, "http://b.com"), Some("lists/x".to_owned()));
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(blocked(160, "http://b.com"), Some("lists/x".to_owned()));
    }
}
