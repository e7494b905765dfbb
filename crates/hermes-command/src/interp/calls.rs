//! What calls in a program do.

use std::collections::HashMap;

use super::Language;
use super::code::{Piece, code, literals};
use crate::Category;
use crate::env::Env;
use crate::expand::{Escapes, unescape};
use crate::judge::Judge;
use crate::path::{Loss, resolve_text};
use crate::value::{Arg, Flow, HOLE, Taint};
use crate::wrap::quote;

/// Calls that delete a tree.
const TREES: [&str; 26] = [
    "rmtree", "remove_tree", "rm_rf", "rm_r", "remove_dir", "remove_entry", "remove_entry_secure", "rimraf", "rimrafSync", "rimraf.sync", "removeSync", "emptyDirSync", "fs.remove", "fse.remove", "deltree",
    "rmdir_p", "remove_dir_all", "File::Path::rmtree", "emptyDir", "removeDirectory", "deleteDirectory", "rmdirs", "del.sync", "deleteSync", "trash.sync", "rm_rf!",
];
/// Calls that delete a tree if they are told to.
const TREES_IF: [&str; 9] = ["rmSync", "rm", "rmdirSync", "rmdir", "remove", "removeSync", "Deno.removeSync", "unlink", "delete"];
/// Calls that delete a file.
const FILES: [&str; 18] = [
    "os.remove", "os.unlink", "os.rmdir", "unlink", "unlinkSync", "fs.unlink", "File.delete", "File.unlink", "FileUtils.rm", "FileUtils.rm_f", "os.removedirs", "removefile", "os.remove", "Deno.removeSync", "rm_f", "fs.rmSync", "Deno.remove", "fs.rm",
];
/// Calls that run a program.
const RUNS: [&str; 58] = [
    "os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen", "subprocess.getoutput", "subprocess.getstatusoutput", "Popen", "check_output", "check_call",
    "os.execv", "os.execl", "os.execvp", "os.execlp", "os.execve", "os.execvpe", "os.spawnl", "os.spawnv", "os.spawnlp", "os.spawnvp", "os.posix_spawn", "pty.spawn", "commands.getoutput", "system", "exec", "execSync", "spawn",
    "spawnSync", "execFile", "execFileSync", "child_process.exec", "shell_exec", "passthru", "popen", "proc_open", "pcntl_exec", "os.execute", "io.popen", "IO.popen", "Open3.capture2", "Open3.capture3", "Open3.popen3", "Process.spawn",
    "Kernel.system", "Kernel.exec", "Bun.spawn", "Bun.spawnSync", "Deno.run", "Deno.Command", "getoutput", "getstatusoutput", "asyncio.create_subprocess_shell", "asyncio.create_subprocess_exec", "create_subprocess_shell", "do shell script", "execa",
];
/// Calls that write the file that they are given first.
const WRITES: [&str; 16] = [
    "writeFileSync", "writeFile", "appendFileSync", "appendFile", "createWriteStream", "file_put_contents", "File.write", "IO.write", "Bun.write", "Deno.writeTextFileSync", "Deno.writeTextFile", "Deno.writeFileSync", "outputFileSync", "truncateSync", "os.truncate", "IO.binwrite",
];
/// Calls that write the file that they are given second.
const COPIES: [&str; 20] = [
    "shutil.copy", "shutil.copyfile", "shutil.copy2", "shutil.move", "os.rename", "os.replace", "os.symlink", "os.link", "copyFileSync", "copyFile", "renameSync", "FileUtils.cp", "FileUtils.mv", "FileUtils.copy", "File.rename", "symlinkSync", "cpSync", "shutil.copytree", "rename", "copy",
];

