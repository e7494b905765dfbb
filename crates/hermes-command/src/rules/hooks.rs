//! Options of programs that make them run another program.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, plain};
use crate::wrap::Io;

impl Judge {
    /// Texts that options make a program run.
    pub(crate) fn hooks(&mut self, name: &str, args: &[Arg], env: &mut Env) {
        match name {
            "scp" | "sftp" => {
                let options = Options::parse(args, Spec::new("cDFiJloPSXbBRs", &[]));
                for option in options.values("o", "") {
                    self.ssh_setting(option, env);
                }
                if let Some(program) = options.value("S", "").map(Arg::text) {
                    self.script(&program, env);
                }
            }
            "gdb" => {
                for text in args.iter().filter(|it| it.marked.contains("system")) {
                    let text = text.text();
                    let Some((_, rest)) = text.split_once("system") else { continue };
                    let Some((_, rest)) = rest.split_once('"') else { continue };
                    let script = rest.split('"').next().unwrap_or_default().to_owned();
                    self.script(&script, env);
                }
            }
            "strace" | "ltrace" => {
                let spec = Spec::stopping("abeEIoOpPsSuUX", &["output"]);
                let output = Options::parse(args, spec).value("o", "output").map(Arg::text);
                let output = output.unwrap_or_default();
                if let Some(text) = output.strip_prefix(['|', '!']) {
                    self.script(text, env);
                }
            }
            "tcpdump" => {
                let options = Options::parse(args, Spec::new("BcCEFGijmMrsTVwWyz", &[]));
                if let Some(text) = options.value("z", "").map(Arg::text) {
                    self.script(&text, env);
                }
            }
            "man" => {
                let texts = args.iter().filter_map(|it| {
                    it.marked.strip_prefix("-H").or_else(|| it.marked.strip_prefix("--html="))
                });
                for text in texts.map(plain).collect::<Vec<_>>() {
                    self.script(&text, env);
                }
            }
            "apt" | "apt-get" | "aptitude" | "apt-cache" => {
                let options = Options::parse(args, Spec::new("otc", &["option"]));
                for text in options.values("o", "option") {
                    let text = text.text();
                    let Some((key, value)) = text.split_once('=') else { continue };
                    let key = key.to_ascii_lowercase();
                    if key.contains("invoke") || key.contains("install-pkgs") {
                        let value = value.trim_matches(['{', '}', '"', '\'', ';', ' ']).to_owned();
                        self.script(&value, env);
                    }
                }
            }
            _ => {}
        }
    }

    /// `-o` of ssh and its like.
    pub(crate) fn ssh_setting(&mut self, option: &Arg, env: &Env) {
        let lower = option.marked.to_ascii_lowercase();
        for key in ["proxycommand", "localcommand", "knownhostscommand"] {
            if let Some(rest) = lower.strip_prefix(key) {
                let text = option.text();
                let from = text.len().saturating_sub(plain(rest).len());
                let text = text.get(from..).unwrap_or_default();
                self.script(text.trim_start_matches(['=', ' ']), env);
            }
        }
    }

    /// Variables that give settings to git, and options to interpreters.
    pub(crate) fn hook_variables(&mut self, env: &Env, io: &Io) {
        for (name, key) in &io.set {
            let known = |wanted: &str| {
                let own = io.set.iter().find(|(name, _)| name == wanted);
                own.map(|(_, value)| value.text()).or_else(|| env.text(wanted).map(plain))
            };
            if let Some(number) = name.strip_prefix("GIT_CONFIG_KEY_")
                && let Some(value) = known(&format!("GIT_CONFIG_VALUE_{number}"))
            {
                self.git_setting(&key.text(), &value, env);
            }
            if name == "GIT_CONFIG_PARAMETERS" {
                let text = key.text();
                for setting in text.split("' '") {
                    if let Some((key, value)) = setting.trim_matches('\'').split_once('=') {
                        self.git_setting(key, value.trim_matches('\''), env);
                    }
                }
            }
            let value = key.marked.as_str();
            let is_preload = match name.as_str() {
                "NODE_OPTIONS" => {
                    let words: Vec<&str> = value.split([' ', '=']).collect();
                    words.windows(2).any(|it| {
                        matches!(it, [option, file]
                            if matches!(*option, "-r" | "--require" | "--import" | "--loader"
                                | "--experimental-loader")
                                && (file.starts_with('/') || file.starts_with("data:")))
                    })
                }
                "PERL5DB" => !value.is_empty(),
                _ => false,
            };
            if is_preload {
                self.find(
                    "preloaded_code",
                    Category::Other,
                    false,
                    format!("`{name}` makes the program run other code first."),
                );
            }
        }
    }
}
