//! Deleting, moving and copying files.

use crate::Category;
use crate::env::Env;
use crate::judge::{Judge, Via};
use crate::options::{Options, Spec};
use crate::path::{Device, Guarded, Loss, resolve};
use crate::value::{Arg, FRESH, Flow, Taint};
use crate::wrap::Io;

impl Judge {
    /// `rm`, `unlink`, `shred` and their like.
    pub(super) fn delete(&mut self, name: &str, args: &[Arg], env: &Env) {
        match name {
            "fstrim" | "trash-empty" => return,
            "rimraf" | "del-cli" | "rm-rf" | "srm" | "wipe" => {
                for target in Options::parse(args, Spec::default()).operands {
                    self.judge_tree(&target, env, "recursive_delete");
                }
                return;
            }
            "shred" | "gshred" | "scrub" => {
                let options =
                    Options::parse(args, Spec::new("ns", &["iterations", "size", "random-source"]));
                for target in &options.operands {
                    let path = resolve(target, env);
                    match path.device() {
                        Some(device) => {
                            let why = format!("Overwrites the device {} itself.", path.path);
                            self.find(
                                "device_shred",
                                Category::DiskWrite,
                                device == Device::Disk,
                                why,
                            );
                        }
                        None => {
                            self.judge_path(&path, true);
                            let is_all = path.loss(env, &self.homes) == Loss::All;
                            self.find(
                                "shred",
                                Category::RecursiveDelete,
                                is_all,
                                "Overwrites files so that they can't be restored.",
                            );
                        }
                    }
                }
                if options.operands.is_empty() && self.via != Via::Shell {
                    self.find(
                        "shred",
                        Category::RecursiveDelete,
                        false,
                        "Overwrites files so that they can't be restored.",
                    );
                }
                return;
            }
            _ => {}
        }
        let options = Options::parse(args, Spec::new("", &["interactive"]));
        // `--interactive` has no value of its own word.
        let mut operands = options.operands.clone();
        if let Some(value) = options.value("", "interactive")
            && !args.iter().any(|it| it.starts_with("--interactive="))
        {
            operands.push(value.clone());
        }
        let is_recursive = name != "unlink" && (options.has("rR") || options.long("recursive", 1));
        if is_recursive {
            for target in &operands {
                self.judge_tree(target, env, "recursive_delete");
            }
            if operands.is_empty() && self.via != Via::Shell {
                self.find(
                    "recursive_delete",
                    Category::RecursiveDelete,
                    false,
                    "Deletes whatever it is given with everything in it.",
                );
            }
            return;
        }
        let is_fed = self.is_fed && operands.iter().any(|it| !it.is_known());
        if self.via != Via::Shell || is_fed {
            self.find(
                "bulk_delete",
                Category::RecursiveDelete,
                false,
                "Deletes every file of a list that isn't known before it runs.",
            );
        }
        for target in &operands {
            if is_verification_file(&resolve(target, env).path) {
                continue;
            }
            self.judge_removal(target, env);
        }
    }

    /// `mv`: the target is written, the sources are gone from where they were.
    pub(super) fn mv(&mut self, args: &[Arg], env: &mut Env) {
        let options = Options::parse(args, Spec::new("St", &["suffix", "target-directory"]));
        let (sources, target) = split_target(&options);
        if let Some(target) = &target {
            let path = resolve(target, env);
            self.keeps_fresh &= !path.path.contains(FRESH);
            if path.path == "/dev/null" {
                self.find(
                    "move_to_null",
                    Category::RecursiveDelete,
                    false,
                    "Moves files onto the null device, where they are lost.",
                );
            }
            self.judge_destination(
                target,
                &sources,
                env,
                options.value("t", "target-directory").is_some(),
            );
            self.copied(&sources, Some(target), false, env);
            if let [source] = sources.as_slice()
                && let Some(flow) = env.files.get(&resolve(source, env).path).cloned()
            {
                env.write(&path.path, &flow, false);
            }
        }
        for source in &sources {
            let path = resolve(source, env);
            match path.loss(env, &self.homes) {
                Loss::All => self.find(
                    "move_protected",
                    Category::RecursiveDelete,
                    true,
                    format!("Moves {} away, which is as bad as deleting it.", path.path),
                ),
                _ => {
                    let guard = path.guarded(&self.homes);
                    if !matches!(guard, None | Some(Guarded::Device(_))) {
                        self.judge_path(&path, true);
                    }
                }
            }
        }
    }

