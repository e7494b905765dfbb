//! What git loses.

mod settings;

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::{Arg, Flow};

/// Options of git itself, in front of its verb.
const GLOBAL: Spec = Spec::stopping(
    "Cc",
    &["git-dir", "work-tree", "namespace", "super-prefix", "config-env", "attr-source"],
);

/// The words of a git command without the options in front of its verb, if it has some.
pub(crate) fn without_options(argv: &[Arg]) -> Option<Vec<String>> {
    let (first, args) = argv.split_first()?;
    if first.marked.rsplit('/').next() != Some("git") || !args.first()?.is_option() {
        return None;
    }
    let options = Options::parse(args, GLOBAL);
    let verb = options.operands.iter().map(Arg::shown);
    (!options.operands.is_empty()).then(|| std::iter::once("git".to_owned()).chain(verb).collect())
}

impl Judge {
    pub(super) fn git(&mut self, args: &[Arg], env: &mut Env) {
        let options = Options::parse(args, GLOBAL);
        let mut cleans = false;
        for setting in options.values("c", "") {
            let text = setting.text();
            cleans |= text.eq_ignore_ascii_case("clean.requireforce=false")
                || text.eq_ignore_ascii_case("clean.requireforce=0");
            if let Some((key, value)) = text.split_once('=') {
                self.git_setting(key, value, env);
            }
        }
        let programs = options.flags.iter().find(|it| it.name == "exec-path");
        if programs.is_some_and(|it| it.value.is_some()) {
            self.find(
                "git_programs",
                Category::Other,
                false,
                "Takes the programs that git is made of from another folder.",
            );
        }
        let Some((verb, rest)) = options.operands.split_first() else { return };
        let verb = verb.text();
        let alias = options.values("c", "").iter().find_map(|it| {
            let text = it.text();
            let (key, value) = text.split_once('=')?;
            let name = key.to_ascii_lowercase().strip_prefix("alias.").map(str::to_owned)?;
            (name == verb.to_ascii_lowercase()).then(|| value.to_owned())
        });
        if let Some(alias) = alias
            && !alias.starts_with('!')
        {
            let mut words: Vec<Arg> = alias.split_whitespace().map(Arg::new).collect();
            words.extend(rest.iter().cloned());
            if self.deeper() {
                self.git(&words, env);
                self.depth -= 1;
            }
            return;
        }
        self.git_verb(&verb, rest, cleans, env);
    }

    fn rewrites(&mut self, rule: &'static str, why: &str) {
        self.find(rule, Category::HistoryRewrite, false, why);
    }