impl Judge {
    /// Judges a program.
    pub(super) fn program_text(&mut self, language: Language, program: &str, arguments: &[String], env: &mut Env) {
        if program.len() > 65_536 && !program.is_char_boundary(65_536) {
            return;
        }
        let program = program.get(..65_536).unwrap_or(program);
        let hash = !matches!(language, Language::JavaScript | Language::Lua);
        let hash = hash || program.starts_with("#!");
        let uncommented = if matches!(language, Language::JavaScript | Language::Php) { without_comments(program, "//") } else if language == Language::Lua { without_comments(program, "--") } else { program.to_owned() };
        let pieces = literals(&uncommented, hash);
        let bare = code(&uncommented, if hash { "#" } else { "\u{0}" });
        let scan = Scan { language, names: constants(&pieces, language, env), bare: &bare, pieces: &pieces, arguments };
        self.forks(&scan);
        self.remote(&scan, env);
        self.calls(&scan, env);
        self.walks(&scan, env);
    }

    fn forks(&mut self, scan: &Scan<'_>) {
        let compact: String = scan.bare.split_whitespace().collect::<Vec<_>>().join(" ");
        let loops = ["while", "loop", "for(;;)", "for (;;)", "until"].iter().any(|it| compact.contains(it));
        let is_fork = compact.contains("fork()") || compact.contains("os.fork") || compact.contains("fork while") || compact.contains("{fork") || compact.contains("{ fork") || compact.contains("fork;") || compact.ends_with("fork") || compact.contains("fork }");
        let waits = compact.contains("wait") || compact.contains("exit");
        if loops && is_fork && !waits {
            self.fork_bomb();
        }
    }

    fn remote(&mut self, scan: &Scan<'_>, env: &Env) {
        let bare: String = scan.bare.split_whitespace().collect::<Vec<_>>().join(" ");
        let has = |list: &[&str]| list.iter().any(|it| bare.contains(it));
        let texts = |list: &[&str]| scan.pieces.iter().any(|piece| list.iter().any(|it| piece.text.contains(it)));
        let evaluates = has(&["exec(", "eval(", "eval ", "compile(", "Function(", "loadstring(", "load(", "instance_eval", "class_eval", "runInThisContext", "runInNewContext", "vm.", "create_function", "assert(", "exec ("]);
        let runs = has(&["os.system(", "subprocess.", "execSync(", "system(", "popen(", "spawn(", "shell_exec("]);
        let decodes = has(&["b64decode", "base64", "fromhex", "codecs.decode", "zlib.decompress", "marshal.loads", "atob(", "Buffer.from", "unpack(", "decode64", "decode_base64", "rot13", "a85decode", "b32decode", "gzinflate", "str_rot13", "hex2bin", "unhexlify", "pickle.loads"])
            || texts(&["base64", "zlib", "rot13", "codecs", "hex"]) && has(&["__import__(", "require(", ".decode(", "Buffer.from"]);
        let fetches = has(&["urlopen", "requests.get", "requests.post", "urllib", "http.get", "https.get", "fetch(", "Net::HTTP", "open-uri", "URI.open", "URI(", "LWP", "curl_exec", "httpx.", "http.client", "urlretrieve", "IO::Socket", "axios", "HTTP::Tiny", "getstore", "aiohttp"])
            || texts(&["http://", "https://", "ftp://"]) && has(&["require(", "open(", "file_get_contents(", "get(", "get ", "include", "import("]);
        if evaluates && (decodes || fetches) {
            self.remote_code(if fetches { Taint::FETCHED } else { Taint::DECODED });
        } else if runs && fetches && has(&[".read()", ".text", ".content", ".body"]) && has(&["exec", "system(", "shell=True"]) {
            self.remote_code(Taint::FETCHED);
        } else if runs && decodes {
            self.remote_code(Taint::DECODED);
        }
        let connects = has(&["socket", "TCPSocket", "fsockopen", "net.connect", "net.Socket", "createConnection", "Socket", "inet_aton", "connect("]);
        let gives_shell = has(&["dup2", "pty.spawn"]) || texts(&["/bin/sh", "/bin/bash", "sh -i", "bash -i", "cmd.exe", "powershell"]) && (runs || has(&["exec", "spawn", "Process", "open"]));
        if connects && gives_shell {
            self.reverse_shell();
        }
        let sends = fetches || connects || has(&["requests.", "smtplib", "ftplib", "http.request", "https.request", "curl_", ".post(", ".put("]);
        let secret = scan.pieces.iter().any(|piece| {
            piece.text.contains(['/', '.']) && piece.text.len() < 256 && !piece.text.contains("://") && resolve_text(&expand_home(&piece.text, env), env).is_secret(&self.homes)
        });
        let environment = has(&["os.environ)", "dict(os.environ", "process.env)", "str(os.environ", "ENV.to_h", "ENV.inspect", "JSON.stringify(process.env", "json.dumps(dict(os.environ"]);
        if sends && (secret || environment) {
            self.exfiltration();
        }
    }

