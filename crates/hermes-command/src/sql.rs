//! Statements that lose rows, tables or keys, when they reach a database.

use crate::Category;
use crate::env::Env;
use crate::judge::Judge;
use crate::options::{Options, Spec};
use crate::path::resolve;
use crate::value::{Arg, Flow};
use crate::wrap::Io;

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Drop,
    Truncate,
    DeleteAll,
    UpdateAll,
    /// It changes something, of which there is more.
    Change,
}

/// The words of each statement: without comments, texts and quoted names.
fn statements(text: &str) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let flush = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '-' if chars.peek() == Some(&'-') => {
                flush(&mut word, &mut words);
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                flush(&mut word, &mut words);
                chars.next();
                // MySQL runs what is in `/*! .. */`.
                let runs = chars.peek() == Some(&'!');
                if runs {
                    chars.next();
                    while chars.peek().is_some_and(char::is_ascii_digit) {
                        chars.next();
                    }
                    continue;
                }
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '#' if word.is_empty() => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            '\'' | '"' | '`' => {
                flush(&mut word, &mut words);
                while let Some(inner) = chars.next() {
                    if inner == '\\' && c != '`' && c == '\'' {
                        chars.next();
                    } else if inner == c {
                        if chars.peek() == Some(&c) {
                            chars.next();
                        } else {
                            break;
                        }
                    }
                }
                words.push(if c == '\'' { "'".into() } else { "name".into() });
            }
            ';' => {
                flush(&mut word, &mut words);
                statements.push(std::mem::take(&mut words));
            }
            // A command of the client itself ends with the line.
            '\n' => {
                flush(&mut word, &mut words);
                let is_client = words.first().is_some_and(|it| matches!(it.as_str(), "GO" | "go" | "\\G"));
                if is_client || words.last().is_some_and(|it| it.eq_ignore_ascii_case("go")) {
                    statements.push(std::mem::take(&mut words));
                }
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' || c == '\u{F8FF}' => word.push(c),
            '\\' => {
                flush(&mut word, &mut words);
                word.push(c);
            }
            c => {
                flush(&mut word, &mut words);
                if !c.is_whitespace() && matches!(c, '(' | ')' | '=' | '<' | '>') {
                    words.push(c.to_string());
                }
            }
        }
    }
    flush(&mut word, &mut words);
    statements.push(words);
    statements
}

/// What the statements lose.
pub(crate) fn losses(text: &str) -> Vec<Loss> {
    let mut losses = Vec::new();
    for statement in statements(text) {
        let words: Vec<String> = statement.iter().map(|it| it.to_ascii_uppercase()).collect();
        let has = |wanted: &str| words.iter().any(|it| it == wanted);
        let objects = ["TABLE", "DATABASE", "SCHEMA", "VIEW", "USER", "ROLE", "INDEX", "KEYSPACE", "COLLECTION", "MATERIALIZED", "FOREIGN", "OWNED", "TABLESPACE", "SEQUENCE", "FUNCTION", "PROCEDURE", "TRIGGER", "TYPE", "EXTENSION", "LOGIN", "DICTIONARY", "PARTITION", "TEMPORARY", "COLUMN", "DOMAIN", "POLICY", "PUBLICATION", "SUBSCRIPTION", "SERVER", "CATALOG", "BUCKET", "MEASUREMENT", "SERIES", "STREAM", "PLUGGABLE", "PROFILE", "EVENT"];
        // Words in front of the verb: a common table expression, EXPLAIN ANALYZE, the client's own.
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).map(String::as_str).unwrap_or_default();
            let previous = index.checked_sub(1).and_then(|it| words.get(it)).map(String::as_str).unwrap_or_default();
            match word.as_str() {
                "DROP" if index == 0 || matches!(previous, "(" | "BEGIN" | "THEN" | "EXECUTE" | "ANALYZE" | "DO" | "AS" | "ELSE" | "LOOP" | "$$") || previous.contains("$$") => {
                    if objects.contains(&next) {
                        losses.push(Loss::Drop);
                    }
                }
                "DROP" if words.first().is_some_and(|it| it == "ALTER") => losses.push(Loss::Drop),
                "TRUNCATE" if index == 0 || matches!(previous, "BEGIN" | "THEN" | "ANALYZE" | "DO" | "AS") || previous.contains("$$") => losses.push(Loss::Truncate),
                "DELETE" if next == "FROM" || next == "TOP" || (index == 0 && !next.is_empty()) => {
                    if !matches!(previous, "ON" | "FOR" | "GRANT" | "REVOKE" | "AFTER" | "BEFORE" | "OF") {
                        losses.push(if condition(&words, index) { Loss::Change } else { Loss::DeleteAll });
                    }
                }
                "UPDATE" if has("SET") && !matches!(previous, "ON" | "FOR" | "KEY" | "DO" | "AFTER" | "BEFORE" | "OR" | "THEN") => {
                    losses.push(if condition(&words, index) { Loss::Change } else { Loss::UpdateAll });
                }
                "INSERT" | "REPLACE" if index == 0 => losses.push(Loss::Change),
                "UNSET" => {}
                _ => {}
            }
        }
    }
    losses
}

