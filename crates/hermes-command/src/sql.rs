//! Statements that lose rows, tables or keys, when they reach a database.

mod statements;

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::resolve;
use crate::value::{Arg, Flow};
use crate::wrap::Io;
use statements::{Loss, losses};

impl Judge {
    fn lost(&mut self, rule: &'static str, why: &str) {
        self.find(rule, Category::SqlDestructive, false, why);
    }

    /// Judges SQL that reaches a client.
    pub(crate) fn sql(&mut self, text: &str) -> bool {
        let losses = losses(text);
        for loss in &losses {
            match loss {
                Loss::Drop => self.lost("sql_drop", "Drops a table, a database or a part of it."),
                Loss::Truncate => self.lost("sql_truncate", "Empties a table."),
                Loss::DeleteAll => {
                    self.lost("sql_delete_all", "Deletes every row of a table: there is no WHERE.");
                }
                Loss::UpdateAll => {
                    self.lost("sql_update_all", "Changes every row of a table: there is no WHERE.");
                }
                Loss::Change => {}
            }
        }
        !losses.is_empty()
    }

    /// Clients of databases.
    pub(crate) fn database(&mut self, name: &str, args: &[Arg], env: &mut Env, io: &Io) {
        let texts: Vec<&str> = args.iter().map(|it| it.marked.as_str()).collect();
        match name {
            "dropdb" | "dropuser" => return self.lost("sql_drop", "Drops a database or a user."),
            "mysqladmin" | "mariadb-admin" => {
                if texts.contains(&"drop") {
                    self.lost("sql_drop", "Drops a database.");
                }
                if texts.contains(&"shutdown") {
                    self.find(
                        "service_control",
                        Category::ServiceControl,
                        false,
                        "Stops a database.",
                    );
                }
                return;
            }
            "redis-cli" | "valkey-cli" | "keydb-cli" => return self.redis(args, io),
            "mongosh" | "mongo" => return self.mongo(args, io),
            "rails" | "rake" | "prisma" | "django-admin" | "etcdctl" | "bq" => {
                let bad = match name {
                    "etcdctl" => {
                        texts.contains(&"del")
                            && (texts.contains(&"--prefix") || texts.contains(&"--from-key"))
                    }
                    "bq" => texts.first() == Some(&"rm"),
                    "prisma" => {
                        texts.windows(2).any(|it| it == ["migrate", "reset"])
                            || texts.contains(&"--force-reset")
                    }
                    "django-admin" => texts.contains(&"flush"),
                    _ => texts.iter().any(|it| {
                        [
                            "db:drop",
                            "db:reset",
                            "db:purge",
                            "db:truncate_all",
                            "db:schema:load",
                            "db:migrate:reset",
                        ]
                        .iter()
                        .any(|verb| it.starts_with(verb))
                    }),
                };
                if bad {
                    self.lost("sql_drop", "Drops or empties a database.");
                }
                if name == "bq" {
                    for text in args {
                        self.sql(&text.text());
                    }
                }
                return;
            }
            _ => {}
        }
        let spec = match name {
            "psql" | "pgcli" | "usql" | "cockroach" => Spec::new(
                "cdfhopUvFPRTLC",
                &[
                    "command", "dbname", "file", "host", "output", "port", "username", "set",
                    "variable", "execute", "url",
                ],
            ),
            "mysql" | "mariadb" | "mycli" => Spec::new(
                "ehuPDSHW",
                &[
                    "execute",
                    "host",
                    "user",
                    "port",
                    "database",
                    "socket",
                    "default-character-set",
                    "init-command",
                ],
            ),
            "sqlcmd" | "osql" => Spec::new("QqSUPdio", &[]),
            "cqlsh" => Spec::new("efukp", &["execute", "file", "username", "keyspace"]),
            "clickhouse-client" | "clickhouse" => Spec::new(
                "qhud",
                &["query", "host", "user", "database", "password", "port", "queries-file"],
            ),
            "duckdb" => Spec {
                short: "",
                long: &["c", "s", "cmd", "init", "separator", "nullvalue"],
                single: true,
                stops: false,
            },
            "sqlite3" | "sqlite" => Spec {
                short: "",
                long: &[
                    "cmd",
                    "init",
                    "separator",
                    "nullvalue",
                    "newline",
                    "vfs",
                    "mmap",
                    "lookaside",
                ],
                single: true,
                stops: false,
            },
            "wrangler" | "turso" => Spec::new("", &["command"]),
            _ => Spec::new("eqcfQ", &["execute", "query", "command", "statement"]),
        };
        let options = Options::parse(args, spec);
        let mut scripts: Vec<String> = Vec::new();
        for (letters, long) in [
            ("eQqc", "execute"),
            ("", "query"),
            ("", "command"),
            ("", "statement"),
            ("", "cmd"),
            ("", "c"),
            ("", "s"),
            ("", "init-command"),
        ] {
            scripts.extend(options.values(letters, long).iter().map(|it| it.text()));
        }
        let is_file_database = matches!(name, "sqlite3" | "sqlite" | "duckdb" | "litecli");
        if is_file_database
            || matches!(name, "turso" | "influx" | "sqlplus" | "trino" | "hive" | "snowsql")
        {
            scripts.extend(options.operands.iter().skip(1).map(Arg::text));
        }
        for file in
            options.values("fi", "file").into_iter().chain(options.values("", "queries-file"))
        {
            let flow = if matches!(file.marked.as_str(), "-" | "/dev/stdin") {
                io.stdin.clone()
            } else {
                self.file(file, env)
            };
            scripts.push(flow.text);
        }
        scripts.push(io.stdin.text.clone());
        let mut changes = false;
        for script in &scripts {
            changes |= self.sql(script);
            // Commands of the client that run programs.
            for line in script.lines().take(256) {
                let line = line.trim();
                let command = line
                    .strip_prefix("\\!")
                    .or_else(|| line.strip_prefix(".shell "))
                    .or_else(|| line.strip_prefix(".system "))
                    .or_else(|| line.strip_prefix("system "))
                    .or_else(|| line.strip_prefix("!!"));
                if let Some(command) = command {
                    let mut inner = env.clone();
                    self.payload(command.trim(), &mut inner, Flow::unknown());
                }
                if let Some((_, rest)) = line.to_ascii_lowercase().split_once("to program '") {
                    let at = line.len() - rest.len();
                    let command = line
                        .get(at..)
                        .unwrap_or_default()
                        .split('\'')
                        .next()
                        .unwrap_or_default()
                        .to_owned();
                    let mut inner = env.clone();
                    self.payload(&command, &mut inner, Flow::unknown());
                }
                if let Some((_, rest)) = line.split_once("writefile('") {
                    let file = rest.split('\'').next().unwrap_or_default();
                    self.judge_write(&Arg::new(file), env);
                }
                if let Some(file) = line
                    .strip_prefix(".output ")
                    .or_else(|| line.strip_prefix(".once "))
                    .or_else(|| line.strip_prefix("\\o "))
                {
                    self.judge_write(&Arg::new(file.trim()), env);
                }
            }
        }
        if is_file_database
            && changes
            && let Some(file) = options.operands.first()
        {
            let path = resolve(file, env);
            if path.is_agent(&self.homes) {
                self.judge_path(&path, false);
            }
        }
        if name == "cockroach" || name == "influx" {
            for text in args {
                self.sql(&text.text());
            }
        }
    }

