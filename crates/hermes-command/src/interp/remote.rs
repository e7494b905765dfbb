//! Programs that multiply, fetch what they run, or give a shell away.

use super::Language;
use super::expression::{Scan, expand_home};
use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::path::resolve_text;
use crate::value::{Flow, Taint};

impl Judge {
    /// Scripts in which a program is a line of words, and those that speak to a desktop.
    pub(super) fn other_languages(&mut self, language: Language, program: &str, env: &Env) {
        if language == Language::Other {
            for line in program.split(['\n', ';', '{', '}', '[', ']']).map(str::trim).take(256) {
                let typed = line.strip_prefix("send ").map(typed);
                let words = line.strip_prefix("exec ").or_else(|| line.strip_prefix("spawn "));
                if let Some(words) = words.or(typed.as_deref()) {
                    let mut inner = env.clone();
                    self.payload(words, &mut inner, Flow::unknown());
                }
            }
        }
        let lower = program.to_ascii_lowercase();
        let is_power = ["shut down", "to restart", "to reboot"].iter().any(|it| lower.contains(it));
        if language == Language::AppleScript && is_power && lower.contains("tell app") {
            let why = "Stops or restarts the machine.";
            self.find("power", Category::ServiceControl, true, why);
        }
    }

    pub(super) fn forks(&mut self, scan: &Scan<'_>) {
        let compact: String = scan.bare.split_whitespace().collect::<Vec<_>>().join(" ");
        let loops =
            ["while", "loop", "for(;;)", "for (;;)", "until"].iter().any(|it| compact.contains(it));
        let is_fork = compact.contains("fork()")
            || compact.contains("os.fork")
            || compact.contains("fork while")
            || compact.contains("{fork")
            || compact.contains("{ fork")
            || compact.contains("fork;")
            || compact.ends_with("fork")
            || compact.contains("fork }");
        let waits = compact.contains("wait") || compact.contains("exit");
        if loops && is_fork && !waits {
            self.fork_bomb();
        }
    }

    pub(super) fn remote(&mut self, scan: &Scan<'_>, env: &Env) {
        let bare: String = scan.bare.split_whitespace().collect::<Vec<_>>().join(" ");
        let has = |list: &[&str]| list.iter().any(|it| bare.contains(it));
        let texts = |list: &[&str]| {
            scan.pieces.iter().any(|piece| list.iter().any(|it| piece.text.contains(it)))
        };
        // A function by itself: `json.load(` and `re.compile(` run nothing.
        let has_function = |list: &[&str]| {
            list.iter().any(|it| {
                bare.match_indices(it).any(|(at, _)| {
                    let before = bare.get(..at).unwrap_or_default();
                    !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'))
                        || before.ends_with("builtins.")
                })
            })
        };
        let functions = [
            "exec(",
            "eval(",
            "compile(",
            "Function(",
            "loadstring(",
            "load(",
            "assert(",
            "exec (",
        ];
        let evaluates = has_function(&functions)
            || has(&[
                "eval ",
                "(eval)",
                "instance_eval",
                "class_eval",
                "runInThisContext",
                "runInNewContext",
                "vm.",
                "create_function",
            ]);
        let runs = has(&[
            "os.system(",
            "subprocess.",
            "execSync(",
            "system(",
            "popen(",
            "spawn(",
            "shell_exec(",
        ]);
        let decodes = has(&[
            "b64decode",
            "base64",
            "fromhex",
            "codecs.decode",
            "zlib.decompress",
            "marshal.loads",
            "atob(",
            "Buffer.from",
            "unpack(",
            "decode64",
            "decode_base64",
            "rot13",
            "a85decode",
            "b32decode",
            "gzinflate",
            "str_rot13",
            "hex2bin",
            "unhexlify",
            "pickle.loads",
        ]) || texts(&["base64", "zlib", "rot13", "codecs", "hex"])
            && has(&["__import__(", "require(", ".decode(", "Buffer.from"]);
        let fetches = has(&[
            "urlopen",
            "requests.get",
            "requests.post",
            "urllib",
            "http.get",
            "https.get",
            "fetch(",
            "Net::HTTP",
            "open-uri",
            "URI.open",
            "URI(",
            "LWP",
            "curl_exec",
            "httpx.",
            "http.client",
            "urlretrieve",
            "IO::Socket",
            "axios",
            "HTTP::Tiny",
            "getstore",
            "aiohttp",
        ]) || texts(&["http://", "https://", "ftp://"])
            && has(&[
                "require(",
                "open(",
                "file_get_contents(",
                "get(",
                "get ",
                "include",
                "import(",
            ]);
        let by_program = scan.pieces.iter().any(|it| {
            let first = it.text.split_whitespace().next().unwrap_or_default();
            (it.quote == '`' || runs) && crate::print::is_fetcher(first) && evaluates
        });
        let fetches = fetches || by_program;
        if evaluates && (decodes || fetches) {
            self.remote_code(if fetches { Taint::FETCHED } else { Taint::DECODED });
        } else if runs
            && fetches
            && has(&[".read()", ".text", ".content", ".body"])
            && has(&["exec", "system(", "shell=True"])
        {
            self.remote_code(Taint::FETCHED);
        } else if runs && decodes {
            self.remote_code(Taint::DECODED);
        }
        let connects = has(&[
            "socket",
            "TCPSocket",
            "fsockopen",
            "net.connect",
            "net.Socket",
            "createConnection",
            "Socket",
            "inet_aton",
        ]);
        let gives_shell = has(&["dup2", "pty.spawn"])
            || texts(&["/bin/sh", "/bin/bash", "sh -i", "bash -i", "cmd.exe", "powershell"])
                && (runs || has(&["exec", "spawn", "Process", "open"]));
        // What comes in is run.
        let serves = (runs || has(&["popen"]))
            && has(&[".gets", ".recv", ".readline", "sysread", "recv("])
            && has(&["(cmd", "(data", "(line", "(c,", "(command", "(input", "(buf", "(s,"]);
        if connects && (gives_shell || serves) {
            self.reverse_shell();
        }
        let sends = fetches
            || connects
            || has(&[
                "requests.",
                "smtplib",
                "ftplib",
                "http.request",
                "https.request",
                "curl_",
                ".post(",
                ".put(",
            ]);
        let secret = scan.pieces.iter().any(|piece| {
            piece.text.contains(['/', '.'])
                && piece.text.len() < 256
                && !piece.text.contains("://")
                && resolve_text(&expand_home(&piece.text, env), env).is_secret(&self.homes)
        });
        let environment = has(&[
            "os.environ)",
            "dict(os.environ",
            "process.env)",
            "str(os.environ",
            "ENV.to_h",
            "ENV.inspect",
            "JSON.stringify(process.env",
            "json.dumps(dict(os.environ",
        ]);
        if sends && (secret || environment) {
            self.exfiltration();
        }
    }
}

/// What `send "ls\r"` types into the program that was started, most often a shell.
fn typed(words: &str) -> String {
    let text = words.trim().trim_start_matches("-- ").trim_matches('"');
    let text = crate::escapes::unescape(text, crate::escapes::Escapes::Ansi);
    text.replace('\r', "\n")
}
