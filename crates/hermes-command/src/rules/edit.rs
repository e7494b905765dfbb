//! Editors, archives and filters that write files or run programs.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::{Loss, resolve};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::{Io, join};

impl Judge {
    /// Programs that change files in place.
    pub(super) fn edit(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        match name {
            "sed" | "gsed" => self.sed(args, env, io),
            "jq" | "yq" | "sd" | "crudini" => {
                let in_place = name == "sd" || args.iter().any(|it| it.is("--inplace") || it.is("--in-place") || (it.is_option() && !it.starts_with("--") && it.marked.contains('i')) || it.is("--set"));
                if in_place {
                    for file in args.iter().skip(usize::from(name == "sd") * 2).filter(|it| !it.is_option()) {
                        self.judge_write(file, env, "edit");
                    }
                }
            }
            "dos2unix" | "unix2dos" => {
                for file in args.iter().filter(|it| !it.is_option()) {
                    self.judge_write(file, env, "edit");
                }
            }
            "less" | "more" => {
                for arg in args {
                    if let Some(text) = arg.marked.strip_prefix("+!") {
                        self.script(text, env);
                    }
                }
            }
            "nano" | "view" | "emacs" => {
                for text in Options::parse(args, Spec::new("f", &["eval", "funcall"])).values("", "eval") {
                    let text = text.text();
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

    fn script(&mut self, text: &str, env: &Env) {
        let mut inner = env.clone();
        self.payload(text, &mut inner, Flow::unknown());
    }

    fn sed(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
        let _ = io;
        // `-i` has its value in the same word only; so has `-l`.
        let mut in_place = false;
        let mut words = Vec::new();
        for arg in args {
            let text = arg.marked.as_str();
            let is_bundle = text.starts_with('-') && !text.starts_with("--");
            if text.starts_with("--in-place") || text.starts_with("--i") {
                in_place = true;
            } else if is_bundle && let Some(at) = text.find('i') && !text.get(..at).unwrap_or_default().contains(['e', 'f', 'l']) {
                in_place = true;
                let before = text.get(..at).unwrap_or_default();
                if before.len() > 1 {
                    words.push(Arg::new(before));
                }
            } else {
                words.push(arg.clone());
            }
        }
        let options = Options::parse(&words, Spec::new("efl", &["expression", "file", "line-length"]));
        let mut files = options.operands.as_slice();
        let mut scripts: Vec<String> = options.values("e", "expression").iter().map(|it| it.text()).collect();
        if scripts.is_empty() && options.value("f", "file").is_none() {
            scripts.extend(files.first().map(Arg::text));
            files = files.get(1..).unwrap_or_default();
        }
        if in_place {
            for file in files {
                self.judge_write(file, env, "edit");
            }
        }
        for script in scripts {
            self.sed_script(&script, env);
        }
    }

    /// `w FILE`, `e COMMAND` and `s///e` in a script of sed.
    fn sed_script(&mut self, script: &str, env: &Env) {
        for line in script.split(['\n', ';']).take(256) {
            let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | ' ' | '{' | '~'));
            // After an address such as `/x/`.
            let line = match line.strip_prefix('/') {
                Some(rest) => rest.split_once('/').map_or("", |(_, rest)| rest.trim_start_matches([',', ' ', '!', '{'])),
                None => line,
            };
            if let Some(rest) = line.strip_prefix(['w', 'W']) {
                let file = rest.trim();
                if rest.starts_with(' ') || file.starts_with('/') {
                    self.judge_write(&Arg::new(file), env, "edit");
                }
            } else if let Some(rest) = line.strip_prefix("e ") {
                let rest = rest.to_owned();
                self.script(&rest, env);
            } else if let Some(rest) = line.strip_prefix('s')
                && let Some(delimiter) = rest.chars().next().filter(|it| !it.is_alphanumeric())
            {
                let mut parts = rest.get(delimiter.len_utf8()..).unwrap_or_default().splitn(3, delimiter);
                let (_, replacement, flags) = (parts.next(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                if let Some((_, file)) = flags.split_once("w ") {
                    self.judge_write(&Arg::new(file.trim()), env, "edit");
                }
                let letters = flags.split_whitespace().next().unwrap_or_default();
                if letters.contains('e') && letters.chars().all(|it| matches!(it, 'e' | 'g' | 'p' | 'i' | 'I' | 'm' | 'M') || it.is_ascii_digit()) {
                    let text = replacement.to_owned();
                    self.script(&text, env);
                }
            }
        }
    }

    /// `vi`, `ed` and their like.
    fn editor(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        let spec = if matches!(name, "ed" | "red" | "ex") { Spec::new("cp", &["prompt"]) } else { Spec::new("cSuUTWwp", &["cmd", "startuptime"]) };
        let options = Options::parse(args, spec);
        let mut commands: Vec<String> = options.values("c", "cmd").iter().map(|it| it.text()).collect();
        commands.extend(args.iter().filter_map(|it| it.marked.strip_prefix('+').map(str::to_owned)));
        let is_line_editor = matches!(name, "ed" | "red" | "ex") || args.iter().any(|it| matches!(it.marked.as_str(), "-es" | "-Es" | "-e" | "-s"));
        let mut writes = false;
        if is_line_editor && io.stdin.is_known() && !io.stdin.text.is_empty() {
            commands.extend(io.stdin.text.lines().map(str::to_owned));
        } else if matches!(name, "ed" | "ex" | "red") {
            writes = true;
        }
        for command in commands.iter().flat_map(|it| it.split('|')).take(256) {
            let command = command.trim().trim_start_matches(':');
            if let Some(text) = command.strip_prefix('!').or_else(|| command.strip_prefix("silent !")).or_else(|| command.strip_prefix("sil !")).or_else(|| command.strip_prefix("%!")).or_else(|| command.strip_prefix("r !")).or_else(|| command.strip_prefix("r!")).or_else(|| command.strip_prefix("w !")) {
                self.script(text, env);
            }
            if let Some((_, rest)) = command.split_once("system(") {
                let text = rest.trim_start_matches(['"', '\'']).split(['"', '\'']).next().unwrap_or_default().to_owned();
                self.script(&text, env);
            }
            if let Some(rest) = command.strip_prefix("w").or_else(|| command.strip_prefix("sav")) {
                let file = rest.trim_start_matches(['r', 'i', 't', 'e', '!', 'q', 'a', 'v']).trim();
                if !file.is_empty() && rest.contains(' ') && !file.starts_with('!') {
                    self.judge_write(&Arg::new(file), env, "edit");
                }
            }
            writes |= command.starts_with("wq") || command.starts_with('x') || command == "w" || command.starts_with("w!") || command.starts_with("up") || command.starts_with("wa") || command.starts_with("exe");
        }
        if writes {
            for file in options.operands.iter().filter(|it| !it.starts_with("+")) {
                self.judge_write(file, env, "edit");
            }
        }
    }

    pub(super) fn awk(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
        let options = Options::parse(args, Spec::stopping("fFvilEe", &["file", "field-separator", "assign", "include", "source", "load"]));
        let mut files = options.operands.as_slice();
        let mut scripts: Vec<String> = options.values("e", "source").iter().map(|it| it.text()).collect();
        if options.value("f", "file").is_none() && scripts.is_empty() {
            scripts.extend(files.first().map(Arg::text));
            files = files.get(1..).unwrap_or_default();
        }
        for file in options.values("f", "file") {
            let flow = if file.is("-") || file.is("/dev/stdin") { io.stdin.clone() } else { self.file(file, env) };
            if flow.taint.has(Taint::FETCHED | Taint::DECODED) {
                self.remote_code(flow.taint);
            }
            scripts.push(flow.text);
        }
        if options.values("i", "include").iter().any(|it| it.is("inplace")) {
            for file in files {
                self.judge_write(file, env, "edit");
            }
        }
        for script in scripts {
            self.awk_script(&script, env, &io.stdin);
        }
    }

    /// `system("..")`, `".." | getline`, `print | ".."` and `print > ".."`.
    fn awk_script(&mut self, script: &str, env: &mut Env, stdin: &Flow) {
        let pieces = crate::interp::literals(script, false);
        for (index, piece) in pieces.iter().enumerate() {
            let before = piece.before.trim_end();
            let after = pieces.get(index + 1).map_or(piece.rest.as_str(), |it| it.before.as_str()).trim_start();
            let text = crate::expand::unescape(&piece.text, crate::expand::Escapes::Ansi);
            let is_system = before.ends_with("system(") || before.ends_with("system (");
            let is_piped = (before.ends_with('|') && !before.ends_with("||")) || before.ends_with("|&");
            let is_read = after.starts_with('|') && after.trim_start_matches(['|', '&', ' ']).starts_with("getline");
            if is_system || is_piped || is_read {
                // What is joined to it can't be known.
                let joined = if after.starts_with('$') || after.starts_with(|c: char| c.is_alphabetic()) && !after.starts_with("getline") { format!("{text}\u{F8FF}") } else { text.clone() };
                let flow = if is_piped && stdin.taint.has(Taint::FETCHED | Taint::DECODED) { Flow::tainted(stdin.taint) } else { Flow::unknown() };
                let mut inner = env.clone();
                self.payload(&joined, &mut inner, flow);
            }
            let is_written = before.ends_with('>') && (before.contains("print") || pieces.iter().take(index).any(|it| it.before.contains("print")));
            if is_written {
                self.judge_write(&Arg::new(&text), env, "awk");
            }
        }
        let bare = script.replace(' ', "");
        if (bare.contains("system($") || bare.contains("|getline") && bare.contains("$0|")) && stdin.taint.has(Taint::FETCHED | Taint::DECODED) {
            self.remote_code(stdin.taint);
        }
        if bare.contains("system($0)") || bare.contains("system($1)") {
            let flow = stdin.clone();
            if flow.is_known() {
                self.script(&flow.text, env);
            }
        }
    }

    /// Programs that write a file among other things.
    pub(super) fn write_programs(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        match name {
            "tee" | "sponge" => {
                let options = Options::parse(args, Spec::default());
                for file in &options.operands {
                    self.judge_write(file, env, "tee");
                    let path = resolve(file, env);
                    let is_network = path.path.starts_with("/dev/tcp/") || path.path.starts_with("/dev/udp/");
                    if is_network && io.stdin.taint.has(Taint::SECRET | Taint::ENVIRONMENT) {
                        self.exfiltration();
                    }
                    env.write(&path.path, &io.stdin, options.has("a"));
                }
            }
            "truncate" | "fallocate" | "chattr" | "mknod" => {
                let options = match name {
                    "truncate" => Options::parse(args, Spec::new("sr", &["size", "reference"])),
                    "fallocate" => Options::parse(args, Spec::new("lo", &["length", "offset"])),
                    _ => Options::parse(args, Spec::new("v", &[])),
                };
                for file in &options.operands {
                    if name == "truncate" && file.marked.is_empty() {
                        continue;
                    }
                    self.judge_write(file, env, name);
                }
                if name == "chattr" {
                    for arg in args.iter().filter(|it| it.is_option()).chain(&options.operands) {
                        let is_recursive = arg.is("-R");
                        if is_recursive && options.operands.iter().any(|it| resolve(it, env).loss(env, &self.homes) == Loss::All) {
                            self.find("permissions_of_system", Category::Permission, false, "Changes attributes of everything in a folder of the system.");
                        }
                    }
                }
            }
            "touch" | "split" | "csplit" => {}
            "visudo" | "vipw" | "vigr" => {
                if !args.iter().any(|it| it.is("-c") || it.is("--check")) {
                    self.find("system_file_written", Category::SystemConfigOverwrite, false, "Edits who may become the administrator.");
                }
            }
            "crontab" => self.crontab(args, env, io),
            "patch" => {
                let options = Options::parse(args, Spec::new("pidorBDFVYz", &["directory", "input", "output", "strip"]));
                if let Some(folder) = options.value("d", "directory") {
                    let path = resolve(folder, env);
                    self.judge_path(&path, "patch", false);
                }
                for file in options.operands.first().into_iter().chain(options.value("o", "output")) {
                    self.judge_write(file, env, "patch");
                }
            }
            "xxd" => {
                if let Some(file) = Options::parse(args, Spec::new("lscog", &[])).operands.get(1) {
                    self.judge_write(file, env, "xxd");
                }
            }
            "base64" | "gzip" => {}
            "sort" => {
                let options = Options::parse(args, Spec::new("okStT", &["output", "key", "buffer-size", "field-separator", "temporary-directory", "compress-program", "files0-from", "parallel"]));
                if let Some(file) = options.value("o", "output") {
                    self.judge_write(&file.clone(), env, "sort");
                }
                if let Some(text) = options.value("", "compress-program").map(Arg::text) {
                    self.script(&text, env);
                }
            }
            "openssl" => {
                let options = Options::parse(args, Spec { long: &["out", "in", "keyout", "k", "pass", "passin", "passout", "iter", "subj", "days", "newkey", "md", "config", "connect"], single: true, ..Spec::default() });
                for file in options.values("", "out").into_iter().chain(options.values("", "keyout")) {
                    self.judge_write(&file.clone(), env, "openssl");
                    let path = resolve(file, env);
                    if args.iter().any(|it| it.is("-d")) {
                        env.write(&path.path, &Flow::tainted(Taint::DECODED), false);
                    }
                }
            }
            "sysctl" => {
                let sets = args.iter().any(|it| (it.is_option() && (it.is("-w") || it.is("--write"))) || (!it.is_option() && it.marked.contains('='))) || args.iter().any(|it| it.is("-p") || it.is("--system"));
                let is_sysrq = args.iter().any(|it| it.marked.contains("sysrq"));
                if sets && !args.iter().any(|it| it.is("-n")) {
                    let _ = is_sysrq;
                    self.find("kernel_settings", Category::SystemConfigOverwrite, false, "Changes settings of the kernel.");
                }
            }
            "update-alternatives" => {
                if args.iter().any(|it| matches!(it.marked.as_str(), "--install" | "--set" | "--remove" | "--remove-all")) {
                    self.find("system_file_written", Category::SystemConfigOverwrite, false, "Changes which program a name of the system means.");
                }
            }
            "ssh-keygen" => {
                let options = Options::parse(args, Spec::new("tfCbNPRFIKVnOsYZ", &[]));
                let reads = options.has("lyeBFrHLQ") || options.has("R");
                if let Some(file) = options.value("f", "").cloned()
                    && !reads
                    && file.starts_with("/etc/")
                {
                    self.judge_write(&file, env, "ssh-keygen");
                }
            }
            "rg" | "ag" | "man" => {
                let options = Options::parse(args, Spec::new(if name == "man" { "PCMmSs" } else { "egtTfmABCjr" }, &["pre", "pager", "pre-glob", "regexp", "glob", "hostname-bin"]));
                let texts = options.values("", "pre").into_iter().chain(options.values("P", "pager")).chain(options.values("", "hostname-bin"));
                for text in texts.map(Arg::text).collect::<Vec<_>>() {
                    self.script(&text, env);
                }
            }
            _ => self.archives(name, args, env),
        }
    }

    fn crontab(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
        let options = Options::parse(args, Spec::new("uci", &[]));
        if options.has("r") {
            self.find("crontab_removed", Category::Other, false, "Removes every job of a crontab.");
            return;
        }
        if options.has("le") || options.has("V") || options.wants_help() {
            return;
        }
        // No operand reads standard input too.
        let names_file = options.operands.first();
        if names_file.is_some() || !args.is_empty() || io.stdin.text != crate::value::HOLE.to_string() || io.stdin.taint != Taint::NONE {
            self.find("crontab_replaced", Category::SystemConfigOverwrite, false, "Replaces every job of a crontab.");
        }
        let flow = match names_file {
            Some(file) if !file.is("-") => self.file(file, env),
            _ => io.stdin.clone(),
        };
        for line in flow.text.lines().take(64) {
            let line = line.trim();
            let command = if let Some(rest) = line.strip_prefix('@') {
                rest.split_once(char::is_whitespace).map(|(_, rest)| rest.to_owned())
            } else {
                let words: Vec<&str> = line.split_whitespace().collect();
                (words.len() > 5 && !line.starts_with('#')).then(|| words.get(5..).unwrap_or_default().join(" "))
            };
            if let Some(command) = command {
                self.script(&command, env);
            }
        }
    }

    /// Archives: where they are unpacked, and programs they run.
    fn archives(&mut self, name: &str, args: &[Arg], env: &mut Env) {
        match name {
            "tar" | "bsdtar" | "gtar" => self.tar(args, env),
            "unzip" | "7z" => {
                let options = Options::parse(args, Spec::new("dxPo", &[]));
                let lists = options.has("lvtzZp") && name == "unzip";
                let folder = options.value(if name == "unzip" { "d" } else { "o" }, "");
                if let Some(folder) = folder.cloned()
                    && !lists
                {
                    self.unpacked(&folder, env);
                } else if !lists && name == "unzip" {
                    self.unpacked(&Arg::new("."), env);
                }
            }
            "zip" => {
                let options = Options::parse(args, Spec { long: &["TT", "unzip-command"], single: true, ..Spec::default() });
                let bundled = args.windows(2).find_map(|it| match it {
                    [flag, value] if flag.is("-TT") || flag.is("--unzip-command") => Some(value.text()),
                    _ => None,
                });
                if let Some(text) = bundled {
                    self.script(&text, env);
                }
                if args.iter().any(|it| it.is_option() && !it.starts_with("--") && it.marked.contains('m')) {
                    for target in options.operands.iter().skip(1) {
                        self.judge_removal(target, env);
                    }
                }
                if let Some(file) = options.operands.first() {
                    self.judge_write(file, env, "zip");
                }
            }
            "cpio" | "bsdcpio" | "pax" => {
                let options = Options::parse(args, Spec::new("CDEFHIMOR", &["directory"]));
                if options.has("ir") || options.long("extract", 2) {
                    let folder = options.value("D", "directory").cloned().unwrap_or_else(|| Arg::new("."));
                    self.unpacked(&folder, env);
                }
            }
            _ => {}
        }
    }

    fn tar(&mut self, args: &[Arg], env: &mut Env) {
        // The first word may be options without a dash.
        let mut words = args.to_vec();
        if let Some(first) = words.first_mut()
            && !first.is_option()
            && !first.marked.is_empty()
            && first.marked.chars().all(|it| it.is_ascii_alphabetic())
        {
            // Values of old options follow in their order.
            let letters = first.marked.clone();
            let mut at = 1;
            let mut flags = Vec::new();
            for letter in letters.chars() {
                flags.push(Arg::new(&format!("-{letter}")));
                if "fbCIgTXVK".contains(letter) {
                    flags.extend(args.get(at).cloned());
                    at += 1;
                }
            }
            flags.extend(args.get(at..).unwrap_or_default().iter().cloned());
            words = flags;
        }
        let options = Options::parse(&words, Spec::new("fbCIgTXVKHLN", &["file", "directory", "use-compress-program", "to-command", "checkpoint-action", "exclude", "transform", "strip-components", "exclude-from", "files-from", "owner", "group", "mode", "info-script", "new-volume-script", "rsh-command", "one-top-level", "newer", "format"]));
        let mut programs: Vec<String> = Vec::new();
        for name in ["use-compress-program", "to-command", "info-script", "new-volume-script", "rsh-command"] {
            programs.extend(options.values(if name == "use-compress-program" { "I" } else { "" }, name).iter().map(|it| it.text()));
        }
        for action in options.values("", "checkpoint-action") {
            if let Some(text) = action.text().strip_prefix("exec=") {
                programs.push(text.to_owned());
            }
        }
        for program in programs {
            self.script(&program, env);
        }
        let extracts = options.has("x") || options.long("extract", 3) || options.long("get", 3);
        let creates = options.has("crAu") || options.long("create", 2);
        if extracts {
            let folder = options.value("C", "directory").cloned().unwrap_or_else(|| Arg::new("."));
            if !(options.has("O") || options.long("to-stdout", 5)) {
                self.unpacked(&folder, env);
            }
        }
        if creates && let Some(file) = options.value("f", "file").filter(|it| !it.is("-")) {
            self.judge_write(&file.clone(), env, "tar");
        }
        if options.long("remove-files", 5) {
            for target in &options.operands {
                self.judge_tree(target, env, "recursive_delete");
            }
        }
    }

    /// Files are unpacked into a folder.
    fn unpacked(&mut self, folder: &Arg, env: &Env) {
        let path = resolve(folder, env);
        let system = ["/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/etc", "/boot", "/proc", "/sys"];
        let is_system = matches!(path.path.as_str(), "/" | "/usr" | "/home" | "/root" | "/System" | "/Library") && !path.is_rootless || system.iter().any(|it| path.is_within(it));
        if is_system {
            let why = format!("Unpacks files into {}, over those of the system.", path.path);
            self.find("unpacked_into_system", Category::SystemConfigOverwrite, false, why);
        } else {
            self.judge_path(&path, "unpack", false);
        }
        let _ = join;
    }
}
