//! Editors, archives and filters that write files or run programs.

use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::Io;

impl Judge {
    /// Programs that change files in place.
    pub(super) fn edit(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        match name {
            "sed" | "gsed" => self.sed(args, env),
            "jq" | "yq" | "sd" | "crudini" => {
                let in_place = name == "sd"
                    || args.iter().any(|it| {
                        it.is("--inplace")
                            || it.is("--in-place")
                            || (it.is_option() && !it.starts_with("--") && it.marked.contains('i'))
                            || it.is("--set")
                    });
                if in_place {
                    for file in
                        args.iter().skip(usize::from(name == "sd") * 2).filter(|it| !it.is_option())
                    {
                        self.judge_write(file, env);
                    }
                }
            }
            "dos2unix" | "unix2dos" => {
                for file in args.iter().filter(|it| !it.is_option()) {
                    self.judge_write(file, env);
                }
            }
            "less" | "more" => {
                for arg in args {
                    if let Some(text) = arg.marked.strip_prefix("+!") {
                        self.script(text, env);
                    }
                }
            }
            "nano" | "emacs" => {
                for text in
                    Options::parse(args, Spec::new("f", &["eval", "funcall"])).values("", "eval")
                {
                    let text = text.text();
                    if let Some((_, rest)) = text.split_once("delete-directory") {
                        let target = rest.split('"').nth(1).unwrap_or_default();
                        self.judge_tree(&Arg::new(target), env, "program_delete");
                    }
                    if let Some(at) = text.find("shell-command") {
                        let rest = text.get(at..).unwrap_or_default();
                        let inner = rest.split('"').nth(1).unwrap_or_default().to_owned();
                        self.script(&inner, env);
                    }
                }
            }
            "augtool" => {}
            _ => self.editor(name, args, env, io),
        }
    }

    pub(crate) fn script(&mut self, text: &str, env: &Env) {
        let mut inner = env.clone();
        self.payload(text, &mut inner, Flow::unknown());
    }

    pub(crate) fn sed(&mut self, args: &[Arg], env: &mut Env) {
        // `-i` has its value in the same word only; so has `-l`.
        let mut in_place = false;
        let mut words = Vec::new();
        for arg in args {
            let text = arg.marked.as_str();
            let is_bundle = text.starts_with('-') && !text.starts_with("--");
            if text.starts_with("--in-place") || text.starts_with("--i") {
                in_place = true;
            } else if is_bundle
                && let Some(at) = text.find('i')
                && !text.get(..at).unwrap_or_default().contains(['e', 'f', 'l'])
            {
                in_place = true;
                let before = text.get(..at).unwrap_or_default();
                if before.len() > 1 {
                    words.push(Arg::new(before));
                }
            } else {
                words.push(arg.clone());
            }
        }
        let options =
            Options::parse(&words, Spec::new("efl", &["expression", "file", "line-length"]));
        let mut files = options.operands.as_slice();
        let mut scripts: Vec<String> =
            options.values("e", "expression").iter().map(|it| it.text()).collect();
        if scripts.is_empty() && options.value("f", "file").is_none() {
            scripts.extend(files.first().map(Arg::text));
            files = files.get(1..).unwrap_or_default();
        }
        if in_place {
            for file in files {
                self.judge_write(file, env);
            }
        }
        for script in scripts {
            self.sed_script(&script, env);
        }
    }

