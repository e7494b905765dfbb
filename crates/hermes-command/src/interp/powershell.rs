//! Texts given to PowerShell.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::value::{Arg, Flow, Taint};
use crate::wrap::{Io, join};

impl Judge {
    pub(super) fn powershell(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            let lower = arg.marked.to_ascii_lowercase();
            let Some(option) = lower.strip_prefix(['-', '/']) else {
                if lower.ends_with(".ps1") {
                    return;
                }
                at -= 1;
                break;
            };
            if !option.is_empty() && (matches!(option, "e" | "ec") || "encodedcommand".starts_with(option) && option.starts_with("en")) {
                let text = args.get(at).map(Arg::text).unwrap_or_default();
                let bytes = crate::print::decode_bytes(&text, 6).unwrap_or_default();
                let units: Vec<u16> = bytes.chunks_exact(2).map(|it| it.iter().rev().fold(0, |sum, it| (sum << 8) | u16::from(*it))).collect();
                let decoded = String::from_utf16_lossy(&units);
                self.find("encoded_command", Category::RemoteCode, false, "Runs text that was encoded, so that it can't be read before.");
                return self.powershell_text(&decoded, env);
            }
            if "command".starts_with(option) && !option.is_empty() {
                break;
            }
            if "file".starts_with(option) {
                return;
            }
            if ["executionpolicy", "windowstyle", "version", "inputformat", "outputformat", "workingdirectory", "ex", "ep", "w"].iter().any(|it| it.starts_with(option)) {
                at += 1;
            }
        }
        let mut text = join(args.get(at..).unwrap_or_default());
        let mut taint = args.iter().fold(Taint::NONE, |sum, it| sum | it.taint);
        if text.is_empty() || text == "-" {
            text.clone_from(&io.stdin.text);
            taint |= io.stdin.taint;
        }
        if taint.has(Taint::FETCHED | Taint::DECODED) {
            self.remote_code(taint);
        }
        self.powershell_text(&text, env);
    }

    fn powershell_text(&mut self, text: &str, env: &mut Env) {
        let lower = text.to_ascii_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '.')).collect();
        let evaluates = words.iter().any(|it| matches!(*it, "iex" | "invoke-expression"));
        let fetches = ["iwr", "irm", "invoke-webrequest", "invoke-restmethod", "curl", "wget"].iter().any(|it| words.contains(it)) || lower.contains("downloadstring") || lower.contains("net.webclient");
        let decodes = lower.contains("frombase64string");
        if evaluates && (fetches || decodes) {
            self.remote_code(if fetches { Taint::FETCHED } else { Taint::DECODED });
        }
        let shown = self.argv.clone();
        for part in text.split([';', '|', '\n', '{', '}']) {
            let part = part.trim().trim_start_matches(['&', '(']).trim();
            let mut words: Vec<Arg> = part.split_whitespace().map(|it| Arg::new(it.trim_matches(['"', '\'', ',', ')', '(']))).collect();
            if words.is_empty() {
                continue;
            }
            let first = words.remove(0);
            let name = first.marked.to_ascii_lowercase();
            let values: Vec<Arg> = words
                .iter()
                .map(|it| {
                    let text = it.marked.as_str();
                    let home = env.home().unwrap_or("~").to_owned();
                    let text = text.replace("$HOME", &home).replace("$env:USERPROFILE", &home).replace("$env:SystemDrive", "C:").replace("$env:windir", "C:\\Windows");
                    it.with(&if let Some(rest) = text.strip_prefix('~') { format!("{home}{rest}") } else { text })
                })
                .collect();
            let name = if matches!(name.as_str(), "rm" | "del" | "rd" | "rmdir" | "erase" | "ri") { "remove-item" } else { name.as_str() };
            if !crate::rules::windows::command(self, name, &values, env) && matches!(name, "cmd" | "bash" | "sh" | "wsl" | "python" | "shutdown" | "format" | "net" | "taskkill" | "git" | "docker" | "kubectl") {
                let mut inner = env.clone();
                self.payload(&part.to_owned(), &mut inner, Flow::unknown());
            }
        }
        self.argv = shown;
    }
}