    fn redis(&mut self, args: &[Arg], io: &Io) {
        let options = Options::parse(
            args,
            Spec::stopping("hpansuixrD", &["user", "pass", "tls-port", "sni", "cacert"]),
        );
        let mut scripts = vec![crate::wrap::join(&options.operands)];
        scripts.extend(io.stdin.text.lines().take(1024).map(str::to_owned));
        for script in scripts {
            let upper = script.trim().to_ascii_uppercase();
            let first = upper
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .trim_matches(['"', '\''])
                .to_owned();
            if matches!(first.as_str(), "FLUSHALL" | "FLUSHDB")
                || upper.contains("'FLUSHALL'")
                || upper.contains("\"FLUSHALL\"")
            {
                self.lost("redis_flush", "Drops every key.");
            }
            if upper.starts_with("SHUTDOWN") {
                self.find("service_control", Category::ServiceControl, false, "Stops a database.");
            }
            if self.via != crate::judge::Via::Shell && matches!(first.as_str(), "DEL" | "UNLINK") {
                self.lost("redis_bulk_delete", "Drops every key of a list.");
            }
        }
    }

    fn mongo(&mut self, args: &[Arg], io: &Io) {
        let options = Options::parse(
            args,
            Spec::new(
                "uph",
                &["eval", "host", "port", "username", "password", "authenticationDatabase", "file"],
            ),
        );
        let mut scripts: Vec<String> =
            options.values("", "eval").iter().map(|it| it.text()).collect();
        scripts.push(io.stdin.text.clone());
        for script in scripts {
            let script = crate::interp::code(&script, "//");
            let compact: String = script.split_whitespace().collect();
            let drops = [
                ".drop(",
                ".dropDatabase(",
                ".dropIndexes(",
                ".dropUser(",
                ".dropAllUsers",
                "dropDatabase:1",
                "dropDatabase:",
            ]
            .iter()
            .any(|it| compact.contains(it));
            let all = [
                ".deleteMany({})",
                ".remove({})",
                ".deleteMany()",
                ".remove()",
                ".updateMany({},",
                ".update({},",
                ".deleteOne({})",
            ]
            .iter()
            .take(6)
            .any(|it| compact.contains(it));
            if drops || all {
                self.lost("mongo_drop", "Drops or empties a collection or a database.");
            }
            if compact.contains("shutdownServer(") {
                self.find("service_control", Category::ServiceControl, false, "Stops a database.");
            }
        }
    }
}
