//! Programs that write files among other things, and archives.

use crate::Category;
use crate::env::Env;
use crate::judge::{Judge, Via};
use crate::options::{Options, Spec};
use crate::path::{Loss, resolve};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::Io;

impl Judge {
    /// Programs that write a file among other things.
    pub(crate) fn write_programs(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        match name {
            "tee" | "sponge" => {
                let options = Options::parse(args, Spec::default());
                for file in &options.operands {
                    self.judge_write(file, env);
                    let path = resolve(file, env);
                    let is_network =
                        path.path.starts_with("/dev/tcp/") || path.path.starts_with("/dev/udp/");
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
                    self.judge_write(file, env);
                }
                if name == "truncate" && self.via != Via::Shell {
                    self.find(
                        "bulk_truncate",
                        Category::RecursiveDelete,
                        false,
                        "Empties every file of a list that isn't known before it runs.",
                    );
                }
                if name == "chattr" {
                    for arg in args.iter().filter(|it| it.is_option()).chain(&options.operands) {
                        let is_recursive = arg.is("-R");
                        if is_recursive
                            && options
                                .operands
                                .iter()
                                .any(|it| resolve(it, env).loss(env, &self.homes) == Loss::All)
                        {
                            self.find(
                                "permissions_of_system",
                                Category::Permission,
                                false,
                                "Changes attributes of everything in a folder of the system.",
                            );
                        }
                    }
                }
            }
            "touch" | "split" | "csplit" => {}
            "visudo" | "vipw" | "vigr" => {
                if !args.iter().any(|it| it.is("-c") || it.is("--check")) {
                    self.find(
                        "system_file_written",
                        Category::SystemConfigOverwrite,
                        false,
                        "Edits who may become the administrator.",
                    );
                }
            }
            "crontab" => self.crontab(args, env, io),
            "patch" => {
                let options = Options::parse(
                    args,
                    Spec::new("pidorBDFVYz", &["directory", "input", "output", "strip"]),
                );
                if let Some(folder) = options.value("d", "directory") {
                    self.unpacked(&folder.clone(), env);
                }
                for file in options.operands.first().into_iter().chain(options.value("o", "output"))
                {
                    self.judge_write(file, env);
                }
            }
            "xxd" => {
                if let Some(file) = Options::parse(args, Spec::new("lscog", &[])).operands.get(1) {
                    self.judge_write(file, env);
                }
            }
            "base64" => {}
            "sort" => {
                let options = Options::parse(
                    args,
                    Spec::new(
                        "okStT",
                        &[
                            "output",
                            "key",
                            "buffer-size",
                            "field-separator",
                            "temporary-directory",
                            "compress-program",
                            "files0-from",
                            "parallel",
                        ],
                    ),
                );
                if let Some(file) = options.value("o", "output") {
                    self.judge_write(&file.clone(), env);
                }
                if let Some(text) = options.value("", "compress-program").map(Arg::text) {
                    self.script(&text, env);
                }
            }
            "openssl" => {
                let options = Options::parse(
                    args,
                    Spec {
                        long: &[
                            "out", "in", "keyout", "k", "pass", "passin", "passout", "iter",
                            "subj", "days", "newkey", "md", "config", "connect",
                        ],
                        single: true,
                        ..Spec::default()
                    },
                );
                for file in
                    options.values("", "out").into_iter().chain(options.values("", "keyout"))
                {
                    self.judge_write(&file.clone(), env);
                    let path = resolve(file, env);
                    if args.iter().any(|it| it.is("-d")) {
                        env.write(&path.path, &Flow::tainted(Taint::DECODED), false);
                    }
                }
            }
            "sysctl" => {
                let sets = args.iter().any(|it| {
                    (it.is_option() && (it.is("-w") || it.is("--write")))
                        || (!it.is_option() && it.marked.contains('='))
                }) || args.iter().any(|it| it.is("-p") || it.is("--system"));
                if sets && !args.iter().any(|it| it.is("-n")) {
                    self.find(
                        "kernel_settings",
                        Category::SystemConfigOverwrite,
                        false,
                        "Changes settings of the kernel.",
                    );
                }
            }
            "update-alternatives" => {
                if args.iter().any(|it| {
                    matches!(
                        it.marked.as_str(),
                        "--install" | "--set" | "--remove" | "--remove-all"
                    )
                }) {
                    self.find(
                        "system_file_written",
                        Category::SystemConfigOverwrite,
                        false,
                        "Changes which program a name of the system means.",
                    );
                }
            }
            "ssh-keygen" => {
                let options = Options::parse(args, Spec::new("tfCbNPRFIKVnOsYZ", &[]));
                let reads = options.has("lyeBFrHLQ") || options.has("R");
                if let Some(file) = options.value("f", "").cloned()
                    && !reads
                    && file.starts_with("/etc/")
                {
                    self.judge_write(&file, env);
                }
            }
            "rg" | "ag" | "man" => {
                let options = Options::parse(
                    args,
                    Spec::new(
                        if name == "man" { "PCMmSs" } else { "egtTfmABCjr" },
                        &["pre", "pager", "pre-glob", "regexp", "glob", "hostname-bin"],
                    ),
                );
                let texts = options
                    .values("", "pre")
                    .into_iter()
                    .chain(options.values("P", "pager"))
                    .chain(options.values("", "hostname-bin"));
                for text in texts.map(Arg::text).collect::<Vec<_>>() {
                    self.script(&text, env);
                }
            }
            _ => self.archives(name, args, env),
        }
    }

