//! Ending processes.

use crate::Category;
use crate::judge::{Judge, Via};
use crate::options::{Options, Spec};
use crate::value::{Arg, Taint};
use crate::wrap::Io;

/// Names that mean the agent.
pub(crate) fn names_agent(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    // `[h]ermes`, the way not to find oneself.
    let text = text.replace(['[', ']', '\\'], "");
    text.contains("hermes") || text == "gateway"
}

/// Whether a pattern finds every process.
fn finds_all(pattern: &str) -> bool {
    matches!(
        pattern,
        "" | "."
            | ".*"
            | ".+"
            | "^"
            | "$"
            | "^.*$"
            | "^.*"
            | ".*$"
            | "^.+$"
            | "^."
            | ".$"
            | "^.$"
            | "(.*)"
            | ".?"
            | "[^ ]"
            | "[a-z]"
            | "[a-z]*"
            | "[a-z]+"
            | "^.+"
            | ".+$"
            | "\\w"
            | "\\w+"
            | "[[:alpha:]]"
            | "^$|.*"
            | "()"
            | ".{1,}"
            | ".{0,}"
            | ".*.*"
            | "[^x]*"
    )
}

fn is_kill_signal(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    matches!(text.strip_prefix("SIG").unwrap_or(&text), "9" | "KILL" | "09")
}

/// A signal as `-9`, `-KILL`, `-SIGKILL`, and the like.
fn signal(text: &str) -> Option<&str> {
    let name = text.strip_prefix('-')?;
    let bare = name.strip_prefix("SIG").unwrap_or(name);
    let is_number = !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
    let upper = bare.to_ascii_uppercase();
    let known = [
        "KILL", "TERM", "HUP", "INT", "QUIT", "STOP", "CONT", "USR1", "USR2", "ABRT", "ALRM",
        "CHLD", "SEGV", "PIPE", "TSTP", "WINCH", "TTIN", "TTOU", "BUS", "FPE", "ILL", "TRAP", "IO",
        "PWR", "SYS", "URG", "XCPU", "XFSZ", "PROF", "VTALRM",
    ];
    (is_number || known.contains(&upper.as_str())).then_some(name)
}

impl Judge {
    pub(super) fn kill(&mut self, name: &str, args: &[Arg], io: &Io) {
        match name {
            "kill" => self.kill_pids(args, io),
            "killall5" => {
                let is_probe = args
                    .iter()
                    .any(|it| matches!(it.marked.as_str(), "-0" | "-18" | "-CONT" | "-SIGCONT"));
                if !is_probe {
                    self.every_process();
                }
            }
            "fuser" => {
                let options = Options::parse(args, Spec::new("nM", &["namespace"]));
                if options.has("k") || options.long("kill", 1) {
                    let on_root = options.texts().contains(&"/")
                        || options.has("mc")
                            && options
                                .texts()
                                .iter()
                                .any(|it| matches!(*it, "/" | "/home" | "/usr"));
                    if on_root {
                        return self.every_process();
                    }
                    if options.has("m") {
                        self.find(
                            "kill_users",
                            Category::Kill,
                            false,
                            "Kills every process that uses a file system.",
                        );
                    }
                }
            }
            "xkill" => {}
            _ => self.kill_names(name, args),
        }
    }

    fn every_process(&mut self) {
        self.find(
            "kill_all",
            Category::Kill,
            true,
            "Ends every process that it may, and the session with them.",
        );
    }

    fn kill_pids(&mut self, args: &[Arg], io: &Io) {
        let mut at = 0;
        let mut has_signal = false;
        let mut harmless = false;
        while let Some(arg) = args.get(at) {
            let text = arg.marked.as_str();
            match text {
                "-l" | "-L" | "--list" | "--table" | "-V" => return,
                "-s" | "-n" | "--signal" => {
                    let value = args.get(at + 1).map(|it| it.marked.clone()).unwrap_or_default();
                    harmless |= matches!(value.as_str(), "0" | "CONT" | "SIGCONT" | "18");
                    has_signal = true;
                    at += 2;
                    continue;
                }
                "-q" | "--queue" | "--timeout" => {
                    at += 2;
                    continue;
                }
                "-a" | "-p" | "--all" | "--pid" | "--verbose" => {
                    at += 1;
                    continue;
                }
                "--" => {
                    at += 1;
                    break;
                }
                _ => {}
            }
            if let Some(value) = text
                .strip_prefix("--signal=")
                .or_else(|| text.strip_prefix("-s").filter(|_| text.len() > 2))
                .or_else(|| text.strip_prefix("-n").filter(|_| text.len() > 2))
            {
                harmless |= value == "0";
                has_signal = true;
                at += 1;
                continue;
            }
            if !has_signal && let Some(value) = signal(text) {
                // `kill -1` alone is a signal without a process.
                harmless |= matches!(value, "0" | "CONT" | "SIGCONT" | "18");
                has_signal = true;
                at += 1;
                continue;
            }
            break;
        }
        let targets = args.get(at..).unwrap_or_default();
        if harmless {
            return;
        }
        for target in targets {
            let text = target.text();
            if text == "--" {
                continue;
            }
            if is_every(&text) {
                return self.every_process();
            }
            if text.trim_start_matches('0') == "1" && !text.is_empty() {
                self.find(
                    "kill_init",
                    Category::Kill,
                    false,
                    "Sends a signal to the first process, which all others hang on.",
                );
            }
            if target.taint.has(Taint::AGENT) {
                self.kill_agent();
            } else if target.taint.has(Taint::PROCESSES) {
                let why = "Ends processes that are found by a pattern only when it runs; the agent may be one of them.";
                self.find("kill_by_lookup", Category::SelfHarm, false, why);
            }
        }
        if targets.is_empty() && self.via != Via::Shell && io.stdin.taint.has(Taint::AGENT) {
            self.kill_agent();
        }
    }

