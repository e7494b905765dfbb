//! Programs that put other files in the place of those that they are given.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::{Loss, resolve};
use crate::value::Arg;

impl Judge {
    /// Packers of single files. The file is gone then, under its name.
    pub(super) fn pack(&mut self, args: &[Arg], env: &Env) {
        let options = Options::parse(args, Spec::new("SbTM", &["suffix", "threads", "memory"]));
        let keeps = options.has("cktlL")
            || ["stdout", "keep", "test", "list"].iter().any(|it| options.long(it, 1));
        if keeps {
            return;
        }
        let is_recursive = options.has("r") || options.long("recursive", 3);
        for target in &options.operands {
            let path = resolve(target, env);
            if is_recursive && path.loss(env, &self.homes) == Loss::All {
                self.find(
                    "replaced_tree",
                    Category::SystemConfigOverwrite,
                    false,
                    format!("Puts a packed file in the place of each that is in {}.", path.path),
                );
            } else {
                self.judge_path(&path, true);
            }
        }
    }

    /// `rename` and its like: the operands after the expression have other names afterwards.
    pub(super) fn rename(&mut self, args: &[Arg], env: &Env) {
        let options = Options::parse(args, Spec::new("eE", &[]));
        let is_dry = options.has("n")
            || ["no-act", "nono", "dry-run", "just-print"].iter().any(|it| options.long(it, 3));
        if is_dry {
            return;
        }
        let first = usize::from(!options.has("eE"));
        for target in options.operands.iter().skip(first) {
            self.judge_removal(target, env);
        }
    }
}