    /// Each call with what it is given.
    fn calls(&mut self, scan: &Scan<'_>, env: &mut Env) {
        for call in scan.found() {
            let name = call.name.as_str();
            let last = name.rsplit(['.', ':']).next().unwrap_or(name);
            let is = |list: &[&str]| list.contains(&name) || list.contains(&last);
            let is_recursive = call.code.to_ascii_lowercase().contains("recursive");
            if is(&TREES) || (is(&TREES_IF) && is_recursive) || name == "FileUtils.rm_rf" || name == "FileUtils.rm_r" {
                let targets = call.targets(scan, env);
                let targets = if targets.is_empty() { vec![HOLE.to_string()] } else { targets };
                for target in targets.iter().take(8) {
                    self.judge_tree(&Arg::new(target), env, "program_delete");
                }
                continue;
            }
            if is_run(scan.language, name, last, scan.bare) {
                self.spawned(scan, &call, env);
                continue;
            }
            if FILES.contains(&name) || (matches!(last, "unlink" | "unlinkSync" | "rmSync" | "remove" | "delete") && (FILES.contains(&last) || matches!(scan.language, Language::JavaScript | Language::Perl | Language::Php | Language::Python))) {
                for target in call.targets(scan, env).iter().filter(|it| it.as_str() != HOLE.to_string()) {
                    self.judge_removal(&Arg::new(target), env);
                }
                continue;
            }
            if WRITES.contains(&name) || WRITES.contains(&last) {
                if let Some(target) = call.targets(scan, env).first() {
                    self.judge_write(&Arg::new(target), env, "program");
                }
                continue;
            }
            if COPIES.contains(&name) || (COPIES.contains(&last) && last.len() > 5 && last != "rename") {
                let targets = call.targets(scan, env);
                if let Some(target) = targets.get(1) {
                    self.judge_write(&Arg::new(target), env, "program");
                }
                if matches!(last, "move" | "rename" | "renameSync" | "replace" | "mv")
                    && let Some(source) = targets.first()
                    && resolve_text(source, env).loss(env, &self.homes) == Loss::All
                {
                    self.find("move_protected", Category::RecursiveDelete, true, "Moves a folder of the system away, which is as bad as deleting it.");
                }
                continue;
            }
            self.other_call(scan, &call, name, last, env);
        }
    }

    fn other_call(&mut self, scan: &Scan<'_>, call: &Call, name: &str, last: &str, env: &mut Env) {
        match last {
            "open" | "fopen" | "openSync" | "sysopen" | "new" if last != "new" || name == "File.new" => {
                let values = call.values(scan, env);
                let mode = values.iter().skip(1).find(|it| !it.is_empty() && it.len() <= 4 && it.chars().all(|c| "rwaxbt+><U:".contains(c)));
                let first = values.first().cloned().unwrap_or_default();
                match (mode, scan.language) {
                    (Some(mode), _) if mode.contains(['w', 'a', 'x', '+', '>']) => {
                        let target = if mode.contains('>') { values.iter().rev().find(|it| *it != mode).cloned().unwrap_or_default() } else { first };
                        self.judge_write(&Arg::new(&target), env, "program");
                    }
                    (None, Language::Perl) => {
                        for value in &values {
                            if let Some(target) = value.strip_prefix('>') {
                                self.judge_write(&Arg::new(target.trim_start_matches('>').trim()), env, "program");
                            } else if let Some(script) = value.strip_prefix('|').or_else(|| value.strip_suffix('|')) {
                                let mut inner = env.clone();
                                self.payload(&script.to_owned(), &mut inner, Flow::unknown());
                            }
                        }
                    }
                    _ => {}
                }
            }
            "write_text" | "write_bytes" => {
                if let Some(target) = call.subject(scan, env) {
                    self.judge_write(&Arg::new(&target), env, "program");
                }
            }
            "unlink" | "rmdir" | "rename" | "replace" if call.code.is_empty() || last == "rename" => {
                if let Some(target) = call.subject(scan, env) {
                    self.judge_removal(&Arg::new(&target), env);
                }
            }
            "chmod" | "chmodSync" => {
                let digits = call.code.split([',', '(', ')']).map(str::trim).find(|it| it.starts_with('0') && it.len() >= 3);
                if let Some(digits) = digits {
                    let mode = digits.trim_start_matches("0o").trim_start_matches('0');
                    self.chmod_mode(mode, env);
                }
            }
            "kill" => {
                let compact: String = call.code.split_whitespace().collect();
                let all = compact.starts_with("-1,") || compact == "-1" || (scan.language != Language::Python && (compact.ends_with(",-1") || compact.starts_with("9,-1")));
                if all {
                    self.find("kill_all", Category::Kill, true, "Ends every process that it may, and the session with them.");
                }
            }
            "execute" | "executescript" | "executemany" | "query" | "do" | "prepare" | "raw" => {
                for value in call.values(scan, env) {
                    self.sql(&value);
                }
            }
            _ => {}
        }
    }

