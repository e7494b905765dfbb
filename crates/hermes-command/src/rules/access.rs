//! Permissions, owners, accounts, firewalls.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::{Guarded, Loss, resolve};
use crate::value::Arg;

impl Judge {
    pub(super) fn access(&mut self, name: &str, args: &[Arg], env: &Env) {
        match name {
            "chmod" | "gchmod" => self.chmod(args, env),
            "chown" | "gchown" | "chgrp" => self.chown(name, args, env),
            "setfacl" => {
                let texts: Vec<String> = args.iter().map(Arg::text).collect();
                let gives = texts.iter().any(|it| {
                    it.split(',').any(|entry| {
                        let entry = entry.rsplit('=').next().unwrap_or_default();
                        let entry = entry
                            .strip_prefix("-m")
                            .or_else(|| entry.strip_prefix("d:"))
                            .unwrap_or(entry);
                        let mut parts = entry.split(':');
                        let who = parts.next().unwrap_or_default();
                        let middle = parts.next();
                        let rights = parts.next().or(middle).unwrap_or_default();
                        matches!(who, "o" | "other" | "others" | "default")
                            && entry.contains(':')
                            && (rights.contains('w')
                                || rights.parse::<u8>().is_ok_and(|it| it & 2 != 0))
                    })
                });
                if gives {
                    self.find(
                        "world_writable",
                        Category::Permission,
                        false,
                        "Lets every user of the machine change files.",
                    );
                }
            }
            "setcap"
                if !args
                    .iter()
                    .any(|it| matches!(it.marked.as_str(), "-r" | "-v" | "-q" | "-h"))
                    && !args.is_empty() =>
            {
                self.find(
                    "capabilities",
                    Category::Permission,
                    false,
                    "Gives a program rights of the administrator.",
                );
            }
            "iptables" | "ip6tables" | "ebtables" => {
                let has =
                    |wanted: &[&str]| args.iter().any(|it| wanted.contains(&it.marked.as_str()));
                let opens = has(&["-P", "--policy"]) && has(&["ACCEPT"]);
                if opens || has(&["-F", "--flush", "-X", "--delete-chain"]) {
                    self.firewall();
                }
            }
            "nft"
                if (args.iter().any(|it| it.is("flush"))
                    || (args.iter().any(|it| it.is("delete"))
                        && args.iter().any(|it| it.is("table") || it.is("chain")))) =>
            {
                self.firewall();
            }
            "ufw"
                if args.iter().any(|it| matches!(it.marked.as_str(), "disable" | "reset"))
                    && !args.iter().any(|it| it.is("--dry-run")) =>
            {
                self.firewall();
            }
            "pfctl" if args.iter().any(|it| matches!(it.marked.as_str(), "-d" | "-F")) => {
                self.firewall();
            }
            "firewall-cmd"
                if args.iter().any(|it| {
                    it.is("--panic-off") || it.starts_with("--set-default-zone=trusted")
                }) =>
            {
                self.firewall();
            }
            "setenforce"
                if args.first().is_some_and(|it| {
                    it.is("0") || it.marked.eq_ignore_ascii_case("permissive")
                }) =>
            {
                self.protection();
            }
            "aa-disable" | "aa-teardown" => self.protection(),
            "csrutil" | "spctl"
                if args.iter().any(|it| {
                    matches!(
                        it.marked.as_str(),
                        "disable" | "--master-disable" | "--global-disable"
                    )
                }) =>
            {
                self.protection();
            }
            "auditctl"
                if (args.iter().any(|it| it.is("-D"))
                    || args
                        .windows(2)
                        .any(|it| matches!(it, [a, b] if a.is("-e") && b.is("0")))) =>
            {
                self.protection();
            }
            "history" if args.iter().any(|it| it.is_option() && it.marked.contains('c')) => {
                self.history_cleared();
            }
            "usermod" | "useradd" | "userdel" | "groupdel" | "groupmod" | "adduser" | "deluser"
            | "chpasswd" | "newusers" | "gpasswd" | "chsh" | "passwd" => {
                let shows =
                    args.iter().any(|it| matches!(it.marked.as_str(), "-S" | "--status" | "-D"));
                if !(shows || name == "passwd" && args.is_empty()) {
                    self.find(
                        "accounts",
                        Category::Other,
                        false,
                        "Changes who may log in to the machine, or with which rights.",
                    );
                }
            }
            "umount" => {
                let options = Options::parse(args, Spec::new("tO", &["types"]));
                if options.has("a") || options.long("all", 1) {
                    self.find(
                        "unmount_all",
                        Category::ServiceControl,
                        false,
                        "Takes every file system away.",
                    );
                }
            }
            _ => {}
        }
    }

