//! What programs do, by their arguments.

mod access;
mod agent;
mod cloud;
pub(crate) mod containers;
mod disks;
mod edit;
mod files;
mod find;
mod git;
mod hooks;
mod machine;
mod network;
mod paths;
mod process;
mod replace;
mod services;
pub(crate) mod windows;
mod writers;

pub(crate) use git::without_options as git_without_options;

use crate::Category;
use crate::env::Env;
use crate::judge::{Judge, Via};
use crate::value::{Arg, Flow, Taint};
use crate::wrap::Io;

/// Whether only help or the version is wanted.
pub(crate) fn wants_help(args: &[Arg]) -> bool {
    let before = args.iter().take_while(|it| !it.is("--"));
    before.into_iter().any(|it| matches!(it.marked.as_str(), "--help" | "--version" | "--usage"))
}

impl Judge {
    /// Judges a program without wrappers; what it prints.
    pub(crate) fn rules(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) -> Flow {
        self.argv = std::iter::once(name.to_owned()).chain(args.iter().map(Arg::shown)).collect();
        let is_interpreter = crate::interp::language(name).is_some();
        if is_interpreter {
            self.interpreter(name, args, env, io);
        } else if !wants_help(args) {
            self.environment(name, args);
            self.machine(name, args, env);
            self.judge_program(name, args, env, io);
        }
        self.network(name, args, env, io);
        self.run_local(env, io);
        self.printed(name, args, env, &io.stdin)
    }

    fn judge_program(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        if self
            .argv_path
            .as_ref()
            .is_some_and(|it| it.starts_with("/etc/init.d/") || it.starts_with("/etc/rc.d/"))
        {
            let words: Vec<Arg> =
                std::iter::once(Arg::new(name)).chain(args.iter().cloned()).collect();
            self.services("service", &words);
            return;
        }
        match name {
            "rm" | "grm" | "unlink" | "shred" | "gshred" | "srm" | "wipe" | "scrub" | "rimraf"
            | "del-cli" | "rm-rf" | "trash-empty" | "fstrim" => self.delete(name, args, env),
            "mv" | "gmv" => self.mv(args, env),
            "cp" | "gcp" | "install" | "ginstall" | "ln" | "gln" | "rsync" | "scp" | "link" => {
                self.copy(name, args, env);
            }
            "dd" | "dcfldd" | "dc3dd" | "gdd" | "ddrescue" => self.dd(name, args, env, io),
            "tee"
            | "sponge"
            | "truncate"
            | "fallocate"
            | "split"
            | "csplit"
            | "chattr"
            | "visudo"
            | "vipw"
            | "vigr"
            | "crontab"
            | "mknod"
            | "touch"
            | "patch"
            | "xxd"
            | "base64"
            | "sort"
            | "openssl"
            | "sysctl"
            | "update-alternatives"
            | "ssh-keygen"
            | "rg"
            | "ag"
            | "man"
            | "zip"
            | "tar"
            | "bsdtar"
            | "gtar"
            | "unzip"
            | "bsdcpio"
            | "cpio"
            | "7z"
            | "rpm"
            | "dpkg"
            | "pax" => {
                self.write_programs(name, args, env, io);
            }
            "gzip" | "bzip2" | "xz" | "zstd" | "lzma" | "lzip" | "pigz" | "pbzip2" | "compress"
            | "gunzip" | "bunzip2" | "unxz" | "uncompress" => self.pack(args, env),
            "rename" | "prename" | "file-rename" | "perl-rename" => self.rename(args, env),
            "sed" | "gsed" | "ed" | "red" | "ex" | "vi" | "vim" | "nvim" | "view" | "vimdiff"
            | "emacs" | "jq" | "yq" | "dos2unix" | "unix2dos" | "sd" | "crudini" | "less"
            | "more" | "nano" | "augtool" => {
                self.edit(name, args, env, io);
            }
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(args, env, io),
            "git" | "hub" => self.git(args, env),
            "kill" | "pkill" | "killall" | "killall5" | "skill" | "snice" | "xkill" | "fuser" => {
                self.kill(name, args, io);
            }
            "chmod" | "gchmod" | "chown" | "chgrp" | "gchown" | "setfacl" | "setcap"
            | "usermod" | "useradd" | "userdel" | "groupdel" | "groupmod" | "adduser"
            | "deluser" | "chpasswd" | "passwd" | "gpasswd" | "newusers" | "iptables"
            | "ip6tables" | "nft" | "ufw" | "firewall-cmd" | "history" | "setenforce" | "pfctl"
            | "chsh" | "apparmor_parser" | "aa-disable" | "aa-teardown" | "mount" | "umount"
            | "csrutil" | "spctl" | "auditctl" | "ebtables" | "capsh" => {
                self.access(name, args, env);
            }
            "hermes" | "hermes-agent" | "hermes-gateway" => self.hermes(args, env, io),
            "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "duckdb" | "sqlcmd" | "cqlsh"
            | "clickhouse-client" | "clickhouse" | "mongosh" | "mongo" | "redis-cli"
            | "valkey-cli" | "keydb-cli" | "dropdb" | "dropuser" | "mysqladmin"
            | "mariadb-admin" | "pgcli" | "mycli" | "litecli" | "usql" | "osql" | "isql"
            | "sqlplus" | "bq" | "snowsql" | "trino" | "presto" | "hive" | "beeline"
            | "cockroach" | "influx" | "spark-sql" | "etcdctl" | "rdb" | "memcached-tool"
            | "wrangler" | "turso" | "prisma" | "rails" | "rake" | "django-admin"
            | "cypher-shell" => {
                self.database(name, args, env, io);
            }
            "sh" | "bash" => {}
            _ => {
                if self.disks(name, args, env)
                    || self.services(name, args)
                    || self.cloud(name, args, env)
                    || windows::command(self, &name.to_ascii_lowercase(), args, env)
                {
                    return;
                }
            }
        }
        if self.via == Via::List && name == "sudo" {
            self.find(
                "opaque_command",
                Category::Other,
                false,
                "Runs programs from a list with all rights.",
            );
        }
    }

    /// Whether the program lists the environment, or part of it.
    fn environment(&mut self, name: &str, args: &[Arg]) {
        self.env_dump |= match name {
            // A single value may be the secret.
            "printenv" => true,
            "cat" | "strings" | "xargs" | "tr" | "head" | "tail" | "less" | "more" | "od"
            | "xxd" | "grep" | "sed" | "awk" | "base64" | "bat" | "cut" | "sort" => args
                .iter()
                .any(|it| it.marked.starts_with("/proc/") && it.marked.ends_with("/environ")),
            _ => false,
        };
    }

    /// A file that was fetched or written by the same text, and is run.
    fn run_local(&mut self, env: &Env, io: &Io) {
        if env.files.is_empty() {
            return;
        }
        let Some(program) = self.argv_path.clone() else { return };
        let path = crate::path::resolve_text(&program, env).path;
        let Some(flow) = env.files.get(&path).cloned() else { return };
        let mut inner = env.clone();
        inner.files.remove(&path);
        let taint = (flow.taint & Taint::FETCHED) | (flow.taint & Taint::DECODED);
        self.run_text(&Flow { taint, ..flow }, &mut inner, io.stdin.clone());
    }
}