    fn chmod_mode(&mut self, mode: &str, env: &Env) {
        let argv = self.argv.clone();
        let mode = Arg::new(mode);
        self.program_mode(&mode, env);
        self.argv = argv;
    }

    /// A program that the program starts.
    fn spawned(&mut self, scan: &Scan<'_>, call: &Call, env: &mut Env) {
        let shown = self.argv.clone();
        let mut inner = env.clone();
        let values = call.values(scan, env);
        let is_list = call.code.trim_start().starts_with(['[', '(']) || matches!(call.name.rsplit('.').next().unwrap_or_default(), "execFile" | "execFileSync" | "spawn" | "spawnSync" | "execl" | "execlp" | "spawnl" | "execvp" | "execv" | "execve" | "spawnvp" | "spawnlp" | "execvpe" | "pcntl_exec" | "Command" | "create_subprocess_exec") || (matches!(scan.language, Language::Perl | Language::Ruby) && values.len() > 1);
        let first = values.first().cloned().unwrap_or_default();
        if values.is_empty() || first.trim_matches(|c| c == HOLE || c == ' ').is_empty() {
            if !call.code.trim().is_empty() || scan.pieces.iter().any(|it| it.quote != ' ') {
                // A text that is only known when it runs.
                let is_import = call.code.trim().is_empty() && values.is_empty();
                if !is_import {
                    self.find("dynamic_command", Category::Other, false, "Starts a program that can't be known before it runs.");
                }
            }
            return;
        }
        if is_list && values.len() > 1 {
            let name = call.name.rsplit('.').next().unwrap_or_default();
            // `execvp("rm", ["rm", ..])` names the program twice.
            let repeats = name.starts_with("exec") && name.len() <= 7 && values.get(1).is_some_and(|it| it.rsplit('/').next() == first.rsplit('/').next());
            let mut words: Vec<Arg> = values.iter().skip(usize::from(repeats)).map(|it| Arg::new(it)).collect();
            words.retain(|it| !matches!(it.marked.as_str(), "inherit" | "pipe" | "utf8" | "utf-8"));
            let text = quote(&words);
            self.payload(&text, &mut inner, Flow::unknown());
        } else {
            self.payload(&first, &mut inner, Flow::unknown());
        }
        self.argv = shown;
    }