    /// What was run leaves no trace.
    pub(crate) fn history_cleared(&mut self) {
        let why = "Removes the record of what was run, or keeps it from being made.";
        self.find("history_cleared", Category::Other, false, why);
    }

    fn firewall(&mut self) {
        self.find("firewall_off", Category::Other, false, "Takes the firewall's rules away.");
    }

    fn protection(&mut self) {
        self.find(
            "protection_off",
            Category::Other,
            false,
            "Turns off a protection of the machine.",
        );
    }

    fn chmod(&mut self, args: &[Arg], env: &Env) {
        // A mode may look like an option: `-x`, `-rwx`.
        let is_mode = |it: &Arg| {
            it.is_option()
                && !it.starts_with("--")
                && it.marked.chars().skip(1).all(|it| "rwxXst,+-=".contains(it))
        };
        let (modes, rest): (Vec<_>, Vec<_>) = args.iter().cloned().partition(is_mode);
        let options = Options::parse(&rest, Spec::new("", &["reference"]));
        let is_recursive = options.has("R") || options.long("recursive", 3);
        let mut operands = options.operands.as_slice();
        if modes.is_empty()
            && options.value("", "reference").is_none()
            && let Some((mode, rest)) = operands.split_first()
        {
            operands = rest;
            self.mode(mode);
        }
        let mode = match modes.first() {
            Some(mode) => mode.text(),
            None => options.operands.first().map(Arg::text).unwrap_or_default(),
        };
        if !is_recursive && takes_use(&mode) {
            let targets: Vec<_> = operands.iter().map(|it| resolve(it, env)).collect();
            let own = env.home();
            let is_system = targets.iter().any(|it| {
                it.guarded(&self.homes) == Some(Guarded::System)
                    || it.loss(env, &self.homes) == Loss::All && own != Some(it.path.as_str())
            });
            if is_system {
                let why = "Takes the rights to use a part of the system away.";
                self.find("permissions_of_system", Category::Permission, false, why);
            }
        }
        if is_recursive {
            self.rights_of_tree(&mode, operands, env);
            self.owned_root(
                operands,
                env,
                "Changes the permissions of everything in a folder of the system.",
            );
        }
    }

    /// A mode that gives too much.
    pub(crate) fn mode(&mut self, mode: &Arg) {
        let text = mode.text();
        let digits = text.trim_start_matches(['=', '+']).trim_start_matches('0');
        let (mut is_open, mut is_set) = (false, false);
        if !text.is_empty()
            && text.trim_start_matches(['=', '+']).bytes().all(|it| matches!(it, b'0'..=b'7'))
        {
            let value = u32::from_str_radix(digits, 8).unwrap_or(0);
            // A sticky folder for everyone, such as /tmp, is open all the same.
            is_open = value & 0o2 != 0;
            is_set = value & 0o6000 != 0;
        } else {
            for clause in text.split(',') {
                let Some(at) = clause.find(['+', '-', '=']) else { continue };
                let who = clause.get(..at).unwrap_or_default();
                let others = who.is_empty() || who.contains(['o', 'a']);
                for (operator, rights) in operations(clause.get(at..).unwrap_or_default()) {
                    if operator == '-' {
                        continue;
                    }
                    // Without a `who` the umask keeps others out.
                    is_open |= rights.contains('w') && others && !who.is_empty();
                    is_open |= rights == "u" && who.contains(['o', 'a']);
                    is_set |=
                        rights.contains('s') && (who.is_empty() || who.contains(['u', 'g', 'a']));
                }
            }
        }
        if is_set {
            self.find(
                "setuid",
                Category::Permission,
                false,
                "Lets whoever runs the file have the rights of its owner or group.",
            );
        }
        if is_open {
            self.find(
                "world_writable",
                Category::Permission,
                false,
                "Lets every user of the machine change files.",
            );
        }
    }

