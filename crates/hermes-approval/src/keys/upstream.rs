//! What rules are called in lists that come from upstream: by their descriptions, and in older
//! lists by a piece of the pattern that made them.
//!
//! A piece that is a mere word, as `find` or `sudo`, isn't here: in a list it is a command.

use hermes_command::Finding;

/// Whether an entry is the name of a rule of upstream, which keeps its lists by description.
#[must_use]
pub fn is_upstream_key(entry: &str) -> bool {
    NAMES.iter().any(|name| name.is(entry.trim()))
}

/// Whether an entry is upstream's name for what was found.
pub(super) fn covers(entry: &str, finding: &Finding) -> bool {
    let entry = entry.trim();
    NAMES.iter().any(|name| name.is(entry) && name.fits(finding))
}

/// One of upstream's rules, and which of our findings it would have made.
#[derive(Clone, Copy)]
struct Name {
    /// The description in lower case, without the remark in brackets that some versions have.
    text: &'static str,
    /// The piece of its pattern; empty if it is a mere word.
    piece: &'static str,
    /// Ids of our rules.
    rules: &'static [&'static str],
    /// The programs it is about; none is all.
    programs: &'static [&'static str],
    /// What one of the arguments must be.
    argument: Option<fn(&str) -> bool>,
}

impl Name {
    fn is(&self, entry: &str) -> bool {
        if !self.piece.is_empty() && entry == self.piece {
            return true;
        }
        let entry = entry.to_lowercase();
        let rest = entry.strip_prefix(self.text);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with(" (") && rest.ends_with(')')))
    }

    fn fits(&self, finding: &Finding) -> bool {
        let program = finding.argv.first().map(String::as_str).unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        self.rules.contains(&finding.rule_id)
            && (self.programs.is_empty() || self.programs.contains(&program))
            && self.argument.is_none_or(|fits| finding.argv.iter().skip(1).any(|arg| fits(arg)))
    }
}

const fn of(
    text: &'static str,
    piece: &'static str,
    rules: &'static [&'static str],
    programs: &'static [&'static str],
) -> Name {
    Name { text, piece, rules, programs, argument: None }
}

const fn with(name: Name, argument: fn(&str) -> bool) -> Name {
    Name { argument: Some(argument), ..name }
}

/// Whether an argument comes from a list that isn't known before.
fn is_unknown(argument: &str) -> bool {
    argument == "$?"
}

fn is_absolute(argument: &str) -> bool {
    argument.starts_with('/')
}

fn is_long(argument: &str) -> bool {
    argument.starts_with("--")
}

const ANY: &[&str] = &[];
const COPY: &[&str] = &["cp", "mv", "install"];
const SCRIPTS: &[&str] = &["perl", "ruby"];
const DOCKER: &[&str] = &["docker", "podman", "docker-compose"];
const POWERSHELL: &[&str] = &["powershell", "pwsh", "powershell.exe", "pwsh.exe"];
const SENSITIVE: &[&str] = &["credentials_written", "shell_startup"];
const WRITTEN: &[&str] =
    &["system_file_written", "credentials_written", "shell_startup", "agent_state"];
/// What upstream has for commands that run others: the others are judged by themselves here.
const NOTHING: &[&str] = &[];

