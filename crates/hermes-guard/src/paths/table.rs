//! The tables: which files are protected, below which folder.

use super::Class;

/// Where a row's path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The user's home folder.
    Home,
    /// The home of this program: the root's, and that of every profile.
    Hermes,
    /// The home of the active profile only.
    Active,
    /// The root of the file system.
    Root,
}

/// One protected file, or a folder with all below it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) base: Base,
    /// Below the base.
    pub(super) path: &'static str,
    /// Whether what lies below belongs to it.
    pub(super) tree: bool,
    pub(super) class: Class,
}

const fn file(base: Base, path: &'static str, class: Class) -> Row {
    Row { base, path, tree: false, class }
}

const fn tree(base: Base, path: &'static str, class: Class) -> Row {
    Row { base, path, tree: true, class }
}

use Base::{Active, Hermes, Home, Root};
use Class::{Credential, Session, System, Untrusted};

/// What isn't read.
pub(super) static READ: &[Row] = &[
    file(Hermes, "auth.json", Credential),
    file(Hermes, "auth.lock", Credential),
    file(Hermes, ".anthropic_oauth.json", Credential),
    file(Hermes, ".env", Credential),
    file(Hermes, "webhook_subscriptions.json", Credential),
    file(Hermes, "auth/google_oauth.json", Credential),
    file(Hermes, "cache/bws_cache.json", Credential),
    tree(Hermes, "mcp-tokens", Credential),
    tree(Hermes, "skills/.hub", Untrusted),
    file(Home, ".netrc", Credential),
    file(Home, "_netrc", Credential),
    file(Home, ".pgpass", Credential),
    file(Home, ".npmrc", Credential),
    file(Home, ".pypirc", Credential),
    file(Home, ".git-credentials", Credential),
    file(Home, ".config/git/credentials", Credential),
    file(Home, ".vault-token", Credential),
    file(Home, ".cargo/credentials", Credential),
    file(Home, ".cargo/credentials.toml", Credential),
    file(Home, ".aws/credentials", Credential),
    tree(Home, ".aws/sso/cache", Credential),
    tree(Home, ".aws/cli/cache", Credential),
    file(Home, ".azure/accessTokens.json", Credential),
    file(Home, ".azure/msal_token_cache.json", Credential),
    file(Home, ".azure/msal_token_cache.bin", Credential),
    file(Home, ".azure/service_principal_entries.json", Credential),
    file(Home, ".azure/service_principal_entries.bin", Credential),
    file(Home, ".config/gcloud/application_default_credentials.json", Credential),
    file(Home, ".config/gcloud/credentials.db", Credential),
    file(Home, ".config/gcloud/access_tokens.db", Credential),
    tree(Home, ".config/gcloud/legacy_credentials", Credential),
    file(Home, ".config/gh/hosts.yml", Credential),
    file(Home, ".docker/config.json", Credential),
    file(Home, ".kube/config", Credential),
    tree(Home, ".gnupg/private-keys-v1.d", Credential),
    file(Home, ".gnupg/secring.gpg", Credential),
    file(Root, "etc/shadow", Credential),
    file(Root, "etc/gshadow", Credential),
];

/// What isn't written, by any tool. The first row that fits counts, and secrets come first.
pub(super) static WRITE: &[Row] = &[
    tree(Home, ".ssh", Credential),
    tree(Home, ".aws", Credential),
    tree(Home, ".gnupg", Credential),
    tree(Home, ".kube", Credential),
    tree(Home, ".docker", Credential),
    tree(Home, ".azure", Credential),
    tree(Home, ".config/gh", Credential),
    tree(Home, ".config/gcloud", Credential),
    file(Home, ".netrc", Credential),
    file(Home, ".pgpass", Credential),
    file(Home, ".npmrc", Credential),
    file(Home, ".pypirc", Credential),
    file(Home, ".git-credentials", Credential),
    file(Root, "etc/sudoers", Credential),
    file(Root, "etc/passwd", Credential),
    file(Root, "etc/shadow", Credential),
    tree(Root, "etc/sudoers.d", Credential),
    tree(Root, "etc/systemd", Credential),
    file(Hermes, ".env", Credential),
    file(Hermes, ".anthropic_oauth.json", Credential),
    file(Hermes, "auth.json", Credential),
    file(Hermes, "auth.lock", Credential),
    file(Hermes, "auth/google_oauth.json", Credential),
    file(Hermes, "cache/bws_cache.json", Credential),
    file(Hermes, "webhook_subscriptions.json", Credential),
    tree(Hermes, "mcp-tokens", Credential),
    tree(Hermes, "pairing", Credential),
    tree(Hermes, "approvals", Session),
    file(Hermes, "state.db", Session),
    file(Hermes, "state.db-wal", Session),
    file(Hermes, "state.db-shm", Session),
    file(Hermes, "state.db-journal", Session),
    tree(Hermes, "sessions", Session),
];

/// What file tools don't write besides.
pub(super) static WRITE_SYSTEM: &[Row] = &[
    tree(Root, "etc", System),
    tree(Root, "boot", System),
    tree(Root, "usr/lib/systemd", System),
    tree(Root, "private/etc", System),
    tree(Root, "private/var", System),
    file(Root, "run/docker.sock", System),
    file(Root, "var/run/docker.sock", System),
    file(Active, "config.yaml", System),
    // What says which hooks may run, and what tells afterwards.
    file(Hermes, "shell-hooks-allowlist.json", System),
    file(Hermes, "logs/tool-calls.jsonl", System),
    // Journals, which say what is done to files when a process was killed.
    tree(Hermes, "staging", System),
    file(Hermes, "logs/approvals.jsonl", System),
    // What waits for a person to agree.
    tree(Hermes, "pending", System),
];

/// What [`WRITE_SYSTEM`] doesn't mean: where macOS keeps temporary files.
pub(super) static WRITE_EXEMPT: &[Row] = &[tree(Root, "private/var/folders", System)];

/// Every table, to find out where rows lead that are links.
pub(super) static ALL: &[&[Row]] = &[READ, WRITE, WRITE_SYSTEM];

/// Base names of settings files with secrets, in lower case. Besides these, [`ENV_PREFIX`] counts.
pub(super) const SECRET_NAMES: &[&str] = &[".env", ".envrc"];

/// What the base name of a variant of `.env` begins with.
pub(super) const ENV_PREFIX: &str = ".env.";

/// The last part of such a name where the file only shows what a real one looks like.
pub(super) const ENV_SAMPLES: &[&str] = &["example", "sample", "template", "dist"];

/// Folders of a profile that other profiles leave alone.
pub(super) const AREAS: &[&str] = &["skills", "plugins", "cron", "memories"];