    fn git_verb(&mut self, verb: &str, args: &[Arg], cleans: bool, env: &mut Env) {
        self.git_runs(verb, args, env);
        let words: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let has = |wanted: &[&str]| {
            words.iter().take_while(|it| **it != "--").any(|it| wanted.contains(it))
        };
        let starts = |prefix: &str, least: usize| {
            words
                .iter()
                .take_while(|it| **it != "--")
                .any(|it| it.len() >= least && prefix.starts_with(*it) && it.starts_with("--"))
        };
        if has(&["-h", "--help"]) {
            return;
        }
        match verb {
            "reset" if starts("--hard", 3) => {
                self.rewrites("git_reset_hard", "Throws away every change that isn't committed.");
            }
            "push" => self.git_push(args),
            "clean" => {
                let options = Options::parse(args, Spec::new("e", &["exclude"]));
                let is_dry = options.has("n")
                    || options.long("dry-run", 1)
                    || (options.has("i") || options.long("interactive", 1)) && !options.has("f");
                if (options.has("f") || options.long("force", 1) || cleans) && !is_dry {
                    self.find(
                        "git_clean",
                        Category::RecursiveDelete,
                        false,
                        "Deletes files that git doesn't know, for good.",
                    );
                }
            }
            "branch" => {
                let options = Options::parse(
                    args,
                    Spec::new(
                        "u",
                        &["set-upstream-to", "contains", "merged", "format", "sort", "points-at"],
                    ),
                );
                let deletes = options.has("d") || options.long("delete", 3);
                let forces = options.has("f") || options.long("force", 1);
                if options.has("D") || (deletes && forces) {
                    self.rewrites(
                        "git_branch_delete",
                        "Deletes a branch even if its commits are nowhere else.",
                    );
                } else if options.has("M")
                    || options.has("C")
                    || (forces && !options.operands.is_empty() && !deletes)
                {
                    self.rewrites("git_branch_force", "Moves a branch away from its commits.");
                }
            }
            "checkout" => {
                let options = Options::parse(
                    args,
                    Spec::new("bB", &["orphan", "conflict", "pathspec-from-file"]),
                );
                let forces = options.has("f") || options.long("force", 2);
                let after = words
                    .iter()
                    .position(|it| *it == "--")
                    .map(|at| words.get(at + 1..).unwrap_or_default());
                let everything = after.is_some_and(|it| it.iter().any(|it| is_everything(it)))
                    || (!options.has("bB") && options.texts().iter().any(|it| is_everything(it)));
                if forces || everything {
                    self.rewrites("git_discard", "Throws away changes that aren't committed.");
                }
            }
            "restore" => {
                let options = Options::parse(
                    args,
                    Spec::new("s", &["source", "conflict", "pathspec-from-file"]),
                );
                let staged_only = (options.has("S") || options.long("staged", 3))
                    && !(options.has("W") || options.long("worktree", 1));
                if !staged_only && options.texts().iter().any(|it| is_everything(it)) {
                    self.rewrites("git_discard", "Throws away changes that aren't committed.");
                }
            }
            "switch" => {
                let options = Options::parse(
                    args,
                    Spec::new("cC", &["create", "force-create", "orphan", "conflict"]),
                );
                if options.has("f")
                    || options.long("force", 5) && !options.long("force-create", 6)
                    || options.long("discard-changes", 2)
                {
                    self.rewrites("git_discard", "Throws away changes that aren't committed.");
                }
            }
            "stash"
                if words
                    .iter()
                    .find(|it| !it.starts_with('-'))
                    .is_some_and(|it| matches!(*it, "drop" | "clear")) =>
            {
                self.rewrites("git_stash_drop", "Throws away changes that were put aside.");
            }
            "reflog"
                if words.first().is_some_and(|it| matches!(*it, "expire" | "delete" | "drop"))
                    && !has(&["-n", "--dry-run"]) =>
            {
                self.rewrites(
                    "git_reflog",
                    "Forgets where branches were, the last way back to lost commits.",
                );
            }
            "gc" | "prune" | "repack" => {
                let now = words.iter().any(|it| {
                    it.strip_prefix("--prune=")
                        .or_else(|| it.strip_prefix("--expire="))
                        .is_some_and(|it| matches!(it, "now" | "all") || it.starts_with("0"))
                });
                let expires_now =
                    verb == "prune" && words.windows(2).any(|it| matches!(it, ["--expire", "now"]));
                let plain_prune = verb == "prune"
                    && !has(&["-n", "--dry-run"])
                    && !words.iter().any(|it| it.starts_with("--expire"));
                if now || expires_now || plain_prune {
                    self.rewrites("git_gc", "Deletes lost commits for good.");
                }
            }
            "filter-branch" | "filter-repo" => {
                if !has(&["--dry-run", "--analyze"]) {
                    self.rewrites("git_filter", "Rewrites the history of a repository.");
                }
                for (index, word) in words.iter().enumerate() {
                    if matches!(
                        *word,
                        "--tree-filter"
                            | "--index-filter"
                            | "--msg-filter"
                            | "--env-filter"
                            | "--commit-filter"
                    ) && let Some(text) = words.get(index + 1)
                    {
                        let mut inner = env.clone();
                        self.payload(text, &mut inner, Flow::unknown());
                    }
                }
            }
            "update-ref" if has(&["-d", "--delete", "--stdin"]) && has(&["-d", "--delete"]) => {
                self.rewrites("git_update_ref", "Deletes a reference to commits.");
            }
            "worktree" => {
                let options = Options::parse(args, Spec::default());
                if options.texts().first() == Some(&"remove")
                    && (options.has("f") || options.long("force", 1))
                {
                    self.rewrites(
                        "git_worktree",
                        "Deletes a working tree with changes that aren't committed.",
                    );
                }
            }
            "submodule" => {
                let options = Options::parse(args, Spec::default());
                match options.texts().first() {
                    Some(&"deinit") if options.has("f") || options.long("force", 1) => {
                        self.rewrites("git_discard", "Throws away changes in a submodule.");
                    }
                    Some(&"foreach") => {
                        let text: Vec<&str> = words
                            .iter()
                            .skip_while(|it| **it != "foreach")
                            .skip(1)
                            .filter(|it| !matches!(**it, "--recursive" | "-q" | "--quiet"))
                            .copied()
                            .collect();
                        let mut inner = env.clone();
                        self.payload(&text.join(" "), &mut inner, Flow::unknown());
                    }
                    _ => {}
                }
            }
            "read-tree" if has(&["--reset"]) && has(&["-u"]) => {
                self.rewrites("git_discard", "Throws away changes that aren't committed.");
            }
            "checkout-index" => {
                let options = Options::parse(args, Spec::default());
                if options.has("f") && options.has("a") {
                    self.rewrites("git_discard", "Throws away changes that aren't committed.");
                }
            }
            "rm" => {
                let options = Options::parse(args, Spec::default());
                let forces = options.has("f") || options.long("force", 1);
                if forces && options.has("r") && !options.long("cached", 1) && !options.has("n") {
                    self.find(
                        "git_rm",
                        Category::RecursiveDelete,
                        false,
                        "Deletes files with changes that aren't committed.",
                    );
                }
            }
            "bisect" if words.first() == Some(&"run") => {
                let inner: Vec<Arg> = args.get(1..).unwrap_or_default().to_vec();
                self.for_plain(inner, env);
            }
            "rebase" => {
                let options =
                    Options::parse(args, Spec::new("xsXC", &["exec", "onto", "strategy"]));
                for text in options.values("x", "exec") {
                    let mut inner = env.clone();
                    let text = text.text();
                    self.payload(&text, &mut inner, Flow::unknown());
                }
            }
            "config" => self.git_config(args, env),
            "clone" | "fetch" | "pull" | "ls-remote" => {
                let options = Options::parse(
                    args,
                    Spec::new(
                        "ucbjo",
                        &[
                            "upload-pack",
                            "config",
                            "branch",
                            "depth",
                            "origin",
                            "template",
                            "reference",
                        ],
                    ),
                );
                if let Some(text) = options
                    .value(if verb == "clone" { "u" } else { "" }, "upload-pack")
                    .map(Arg::text)
                {
                    let mut inner = env.clone();
                    self.payload(&text, &mut inner, Flow::unknown());
                }
                for setting in options.values("c", "config") {
                    if let Some((key, value)) = setting.text().split_once('=') {
                        self.git_setting(key, value, env);
                    }
                }
                if verb != "clone"
                    && options.has("f")
                    && options.operands.iter().any(|it| it.starts_with("+"))
                {
                    self.rewrites("git_discard", "Overwrites local branches.");
                }
            }
            _ => {}
        }
    }