    /// A walk through a tree that deletes what it meets.
    fn walks(&mut self, scan: &Scan<'_>, env: &Env) {
        let bare = scan.bare;
        let has = |list: &[&str]| list.iter().any(|it| bare.contains(it));
        let star = scan.pieces.iter().any(|it| it.text.contains("**"));
        let walks = has(&["os.walk", "rglob(", "Find.find", "finddepth", "File::Find", "RecursiveDirectoryIterator", "os.fwalk", "walkSync", "recursive: true", "recursive:true", "scandir_recursive", "walk("]) || star && has(&["glob"]) || has(&["find("]) && has(&["File::Find", "unlink"]) && scan.language == Language::Perl;
        let deletes = has(&["os.remove", "os.unlink", ".unlink(", "unlink", "File.delete", "os.rmdir", "unlinkSync", "rmdir", "File.unlink", "FileUtils.rm"]);
        if walks && deletes {
            let starts: Vec<String> = scan.pieces.iter().filter(|it| it.text.starts_with(['/', '~', '.'])).map(|it| expand_home(&it.text, env)).collect();
            let is_all = starts.iter().any(|it| it.starts_with('/') && resolve_text(it, env).loss(env, &self.homes) == Loss::All) && !has(&["endswith", "fnmatch", "suffix", "if ", "=~"]) && !scan.pieces.iter().any(|it| it.text.contains("*."));
            self.find("program_walk_delete", Category::RecursiveDelete, is_all, "Deletes every file that it meets in a tree.");
        }
    }
}

/// A program and what is known of it.
struct Scan<'a> {
    language: Language,
    names: HashMap<String, String>,
    bare: &'a str,
    pieces: &'a [Piece],
    arguments: &'a [String],
}

/// A call: its name, the code of its arguments with texts replaced, and where its texts are.
struct Call {
    name: String,
    /// The code in the parentheses; `""` stands for each text.
    code: String,
    /// The texts in it, by their place among all.
    texts: Vec<usize>,
    /// The place of the text in front of it, for `Path("x").unlink()`.
    previous: Option<usize>,
    before: String,
}

