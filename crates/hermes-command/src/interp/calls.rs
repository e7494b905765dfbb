//! What calls in a program do.

use super::Language;
use super::call::Call;
use super::code::{code, literals};
use super::expression::{Scan, expand_home};
use super::tables::{COPIES, FILES, TREES, TREES_IF, WRITES, is_run};
use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::path::{Loss, resolve_text};
use crate::value::{Arg, Flow, HOLE};
use crate::wrap::quote;

/// Longest program that is looked into, in bytes.
const MOST_PROGRAM: usize = 64 * 1024;
/// Most values that a call is judged with.
const MOST_CHOICES: usize = 8;

impl Judge {
    /// Judges a program.
    pub(super) fn program_text(
        &mut self,
        language: Language,
        program: &str,
        arguments: &[String],
        env: &mut Env,
    ) {
        if program.len() > MOST_PROGRAM {
            self.too_complex();
        }
        let program = program.get(..program.floor_char_boundary(MOST_PROGRAM)).unwrap_or(program);
        let renamed = super::rename::renamed(program);
        let program = renamed.as_str();
        if matches!(language, Language::Perl) {
            let compact: String = program.split_whitespace().collect();
            if ["evalpack", "eval(pack", "evalunpack", "eval(unpack", "evaldecode_base64"]
                .iter()
                .any(|it| compact.contains(it))
            {
                self.remote_code(crate::value::Taint::DECODED);
            }
        }
        let hash = !matches!(language, Language::JavaScript | Language::Lua);
        let hash = hash || program.starts_with("#!");
        let uncommented = if matches!(language, Language::JavaScript | Language::Php) {
            without_comments(program, "//")
        } else if language == Language::Lua {
            without_comments(program, "--")
        } else {
            program.to_owned()
        };
        let pieces = literals(&uncommented, hash);
        let bare = code(&uncommented, if hash { "#" } else { "\u{0}" });
        let scan = Scan::new(language, &bare, &pieces, arguments, env);
        self.forks(&scan);
        self.other_languages(language, program, env);
        self.remote(&scan, env);
        self.calls(&scan, env);
        self.walks(&scan, env);
    }

    /// Each call with what it is given, once for each value that its arguments may have.
    fn calls(&mut self, scan: &Scan<'_>, env: &mut Env) {
        let (calls, is_all) = scan.found();
        if !is_all {
            self.too_complex();
        }
        for mut call in calls {
            scan.at.set(call.at);
            if let Some(name) = scan.own_name(&call, env) {
                if call.names_another() {
                    call.drop_first();
                }
                call.name = name;
            }
            for choice in 0..MOST_CHOICES {
                scan.choice.set(choice);
                scan.has_choices.set(false);
                self.one_call(scan, &call, env);
                if !scan.has_choices.get() {
                    break;
                }
            }
            scan.choice.set(0);
        }
    }

    fn one_call(&mut self, scan: &Scan<'_>, call: &Call, env: &mut Env) {
        let name = call.name.as_str();
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        if call.is_of_another(scan) {
            return;
        }
        let is = |list: &[&str]| list.contains(&name) || list.contains(&last);
        let is_recursive = call.code.to_ascii_lowercase().contains("recursive");
        if is(&TREES)
            || (is(&TREES_IF) && is_recursive)
            || name == "FileUtils.rm_rf"
            || name == "FileUtils.rm_r"
        {
            let targets = call.targets(scan, env);
            let targets = if targets.is_empty() { vec![HOLE.to_string()] } else { targets };
            for target in targets.iter().take(8) {
                self.judge_tree(&Arg::new(target), env, "program_delete");
            }
            return;
        }
        // Of the languages that have no better name here, a line that starts so is read as a line.
        if scan.language == Language::Other && name == "spawn" {
            return;
        }
        if is_run(scan.language, name, last, scan.bare) {
            self.spawned(scan, call, env);
            return;
        }
        if FILES.contains(&name)
            || (matches!(last, "unlink" | "unlinkSync" | "rmSync" | "remove" | "delete")
                && (FILES.contains(&last)
                    || matches!(
                        scan.language,
                        Language::JavaScript | Language::Perl | Language::Php | Language::Python
                    )))
        {
            for target in
                call.targets(scan, env).iter().filter(|it| it.as_str() != HOLE.to_string())
            {
                self.judge_removal(&Arg::new(target), env);
            }
            return;
        }
        if WRITES.contains(&name) || WRITES.contains(&last) {
            if let Some(target) = call.targets(scan, env).first() {
                self.judge_write(&Arg::new(target), env);
            }
            return;
        }
        if COPIES.contains(&name) || (COPIES.contains(&last) && last.len() > 5 && last != "rename")
        {
            let targets = call.targets(scan, env);
            if let Some(target) = targets.get(1) {
                self.judge_write(&Arg::new(target), env);
            }
            if matches!(last, "move" | "rename" | "renameSync" | "replace" | "mv")
                && let Some(source) = targets.first()
                && resolve_text(source, env).loss(env, &self.homes) == Loss::All
            {
                self.find(
                    "move_protected",
                    Category::RecursiveDelete,
                    true,
                    "Moves a folder of the system away, which is as bad as deleting it.",
                );
            }
            return;
        }
        self.other_call(scan, call, name, last, env);
    }

