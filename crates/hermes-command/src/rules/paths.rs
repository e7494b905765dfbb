//! What there is to say about a path that is written or removed.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::path::{Device, Guarded, Loss, Target, resolve};
use crate::value::{Arg, FRESH, HOLE};

impl Judge {
    /// A file that something writes to.
    pub(crate) fn judge_write(&mut self, target: &Arg, env: &Env) {
        let path = resolve(target, env);
        self.judge_path(&path, false);
        self.judge_linked(&path, false, env);
    }

    /// A path that is written, or removed.
    pub(crate) fn judge_path(&mut self, path: &Target, is_removed: bool) -> bool {
        self.detaches(&path.path);
        let Some(guard) = path.guarded(&self.homes) else { return false };
        if guard == Guarded::Later && is_removed {
            return false;
        }
        let shown = path.path.replace(HOLE, "$?");
        let does = if is_removed { "Removes" } else { "Writes to" };
        match guard {
            Guarded::Agent => {
                self.find(
                    "agent_state",
                    Category::SelfHarm,
                    false,
                    format!("{does} the agent's own state or settings, {shown}."),
                );
            }
            Guarded::Power => {
                self.find(
                    "sysrq",
                    Category::ServiceControl,
                    true,
                    "Makes the kernel restart or stop the machine at once.",
                );
            }
            Guarded::Device(device) => {
                let is_disk = device == Device::Disk && !is_removed;
                self.find(
                    "device_write",
                    Category::DiskWrite,
                    is_disk,
                    format!("{does} the device {shown} itself, past any file system."),
                );
            }
            Guarded::System => self.find(
                if is_removed { "system_file_removed" } else { "system_file_written" },
                Category::SystemConfigOverwrite,
                false,
                format!("{does} a file of the system, {shown}."),
            ),
            Guarded::Startup => self.find(
                "shell_startup",
                Category::SystemConfigOverwrite,
                false,
                format!("{does} {shown}, which shells run at their start."),
            ),
            Guarded::Credential => self.find(
                "credentials_written",
                Category::SystemConfigOverwrite,
                false,
                format!("{does} keys or credentials, {shown}."),
            ),
            Guarded::Project => self.find(
                "environment_file",
                Category::SystemConfigOverwrite,
                false,
                format!("{does} {shown}, a file of secrets."),
            ),
            Guarded::History => self.history_cleared(),
            Guarded::Later => self.find(
                "runs_later",
                Category::SystemConfigOverwrite,
                false,
                format!("{does} {shown}, which other programs run or obey by themselves."),
            ),
        }
        true
    }

    /// Files that are gone for good, one by one.
    pub(crate) fn judge_removal(&mut self, target: &Arg, env: &Env) {
        let path = resolve(target, env);
        if path.loss(env, &self.homes) == Loss::All {
            let why = format!("Removes {} or what is in it.", path.path);
            self.find("delete_protected", Category::RecursiveDelete, false, why);
        } else {
            self.judge_path(&path, true);
        }
    }

    /// A tree that is gone for good.
    pub(crate) fn judge_tree(&mut self, target: &Arg, env: &Env, rule: &'static str) {
        let mut path = resolve(target, env);
        // Without a slash only the link itself goes.
        if path.covers || target.marked.ends_with('/') {
            path = self.linked(&path, env).unwrap_or(path);
        }
        if self.is_fresh(&path, env) {
            return;
        }
        let loss = path.loss(env, &self.homes);
        let is_agent = path.is_agent(&self.homes);
        if loss == Loss::Some && !is_agent && self.has_found(rule) {
            return;
        }
        let shown = path.path.replace(HOLE, "$?");
        if is_agent {
            self.find(
                "agent_state",
                Category::SelfHarm,
                false,
                format!("Removes the agent's own state, {shown}."),
            );
        }
        match loss {
            Loss::All => self.find(
                rule,
                Category::RecursiveDelete,
                true,
                format!(
                    "Deletes all of {shown}: the machine or a person's files, with no way back."
                ),
            ),
            Loss::Unclear => self.find(
                rule,
                Category::RecursiveDelete,
                false,
                "Deletes a tree whose place can't be known before it runs.",
            ),
            Loss::Some => self.find(
                rule,
                Category::RecursiveDelete,
                false,
                format!("Deletes {shown} with everything in it."),
            ),
        }
    }

    /// Whether it lies in a folder that the text has made for itself, with nothing in it that was
    /// there before.
    pub(crate) fn is_fresh(&self, path: &Target, env: &Env) -> bool {
        self.keeps_fresh && path.path.contains(FRESH) && self.linked(path, env).is_none()
    }
}