    /// `w FILE`, `e COMMAND` and `s///e` in a script of sed.
    pub(crate) fn sed_script(&mut self, script: &str, env: &Env) {
        for line in script.split(['\n', ';']).take(256) {
            let line = line.trim().trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | ' ' | '{' | '~')
            });
            // After an address such as `/x/`.
            let line = match line.strip_prefix('/') {
                Some(rest) => rest
                    .split_once('/')
                    .map_or("", |(_, rest)| rest.trim_start_matches([',', ' ', '!', '{'])),
                None => line,
            };
            if let Some(rest) = line.strip_prefix(['w', 'W']) {
                let file = rest.trim();
                if rest.starts_with(' ') || file.starts_with('/') {
                    self.judge_write(&Arg::new(file), env);
                }
            } else if let Some(rest) = line.strip_prefix("e ") {
                let rest = rest.to_owned();
                self.script(&rest, env);
            } else if let Some(rest) = line.strip_prefix('s')
                && let Some(delimiter) = rest.chars().next().filter(|it| !it.is_alphanumeric())
            {
                let body = rest.get(delimiter.len_utf8()..).unwrap_or_default();
                let parts = crate::print::delimited(body, delimiter, 3);
                let part = |at: usize| parts.get(at).map(String::as_str).unwrap_or_default();
                let (replacement, flags) = (part(1), part(2));
                if let Some((_, file)) = flags.split_once("w ") {
                    self.judge_write(&Arg::new(file.trim()), env);
                }
                let letters = flags.split_whitespace().next().unwrap_or_default();
                if letters.contains('e')
                    && letters.chars().all(|it| {
                        matches!(it, 'e' | 'g' | 'p' | 'i' | 'I' | 'm' | 'M') || it.is_ascii_digit()
                    })
                {
                    let text = replacement.to_owned();
                    self.script(&text, env);
                }
            }
        }
    }

    /// `vi`, `ed` and their like.
    pub(crate) fn editor(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        let spec = if matches!(name, "ed" | "red" | "ex") {
            Spec::new("cp", &["prompt"])
        } else {
            Spec::new("cSuUTWwp", &["cmd", "startuptime"])
        };
        let options = Options::parse(args, spec);
        let mut commands: Vec<String> =
            options.values("c", "cmd").iter().map(|it| it.text()).collect();
        commands
            .extend(args.iter().filter_map(|it| it.marked.strip_prefix('+').map(str::to_owned)));
        let is_line_editor = matches!(name, "ed" | "red" | "ex")
            || args.iter().any(|it| matches!(it.marked.as_str(), "-es" | "-Es" | "-e" | "-s"));
        let mut writes = false;
        if is_line_editor && io.stdin.is_known() && !io.stdin.text.is_empty() {
            commands.extend(io.stdin.text.lines().map(str::to_owned));
        } else if matches!(name, "ed" | "ex" | "red") {
            writes = true;
        }
        for command in commands.iter().flat_map(|it| it.split('|')).take(256) {
            let command = command.trim().trim_start_matches(':');
            if let Some(text) = command
                .strip_prefix('!')
                .or_else(|| command.strip_prefix("silent !"))
                .or_else(|| command.strip_prefix("sil !"))
                .or_else(|| command.strip_prefix("%!"))
                .or_else(|| command.strip_prefix("r !"))
                .or_else(|| command.strip_prefix("r!"))
                .or_else(|| command.strip_prefix("w !"))
            {
                self.script(text, env);
            }
            if let Some((_, rest)) = command.split_once("system(") {
                let text = rest
                    .trim_start_matches(['"', '\''])
                    .split(['"', '\''])
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                self.script(&text, env);
            }
            if let Some(rest) = command.strip_prefix("w").or_else(|| command.strip_prefix("sav")) {
                let file = rest.trim_start_matches(['r', 'i', 't', 'e', '!', 'q', 'a', 'v']).trim();
                if !file.is_empty() && rest.contains(' ') && !file.starts_with('!') {
                    self.judge_write(&Arg::new(file), env);
                }
            }
            writes |= command.starts_with("wq")
                || command.starts_with('x')
                || command == "w"
                || command.starts_with("w!")
                || command.starts_with("up")
                || command.starts_with("wa")
                || command.starts_with("exe");
        }
        if writes {
            for file in options.operands.iter().filter(|it| !it.starts_with("+")) {
                self.judge_write(file, env);
            }
        }
    }

    pub(super) fn awk(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
        let options = Options::parse(
            args,
            Spec::stopping(
                "fFvilEe",
                &["file", "field-separator", "assign", "include", "source", "load"],
            ),
        );
        let mut files = options.operands.as_slice();
        let mut scripts: Vec<String> =
            options.values("e", "source").iter().map(|it| it.text()).collect();
        if options.value("f", "file").is_none() && scripts.is_empty() {
            scripts.extend(files.first().map(Arg::text));
            files = files.get(1..).unwrap_or_default();
        }
        for file in options.values("f", "file") {
            let flow = if file.is("-") || file.is("/dev/stdin") {
                io.stdin.clone()
            } else {
                self.file(file, env)
            };
            if flow.taint.has(Taint::FETCHED | Taint::DECODED) {
                self.remote_code(flow.taint);
            }
            scripts.push(flow.text);
        }
        if options.values("i", "include").iter().any(|it| it.is("inplace")) {
            for file in files {
                self.judge_write(file, env);
            }
        }
        for script in scripts {
            let compact: String = script.split_whitespace().collect();
            for set in options.values("v", "assign") {
                let Some((name, value)) = set.marked.split_once('=') else { continue };
                if runs_name(&compact, name) {
                    let value = crate::value::plain(value);
                    self.script(&value, env);
                }
            }
            self.awk_script(&script, env, &io.stdin);
        }
    }

    /// `system("..")`, `".." | getline`, `print | ".."` and `print > ".."`.
    pub(crate) fn awk_script(&mut self, script: &str, env: &mut Env, stdin: &Flow) {
        let pieces = crate::interp::literals(script, false);
        let compact: String = script.split_whitespace().collect();
        for (index, piece) in pieces.iter().enumerate() {
            let before = piece.before.trim_end();
            let after = pieces
                .get(index + 1)
                .map_or(piece.rest.as_str(), |it| it.before.as_str())
                .trim_start();
            let mut text = crate::escapes::unescape(&piece.text, crate::escapes::Escapes::Ansi);
            // Texts beside each other are one.
            for next in pieces.iter().skip(index + 1).take_while(|it| it.before.trim().is_empty()) {
                text.push_str(&crate::escapes::unescape(&next.text, crate::escapes::Escapes::Ansi));
            }
            let is_system = before.ends_with("system(") || before.ends_with("system (");
            let is_piped =
                (before.ends_with('|') && !before.ends_with("||")) || before.ends_with("|&");
            let is_read = after.starts_with('|')
                && after.trim_start_matches(['|', '&', ' ']).starts_with("getline");
            // A name that is run later on.
            let is_named = before.strip_suffix('=').is_some_and(|it| {
                let it = it.trim_end();
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let name = it.rsplit(|c| !is_part(c)).next().unwrap_or_default();
                !name.is_empty() && runs_name(&compact, name)
            });
            if is_system || is_piped || is_read || is_named {
                // What is joined to it can't be known.
                let joined = if after.starts_with('$')
                    || after.starts_with(|c: char| c.is_alphabetic())
                        && !after.starts_with("getline")
                {
                    format!("{text}\u{F8FF}")
                } else {
                    text.clone()
                };
                let flow = if is_piped && stdin.taint.has(Taint::FETCHED | Taint::DECODED) {
                    Flow::tainted(stdin.taint)
                } else if is_piped && before.trim_matches(['|', '&', ' ', ')']).is_empty() {
                    // What is printed goes to the program.
                    let printed = index.checked_sub(1).and_then(|it| pieces.get(it));
                    printed.map_or_else(Flow::unknown, |it| {
                        Flow::known(crate::escapes::unescape(
                            &it.text,
                            crate::escapes::Escapes::Ansi,
                        ))
                    })
                } else if is_named {
                    // What is printed first may go to it.
                    let printed = pieces.iter().find(|it| it.before.trim_end().ends_with("print"));
                    printed.map_or_else(Flow::unknown, |it| {
                        Flow::known(crate::escapes::unescape(
                            &it.text,
                            crate::escapes::Escapes::Ansi,
                        ))
                    })
                } else {
                    Flow::unknown()
                };
                let mut inner = env.clone();
                self.payload(&joined, &mut inner, flow);
            }
            let is_written = before.ends_with('>')
                && (before.contains("print")
                    || pieces.iter().take(index).any(|it| it.before.contains("print")));
            if is_written {
                self.judge_write(&Arg::new(&text), env);
            }
        }
        let bare = script.replace(' ', "");
        if (bare.contains("system($") || bare.contains("|getline") && bare.contains("$0|"))
            && stdin.taint.has(Taint::FETCHED | Taint::DECODED)
        {
            self.remote_code(stdin.taint);
        }
        if bare.contains("system($0)") || bare.contains("system($1)") {
            let flow = stdin.clone();
            if flow.is_known() {
                self.script(&flow.text, env);
            }
        }
    }
}

/// Whether a script without blanks runs what a name holds.
fn runs_name(compact: &str, name: &str) -> bool {
    let runs = [format!("system({name}"), format!("{name}|getline"), format!("|{name}")];
    runs.iter().any(|it| compact.contains(it.as_str()))
}