    pub(super) fn kill_agent(&mut self) {
        self.find("kill_agent", Category::SelfHarm, false, "Ends the agent's own process.");
    }

    /// `pkill`, `killall` and their like.
    fn kill_names(&mut self, name: &str, args: &[Arg]) {
        let mut strong = false;
        let mut harmless = false;
        let mut rest = Vec::new();
        for arg in args {
            match signal(&arg.marked) {
                Some(value) if name == "skill" || !arg.starts_with("--") => {
                    strong |= is_kill_signal(value);
                    harmless |= value == "0";
                }
                _ => rest.push(arg.clone()),
            }
        }
        let spec = match name {
            "pkill" => Spec::new(
                "dFgGPstuUAr",
                &[
                    "signal",
                    "delimiter",
                    "pidfile",
                    "pgroup",
                    "group",
                    "parent",
                    "session",
                    "terminal",
                    "euid",
                    "uid",
                    "ns",
                    "nslist",
                    "older",
                    "runstates",
                    "cgroup",
                    "env",
                    "queue",
                ],
            ),
            _ => Spec::new(
                "sounyZ",
                &["signal", "user", "older-than", "younger-than", "context", "ns"],
            ),
        };
        // `-s` of pkill is a session, of killall a signal.
        let options = Options::parse(&rest, spec);
        let lists = options.has("l") || options.long("list", 4);
        if lists && name == "killall" || options.has("V") {
            return;
        }
        let letters = if name == "pkill" { "" } else { "s" };
        if let Some(value) = options.value(letters, "signal") {
            strong |= is_kill_signal(&value.marked);
            harmless |= value.is("0");
        }
        if name == "pkill" && options.value("s", "").is_some_and(|it| is_kill_signal(&it.marked)) {
            strong = true;
        }
        if harmless {
            return;
        }
        let is_pattern = name == "pkill" || options.has("r") || options.long("regexp", 3);
        let by_user = match name {
            "pkill" => {
                !options.values("uU", "euid").is_empty() || !options.values("", "uid").is_empty()
            }
            _ => options.value("u", "user").is_some(),
        };
        let has_selector = by_user
            || options.flags.iter().any(|it| match it.name.as_str() {
                "P" | "g" | "G" | "t" | "F" | "parent" | "pgroup" | "group" | "terminal"
                | "pidfile" | "ns" | "cgroup" => true,
                "v" | "inverse" => name == "pkill",
                _ => false,
            });
        let texts: Vec<String> = options.operands.iter().map(Arg::text).collect();
        let inverts = name == "pkill" && (options.has("v") || options.long("inverse", 3));
        if is_pattern && !has_selector && !texts.is_empty() && texts.iter().any(|it| finds_all(it))
        {
            return self.every_process();
        }
        if inverts && !texts.is_empty() {
            return self.every_process();
        }
        if texts.iter().any(|it| names_agent(it))
            || options.operands.iter().any(|it| it.taint.has(Taint::AGENT))
            || name == "pkill"
                && ["parent", "pgroup", "session"].iter().zip(["P", "g", "s"]).any(
                    |(long, short)| {
                        options.value(short, long).is_some_and(|it| it.taint.has(Taint::AGENT))
                    },
                )
        {
            self.kill_agent();
        }
        if by_user {
            self.find("kill_user", Category::Kill, false, "Ends every process of a user.");
        } else if strong {
            self.find(
                "force_kill",
                Category::Kill,
                false,
                "Kills every process of a name, without letting it finish.",
            );
        } else if name == "killall" && is_pattern {
            self.find(
                "kill_by_pattern",
                Category::Kill,
                false,
                "Ends every process whose name fits a pattern.",
            );
        }
    }
}

/// `-1` in any spelling.
fn is_every(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|it| !it.is_empty() && it.trim_start_matches('0') == "1")
}