/// Whether a WHERE after `from` narrows the statement.
fn condition(words: &[String], from: usize) -> bool {
    let rest = words.get(from..).unwrap_or_default();
    let Some(at) = rest.iter().position(|it| it == "WHERE") else {
        return rest.iter().any(|it| it == "LIMIT") && rest.iter().any(|it| it == "1");
    };
    let tail: Vec<&str> = rest.get(at + 1..).unwrap_or_default().iter().map(String::as_str).collect();
    // Conditions that always hold.
    !matches!(tail.as_slice(), ["TRUE"] | ["1"] | ["1", "=", "1"] | ["'", "=", "'"] | ["0", "=", "0"] | ["TRUE", ")"] | ["NOT", "FALSE"] | ["2", ">", "1"] | ["1", "<", "2"] | [])
}

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
                Loss::DeleteAll => self.lost("sql_delete_all", "Deletes every row of a table: there is no WHERE."),
                Loss::UpdateAll => self.lost("sql_update_all", "Changes every row of a table: there is no WHERE."),
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
                if texts.iter().any(|it| *it == "drop") {
                    self.lost("sql_drop", "Drops a database.");
                }
                if texts.contains(&"shutdown") {
                    self.find("service_control", Category::ServiceControl, false, "Stops a database.");
                }
                return;
            }
            "redis-cli" | "valkey-cli" | "keydb-cli" => return self.redis(args, io),
            "mongosh" | "mongo" => return self.mongo(args, io),
            "rails" | "rake" | "prisma" | "django-admin" | "etcdctl" | "bq" => {
                let bad = match name {
                    "etcdctl" => texts.contains(&"del") && (texts.contains(&"--prefix") || texts.contains(&"--from-key")),
                    "bq" => texts.first() == Some(&"rm"),
                    "prisma" => texts.windows(2).any(|it| it == ["migrate", "reset"]) || texts.contains(&"--force-reset"),
                    "django-admin" => texts.contains(&"flush"),
                    _ => texts.iter().any(|it| ["db:drop", "db:reset", "db:purge", "db:truncate_all", "db:schema:load", "db:migrate:reset"].iter().any(|verb| it.starts_with(verb))),
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
            "psql" | "pgcli" | "usql" | "cockroach" => Spec::new("cdfhopUvFPRTLC", &["command", "dbname", "file", "host", "output", "port", "username", "set", "variable", "execute", "url"]),
            "mysql" | "mariadb" | "mycli" => Spec::new("ehuPDSHW", &["execute", "host", "user", "port", "database", "socket", "default-character-set", "init-command"]),
            "sqlcmd" | "osql" => Spec::new("QqSUPdio", &[]),
            "cqlsh" => Spec::new("efukp", &["execute", "file", "username", "keyspace"]),
            "clickhouse-client" | "clickhouse" => Spec::new("qhud", &["query", "host", "user", "database", "password", "port", "queries-file"]),
            "duckdb" => Spec { short: "", long: &["c", "s", "cmd", "init", "separator", "nullvalue"], single: true, stops: false },
            "sqlite3" | "sqlite" => Spec { short: "", long: &["cmd", "init", "separator", "nullvalue", "newline", "vfs", "mmap", "lookaside"], single: true, stops: false },
            "wrangler" | "turso" => Spec::new("", &["command"]),
            _ => Spec::new("eqcfQ", &["execute", "query", "command", "statement"]),
        };
        let options = Options::parse(args, spec);
        let mut scripts: Vec<String> = Vec::new();
        for (letters, long) in [("eQqc", "execute"), ("", "query"), ("", "command"), ("", "statement"), ("", "cmd"), ("", "c"), ("", "s"), ("", "init-command")] {
            scripts.extend(options.values(letters, long).iter().map(|it| it.text()));
        }
        let is_file_database = matches!(name, "sqlite3" | "sqlite" | "duckdb" | "litecli");
        if is_file_database || matches!(name, "turso" | "influx" | "sqlplus" | "trino" | "hive" | "snowsql") {
            scripts.extend(options.operands.iter().skip(1).map(Arg::text));
        }
        for file in options.values("fi", "file").into_iter().chain(options.values("", "queries-file")) {
            let flow = if matches!(file.marked.as_str(), "-" | "/dev/stdin") { io.stdin.clone() } else { self.file(file, env) };
            scripts.push(flow.text);
        }
        scripts.push(io.stdin.text.clone());
        let mut changes = false;
        for script in &scripts {
            changes |= self.sql(script);
            // Commands of the client that run programs.
            for line in script.lines().take(256) {
                let line = line.trim();
                let command = line.strip_prefix("\\!").or_else(|| line.strip_prefix(".shell ")).or_else(|| line.strip_prefix(".system ")).or_else(|| line.strip_prefix("system ")).or_else(|| line.strip_prefix("!!"));
                if let Some(command) = command {
                    let mut inner = env.clone();
                    self.payload(&command.trim().to_owned(), &mut inner, Flow::unknown());
                }
                if let Some((_, rest)) = line.to_ascii_lowercase().split_once("to program '") {
                    let at = line.len() - rest.len();
                    let command = line.get(at..).unwrap_or_default().split('\'').next().unwrap_or_default().to_owned();
                    let mut inner = env.clone();
                    self.payload(&command, &mut inner, Flow::unknown());
                }
                if let Some(file) = line.strip_prefix(".output ").or_else(|| line.strip_prefix(".once ")).or_else(|| line.strip_prefix("\\o ")) {
                    self.judge_write(&Arg::new(file.trim()), env, "database");
                }
            }
        }
        if is_file_database
            && changes
            && let Some(file) = options.operands.first()
        {
            let path = resolve(file, env);
            if path.is_agent(&self.homes) {
                self.judge_path(&path, "database", false);
            }
        }
        if name == "cockroach" || name == "influx" {
            for text in args {
                self.sql(&text.text());
            }
        }
    }

    fn redis(&mut self, args: &[Arg], io: &Io) {
        let options = Options::parse(args, Spec::stopping("hpansuixrD", &["user", "pass", "tls-port", "sni", "cacert"]));
        let mut scripts = vec![crate::wrap::join(&options.operands)];
        scripts.extend(io.stdin.text.lines().take(1024).map(str::to_owned));
        for script in scripts {
            let upper = script.trim().to_ascii_uppercase();
            let first = upper.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']).to_owned();
            if matches!(first.as_str(), "FLUSHALL" | "FLUSHDB") || upper.contains("'FLUSHALL'") || upper.contains("\"FLUSHALL\"") {
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
        let options = Options::parse(args, Spec::new("uph", &["eval", "host", "port", "username", "password", "authenticationDatabase", "file"]));
        let mut scripts: Vec<String> = options.values("", "eval").iter().map(|it| it.text()).collect();
        scripts.push(io.stdin.text.clone());
        for script in scripts {
            let script = crate::interp::code(&script, "//");
            let compact: String = script.split_whitespace().collect();
            let drops = [".drop(", ".dropDatabase(", ".dropIndexes(", ".dropUser(", ".dropAllUsers", "dropDatabase:1", "dropDatabase:"].iter().any(|it| compact.contains(it));
            let all = [".deleteMany({})", ".remove({})", ".deleteMany()", ".remove()", ".updateMany({},", ".update({},", ".deleteOne({})"].iter().take(6).any(|it| compact.contains(it));
            if drops || all {
                self.lost("mongo_drop", "Drops or empties a collection or a database.");
            }
            if compact.contains("shutdownServer(") {
                self.find("service_control", Category::ServiceControl, false, "Stops a database.");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_lose() {
        for (text, expected) in [
            ("DROP TABLE x", vec![Loss::Drop]),
            ("drop /* x */ table if exists x", vec![Loss::Drop]),
            ("SELECT 'DROP TABLE x'", vec![]),
            ("SELECT \"drop table\" -- DROP TABLE x", vec![]),
            ("DELETE FROM a; SELECT 1 WHERE true", vec![Loss::DeleteAll]),
            ("DELETE FROM a WHERE id=1", vec![Loss::Change]),
            ("DELETE FROM a WHERE 1=1", vec![Loss::DeleteAll]),
            ("delete\nfrom users;", vec![Loss::DeleteAll]),
            ("UPDATE a SET b=1", vec![Loss::UpdateAll]),
            ("ALTER TABLE a DROP COLUMN b", vec![Loss::Drop]),
            ("TRUNCATE a", vec![Loss::Truncate]),
            ("INSERT INTO log VALUES ('DELETE FROM a')", vec![Loss::Change]),
            ("CREATE TABLE a (b INT REFERENCES c ON DELETE CASCADE)", vec![]),
        ] {
            assert_eq!(losses(text), expected, "{text}");
        }
    }
}