    /// Copies onto a target.
    pub(super) fn copy(&mut self, name: &str, args: &[Arg], env: &mut Env) {
        let spec = match name {
            "rsync" => Spec::new(
                "efTBM",
                &[
                    "rsh",
                    "filter",
                    "exclude",
                    "include",
                    "exclude-from",
                    "include-from",
                    "files-from",
                    "rsync-path",
                    "temp-dir",
                    "backup-dir",
                    "suffix",
                    "bwlimit",
                    "chmod",
                    "chown",
                    "log-file",
                    "password-file",
                    "port",
                    "timeout",
                    "max-size",
                    "min-size",
                    "compare-dest",
                    "copy-dest",
                    "link-dest",
                    "partial-dir",
                    "out-format",
                    "info",
                    "debug",
                    "max-delete",
                ],
            ),
            "scp" => Spec::new("cFiJloPSDX", &[]),
            "install" | "ginstall" => Spec::new(
                "gmoSt",
                &["group", "mode", "owner", "suffix", "target-directory", "strip-program"],
            ),
            _ => Spec::new("St", &["suffix", "target-directory"]),
        };
        let options = Options::parse(args, spec);
        if matches!(name, "install" | "ginstall") {
            if let Some(mode) = options.value("m", "mode") {
                let mode = mode.clone();
                self.mode(&mode);
            }
            if options.has("d") || options.long("directory", 1) {
                for target in &options.operands {
                    // An empty folder runs nothing.
                    if resolve(target, env).guarded(&self.homes) != Some(Guarded::Later) {
                        self.judge_write(target, env);
                    }
                }
                return;
            }
        }
        if name == "rsync" {
            for command in
                options.values("e", "rsh").into_iter().chain(options.values("", "rsync-path"))
            {
                let mut inner = env.clone();
                let text = command.text();
                self.payload(&text, &mut inner, Flow::unknown());
            }
            let is_dry = options.has("n") || options.long("dry-run", 3);
            if is_dry {
                return;
            }
            let deletes = options.flags.iter().any(|it| {
                it.name.starts_with("del") && it.name != "delay-updates"
                    || it.name == "remove-source-files"
            });
            if deletes {
                let rule = "rsync_delete";
                match options.operands.last().filter(|it| !is_remote(it)) {
                    Some(target) => {
                        let path = resolve(target, env);
                        let is_all = path.loss(env, &self.homes) == Loss::All;
                        if path.is_agent(&self.homes) {
                            self.judge_path(&path, true);
                        }
                        self.find(
                            rule,
                            Category::RecursiveDelete,
                            is_all,
                            "Deletes whatever the target has and the source hasn't.",
                        );
                    }
                    None => self.find(
                        rule,
                        Category::RecursiveDelete,
                        false,
                        "Deletes whatever the target has and the source hasn't.",
                    ),
                }
            }
        }
        let (sources, target) = split_target(&options);
        let links = matches!(name, "cp" | "gcp" | "ln" | "gln" | "link" | "install" | "ginstall");
        let Some(target) = target else {
            self.copied(&sources, None, name.ends_with("ln"), env);
            return;
        };
        if is_remote(&target) && matches!(name, "rsync" | "scp") {
            let is_secret = sources
                .iter()
                .any(|it| !is_remote(it) && self.file(it, env).taint.has(Taint::SECRET));
            if is_secret {
                self.exfiltration();
            }
            return;
        }
        self.judge_destination(
            &target,
            &sources,
            env,
            options.value("t", "target-directory").is_some(),
        );
        if links {
            self.copied(&sources, Some(&target), name.ends_with("ln") || name == "link", env);
        }
        let is_fetched = matches!(name, "rsync" | "scp") && sources.iter().any(is_remote);
        let flow = match sources.first() {
            _ if is_fetched => Flow::tainted(Taint::FETCHED),
            Some(source) if name != "ln" => self.file(source, env),
            _ => Flow::unknown(),
        };
        let path = resolve(&target, env);
        if flow.is_known()
            || flow.program.is_some()
            || flow.taint.has(Taint::FETCHED | Taint::DECODED | Taint::SECRET)
        {
            env.write(&path.path, &flow, false);
            let name = sources.first().map(|it| it.marked.rsplit('/').next().unwrap_or_default());
            if flow.taint.has(Taint::SECRET)
                && let Some(name) = name
            {
                env.write(&format!("{}/{name}", path.path.trim_end_matches('/')), &flow, false);
            }
        }
    }