    fn other_call(&mut self, scan: &Scan<'_>, call: &Call, name: &str, last: &str, env: &mut Env) {
        match last {
            "open" | "fopen" | "openSync" | "sysopen" | "new"
                if last != "new" || name == "File.new" =>
            {
                let values = call.values(scan, env);
                let mode = values.iter().skip(1).find(|it| {
                    !it.is_empty() && it.len() <= 4 && it.chars().all(|c| "rwaxbt+><U:".contains(c))
                });
                let first = values.first().cloned().unwrap_or_default();
                match (mode, scan.language) {
                    (Some(mode), _) if mode.contains(['w', 'a', 'x', '+', '>']) => {
                        let target = if mode.contains('>') {
                            values.iter().rev().find(|it| *it != mode).cloned().unwrap_or_default()
                        } else {
                            first
                        };
                        self.judge_write(&Arg::new(&target), env);
                    }
                    (None, Language::Perl)
                        if values.iter().any(|it| matches!(it.as_str(), "-|" | "|-")) =>
                    {
                        let words =
                            values.iter().skip_while(|it| !matches!(it.as_str(), "-|" | "|-"));
                        let words: Vec<Arg> = words.skip(1).map(|it| Arg::new(it)).collect();
                        let script = match words.as_slice() {
                            [script] => script.marked.clone(),
                            words => quote(words),
                        };
                        let mut inner = env.clone();
                        self.payload(&script, &mut inner, Flow::unknown());
                    }
                    (None, Language::Perl) => {
                        for value in &values {
                            if let Some(target) = value.strip_prefix('>') {
                                self.judge_write(
                                    &Arg::new(target.trim_start_matches('>').trim()),
                                    env,
                                );
                            } else if let Some(script) =
                                value.strip_prefix('|').or_else(|| value.strip_suffix('|'))
                            {
                                let mut inner = env.clone();
                                self.payload(script, &mut inner, Flow::unknown());
                            }
                        }
                    }
                    _ => {}
                }
            }
            "eval" | "exec" | "Function" | "assert" | "instance_eval" | "class_eval"
            | "loadstring" | "runInThisContext" | "runInNewContext" | "create_function" => {
                let program = call.values(scan, env).pop().filter(|it| !it.contains(HOLE));
                if let Some(program) = program.filter(|_| self.opens_program()) {
                    self.program_text(scan.language, &program, &[], env);
                    self.closes_program();
                }
            }
            // `"..".execute()`
            "execute" if scan.language == Language::Other && call.code.trim().is_empty() => {
                if let Some(script) = call.subject(scan, env) {
                    let mut inner = env.clone();
                    self.payload(&script, &mut inner, Flow::unknown());
                }
            }
            "write_text" | "write_bytes" => {
                if let Some(target) = call.subject(scan, env) {
                    self.judge_write(&Arg::new(&target), env);
                }
            }
            "unlink" | "rmdir" | "rename" | "replace"
                if call.code.is_empty() || last == "rename" =>
            {
                if let Some(target) = call.subject(scan, env) {
                    self.judge_removal(&Arg::new(&target), env);
                }
            }
            "chmod" | "chmodSync" => {
                let digits = call
                    .code
                    .split([',', '(', ')'])
                    .map(str::trim)
                    .find(|it| it.starts_with('0') && it.len() >= 3);
                if let Some(digits) = digits {
                    let mode = digits.trim_start_matches("0o").trim_start_matches('0');
                    self.mode(&Arg::new(mode));
                }
            }
            "kill" => {
                let compact: String = call.code.split_whitespace().collect();
                let all = compact.starts_with("-1,")
                    || compact == "-1"
                    || (scan.language != Language::Python
                        && (compact.ends_with(",-1") || compact.starts_with("9,-1")));
                if all {
                    self.find(
                        "kill_all",
                        Category::Kill,
                        true,
                        "Ends every process that it may, and the session with them.",
                    );
                }
            }
            "execute" | "executescript" | "executemany" | "query" | "do" | "prepare" | "raw" => {
                let mut changes = false;
                for value in call.values(scan, env) {
                    changes |= self.sql(&value);
                }
                let files = scan.pieces.iter().filter(|it| it.text.contains("state.db"));
                for file in files.filter(|_| changes) {
                    self.judge_write(&Arg::new(&expand_home(&file.text, env)), env);
                }
            }
            _ => {}
        }
    }

