//! Which paths matter, by their letters alone.

use crate::env::Env;
use crate::later::runs_later;
use crate::names::{is_pattern, matches};
use crate::value::{Arg, HOLE, plain};

/// A path as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Absolute and without `.` and `..`; patterns and holes stay in it. If the start can't be
    /// known, what comes after it, with a slash.
    pub(crate) path: String,
    /// Whether the start can't be known.
    pub(crate) is_rootless: bool,
    /// Whether a pattern at its end stood for all entries.
    pub(crate) covers: bool,
    /// Whether it has characters of a pattern.
    is_pattern: bool,
    /// Whether a part of it can't be known.
    has_hole: bool,
}

/// Folders whose loss is the loss of the machine.
const PROTECTED: [&str; 33] = [
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib32",
    "/System",
    "/Library",
    "/Applications",
    "/Users",
    "/Volumes",
    "/private",
    "/nix",
    "/usr/share",
    "/var/root",
];

/// How much is lost with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Some,
    /// Perhaps everything: it starts with what can't be known.
    Unclear,
    /// The machine or a person's home.
    All,
}

/// What kind of device a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    Disk,
    /// Backed by a file or memory.
    Virtual,
}

/// Why a path isn't written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guarded {
    Agent,
    Device(Device),
    /// `/proc/sysrq-trigger`.
    Power,
    System,
    Credential,
    Startup,
    Project,
    /// What was typed into shells.
    History,
    /// Other programs run it, or what it says, by themselves: only writing it counts.
    Later,
}

pub(crate) fn resolve(arg: &Arg, env: &Env) -> Target {
    resolve_text(&arg.marked, env)
}

pub(crate) fn resolve_text(text: &str, env: &Env) -> Target {
    let text = text.strip_prefix("file://").unwrap_or(text);
    if let Some(drive) = drive(text) {
        return drive;
    }
    if text.starts_with('/') {
        return normal(text, false);
    }
    if text.starts_with(HOLE) {
        let rest = text.trim_start_matches(HOLE);
        if rest.is_empty() || rest.starts_with('/') {
            return normal(rest, true);
        }
        return normal(&format!("/{text}"), true);
    }
    match &env.cwd {
        Some(cwd) => normal(&format!("{cwd}/{text}"), false),
        None => normal(&format!("/{text}"), true),
    }
}

/// `C:`, `C:\`, `C:/x`.
fn drive(text: &str) -> Option<Target> {
    let rest = text.strip_prefix(|c: char| c.is_ascii_alphabetic())?.strip_prefix(':')?;
    if !(rest.is_empty() || rest.starts_with(['\\', '/'])) {
        return None;
    }
    let rest = rest.replace('\\', "/");
    let rest = rest.trim_matches('/').trim_end_matches(['*', '.', '/']);
    let path = if rest.is_empty() { "/".to_owned() } else { format!("/drive/{rest}") };
    Some(Target { path, is_rootless: false, covers: false, is_pattern: false, has_hole: false })
}

fn normal(text: &str, is_rootless: bool) -> Target {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => {
                parts.push(part);
                if !is_rootless {
                    alias(&mut parts);
                }
            }
        }
    }
    let mut covers = false;
    while parts.last().is_some_and(|part| is_everything(part)) {
        covers = true;
        parts.pop();
    }
    let mut path = String::with_capacity(text.len());
    for part in &parts {
        path.push('/');
        path.push_str(part);
    }
    if path.is_empty() && !is_rootless {
        path.push('/');
    }
    let (is_pattern, has_hole) = (is_pattern(&path), path.contains(HOLE));
    Target { path, is_rootless, covers, is_pattern, has_hole }
}

/// Other names of the same folders.
fn alias(parts: &mut Vec<&str>) {
    match parts.as_slice() {
        ["proc", process, "root"] | ["proc", process, "task", _, "root"]
            if (matches!(*process, "self" | "thread-self")
                || process.bytes().all(|it| it.is_ascii_digit())) =>
        {
            parts.clear();
        }
        ["private", "etc" | "var" | "tmp"] => {
            parts.remove(0);
        }
        ["System", "Volumes", "Data"] => parts.clear(),
        _ => {}
    }
}

/// Whether a pattern stands for all entries of a folder.
fn is_everything(part: &str) -> bool {
    matches!(
        part,
        "*" | "**"
            | ".*"
            | "?*"
            | "*?"
            | ".[!.]*"
            | ".[^.]*"
            | "..?*"
            | "*.*"
            | ".??*"
            | "***"
            | "[!.]*"
    ) || (part.starts_with("[")
        && part.ends_with("]*")
        && part.len() > 6
        && matches(part, "a")
        && matches(part, "z"))
}