impl Scan<'_> {
    /// Calls in the order of the program.
    fn found(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        // One string with a mark for each text.
        let mut flat = String::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            flat.push_str(&piece.before);
            if piece.quote == '`' && !matches!(self.language, Language::JavaScript | Language::Python) {
                flat.push_str(" system(");
                flat.push_str(&format!("\u{1}{index}\u{2})"));
            } else if piece.quote != ' ' {
                flat.push_str(&format!("\u{1}{index}\u{2}"));
            }
        }
        if let Some(last) = self.pieces.last() {
            flat.push_str(&last.rest);
        }
        let bytes = flat.as_bytes();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'!' | b'?' | b'>');
        let mut at = 0;
        while at < bytes.len() && calls.len() < 512 {
            let Some(byte) = bytes.get(at) else { break };
            // Without parentheses: `unlink "x"`, `system "x"`, `rm_rf 'x'`.
            let is_open = *byte == b'(';
            let is_space = matches!(byte, b' ' | 1)
                && at > 0
                
                && matches!(self.language, Language::Perl | Language::Ruby | Language::Lua | Language::AppleScript | Language::Php | Language::Other);
            if !is_open && !is_space {
                at += 1;
                continue;
            }
            let mut start = at;
            while start > 0 && bytes.get(start - 1).is_some_and(|it| *it == b' ') {
                start -= 1;
            }
            let end = start;
            while start > 0 && bytes.get(start - 1).is_some_and(|it| is_name(*it)) {
                start -= 1;
            }
            let mut name = flat.get(start..end).unwrap_or_default().trim_start_matches(['.', ':', '>']).trim_end_matches(['!', '?']).to_owned();
            if name.is_empty() && !is_open {
                at += 1;
                continue;
            }
            if self.language == Language::AppleScript && flat.get(..end).unwrap_or_default().ends_with("do shell script") {
                name = "do shell script".to_owned();
            }
            let close = if is_open {
                closing(bytes, at)
            } else {
                let rest = flat.get(at..).unwrap_or_default();
                at + rest.find([';', '\n', '}']).unwrap_or(rest.len())
            };
            let inner = flat.get(at + usize::from(is_open)..close).unwrap_or_default();
            if !is_open && !matches!(name.rsplit(['.', ':']).next().unwrap_or_default(), "system" | "exec" | "unlink" | "rmtree" | "remove_tree" | "rm_rf" | "rm_r" | "delete" | "spawn" | "kill" | "open" | "do shell script" | "execute" | "write" | "chmod" | "rm" | "shell_exec" | "passthru" | "rename" | "rmdir") {
                at += 1;
                continue;
            }
            let before = flat.get(..start).unwrap_or_default();
            let previous = before.rsplit('\u{1}').next().and_then(|it| it.split('\u{2}').next()).and_then(|it| it.parse().ok()).filter(|_| before.contains('\u{1}'));
            let (code, texts) = split_marks(inner);
            if !(name.is_empty() || (code.is_empty() && texts.is_empty() && before.is_empty())) {
                let tail: String = before.chars().rev().take(120).collect::<Vec<_>>().into_iter().rev().collect();
                calls.push(Call { name, code, texts, previous, before: tail });
            }
            at += 1;
        }
        calls
    }

    /// The text at a place, with what is put into it when it runs as a hole.
    fn text(&self, index: usize, env: &Env) -> String {
        let Some(piece) = self.pieces.get(index) else { return HOLE.to_string() };
        let is_raw = piece.before.ends_with('r') && self.language == Language::Python || (piece.quote == '\'' && matches!(self.language, Language::Perl | Language::Ruby | Language::Php));
        let mut text = if is_raw { piece.text.clone() } else { unescape(&piece.text, Escapes::Ansi) };
        let is_format = piece.before.ends_with(['f', 'F']) && self.language == Language::Python;
        if is_format {
            text = holes(&text, "{", '}');
        } else if self.language == Language::Ruby && piece.quote != '\'' {
            text = holes(&text, "#{", '}');
        } else if self.language == Language::JavaScript && piece.quote == '`' {
            text = holes(&text, "${", '}');
        } else if matches!(self.language, Language::Perl | Language::Php) && piece.quote != '\'' {
            text = text.replace("$ENV{HOME}", env.home().unwrap_or("~")).replace("$ENV{'HOME'}", env.home().unwrap_or("~"));
            text = variables(&text, &self.names);
        }
        text
    }

    /// What an expression gives; parts that can't be known are holes.
    fn evaluate(&self, code: &str, texts: &mut std::slice::Iter<'_, usize>, env: &Env) -> String {
        let home = env.home().unwrap_or("~").to_owned();
        let mut out = String::new();
        let mut rest = code.trim();
        let joins = code.contains("join(") || code.contains("resolve(") || code.contains("joinpath(") || code.contains("catdir(") || code.contains("catfile(");
        while !rest.is_empty() {
            let word_end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | ':'))).unwrap_or(rest.len());
            if let Some(after) = rest.strip_prefix('\u{1}') {
                rest = after;
                let text = texts.next().map_or_else(|| HOLE.to_string(), |index| self.text(*index, env));
                if joins && !out.is_empty() && !out.ends_with('/') && !text.starts_with('/') {
                    out.push('/');
                }
                if joins && text.starts_with('/') {
                    out.clear();
                }
                // `Path("a") / "b"`.
                out.push_str(&text);
                continue;
            }
            if word_end == 0 {
                if rest.starts_with('/') && !out.is_empty() {
                    out.push('/');
                }
                if rest.starts_with('%') && !out.is_empty() {
                    out = out.replace("%s", &HOLE.to_string());
                    // What is put in is in it as a hole.
                    break;
                }
                rest = rest.get(rest.chars().next().map_or(1, char::len_utf8)..).unwrap_or_default();
                continue;
            }
            let word = rest.get(..word_end).unwrap_or_default();
            rest = rest.get(word_end..).unwrap_or_default();
            let last = word.rsplit(['.', ':']).next().unwrap_or(word);
            match word {
                "Path.home" | "pathlib.Path.home" | "os.homedir" | "Dir.home" | "homedir" | "process.env.HOME" | "Deno.env.get" | "require" if word != "require" => {
                    out.push_str(&home);
                    rest = rest.strip_prefix("()").unwrap_or(rest);
                }
                "os.environ" | "os.getenv" | "os.environ.get" | "ENV" | "getenv" | "process.env" | "$ENV" | "ENV.fetch" | "$_SERVER" | "$_ENV" => {
                    let name = texts.next().map(|index| self.text(*index, env)).unwrap_or_default();
                    match env.text(&name) {
                        Some(value) => out.push_str(value),
                        None if rest.starts_with("{HOME}") => out.push_str(&home),
                        None => out.push(HOLE),
                    }
                    if let Some(at) = rest.find([')', ']', '}']) {
                        rest = rest.get(at + 1..).unwrap_or_default();
                    }
                }
                _ if matches!(last, "Path" | "PosixPath" | "join" | "expanduser" | "resolve" | "str" | "abspath" | "realpath" | "String" | "normpath" | "path" | "File" | "os" | "pathlib" | "b" | "r" | "f" | "u" | "rb" | "absolute" | "to_s" | "as_posix" | "shlex.split" | "split" | "expand_path" | "glob" | "encode" | "my" | "format" | "joinpath" | "catdir" | "catfile" | "fspath" | "strip" | "trim" | "Pathname" | "cd" | "raw" | "w" | "qw" | "and" | "or" | "if" | "as") => {}
                _ if self.names.contains_key(word) || self.names.contains_key(last) => {
                    let value = self.names.get(word).or_else(|| self.names.get(last));
                    out.push_str(value.map_or("", String::as_str));
                }
                "true" | "True" | "false" | "False" | "None" | "null" => {}
                _ if word.chars().all(|c| c.is_ascii_digit() || c == '.') => {}
                _ => {
                    if (word.starts_with("sys.argv") || word == "process.argv" || word == "ARGV" || word == "$ARGV" || word == "@ARGV" || word == "$argv") && !self.arguments.is_empty() {
                        out.push_str(self.arguments.first().map_or("", String::as_str));
                        if let Some(at) = rest.find(']') {
                            rest = rest.get(at + 1..).unwrap_or_default();
                        }
                    } else if !out.ends_with(HOLE) {
                        out.push(HOLE);
                    }
                }
            }
        }
        expand_home(&out, env)
    }
}