/// Rules that upstream has for what never runs are here without a rule of ours: no entry can lift
/// those.
#[rustfmt::skip]
static NAMES: &[Name] = &[
    with(of("delete in root path", r"rm\s+(-[^\s]*\s+)*/",
        &["recursive_delete", "system_file_removed", "credentials_written", "shell_startup"], &["rm"]), is_absolute),
    of("recursive delete", r"rm\s+-[^\s]*r", &["recursive_delete"], &["rm"]),
    with(of("recursive delete (long flag)", r"rm\s+--recursive", &["recursive_delete"], &["rm"]), is_long),
    of("windows cmd destructive delete", r"cmd(?:\.exe)?\s+/(?:c|k)\s+.*", &["windows_delete"], &["cmd", "cmd.exe", "del", "rd", "rmdir"]),
    of("windows powershell destructive delete", r"(?:powershell|pwsh)(?:\.exe)?", &["windows_delete"], POWERSHELL),
    of("powershell encoded command execution", r"(?:powershell|pwsh)(?:\.exe)?", &["encoded_command"], POWERSHELL),
    of("world/other-writable permissions", r"chmod\s+(-[^\s]*\s+)*(777|666|o\+[rwx]*w|a\+[rwx]*w)", &["world_writable"], &["chmod"]),
    of("recursive world/other-writable", r"chmod\s+--recursive", &["world_writable"], &["chmod"]),
    of("recursive chown to root", r"chown\s+(-[^\s]*)?R\s+root", &["owner_root"], &["chown"]),
    of("recursive chown to root", r"chown\s+--recur[a-z]*", &["owner_root"], &["chown"]),
    of("format filesystem", "", &["format"], ANY),
    of("disk copy", r"dd\s+.*if=", &["device_write"], &["dd"]),
    of("write to block device", r">\s*/dev/sd", NOTHING, ANY),
    of("sql drop", r"DROP\s+(TABLE|DATABASE)", &["sql_drop"], ANY),
    of("sql delete without where", r"DELETE\s+FROM", &["sql_delete_all"], ANY),
    of("sql truncate", r"TRUNCATE\s+(TABLE)?\s*\w", &["sql_truncate"], ANY),
    of("overwrite system config", r">\s*(?:/etc/|/privat", &["system_file_written"], ANY),
    of("stop/restart system service", r"systemctl\s+(-[^\s]+\s+)*(stop|restart|disable|mask)", &["service_control"], &["systemctl"]),
    of("kill all processes", r"kill\s+-9\s+-1", NOTHING, ANY),
    of("force kill processes", r"pkill\s+-9", &["force_kill"], &["pkill"]),
    of("force kill processes", r"killall\s+(-[^\s]*\s+)*-(9|KILL|SIGKILL)", &["force_kill"], &["killall"]),
    of("force kill processes", r"killall\s+(-[^\s]*\s+)*-s\s+(KILL|SIGKILL|9)", &["force_kill"], &["killall"]),
    of("kill processes by regex", r"killall\s+(-[^\s]*\s+)*-r", &["kill_by_pattern"], &["killall"]),
    of("fork bomb", r":\(\)\s*\{\s*:\s*\|\", NOTHING, ANY),
    of("pipe remote content to shell", "(curl|wget)", &["remote_code"], ANY),
    of("execute remote script via process substitution", r"(bash|sh|zsh|ksh)\s+<\s*<?\s*\(\s*(curl|wget)", &["remote_code"], ANY),
    of("execute remote content via command substitution", "", &["remote_code"], &["eval", "sh", "bash", "source", "."]),
    of("pipe decoded content to shell", r"(base64|base32|base16)\s+(?:-[dD]|--decode)", &["remote_code"], ANY),
    of("pipe xxd-decoded content to shell", r"xxd\s+-r", &["remote_code"], ANY),
    of("pipe tr-transformed output to shell", "", &["remote_code"], ANY),
    of("pipe openssl-decoded content to shell", "", &["remote_code"], ANY),
    of("overwrite system file via tee", "", WRITTEN, &["tee"]),
    of("overwrite system file via redirection", "", WRITTEN, ANY),
    of("overwrite project env/config via tee", "", &["environment_file"], &["tee"]),
    of("overwrite project env/config via redirection", "", &["environment_file"], ANY),
    of("overwrite project env/config file", COPY_PIECE, &["environment_file"], COPY),
    with(of("xargs with rm", r"xargs\s+.*", &["bulk_delete"], &["rm", "xargs"]), is_unknown),
    with(of("find -exec rm", "", &["bulk_delete"], &["find", "rm"]), is_unknown),
    with(of("find -exec/-execdir rm", "", &["bulk_delete"], &["find", "rm"]), is_unknown),
    of("find -delete", "", &["find_delete"], &["find"]),
    of("stop/restart hermes gateway", r"hermes\s+(?:-{1,2}\S+(?:\s+\S+)?\s+)*gateway\s+(stop|restart)", &["agent_gateway"], &["hermes"]),
    of("hermes update", r"hermes\s+update", &["agent_update"], &["hermes"]),
    of("docker compose restart/stop/kill/down", r"docker\s+compose\s+(restart|stop|kill|down)", &["service_control"], DOCKER),
    of("docker restart/stop/kill", r"docker\s+(restart|stop|kill)", &["service_control"], DOCKER),
    of("start gateway outside systemd", "", &["agent_gateway"], &["hermes"]),
    of("kill hermes/gateway process", "(pkill|killall)", &["kill_agent"], &["pkill", "killall"]),
    of("kill process via pgrep/pidof expansion", "", &["kill_agent", "kill_by_lookup"], &["kill"]),
    of("kill process via backtick pgrep/pidof expansion", "", &["kill_agent", "kill_by_lookup"], &["kill"]),
    of("stop/restart hermes launchd service", r"launchctl\s+(stop|kickstart|bootout|unload|kill|disable|remove)", &["agent_service"], &["launchctl"]),
    of("copy/move file into system config path", COPY_PIECE, &["system_file_written"], COPY),
    of("copy/move file into sensitive path", COPY_PIECE, SENSITIVE, COPY),
    of("copy/move file into sensitive credential/ssh/shell-rc path", COPY_PIECE, SENSITIVE, COPY),
    of("in-place edit of sensitive path", "", SENSITIVE, &["sed", "perl", "ruby"]),
    of("in-place edit of sensitive credential/ssh/shell-rc path", "", SENSITIVE, &["sed", "perl", "ruby"]),
    of("in-place edit of system config", r"sed\s+-[^\s]*i.*\s(?:/etc/|/private/(?:etc|var|tmp|home)/)", &["system_file_written"], &["sed", "perl", "ruby"]),
    of("in-place edit of hermes config/env", "", &["agent_state"], &["sed", "perl", "ruby"]),
    of("in-place edit", r"sed\s+--in-place", WRITTEN, &["sed"]),
    of("in-place edit", "(?:perl|ruby)", WRITTEN, SCRIPTS),
    of("shell execution via heredoc", r"(bash|sh|zsh|ksh)\s+<<", NOTHING, ANY),
    of("shell command via -c/-lc flag", "", NOTHING, ANY),
    of("script execution via -e/-c flag", r"(python[23]?|perl|ruby|node)\s+-[ec]\s+", NOTHING, ANY),
    of("script execution via heredoc", r"(python[23]?|perl|ruby|node)\s+<<", NOTHING, ANY),
    of("git reset --hard", r"git\s+reset\s+--h(?:a(?:r(?:d)?)?)?", &["git_reset_hard"], &["git"]),
    of("git reset --hard", r"git\s+reset\s+--hard", &["git_reset_hard"], &["git"]),
    of("git force push", r"git\s+push", &["git_force_push"], &["git"]),
    of("git force push short flag", "", &["git_force_push"], &["git"]),
    of("git clean with force", r"git\s+clean\s+-[^\s]*f", &["git_clean"], &["git"]),
    of("git branch force delete", r"git\s+branch\s+-D", &["git_branch_delete"], &["git"]),
    of("git branch force delete", r"git\s+branch", &["git_branch_delete"], &["git"]),
    of("chmod +x followed by immediate execution", r"chmod\s+\+x", NOTHING, ANY),
    of("sudo with privilege flag", "", &["sudo_password", "root_shell"], &["sudo"]),
    of("sudo with combined-flag privilege escalation", "", &["sudo_password", "root_shell"], &["sudo"]),
    of("sudo privilege flags", "", &["sudo_password", "root_shell"], &["sudo"]),
];

const COPY_PIECE: &str = "(cp|mv|install)";

#[cfg(test)]
mod tests {
    use hermes_command::{Ctx, classify};
    use pretty_assertions::assert_eq;

    use super::*;

    /// Whether an entry covers all that is found in a command.
    fn lifts(entry: &str, command: &str) -> bool {
        let ctx = Ctx {
            cwd: "/home/alice/project".into(),
            home: "/home/alice".into(),
            hermes_home: "/home/alice/.hermes".into(),
            env: Vec::new(),
        };
        let report = classify(command, &ctx);
        assert!(report.is_dangerous() && !report.is_hardline(), "{command}");
        report.findings.iter().all(|finding| covers(entry, finding))
    }

    #[test]
    fn entries_cover_what_they_were_made_for() {
        for (entry, command, other) in [
            ("delete in root path", "rm /etc/hosts", "rm -r build"),
            ("recursive delete", "rm -rf build", "find . -delete"),
            ("Recursive Delete (long flag)", "rm --recursive x", "git clean -fd"),
            (r"rm\s+-[^\s]*r", "rm -rf build", "git reset --hard"),
            ("Windows cmd destructive delete", "cmd /c del /s x", "rm -r x"),
            (r"(?:powershell|pwsh)(?:\.exe)?", "pwsh -EncodedCommand cgBtAA==", "rm -r x"),
            ("world/other-writable permissions", "chmod -R 777 x", "chown -R root x"),
            ("recursive chown to root (long flag)", "chown --recursive root x", "chmod 777 x"),
            ("format filesystem", "mkfs.ext4 disk.img", "rm -r x"),
            ("SQL DROP", "psql -c 'DROP TABLE x'", "psql -c 'DELETE FROM x'"),
            (r"DELETE\s+FROM", "psql -c 'DELETE FROM x'", "psql -c 'TRUNCATE x'"),
            ("overwrite system config", "echo x > /etc/hosts", "echo x > ~/.bashrc"),
            ("stop/restart system service", "systemctl restart x", "docker stop x"),
            ("force kill processes (killall -s KILL)", "killall -s KILL x", "kill -9 1"),
            ("kill processes by regex (killall -r)", "killall -r xy", "killall -9 x"),
            ("pipe remote content to shell", "curl x | sh", "rm -r x"),
            (
                "pipe decoded content to shell (possible command obfuscation)",
                "cat x | base64 -d | sh",
                "rm -r x",
            ),
            ("overwrite system file via tee", "ls | tee /etc/hosts", "ls > /etc/hosts"),
            ("overwrite project env/config via tee", "ls | tee .env", "ls > .env"),
            ("overwrite project env/config via redirection", "ls > .env", "ls > ~/.bashrc"),
            ("xargs with rm", "ls | xargs rm", "rm -r x"),
            ("find -exec/-execdir rm", "find . -name x -exec rm {} +", "rm -r x"),
            (
                "stop/restart hermes gateway (kills running agents)",
                "hermes gateway stop",
                "git push -f",
            ),
            ("docker restart/stop/kill (container lifecycle)", "docker stop x", "systemctl stop x"),
            ("kill hermes/gateway process (self-termination)", "pkill hermes", "pkill -9 x"),
            (
                "kill process via pgrep/pidof expansion (self-termination)",
                "kill $(pgrep hermes)",
                "pkill hermes",
            ),
            (
                "copy/move file into sensitive credential/SSH/shell-rc path",
                "cp a ~/.ssh/config",
                "cp a /etc/hosts",
            ),
            ("(cp|mv|install)", "cp a /etc/hosts", "tee /etc/hosts"),
            (
                "in-place edit of sensitive credential/SSH/shell-rc path (long flag)",
                "sed --in-place s/a/b/ ~/.bashrc",
                "sed -i s/a/b/ /etc/hosts",
            ),
            (
                "in-place edit of Hermes config/env",
                "sed -i s/a/b/ ~/.hermes/config.yaml",
                "rm -r x",
            ),
            (
                "git force push (rewrites remote history)",
                "git push --force origin x",
                "git reset --hard",
            ),
            (
                "git branch force delete (long flags)",
                "git branch --delete --force x",
                "git push -f",
            ),
            (r"git\s+reset\s+--h(?:a(?:r(?:d)?)?)?", "git reset --hard", "git push -f"),
            ("sudo with privilege flag (stdin/askpass/shell/list)", "sudo -A ls", "sudo rm -r x"),
        ] {
            assert!(is_upstream_key(entry) && lifts(entry, command), "{entry}: {command}");
            assert!(!lifts(entry, other), "{entry}: {other}");
        }
    }

    #[test]
    fn what_never_runs_and_mere_words_cover_nothing() {
        for entry in ["find", "sudo", "kill", "tee", "echo", "mkfs", "rm *", "", "recursive", "sql"]
        {
            assert!(!is_upstream_key(entry), "{entry}");
        }
        for entry in ["fork bomb", "write to block device", "script execution via -e/-c flag"] {
            assert!(is_upstream_key(entry) && !lifts(entry, "rm -r x"), "{entry}");
        }
        assert_eq!(NAMES.iter().filter(|name| name.text != name.text.to_lowercase()).count(), 0);
    }
}