    pub(crate) fn crontab(&mut self, args: &[Arg], env: &mut Env, io: &Io) {
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
        if names_file.is_some()
            || !args.is_empty()
            || io.stdin.text != crate::value::HOLE.to_string()
            || io.stdin.taint != Taint::NONE
        {
            self.find(
                "crontab_replaced",
                Category::SystemConfigOverwrite,
                false,
                "Replaces every job of a crontab.",
            );
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
                (words.len() > 5 && !line.starts_with('#'))
                    .then(|| words.get(5..).unwrap_or_default().join(" "))
            };
            if let Some(command) = command {
                self.script(&command, env);
            }
        }
    }

    /// Archives: where they are unpacked, and programs they run.
    pub(crate) fn archives(&mut self, name: &str, args: &[Arg], env: &mut Env) {
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
                let options = Options::parse(
                    args,
                    Spec { long: &["TT", "unzip-command"], single: true, ..Spec::default() },
                );
                let bundled = args.windows(2).find_map(|it| match it {
                    [flag, value] if flag.is("-TT") || flag.is("--unzip-command") => {
                        Some(value.text())
                    }
                    _ => None,
                });
                if let Some(text) = bundled {
                    self.script(&text, env);
                }
                if args
                    .iter()
                    .any(|it| it.is_option() && !it.starts_with("--") && it.marked.contains('m'))
                {
                    for target in options.operands.iter().skip(1) {
                        self.judge_removal(target, env);
                    }
                }
                if let Some((file, sources)) = options.operands.split_first() {
                    self.judge_write(file, env);
                    self.packed(file, sources, env);
                }
            }
            "cpio" | "bsdcpio" | "pax" => {
                let options = Options::parse(args, Spec::new("CDEFHIMOR", &["directory"]));
                if options.has("ir") || options.long("extract", 2) {
                    let folder =
                        options.value("D", "directory").cloned().unwrap_or_else(|| Arg::new("."));
                    self.unpacked(&folder, env);
                }
            }
            _ => {}
        }
    }

    /// An archive holds what is as secret as its files.
    fn packed(&self, archive: &Arg, sources: &[Arg], env: &mut Env) {
        let is_secret = sources.iter().any(|it| self.file(it, env).taint.has(Taint::SECRET));
        if is_secret {
            let path = resolve(archive, env);
            env.write(&path.path, &Flow::tainted(Taint::SECRET), false);
        }
    }

    pub(crate) fn tar(&mut self, args: &[Arg], env: &mut Env) {
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
        let options = Options::parse(
            &words,
            Spec::new(
                "fbCIgTXVKHLN",
                &[
                    "file",
                    "directory",
                    "use-compress-program",
                    "to-command",
                    "checkpoint-action",
                    "exclude",
                    "transform",
                    "strip-components",
                    "exclude-from",
                    "files-from",
                    "owner",
                    "group",
                    "mode",
                    "info-script",
                    "new-volume-script",
                    "rsh-command",
                    "one-top-level",
                    "newer",
                    "format",
                ],
            ),
        );
        let mut programs: Vec<String> = Vec::new();
        for name in [
            "use-compress-program",
            "to-command",
            "info-script",
            "new-volume-script",
            "rsh-command",
        ] {
            programs.extend(
                options
                    .values(if name == "use-compress-program" { "I" } else { "" }, name)
                    .iter()
                    .map(|it| it.text()),
            );
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
            if options.has("P") || options.long("absolute-names", 3) {
                self.find(
                    "unpacked_into_system",
                    Category::SystemConfigOverwrite,
                    false,
                    "Unpacks files wherever the archive says, over those of the system.",
                );
            }
        }
        if creates && let Some(file) = options.value("f", "file").filter(|it| !it.is("-")) {
            self.judge_write(&file.clone(), env);
            self.packed(file, &options.operands, env);
        }
        if options.long("remove-files", 5) {
            for target in &options.operands {
                self.judge_tree(target, env, "recursive_delete");
            }
        }
    }

    /// Files are unpacked into a folder.
    pub(crate) fn unpacked(&mut self, folder: &Arg, env: &Env) {
        let path = resolve(folder, env);
        let system = [
            "/usr/bin",
            "/usr/sbin",
            "/usr/lib",
            "/usr/lib64",
            "/bin",
            "/sbin",
            "/lib",
            "/lib64",
            "/dev",
            "/etc",
            "/boot",
            "/proc",
            "/sys",
        ];
        let is_system =
            matches!(path.path.as_str(), "/" | "/usr" | "/home" | "/root" | "/System" | "/Library")
                && !path.is_rootless
                || system.iter().any(|it| path.is_within(it));
        if is_system {
            let why = format!("Unpacks files into {}, over those of the system.", path.path);
            self.find("unpacked_into_system", Category::SystemConfigOverwrite, false, why);
        } else {
            self.judge_path(&path, false);
        }
    }
}