    /// The last operand of a copy: a file, or a folder that takes the names of the sources.
    fn judge_destination(&mut self, target: &Arg, sources: &[Arg], env: &Env, is_folder: bool) {
        let path = resolve(target, env);
        if path.path == "/dev/null" {
            return;
        }
        let before = self.found();
        self.judge_path(&path, false);
        self.judge_linked(&path, false, env);
        if self.found() > before && !is_folder && path.guarded(&self.homes).is_some() {
            return;
        }
        for source in sources.iter().take(64) {
            let name = source.marked.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if name.is_empty() || name == "." || name == ".." {
                continue;
            }
            let inside = crate::path::resolve_text(&format!("{}/{name}", target.marked), env);
            let guard = inside.guarded(&self.homes);
            // `cp a/.env b` makes `b/.env` only if `b` is a folder: it looks like one.
            let looks_like_folder = is_folder
                || target.marked.ends_with('/')
                || target.marked.ends_with("..")
                || target.is(".")
                || !target.marked.rsplit('/').next().unwrap_or_default().contains('.')
                || sources.len() > 1
                || path.loss(env, &self.homes) == Loss::All;
            if guard.is_some() && looks_like_folder {
                self.judge_path(&inside, false);
                return;
            }
        }
    }

    pub(super) fn dd(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        if name == "ddrescue" {
            if let Some(target) = Options::parse(args, Spec::new("bcimoKsr", &[])).operands.get(1) {
                self.judge_write(target, env);
            }
            return;
        }
        let mut source = io.stdin.clone();
        for arg in args {
            if let Some(file) = arg.marked.strip_prefix("if=") {
                source = self.file(&arg.with(file), env);
            }
        }
        for arg in args {
            if let Some(file) = arg.marked.strip_prefix("of=") {
                let target = arg.with(file);
                self.judge_write(&target, env);
                let path = resolve(&target, env);
                env.write(&path.path, &source, false);
            }
        }
    }
}

/// Whether it names a file on another machine.
fn is_remote(arg: &Arg) -> bool {
    let text = arg.marked.as_str();
    if text.starts_with("rsync://") || text.starts_with("scp://") {
        return true;
    }
    let Some(colon) = text.find(':') else { return false };
    let host = text.get(..colon).unwrap_or_default();
    !host.contains('/') && host.len() > 1
}

/// The sources and the target of a copy.
pub(crate) fn split_target(options: &Options) -> (Vec<Arg>, Option<Arg>) {
    if let Some(folder) = options.value("t", "target-directory") {
        return (options.operands.clone(), Some(folder.clone()));
    }
    match options.operands.split_last() {
        Some((target, sources)) if !sources.is_empty() => (sources.to_vec(), Some(target.clone())),
        Some((only, _)) if options.operands.len() == 1 => (vec![only.clone()], None),
        _ => (Vec::new(), None),
    }
}

/// Files the agent makes to check its own work.
fn is_verification_file(path: &str) -> bool {
    ["/tmp/hermes-verify-", "/tmp/hermes-ad-hoc-"].iter().any(|it| path.starts_with(it))
}