    /// A program that the program starts.
    fn spawned(&mut self, scan: &Scan<'_>, call: &Call, env: &mut Env) {
        let shown = self.argv.clone();
        let mut inner = env.clone();
        let mut values = call.values(scan, env);
        if call.name.starts_with("os.spawn") && !values.is_empty() {
            // How it is waited for.
            values.remove(0);
        }
        let is_list = call.has_list(scan, env)
            || call.code.trim_start().starts_with(['[', '('])
            || matches!(
                call.name.rsplit('.').next().unwrap_or_default(),
                "cmd"
                    | "execFile"
                    | "execFileSync"
                    | "spawn"
                    | "spawnSync"
                    | "execl"
                    | "execlp"
                    | "spawnl"
                    | "execvp"
                    | "execv"
                    | "execve"
                    | "spawnvp"
                    | "spawnlp"
                    | "execvpe"
                    | "pcntl_exec"
                    | "Command"
                    | "create_subprocess_exec"
            )
            || (matches!(scan.language, Language::Perl | Language::Ruby) && values.len() > 1);
        let first = values.first().cloned().unwrap_or_default();
        if values.is_empty() || first.trim_matches(|c| c == HOLE || c == ' ').is_empty() {
            if !call.code.trim().is_empty() || scan.pieces.iter().any(|it| it.quote != ' ') {
                // A text that is only known when it runs.
                let is_import = call.code.trim().is_empty() && values.is_empty();
                if !is_import {
                    self.find(
                        "dynamic_command",
                        Category::Other,
                        false,
                        "Starts a program that can't be known before it runs.",
                    );
                }
            }
            return;
        }
        if is_list && values.len() > 1 {
            let name = call.name.rsplit('.').next().unwrap_or_default();
            // `execvp("rm", ["rm", ..])` names the program twice.
            let repeats = name.starts_with("exec") && name.len() <= 7
                || name.starts_with("spawn") && call.name.starts_with("os.");
            let repeats = repeats
                && values
                    .get(1)
                    .is_some_and(|it| it.rsplit('/').next() == first.rsplit('/').next());
            let mut words: Vec<Arg> =
                values.iter().skip(usize::from(repeats)).map(|it| Arg::new(it)).collect();
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
        let walks = has(&[
            "os.walk",
            "rglob(",
            "Find.find",
            "finddepth",
            "File::Find",
            "RecursiveDirectoryIterator",
            "os.fwalk",
            "walkSync",
            "recursive: true",
            "recursive:true",
            "scandir_recursive",
            "walk(",
        ]) || star && has(&["glob"])
            || has(&["os.listdir", "scandir(", "iterdir("])
                && !has(&["endswith", "startswith", "fnmatch", "suffix", "if "])
            || has(&["glob", "Dir["])
                && scan.pieces.iter().any(|it| it.text == "*" || it.text.ends_with("/*"))
            || has(&["find("]) && has(&["File::Find", "unlink"]) && scan.language == Language::Perl;
        let deletes = has(&[
            "os.remove",
            "os.unlink",
            ".unlink(",
            "unlink",
            "File.delete",
            "os.rmdir",
            "unlinkSync",
            "rmdir",
            "File.unlink",
            "FileUtils.rm",
        ]);
        if walks && deletes {
            let starts: Vec<String> = scan
                .pieces
                .iter()
                .filter(|it| it.text.starts_with(['/', '~', '.']))
                .map(|it| expand_home(&it.text, env))
                .collect();
            let is_all = starts.iter().any(|it| {
                it.starts_with('/') && resolve_text(it, env).loss(env, &self.homes) == Loss::All
            }) && !has(&["endswith", "fnmatch", "suffix", "if ", "=~"])
                && !scan.pieces.iter().any(|it| it.text.contains("*."));
            self.find(
                "program_walk_delete",
                Category::RecursiveDelete,
                is_all,
                "Deletes every file that it meets in a tree.",
            );
        }
    }
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