impl Call {
    /// The value of each argument, lists taken apart.
    fn values(&self, scan: &Scan<'_>, env: &Env) -> Vec<String> {
        let mut texts = self.texts.iter();
        let mut values = Vec::new();
        for part in arguments(&self.code) {
            // Keyword arguments and options.
            let trimmed = part.trim().trim_start_matches(['[', '(']);
            let is_keyword = trimmed.split_once(['=', ':']).is_some_and(|(name, value)| {
                !name.trim().is_empty() && name.trim().chars().all(|c| c.is_alphanumeric() || c == '_' || c == ' ' || c == '{') && !name.starts_with('\u{1}') && !value.starts_with([':', '='])
            });
            let is_options = trimmed.starts_with('{');
            if is_keyword || is_options {
                for _ in 0..part.matches('\u{1}').count() {
                    texts.next();
                }
                continue;
            }
            values.push(scan.evaluate(part, &mut texts, env));
        }
        values.retain(|it| !it.is_empty());
        values
    }

    /// The paths that the call is given.
    fn targets(&self, scan: &Scan<'_>, env: &Env) -> Vec<String> {
        let mut values = self.values(scan, env);
        if values.is_empty()
            && let Some(subject) = self.subject(scan, env)
        {
            values.push(subject);
        }
        values
    }

    /// `x` in `Path("x").unlink()`.
    fn subject(&self, scan: &Scan<'_>, env: &Env) -> Option<String> {
        let chained = self.before.trim_end().ends_with([')', '.']) || self.name.starts_with('.') || self.before.ends_with('\u{2}');
        if !chained {
            let variable = self.name.rsplit_once('.').map(|(variable, _)| variable)?;
            return scan.names.get(variable).cloned();
        }
        let expression = self.before.rsplit([';', '\n', '=', ',']).next().unwrap_or_default();
        if expression.contains(".home()") && !expression.contains('\u{1}') {
            return env.home().map(str::to_owned);
        }
        let (code, texts) = split_marks(expression);
        if texts.is_empty() {
            return self.previous.map(|index| expand_home(&scan.text(index, env), env));
        }
        Some(scan.evaluate(&code, &mut texts.iter(), env))
    }
}