    fn for_plain(&mut self, argv: Vec<Arg>, env: &mut Env) {
        self.apart(argv, crate::judge::Via::Shell, env, Flow::unknown());
    }

    fn git_push(&mut self, args: &[Arg]) {
        let options =
            Options::parse(args, Spec::new("o", &["push-option", "repo", "receive-pack", "exec"]));
        if options.has("n") || options.long("dry-run", 2) {
            return;
        }
        let forces = options.has("f")
            || options.flags.iter().any(|it| {
                it.name.len() >= 2
                    && ("force".starts_with(it.name.as_str()) || it.name.starts_with("force"))
                    && it.name != "f"
            })
            || options.long("mirror", 1)
            || options.long("prune", 3);
        let refspecs = options.operands.iter().skip(1);
        let overwrites = refspecs
            .into_iter()
            .any(|it| (it.starts_with("+") || it.starts_with(":")) && it.marked.len() > 1);
        if forces || overwrites {
            self.rewrites(
                "git_force_push",
                "Overwrites commits in a repository that others share.",
            );
        } else if options.has("d") || options.long("delete", 2) {
            self.rewrites("git_remote_delete", "Deletes branches or tags that others share.");
        }
    }
}

fn is_everything(path: &str) -> bool {
    let path = crate::value::plain(path);
    let path = path.trim_end_matches('/');
    matches!(path, "." | "*" | "./*" | ":" | ":." | ".." | "./." | "**" | ":(top)")
        || path == ":/"
        || path.is_empty()
}
