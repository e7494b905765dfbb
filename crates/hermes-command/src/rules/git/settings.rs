//! Settings, options and addresses whose value git runs as a program.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow};

impl Judge {
    /// Settings whose value git runs.
    pub(crate) fn git_setting(&mut self, key: &str, value: &str, env: &Env) {
        let key = key.to_ascii_lowercase();
        if key == "core.hookspath" {
            return self.hooks_folder(value, env);
        }
        let runs = executes(&key);
        let text =
            if key.starts_with("alias.") { value.strip_prefix('!') } else { runs.then_some(value) };
        if let Some(text) = text {
            let mut inner = env.clone();
            let text = text.trim_start_matches('!').to_owned();
            self.payload(&text, &mut inner, Flow::unknown());
        }
    }

    /// Hooks from a folder that isn't part of the project.
    fn hooks_folder(&mut self, folder: &str, env: &Env) {
        let path = crate::path::resolve_text(folder, env);
        let is_own = env.cwd.as_ref().is_some_and(|it| path.is_within(it));
        if folder.starts_with(['/', '~']) && !is_own && path.path != "/dev/null" {
            self.find(
                "git_hooks",
                Category::Other,
                false,
                "Makes git run the programs of a folder outside the project.",
            );
        }
    }

    /// Programs that options and addresses make git run.
    pub(super) fn git_runs(&mut self, verb: &str, args: &[Arg], env: &Env) {
        let (short, long): (&str, &[&str]) = match verb {
            "difftool" => ("x", &["extcmd"]),
            "grep" => ("O", &["open-files-in-pager"]),
            "archive" => ("", &["exec"]),
            "push" => ("", &["exec", "receive-pack"]),
            "send-email" => ("", &["sendmail-cmd", "to-cmd", "cc-cmd", "header-cmd"]),
            _ => ("", &[]),
        };
        // `-O` has its value in the same word.
        if matches!(verb, "checkout" | "restore") {
            for file in args.iter().filter(|it| it.starts_with("/") || it.starts_with("~")) {
                self.unpacked(file, env);
            }
        }
        if verb == "apply"
            && let Some(folder) =
                Options::parse(args, Spec::new("pC", &["directory"])).value("", "directory")
        {
            self.unpacked(folder, env);
        }
        let spec = Spec::new(if verb == "grep" { "Oef" } else { short }, long);
        let options = Options::parse(args, spec);
        let texts: Vec<String> =
            long.iter()
                .flat_map(|name| options.values(short, name))
                .map(Arg::text)
                .chain(args.iter().filter_map(|it| {
                    it.marked.strip_prefix("ext::").map(|it| it.replace("% ", " "))
                }))
                .collect();
        for text in texts {
            self.script(&text, env);
        }
    }

    pub(super) fn git_config(&mut self, args: &[Arg], env: &Env) {
        let options = Options::parse(
            args,
            Spec::new("ft", &["file", "blob", "type", "default", "comment", "value"]),
        );
        let reads = options.flags.iter().any(|it| {
            it.name.starts_with("get")
                || it.name.starts_with("unset")
                || matches!(it.name.as_str(), "l" | "list" | "e" | "edit")
        });
        let mut operands = options.operands.as_slice();
        if operands.first().is_some_and(|it| it.is("set")) {
            operands = operands.get(1..).unwrap_or_default();
        } else if operands
            .first()
            .is_some_and(|it| matches!(it.marked.as_str(), "get" | "list" | "unset" | "edit"))
        {
            return;
        }
        let ([key, value] | [key, value, ..]) = operands else { return };
        if reads {
            return;
        }
        let key_text = key.marked.to_ascii_lowercase();
        let value_text = value.text();
        let is_shared = options.long("global", 1) || options.long("system", 1);
        let runs = executes(&key_text) && !is_plain_program(&value_text)
            || (key_text.starts_with("alias.") && value_text.starts_with('!'));
        if runs && is_shared {
            let why = "Makes git run a program for every repository.";
            self.find("git_config_runs", Category::SystemConfigOverwrite, false, why);
        }
        if options.long("system", 1) {
            self.find(
                "system_file_written",
                Category::SystemConfigOverwrite,
                false,
                "Changes git's settings for the whole machine.",
            );
        }
        if runs {
            self.git_setting(&key.marked.clone(), &value_text, env);
            // Hooks of the project itself are as good as the project.
            if !is_shared && key_text != "core.hookspath" {
                let why = "Makes git run a program from now on.";
                self.find("git_config_runs", Category::SystemConfigOverwrite, false, why);
            }
        }
    }
}

/// Settings whose value is run as a program.
fn executes(key: &str) -> bool {
    matches!(
        key,
        "core.sshcommand"
            | "core.pager"
            | "core.editor"
            | "core.fsmonitor"
            | "core.hookspath"
            | "core.askpass"
            | "core.gitproxy"
            | "diff.external"
            | "sequence.editor"
            | "gpg.program"
            | "credential.helper"
            | "uploadpack.packobjectshook"
            | "init.templatedir"
            | "interactive.difffilter"
            | "ssh.variant"
    ) || key.starts_with("filter.")
        || (key.starts_with("diff.") && (key.ends_with(".command") || key.ends_with(".textconv")))
        || (key.starts_with("pager.") || key.starts_with("merge.") && key.ends_with(".driver"))
        || (key.starts_with("credential.") && key.ends_with(".helper"))
        || (key.ends_with("tool") || key.ends_with(".cmd")) && key.contains("tool.")
}

/// Editors, pagers and helpers that everyone sets. One may write to another.
fn is_plain_program(value: &str) -> bool {
    if value.contains("gh auth git-credential") && !value.contains([';', '&', '|', '`', '$', '\n'])
    {
        return true;
    }
    !value.contains([';', '&', '`', '$', '<', '>', '(', '\n'])
        && value.split('|').all(is_known_program)
}

fn is_known_program(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let known = [
        "vim",
        "vi",
        "nvim",
        "nano",
        "emacs",
        "code",
        "subl",
        "less",
        "delta",
        "cat",
        "diff-so-fancy",
        "more",
        "bat",
        "store",
        "cache",
        "osxkeychain",
        "manager",
        "manager-core",
        "libsecret",
        "hx",
        "micro",
        "most",
        "git-lfs",
        "gpg",
        "gpg2",
        "true",
        "false",
        "wincred",
        "kate",
        "gedit",
        "zed",
        "idea",
        "notepad",
        "atom",
        "kak",
        "ed",
        "helix",
        "difft",
        "meld",
        "",
    ];
    // ssh with a key of one's own.
    let is_ssh = first == "ssh" && !command.to_ascii_lowercase().contains("command");
    known.contains(&first) || is_ssh || first.ends_with("/git-credential-manager")
}