    fn chown(&mut self, name: &str, args: &[Arg], env: &Env) {
        let options = Options::parse(args, Spec::new("", &["reference", "from"]));
        let is_recursive = options.has("R") || options.long("recursive", 3);
        if !is_recursive {
            return self.owner_of_file(name, &options, env);
        }
        let mut operands = options.operands.as_slice();
        if options.value("", "reference").is_none()
            && let Some((owner, rest)) = operands.split_first()
        {
            operands = rest;
            let text = owner.text();
            let user = text.split([':', '.']).next().unwrap_or_default();
            let own = env.home().map(str::to_owned);
            let is_home = rest.iter().any(|it| Some(resolve(it, env).path) == own);
            let is_other = owner.is_known()
                && !user.is_empty()
                && !["USER", "UID"].iter().any(|it| env.text(it) == Some(user));
            if name != "chgrp" && is_home && is_other {
                self.find(
                    "permissions_of_tree",
                    Category::Permission,
                    false,
                    "Gives a whole home to another user.",
                );
            }
            if name != "chgrp"
                && (user == "root"
                    || (!user.is_empty()
                        && user.trim_start_matches('+').bytes().all(|it| it == b'0')))
            {
                self.find(
                    "owner_root",
                    Category::Permission,
                    false,
                    "Gives a tree to the administrator: its users lose it.",
                );
            } else if name == "chgrp" && matches!(text.as_str(), "root" | "0")
                || (user.is_empty() && matches!(text.as_str(), ":root" | ":0"))
            {
                self.find(
                    "owner_root",
                    Category::Permission,
                    false,
                    "Gives a tree to the administrator's group.",
                );
            }
        }
        self.owned_root(
            operands,
            env,
            "Changes the owner of everything in a folder of the system.",
        );
    }

    /// A file of the system, or a folder with much in it, that somebody else gets.
    fn owner_of_file(&mut self, name: &str, options: &Options, env: &Env) {
        let Some((owner, targets)) = options.operands.split_first() else { return };
        let text = owner.text();
        let user = text.split([':', '.']).next().unwrap_or_default();
        // Groups of the system are many, and a group can't give the file on.
        if name == "chgrp" || matches!(user, "" | "root" | "0" | "+0") {
            return;
        }
        let own = env.home().map(str::to_owned);
        let is_system = |it: &Arg| {
            let path = resolve(it, env);
            path.guarded(&self.homes) == Some(Guarded::System)
                || path.loss(env, &self.homes) == Loss::All
                    && own.as_deref() != Some(path.path.as_str())
                    && path.below_home(&self.homes.home).is_none()
        };
        if targets.iter().any(is_system) {
            let why = "Gives a file of the system to a user.";
            self.find("permissions_of_system", Category::Permission, false, why);
        }
    }

    fn owned_root(&mut self, targets: &[Arg], env: &Env, why: &str) {
        let own = env.home().map(str::to_owned);
        let is_system = |it: &Arg| {
            let path = resolve(it, env);
            path.loss(env, &self.homes) == Loss::All && own.as_deref() != Some(path.path.as_str())
        };
        if targets.iter().any(is_system) {
            self.find("permissions_of_system", Category::Permission, false, why);
        }
    }
}

/// Whether a mode leaves the owner nothing to read, or everybody nothing to run or enter.
fn takes_use(mode: &str) -> bool {
    let digits = mode.trim_start_matches('=');
    if !digits.is_empty() && digits.bytes().all(|it| matches!(it, b'0'..=b'7')) {
        return u32::from_str_radix(digits, 8).is_ok_and(|it| it & 0o400 == 0);
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '-', '=']) else { return false };
        let (who, rights) = clause.split_at(at);
        let is_owner = who.is_empty() || who.contains(['u', 'a']);
        is_owner && (rights == "=" || rights.starts_with('-') && rights.contains(['r', 'x', 'X']))
    })
}

/// `+w-x` as pairs.
fn operations(text: &str) -> Vec<(char, &str)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(operator) = rest.chars().next() {
        let after = rest.get(1..).unwrap_or_default();
        let end = after.find(['+', '-', '=']).unwrap_or(after.len());
        out.push((operator, after.get(..end).unwrap_or_default()));
        rest = after.get(end..).unwrap_or_default();
    }
    out
}