impl Target {
    /// Whether the path is, or by its pattern may be, `other`.
    fn may_be(&self, other: &str) -> bool {
        if self.is_rootless || self.has_hole {
            return false;
        }
        self.path == other || (self.is_pattern && matches(&self.path, other))
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether it lies in `folder` or is it.
    pub(crate) fn is_within(&self, folder: &str) -> bool {
        if self.is_rootless {
            return false;
        }
        let rest = self.path.strip_prefix(folder.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) || self.may_be(folder)
    }

    /// The path below a person's home, if it lies in one.
    pub(crate) fn below_home(&self, home: &str) -> Option<&str> {
        if self.is_rootless {
            // `$X/.ssh`: it may be a home.
            return self.path.strip_prefix('/').filter(|it| it.starts_with('.'));
        }
        for base in [home, "/root", "/var/root"] {
            if home_counts(base)
                && let Some(rest) = self.path.strip_prefix(base)
                && let Some(rest) = rest.strip_prefix('/')
            {
                return Some(rest);
            }
        }
        let rest =
            self.path.strip_prefix("/home/").or_else(|| self.path.strip_prefix("/Users/"))?;
        rest.split_once('/').map(|(_, rest)| rest)
    }

    /// What is lost when all of it is.
    pub(crate) fn loss(&self, env: &Env, homes: &Homes) -> Loss {
        if self.is_rootless {
            return if self.path.is_empty() { Loss::Unclear } else { Loss::Some };
        }
        if self.has_hole {
            return if self.path.matches('/').count() <= 2 { Loss::Unclear } else { Loss::Some };
        }
        let is_home = |home: &str| home_counts(home) && self.may_be(home);
        if PROTECTED.iter().any(|it| self.may_be(it))
            || is_home(&homes.home)
            || env.home().is_some_and(is_home)
        {
            return Loss::All;
        }
        let parts: Vec<&str> = self.path.split('/').skip(1).collect();
        match parts.as_slice() {
            ["home" | "Users", _] => Loss::All,
            // A drive that is mounted in a Linux under Windows.
            ["mnt" | "cygdrive", letter] if letter.len() == 1 => Loss::All,
            ["drive", folder]
                if folder.eq_ignore_ascii_case("windows")
                    || folder.eq_ignore_ascii_case("users") =>
            {
                Loss::All
            }
            _ => Loss::Some,
        }
    }

    pub(crate) fn device(&self) -> Option<Device> {
        if self.is_rootless {
            return None;
        }
        let name = self.path.strip_prefix("/dev/")?;
        let first = name.split('/').next().unwrap_or_default();
        let is_numbered = |prefix: &str| {
            first.strip_prefix(prefix).is_some_and(|it| {
                it.starts_with(|c: char| c.is_ascii_digit())
                    || it.starts_with(['*', '?', '[', HOLE])
            })
        };
        if matches!(
            first,
            "null"
                | "zero"
                | "full"
                | "random"
                | "urandom"
                | "ptmx"
                | "pts"
                | "stdin"
                | "stdout"
                | "stderr"
                | "fd"
                | "shm"
                | "tcp"
                | "udp"
                | "console"
                | "kmsg"
                | "log"
                | "snd"
                | "input"
                | "dsp"
                | "mqueue"
                | "hugepages"
                | "usb"
                | "net"
                | "uinput"
                | "rfkill"
                | "fuse"
                | "kvm"
        ) || first.starts_with("tty")
            || ["lp", "video", "hidraw", "i2c-", "spidev", "gpiochip", "vcs"]
                .into_iter()
                .any(is_numbered)
        {
            return None;
        }
        let is_virtual =
            ["loop", "ram", "zram"].into_iter().any(is_numbered) || first == "loop-control";
        Some(if is_virtual { Device::Virtual } else { Device::Disk })
    }

    /// Whether it is the agent's own state.
    pub(crate) fn is_agent(&self, homes: &Homes) -> bool {
        if self.is_rootless {
            return self.path.contains("/.hermes/")
                && self.is_agent_file(self.path.split("/.hermes/").nth(1))
                || self.path.ends_with("/.hermes");
        }
        homes.agent.iter().any(|home| {
            home_counts(home)
                && (self.may_be(home)
                    || self
                        .path
                        .strip_prefix(home.as_str())
                        .is_some_and(|rest| self.is_agent_file(rest.strip_prefix('/'))))
        })
    }

    fn is_agent_file(&self, rest: Option<&str>) -> bool {
        let Some(rest) = rest else { return false };
        let mut parts = rest.split('/');
        let mut first = parts.next().unwrap_or_default();
        let mut next = parts.next();
        if first == "profiles" {
            match next {
                None => return true,
                Some(_) => match parts.next() {
                    None => return true,
                    Some(part) => {
                        first = part;
                        next = parts.next();
                    }
                },
            }
        }
        let is = |name: &str| {
            first == name || (is_pattern(first) && !first.starts_with("*.") && matches(first, name))
        };
        let folder =
            ["sessions", "pairing", "mcp-tokens", "approvals", "pending"].into_iter().any(is);
        let file = [
            "config.yaml",
            ".env",
            "auth.json",
            "auth.lock",
            "state.db",
            "state.db-wal",
            "state.db-shm",
            "gateway.pid",
            ".anthropic_oauth.json",
            "config.yml",
        ]
        .into_iter()
        .any(is);
        folder || (file && next.is_none())
    }

    /// Why it isn't written or removed without a question.
    pub(crate) fn guarded(&self, homes: &Homes) -> Option<Guarded> {
        if self.is_agent(homes) {
            return Some(Guarded::Agent);
        }
        if self.path == "/proc/sysrq-trigger" {
            return Some(Guarded::Power);
        }
        if let Some(device) = self.device() {
            return Some(Guarded::Device(device));
        }
        let system = [
            "/etc",
            "/boot",
            "/usr/lib/systemd",
            "/lib/systemd",
            "/bin",
            "/sbin",
            "/usr/bin",
            "/usr/sbin",
            "/lib",
            "/lib64",
            "/var/spool/cron",
            "/proc/sys",
            "/System",
            "/Library/LaunchDaemons",
            "/Library/LaunchAgents",
            "/run/systemd",
        ];
        if system.iter().any(|folder| self.is_within(folder))
            || self.name() == "docker.sock"
            || self.path.to_ascii_lowercase().starts_with("/drive/windows/")
        {
            return Some(Guarded::System);
        }
        if let Some(rest) = self.below_home(&homes.home) {
            if is_startup(rest) {
                return Some(Guarded::Startup);
            }
            if is_credential(rest) {
                return Some(Guarded::Credential);
            }
        }
        if is_environment_file(self.name()) {
            return Some(Guarded::Project);
        }
        let below_home = self.below_home(&homes.home);
        if below_home.is_some_and(|it| first_matches(it, &HISTORIES)) {
            return Some(Guarded::History);
        }
        let is_later = match self.covers {
            true => {
                let below = below_home.map(|rest| format!("{rest}/*"));
                runs_later(&format!("{}/*", self.path), below.as_deref())
            }
            false => runs_later(&self.path, below_home),
        };
        is_later.then_some(Guarded::Later)
    }

    /// Whether what it holds must not leave the machine.
    pub(crate) fn is_secret(&self, homes: &Homes) -> bool {
        let name = plain(self.name());
        if is_environment_file(&name)
            || matches!(name.as_str(), "environ" if self.path.starts_with("/proc/"))
        {
            return true;
        }
        if name.ends_with(".pub") || name == "known_hosts" {
            return false;
        }
        if self.is_agent(homes) {
            return true;
        }
        if !self.is_rootless
            && [
                "/etc/shadow",
                "/etc/gshadow",
                "/etc/sudoers",
                "/etc/passwd",
                "/etc/ssh",
                "/etc/ssl/private",
            ]
            .iter()
            .any(|it| self.is_within(it) && !name.ends_with("ssh_config"))
        {
            return true;
        }
        if matches!(
            name.as_str(),
            "id_rsa"
                | "id_ed25519"
                | "id_ecdsa"
                | "id_dsa"
                | "credentials.json"
                | "service-account.json"
                | "kubeconfig"
        ) || name.ends_with(".pem")
            || name.ends_with(".key")
            || name.ends_with(".p12")
            || name.ends_with(".kdbx")
        {
            return true;
        }
        self.below_home(&homes.home).is_some_and(|rest| {
            is_credential(rest)
                || HISTORIES.contains(&rest)
                || [
                    ".password-store",
                    ".local/share/keyrings",
                    ".mozilla",
                    ".config/google-chrome",
                    ".vault-token",
                    ".config/op",
                ]
                .iter()
                .any(|it| {
                    rest == *it || rest.strip_prefix(it).is_some_and(|it| it.starts_with('/'))
                })
        })
    }
}

/// The folders of the user and of the agent.
#[derive(Clone, Debug)]
pub(crate) struct Homes {
    pub(crate) home: String,
    /// Both names that the agent's folder may go by.
    agent: [String; 2],
}

impl Homes {
    pub(crate) fn new(home: &str, hermes: &str) -> Self {
        let below = format!("{}/.hermes", home.trim_end_matches('/'));
        Self { home: home.to_owned(), agent: [hermes.trim_end_matches('/').to_owned(), below] }
    }

