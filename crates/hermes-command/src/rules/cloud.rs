//! Resources in clouds, and packages of the machine.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::value::Arg;

/// Options in front of the verb that take a value.
const VALUED: Spec = Spec::new(
    "",
    &[
        "profile",
        "region",
        "output",
        "endpoint-url",
        "query",
        "project",
        "subscription",
        "account",
        "config",
        "context",
        "stack",
        "cwd",
    ],
);

impl Judge {
    /// Programs of clouds. Whether the name is one of them.
    pub(super) fn cloud(&mut self, name: &str, args: &[Arg], env: &Env) -> bool {
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        let options = Options::parse(args, VALUED);
        let words: Vec<&str> = options.operands.iter().map(|it| it.marked.as_str()).collect();
        let has = |wanted: &[&str]| texts.iter().any(|it| wanted.contains(it));
        let why = "Deletes resources in a cloud.";
        let deletes = match name {
            "terraform" | "tofu" | "terragrunt" | "terraform1" if has(&["-help", "-h"]) => false,
            "terraform" | "tofu" | "terragrunt" | "terraform1" => {
                let verb = words
                    .iter()
                    .find(|it| !matches!(**it, "run-all" | "run" | "--"))
                    .copied()
                    .unwrap_or_default();
                verb == "destroy"
                    || (matches!(verb, "apply") && has(&["-destroy", "--destroy"]))
                    || (verb == "state" && has(&["rm"]))
                    || (verb == "workspace" && has(&["delete"]))
                    || (verb == "apply"
                        && has(&["-auto-approve", "--auto-approve"])
                        && has(&["-replace", "--replace"]))
            }
            "pulumi" => {
                words.first().is_some_and(|it| matches!(*it, "destroy" | "down" | "dn"))
                    && !has(&["--preview-only"])
                    || words.starts_with(&["stack", "rm"])
                    || words.starts_with(&["state", "delete"])
            }
            "cdk" | "sam" | "serverless" | "sls" | "copilot" | "eb" | "amplify" | "sst"
            | "cdktf" | "ansible-destroy" => words
                .first()
                .is_some_and(|it| matches!(*it, "destroy" | "delete" | "remove" | "terminate")),
            "aws" | "awslocal" => {
                let dry = has(&["--dryrun", "--dry-run"]);
                let s3 = words.first() == Some(&"s3");
                let verb = words.get(1).copied().unwrap_or_default();
                let bulk = s3
                    && (verb == "rm" && has(&["--recursive"])
                        || verb == "rb"
                        || verb == "sync" && has(&["--delete"])
                        || verb == "mv" && has(&["--recursive"]));
                let generic = !s3
                    && (verb.starts_with("delete")
                        || verb.starts_with("terminate")
                        || verb.starts_with("purge")
                        || verb.starts_with("deregister")
                        || verb.starts_with("destroy")
                        || verb.starts_with("schedule-key-deletion")
                        || verb == "batch-delete-image"
                        || verb.starts_with("stop-")
                        || verb.starts_with("reboot-"));
                (bulk || generic) && !dry
            }
            "gcloud" | "gsutil" | "az" | "doctl" | "hcloud" | "linode-cli" | "vultr-cli"
            | "ibmcloud" | "oci" | "exo" | "scw" | "aliyun" | "heroku" | "fly" | "flyctl"
            | "railway" | "vercel" | "netlify" | "firebase" | "supabase" | "wrangler" | "cf"
            | "eksctl" | "kops" | "rosa" | "civo" | "b2" | "s3cmd" | "rclone" | "mc" | "azcopy"
            | "planetscale" | "pscale" | "neonctl" | "upctl" | "openstack" | "nova" | "glance"
            | "govc" | "velero" | "argocd" | "flux" | "databricks" | "snow" => {
                let bulk = match name {
                    "gsutil" => {
                        (words.iter().any(|it| matches!(*it, "rm"))
                            && texts
                                .iter()
                                .any(|it| it.starts_with('-') && it.contains(['r', 'R'])))
                            || has(&["rb"])
                            || has(&["rsync"]) && has(&["-d"])
                    }
                    "rclone" => {
                        words.first().is_some_and(|it| {
                            matches!(
                                *it,
                                "purge" | "delete" | "rmdirs" | "sync" | "deletefile" | "cleanup"
                            )
                        }) && !has(&["--dry-run", "-n"])
                    }
                    "s3cmd" => {
                        has(&["rb"])
                            || has(&["del", "rm"]) && has(&["--recursive", "-r"])
                            || has(&["--delete-removed"])
                    }
                    "mc" => has(&["rb"]) || has(&["rm"]) && has(&["--recursive", "-r"]),
                    "azcopy" => {
                        has(&["rm", "remove"]) && has(&["--recursive", "--recursive=true"])
                            || has(&["remove"])
                    }
                    _ => false,
                };
                let verbs = [
                    "delete",
                    "destroy",
                    "remove",
                    "purge",
                    "terminate",
                    "apps:destroy",
                    "pg:reset",
                    "delete-batch",
                    "teardown",
                    "rm",
                    "deallocate",
                    "db:reset",
                    "firestore:delete",
                    "database:remove",
                    "projects:delete",
                    "uninstall",
                    "delete-cluster",
                    "pg:kill",
                ];
                let plain = !matches!(name, "gsutil" | "rclone" | "s3cmd" | "mc")
                    && words.iter().take(6).any(|it| verbs.contains(it));
                let reset = name == "supabase" && words.starts_with(&["db", "reset"]);
                (bulk || plain || reset) && !has(&["--dry-run"])
            }
            "gh" | "glab" => {
                let verb = words.get(1).copied().unwrap_or_default();
                let group = words.first().copied().unwrap_or_default();
                let method = texts.windows(2).any(|it| matches!(it, ["-X" | "--method", method] if method.eq_ignore_ascii_case("delete"))) || texts.iter().any(|it| it.eq_ignore_ascii_case("-XDELETE") || it.eq_ignore_ascii_case("--method=DELETE"));
                if group == "gist" && verb == "create" {
                    return self.sends_secret(args, env);
                }
                (matches!(verb, "delete" | "archive")
                    && matches!(
                        group,
                        "repo"
                            | "release"
                            | "secret"
                            | "environment"
                            | "project"
                            | "run"
                            | "variable"
                            | "ssh-key"
                            | "gpg-key"
                            | "cache"
                            | "gist"
                            | "issue"
                    ))
                    && !(group == "cache" || group == "run")
                    || group == "api" && method
            }
            "npm" | "pnpm" | "yarn" | "cargo" | "gem" | "twine" | "pip" | "poetry" => {
                if (words.first() == Some(&"unpublish")
                    || name == "gem" && words.first() == Some(&"yank")
                    || name == "cargo" && words.first() == Some(&"yank"))
                    && !has(&["--dry-run"])
                {
                    self.find(
                        "unpublish",
                        Category::Other,
                        false,
                        "Takes a published package away from its users.",
                    );
                }
                return false;
            }
            "apt" | "apt-get" | "dnf" | "yum" | "pacman" | "zypper" | "apk" | "aptitude"
            | "dpkg" | "rpm" | "snap" | "flatpak" => {
                return false;
            }
            "timeshift" | "restic" | "borg" | "duplicity" | "tmutil" | "vssadmin" | "wbadmin"
            | "bcdedit" => {
                let bad = match name {
                    "restic" => has(&["forget"]) && has(&["--prune"]) || has(&["prune"]),
                    "borg" => {
                        words.first().is_some_and(|it| matches!(*it, "delete" | "prune"))
                            && !has(&["-n", "--dry-run"])
                    }
                    "tmutil" => words.first().is_some_and(|it| it.starts_with("delete")),
                    "vssadmin" | "wbadmin" => {
                        words.first().is_some_and(|it| it.eq_ignore_ascii_case("delete"))
                    }
                    "timeshift" => has(&["--delete", "--delete-all", "--restore"]),
                    _ => false,
                };
                if bad {
                    self.find(
                        "backup_deleted",
                        Category::RecursiveDelete,
                        false,
                        "Deletes backups.",
                    );
                }
                return true;
            }
            _ => return false,
        };
        if deletes {
            self.find("cloud_delete", Category::Other, false, why);
        }
        matches!(name, "terraform" | "tofu" | "terragrunt" | "pulumi" | "aws" | "gcloud" | "az")
    }
}