/// Whether `name` is `run` or `call` of a module under another name, or imported by itself.
fn runs_as(bare: &str, name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((module, _)) => bare.contains(&format!("subprocess as {module}")),
        None => bare.contains("from subprocess import"),
    }
}

fn is_run(language: Language, name: &str, last: &str, bare: &str) -> bool {
    if !(RUNS.contains(&name) || RUNS.contains(&last) || (language == Language::Python && matches!(last, "run" | "call"))) {
        return false;
    }
    match last {
        // Of Python `exec` runs Python; a pattern's `exec` matches.
        "exec" => match language {
            Language::Python | Language::Lua => false,
            Language::JavaScript => !name.contains('.') || name.contains("child_process") || name.starts_with("cp.") || name.ends_with(").exec") || name == "exec",
            _ => true,
        },
        "system" | "spawn" | "popen" | "Popen" | "check_output" | "check_call" | "getoutput" => true,
        "run" | "call" => name.contains("subprocess") || name.contains("Deno") || language == Language::Python && runs_as(bare, name),
        _ => true,
    }
}

/// Code with a mark for each text, and which they are.
fn split_marks(flat: &str) -> (String, Vec<usize>) {
    let mut code = String::new();
    let mut texts = Vec::new();
    let mut rest = flat;
    while let Some((before, after)) = rest.split_once('\u{1}') {
        code.push_str(before);
        code.push('\u{1}');
        let Some((number, after)) = after.split_once('\u{2}') else { break };
        texts.extend(number.parse::<usize>().ok());
        rest = after;
    }
    code.push_str(rest);
    (code, texts)
}

/// The parenthesis that closes the one at `at`.
fn closing(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, byte) in bytes.iter().enumerate().skip(at).take(4096) {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    bytes.len().min(at + 4096)
}

/// Arguments at the outer level; a list gives its items.
fn arguments(code: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(code.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(code.get(start..).unwrap_or_default());
    parts
}

/// Names that are set to a text once: `x = "/"`.
fn constants(pieces: &[Piece], language: Language, env: &Env) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for piece in pieces {
        let before = piece.before.trim_end().trim_end_matches(['r', 'b', 'f']).trim_end();
        let Some(before) = before.strip_suffix('=').map(str::trim_end) else { continue };
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).map_or(0, |it| it + 1);
        let name = before.get(start..).unwrap_or_default();
        let after = piece.rest.trim_start();
        let is_alone = after.is_empty() || after.starts_with([';', '\n', ',', ')']) || piece.rest.starts_with('\n');
        if !name.is_empty() && is_alone {
            let text = unescape(&piece.text, Escapes::Ansi);
            names.insert(name.to_owned(), expand_home(&text, env));
        }
    }
    let _ = language;
    names
}

fn expand_home(text: &str, env: &Env) -> String {
    match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", env.home().unwrap_or("~")),
        _ => text.to_owned(),
    }
}

/// Parts that are put in, as holes.
fn holes(text: &str, open: &str, close: char) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        out.push_str(before);
        out.push(HOLE);
        rest = after.split_once(close).map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// `$name` in a text, by what is known.
fn variables(text: &str, names: &HashMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let length = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
        let name = after.get(..length).unwrap_or_default();
        match names.get(&format!("${name}")) {
            Some(value) => out.push_str(value),
            None if name.is_empty() => out.push('$'),
            None => out.push(HOLE),
        }
        rest = after.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// A program without comments to the end of the line, texts aside.
fn without_comments(program: &str, start: &str) -> String {
    let mut out = String::with_capacity(program.len());
    for line in program.split_inclusive('\n') {
        let mut quote = None;
        let mut cut = line.len();
        let mut chars = line.char_indices();
        while let Some((at, c)) = chars.next() {
            match quote {
                Some(_) if c == '\\' => {
                    chars.next();
                }
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if matches!(c, '"' | '\'' | '`') => quote = Some(c),
                None if line.get(at..).unwrap_or_default().starts_with(start) => {
                    cut = at;
                    break;
                }
                None => {}
            }
        }
        out.push_str(line.get(..cut).unwrap_or_default());
        if cut < line.len() {
            out.push('\n');
        }
    }
    out
}