    /// Whether a path is the agent's folder.
    pub(crate) fn is_agents(&self, path: &str) -> bool {
        self.agent.iter().any(|it| it == path.trim_end_matches('/'))
    }
}

/// Files in which shells remember what was typed.
const HISTORIES: [&str; 4] = [".bash_history", ".zsh_history", ".sh_history", ".ash_history"];

/// A home has at least two parts: `/` as a home would make everything one.
fn home_counts(home: &str) -> bool {
    home == "/root" || home.trim_end_matches('/').matches('/').count() >= 2
}

fn first_matches(rest: &str, names: &[&str]) -> bool {
    let is = |name: &&str| {
        rest == *name
            || (is_pattern(rest)
                && !rest.contains('/')
                && rest.starts_with('.')
                && matches(rest, name))
    };
    names.iter().any(is)
}

fn is_startup(rest: &str) -> bool {
    first_matches(
        rest,
        &[
            ".bashrc",
            ".zshrc",
            ".profile",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".zprofile",
            ".zshenv",
            ".zlogin",
            ".zlogout",
            ".bash_aliases",
            ".kshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".inputrc",
        ],
    ) || rest == ".config/fish/config.fish"
        || rest.starts_with(".config/fish/conf.d/")
}

fn is_credential(rest: &str) -> bool {
    if first_matches(rest, &[".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials"]) {
        return true;
    }
    [".ssh", ".gnupg", ".aws", ".kube", ".docker", ".azure", ".config/gh", ".config/gcloud"]
        .iter()
        .any(|folder| {
            rest.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

/// `.env` and its like, except templates.
fn is_environment_file(name: &str) -> bool {
    if matches!(name, ".env" | ".envrc") {
        return true;
    }
    if let Some(rest) = name.strip_prefix(".env")
        && is_pattern(rest)
    {
        return true;
    }
    let Some(kind) = name.strip_prefix(".env.") else { return false };
    !kind
        .split('.')
        .any(|it| matches!(it, "example" | "sample" | "template" | "dist" | "schema" | "tmpl"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Ctx;

    fn env() -> (Env, Homes) {
        let ctx = Ctx {
            cwd: "/home/alice/project".into(),
            home: "/home/alice".into(),
            hermes_home: "/home/alice/.hermes".into(),
            env: vec![],
        };
        (Env::new(&ctx), Homes::new(&ctx.home, &ctx.hermes_home))
    }

    #[test]
    fn losses() {
        let (env, homes) = env();
        for (path, expected) in [
            ("/", Loss::All),
            ("/../..", Loss::All),
            ("/*", Loss::All),
            ("/etc/.", Loss::All),
            ("..", Loss::All),
            ("../*", Loss::All),
            (".", Loss::Some),
            ("/home/bob/", Loss::All),
            ("/home/bob/x", Loss::Some),
            ("/e*", Loss::All),
            ("/tmp/*", Loss::Some),
            ("/proc/self/root/etc", Loss::All),
            ("/private/var", Loss::All),
            ("/usr/local", Loss::Some),
            ("C:\\", Loss::All),
            ("\u{F8FF}/*", Loss::Unclear),
            ("\u{F8FF}", Loss::Unclear),
        ] {
            assert_eq!(resolve_text(path, &env).loss(&env, &homes), expected, "{path}");
        }
    }

    #[test]
    fn guards() {
        let (env, homes) = env();
        for (path, expected) in [
            ("/etc/hosts", Some(Guarded::System)),
            ("/tmp/etc/hosts", None),
            ("/home/alice/.bashrc", Some(Guarded::Startup)),
            ("/root/.ssh/authorized_keys", Some(Guarded::Credential)),
            (".env", Some(Guarded::Project)),
            (".env.local", Some(Guarded::Project)),
            (".env.example", None),
            ("config.yaml", None),
            ("../.hermes/config.yaml", Some(Guarded::Agent)),
            ("../.hermes/skills/x.md", None),
            ("/dev/sda", Some(Guarded::Device(Device::Disk))),
            ("/dev/loop0", Some(Guarded::Device(Device::Virtual))),
            ("/dev/null", None),
            ("/dev/tty1", None),
            ("/proc/sysrq-trigger", Some(Guarded::Power)),
        ] {
            assert_eq!(resolve_text(path, &env).guarded(&homes), expected, "{path}");
        }
    }
}
